"""What CuTe prints of its values: tables of integers, and tiled copies and products in lines.

``print_layout`` has a table below a layout, ``print`` of a tensor its numbers, and of a tiled copy
or product a line for each of its layouts, in C++ (``TiledLayout_TV:``) and in Python (``TV Layout
tiled:``).

Sources:
    CUTLASS, include/cute/util/print_tensor.hpp and include/cute/atom/{copy,mma}_atom.hpp: the
    formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tt_layout.tuples import NamedTuple

_TABLE = re.compile(r"^[ \t]*(?:\+[-+]*|\d+[ \t]*\|[^\n]*|\d+(?:[ \t]+\d+)*)[ \t]*$", re.MULTILINE)
_NUMBERS = re.compile(r"(?<=\)):[ \t]*\n(?:[ \t]*-?[\d.][^\n(]*\n?)*")
_ADDRESS = re.compile(r"raw_ptr\([^()\n]*\)\s+o\b")
_MLIR_TYPE = re.compile(r"\s*[!#]cute\.\w+<(?:[^\"\n]*\")?(?P<value>[^\"\n]*?)\"?>\s*")
_HEAD = re.compile(r"\s*(?P<name>(?:Tiled|Thr)[_ ]?(?:Copy|MMA)|(?:Copy|MMA)[_ ]Atom)[ \t]*\n")
_ENTRY = re.compile(
    r"^[ \t]*(?P<key>[A-Z][A-Za-z]*(?:[_ ][A-Za-z]+)*):[ \t]+(?P<value>[^\n]*)$", re.M
)

TILE = ("TilerMN",)
HELD = ("TiledLayoutTV", "TVLayouttiled")
"""Keys, without blanks and underscores, of the tile of a tiled copy and of who holds what."""


def without_tables(text: str) -> str:
    """Return a text with blanks in the place of tables of integers, all else where it was.

    Example:
        >>> without_tables("(2):(1)\\n    0\\n  +---+\\n 0| 0 |\\n").split()
        ['(2):(1)']
    """
    if "+-" in text:
        text = _TABLE.sub(_blank, text)
    return _NUMBERS.sub(_blank, text)


def only_values(text: str) -> str:
    """Return a text with blanks in the place of all that is no layout, all else where it was.

    Those are tables, and what the DSL prints around a layout: an address, and a type of MLIR.

    Example:
        >>> only_values("raw_ptr(0x0: f16, smem, align<128>) o (64,32):(32,1)").split()
        ['(64,32):(32,1)']
        >>> only_values('!cute.layout<"(8,4):(4,1)">').split()
        ['(8,4):(4,1)']
    """
    text = _ADDRESS.sub(_blank, without_tables(text))
    match = _MLIR_TYPE.fullmatch(text)
    if match is None:
        return text
    start, end = match.span("value")
    return f"{' ' * start}{text[start:end]}{' ' * (len(text) - end)}"


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


class Entry(NamedTuple):
    """A line of what is printed of a tiled copy or product.

    Attributes:
        key: without blanks and underscores.
        name: the key as it is printed.
        start: offset of the value in the text.
        end: offset behind it.
    """

    key: str
    name: str
    start: int
    end: int


def head_of(text: str) -> str | None:
    """Return the name that a printed copy, product or atom begins with; None for other texts.

    Example:
        >>> head_of("TiledCopy\\n  Tiler_MN: (_32,_64)\\n"), head_of("TiledCopy{}")
        ('TiledCopy', None)
    """
    match = _HEAD.match(text)
    return match["name"] if match is not None and _ENTRY.search(text) else None


def entries_of(text: str) -> Iterator[Entry]:
    """Yield the lines of what is printed, the first of each key."""
    seen = set()
    for match in _ENTRY.finditer(text):
        key = re.sub("[_ ]", "", match["key"])
        if key not in seen:
            seen.add(key)
            yield Entry(key, match["key"], *match.span("value"))
