"""Views with everything that was wished for: fitted, compact, with margins, coloured, explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tt_layout.errors import LayoutError
from tt_layout.placement import Subject
from tt_layout.terminal.compact import Compact, check_compact
from tt_layout.terminal.fitting import ALL, cut, fit
from tt_layout.terminal.folding import fold
from tt_layout.terminal.groups import check_grouping, default_grouping
from tt_layout.terminal.margins import Margins, legend
from tt_layout.terminal.painting import Chunk, paint
from tt_layout.terminal.tokens import Tokens, tokens_of
from tt_layout.terminal.wish import Wish
from tt_layout.views.printed import PrintedView


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
        subjects = [view.subject for view in self.views if view.subject is not None]
        if self.views and not subjects and (self.wish.compact or self.wish.color_by is not None):
            raise LayoutError("there is no view to colour or to show as threads")
        for subject in subjects:
            if self.wish.compact:
                check_compact(subject)
            if self.wish.color_by is not None:
                check_grouping(subject, self.wish.color_by)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the text."""
        for printed, (subject, _) in zip(self.views, self._fitted):
            yield self._folded(printed.heading)
            if subject is not None:
                yield from self._body(subject)
            yield printed.ending

    def note(self) -> str | None:
        """Return what to tell about views that do not fit; None where all do."""
        notes = [note for _, note in self._fitted if note is not None]
        if len(set(notes)) > 1:
            shown = f"{len(notes)} views are shown in part"
            return f"the terminal is {self.width} characters wide: {shown}; {ALL}"
        return notes[0] if notes else None

    @cached_property
    def _fitted(self) -> list[tuple[Subject | None, str | None]]:
        """What of each view fits, and what to tell about the rest."""
        return [self._fit(view.subject) for view in self.views]

    def _fit(self, subject: Subject | None) -> tuple[Subject | None, str | None]:
        if subject is None or self.width is None:
            return subject, None
        return fit(subject, self.width, self._plain)

    def _body(self, subject: Subject) -> Iterator[Chunk]:
        name = self.wish.color_by or default_grouping(subject)
        tokens = tokens_of(subject, name) if self.colours else None
        lines = self._lines(subject, tokens)
        if tokens is not None and not self.wish.compact:
            lines = paint(lines, tokens)
        yield from lines if self.width is None else cut(lines, self.width)
        if self.wish.legend:
            yield self._folded(legend(subject, name, self.colours, self.wish.compact))

    def _folded(self, text: bytes) -> bytes:
        return fold(text.decode(), self.width).encode()

    def _plain(self, subject: Subject) -> Iterable[bytes]:
        return (bytes(chunk) for chunk in self._lines(subject, None))

    def _lines(self, subject: Subject, tokens: Tokens | None) -> Iterator[Chunk]:
        """Return the text with margins, coloured only where it is compact."""
        if not self.wish.header:
            return self._inner(subject, tokens)
        margins = Margins(subject, lambda part: self._inner(part, None), self.wish.compact)
        return margins.add(self._inner(subject, tokens))

    def _inner(self, subject: Subject, tokens: Tokens | None) -> Iterator[bytes]:
        chunks = subject.view().chunks()
        if self.wish.compact:
            return Compact(subject, tokens).lines(chunks)
        return (bytes(chunk) for chunk in chunks)
