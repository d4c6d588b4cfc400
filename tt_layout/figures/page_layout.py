"""Placement of a figure on a page, in whole pixels, for every file format."""

from __future__ import annotations

import math
from dataclasses import replace

from tt_layout.colour import INK, PALETTES, RULE
from tt_layout.figures.model import Figure, Grid, without_repeats
from tt_layout.folding import fold
from tt_layout.records import dataclass
from tt_layout.safe_text import safe

LABEL = 11  # font size of labels and titles
SMALL = 10  # of coordinates
ADVANCE = 0.61  # width of a character of the monospaced font, in font sizes
CELL_HEIGHT = 20
MIN_CELL = 24
MARGIN = 16
GAP = 14
LINE_HEIGHT = 16
OVERVIEW = 768  # the wanted size of a grid without labels
MIN_WIDTH = 460
MAX_ACROSS = 1700  # wider grids stand below each other
SWATCH = 12
LARGE_CELL = 50  # of a pastel figure
START = 1.2  # texts do not shrink: cells must shrink by more, and are tried from here on
SHRINKING = 0.95  # how much smaller cells are tried next
SQUARE = 0.7  # height of a small cell, in its widths
LEAST_SCALE = 0.01
MIN_LINES = 6  # cells from this size on have lines between them

FITS = {"paper": (680, 960), "screen": (1440, math.inf), "none": (math.inf, math.inf)}
"""What a figure is made to fit, and the pixels of its width and height at most."""


@dataclass(frozen=True)
class Text:
    """A line of text; ``y`` is its baseline, ``anchor`` start, middle or end."""

    x: float
    y: float
    text: str
    size: float = LABEL
    anchor: str = "start"
    colour: str = INK
    bold: bool = False


@dataclass(frozen=True)
class Swatch:
    """A small square in the colour of a number."""

    x: int
    y: int
    number: int


