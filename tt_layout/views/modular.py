"""Views of layouts over sizes that are not all powers of two.

They are not linear over F2, so the texts of cells are made one by one, as arrays; the frames around
them are those of other views.  Elements may have different numbers of locations, and cells
different lengths.  Arguments and errors are those of `tt_layout.views.kinds.ViewKind.view`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.modular_layout import ModularLayout
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.views.axes import tensor_axes
from tt_layout.views.cell_text import Fields, Gap, Label, Layer
from tt_layout.views.cells import Cells, Sizes, coordinates
from tt_layout.views.distributed import (
    DIMENSIONS,
    LOCATIONS,
    check_inputs,
    input_sizes,
    registers_view,
)
from tt_layout.views.frames import Brackets, framed_view
from tt_layout.views.selection import EVERYTHING, Selection
from tt_layout.views.text import FILLER, Bytes, decimals, digit_counts, digits
from tt_layout.views.view import View, Viewable

_NO_HOLDER = -1


def tensor_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the registers that hold each element of a tensor, in ascending order.

    Example:
        >>> from tt_layout.views.view import BareLayout
        >>> layout = ModularLayout((("lane", ((1,), (2,))),), (("dim0", 3),))
        >>> print(tensor_view(BareLayout(layout)).text(), end="")
        [T0:0|T3:0, T1:0, T2:0]
    """
    layout = _modular(placed)
    axes, sizes = tensor_axes(layout, selection), input_sizes(layout, DIMENSIONS)
    (_, registers), (_, lanes), (_, warps), (_, blocks) = sizes
    content = ModularElements(_all_inputs(layout), sizes)
    text = HoldersText(Label("T", ":", blocks, lanes * warps, registers), content)
    shown = axes.numbers(0, axes.count)
    full = axes.count * (text.width - len(text.separator))
    gaps = full - int(text.lengths[shown].sum())
    notation = "T<thread>:<register>, | between several holders"
    return framed_view(
        axes, content, text, Brackets(axes.box.extents, True), gaps=gaps, notation=notation
    )


