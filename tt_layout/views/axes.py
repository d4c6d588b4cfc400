"""Axes of a view: headings, lines and columns of its cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple
from tt_layout.views.box import Box
from tt_layout.views.selection import LOCATION_FIELDS, Range, Selection, checked_range

_SPOKEN = {"col": "column"}
"""What people call a dimension, where it is not its name."""


class Axis(NamedTuple):
    """An axis of a view.

    Attributes:
        name: a dimension of the tensor or of the hardware.
        size: the number of its coordinates.
        shown: the range of coordinates that are shown.
        field: the field of `Selection` that chooses it.
    """

    name: str
    size: int
    shown: Range
    field: str

    @property
    def extent(self) -> int:
        """The number of coordinates that are shown."""
        return self.shown[1] - self.shown[0]


@dataclass(frozen=True, eq=False, repr=False)
class Axes:
    """Arrangement of the cells of a view in its text, in the order in which they are printed.

    Attributes:
        sections: the outermost axes, whose coordinates are in headings above the lines.
        rows: the axes from line to line.
        columns: the axis along a line; None if each line has one cell.
        has_row_labels: whether lines begin with their own coordinate.
    """

    sections: tuple[Axis, ...]
    rows: tuple[Axis, ...]
    columns: Axis | None
    has_row_labels: bool = False

    @cached_property
    def all(self) -> tuple[Axis, ...]:
        """Every axis, the outermost first."""
        last = () if self.columns is None else (self.columns,)
        return (*self.sections, *self.rows, *last)

    @cached_property
    def box(self) -> Box:
        """The cells that are shown."""
        return Box(tuple(axis.size for axis in self.all), tuple(axis.shown for axis in self.all))

    @property
    def lines(self) -> int:
        """The number of lines of cells."""
        return math.prod(axis.extent for axis in (*self.sections, *self.rows))

    @property
    def count(self) -> int:
        """The number of cells that are shown."""
        return self.lines * self.line_cells

    @property
    def line_cells(self) -> int:
        """The number of cells in a line."""
        return 1 if self.columns is None else self.columns.extent

    def numbers(self, first: int, last: int) -> Ints:
        """Return the numbers of the printed cells ``first`` .. ``last - 1``."""
        return self.box.firsts(first, last, span=1)

    def row_coordinates(self, line: int) -> list[int]:
        """Return the coordinates of a line along the axes of rows."""
        coordinates = []
        for axis in reversed(self.rows):
            line, index = divmod(line, max(1, axis.extent))
            coordinates.append(axis.shown[0] + index)
        return coordinates[::-1]

    def selecting(self, selection: Selection, chosen: dict[str, Range]) -> Selection:
        """Return a selection with these ranges of the named axes."""
        if self.all[0].field != "slices":
            fields: dict[str, Any] = {}
            fields |= {axis.field: chosen[axis.name] for axis in self.all if axis.name in chosen}
            return replace(selection, **fields)
        ranges = selection.slices or (None,) * len(self.all)
        slices = (chosen.get(axis.name, old) for axis, old in zip(self.all, ranges))
        return replace(selection, slices=tuple(slices))


def tensor_axes(layout: LinearLayout, selection: Selection) -> Axes:
    """Return the axes of a tensor's dimensions, the last one along the lines.

    Raises:
        LayoutError: the selection is not a part of the tensor.
    """
    selection.check_options("a tensor view", "slices")
    sizes = [size for _, size in layout.out_sizes]
    names = layout.get_out_dim_names()
    ranges = selection.tensor_ranges(names, sizes)
    *rows, columns = (Axis(*axis, "slices") for axis in zip(names, sizes, ranges))
    return Axes((), tuple(rows), columns)


def location_axis(name: str, size: int, selection: Selection) -> Axis:
    """Return the axis of an input dimension, restricted to its selection.

    Raises:
        LayoutError: the selection is not a part of it.
    """
    spoken = _SPOKEN.get(name, name)
    field = LOCATION_FIELDS[spoken]
    return Axis(spoken, size, checked_range(spoken, getattr(selection, field), size), field)


def location_axes(layout: LinearLayout, selection: Selection, names: Sequence[str]) -> list[Axis]:
    """Return the axes of input dimensions.

    Raises:
        LayoutError: the selection is not a part of one of them.
    """
    return [location_axis(name, layout.get_in_dim_size(name), selection) for name in names]
