"""Values of CuTe's expressions beside layouts: swizzled ones, parts, threads and values, names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any, NamedTuple

from tt_layout.notation.cute import algebra
from tt_layout.notation.cute.algebra import Layout
from tt_layout.notation.cute.text import Swizzle


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
class Part:
    """A part of a layout, and where it begins.

    Example:
        >>> str(Part(Layout(8, 1), 16))
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
class Traits:
    """The layouts that a struct of CuTe defines, such as ``Copy_Traits``.

    Those of ``Copy_Traits`` lead to bits; they are shown over elements, too: over the largest that
    all strides are multiples of.

    Attributes:
        name: of the struct.
        members: name -> value.

    Example:
        >>> print(Traits("Copy_Traits", {"SrcLayout": Layout((32, 4), (128, 32))}))
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