def hardware_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the element in each register.

    Example:
        >>> from tt_layout.views.view import BareLayout
        >>> layout = ModularLayout((("lane", ((1,), (2,))),), (("dim0", 3),))
        >>> print(hardware_view(BareLayout(layout)).text(), end="")
        Warp0:
        (0), (1), (2), (0)
    """
    layout = _modular(placed)
    content = ModularLocations(_all_inputs(layout), input_sizes(layout, LOCATIONS[::-1]))
    return registers_view(layout, content, CoordinatesText(content), selection)


def _modular(placed: Viewable) -> ModularLayout:
    layout = placed.layout
    if not isinstance(layout, ModularLayout):
        raise LayoutError("this view shows layouts over sizes that are not powers of two")
    check_inputs(layout, *DIMENSIONS)
    return layout


def _all_inputs(layout: ModularLayout) -> ModularLayout:
    """Return the layout with all four inputs, in their order."""
    bases = tuple((name, layout.vectors(name)) for name in DIMENSIONS)
    return ModularLayout(bases, layout.out_sizes)


@dataclass(frozen=True)
class ModularElements:
    """Cells numbered like the elements, row by row.

    Attributes:
        layout: the layout from all inputs.
        sizes: of the input dimensions, the fastest first.
    """

    layout: ModularLayout
    sizes: Sizes

    shows_locations = True

    @cached_property
    def holders(self) -> Ints:
        """The locations of each element, ascending: a row each, filled up with `_NO_HOLDER`."""
        elements = self.layout.elements
        shape = [size for _, size in self.layout.out_sizes]
        counts = np.bincount(elements, minlength=int(np.prod(shape)))
        order = np.argsort(elements, kind="stable")
        begins = np.cumsum(counts) - counts
        table = np.full((len(counts), max(1, int(counts.max()))), _NO_HOLDER, np.int64)
        table[elements[order], np.arange(len(order)) - begins[elements[order]]] = order
        return table

    @property
    def holders_per_cell(self) -> int:
        """The maximum number of locations of an element."""
        return int(self.holders.shape[1])

    def cells(self, numbers: Ints) -> Cells:
        """Return elements and their locations, padded with the first location."""
        table = self.holders[numbers]
        locations = np.where(table == _NO_HOLDER, np.maximum(table[:, :1], 0), table)
        shape = [size for _, size in self.layout.out_sizes]
        elements = np.stack(np.unravel_index(numbers, shape), axis=-1)
        return Cells(coordinates(locations, self.sizes), elements, table[:, 0] != _NO_HOLDER)


@dataclass(frozen=True)
class ModularLocations:
    """Cells numbered like the locations: the element at each.

    Attributes:
        layout: the layout from all inputs.
        sizes: of the input dimensions, the fastest of a cell's number first.
    """

    layout: ModularLayout
    sizes: Sizes

    shows_locations = False
    holders_per_cell = 1

    def cells(self, numbers: Ints) -> Cells:
        """Return the locations with these numbers, and the element of each."""
        locations = coordinates(numbers[:, np.newaxis], self.sizes)
        outputs = self.layout.apply({name: at[:, 0] for name, at in locations.items()})
        elements = np.stack([*outputs.values()], axis=-1)
        return Cells(locations, elements, np.ones(len(numbers), np.bool_))


@dataclass(frozen=True)
class HoldersText:
    """Cells with all holders of an element.

    Attributes:
        label: format of a holder.
        content: the holders.
    """

    label: Label
    content: ModularElements

    separator = b", "
    gap: Gap | None = None

    @property
    def step(self) -> int:
        """The bytes of a label, with room for the digits of its inner number, and a bar."""
        return self.label.width + self.label.inner_width + 1

    @property
    def width(self) -> int:
        """The number of bytes of the longest cell with fillers and the separator after it."""
        return self.content.holders_per_cell * self.step - 1 + len(self.separator)

    @cached_property
    def lengths(self) -> Ints:
        """The number of printed bytes of each cell, without the separator."""
        counts = (self.content.holders != _NO_HOLDER).sum(axis=1)
        return np.where(counts > 0, counts * (self.label.width + 1) - 1, 0)

    @property
    def fields(self) -> Fields:
        """Byte offsets of the labels."""
        return Fields(self.content.holders_per_cell, self.step - 1, step=self.step)

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return one layer, with a text of each row."""
        numbers = (firsts[:, np.newaxis] + np.arange(span)).ravel()
        holders = self.content.holders[numbers]
        cells = np.full((len(holders), self.width + 1 - len(self.separator)), FILLER, np.uint8)
        labels = cells.reshape(len(holders), -1, self.step)
        is_there = holders != _NO_HOLDER
        labels[is_there, :-1] = self._labels(holders[is_there])
        labels[:, 1:][is_there[:, 1:], -1] = FILLER
        bars = np.zeros_like(is_there)
        bars[:, :-1] = is_there[:, 1:]
        labels[bars, -1] = ord("|")
        separators = np.tile(np.frombuffer(self.separator, np.uint8), (len(holders), 1))
        texts = np.concatenate([cells[:, :-1], separators], axis=1)
        return [Layer(texts.reshape(len(firsts), -1), np.arange(len(firsts)))]

    def _labels(self, locations: Ints) -> Bytes:
        """Return the text of each location: spaces, outer number, inner number."""
        outer, inner = np.divmod(locations, self.label.inner_size)
        inner_texts = self.label.inner_texts(inner)
        short = digits(self.label.inner_size) - digit_counts(inner).astype(np.int64)
        room = np.arange(self.label.inner_width)
        spaces = np.where(room < short[:, np.newaxis], ord(" "), FILLER).astype(np.uint8)
        return np.concatenate([spaces, self.label.outer_texts(outer), inner_texts], axis=1)


@dataclass(frozen=True)
class CoordinatesText:
    """Cells with the coordinates of an element, such as ``(12, 7)``.

    Attributes:
        content: the elements.
    """

    content: ModularLocations

    separator = b", "
    gap: Gap | None = None

    @property
    def _sizes(self) -> list[int]:
        return [size for _, size in self.content.layout.out_sizes]

    @property
    def width(self) -> int:
        """The number of bytes of a cell with the separator after it."""
        return sum(map(digits, self._sizes)) + len(self._sizes) + 1 + len(self.separator)

    @property
    def fields(self) -> Fields:
        """Byte offset of the tuple."""
        return Fields(1, self.width - len(self.separator))

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return one layer, with a text of each row."""
        numbers = (firsts[:, np.newaxis] + np.arange(span)).ravel()
        elements = self.content.cells(numbers).elements
        parts: list[Bytes] = []
        for axis, size in enumerate(self._sizes):
            mark = ord("," if axis else "(")
            parts.append(np.full((len(numbers), 1), mark, np.uint8))
            parts.append(decimals(elements[:, axis], digits(size), fill=ord(" ")))
        end = np.frombuffer(b")" + self.separator, np.uint8)
        parts.append(np.tile(end, (len(numbers), 1)))
        texts = np.concatenate(parts, axis=1)
        return [Layer(texts.reshape(len(firsts), -1), np.arange(len(firsts)))]
