"""Views as the display options have them: fitted, compact, with margins, coloured, explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tt_layout.errors import LayoutError
from tt_layout.terminal.compact import NOTATION, Compact, check_compact
from tt_layout.terminal.fitting import ALL, Chunk, cut, fit
from tt_layout.terminal.margins import Margins, legend
from tt_layout.terminal.options import DisplayOptions
from tt_layout.terminal.painting import colouring, is_linear, paint, paint_lines
from tt_layout.views.folding import fold
from tt_layout.views.groups import check_grouping, default_grouping
from tt_layout.views.printed import PrintedView
from tt_layout.views.request import ViewRequest
from tt_layout.views.view import Piece


@dataclass(frozen=True)
class Presentation:
    """Views as they are displayed.

    Attributes:
        views: as printed plainly.
        options: how they are displayed.
        width: the characters in a line of the terminal; None without a terminal.
    """

    views: Sequence[PrintedView]
    options: DisplayOptions
    width: int | None = None

    @property
    def has_colours(self) -> bool:
        """Whether the text is coloured."""
        return self.options.has_colours(on_terminal=self.width is not None)

    def check(self) -> None:
        """Raise where an option does not suit a layout.

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
        for printed, (request, _) in zip(self.views, self._fitted):
            yield self._folded(printed.heading)
            if request is not None:
                yield from self._body(request)
            yield printed.ending

    def note(self) -> str | None:
        """Return a note on views that do not fit; None where all do."""
        notes = [note for _, note in self._fitted if note is not None]
        if len(set(notes)) > 1:
            shown = f"{len(notes)} views are shown in part"
            return f"the terminal is {self.width} characters wide: {shown}; {ALL}"
        return notes[0] if notes else None

    @cached_property
    def _fitted(self) -> list[tuple[ViewRequest | None, str | None]]:
        """What of each view fits, and a note on the rest."""
        return [self._fit(view.request) for view in self.views]

    def _fit(self, request: ViewRequest | None) -> tuple[ViewRequest | None, str | None]:
        if request is None or self.width is None:
            return request, None
        return fit(request, self.width, self._pieces)

    def _body(self, request: ViewRequest) -> Iterator[Chunk]:
        view, options = request.view(), self.options
        color_by = options.color_by or default_grouping(request.placed)
        lines: Iterator[Chunk]
        if self.has_colours:
            lines = self._painted(request, color_by)
        elif options.compact or options.header:
            lines = (piece.text.tobytes() for piece in self._pieces(request))
        else:
            lines = view.chunks()
        yield from lines if self.width is None else cut(lines, self.width)
        if options.legend:
            notation = NOTATION if options.compact else view.notation
            coloured_by = color_by if self.has_colours else None
            yield self._folded(legend(request.placed, notation, coloured_by))

    def _painted(self, request: ViewRequest, color_by: str) -> Iterator[Chunk]:
        view, options = request.view(), self.options
        colours_of = colouring(view, request.placed, color_by)
        is_bare = not options.compact and not options.header
        if is_bare and is_linear(view, request.placed):
            return paint_lines(view, colours_of)
        return paint(self._pieces(request), view, colours_of)

    def _folded(self, text: bytes) -> bytes:
        return fold(text.decode(), self.width).encode()

    def _pieces(self, request: ViewRequest) -> Iterator[Piece]:
        """Return the text and where each cell stands in it, with margins if asked."""
        if not self.options.header:
            return self._cells(request)
        return Margins(request, self._cells, self.options.compact).pieces()

    def _cells(self, request: ViewRequest) -> Iterator[Piece]:
        view = request.view()
        if self.options.compact:
            return Compact(view, request.placed.layout).pieces()
        return view.pieces()
