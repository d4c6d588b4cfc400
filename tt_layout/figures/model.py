"""Content of a figure, before it is placed on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.errors import TooLargeError
from tt_layout.records import dataclass

NOTHING = -1
"""The colour of a cell that holds nothing."""

PLAIN = -2
"""The colour of a cell that does not matter here; its label stays."""

Legend = tuple[tuple[int, str], ...]
"""The number of a colour and what it means; without a swatch where that begins with dots."""

MAX_LABELLED = 128
"""Grids with more rows or columns are overviews without labels."""

MAX_CELLS = 1 << 22

LARGEST = 1536
"""Rows or columns of an overview from which on only what repeats itself is drawn."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells in rows and columns.

    Attributes:
        colours: palette index of each cell, or `NOTHING` or `PLAIN`.
        labels: text of each cell; None for an overview.
        title: the title above.
        rows: the names of the rows.
        columns: the names of the columns.
        row_title: title of the rows.
        column_title: title of the columns.
        row_step: number of rows between stronger lines; 0 for none.
        column_step: the same for columns.
        step_width: width of those lines in pixels.
        groups: named groups of columns: first column, count, name.
        marks: the cells with an outline; None for none.
        cell_width: minimum width of a cell in pixels.

    Example:
        >>> Grid(np.array([[0, 1]]), [["a", "b"]]).shape
        (1, 2)
    """

    colours: Ints
    labels: list[list[str]] | None = None
    title: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    row_title: str = ""
    column_title: str = ""
    row_step: int = 0
    column_step: int = 0
    step_width: int = 1
    groups: tuple[tuple[int, int, str], ...] = ()
    marks: npt.NDArray[np.bool_] | None = None
    cell_width: int = 0

    def __eq__(self, other: object) -> bool:
        """Tell whether another grid has the same content."""
        if not isinstance(other, Grid):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        """Hash title and shape, which are equal for equal grids."""
        return hash((self.title, self.shape))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        rows, columns = self.colours.shape
        return rows, columns


@dataclass(frozen=True)
class Figure:
    """Grids with titles, legend and notes.

    Attributes:
        title: the lines above, each folded to the width of the figure.
        grids: the grids.
        legend: the meaning of the colours.
        notes: the lines below.
        places: the row and the column of each grid; none for grids below each other.
        palette: a name of `tt_layout.colour.PALETTES`; cells of ``pastel`` are large, with thread
            and register in two lines.
    """

    title: tuple[str, ...]
    grids: tuple[Grid, ...]
    legend: Legend = ()
    notes: tuple[str, ...] = ()
    places: tuple[tuple[int, int], ...] = ()
    palette: str = "strong"


def legend_of_nothing(grids: Iterable[Grid], meaning: str) -> Legend:
    """Return the legend of empty cells; none if there are no such cells.

    Example:
        >>> legend_of_nothing([Grid(np.array([[0, NOTHING]]))], "padding")
        ((-1, 'padding'),)
    """
    is_drawn = any((grid.colours == NOTHING).any() for grid in grids)
    return ((NOTHING, meaning),) if is_drawn else ()


def period(colours: Ints) -> int:
    """Return the period of the colours in rows, a power of two; the row count without repetition.

    Example:
        >>> period(np.array([[0], [1], [0], [1]])), period(np.array([[0], [1], [2]]))
        (2, 3)
    """
    rows, length = len(colours), 1
    while length < rows:
        parts = colours.reshape(-1, length, colours.shape[1]) if rows % length == 0 else None
        if parts is not None and bool((parts == colours[:length]).all()):
            return length
        length *= 2
    return rows


def runs(cells: Ints) -> Iterator[tuple[int, int]]:
    """Yield start and stop of each run of equal cells, or of equal rows of cells.

    Example:
        >>> list(runs(np.array([5, 5, 7])))
        [(0, 2), (2, 3)]
    """
    is_new = cells[1:] != cells[:-1]
    if is_new.ndim > 1:
        is_new = is_new.any(axis=1)
    return pairwise([0, *(np.flatnonzero(is_new) + 1).tolist(), len(cells)])


def without_repeats(figure: Figure) -> Figure:
    """Reduce the largest grids of a figure to one tile of their repetition, with a note."""
    if all(max(grid.shape) <= LARGEST for grid in figure.grids):
        return figure
    cut = [_first_tile(grid) for grid in figure.grids]
    notes = tuple(dict.fromkeys(note for _, added in cut for note in added))
    return replace(figure, grids=tuple(grid for grid, _ in cut), notes=(*figure.notes, *notes))


def _first_tile(grid: Grid) -> tuple[Grid, list[str]]:
    rows, columns = grid.shape
    down = _tile_size(rows, period(grid.colours))
    across = _tile_size(columns, period(grid.colours.T))
    notes = [
        f"... repeats {count // shown} times {way}"
        for count, shown, way in ((rows, down, "down"), (columns, across, "across"))
        if shown < count
    ]
    return (
        replace(
            grid,
            colours=grid.colours[:down, :across],
            rows=grid.rows[:down],
            columns=grid.columns[:across],
            marks=None if grid.marks is None else grid.marks[:down, :across],
            groups=tuple(group for group in grid.groups if group[0] + group[1] <= across),
        ),
        notes,
    )


def _tile_size(count: int, repeated: int) -> int:
    """Return the number of rows or columns to draw: all, or whole tiles of at least 64."""
    if count <= LARGEST or repeated == count:
        return count
    return max(repeated, min(64, count))


def has_labels(rows: int, columns: int) -> bool:
    """Tell whether the cells of a grid are labelled.

    Example:
        >>> has_labels(16, 16), has_labels(1024, 1024)
        (True, False)
    """
    return max(rows, columns) <= MAX_LABELLED


def check_cells(count: int) -> None:
    """Raise an error if a figure would have too many cells.

    Raises:
        TooLargeError: there are more than `MAX_CELLS`.
    """
    if count > MAX_CELLS:
        message = f"a figure shows up to {MAX_CELLS} cells, this would have {count}"
        raise TooLargeError(f"{message}; give a smaller type")


def table(texts: Any, shape: tuple[int, int]) -> list[list[str]]:
    """Split texts into rows.

    Example:
        >>> table(["a", "b"], (2, 1))
        [['a'], ['b']]
    """
    flat, columns = list(texts), shape[1]
    return [flat[start : start + columns] for start in range(0, len(flat), columns)]
