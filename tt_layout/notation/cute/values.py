"""Values of CuTe's expressions beside layouts: swizzled ones, parts, threads and values, names.

Names may be element types, and atoms of shared memory.

Sources:
    CUTLASS, include/cute/atom/mma_traits_sm90_gmma.hpp: the atoms of shared memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import gcd
from typing import Any

from tt_layout.errors import LayoutError, quoted
from tt_layout.notation.cute import algebra
from tt_layout.notation.cute.algebra import Layout
from tt_layout.notation.cute.text import Swizzle
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

_WIDTHS = {
    "half_t": 16, "half": 16, "bfloat16_t": 16, "float": 32, "tfloat32_t": 32, "double": 64,
    "bool": 8, "char": 8, "float_e4m3_t": 8, "float_e5m2_t": 8, "float_ue8m0_t": 8,
    "float_e2m1_t": 4, "float_e2m3_t": 6, "float_e3m2_t": 6, "TFloat32": 32, "BFloat16": 16,
    "Float8E4M3FN": 8, "Float8E5M2": 8,
}  # fmt: skip
"""Bits of the types whose name does not end in them."""

_SIZED = re.compile(r"(?:u?int|Int|Uint|Float)(\d{1,3})(?:_t)?")

_ATOM = re.compile(r"Layout_(?P<major>MN|K)_(?P<kind>INTER|SW32|SW64|SW128)_Atom(?P<bits>_Bits)?")

_SWIZZLE_BITS = {"INTER": 0, "SW32": 1, "SW64": 2, "SW128": 3}

_ATOM_ROWS = 8

_ATOM_BITS = 128  # of a row without a swizzle


class Name(NamedTuple):
    """A name that is no function of the algebra: a type, an atom.

    Attributes:
        text: as it is written.
    """

    text: str


@dataclass(frozen=True)
class Composed:
    """A swizzle of a layout: ``swizzle(offset + layout(i))``.

    Example:
        >>> str(Composed(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1))))
        'Swizzle<3,3,3> o (8,64):(64,1)'
    """

    swizzle: Swizzle
    offset: int
    layout: Layout

    def __str__(self) -> str:
        middle = f"{self.offset} o " if self.offset else ""
        return f"{self.swizzle} o {middle}{self.layout}"

    def __call__(self, coordinate: algebra.Nested) -> int:
        """Return the integer at a coordinate."""
        return self.swizzle(self.offset + self.layout(coordinate))


@dataclass(frozen=True)
class LayoutPart:
    """A part of a layout, and where it begins.

    Example:
        >>> str(LayoutPart(Layout(8, 1), 16))
        '8:1 at offset 16'
    """

    layout: Layout | Composed
    offset: int

    def __str__(self) -> str:
        return f"{self.layout} at offset {self.offset}"


@dataclass(frozen=True)
class ThreadValue:
    """Who holds what of a tile: from (thread, value) to the index of an element.

    Example:
        >>> str(ThreadValue((8, 8), Layout((32, 2), (2, 1))))
        '(32,2):(2,1) over a tile of (8,8)'
    """

    tile: algebra.Nested
    layout: Layout

    def __str__(self) -> str:
        return f"{self.layout} over a tile of {algebra.written(self.tile)}"


@dataclass(frozen=True)
class AtomTraits:
    """The layouts that a struct of CuTe defines, such as ``Copy_Traits``.

    Those of ``Copy_Traits`` lead to bits; they are shown over elements, too: over the largest that
    all strides are multiples of.

    Attributes:
        name: of the struct.
        members: name -> value.

    Example:
        >>> print(AtomTraits("Copy_Traits", {"SrcLayout": Layout((32, 4), (128, 32))}))
        Copy_Traits
        SrcLayout (32,4):(128,32) in bits, (32,4):(4,1) in elements of 32 bits
    """

    name: str
    members: Mapping[str, Any]

    def __str__(self) -> str:
        lines = [self.name]
        for name, member in self.members.items():
            if isinstance(member, Layout):
                lines.append(f"{name} {member}{self._in_elements(name, member)}")
        return "\n".join(lines)

    def _in_elements(self, name: str, layout: Layout) -> str:
        if self.name.split("::")[-1] != "Copy_Traits" or name == "ThrID":
            return ""
        bits = gcd(*(stride for _, stride in layout.flat))
        if bits < 2 or bits & (bits - 1):
            return " in bits"
        return f" in bits, {algebra.upcast(layout, bits)} in elements of {bits} bits"


def bits_of(value: Any) -> int:
    """Return the bits of a type, or a number of bits."""
    if isinstance(value, int) and value > 0:
        return value
    last_name = (
        re.split(r"::|\.", value.text.rstrip("(){} "))[-1] if isinstance(value, Name) else ""
    )
    if last_name in _WIDTHS:
        return _WIDTHS[last_name]
    if match := _SIZED.fullmatch(last_name):
        return int(match[1])
    raise LayoutError(f"the bits of {shown(value)} are not known; give a number")


def shared_atom(name: str, template: Sequence[Any]) -> Layout | Composed | None:
    """Return an atom of shared memory for `wgmma` and TMA; None for any other name."""
    match = _ATOM.fullmatch(name)
    if match is None:
        return None
    bits = 1 if match["bits"] else bits_of(template[0] if template else None)
    count = _SWIZZLE_BITS[match["kind"]]
    row = (_ATOM_BITS << count) // bits
    is_k = match["major"] == "K"
    rows = Layout((_ATOM_ROWS, row), (row, 1)) if is_k else Layout((row, _ATOM_ROWS), (1, row))
    base = 7 - (bits.bit_length() - 1)  # 16 bytes stay together
    return Composed(Swizzle(count, base, 3), 0, rows) if count else rows


def shown(value: Any) -> str:
    """Return a value as messages quote it."""
    if isinstance(value, Name):
        return quoted(value.text)
    return "_" if value is None else quoted(str(value).partition("\n")[0])
