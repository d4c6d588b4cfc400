"""Views of shared layouts over offsets, blocks and partitions; a missing input counts as of size 1.

The lines of the hardware view, one for each cell, differ only in their columns of numbers.  A block
of them is made once; the numbers of the next lines are written over it, a column at a time, and it
is copied as a whole: that moves fewer bytes than an or of texts as long as the lines.

Arguments and errors are those of `tt_layout.views.kinds.ViewKind.view`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import F2Map, ascending_superset, distinct
from tt_layout.algebra.linear_layout import Basis, LinearLayout, log2
from tt_layout.algebra.padding import Padding, padded, padded_size
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple
from tt_layout.views import distributed
from tt_layout.views.axes import Axes, Axis, location_axis, tensor_axes
from tt_layout.views.cell_text import CellText, EmptyText, TupleText
from tt_layout.views.cells import ElementCells, LocationCells, SlotCells
from tt_layout.views.distributed import check_inputs
from tt_layout.views.frames import Brackets, framed_view, header_size
from tt_layout.views.selection import EVERYTHING, Range, Selection
from tt_layout.views.text import FILLER, Bytes, decimals, digits
from tt_layout.views.view import Allocate, CellShape, LineBlock, View, Viewable

LOW_DIGITS = 4  # of a line's number, taken from 10**4 lines that are written once
BLOCK_LINES = 10**LOW_DIGITS
PAGE_LINES = 32 * BLOCK_LINES  # over which the texts of runs are shared, a bound on memory
RUN = 64  # cells whose numbers differ from those of another run by one xor
LONGEST_WORD = 8  # bytes that are written at once

DIMENSIONS = ("offset", "partition", "block")
"""The input dimensions, the fastest first."""

PAD = b"pad"


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

        ``start`` and ``stop - 1`` differ only in the low digits.
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
        place: its start in the text, or in the line.
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


def tensor_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the elements in memory order, in the tensor's shape.

    Padding is not shown.

    Example:
        >>> from tt_layout.views.view import BareLayout
        >>> layout = LinearLayout.from_bases([("offset", [[0, 1], [1, 1]])], ["dim0", "dim1"])
        >>> print(tensor_view(BareLayout(layout)).text(), end="")
        [[(0:0),(0:1)]
        [ (1:1),(1:0)]]
    """
    memory = memory_of(placed)
    axes = tensor_axes(placed.layout, selection)
    has_elements = memory.elements > 0  # none where there are more blocks than elements
    text: CellText = memory.text(":", b",") if has_elements else EmptyText(b",")
    notation = "elements in the order of the addresses"
    return framed_view(axes, memory.cells, text, Brackets(axes.box.extents), notation=notation)


def hardware_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the element at each offset, one per line, and the unused slots of padding.

    Example:
        >>> from tt_layout.views.view import BareLayout
        >>> layout = LinearLayout.from_bases([("offset", [[0, 1], [1, 1]])], ["dim0", "dim1"])
        >>> print(hardware_view(BareLayout(layout, padding=((2, 1),))).text(), end="")
        Block: 0:
        Offset: 0 -> (0,0)
        Offset: 1 -> (0,1)
        Offset: 2 -> pad
        Offset: 3 -> (1,1)
        Offset: 4 -> (1,0)
    """
    memory = memory_of(placed)
    selection.check_options("a hardware view of shared memory", "blocks", "offsets")
    block = location_axis("block", memory.blocks, selection)
    partition = Axis("partition", memory.partitions, (0, memory.partitions), "")
    slot = Axis("offset", 0, (0, 0), "offsets")
    if memory.slots or selection.offsets:
        slot = location_axis("offset", memory.slots, selection)
    axes = Axes((block, partition), (slot,), None, has_row_labels=True)
    return View(
        _hardware_size(memory, block.shown, slot.shown),
        partial(_hardware_lines, memory, block.shown, slot.shown),
        axes,
        SlotCells(memory.cells, memory.slots),
        CellShape(0, memory.text(",", b"").fields),
        "Offset: <element of the memory> -> element",
    )


def element_cells(placed: Viewable) -> ElementCells:
    """Return the offset of each element, the first if there are several."""
    memory, layout = memory_of(placed), placed.layout
    vectors = [vector for name in memory.sizes for vector in memory.vectors(name)]
    locations = [(layout.flatten(vector), 1 << bit) for bit, vector in enumerate(vectors)]
    cells = distributed.element_cells(layout, tuple(memory.sizes.items()), locations)
    first = replace(cells.holders, kernel=())
    return replace(cells, holders=first, padding=memory.padding)


def memory_of(placed: Viewable) -> Memory:
    """Return the shared memory of a layout.

    Raises:
        LayoutError: the layout has other input dimensions, or invalid padding.
    """
    check_inputs(placed.layout, *DIMENSIONS)
    if any(interval <= 0 or pad < 0 for interval, pad in placed.padding):
        message = f"padding must be of positive intervals, got {list(placed.padding)}"
        raise LayoutError(message)
    return Memory(placed.layout, placed.padding)


@dataclass(frozen=True, eq=False, repr=False)
class Memory:
    """Shared memory of all blocks, with one buffer per block and partition.

    Attributes:
        layout: the elements by offset, block and partition.
        padding: pairs of an interval and a number of free slots.
    """

    layout: LinearLayout
    padding: Padding

    @cached_property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.layout.get_in_dim_size("block")

    @cached_property
    def partitions(self) -> int:
        """The number of partitions in a block."""
        return self.layout.get_in_dim_size("partition")

    @property
    def is_partitioned(self) -> bool:
        """Whether the layout has partitions."""
        return "partition" in self.layout.get_in_dim_names()

    @cached_property
    def elements(self) -> int:
        """The number of elements in a buffer, without offsets beyond the tensor's share."""
        total = math.prod(size for _, size in self.layout.out_sizes)
        return total // self.blocks // self.partitions

    @cached_property
    def slots(self) -> int:
        """The number of slots of a buffer, up to its last element."""
        return padded_size(self.elements, self.padding)

    def elements_before(self, slot: int) -> int:
        """Count the elements of a buffer before a slot."""
        slots = partial(padded, padding=self.padding)
        return bisect_left(range(self.elements), slot, key=slots)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the input dimensions, the fastest first; one offset at least."""
        return dict(zip(DIMENSIONS, (max(1, self.elements), self.partitions, self.blocks)))

    def vectors(self, name: str) -> list[Basis]:
        """Return the basis vectors of a dimension, for the tensor's share of it."""
        vectors = self.layout.vectors(name)
        if name != "offset":
            return list(vectors)
        nothing = (0,) * self.layout.num_out_dims
        bits = log2(self.sizes[name])
        return [*vectors, *[nothing] * bits][:bits]

    @cached_property
    def cells(self) -> LocationCells:
        """The element at each offset of each buffer."""
        vectors = [vector for name in self.sizes for vector in self.vectors(name)]
        axes = range(self.layout.num_out_dims)
        coordinates = tuple(F2Map(tuple(vector[axis] for vector in vectors)) for axis in axes)
        return LocationCells(tuple(self.sizes.items()), coordinates, padding=self.padding)

    def text(self, joint: str, separator: bytes) -> TupleText:
        """Return the text of the elements by block, partition and offset."""
        sizes = tuple(size for _, size in self.layout.out_sizes)
        return TupleText(self.cells.coordinates, sizes, joint, separator)


