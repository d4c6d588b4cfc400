"""A header row and column of coordinates around a view, and a legend below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tt_layout.colour import COLOURS, RESET, colour_step, style
from tt_layout.placement import PlacedLayout
from tt_layout.views.axes import Axes
from tt_layout.views.groups import group_count, group_title, hardware_sizes
from tt_layout.views.request import ViewRequest
from tt_layout.views.view import TextPiece, heading_piece

Render = Callable[[ViewRequest], Iterable[TextPiece]]
"""Makes the text of a view."""
MAX_NAMED = 8  # groups in a legend


def last_line(request: ViewRequest) -> ViewRequest:
    """Return the request for the last line only, which has the longest coordinates."""
    axes = request.view().axes
    lasts = ((axis.name, axis.shown[1]) for axis in (*axes.sections, *axes.rows))
    return request.choosing({name: (stop - 1, stop) for name, stop in lasts})


@dataclass(frozen=True)
class Margins:
    """The coordinates of a view's lines and columns.

    Attributes:
        request: what the view shows.
        render: makes its text.
        is_left_aligned: whether columns are numbered where their cells begin, not end.
    """

    request: ViewRequest
    render: Render
    is_left_aligned: bool = False

    def pieces(self) -> Iterator[TextPiece]:
        """Yield the text with coordinates; only the number of the line is kept."""
        pieces, axes = self.render(self.request), self._axes
        if axes.columns is None:  # lines with one cell each begin with its coordinate
            yield from pieces
            return
        numbers = heading_piece(self._column_numbers(), 0)
        if not axes.sections:
            yield numbers
        for piece in pieces:
            yield piece if piece.is_heading else self._with_rows(piece)
            if piece.is_heading and axes.sections:
                yield numbers

    @cached_property
    def _axes(self) -> Axes:
        return self.request.view().axes

    @cached_property
    def width(self) -> int:
        """The number of characters before every line; 0 if lines have a label."""
        axes = self._axes
        if axes.has_row_labels:
            return 0
        last = ",".join(str(axis.shown[1] - 1) for axis in axes.rows)
        return max(len(self._corner), len(last)) + 1

    @property
    def _corner(self) -> str:
        axes = self._axes
        return "" if axes.has_row_labels else ",".join(axis.name for axis in axes.rows)

    def _with_rows(self, piece: TextPiece) -> TextPiece:
        """Return lines with their coordinates before them."""
        axes, width = self._axes, self.width
        if not width:
            return piece
        row = piece.first // axes.line_cells
        rows = (axes.row_coordinates(row + line) for line in range(len(piece.lines)))
        names = "".join(",".join(map(str, name)).rjust(width - 1) + " " for name in rows)
        added = np.frombuffer(names.encode(), np.uint8)
        text = np.insert(piece.text, np.repeat(piece.lines, width), added)
        starts, ends = (
            positions + width * np.searchsorted(piece.lines, piece.starts, side="right")
            for positions in (piece.starts, piece.ends)
        )
        lines = piece.lines + width * np.arange(len(piece.lines))
        return piece._replace(text=text, starts=starts, ends=ends, lines=lines)

    def _column_numbers(self) -> bytes:
        """Return the line of column numbers, aligned with the columns."""
        columns = self._axes.columns
        assert columns is not None
        width = self.width
        head, end = [self._corner.rjust(width - 1) + " " if width else ""], 0
        for number, (start, stop) in enumerate(self._cells(), columns.shown[0]):
            name = str(number)
            if self.is_left_aligned:
                stop = start + len(name)
            if stop - len(name) >= end + (end > 0):
                head.append(" " * (stop - len(name) - end) + name)
                end = stop
        return "".join(head).encode() + b"\n"

    def _cells(self) -> Iterator[tuple[int, int]]:
        """Yield the bounds of each cell of a line."""
        moved = 0
        for piece in self.render(last_line(self.request)):
            if piece.is_heading:
                continue
            if piece.starts.size:
                yield from zip(
                    (piece.starts[:, 0] + moved).tolist(), (piece.ends[:, -1] + moved).tolist()
                )
            moved += len(piece.text)


def legend(
    placed: PlacedLayout, notation: str, color_by: str | None, *, is_short: bool = False
) -> bytes:
    """Return the lines that explain the notation and the colours.

    Args:
        placed: the layout that is shown.
        notation: how the text is to be read.
        color_by: what has a colour of its own; None without colours.
        is_short: whether the sizes of the hardware are left out.
    """
    sizes = "" if is_short else f"; {hardware_sizes(placed)}"
    lines = [f"legend: {notation}{sizes}\n".encode()]
    if color_by is not None:
        count = group_count(placed, color_by)
        title, step = group_title(placed, color_by), colour_step(count)
        numbers = range(min(count, MAX_NAMED))
        named = [style(n * step) + f"{title} {n}".encode() + RESET for n in numbers]
        rest = f" ... {count - 1}" if count > MAX_NAMED else ""
        if count > COLOURS:
            rest += f" (repeats every {COLOURS})"
        lines.append(b"colour: " + b", ".join(named) + rest.encode() + b"\n")
    return b"".join(lines)
