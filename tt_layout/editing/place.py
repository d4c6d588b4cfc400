"""Places in a text, and the MLIR words at them."""

from __future__ import annotations

import re

from tt_layout.tuples import NamedTuple

_WORD = re.compile(r"[#%!@^][\w$.-]*(?:#\d+)?|[\w$.]+", re.ASCII)
_SECOND = re.compile(r"#\d+$")


class LineRange(NamedTuple):
    """A range of a line.

    Attributes:
        line: the line, from 1.
        start, end: offsets in the line, from 0.
    """

    line: int
    start: int
    end: int

    def down(self, lines: int) -> LineRange:
        """Return the place moved down by a number of lines."""
        return self._replace(line=self.line + lines)


class Word(NamedTuple):
    """A word of a line: an alias, a value, a symbol, or an operation name.

    Attributes:
        text: the word with its mark, such as ``#blocked``, ``%3#1``, ``@kernel``, ``tt.load``.
        start, end: offsets in the line.
    """

    text: str
    start: int
    end: int


def word_at(line: str, column: int) -> Word | None:
    """Return the word at, or just before, a column of a line; None without one.

    Example:
        >>> word_at("  %0 = tt.load %p : tensor<4xf32, #b>", 36)
        Word(text='#b', start=34, end=36)
        >>> word_at("  %0 = tt.load", 0)
    """
    for match in _WORD.finditer(line):
        if match.start() <= column <= match.end():
            return Word(match.group(), *match.span())
        if match.start() > column:
            break
    return None


def whole(name: str) -> str:
    """Return the value to which a result belongs.

    Example:
        >>> whole("%3#1"), whole("%x")
        ('%3', '%x')
    """
    return _SECOND.sub("", name)


def occurrences(text: str, name: str) -> list[tuple[int, int]]:
    """Return the ranges of an alias, value or symbol in a line, its results included.

    Example:
        >>> occurrences("%1 = a %10, %1#0, %1 : !t<#b>", "%1")
        [(0, 2), (12, 16), (18, 20)]
    """
    pattern = re.compile(rf"{re.escape(name)}(?:#\d+)?(?![\w$-]|\.[\w$])", re.ASCII)
    return [match.span() for match in pattern.finditer(text)]


def operation_place(text: str, line: int, name: str) -> LineRange:
    """Return the range of an operation name, or of any equal text, in a line.

    If the line does not have it, that is the range of all its text.

    Example:
        >>> operation_place("  %0 = ttg.local_load %x", 7, "ttg.local_load")
        LineRange(line=7, start=7, end=21)
    """
    start = text.find(name)
    if start >= 0:
        return LineRange(line, start, start + len(name))
    written = text.strip()
    start = len(text) - len(text.lstrip()) if written else 0
    return LineRange(line, start, start + len(written))