def _hardware_size(memory: Memory, blocks: Range, slots: Range) -> int:
    start, stop = slots
    elements = memory.elements_before(stop) - memory.elements_before(start)
    buffer = header_size("Offset:  -> \n", start, stop)
    buffer += elements * memory.text(",", b"").width + (stop - start - elements) * len(PAD)
    block = memory.partitions * buffer
    if memory.is_partitioned:
        block += header_size("Partition: :\n", 0, memory.partitions)
    return header_size("Block: :\n", *blocks) + (blocks[1] - blocks[0]) * block


def _hardware_lines(
    memory: Memory, shown: Range, slots: Range, allocate: Allocate
) -> Iterator[LineBlock]:
    counter = CountedLines(slots[1], memory.text(",", b"").blank)
    make = _padded_lines if memory.padding else partial(_lines, allocate)
    for block in range(*shown):
        heading = f"Block: {block}:\n"
        for partition in range(memory.partitions):
            if memory.is_partitioned:
                heading += f"Partition: {partition}:\n"
            buffer = (block - shown[0]) * memory.partitions + partition
            first = buffer * (slots[1] - slots[0]) - slots[0]
            yield _heading(heading, first + slots[0])
            heading = ""
            number = block * memory.partitions + partition
            for lines in make(memory, number * memory.elements, slots, counter):
                yield lines._replace(first=first + lines.first)


def _heading(text: str, first: int) -> LineBlock:
    return LineBlock(np.empty((0, 0), np.uint8), 0, 0, first, headings=((0, text.encode()),))


def _lines(
    allocate: Allocate, memory: Memory, first: int, slots: Range, counter: CountedLines
) -> Iterator[LineBlock]:
    """Return the lines of slots of the buffer at ``first``; their cells are numbered by slot."""
    text = memory.text(",", b"")
    for page in pages(*slots):
        cells = first + page[0], first + page[1]
        columns = [
            (place, Column(coordinate, width, cells))
            for coordinate, (place, width) in zip(text.coordinates, text.numbers)
        ]
        for low, high in blocks(*page):
            ready = counter.lines(low, high)
            for place, column in columns:
                column.write(ready, counter.lead + place, first + low)
            lines = allocate(ready.shape)
            lines[:] = ready
            yield LineBlock(lines, lead=counter.lead, cells=1, first=low)


def _padded_lines(
    memory: Memory, first: int, slots: Range, counter: CountedLines
) -> Iterator[LineBlock]:
    """Return the lines of slots of the buffer at ``first``; their cells are numbered by slot."""
    text = memory.text(",", b"")
    for low, high in blocks(*slots):
        lines = counter.lines(low, high).copy()
        content = lines[:, counter.lead : -1]
        content[:] = np.frombuffer(PAD.ljust(text.width, bytes([FILLER])), np.uint8)
        elements = np.arange(memory.elements_before(low), memory.elements_before(high))
        if len(elements):
            content[padded(elements, memory.padding) - low] = text.texts(first + elements)
        yield LineBlock(lines, lead=counter.lead, cells=1, first=low, has_fillers=True)
