"""Text of Gluon constructors, under ``import triton.experimental.gluon.language as gl``.

One table serves both directions, see `constructors`.  What is written is read back through
Python's syntax tree, never evaluated.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

from tt_layout.analyses.layouts.shortest import shortest
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError, quoted
from tt_layout.mlir.source import Source
from tt_layout.notation.checking import check_same, own_shape
from tt_layout.notation.gluon.calls import GluonCall, encoding_of_call
from tt_layout.notation.gluon.constructors import CONSTRUCTORS, Constructor
from tt_layout.notation.gluon.helpers import expanded
from tt_layout.notation.gluon.signatures import own_name
from tt_layout.notation.gluon.tlx_classes import gluon_call
from tt_layout.notation.refusal import Reason, refused
from tt_layout.notation.releases.eras import in_release
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.releases import LATEST, Release
from tt_layout.surface import argument

PREFIX = "gl."
WRAPPERS = {"constexpr"}
"""What may stand around an argument and means nothing."""


def to_gluon(encoding: Encoding, tensor: TensorSpec, *, over_shape: bool = True) -> Translation:
    """Return the shortest constructor of a layout in Gluon of Triton 3.9.

    Args:
        encoding: the layout.
        tensor: the tensor.
        over_shape: whether one of bases becomes the class with parameters that is the same over
            the shape of the tensor, if there is one.

    Raises:
        RefusedError: Gluon has no class for it, or Triton 3.9 no such layout.
    """
    today, translation = in_release(encoding, LATEST, tensor)
    shape = tensor.shape or own_shape(today)
    if shape is not None and over_shape:
        today = shortest(today, shape, tensor.element_bits)
    text = constructor_call(today)
    shapes = check_same(encoding, read_gluon(text), tensor)
    return Translation(text, shapes, translation.notes)


def constructor_call(encoding: Encoding) -> str:
    """Return the Gluon call that makes a layout.

    Raises:
        RefusedError: Gluon has no class for it.
    """
    constructor = _constructor_of(encoding)
    if (helper := constructor.helper(encoding)) is not None:
        method, arguments = helper
        shown = [f"{word}={_shown(value)}" for word, value in arguments.items()]
        return f"{PREFIX}{constructor.name}.{method}({', '.join(shown)})"
    fields = {word: field for word, field in constructor.arguments.items() if field}
    values = {word: getattr(encoding, field) for word, field in fields.items()}
    for word, parts in constructor.parts.items():
        values[word] = tuple(getattr(encoding, part) for part in parts)
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
    way_out = f"{argument('to', 'linear')} may help, if it is not padded"
    raise refused(Reason.NO_FORM, f"{message}; {way_out}")


def _shown(value: Any) -> str:
    """Format a value as Python, with lists for tuples."""
    if isinstance(value, Encoding):
        return constructor_call(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return repr(value)


def read_gluon(text: str, *, release: Release | None = None, name: str = "<gluon>") -> Encoding:
    """Parse a Gluon constructor to an encoding.

    Args:
        text: a call with positional or keyword arguments, with or without a module, as in ``repr``.
        release: the release whose rules hold; by default the newest with such parameters.
        name: name of the text in messages.

    Raises:
        LayoutError: the text is not such a call; the error shows where.

    Example:
        >>> print(read_gluon("gl.SharedLinearLayout(offset_bases=[[1]], alignment=16)"))
        #ttg.shared_linear<{offset = [[1]]}, alignment = 16>
        >>> print(read_gluon("BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])"))
        #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], \
order = [1, 0]}>
    """
    source = Source(text, name)
    span = source.span(0, max(1, len(text)))
    try:
        return encoding_of_call(read_call(text), release)
    except LayoutError as error:
        raise error.at(span) from None


def read_call(text: str) -> GluonCall:
    """Parse a call.

    Raises:
        LayoutError: it is something else.

    Example:
        >>> read_call("gl.SliceLayout(1, parent=Blocked([1], [32], [4], [0]))").keywords
        {'parent': GluonCall(name='Blocked', positional=((1,), (32,), (4,), (0,)), keywords={})}
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's, about literals that are none
            tree = ast.parse(text.strip(), mode="eval").body
        call = _read(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, LayoutError):
            raise
        raise LayoutError(f"this is not a Gluon constructor: {error}") from None
    if not isinstance(call, GluonCall):
        raise LayoutError(
            f"expected a constructor such as gl.BlockedLayout(...), got {quoted(text)}"
        )
    return call


def _read(tree: ast.expr) -> Any:
    """Evaluate a syntax tree of calls, lists and constants."""
    if isinstance(tree, (ast.List, ast.Tuple)):
        return tuple(_read(item) for item in tree.elts)
    if isinstance(tree, ast.Constant) and isinstance(tree.value, (bool, int, str, type(None))):
        return tree.value
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        number = _read(tree.operand)
        if type(number) is int:
            return -number
    if isinstance(tree, (ast.Name, ast.Attribute)):
        return ast.unparse(tree)  # an element type, such as gl.float32
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, (ast.Name, ast.Attribute)):
        raise LayoutError(f"expected gl.Class(keyword=value, ...), got {quoted(ast.unparse(tree))}")
    name = ast.unparse(tree.func)
    positional = tuple(map(_read, tree.args))
    if own_name(name) in WRAPPERS and len(positional) == 1 and not tree.keywords:
        return positional[0]
    keywords = {keyword.arg or "": _read(keyword.value) for keyword in tree.keywords}
    return expanded(gluon_call(GluonCall(name, positional, keywords)))
