"""The tensor view: holders of each element."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.figures.drawn import Colouring, DrawnLayout, location_labels
from tt_layout.figures.model import NOTHING, Figure, Grid, has_labels, legend_of_nothing, table
from tt_layout.views.groups import default_grouping, hardware_sizes
from tt_layout.views.selection import Range

LINE = 32  # elements of a row where the tensor has one dimension
NOWHERE = "no location holds it"


def tensor_figure(drawn: DrawnLayout, color_by: str | None) -> Figure:
    """Return the figure of the holders of all elements.

    Raises:
        LayoutError: the layout has no such groups, or too many elements.
    """
    colouring = Colouring(drawn.placed, color_by or default_grouping(drawn.placed))
    groups = element_groups(drawn, colouring)
    replicas = (1 << len(drawn.kernel)) - 1
    notes = [hardware_sizes(drawn.placed)]
    if replicas > 1:
        notes.append(f"+{replicas}: {replicas} more locations hold the element; the first is named")
    grid = tensor_grid(drawn, colouring.colours(groups))
    legend = (*colouring.legend(groups), *legend_of_nothing([grid], NOWHERE))
    return Figure(drawn.title, (grid,), legend, tuple(notes))


def element_groups(drawn: DrawnLayout, colouring: Colouring) -> Ints:
    """Return the group of each drawn element; `NOTHING` if no location holds it."""
    cells = drawn.cells
    return np.where(cells.are_mapped, colouring.groups(cells), NOTHING)


def tensor_grid(drawn: DrawnLayout, colours: Ints, title: str = "") -> Grid:
    """Return the grid of the holders of all elements, with given colours."""
    extents, ranges = drawn.axes.box.extents, drawn.axes.box.ranges
    shape = grid_shape(extents)
    rows, columns = axis_names(ranges, shape)
    dims = drawn.layout.get_out_dim_names()
    return Grid(
        colours.reshape(shape),
        table(_holder_labels(drawn), shape) if has_labels(*shape) else None,
        title,
        rows,
        columns,
        row_title=",".join(dims[:-1]),
        column_title=dims[-1],
        row_step=shape[0] // extents[0] if len(extents) > 2 else 0,
    )


def grid_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns in which a tensor is drawn.

    Example:
        >>> grid_shape((4, 8)), grid_shape((2, 4, 8)), grid_shape((128,)), grid_shape((8,))
        ((4, 8), (8, 8), (4, 32), (1, 8))
    """
    if len(shape) == 1:
        columns = min(shape[0], LINE if shape[0] <= LINE * 128 else 1024)
        return shape[0] // columns, columns
    return math.prod(shape[:-1]), shape[-1]


def axis_names(
    ranges: tuple[Range, ...], grid: tuple[int, int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the rows and columns of a part of a tensor.

    Example:
        >>> axis_names(((2, 4), (8, 10)), (2, 2))
        (('2', '3'), ('8', '9'))
        >>> axis_names(((32, 96),), (2, 32))[0]
        ('32', '64')
    """
    rows, columns = grid
    first, _ = ranges[-1]
    if len(ranges) == 1:
        starts = range(first, first + rows * columns, columns)
        offset = first if rows == 1 else 0
        return tuple(map(str, starts)), tuple(map(str, range(offset, offset + columns)))
    leading = product(*(range(*bounds) for bounds in ranges[:-1]))
    names = tuple(",".join(map(str, index)) for index in leading)
    return names, tuple(map(str, range(first, first + columns)))


def _holder_labels(drawn: DrawnLayout) -> list[str]:
    """Return the first holder of every element; both if there are two."""
    if len(drawn.kernel) == 1:
        cells = drawn.holders.cells(drawn.numbers)
        first, last = (location_labels(drawn.placed, cells, number) for number in (0, 1))
        return [f"{a}|{b}" if a else a for a, b in zip(first, last)]
    labels, replicas = location_labels(drawn.placed, drawn.cells), (1 << len(drawn.kernel)) - 1
    return [f"{label}+{replicas}" if label else "" for label in labels] if replicas else labels
