"""Text of cells, each for an element of the tensor or a location.

All cells of a view have the same width, and the numbers in them are linear functions of the
cell's number.  So a row, a group of ``span`` neighbouring cells, differs from other rows
only by one key per number:

    number(first + i) == number(first) ^ number(i)      for i < span, first % span == 0

The text of a whole row is made once per distinct key.  Any row is then the bitwise or of these
texts, one per number, because each has fillers at the positions of the others.
"""

from __future__ import annotations

from typing import Protocol

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
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple
from tt_layout.views.text import (
    FILLER,
    Bytes,
    decimals,
    digit_counts,
    digits,
    number_text,
    with_number,
)


class Layer(NamedTuple):
    """The texts of one number in some rows: row i has ``texts[which[i]]``."""

    texts: Bytes
    which: Indices


@dataclass(frozen=True, eq=False, repr=False)
class Fields:
    """Byte offsets of the locations, or of the element, in the text of a cell.

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
    """Cells without content, where ``misses`` is not 0, and their text."""

    misses: F2Map
    text: bytes


class CellText(Protocol):
    """The text of the cells of one view."""

    @property
    def width(self) -> int:
        """The number of bytes of a cell with the separator after it."""

    @property
    def separator(self) -> bytes:
        """The separator between two cells of a line."""

    @property
    def fields(self) -> Fields:
        """Byte offsets of each location, or of the element, in a cell."""

    @property
    def gap(self) -> Gap | None:
        """The empty cells; None if there are none."""

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return the texts of the rows of ``span`` cells that begin at ``firsts``."""


@dataclass(frozen=True, eq=False, repr=False)
class TupleText:
    """Cells with a tuple of coordinates, such as ``(12, 7)``.

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
        """The number of bytes of a cell with the separator after it."""
        return self.tuple_width + len(self.separator)

    @property
    def fields(self) -> Fields:
        """Byte offset of the tuple."""
        return Fields(1, self.tuple_width)

    @property
    def numbers(self) -> list[tuple[int, int]]:
        """Byte offset and width of each coordinate in a cell."""
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
        first, *rest = (self._layer(axis, cells, np.arange(1)) for axis in range(len(self.sizes)))
        texts = first.texts[first.which]
        for layer in rest:
            texts |= layer.texts[layer.which]
        return texts

    def _stamps(self, axis: int, values: Ints) -> Bytes:
        """Return the cell's text of each value of one coordinate, with fillers elsewhere."""
        start, width = self.numbers[axis]
        end = start + width
        stamps = np.full((len(values), self.width), FILLER, np.uint8)
        stamps[:, start - 1] = ord(self.joint if axis else "(")
        stamps[:, start:end] = decimals(values, width, fill=ord(" "))
        if axis == len(self.sizes) - 1:
            stamps[:, end:] = np.frombuffer(b")" + self.separator, np.uint8)
        return stamps


