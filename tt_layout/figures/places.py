"""The holder of every element and the element at every place, as whole arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.figures.model import Numbers, check_cells
from tt_layout.linear_layout import LinearLayout
from tt_layout.printing import buffer_shape
from tt_layout.terminal.subject import Subject
from tt_layout.types import TensorType
from tt_layout.views import Selection
from tt_layout.views.f2map import all_values
from tt_layout.views.shared import Memory

_ORDERS = {
    "registers": ("register", "lane", "warp", "block"),
    "shared memory": ("offset", "partition", "block"),
    "tensor memory": ("col", "row", "block"),
}
SLICE_BITS = (5, 6)  # row bits of tensor memory whose zero basis means a copy


@dataclass(frozen=True)
class Held:
    """A layout over a type, with the arrays that figures are made of.

    Attributes:
        subject: encoding, linear layout and element size.
        type_text: the type as it was given.
    """

    subject: Subject
    type_text: str

    @property
    def layout(self) -> LinearLayout:
        """The linear layout."""
        return self.subject.layout

    @property
    def encoding(self) -> Encoding:
        """The attribute."""
        return self.subject.encoding

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the tensor's dimensions."""
        return self.subject.shape

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the input dimensions, the fastest first."""
        names = _ORDERS[self.encoding.memory_kind]
        sizes = {name: self.layout.get_in_dim_size(name) for name in names}
        if "offset" in sizes:
            sizes["offset"] = max(1, self.memory.elements)
        return sizes

    @property
    def memory(self) -> Memory:
        """The shared memory."""
        return Memory(self.layout, self.subject.padding)

    @cached_property
    def elements(self) -> Numbers:
        """The element, numbered row by row, at every place."""
        check_cells(math.prod(self.sizes.values()))
        strides = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        bases: list[int] = []
        for name, size in self.sizes.items():
            vectors = self.layout.vectors(name)
            nothing = ((0,) * len(self.shape),)
            shown = (*vectors, *nothing * size.bit_length())[: size.bit_length() - 1]
            bases += [sum(x * s for x, s in zip(vector, strides)) for vector in shown]
        return all_values(bases)

    @cached_property
    def holders(self) -> Numbers:
        """The first place that holds each element; -1 where none does."""
        check_cells(math.prod(self.shape))
        found = np.full(math.prod(self.shape), -1, np.int64)
        found[self.elements[::-1]] = np.arange(len(self.elements))[::-1]
        return found

    @property
    def copies(self) -> int:
        """The number of places that hold an element."""
        held = int(np.count_nonzero(self.holders >= 0))
        return len(self.elements) // held if self.subject.is_distributed and held else 1

    def split(self, places: Numbers) -> dict[str, Numbers]:
        """Return the coordinates of places."""
        parts = {}
        for name, size in self.sizes.items():
            places, parts[name] = np.divmod(places, size)
        return parts

    def coordinates(self, elements: Numbers) -> list[Numbers]:
        """Return the coordinates of elements."""
        return [np.asarray(axis) for axis in np.unravel_index(elements, self.shape)]

    def empty_places(self) -> Numbers:
        """Return 1 for every cell of tensor memory that holds nothing, else 0."""
        parts = self.split(np.arange(len(self.elements)))
        masks = {
            name: sum(
                1 << bit
                for bit, vector in enumerate(self.layout.vectors(name))
                if not any(vector) and not (name == "row" and bit in SLICE_BITS)
            )
            for name in ("row", "col")
        }
        empty: Numbers = np.sign(sum(parts[name] & mask for name, mask in masks.items()))
        return empty


def hold(encoding: Encoding, tensor: TensorType) -> Held:
    """Return a layout over a type; of a ring of buffers, one.

    Raises:
        LayoutError: it does not fit the type.
    """
    try:
        shape = buffer_shape(encoding, tensor)
        layout = encoding.to_linear_layout(shape, element_bits=tensor.element_bits)
    except LayoutError as error:
        raise error.at(tensor.span) from None
    size = max(1, (tensor.element_bits or 32) // 8)
    return Held(Subject(encoding, layout, size, False, Selection()), tensor.span.text.strip())
