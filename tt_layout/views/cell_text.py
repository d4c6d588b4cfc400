"""The text of cells: what a view prints for one element of the tensor or one location.

All cells of a view have the same width, and the numbers in them are linear functions of the
cell's number.  So a row, a group of ``span`` neighbouring cells, differs from other rows
only by one key per number:

    number(first + i) == number(first) ^ number(i)      for i < span, first % span == 0

The text of a whole row is made once per distinct key.  Any row is then the bitwise or of
ready texts, one per number, because each has fillers where the others write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from tt_layout.algebra.arrays import (
    F2Map,
    Indices,
    Ints,
    all_values,
    ascending_superset,
    distinct,
    distinct_rows,
)
from tt_layout.views.text import (
    FILLER,
    Bytes,
    decimals,
    digit_counts,
    digits,
    number_text,
    with_number,
)

PART_BYTES = 1 << 18  # of rows of labels are made at once

StampsOf = Callable[[slice], Indices]
"""Returns the stamp of each label of some rows."""


class Layer(NamedTuple):
    """The texts of one number in some rows: row i has ``texts[which[i]]``."""

    texts: Bytes
    which: Indices


@dataclass(frozen=True)
class Fields:
    """Where in a cell the locations that it shows are written, or its element.

    Attributes:
        count: the number of fields.
        width: the bytes of a field, in which the text is right-aligned.
        step: the bytes from one field to the next.
        lead: the bytes in front of the first one.
    """

    count: int
    width: int
    step: int = 0
    lead: int = 0


class Gap(NamedTuple):
    """Cells that hold nothing, where ``misses`` is not 0, and the text in their place."""

    misses: F2Map
    text: bytes


class CellText(Protocol):
    """The text of the cells of one view."""

    @property
    def width(self) -> int:
        """The number of bytes of a cell with the separator behind it."""

    @property
    def separator(self) -> bytes:
        """What stands between two cells of a line."""

    @property
    def fields(self) -> Fields:
        """Where in a cell each location, or the element, is written."""

    @property
    def gap(self) -> Gap | None:
        """The cells that hold nothing, or None where there are none."""

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return the texts of the rows of ``span`` cells that begin at ``firsts``."""


@dataclass(frozen=True)
class TupleText:
    """Cells that show a tuple of coordinates, like ``(12, 7)``.

    Attributes:
        coordinates: each coordinate as a function of the cell's number.
        sizes: each dimension's size; coordinates are padded to its digits.
        joint: what stands between two coordinates.
        separator: what stands between two cells.
        gap: the cells that hold nothing.
    """

    coordinates: tuple[F2Map, ...]
    sizes: tuple[int, ...]
    joint: str
    separator: bytes
    gap: Gap | None = None

    @property
    def tuple_width(self) -> int:
        """The number of bytes of a tuple with its parentheses."""
        return sum(map(digits, self.sizes)) + len(self.sizes) + 1

    @property
    def width(self) -> int:
        """The number of bytes of a cell with the separator behind it."""
        return self.tuple_width + len(self.separator)

    @property
    def fields(self) -> Fields:
        """Where the tuple is written."""
        return Fields(1, self.tuple_width)

    @property
    def numbers(self) -> list[tuple[int, int]]:
        """Where in a cell each coordinate begins, and its width."""
        widths = [digits(size) for size in self.sizes]
        return [(sum(widths[:axis]) + axis + 1, width) for axis, width in enumerate(widths)]

    @property
    def blank(self) -> bytes:
        """A cell with spaces in place of the coordinates."""
        numbers = self.joint.join(" " * width for _, width in self.numbers)
        return f"({numbers})".encode() + self.separator

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return a layer per coordinate."""
        return [self._layer(axis, firsts, np.arange(span)) for axis in range(len(self.sizes))]

    def _layer(self, axis: int, firsts: Ints, offsets: Ints) -> Layer:
        coordinate = self.coordinates[axis]
        keys, which = distinct(coordinate(firsts))
        values, index = ascending_superset(keys[:, np.newaxis] ^ coordinate(offsets))
        texts = np.take(self._stamps(axis, values), index, axis=0)
        return Layer(texts.reshape(len(keys), -1), which)

    def texts(self, cells: Ints) -> Bytes:
        """Return the text of each of these cells."""
        first, *others = (self._layer(axis, cells, np.arange(1)) for axis in range(len(self.sizes)))
        texts = first.texts[first.which]
        for other in others:
            texts |= other.texts[other.which]
        return texts

    def _stamps(self, axis: int, values: Ints) -> Bytes:
        """Return the cell's text of one coordinate for each value, with fillers elsewhere."""
        start, width = self.numbers[axis]
        end = start + width
        stamps = np.full((len(values), self.width), FILLER, np.uint8)
        stamps[:, start - 1] = ord(self.joint if axis else "(")
        stamps[:, start:end] = decimals(values, width, fill=ord(" "))
        if axis == len(self.sizes) - 1:
            stamps[:, end:] = np.frombuffer(b")" + self.separator, np.uint8)
        return stamps


