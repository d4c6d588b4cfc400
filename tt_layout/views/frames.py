"""Frames of cells: brackets, line ends and headers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from tt_layout.records import dataclass
from tt_layout.views.axes import Axes
from tt_layout.views.box import BLOCK_BYTES, Painter
from tt_layout.views.cell_text import CellText
from tt_layout.views.cells import Content
from tt_layout.views.selection import Range
from tt_layout.views.text import FILLER, Bytes, decimals, digits, total_digits
from tt_layout.views.view import Allocate, CellShape, LineBlock, View


class Frame(Protocol):
    """Frame around the cells of each line."""

    @property
    def opening_width(self) -> int:
        """The number of bytes before the cells of a line."""

    @property
    def size(self) -> int:
        """The number of bytes other than cells and their separators."""

    def closing_width(self, first: int, count: int) -> int:
        """Return the number of bytes, fillers included, after the cells of these lines."""

    def open(self, first: int, lines: Bytes) -> None:
        """Write the bytes before the cells, from line ``first`` on."""

    def close(self, first: int, lines: Bytes) -> None:
        """Write the bytes after the cells, from line ``first`` on."""

    def headings(self, first: int, count: int, is_start: bool) -> tuple[tuple[int, bytes], ...]:
        """Return the headings above these lines, by the number of the line."""

    def has_fillers(self, first: int, count: int) -> bool:
        """Tell whether these lines may have fillers."""


def framed_view(
    axes: Axes, content: Content, cells: CellText, frame: Frame, *, gaps: int = 0, notation: str
) -> View:
    """Return the view of cells in a frame.

    Args:
        axes: the arrangement of the cells in the text.
        content: their content.
        cells: their text.
        frame: the frame around them.
        gaps: the number of bytes by which the cells are shorter than their width.
        notation: a legend of the text.
    """
    box, painter = axes.box, Painter(axes.box, cells)
    size = box.lines * (box.line_cells * cells.width - len(cells.separator)) + frame.size - gaps
    shape = CellShape(cells.width, cells.fields)
    return View(size, partial(_framed_lines, painter, frame), axes, content, shape, notation)


def _framed_lines(painter: Painter, frame: Frame, allocate: Allocate) -> Iterator[LineBlock]:
    """Build whole lines, or pieces of a line, of which only the outer ones are framed."""
    line, separator = painter.box.line_cells, len(painter.cells.separator)
    for page, start, stop in painter.pages(_whole_lines_if_short(painter)):
        first, before = divmod(start * painter.span, line)
        last, behind = divmod(stop * painter.span, line)
        starts, ends, count = before == 0, behind == 0, max(1, last - first)
        body = (stop - start) * painter.row_bytes // count - (separator if ends else 0)
        begin = frame.opening_width if starts else 0
        end = begin + body
        lines = allocate((count, end + frame.closing_width(first, count) * ends))
        if starts:
            frame.open(first, lines[:, :begin])
        page.paint(start, stop, lines[:, begin:end])
        if ends:
            frame.close(first, lines[:, end:])
        yield LineBlock(
            lines,
            lead=begin,
            cells=(stop - start) * painter.span // count,
            first=start * painter.span,
            is_start=starts,
            headings=frame.headings(first, count, starts),
            has_fillers=frame.has_fillers(first, count),
        )


def _whole_lines_if_short(painter: Painter) -> Iterator[Range]:
    """Cut rows into blocks: several whole lines, or pieces of one line."""
    rows, line = painter.rows, max(1, painter.box.line_cells // painter.span)
    block = max(1, BLOCK_BYTES // painter.row_bytes)
    if line <= block:
        block -= block % line
        line = rows
    for start in range(0, rows, line):
        for first in range(start, start + line, block):
            yield first, min(first + block, start + line)


@dataclass(frozen=True, eq=False, repr=False)
class Brackets:
    """The nested brackets around the elements of a tensor.

    Attributes:
        extents: the number of elements along each dimension.
        has_gaps: whether cells may hold fillers.
    """

    extents: tuple[int, ...]
    has_gaps: bool = False

    @property
    def opening_width(self) -> int:
        """The number of bytes before the cells: one per dimension."""
        return len(self.extents)

    @cached_property
    def _periods(self) -> list[int]:
        """Number of lines in each bracket but the innermost, from inside to outside."""
        lines = self.extents[:-1]
        return [math.prod(lines[axis:]) for axis in reversed(range(len(lines)))]

    @property
    def size(self) -> int:
        """The number of bytes before lines, of closing brackets and of line ends."""
        lines = math.prod(self.extents[:-1])
        closed = sum(math.prod(self.extents[:axis]) for axis in range(len(self.extents)))
        return lines * self.opening_width + closed + lines

    def _closed(self, first: int, count: int) -> list[int]:
        """Count the lines that close each outer bracket, as far as any does."""
        counts = [(first + count) // period - first // period for period in self._periods]
        return [closed for closed in counts if closed]

    def closing_width(self, first: int, count: int) -> int:
        """Return the number of brackets after the cells, and the line end."""
        return 1 + len(self._closed(first, count)) + 1

    def open(self, first: int, lines: Bytes) -> None:
        """Write the opening brackets, with spaces for those that stay open."""
        lines[:, 0] = ord("[")
        for position, period in enumerate(self._periods, 1):
            lines[:, position] = ord(" ")
            lines[-first % period :: period, position] = ord("[")

    def close(self, first: int, lines: Bytes) -> None:
        """Write the closing brackets, with fillers for those that stay open."""
        lines[:, 0] = ord("]")
        for position in range(1, lines.shape[1] - 1):
            period = self._periods[position - 1]
            lines[:, position] = FILLER
            lines[(-first - 1) % period :: period, position] = ord("]")
        lines[:, -1] = ord("\n")

    def headings(self, first: int, count: int, is_start: bool) -> tuple[tuple[int, bytes], ...]:
        """Return no headings."""
        return ()

    def has_fillers(self, first: int, count: int) -> bool:
        """Tell whether cells may have gaps, or some of these lines close fewer brackets."""
        return self.has_gaps or any(closed < count for closed in self._closed(first, count))


@dataclass(frozen=True, eq=False, repr=False)
class Sections:
    """Headers above groups of lines, of equal length.

    Attributes:
        count: the number of sections.
        lines: the number of lines in each.
        header: the text above a section, by the section's number.
        header_size: the number of bytes of all headers.
        row: for lines that begin with ``Row<r>: ``, the first r and the number of rows.
    """

    count: int
    lines: int
    header: Callable[[int], str]
    header_size: int
    row: tuple[int, int] | None = None

    @property
    def opening_width(self) -> int:
        """The number of bytes of ``Row<r>: ``."""
        return 0 if self.row is None else len("Row") + digits(self.row[1]) + len(": ")

    @property
    def size(self) -> int:
        """The number of bytes of headers, row labels and line ends."""
        return self.header_size + self.count * self.lines * (self.opening_width + 1)

    def closing_width(self, first: int, count: int) -> int:
        """Return the width of a line end."""
        return 1

    def open(self, first: int, lines: Bytes) -> None:
        """Write the row labels, if there are any."""
        if self.row is not None:
            start, count = self.row
            rows = start + np.arange(first, first + len(lines)) % self.lines
            lines[:, :3] = np.frombuffer(b"Row", np.uint8)
            lines[:, 3:-2] = decimals(rows, digits(count), fill=ord(" "))
            lines[:, -2:] = np.frombuffer(b": ", np.uint8)

    def close(self, first: int, lines: Bytes) -> None:
        """Write the line ends."""
        lines[:] = ord("\n")

    def headings(self, first: int, count: int, is_start: bool) -> tuple[tuple[int, bytes], ...]:
        """Return the headers of the sections that begin here."""
        begun = -(-first // self.lines) if is_start else first // self.lines + 1
        sections = range(begun, -(-(first + count) // self.lines))
        headers = ((n * self.lines - first, self.header(n).encode()) for n in sections)
        return tuple(header for header in headers if header[1])

    def has_fillers(self, first: int, count: int) -> bool:
        """Return False: there are no fillers."""
        return False


def header_size(text: str, start: int, stop: int) -> int:
    """Return the bytes of a header's lines with the numbers ``start`` .. ``stop - 1``."""
    return (stop - start) * len(text) + total_digits(start, stop)
