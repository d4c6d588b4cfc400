"""Point queries: the element of a location, and the locations of an element.

An element is the xor of the bases of the bits set in its location, so the answer can be shown as
a sum.  The locations of an element are a coset of the layout's kernel: finding one takes a few
xors, and the others follow, for any size of the tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tt_layout.algebra.linear_layout import Basis, LinearLayout
from tt_layout.algebra.padding import Padding, check_padding, padded
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.layouts.layout_difference import (
    location_at,
    place_label,
    smallest_members,
)
from tt_layout.arguments import checks_arguments
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.wording import count

MAX_HOLDERS = 64  # locations listed by default


@dataclass(frozen=True)
class Term:
    """A bit set in a location, and its basis.

    Attributes:
        dim, bit: the bit of the input.
        vector: its basis vector in the tensor.
    """

    dim: str
    bit: int
    vector: Basis

    def __str__(self) -> str:
        return f"{self.dim} bit {self.bit} {_point(self.vector)}"


@dataclass(frozen=True, kw_only=True)
class HardwareLocation:
    """A location in the hardware and its element.

    Attributes:
        label: the location in the notation of views, such as ``T5:2``.
        location: input and coordinate, in the order of the layout.
        element: its coordinates.
        terms: the bits set in the location; their bases xor to the element.
    """

    label: str
    location: tuple[tuple[str, int], ...]
    element: Basis
    terms: tuple[Term, ...]

    def __str__(self) -> str:
        head = f"{self.label} -> {_point(self.element)}"
        sum_of_bases = " ^ ".join(map(str, self.terms))
        if not sum_of_bases:
            return f"{head}: no bit is set"
        return f"{head}: {sum_of_bases} = {_point(self.element)}"


@dataclass(frozen=True, kw_only=True)
class ElementLocations:
    """The locations that hold an element.

    Attributes:
        element: its coordinates.
        count: number of all locations.
        locations: the first of them, in hardware order.
    """

    element: Basis
    count: int
    locations: tuple[HardwareLocation, ...]


@checks_arguments
def locate(
    layout: LinearLayout, location: Mapping[str, int], *, padding: Padding = ()
) -> HardwareLocation:
    """Return the element of a location, and the bases that add up to it.

    Args:
        layout: any layout.
        location: input -> coordinate; one left out is 0.
        padding: for the label of an offset in padded shared memory.

    Raises:
        LayoutError: there is no such location.

    Example:
        >>> layout = LinearLayout.from_bases(
        ...     [("register", [[0, 1], [0, 2]]), ("lane", [[0, 4], [1, 0]])], ["dim0", "dim1"])
        >>> print(locate(layout, {"lane": 3, "register": 2}))
        T3:2 -> (1, 6): register bit 1 (0, 2) ^ lane bit 0 (0, 4) ^ lane bit 1 (1, 0) = (1, 6)
    """
    check_padding(padding)
    element = tuple(layout.apply(dict(location)).values())
    terms = tuple(
        Term(name, bit, vector)
        for name, vectors in layout.in_bases
        for bit, vector in enumerate(vectors)
        if location.get(name, 0) >> bit & 1
    )
    coordinates = {name: location.get(name, 0) for name in layout.get_in_dim_names()}
    place = dict(coordinates)
    if padding and "offset" in place:
        place["offset"] = padded(place["offset"], padding)
    return HardwareLocation(
        label=place_label(place, layout),
        location=tuple(coordinates.items()),
        element=element,
        terms=terms,
    )


def offset_of_slot(slot: int, size: int, padding: Padding) -> int | None:
    """Return the offset of a slot of padded memory; None for padding.

    Args:
        slot: the slot, in elements.
        size: number of offsets.
        padding: pairs of an interval and the padding after it.

    Raises:
        LayoutError: the memory ends before the slot.

    Example:
        >>> [offset_of_slot(slot, 4, [(2, 1)]) for slot in range(5)]
        [0, 1, None, 2, 3]
    """
    last = padded(size - 1, padding)
    if not 0 <= slot <= last:
        raise LayoutError(f"offset must be in 0..{last}, got {slot}")
    low, high = 0, size - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if padded(middle, padding) <= slot else (low, middle - 1)
    return low if padded(low, padding) == slot else None


@checks_arguments
def holders(
    layout: LinearLayout,
    element: Sequence[int],
    *,
    limit: int = MAX_HOLDERS,
    padding: Padding = (),
) -> ElementLocations:
    """Return the locations that hold an element.

    Args:
        layout: any layout.
        element: its coordinates.
        limit: maximum number of locations to list.
        padding: for the labels of offsets in padded shared memory.

    Raises:
        LayoutError: the tensor has no such element.

    Example:
        >>> layout = LinearLayout.from_bases([("lane", [[1], [0]]), ("warp", [[2]])], ["dim0"])
        >>> holding = holders(layout, [3])
        >>> holding.count, [location.label for location in holding.locations]
        (2, ['T5:0', 'T7:0'])
    """
    check_padding(padding)
    sizes = [size for _, size in layout.out_sizes]
    if len(element) != len(sizes):
        message = f"an element has {count(len(sizes), 'coordinate')} here"
        raise LayoutError(f"{message}, got {_point(tuple(element))}")
    if not all(0 <= x < size for x, size in zip(element, sizes)):
        shape = "x".join(map(str, sizes))
        raise LayoutError(f"{_point(tuple(element))} is outside the tensor, which is {shape}")
    columns = [layout.flatten(v) for _, vectors in layout.in_bases for v in vectors]
    span = F2Span(columns)
    first = span.express(layout.flatten(element))
    if first is None:
        return ElementLocations(element=tuple(element), count=0, locations=())
    kernel = [
        (span.express(column) or 0) | 1 << k
        for k, column in enumerate(columns)
        if not span.pivots >> k & 1
    ]
    masks = smallest_members(first, kernel, limit)
    locations = tuple(locate(layout, location_at(layout, m), padding=padding) for m in masks)
    return ElementLocations(element=tuple(element), count=1 << len(kernel), locations=locations)


def _point(vector: Sequence[int]) -> str:
    return f"({', '.join(map(str, vector))})"
