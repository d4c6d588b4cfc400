"""Views as the display options have them: fitted, compact, with margins, coloured, explained."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tt_layout.errors import LayoutError
from tt_layout.folding import fold
from tt_layout.terminal.compact import NOTATION, Compact, check_compact
from tt_layout.terminal.fitting import Chunk, fold_lines, parts
from tt_layout.terminal.margins import Margins, legend
from tt_layout.terminal.options import DisplayOptions
from tt_layout.terminal.painting import colouring, is_linear, paint, paint_lines
from tt_layout.views.groups import check_grouping, default_grouping
from tt_layout.views.printed import PrintedView
from tt_layout.views.request import ViewRequest
from tt_layout.views.view import TextPiece

LEGEND_PART = 4
"""A terminal has room for a legend that takes at most this part of its lines: a quarter."""


@dataclass(frozen=True)
class Presentation:
    """Views under display options.

    Attributes:
        views: as printed plainly.
        options: how they are displayed.
        terminal: the size of the terminal; None without one.
        is_folded: whether lines are made to fit the terminal; a pager scrolls whole ones sideways.
    """

    views: Sequence[PrintedView]
    options: DisplayOptions
    terminal: os.terminal_size | None = None
    is_folded: bool = True

    @property
    def width(self) -> int | None:
        """The characters in a line; None where lines are not made to fit."""
        return self.terminal.columns if self.terminal is not None and self.is_folded else None

    @property
    def has_colours(self) -> bool:
        """Whether the text is coloured."""
        return self.options.has_colours(on_terminal=self.terminal is not None)

    def check(self) -> None:
        """Raise if an option does not suit a layout.

        Raises:
            LayoutError: it has no such groups, or no threads.
        """
        options = self.options
        requests = [view.request for view in self.views if view.request is not None]
        if self.views and not requests and (options.compact or options.color_by is not None):
            raise LayoutError("this view has no colours and no thread numbers")
        for request in requests:
            if options.compact:
                check_compact(request)
            if options.color_by is not None:
                check_grouping(request.placed, options.color_by)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the text."""
        for printed in self.views:
            yield self._folded(printed.heading)
            if printed.request is not None:
                yield from self._body(printed.request)
            yield printed.ending

    def _body(self, request: ViewRequest) -> Iterator[Chunk]:
        color_by = self.options.color_by or default_grouping(request.placed)
        if self.width is None:
            yield from self._text(request, color_by)
        else:
            for part, title in parts(request, self.width, self._pieces):
                if title:
                    yield self._folded(f"{title}\n".encode())
                yield from fold_lines(self._text(part, color_by), self.width)
        yield self._legend(request, color_by)

    def _text(self, request: ViewRequest, color_by: str) -> Iterator[Chunk]:
        """Return the lines of a view, or of a part of it."""
        if self.has_colours:
            return self._painted(request, color_by)
        if self.options.compact or self.options.header:
            return (piece.text.tobytes() for piece in self._pieces(request))
        return request.view().chunks()

    def _legend(self, request: ViewRequest, color_by: str) -> bytes:
        """Return the legend, if requested, or if it explains the colours and there is room."""
        is_asked = self.options.legend
        if not is_asked and (self.terminal is None or not self.has_colours):
            return b""
        notation = NOTATION if self.options.compact else request.view().notation
        coloured = color_by if self.has_colours else None
        text = legend(request.placed, notation, coloured, is_short=not is_asked)
        folded = self._folded(text)
        has_room = self.terminal is None or folded.count(b"\n") * LEGEND_PART <= self.terminal.lines
        return folded if is_asked or has_room else b""

    def _painted(self, request: ViewRequest, color_by: str) -> Iterator[Chunk]:
        view, options = request.view(), self.options
        colours_of = colouring(view, request.placed, color_by)
        is_bare = not options.compact and not options.header
        if is_bare and is_linear(view, request.placed):
            return paint_lines(view, colours_of)
        return paint(self._pieces(request), view, colours_of)

    def _folded(self, text: bytes) -> bytes:
        return fold(text.decode(), self.width).encode()

    def _pieces(self, request: ViewRequest) -> Iterator[TextPiece]:
        """Return the text and the positions of its cells, with margins if asked."""
        if not self.options.header:
            return self._cells(request)
        return Margins(request, self._cells, self.options.compact).pieces()

    def _cells(self, request: ViewRequest) -> Iterator[TextPiece]:
        view = request.view()
        if self.options.compact:
            return Compact(view, request.placed.layout).pieces()
        return view.pieces()
