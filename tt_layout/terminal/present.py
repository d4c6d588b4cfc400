"""Views with everything that was wished for: fitted, compact, with margins, coloured, explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tt_layout.errors import LayoutError
from tt_layout.terminal.compact import Compact, check_compact
from tt_layout.terminal.fitting import ALL, cut, fit
from tt_layout.terminal.folding import fold
from tt_layout.terminal.groups import check_grouping, default_grouping
from tt_layout.terminal.margins import Margins, legend
from tt_layout.terminal.painting import Chunk, paint
from tt_layout.terminal.tokens import Tokens, tokens_of
from tt_layout.terminal.wish import Wish
from tt_layout.views.printed import PrintedView
from tt_layout.views.request import ViewRequest


@dataclass(frozen=True)
class Presentation:
    """Views as they were wished for.

    Attributes:
        views: as printed plainly.
        wish: what was asked for.
        width: the characters in a line of the terminal; None where there is none.
    """

    views: Sequence[PrintedView]
    wish: Wish
    width: int | None = None

    @property
    def colours(self) -> bool:
        """Whether the text is coloured."""
        return self.wish.colours(on_terminal=self.width is not None)

    def check(self) -> None:
        """Raise where what was asked for does not suit a layout.

        Raises:
            LayoutError: it has no such groups, or no threads.
        """
        requests = [view.request for view in self.views if view.request is not None]
        if self.views and not requests and (self.wish.compact or self.wish.color_by is not None):
            raise LayoutError("there is no view to colour or to show as threads")
        for request in requests:
            if self.wish.compact:
                check_compact(request)
            if self.wish.color_by is not None:
                check_grouping(request.placed, self.wish.color_by)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the text."""
        for printed, (request, _) in zip(self.views, self._fitted):
            yield self._folded(printed.heading)
            if request is not None:
                yield from self._body(request)
            yield printed.ending

    def note(self) -> str | None:
        """Return what to tell about views that do not fit; None where all do."""
        notes = [note for _, note in self._fitted if note is not None]
        if len(set(notes)) > 1:
            shown = f"{len(notes)} views are shown in part"
            return f"the terminal is {self.width} characters wide: {shown}; {ALL}"
        return notes[0] if notes else None

    @cached_property
    def _fitted(self) -> list[tuple[ViewRequest | None, str | None]]:
        """What of each view fits, and what to tell about the rest."""
        return [self._fit(view.request) for view in self.views]

    def _fit(self, request: ViewRequest | None) -> tuple[ViewRequest | None, str | None]:
        if request is None or self.width is None:
            return request, None
        return fit(request, self.width, self._plain)

    def _body(self, request: ViewRequest) -> Iterator[Chunk]:
        name = self.wish.color_by or default_grouping(request.placed)
        tokens = tokens_of(request, name) if self.colours else None
        lines = self._lines(request, tokens)
        if tokens is not None and not self.wish.compact:
            lines = paint(lines, tokens)
        yield from lines if self.width is None else cut(lines, self.width)
        if self.wish.legend:
            yield self._folded(legend(request, name, self.colours, self.wish.compact))

    def _folded(self, text: bytes) -> bytes:
        return fold(text.decode(), self.width).encode()

    def _plain(self, request: ViewRequest) -> Iterable[bytes]:
        return (bytes(chunk) for chunk in self._lines(request, None))

    def _lines(self, request: ViewRequest, tokens: Tokens | None) -> Iterator[Chunk]:
        """Return the text with margins, coloured only where it is compact."""
        if not self.wish.header:
            return self._inner(request, tokens)
        margins = Margins(request, lambda part: self._inner(part, None), self.wish.compact)
        return margins.add(self._inner(request, tokens))

    def _inner(self, request: ViewRequest, tokens: Tokens | None) -> Iterator[bytes]:
        chunks = request.view().chunks()
        if self.wish.compact:
            return Compact(request, tokens).lines(chunks)
        return (bytes(chunk) for chunk in chunks)
