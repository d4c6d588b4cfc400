"""Parts of a report that are folded to the width of a line, at spaces where there are any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from textwrap import wrap
from typing import NamedTuple, Protocol, runtime_checkable

from tt_layout.safe_text import safe

PLAIN_WIDTH = 120
"""Characters in a line that goes to no terminal."""

GAP = 2
MIN_TAIL = 32  # characters of a last column below which it stands below its row
TAIL = 10  # characters before it there
MIN_COLUMN = 8  # characters that a column keeps, however narrow the terminal


class FoldedLine(NamedTuple):
    """A line that fits, and its colour on a terminal; empty for none."""

    text: str
    colour: str = ""


@runtime_checkable
class Fitted(Protocol):
    """A part of a report that knows how to fit a width."""

    def fold(self, width: int) -> Iterator[FoldedLine]:
        """Yield lines of at most so many characters, as far as that can be."""


class Paragraph(NamedTuple):
    """Text, folded behind an indent.

    Attributes:
        text: on one line.
        first: what stands before the first line.
        indent: the characters before every further line.
        colour: of all of it on a terminal.

    Example:
        >>> for line in Paragraph("one two three", "- ", 2).fold(9):
        ...     print(line.text)
        - one two
          three
    """

    text: str
    first: str = ""
    indent: int = 0
    colour: str = ""

    def fold(self, width: int) -> Iterator[FoldedLine]:
        """Yield the lines."""
        lines = _wrapped(
            safe(self.text), max(MIN_COLUMN, width - max(self.indent, len(self.first)))
        )
        for number, line in enumerate(lines):
            start = " " * self.indent if number else self.first
            yield FoldedLine(f"{start}{line}".rstrip(), self.colour)


class Table(NamedTuple):
    """A table whose widest columns are folded until it fits.

    Attributes:
        header: the names of the columns.
        rows: the cells; a text stands alone on its line.
        right: the names of the columns that are flush right.
        colours: the number of a row -> its colour on a terminal.
        has_tail: whether the last column stands below its row where it would be narrow.
        spare: columns that are left out, the first one first, where there is no room for them.

    Example:
        >>> rows = ["in the loop", ["3", "two words, and more of them"]]
        >>> for line in Table(["line", "what"], rows, ["line"]).fold(24):
        ...     print(line.text)
          line  what
          in the loop
             3  two words, and
                more of them
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str] | str]
    right: Sequence[str] = ()
    colours: dict[int, str] = {}  # noqa: RUF012 - never written to
    has_tail: bool = False
    spare: Sequence[str] = ()

    def without(self, *names: str) -> Table:
        """Return the table without some of its columns."""
        kept = [at for at, name in enumerate(self.header) if name not in names]
        rows = [r if isinstance(r, str) else [r[at] for at in kept] for r in self.rows]
        return self._replace(header=[self.header[at] for at in kept], rows=rows)

    def fold(self, width: int) -> Iterator[FoldedLine]:
        """Yield the lines."""
        widths = self._widths(width)
        if self.spare and self._width(widths) > width:
            yield from self.without(self.spare[0])._replace(spare=self.spare[1:]).fold(width)
            return
        if self.has_tail and widths[-1] < self._least_tail():
            yield from self._with_tails(width)
            return
        yield from self._row(self.header, widths, "")
        for number, row in enumerate(self.rows):
            yield from self._line(number, row, widths, width)

    def _with_tails(self, width: int) -> Iterator[FoldedLine]:
        """Yield the lines with the last column below its rows."""
        short = self.without(self.header[-1])
        widths = short._widths(width)
        yield from short._row(short.header, widths, "")
        for number, (row, whole) in enumerate(zip(short.rows, self.rows)):
            yield from short._line(number, row, widths, width)
            if not isinstance(whole, str) and whole[-1] not in ("", "-"):
                colour = self.colours.get(number, "")
                yield from Paragraph(whole[-1], " " * TAIL, TAIL, colour).fold(width)

    def _line(
        self, number: int, row: Sequence[str] | str, widths: Sequence[int], width: int
    ) -> Iterator[FoldedLine]:
        colour = self.colours.get(number, "")
        if isinstance(row, str):
            yield from Paragraph(row, " " * GAP, GAP, colour).fold(width)
        else:
            yield from self._row(list(map(safe, row)), widths, colour)

    @staticmethod
    def _width(widths: Sequence[int]) -> int:
        return sum(widths) + GAP * len(widths)

    def _widths(self, width: int) -> list[int]:
        """Return the widths of the columns: the widest are made narrower until all fit.

        A column keeps room for its longest word, but for words of a third of the line and more.
        """
        columns = list(zip(self.header, *(row for row in self.rows if not isinstance(row, str))))
        widths = [max(map(len, column)) for column in columns]
        if self._width(widths) <= width:
            return widths
        words = map(self._longest_word, range(len(columns)))
        floors = [max(MIN_COLUMN, min(longest, width // 3)) for longest in words]
        for least in (floors, [MIN_COLUMN] * len(widths)):
            while (excess := self._width(widths) - width) > 0:
                wide = [at for at, size in enumerate(widths) if size > least[at]]
                if not wide or (self.spare and least is not floors):
                    break
                widest = max(wide, key=widths.__getitem__)
                others = max((widths[at] for at in wide if at != widest), default=0)
                above = widths[widest] - max(others, least[widest])
                widths[widest] -= max(1, min(above, excess))
        return widths

    def _least_tail(self) -> int:
        """Return how wide the last column must be to stand beside the others."""
        cells = (row[-1] for row in self.rows if not isinstance(row, str))
        whole = max(map(len, cells), default=0)
        return min(whole, max(MIN_TAIL, self._longest_word(-1)))

    def _longest_word(self, column: int) -> int:
        cells = (row[column] for row in self.rows if not isinstance(row, str))
        return max((len(word) for cell in cells for word in cell.split()), default=0)

    def _row(
        self, cells: Sequence[str], widths: Sequence[int], colour: str
    ) -> Iterator[FoldedLine]:
        form = _form(tuple(widths), tuple([name in self.right for name in self.header]))
        columns = [_wrapped(cell, size) for cell, size in zip(cells, widths)]
        for texts in zip_longest(*columns, fillvalue=""):
            yield FoldedLine((form % texts).rstrip(), colour)


@lru_cache(maxsize=64)
def _form(widths: Sequence[int], are_right: Sequence[bool]) -> str:
    """Return the format of a line with columns of these widths, flush right or left."""
    flush = ["" if is_right else "-" for is_right in are_right]
    return "".join(f"{' ' * GAP}%{left}{size}s" for left, size in zip(flush, widths))


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text; words that are longer than a line are broken."""
    if len(text) <= width and text.isprintable():
        return [text.rstrip()]
    return wrap(text, width, break_on_hyphens=False) or [""]
