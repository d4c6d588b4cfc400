"""Parts of a report that are folded to a line width, at spaces where possible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from textwrap import wrap
from typing import Protocol, runtime_checkable

from tt_layout.safe_text import safe
from tt_layout.tuples import NamedTuple

PLAIN_WIDTH = 120
"""Characters in a line that goes to no terminal."""

GAP = 2
MIN_TAIL = 32  # characters of a last column below which it stands below its row
TAIL = 10  # characters before it there
MIN_COLUMN = 8  # characters that a column keeps, however narrow the terminal
EMPTY = ("", "-")


_JOINT = "\0"  # a space at which no line is broken; a text has none, see `tt_layout.safe_text`

_PARAMETER = re.compile(
    r"\b\w+ = (?:\[[\d, ]*\]|\w+)|\[[\d, ]+\]|(?<=\s)--?[a-z][a-z-]* [^\s(-]\S*"
)

_SIGNS = " = ", "[", "-"  # of which one is in each match of `_PARAMETER`


class FoldedLine(NamedTuple):
    """A folded line, and its colour on a terminal; empty for none."""

    text: str
    colour: str = ""


@runtime_checkable
class Fitted(Protocol):
    """A part of a report that can be folded to a width."""

    def fold(self, width: int) -> Iterator[FoldedLine]:
        """Yield lines of at most ``width`` characters where possible."""


class Paragraph(NamedTuple):
    """Text, folded with an indent.

    Attributes:
        text: on one line.
        first: prefix of the first line.
        indent: number of spaces before every further line.
        colour: its colour on a terminal.

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
        for line in self._lines(width):
            yield FoldedLine(line.rstrip(), self.colour)

    def height(self, width: int) -> int:
        """Return the number of lines."""
        return len(self._lines(width))

    def _lines(self, width: int) -> Sequence[str]:
        least = max(self.indent, len(self.first)) + MIN_COLUMN
        return _wrapped(safe(self.text), max(width, least), self.first, " " * self.indent)


