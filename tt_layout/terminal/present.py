"""Views with everything that was wished for: fitted, compact, with margins, coloured, explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tt_layout.errors import LayoutError
from tt_layout.printing import PrintedView
from tt_layout.subject import Subject
from tt_layout.terminal.compact import Compact, check_compact
from tt_layout.terminal.fitting import cut, fit, width_of
from tt_layout.terminal.groups import default_grouping
from tt_layout.terminal.margins import Margins, legend
from tt_layout.terminal.painting import paint
from tt_layout.terminal.tokens import Tokens, tokens_of
from tt_layout.terminal.wish import Wish

Chunk = bytes | memoryview


@dataclass(frozen=True)
class Presentation:
    """Views as they were wished for.

    Attributes:
        wish: what was asked for.
        width: the characters in a line of the terminal; None where there is none.
        notes: what to tell about views that do not fit, filled while the text is made.
    """

    wish: Wish
    width: int | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def colours(self) -> bool:
        """Whether the text is coloured."""
        return self.wish.colours(on_terminal=self.width is not None)

    def chunks(self, views: Iterable[PrintedView]) -> Iterator[Chunk]:
        """Yield the text of views."""
        for printed in views:
            yield printed.heading
            if printed.subject is not None:
                yield from self._body(printed.subject)
            yield printed.ending

    def check(self, subject: Subject) -> None:
        """Raise where what was asked for does not suit a layout.

        Raises:
            LayoutError: it has no such groups, or no threads.
        """
        if self.wish.compact:
            check_compact(subject)
        if self.wish.color_by is not None:
            tokens_of(subject, self.wish.color_by)

    def _body(self, subject: Subject) -> Iterator[Chunk]:
        name = self.wish.color_by or default_grouping(subject)
        if self.width is not None:
            subject, note = fit(subject, self.width, self._plain)
            self.notes.extend([note] if note else [])
        tokens = tokens_of(subject, name) if self.colours else None
        lines = self._lines(subject, tokens)
        if self.width is not None and width_of(subject, self._plain) > self.width:
            lines = cut(self._lines(subject, None), self.width)
        if tokens is not None and not self.wish.compact:
            lines = paint(lines, tokens)
        yield from lines
        if self.wish.legend:
            yield legend(subject, name, self.colours, self.wish.compact)

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


def present(
    views: Sequence[PrintedView], wish: Wish, width: int | None = None
) -> tuple[Iterator[Chunk], list[str]]:
    """Return the text of views as wished for, and the notes about it, complete at its end.

    Args:
        views: as printed plainly.
        wish: what was asked for.
        width: the characters in a line of the terminal; None where there is none.

    Raises:
        LayoutError: what was asked for does not suit a layout.
    """
    presentation = Presentation(wish, width)
    subjects = [view.subject for view in views if view.subject is not None]
    if views and not subjects and (wish.compact or wish.color_by is not None):
        raise LayoutError("there is no view to colour or to show as threads")
    for subject in subjects:
        presentation.check(subject)
    return presentation.chunks(views), presentation.notes