@dataclass(frozen=True, eq=False, repr=False)
class EmptyText:
    """Cells without text: a line has separators only."""

    separator: bytes
    gap: Gap | None = None

    @property
    def width(self) -> int:
        """The number of bytes of a separator."""
        return len(self.separator)

    @property
    def fields(self) -> Fields:
        """No fields."""
        return Fields(0, 0)

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return a layer of separators."""
        row = np.frombuffer(self.separator * span, np.uint8)
        return [Layer(row[np.newaxis], np.zeros(len(firsts), np.intp))]


@dataclass(frozen=True, eq=False, repr=False)
class Label:
    """Format of a location: ``B<block>:T<outer>:<inner>``, right-aligned as a whole.

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
        """Return block and outer number of each ``block * outer_size + outer``, right-aligned."""
        spaces = np.full((len(values), 0), ord(" "), np.uint8)
        if self.blocks > 1:
            blocks = with_number(spaces, "B", values // self.outer_size, digits(self.blocks))
            colon = np.full((len(values), 1), ord(":"), np.uint8)
            spaces = np.concatenate([blocks, colon], axis=1)
        return with_number(
            spaces, self.outer_mark, values % self.outer_size, digits(self.outer_size)
        )

    def inner_texts(self, values: Ints) -> Bytes:
        """Return the inner number as the end of a label, with fillers before it."""
        return number_text(self.inner_mark, values, digits(self.inner_size))


@dataclass(frozen=True, eq=False, repr=False)
class LabelText:
    """Cells with all holders of an element, such as ``T0:1|T4:1``.

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
        """The number of bytes of a cell with the separator after it."""
        return self.replication * (self.label.width + 1) - 1 + len(self.separator)

    @property
    def fields(self) -> Fields:
        """Byte offsets of the labels."""
        return Fields(self.replication, self.label.width, step=self.label.width + 1)

    def layers(self, firsts: Ints, span: int) -> list[Layer]:
        """Return the layers of the outer and of the inner numbers.

        A label is right-aligned as a whole.  So where an outer number stands depends on the
        digits of the inner number behind it, and the digits belong to the key of its row.
        """
        offsets = np.arange(span)
        inner_keys, inner_which = distinct(self.inner(firsts))
        inners, inner_cells = ascending_superset(inner_keys[:, np.newaxis] ^ self.inner(offsets))
        counts = digit_counts(inners[:, np.newaxis] ^ all_values(self.inner_kernel))
        inner_digits = np.take(counts, inner_cells, axis=0)
        digit_rows, digit_row_of = distinct_rows(inner_digits.reshape(len(inner_keys), -1))
        behind, behind_of = distinct_rows(digit_rows.reshape(-1, self.replication))

        outer_keys, outer_which = distinct(self.outer(firsts))
        keys, which = distinct(outer_which * len(digit_rows) + digit_row_of[inner_which])
        key, digit_row = np.divmod(keys, len(digit_rows))
        outers = outer_keys[key][:, np.newaxis] ^ self.outer(offsets)
        numbers = outers * len(behind) + behind_of.reshape(-1, span)[digit_row]
        cells, outer_cells = ascending_superset(numbers)
        outer, before = np.divmod(cells, len(behind))
        return [
            Layer(_rows(self._outer_texts(outer, behind[before]), outer_cells), which),
            Layer(_rows(self._inner_texts(inners), inner_cells), inner_which),
        ]

    def _outer_texts(self, outers: Ints, behind: Bytes) -> Bytes:
        """Return cells by their first outer number and the digits after each."""
        values, places = distinct(outers[:, np.newaxis] ^ all_values(self.outer_kernel))
        longest = digits(self.label.inner_size)
        labels = places * longest + (behind - 1)
        fillers = bytes([FILLER]) * len(self.separator)
        return self._cells(self._outer_stamps(values), labels, fillers)

    def _outer_stamps(self, values: Ints) -> Bytes:
        """Return the text of each number in a label, one row per count of digits after it."""
        texts, width = self.label.outer_texts(values), self.label.width
        longest = digits(self.label.inner_size)
        stamps = np.full((len(values), longest, width + 1), FILLER, np.uint8)
        for behind in range(1, longest + 1):
            end = width - len(self.label.inner_mark) - behind
            start = end - texts.shape[1]
            stamps[:, behind - 1, :start] = ord(" ")
            stamps[:, behind - 1, start:end] = texts
        return stamps.reshape(-1, width + 1)

    def _inner_texts(self, inners: Ints) -> Bytes:
        """Return cells by their first inner number, with bars and the separator."""
        values, places = ascending_superset(inners[:, np.newaxis] ^ all_values(self.inner_kernel))
        stamps = np.full((len(values), self.label.width + 1), FILLER, np.uint8)
        stamps[:, -self.label.inner_width - 1 : -1] = self.label.inner_texts(values)
        stamps[:, -1] = ord("|")
        return self._cells(stamps, places, self.separator)

    def _cells(self, stamps: Bytes, labels: Indices, behind: bytes) -> Bytes:
        """Return cells of labels, built from their stamps and the bytes between two of them."""
        texts = np.empty((len(labels), self.width), np.uint8)
        end = self.width - len(behind)
        texts[:, :end] = np.take(stamps, labels, axis=0).reshape(len(labels), -1)[:, :end]
        texts[:, end:] = np.frombuffer(behind, np.uint8)
        return texts


def _rows(cells: Bytes, which: Indices) -> Bytes:
    """Tile cells into rows."""
    return np.take(cells, which, axis=0).reshape(len(which), -1)