class Table(NamedTuple):
    """A table whose widest columns are folded at words until it fits.

    If the words do not fit, columns of dashes are dropped, then the spare columns; then the last
    columns move below their rows, with their names.

    Attributes:
        header: the names of the columns.
        rows: the cells; a string is a line of its own.
        right: the names of the columns that are flush right.
        colours: the number of a row -> its colour on a terminal.
        has_tail: whether the last column moves below its row where it would be narrow.
        spare: columns that may be dropped for want of room, in this order.

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
        table = self if self._width(self._natural()) <= width else self._without_empty()
        while table.spare and table._width(table._floors(width)) > width:
            table = table.without(table.spare[0])._replace(spare=table.spare[1:])
        below = table._below(width)
        beside = table.without(*table.header[len(table.header) - below :])
        widths = beside._widths(width)
        yield from beside._row(beside.header, widths, "")
        for number, (row, complete) in enumerate(zip(beside.rows, table.rows)):
            colour = self.colours.get(number, "")
            if isinstance(row, str):
                yield from Paragraph(row, " " * GAP, GAP, colour).fold(width)
                continue
            yield from beside._row(list(map(safe, row)), widths, colour)
            if text := table._tail(complete, below):
                indent = min(TAIL, width // 4)
                yield from Paragraph(text, " " * indent, indent, colour).fold(width)

    def _without_empty(self) -> Table:
        """Return the table without the columns that have only dashes."""
        cells = [row for row in self.rows if not isinstance(row, str)]
        names = [
            name
            for at, name in enumerate(self.header)
            if at > 0 and all(row[at] in EMPTY for row in cells)
        ]
        return self.without(*names)

    def _below(self, width: int) -> int:
        """Return the number of last columns that move below their row for want of room."""
        floors = self._floors(width)
        below = 0
        while below + 1 < len(floors) and self._width(floors[: len(floors) - below]) > width:
            below += 1
        if not below and self.has_tail and self._widths(width)[-1] < self._least_tail():
            return 1
        return below

    def _tail(self, row: Sequence[str] | str, below: int) -> str:
        """Return the text below a row: names and cells; for a tail the cell alone."""
        first = len(self.header) - below
        named = [
            cell if self.has_tail and at == len(self.header) - 1 else f"{self.header[at]} {cell}"
            for at, cell in enumerate(row[first:], first)
            if cell not in EMPTY
        ]
        return ", ".join(named)

    @staticmethod
    def _width(widths: Sequence[int]) -> int:
        return sum(widths) + GAP * len(widths)

    def _natural(self) -> list[int]:
        """Return the widths of the columns without folding."""
        columns = zip(self.header, *(row for row in self.rows if not isinstance(row, str)))
        return [max(map(len, column)) for column in columns]

    def _floors(self, width: int) -> list[int]:
        """Return the minimum widths of the columns.

        A column keeps room for its longest word, except words of a third of the line or more, and
        always for the words of its name.
        """
        floors = []
        for at, natural in enumerate(self._natural()):
            longest = min(self._longest_word(at), width // 3)
            name = max(map(len, self.header[at].split()), default=0)
            floors.append(min(natural, max(MIN_COLUMN, longest, name)))
        return floors

    def _widths(self, width: int) -> list[int]:
        """Return the widths of the columns, the widest narrowed until all fit."""
        widths, floors = self._natural(), self._floors(width)
        while (excess := self._width(widths) - width) > 0:
            wide = [at for at, size in enumerate(widths) if size > floors[at]]
            if not wide:
                break
            widest = max(wide, key=widths.__getitem__)
            second = max((widths[at] for at in wide if at != widest), default=0)
            above = widths[widest] - max(second, floors[widest])
            widths[widest] -= max(1, min(above, excess))
        if len(widths) == 1:
            widths = [min(widths[0], max(1, width - GAP))]
        return widths

    def _least_tail(self) -> int:
        """Return the minimum width of the last column beside the others."""
        cells = (row[-1] for row in self.rows if not isinstance(row, str))
        widest = max(map(len, cells), default=0)
        return min(widest, max(MIN_TAIL, self._longest_word(-1)))

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
    """Return the format string of a line with columns of these widths, flush right or left."""
    flush = ["" if is_right else "-" for is_right in are_right]
    return "".join(f"{' ' * GAP}%{left}{size}s" for left, size in zip(flush, widths))


@lru_cache(maxsize=32)
def _wrapped(text: str, width: int, first: str = "", further: str = "") -> Sequence[str]:
    """Fold a text into lines; words longer than a line are broken.

    Kernels alike have most of their lines in common, and the forms of a screen nearly all.

    Args:
        text: on one line.
        width: characters of a line, prefix included.
        first: prefix of the first line.
        further: prefix of the other lines.
    """
    is_plain = text.isprintable()
    if is_plain and len(first) + len(text) <= width:
        return [f"{first}{text.rstrip()}"]
    kept = _kept_together(text, width - max(len(first), len(further)))
    lines = (is_plain and _at_spaces(kept, width, first, further)) or wrap(
        kept,
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_on_hyphens=False,
    )
    return [line.replace(_JOINT, " ") for line in lines] or [first]


def _at_spaces(text: str, width: int, first: str, further: str) -> list[str]:
    """Fold a text at spaces only; return no lines if a word is too long.

    The lines are those of `textwrap.wrap`, which looks at each word; this takes one search a line.

    Args:
        text: text whose only white space is spaces.
        width, first, further: as in `_wrapped`.

    Example:
        >>> _at_spaces("one two  three", 9, "- ", "  "), _at_spaces("a longer", 5, "", "")
        (['- one two', '  three'], [])
    """
    if text[:1] == " " or len(first) > len(further):
        return []
    lines: list[str] = []
    start, end, before = 0, len(text), first
    while start < end:
        room = width - len(before)
        at = end if end - start <= room else text.rfind(" ", start, start + room + 1)
        if at <= start:
            return []
        lines.append(before + text[start:at].rstrip(" "))
        while at < end and text[at] == " ":
            at += 1
        start, before = at, further
    return lines


def _kept_together(text: str, room: int) -> str:
    """Join with `_JOINT` what reads as one word: an option and its value, a list of numbers.

    Example:
        >>> _kept_together("<{vec = 8, order = [1, 0]}>", 16).split()
        ['<{vec\\x00=\\x008,', 'order\\x00=\\x00[1,\\x000]}>']
    """
    if not any(sign in text for sign in _SIGNS):
        return text
    joined = _PARAMETER.sub(lambda match: match[0].replace(" ", _JOINT), text)
    if _JOINT not in joined:
        return text
    words = joined.split(" ")
    return " ".join(word if len(word) <= room else word.replace(_JOINT, " ") for word in words)