@dataclass(frozen=True)
class EmptyText:
    """Cells without any text, so that a line has separators only."""

    separator: bytes
    gap: Gap | None = None

    @property
    def width(self) -> int:
        """The number of bytes of a separator."""
        return len(self.separator)

    @property
    def fields(self) -> Fields:
        """Nothing is written."""
        return Fields(0, 0)

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return a layer of separators."""
        row = np.frombuffer(self.separator * span, np.uint8)
        return [Layer(row[np.newaxis], np.zeros(len(firsts), np.intp))]


@dataclass(frozen=True)
class Label:
    """How a location is written: ``B<block>:T<outer>:<inner>``, right-aligned as a whole.

    Attributes:
        outer_mark: what stands in front of the outer number.
        inner_mark: what stands in front of the inner number.
        blocks: the number of blocks; a single one is not written.
        outer_size: the number of outer locations in a block: threads, or rows.
        inner_size: the number of inner locations in an outer one: registers, or columns.
    """

    outer_mark: str
    inner_mark: str
    blocks: int
    outer_size: int
    inner_size: int

    @property
    def inner_width(self) -> int:
        """The largest width of the inner mark and number."""
        return len(self.inner_mark) + digits(self.inner_size)

    @property
    def width(self) -> int:
        """The width of every label."""
        block = 2 + digits(self.blocks) if self.blocks > 1 else 0
        return block + len(self.outer_mark) + digits(self.outer_size) + self.inner_width

    def outer_texts(self, values: Ints) -> Bytes:
        """Return block and outer number for each ``block * outer_size + outer``, right-aligned."""
        spaces = np.full((len(values), 0), ord(" "), np.uint8)
        if self.blocks > 1:
            blocks = with_number(spaces, "B", values // self.outer_size, digits(self.blocks))
            colon = np.full((len(values), 1), ord(":"), np.uint8)
            spaces = np.concatenate([blocks, colon], axis=1)
        return with_number(
            spaces, self.outer_mark, values % self.outer_size, digits(self.outer_size)
        )

    def inner_texts(self, values: Ints) -> Bytes:
        """Return the inner number as the end of a label, with fillers in front."""
        return number_text(self.inner_mark, values, digits(self.inner_size))


@dataclass(frozen=True)
class LabelText:
    """Cells that show all holders of an element, like ``T0:1|T4:1``.

    Holder c of element x is ``location(x) ^ kernel(c)``; outer and inner number are apart.

    Attributes:
        label: how a holder is written.
        outer: the outer number of an element's first holder.
        inner: the inner number of an element's first holder.
        outer_kernel: the outer number of ``kernel(c)`` on the bits of c.
        inner_kernel: the inner number of ``kernel(c)`` on the bits of c.
        gap: the elements that nothing holds.
    """

    label: Label
    outer: F2Map
    inner: F2Map
    outer_kernel: tuple[int, ...]
    inner_kernel: tuple[int, ...]
    gap: Gap | None = None
    separator: bytes = b", "

    @property
    def replication(self) -> int:
        """The number of holders of each element."""
        return 1 << len(self.outer_kernel)

    @property
    def width(self) -> int:
        """The number of bytes of a cell with the separator behind it."""
        return self.replication * (self.label.width + 1) - 1 + len(self.separator)

    @property
    def fields(self) -> Fields:
        """Where the labels are written."""
        return Fields(self.replication, self.label.width, step=self.label.width + 1)

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return the layers of the outer and of the inner numbers.

        A label is right-aligned as a whole.  So where an outer number stands depends on the
        digits of the inner number behind it, and the digits belong to the key of its row.
        """
        offsets = np.arange(span)
        inner_keys, inner_which = distinct(self.inner(firsts))
        inners = inner_keys[:, np.newaxis] ^ self._low_inners(offsets)
        digit_rows, digits_of = distinct_rows(digit_counts(inners))

        outer_keys, outer_which = distinct(self.outer(firsts))
        keys, which = distinct(outer_which * len(digit_rows) + digits_of[inner_which])
        key, digit_row = np.divmod(keys, len(digit_rows))
        return [
            Layer(self._outer_rows(outer_keys, key, digit_rows[digit_row], span), which),
            Layer(self._inner_rows(inners, span), inner_which),
        ]

    def _low_inners(self, offsets: Ints) -> Ints:
        return (self.inner(offsets)[:, np.newaxis] ^ all_values(self.inner_kernel)).ravel()

    def _low_outers(self, offsets: Ints) -> Ints:
        return (self.outer(offsets)[:, np.newaxis] ^ all_values(self.outer_kernel)).ravel()

    def _outer_rows(self, keys: Ints, which: Indices, inner_digits: Bytes, span: int) -> Bytes:
        """Return a row for each of ``which``: the key of its numbers, the digits behind them."""
        lows, low_which = distinct(self._low_outers(np.arange(span)))
        values, places = ascending_superset(keys[:, np.newaxis] ^ lows)
        longest = digits(self.label.inner_size)

        def stamps_of(part: slice) -> Indices:
            numbers = places[which[part]].take(low_which, axis=1)
            return numbers * longest + (inner_digits[part] - 1)

        stamps = self._outer_stamps(values).reshape(-1, self.label.width)
        return self._join(stamps, stamps_of, (len(which), span), b"")

    def _outer_stamps(self, values: Ints) -> Bytes:
        """Return each number as it stands in a label, by the digits behind it."""
        texts, width = self.label.outer_texts(values), self.label.width
        longest = digits(self.label.inner_size)
        stamps = np.full((len(values), longest, width), FILLER, np.uint8)
        for behind in range(1, longest + 1):
            end = width - len(self.label.inner_mark) - behind
            start = end - texts.shape[1]
            stamps[:, behind - 1, :start] = ord(" ")
            stamps[:, behind - 1, start:end] = texts
        return stamps

    def _inner_rows(self, inners: Ints, span: int) -> Bytes:
        values, index = ascending_superset(inners)
        stamps = np.full((len(values), self.label.width), FILLER, np.uint8)
        stamps[:, -self.label.inner_width :] = self.label.inner_texts(values)
        return self._join(stamps, lambda part: index[part], (len(index), span), b"|")

    def _join(
        self, stamps: Bytes, stamps_of: StampsOf, shape: tuple[int, int], bar: bytes
    ) -> Bytes:
        """Return rows of cells of stamps, with bars and separators where there is a bar.

        They are made some at a time: what they are made of stays in the cache.
        """
        count, span = shape
        end = self.separator if bar else bytes(len(self.separator))
        ended = _ended(stamps, end if self.replication == 1 else bar or bytes(1))
        rows = np.empty((count, span, self.width), np.uint8)
        step = max(1, PART_BYTES // (span * self.width))
        for start in range(0, count, step):
            part = rows[start : start + step]
            labels = np.take(ended, stamps_of(slice(start, start + step)), axis=0)
            labels = labels.reshape(len(part), span, -1)
            part[:, :, : labels.shape[2]] = labels
            if self.replication > 1:
                part[:, :, -len(end) :] = np.frombuffer(end, np.uint8)
        return rows.reshape(count, -1)


def _ended(stamps: Bytes, end: bytes) -> Bytes:
    """Return the stamps, each with the same end behind it."""
    ends = np.tile(np.frombuffer(end, np.uint8), (len(stamps), 1))
    return np.concatenate([stamps, ends], axis=1)
