"""Lines of one cell each, which differ only in their columns of numbers.

A block of lines is made once.  The numbers of the next lines are written over it, a column at a
time, and it is copied as a whole: that moves fewer bytes than an or of texts as long as the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import F2Map, ascending_superset, distinct
from tt_layout.views.selection import Range
from tt_layout.views.text import Bytes, decimals, digits

LOW_DIGITS = 4  # of a line's number, taken from 10**4 lines that are written once
BLOCK_LINES = 10**LOW_DIGITS
PAGE_LINES = 32 * BLOCK_LINES  # over which the texts of runs are shared, a bound on memory
RUN = 64  # cells whose numbers differ from those of another run by one xor
LONGEST_WORD = 8  # bytes that are written at once


def pages(start: int, stop: int) -> Iterator[Range]:
    """Split a range at the multiples of PAGE_LINES."""
    while start < stop:
        end = min(stop, start - start % PAGE_LINES + PAGE_LINES)
        yield start, end
        start = end


def blocks(start: int, stop: int) -> Iterator[Range]:
    """Split a range into parts whose numbers differ in their low digits only.

    Example:
        >>> list(blocks(5, 23_000))
        [(5, 10), (10, 100), (100, 1000), (1000, 10000), (10000, 20000), (20000, 23000)]
        >>> list(blocks(10_005, 23_000))
        [(10005, 20000), (20000, 23000)]
    """
    while start < stop:
        end = min(stop, 10 ** digits(start), start - start % BLOCK_LINES + BLOCK_LINES)
        yield start, end
        start = end


class CountedLines:
    """Lines ``Offset: <o> -> `` and a content, with the low digits of ``o`` prepared."""

    def __init__(self, stop: int, content: bytes) -> None:
        """Prepare for numbers below ``stop``, before ``content`` and a line end."""
        low = np.arange(min(stop, BLOCK_LINES))
        self._low_digits = decimals(low, LOW_DIGITS, fill=ord("0"))
        self._content, self._width = content, 0
        self._lines = np.empty((0, 0), np.uint8)

    @property
    def lead(self) -> int:
        """The number of bytes before the content of the last lines."""
        return len("Offset: ") + self._width + len(" -> ")

    def lines(self, start: int, stop: int) -> Bytes:
        """Return the lines, valid until the next call; their content may be overwritten.

        ``start`` and ``stop - 1`` have the same digits but for the low ones.
        """
        if digits(start) != self._width:
            self._set_width(digits(start))
        high, first = divmod(start, BLOCK_LINES)
        if high:
            self._write_high(str(high).encode())
        return self._lines[first : first + stop - start]

    def _set_width(self, width: int) -> None:
        """Prepare for numbers of ``width`` digits."""
        self._width = width
        line = b"Offset: " + b"0" * width + b" -> " + self._content + b"\n"
        low_digits = self._low_digits[: 10**width, -width:]
        self._lines = np.tile(np.frombuffer(line, np.uint8), (len(low_digits), 1))
        place = len("Offset: ") + width - low_digits.shape[1]
        for word in in_words(low_digits):
            Words(place + word.place, word.texts).write(self._lines)

    def _write_high(self, high: bytes) -> None:
        """Write the high digits, one column for each that changed, since long runs are quick."""
        begin = len("Offset: ")
        before = self._lines[0, begin : begin + len(high)].tolist()
        for column, (digit, old) in enumerate(zip(high, before), begin):
            if digit != old:
                self._lines[:, column] = digit


class Column:
    """A decimal number per cell, right-aligned.

    The number is a linear function, so the text of a run of cells is made once per distinct
    number of the run's first cell.
    """

    def __init__(self, number: F2Map, width: int, cells: Range) -> None:
        """Prepare the texts of the numbers of a range of cells, of at most ``width`` digits."""
        self._run = min(RUN, 1 << len(number.basis))
        self._first, end = self._runs(*cells)
        keys, self._which = distinct(number(np.arange(self._first, end) * self._run))
        numbers = keys[:, np.newaxis] ^ number(np.arange(self._run))
        values, index = ascending_superset(numbers)
        words = in_words(decimals(values, width, fill=ord(" ")))
        self._words = [Words(word.place, word.texts.take(index)) for word in words]

    def _runs(self, start: int, stop: int) -> Range:
        """Return the runs that contain cells of a range."""
        return start // self._run, -(-stop // self._run)

    def write(self, lines: Bytes, place: int, start: int) -> None:
        """Write the numbers of the cells from ``start`` into lines, at byte ``place``."""
        first, end = self._runs(start, start + len(lines))
        which = self._which[first - self._first : end - self._first]
        for word in self._words:
            texts = word.texts.take(which, axis=0).ravel()[start % self._run :]
            Words(place + word.place, texts[: len(lines)]).write(lines)


class Words(NamedTuple):
    """A part of the text of each line: 1, 2, 4 or 8 bytes, written at once.

    Attributes:
        place: where in the text, or in the line, it begins.
        texts: the part for each line.
    """

    place: int
    texts: npt.NDArray[np.unsignedinteger[Any]]

    def write(self, lines: Bytes) -> None:
        """Write the words into an equal number of lines."""
        target = lines[:, self.place : self.place + self.texts.itemsize]
        target.view(self.texts.dtype)[:, 0] = self.texts


def in_words(texts: Bytes) -> list[Words]:
    """Split texts of equal width into words, of which the last two may overlap.

    Example:
        >>> texts = np.frombuffer(b"abcxyz", np.uint8).reshape(2, 3)
        >>> [(word.place, word.texts.tobytes()) for word in in_words(texts)]
        [(0, b'abxy'), (1, b'bcyz')]
    """
    width = texts.shape[1]
    size = min(LONGEST_WORD, 1 << width.bit_length() - 1)
    places = (*range(0, width - size, size), width - size)
    parts = (texts[:, place : place + size].view(f"u{size}") for place in places)
    return [Words(place, part.ravel()) for place, part in zip(places, parts)]
