"""The constructor of a layout in Gluon, with ``import triton.experimental.gluon.language as gl``.

One table serves both directions, see `constructors`.  What is written is read back through
Python's syntax tree, never evaluated.
"""

from __future__ import annotations

import ast
from typing import Any

from tt_layout.encodings import Encoding
from tt_layout.encodings.linear import GenericLinear, Linear
from tt_layout.errors import LayoutError
from tt_layout.releases import LATEST
from tt_layout.translation.checking import check_same
from tt_layout.translation.constructors import CONSTRUCTORS, Arguments, Constructor
from tt_layout.translation.eras import in_release
from tt_layout.translation.refusal import Reason, refused
from tt_layout.translation.result import TensorSpec, Translation

PREFIX = "gl."


def to_gluon(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the constructor of the layout in Gluon of Triton 3.9.

    Raises:
        RefusedError: Gluon has no class for it, or Triton 3.9 no such layout.
    """
    today, translation = in_release(encoding, LATEST, tensor)
    text = constructor_call(today)
    shapes = check_same(encoding, read_gluon(text), tensor)
    return Translation(text, shapes, translation.notes)


def constructor_call(encoding: Encoding) -> str:
    """Return the call that makes a layout of today in Gluon.

    Raises:
        RefusedError: Gluon has no class for it.
    """
    constructor = _constructor_of(encoding)
    fields = {word: field for word, field in constructor.arguments.items() if field}
    values = {word: getattr(encoding, field) for word, field in fields.items()}
    values.update(constructor.to_call(encoding))
    shown = [
        f"{word}={_shown(values[word])}"
        for word in constructor.arguments
        if word not in constructor.optional or values[word] != constructor.optional[word]
    ]
    return f"{PREFIX}{constructor.name}({', '.join(shown)})"


def _constructor_of(encoding: Encoding) -> Constructor:
    for encoding_class, constructor in CONSTRUCTORS:
        if type(encoding) is encoding_class and constructor.applies(encoding):
            return constructor
    message = f"Gluon has no class for #{encoding.name}"
    raise refused(Reason.NO_FORM, f"{message}; --to linear may help, if it is not padded")


def _shown(value: Any) -> str:
    """Return a value as Python: lists for tuples."""
    if isinstance(value, Encoding):
        return constructor_call(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return repr(value)


def read_gluon(text: str) -> Encoding:
    """Return the layout that a constructor of Gluon makes, as `to_gluon` writes them.

    Raises:
        LayoutError: the text is not such a call.

    Example:
        >>> print(read_gluon("gl.SharedLinearLayout(offset_bases=[[1]], alignment=16)"))
        #ttg.shared_linear<{offset = [[1]]}, alignment = 16>
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LayoutError(f"this is not a Gluon constructor: {error}") from None
    encoding = _read(tree)
    if not isinstance(encoding, Encoding):
        raise LayoutError(f"expected a constructor such as gl.BlockedLayout(...), got {text!r}")
    encoding.check_parse()
    return encoding


def _read(tree: ast.expr) -> Any:
    """Return the value of a syntax tree of constructors, lists and constants."""
    if isinstance(tree, (ast.List, ast.Tuple)):
        return tuple(_read(item) for item in tree.elts)
    if isinstance(tree, ast.Constant) and isinstance(tree.value, (bool, int, str)):
        return tree.value
    if not isinstance(tree, ast.Call) or tree.args:
        raise LayoutError(f"expected gl.Class(keyword=value, ...), got {ast.unparse(tree)}")
    name = ast.unparse(tree.func).removeprefix(PREFIX)
    found = next((pair for pair in CONSTRUCTORS if pair[1].name == name), None)
    if found is None:
        raise LayoutError(f"Gluon's {name!r} is not a known layout")
    return _make(*found, {keyword.arg or "": _read(keyword.value) for keyword in tree.keywords})


def _make(encoding_class: type[Encoding], constructor: Constructor, given: Arguments) -> Encoding:
    """Return the encoding of a class for the arguments of its constructor."""
    unknown = [word for word in given if word not in constructor.arguments]
    arguments = {**constructor.optional, **given}
    missing = [word for word in constructor.arguments if word not in arguments]
    for words, problem in ((unknown, "has no argument"), (missing, "needs")):
        if words:
            raise LayoutError(f"gl.{constructor.name} {problem} {', '.join(words)}")
    fields = {field: arguments[word] for word, field in constructor.arguments.items() if field}
    fields.update(constructor.from_call(arguments))
    encoding = encoding_class(**fields)
    if isinstance(encoding, Linear) and list(encoding.violations()):
        return GenericLinear(**fields)
    return encoding