@dataclass(frozen=True)
class PlacedGrid:
    """A grid with its upper left corner and the size of its cells."""

    grid: Grid
    x: int
    y: int
    width: int
    height: int
    label_size: float = LABEL

    @property
    def lines(self) -> list[tuple[list[list[str]], float]]:
        """The lines of the labels, each with its distance below the middle of the cell."""
        labels = self.grid.labels
        if labels is None:
            return []
        if self.height < LARGE_CELL:
            return [(labels, 0)]
        threads = [[text.rpartition(":")[0] or text for text in row] for row in labels]
        values = [[_value(text) for text in row] for row in labels]
        has_two = any(text for row in values for text in row)
        step = self.label_size * 0.75 if has_two else 0
        return [(threads, -step), (values, step)] if has_two else [(labels, 0)]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of all cells together."""
        rows, columns = self.grid.shape
        return columns * self.width, rows * self.height


@dataclass(frozen=True)
class FigureLayout:
    """A figure with the positions of its parts."""

    width: int
    height: int
    grids: tuple[PlacedGrid, ...]
    texts: tuple[Text, ...]
    swatches: tuple[Swatch, ...]
    fills: tuple[str, ...] = PALETTES["strong"]


def scale_to_fit(layout: FigureLayout, fit: str) -> float:
    """Return the scale at which a figure fits its limits; never above 1.

    Args:
        layout: the figure.
        fit: ``paper``, an A4 page within its margins; ``screen``, as wide as one; or ``none``.

        `lay_out_figure` shrinks cells first: this is for figures that are still too large.

    Example:
        >>> scale_to_fit(FigureLayout(2720, 100, (), (), ()), "paper")
        0.25
    """
    width, height = FITS[fit]
    return min(1.0, width / layout.width, height / layout.height)


def text_width(text: str, size: int) -> float:
    """Return the width of a text in the monospaced font."""
    return len(text) * size * ADVANCE


def _value(text: str) -> str:
    """Return the second line of a label: ``V0`` of ``T3:0``, or a register's name.

    Example:
        >>> _value("T3:0"), _value("T3:a0"), _value("96")
        ('V0', 'a0', '')
    """
    thread, _, register = text.rpartition(":")
    if not thread:
        return ""
    return f"V{register}" if register[:1].isdigit() else register


def cell_size(grid: Grid, scale: float = 1.0, is_large: bool = False) -> tuple[int, int]:
    """Return the width and height of the cells of a grid.

    Args:
        grid: the grid.
        scale: their size as a fraction of that needed by their labels.
        is_large: whether labels have two lines.
    """
    rows, columns = grid.shape
    if grid.labels is None:
        side = max(1, min(16, OVERVIEW // max(rows, columns)))
        width = height = side
    else:
        longest = max((len(text) for row in grid.labels for text in row), default=0)
        width = max(MIN_CELL, grid.cell_width, int(text_width("0" * longest, LABEL)) + 9)
        height = CELL_HEIGHT
        if is_large:
            width, height = max(width, LARGE_CELL), LARGE_CELL
    # Without room for labels cells need not be wider than high.
    high = max(height * scale, min(height, SQUARE * width * scale)) if scale < 1 else height
    return max(1, int(width * scale)), max(1, int(high))


def step_of(names: tuple[str, ...], room: float, needed: float) -> int:
    """Return the smallest power of two as the distance of names at which they do not overlap.

    Example:
        >>> step_of(("0", "1", "2", "3"), 6, 20)
        4
    """
    step = 1
    while step < len(names) and step * room < needed:
        step *= 2
    return step


def lay_out_figure(figure: Figure, fit: str = "none") -> FigureLayout:
    """Lay out a figure.

    If it would be too large, its cells shrink; titles, names and legends keep their size.  Labels
    shrink with their cells, for readers who enlarge the figure.

    Args:
        figure: the figure.
        fit: as for `scale_to_fit`.
    """
    figure = without_repeats(figure)
    layout, (width, height) = _laid_out(figure, 1.0), FITS[fit]
    scale = min(1.0, START * width / layout.width, START * height / layout.height)
    while (layout.width > width or layout.height > height) and scale > LEAST_SCALE:
        layout = _laid_out(figure, scale)
        scale *= SHRINKING
    return layout


def _laid_out(figure: Figure, scale: float) -> FigureLayout:
    """Lay out a figure with cells at a scale."""
    label_size = LABEL if scale == 1 else round(LABEL * scale, 1)
    table = _arranged(figure, scale)
    inner = max(MIN_WIDTH, table.width)
    texts: list[Text] = []
    y = MARGIN
    for number, line in enumerate(figure.title):
        for part in _folded(safe(line), inner, LABEL):
            y += LINE_HEIGHT
            texts.append(Text(MARGIN, y - 4, part, bold=number == len(figure.title) - 1))
    y += GAP
    grids = [
        replace(table.placed(number, grid, y), label_size=label_size)
        for number, grid in enumerate(figure.grids)
    ]
    for placed in grids:
        texts += _grid_texts(placed)
    y += table.height + GAP
    swatches, labels, y = _legend(figure, inner, y)
    texts += labels
    for note in figure.notes:
        for part in _folded(note, inner, SMALL):
            y += LINE_HEIGHT
            texts.append(Text(MARGIN, y - 4, part, SMALL, colour=RULE))
    size = inner + 2 * MARGIN, y + MARGIN
    fills = PALETTES[figure.palette]
    return FigureLayout(*size, tuple(grids), tuple(texts), tuple(swatches), fills)


@dataclass(frozen=True)
class GridTable:
    """Grids in rows and columns, with cells aligned within a column or a row.

    Attributes:
        places: the row and the column of each grid.
        cells: the width and height of its cells.
        lefts, widths: for each column, the width of its names and its total width.
        tops, heights: the same for each row.
    """

    places: tuple[tuple[int, int], ...]
    cells: tuple[tuple[int, int], ...]
    lefts: tuple[int, ...]
    widths: tuple[int, ...]
    tops: tuple[int, ...]
    heights: tuple[int, ...]

    @property
    def width(self) -> int:
        """The total width."""
        return sum(self.widths) + 2 * GAP * (len(self.widths) - 1)

    @property
    def height(self) -> int:
        """The total height."""
        return sum(self.heights) + GAP * (len(self.heights) - 1)

    def placed(self, number: int, grid: Grid, y: int) -> PlacedGrid:
        """Place a grid in a table that begins at ``y``."""
        row, column = self.places[number]
        x = MARGIN + sum(self.widths[:column]) + 2 * GAP * column + self.lefts[column]
        y += sum(self.heights[:row]) + GAP * row + self.tops[row]
        return PlacedGrid(grid, x, y, *self.cells[number])


def _arranged(figure: Figure, scale: float) -> GridTable:
    """Return the table of a figure's grids; a row of grids that is too wide becomes a column."""
    below = tuple((row, 0) for row in range(len(figure.grids)))
    table = _table(figure, figure.places or below, scale)
    is_row = not any(row for row, _ in figure.places)
    return _table(figure, below, scale) if is_row and table.width > MAX_ACROSS else table


