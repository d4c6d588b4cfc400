"""The hardware view, and every other view with columns: a row per line, a column per cell."""

from __future__ import annotations

from itertools import product

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import Colouring, DrawnLayout, element_labels, location_labels
from tt_layout.figures.model import (
    NOTHING,
    Figure,
    Grid,
    check_cells,
    has_labels,
    legend_of_nothing,
    table,
)
from tt_layout.views.axes import Axes, Axis
from tt_layout.views.cells import Cells
from tt_layout.views.groups import SLICE_ROWS, default_grouping, hardware_sizes
from tt_layout.views.kinds import ViewKind
from tt_layout.views.view import View

_NAMES = {"block": "B{}", "warp": "W{}", "register": "r{}"}
"""How the coordinates of a line are written, where not as numbers alone."""


def view_figure(drawn: DrawnLayout, kind: ViewKind, color_by: str | None = None) -> Figure:
    """Return the figure of a view, cell by cell in the order of its text.

    Raises:
        LayoutError: the layout has no such groups or no such view, or too many cells, or the
            view has one cell in a line.
    """
    view = kind.view(drawn.placed, drawn.selection)
    if view.axes.columns is None:
        raise LayoutError(f"the {kind.name} view of {drawn.placed.memory_space} has no figure")
    check_cells(view.axes.count)
    colouring = Colouring(drawn.placed, color_by or default_grouping(drawn.placed))
    cells = view.cells_between(0, view.axes.count)
    groups = np.where(cells.are_mapped, colouring.groups(cells, of_elements=True), NOTHING)
    grid = _grid(drawn, view, view.axes.columns, cells, colouring.colours(groups))
    legend = (*colouring.legend(groups), *legend_of_nothing([grid], "no element"))
    return Figure(drawn.title, (grid,), legend, (hardware_sizes(drawn.placed),))


def _grid(drawn: DrawnLayout, view: View, columns: Axis, cells: Cells, colours: Ints) -> Grid:
    axes = view.axes
    shape = axes.lines, columns.extent
    return Grid(
        colours.reshape(shape),
        table(_labels(drawn, view, cells), shape) if has_labels(*shape) else None,
        "",
        _line_names(axes),
        tuple(map(str, range(*columns.shown))),
        row_title=",".join(axis.name for axis in axes.rows),
        column_title=columns.name,
        row_step=_step(axes),
    )


def _labels(drawn: DrawnLayout, view: View, cells: Cells) -> list[str]:
    if not view.content.shows_locations:
        return element_labels(cells)
    return location_labels(drawn.placed, cells)


def _line_names(axes: Axes) -> tuple[str, ...]:
    """Return the coordinates of every line, without those of a single block."""
    named = [axis for axis in (*axes.sections, *axes.rows) if axis.name != "block" or axis.size > 1]
    patterns = [_NAMES.get(axis.name, "{}") for axis in named]
    lines = product(*(range(*axis.shown) for axis in named))
    return tuple(" ".join(p.format(n) for p, n in zip(patterns, line)) for line in lines)


def _step(axes: Axes) -> int:
    """Return the number of lines between strong rules: of a warp, or of the rows it reaches."""
    (row, *outer) = reversed(axes.rows)
    if row.name == "row" and not outer:
        return SLICE_ROWS if row.shown[0] % SLICE_ROWS == 0 else 0
    return row.extent
