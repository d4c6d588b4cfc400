"""The holder of every element and the element at every place, as whole arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import F2Map, Preimages
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.figures.model import Numbers, check_cells
from tt_layout.placement import PlacedLayout
from tt_layout.views.cells import with_slots
from tt_layout.views.selection import EVERYTHING, LOCATION_FIELDS, Range, Selection, checked_range
from tt_layout.views.shared import Memory
from tt_layout.views.tensor_memory import empty_bits

_ORDERS = {
    "registers": ("register", "lane", "warp", "block"),
    "shared memory": ("offset", "partition", "block"),
    "tensor memory": ("col", "row", "block"),
}
_OPTIONS = {"col": "column"}


@dataclass(frozen=True)
class DrawnLayout:
    """A placed layout, with the arrays that figures are made of.

    Attributes:
        placed: the layout over its type.
        selection: the part that is drawn.
    """

    placed: PlacedLayout
    selection: Selection = EVERYTHING

    @property
    def layout(self) -> LinearLayout:
        """The linear layout."""
        return self.placed.layout

    @property
    def encoding(self) -> Encoding:
        """The attribute."""
        return self.placed.encoding

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the tensor's dimensions."""
        return self.placed.shape

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the input dimensions, the fastest first."""
        names = _ORDERS[self.placed.memory_space]
        sizes = {name: self.layout.get_in_dim_size(name) for name in names}
        if "offset" in sizes:
            sizes["offset"] = max(1, self.memory.elements)
        return sizes

    @property
    def memory(self) -> Memory:
        """The shared memory."""
        return Memory(self.layout, self.placed.padding)

    @cached_property
    def _element(self) -> F2Map:
        """The element, numbered row by row, as a function of the place."""
        bases: list[int] = []
        for name, size in self.sizes.items():
            vectors = self.layout.vectors(name)
            nothing = ((0,) * len(self.shape),)
            shown = (*vectors, *nothing * size.bit_length())[: size.bit_length() - 1]
            bases += [sum(x * s for x, s in zip(vector, self._strides)) for vector in shown]
        return F2Map(tuple(bases))

    @cached_property
    def _holders(self) -> Preimages:
        """The places of every element."""
        is_empty = self._empty.basis or (0,) * len(self._element.basis)
        bits = zip(self._element.basis, is_empty)
        places = [(element, 1 << bit) for bit, (element, empty) in enumerate(bits) if not empty]
        units = [1 << bit for bit in range((math.prod(self.shape) - 1).bit_length())]
        return Preimages.of(places, units)

    @property
    def places(self) -> int:
        """The number of places."""
        return math.prod(self.sizes.values())

    def elements(self, places: Numbers) -> Numbers:
        """Return the element, numbered row by row, at every place."""
        return self._element(places)

    def holders(self, elements: Numbers) -> Numbers:
        """Return the first place that holds each element; -1 where none does."""
        return np.where(self._holders.misses(elements) != 0, -1, self._holders.first(elements))

    @property
    def copies(self) -> tuple[int, ...]:
        """What leads from the first place of an element to its others, by xor."""
        return () if self.placed.is_shared else self._holders.copies

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        """The part of the tensor that is shown.

        Raises:
            LayoutError: it is not a part of the tensor.
        """
        self.selection.check_options("a tensor figure", "slices")
        names = self.layout.get_out_dim_names()
        return self.selection.tensor_ranges(names, list(self.shape))

    @cached_property
    def shown(self) -> Numbers:
        """The elements that are shown, row by row.

        Raises:
            LayoutError: they are too many for a figure.
        """
        check_cells(math.prod(map(extent, self.ranges)))
        return numbers(self.ranges, self._strides)

    @property
    def _strides(self) -> list[int]:
        return [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]

    def window(self, *names: str) -> tuple[Range, ...]:
        """Return the part of each input dimension that is shown.

        Raises:
            LayoutError: it is not a part of the dimension, or something else is selected.
        """
        options = [LOCATION_FIELDS[_OPTIONS.get(name, name)] for name in names]
        self.selection.check_options("a hardware figure", *options)
        chosen = (getattr(self.selection, option) for option in options)
        return tuple(
            checked_range(name, part, self.sizes[name]) for name, part in zip(names, chosen)
        )

    def places_in(self, names: Sequence[str], window: Sequence[Range]) -> Numbers:
        """Return the places of a window, those of the last name next to each other.

        Raises:
            LayoutError: they are too many for a figure.
        """
        check_cells(math.prod(map(extent, window)))
        ordered = list(self.sizes)
        strides = [
            math.prod(self.sizes[before] for before in ordered[: ordered.index(name)])
            for name in names
        ]
        return numbers(window, strides)

    def split(self, places: Numbers) -> dict[str, Numbers]:
        """Return the coordinates of places."""
        parts = {}
        for name, size in self.sizes.items():
            places, parts[name] = np.divmod(places, size)
        return with_slots(parts, self.placed.padding)

    def coordinates(self, elements: Numbers) -> list[Numbers]:
        """Return the coordinates of elements."""
        return [np.asarray(axis) for axis in np.unravel_index(elements, self.shape)]

    def is_empty(self, places: Numbers) -> npt.NDArray[np.bool_]:
        """Tell for each place of tensor memory whether it holds nothing."""
        empty: npt.NDArray[np.bool_] = self._empty(places) != 0
        return empty

    @cached_property
    def _empty(self) -> F2Map:
        """Not 0 for the places of tensor memory that hold nothing."""
        is_tensor_memory = "col" in self.sizes
        empty = empty_bits(self.layout) if is_tensor_memory else []
        return F2Map(tuple(is_empty << bit for bit, is_empty in enumerate(empty)))


def numbers(ranges: Sequence[Range], strides: Sequence[int]) -> Numbers:
    """Return the numbers of the points of a box, the last axis fastest.

    Example:
        >>> numbers([(1, 3), (0, 2)], [4, 1]).tolist()
        [4, 5, 8, 9]
    """
    found = np.zeros(1, np.int64)
    for (start, stop), stride in zip(ranges, strides):
        found = (found[:, np.newaxis] + np.arange(start, stop) * stride).ravel()
    return found


def extent(bounds: Range) -> int:
    """Return the length of a range."""
    return bounds[1] - bounds[0]