def _table(figure: Figure, places: tuple[tuple[int, int], ...], scale: float) -> GridTable:
    grids, is_large = figure.grids, figure.palette == "pastel"
    cells = [cell_size(grid, scale, is_large) for grid in grids]
    if any(row for row, _ in figure.places):  # then rows and columns go on from grid to grid
        cells = [tuple(map(max, zip(*cells)))] * len(cells)
    rows, columns = (range(1 + max(place[axis] for place in places)) for axis in (0, 1))

    def most(axis: int, number: int, sizes: list[int]) -> int:
        return max((s for s, p in zip(sizes, places) if p[axis] == number), default=0)

    lefts = tuple(most(1, c, [_left(grid) for grid in grids]) for c in columns)
    tops = tuple(most(0, r, [_top(grid) for grid in grids]) for r in rows)
    inner = [_inner(grid, size) for grid, size in zip(grids, cells)]
    widths = tuple(lefts[c] + most(1, c, [w for w, _ in inner]) + 2 for c in columns)
    heights = tuple(tops[r] + most(0, r, [h for _, h in inner]) for r in rows)
    return GridTable(places, tuple(cells), lefts, widths, tops, heights)


def _inner(grid: Grid, cell: tuple[int, int]) -> tuple[int, int]:
    """Return the size of all cells, or the title if it is wider."""
    rows, columns = grid.shape
    title = int(text_width(grid.title, LABEL)) - _left(grid)
    return max(columns * cell[0], title), rows * cell[1]


def _left(grid: Grid) -> int:
    """Return the width of the row names."""
    names = (*grid.rows, grid.row_title)
    return int(max((text_width(name, SMALL) for name in names), default=0)) + 8


def _top(grid: Grid) -> int:
    """Return the height above the cells."""
    lines = bool(grid.title) + bool(grid.column_title) + bool(grid.columns) + bool(grid.groups)
    return lines * (LINE_HEIGHT - 2) + 4


def _grid_texts(placed: PlacedGrid) -> list[Text]:
    """Return the title and the names of rows and columns."""
    grid, x, y = placed.grid, placed.x, placed.y
    texts, up = [], y - 6
    if grid.columns:
        needed = max(text_width(name, SMALL) for name in grid.columns) + 4
        step = step_of(grid.columns, placed.width, needed)
        for number in range(0, len(grid.columns), step):
            at = x + (number + 0.5) * placed.width
            texts.append(_coordinate(at, up, grid.columns[number], "middle"))
    if grid.row_title:
        texts.append(_coordinate(x - 6, up, grid.row_title, "end"))
    if grid.columns:
        up -= LINE_HEIGHT - 2
    if grid.groups:
        texts += _group_texts(placed, up)
        up -= LINE_HEIGHT - 2
    if grid.column_title:
        texts.append(_coordinate(x, up, grid.column_title, "start"))
        up -= LINE_HEIGHT - 2
    if grid.title:
        texts.append(Text(x - _left(grid), up, grid.title, bold=True))
    step = step_of(grid.rows, placed.height, SMALL + 5)
    for number in range(0, len(grid.rows), step):
        at = y + (number + 0.5) * placed.height + SMALL * 0.36
        texts.append(_coordinate(x - 6, at, grid.rows[number], "end"))
    return texts


def _group_texts(placed: PlacedGrid, y: float) -> list[Text]:
    grid = placed.grid
    names = tuple(name for _, _, name in grid.groups)
    needed = max(text_width(name, SMALL) for name in names) + 4
    step = step_of(names, grid.groups[0][1] * placed.width, needed)
    return [
        _coordinate(placed.x + (start + count / 2) * placed.width, y, name, "middle")
        for start, count, name in grid.groups[::step]
    ]


def _coordinate(x: float, y: float, text: str, anchor: str) -> Text:
    return Text(x, y, text, SMALL, anchor, RULE)


def _folded(line: str, inner: int, size: int) -> list[str]:
    """Break a line so that no part is wider than the figure."""
    return fold(line, int(inner / (size * ADVANCE))).split("\n")


def _legend(figure: Figure, inner: int, y: int) -> tuple[list[Swatch], list[Text], int]:
    """Return the swatches with their texts, in as many lines as needed, and the lower end."""
    swatches: list[Swatch] = []
    texts: list[Text] = []
    x = MARGIN
    for number, meaning in figure.legend:
        width = SWATCH + 6 + int(text_width(meaning, SMALL)) + GAP
        if x > MARGIN and x + width - GAP > MARGIN + inner:
            x, y = MARGIN, y + LINE_HEIGHT + 2
        is_note = meaning.startswith("...")
        if not is_note:
            swatches.append(Swatch(x, y, number))
        start = x if is_note else x + SWATCH + 6
        texts.append(Text(start, y + SWATCH - 2, meaning, SMALL))
        x += width
    return swatches, texts, y + (LINE_HEIGHT + 2 if figure.legend else 0)
