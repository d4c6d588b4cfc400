"""A dump under edit; only changed pieces are read again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from tt_layout.editing.piece import Diagnosis, EditedPiece, PieceCache, Severity, cut
from tt_layout.tuples import NamedTuple

MAX_TEXT = 32 << 20
"""Characters of a dump that an editor is answered about."""

AROUND = 60
"""Lines above and below those that are asked about that may be shown, too."""


class Placed(NamedTuple):
    """A piece of a dump, and the number of lines above it."""

    piece: EditedPiece
    down: int


class EditedDump:
    """A version of a text; `edited` makes the next one.

    Attributes:
        text: the text of the dump.
        cache: what its pieces share.
        placed: the pieces, in order.
    """

    def __init__(self, text: str, before: EditedDump | None = None) -> None:
        self.text = text
        self.cache: PieceCache = before.cache if before is not None else PieceCache()
        pieces = (
            {placed.piece.text: placed.piece for placed in before.placed}
            if before is not None
            else {}
        )
        self.placed: list[Placed] = []
        down = 0
        for part in cut(text) if not self.is_too_large else ():
            piece = pieces.get(part) or EditedPiece(part, self.cache)
            self.placed.append(Placed(piece, down))
            down += part.count("\n")
        self._downs = [placed.down for placed in self.placed]

    @property
    def is_too_large(self) -> bool:
        """Whether the dump is too large for any answer."""
        return len(self.text) > MAX_TEXT

    def edited(self, text: str) -> EditedDump:
        """Return the dump after a change of its text."""
        return self if text == self.text else EditedDump(text, self)

    def at(self, line: int) -> Placed | None:
        """Return the piece of a line, from 1; None without one."""
        number = bisect_right(self._downs, line - 1) - 1
        return self.placed[number] if number >= 0 else None

    def between(self, first: int, last: int) -> list[Placed]:
        """Return the pieces of a range of lines, from 1, both ends included."""
        begin = max(0, bisect_right(self._downs, first - 1) - 1)
        return self.placed[begin : bisect_right(self._downs, last - 1)]

    def steps(self) -> Iterator[tuple[Diagnosis, ...]]:
        """Yield the diagnoses of each piece; each step reads at most a part of one."""
        if self.is_too_large:
            size, most = len(self.text) >> 20, MAX_TEXT >> 20
            limit = f"the dump has {size} MiB, more than the {most} that an editor shows"
            yield (_note(f"{limit}; tt-layout audit reads it"),)
            return
        for placed in self.placed:
            yield from (() for _ in placed.piece.steps())
            yield placed.piece.diagnoses(placed.down)
        pieces = [placed.piece for placed in self.placed]
        if self.text.strip() and not any(p.is_read or p.diagnoses(0) for p in pieces):
            yield (_note("found no MLIR in it: no module, function, layout alias or tensor type"),)

    @property
    def is_long(self) -> bool:
        """Whether some of its diagnoses are known long before all of them."""
        return len(self.placed) > 1 or any(placed.piece.is_large for placed in self.placed)

    def first_steps(self, first: int, last: int) -> Iterator[tuple[Diagnosis, ...]]:
        """Yield the diagnoses near a range of lines, from 1, then those of all pieces known so far.

        For a large piece these are the diagnoses near the lines, for others all of them.
        """
        for piece, down in self.between(first, last):
            if piece.is_large and not piece.is_diagnosed:
                lines = first - down - AROUND, last - down + AROUND
                yield from map(tuple, piece.steps_between(*lines, down))
            else:
                yield from (() for _ in piece.steps())
        for piece, down in self.placed:
            if piece.is_diagnosed:
                yield piece.diagnoses(down)

    def ahead(self) -> Iterator[tuple[()]]:
        """Prepare hover texts, in steps like those of `steps`."""
        for placed in self.placed:
            yield from placed.piece.ahead()

    def diagnoses(self) -> list[Diagnosis]:
        """Return all diagnoses."""
        return [diagnosis for step in self.steps() for diagnosis in step]


def _note(message: str) -> Diagnosis:
    return Diagnosis(1, "", message, "text", Severity.NOTE)
