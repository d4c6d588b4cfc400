"""Boxes of cells, and their text row by row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.records import dataclass
from tt_layout.views.cell_text import CellText, Gap, Layer
from tt_layout.views.selection import Range
from tt_layout.views.text import Bytes

ROW_BYTES = 1 << 10  # the wanted length of a row: long enough to copy fast, few distinct ones
BLOCK_BYTES = 1 << 18  # the wanted length of a block: it fits in the second-level cache
PAGE_BYTES = 1 << 23  # the length over which texts of rows are shared, a bound on memory


@dataclass(frozen=True, eq=False, repr=False)
class Box:
    """A box of cells, numbered row-major in ``sizes``; a line runs along the last axis.

    Example:
        >>> box = Box((4, 8), ((1, 3), (0, 8)))
        >>> box.lines, box.line_cells, box.span(64)
        (2, 8, 8)
        >>> box.firsts(0, 2, span=8).tolist()
        [8, 16]
    """

    sizes: tuple[int, ...]
    ranges: tuple[Range, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """The number of cells along each axis."""
        return tuple(stop - start for start, stop in self.ranges)

    @property
    def line_cells(self) -> int:
        """The number of cells in a line."""
        return self.extents[-1]

    @property
    def lines(self) -> int:
        """The number of lines."""
        return math.prod(self.extents[:-1])

    @cached_property
    def _merged(self) -> list[tuple[int, Range]]:
        """Sizes and ranges, last axis first, with fully shown axes merged into the next."""
        merged = [(1, (0, 1))]
        for size, (start, stop) in zip(reversed(self.sizes), reversed(self.ranges)):
            inner, bounds = merged[-1]
            if bounds == (0, inner):
                merged[-1] = inner * size, (inner * start, inner * stop)
            else:
                merged.append((size, (start, stop)))
        return merged

    def span(self, limit: int) -> int:
        """Return the largest possible number of cells in a row, a power of two.

        A row is within the box, and its first cell's number is a multiple of the span.
        """
        _, (start, stop) = self._merged[0]
        common = start | stop | 1 << max(0, limit.bit_length() - 1)
        return common & -common

    def firsts(self, first: int, last: int, span: int) -> Ints:
        """Return the number of the first cell of each of the rows ``first`` .. ``last - 1``."""
        rest, cells = np.arange(first, last), np.zeros(last - first, np.int64)
        unit, stride = span, 1
        for size, (start, stop) in self._merged:
            rest, index = np.divmod(rest, (stop - start) // unit)
            cells += (index * unit + start) * stride
            unit, stride = 1, stride * size
        return cells


@dataclass(frozen=True, eq=False, repr=False)
class RowPage:
    """Texts of rows, from which the rows are painted block by block.

    Attributes:
        cells: the text of the cells.
        span: the number of cells in a row.
        first: the number of the first row.
        firsts: the number of the first cell of each row.
        scratch: memory in which the rows of a block are assembled.
    """

    cells: CellText
    span: int
    first: int
    firsts: Ints
    scratch: list[Bytes] = field(default_factory=list)

    @cached_property
    def _layers(self) -> list[Layer]:
        return self.cells.layers(self.firsts, self.span)

    def _scratch(self, rows: int) -> list[Bytes]:
        """Return memory for the rows of each layer, reused because allocating it takes long."""
        if not self.scratch or len(self.scratch[0]) < rows:
            self.scratch[:] = [
                np.empty((rows, layer.texts.shape[1]), np.uint8) for layer in self._layers
            ]
        return self.scratch

    def has(self, row: int) -> bool:
        """Tell whether a row is before the end of this page."""
        return row < self.first + len(self.firsts)

    def paint(self, start: int, stop: int, lines: Bytes) -> None:
        """Write the rows ``start`` .. ``stop - 1`` into lines.

        A line may lack its last bytes: the separator after its last cell is left out.
        """
        rows, count = slice(start - self.first, stop - self.first), stop - start
        painted = [
            np.take(layer.texts, layer.which[rows], axis=0, out=scratch[:count], mode="clip")
            for layer, scratch in zip(self._layers, self._scratch(count))
        ]
        if self.cells.gap is not None:
            self._show_gaps(self.cells.gap, self.firsts[rows], painted)
        width = lines.shape[1]
        first, *rest = (layer.reshape(len(lines), -1)[:, :width] for layer in painted)
        if not rest:
            lines[:] = first
            return
        *between, last = rest
        for layer in between:
            np.bitwise_or(first, layer, out=first)
        np.bitwise_or(first, last, out=lines)

    def _show_gaps(self, gap: Gap, firsts: Ints, painted: list[Bytes]) -> None:
        cells = firsts[:, np.newaxis] + np.arange(self.span)
        missing = gap.misses(cells.ravel()) != 0
        text = np.frombuffer(gap.text, np.uint8)
        for rows in painted:
            rows.reshape(len(missing), -1)[missing, : len(text)] = text


@dataclass(frozen=True, eq=False, repr=False)
class Painter:
    """Painter of the text of a box of cells, row by row."""

    box: Box
    cells: CellText

    @cached_property
    def span(self) -> int:
        """The number of cells in a row."""
        return self.box.span(max(1, ROW_BYTES // self.cells.width))

    @property
    def row_bytes(self) -> int:
        """The number of bytes of a row."""
        return self.span * self.cells.width

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.box.lines * self.box.line_cells // self.span

    def pages(self, blocks: Iterable[Range]) -> Iterator[tuple[RowPage, int, int]]:
        """Return a page to paint from, for each block of rows in ascending order."""
        page = None
        for start, stop in blocks:
            if page is None or not page.has(stop - 1):
                end = max(stop, min(self.rows, start + PAGE_BYTES // self.row_bytes))
                page = RowPage(self.cells, self.span, start, self.box.firsts(start, end, self.span))
            yield page, start, stop
