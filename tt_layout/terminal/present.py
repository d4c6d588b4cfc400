"""Views with everything that was wished for: fitted, compact, with margins, coloured, explained."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tt_layout.errors import LayoutError
from tt_layout.printing import PrintedView
from tt_layout.releases import Release
from tt_layout.terminal.compact import Compact, check_compact
from tt_layout.terminal.fitting import cut, fit, width_of
from tt_layout.terminal.groups import default_grouping
from tt_layout.terminal.margins import Margins, legend
from tt_layout.terminal.painting import paint
from tt_layout.terminal.subject import Subject, subject_of
from tt_layout.terminal.tokens import Tokens, tokens_of
from tt_layout.terminal.wish import Wish, is_terminal
from tt_layout.types import TensorType
from tt_layout.views import Selection

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

    def chunks(self, views: Iterable[tuple[PrintedView, Subject | None]]) -> Iterator[Chunk]:
        """Yield the text of views; the ones whose layout is not known stay as they are."""
        for printed, subject in views:
            if subject is None:
                yield from printed.chunks()
                continue
            yield printed.heading
            yield from self._body(subject)
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
        tokens = tokens_of(subject, name) if self.wish.colours else None
        lines = self._lines(subject, tokens)
        if self.width is not None and width_of(subject, self._plain) > self.width:
            lines = cut(self._lines(subject, None), self.width)
        if tokens is not None and not self.wish.compact:
            lines = paint(lines, tokens)
        yield from lines
        if self.wish.legend:
            yield legend(subject, name, self.wish.colours, self.wish.compact)

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
    views: Sequence[PrintedView],
    wish: Wish,
    tensor: TensorType | None = None,
    release: Release | None = None,
    use_hw_view: bool = False,
    selection: Selection = Selection(),  # noqa: B008 - immutable
    *,
    output: str | None = None,
) -> tuple[Iterator[Chunk], list[str]]:
    """Return the text of views as wished for, and the notes about it, complete at its end.

    Args:
        views: as printed plainly.
        wish: what was asked for.
        tensor: the type of all views; where None, their headings name it.
        release: whose rules hold.
        use_hw_view: whether they are hardware views.
        selection: the part shown.
        output: the file that is written; None for standard output.

    Raises:
        LayoutError: what was asked for does not suit a layout.
    """
    fits = output is None and is_terminal()
    width = shutil.get_terminal_size().columns if fits else None
    presentation = Presentation(wish, width)
    subjects = [subject_of(view, tensor, release, use_hw_view, selection) for view in views]
    asked = wish.compact or wish.color_by is not None
    if asked and views and not any(subjects):
        raise LayoutError("there is no view to colour or to show as threads")
    for subject in subjects:
        if subject is not None:
            presentation.check(subject)
    return presentation.chunks(zip(views, subjects)), presentation.notes
