"""Registry of notations by name, and recognition of texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module

from tt_layout.encodings import Encoding
from tt_layout.encodings.base import EncodingOrigin
from tt_layout.encodings.parsing import parse_layout
from tt_layout.encodings.registry import begins_as_attribute, modules_in
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source
from tt_layout.notation.context import Context
from tt_layout.notation.notation import Notation


class NotationRegistry(Mapping[str, Notation]):
    """Notations by name, in alphabetical order; the module of one is imported at its first use.

    Example:
        >>> "cute" in NOTATIONS, "nothing" in NOTATIONS
        (True, False)
    """

    def __init__(self) -> None:
        modules = modules_in(os.path.join(os.path.dirname(__file__), "notations"))
        self._modules = {module.replace("_", "-"): module for module in modules}

    def __getitem__(self, name: str) -> Notation:
        module = import_module(f"{__package__}.notations.{self._modules[name]}")
        notation: Notation = module.NOTATION
        return notation

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


NOTATIONS = NotationRegistry()


def is_notation(text: str) -> bool:
    """Return whether a text is a layout, right or wrong, rather than a file name.

    Example:
        >>> is_notation("#ttg.blocked<{}>"), is_notation("(8,4):(4,1)"), is_notation("a.mlir:b")
        (True, True, False)
    """
    return text.lstrip().startswith("#") or _of(text) is not None


def _of(text: str) -> Notation | None:
    if begins_as_attribute(text):
        return None
    notations = sorted(NOTATIONS.values(), key=lambda notation: notation.is_general)
    return next((notation for notation in notations if notation.recognises(text)), None)


_DEFINITION = re.compile(r"^[ \t]*#([\w$.-]+)[ \t]*=[ \t]*(?=#)", re.MULTILINE | re.ASCII)


def _defined(text: str) -> str:
    """Return the value of the only definition ``#name = #..`` of a text, at its offset.

    Raises:
        LayoutError: it has several.
    """
    definitions = [*_DEFINITION.finditer(text)] if text.lstrip().startswith("#") else []
    if len(definitions) > 1:
        names = ", ".join(f"#{definition[1]}" for definition in definitions)
        raise LayoutError(f"the text has {len(definitions)} layouts, {names}: give one of them")
    return (
        _DEFINITION.sub(lambda definition: " " * len(definition.group()), text)
        if definitions
        else text
    )


def read_layout(text: str, context: Context | None = None) -> Encoding:
    """Parse a layout in any notation.

    Args:
        text: an attribute, a constructor of Gluon or TLX, a CuTe layout, a linear layout as the
            compiler prints it, or the JSON of bases.
        context: the tensor, which some notations need, and the rules.

    Raises:
        LayoutError: the text is in no notation, is wrong, or leaves open what is not known; the
            error shows where.

    Example:
        >>> print(read_layout("gl.SwizzledSharedLayout(8, 1, 8, [1, 0])"))
        #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
        >>> print(read_layout("(2,2):(1,2)", Context(shape=(4,))))
        #ttg.linear<{register = [[2]], lane = [[1]], warp = [], block = []}>
    """
    context = Context() if context is None else context
    text = _defined(text)
    notation = _of(text)
    if notation is None or notation is NOTATIONS["linear"]:
        from tt_layout.mlir.languages import refuse_language

        refuse_language(text, context.name)
        return parse_layout(text, release=context.release, name=context.name)
    whole = Source(text, context.name).span(0, max(1, len(text)))
    try:
        encoding = notation.read(text, context)
    except LayoutError as error:
        raise error.at(whole) from None
    if encoding.origin is not None:
        return encoding
    return replace(encoding, origin=EncodingOrigin(whole, {}))
