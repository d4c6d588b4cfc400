"""Views of layouts over the offsets of shared memory."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from tt_layout.algebra.arrays import F2Map
from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.padding import Padding, padded, padded_size
from tt_layout.errors import LayoutError
from tt_layout.views.box import Box, Painter
from tt_layout.views.cells import Cells, EmptyCells, TupleCells
from tt_layout.views.distributed import check_inputs
from tt_layout.views.frames import Brackets, framed_view, header_size
from tt_layout.views.selection import EVERYTHING, Range, Selection, checked_range
from tt_layout.views.text import FILLER, Bytes, decimals, digits
from tt_layout.views.view import Block, View

COUNTED = 4  # so many digits of an offset are counted off in a ready text of 10**4 lines
BLOCK_LINES = 10**COUNTED
PAD = b"pad"


def shared_view(
    layout: LinearLayout,
    use_hw_view: bool,
    selection: Selection = EVERYTHING,
    padding: Padding = (),
) -> View:
    """Return a view of a layout from ``offset``, ``block`` and perhaps ``partition``.

    The tensor view shows the elements in the order of the memory, in the tensor's shape.

    Args:
        layout: a missing input dimension counts as one of size 1.
        use_hw_view: show one offset per line.
        selection: the part to show.
        padding: pairs of an interval and the number of slots left free after every so many
            elements; only the hardware view shows them.

    Raises:
        LayoutError: the layout has other input dimensions, or lacks what is selected.

    Example:
        >>> layout = LinearLayout.from_bases([("offset", [[0, 1], [1, 1]])], ["dim0", "dim1"])
        >>> print(shared_view(layout, False).text(), end="")
        [[(0:0),(0:1)]
        [ (1:1),(1:0)]]
        >>> print(shared_view(layout, True, padding=((2, 1),)).text(), end="")
        Block: 0:
        Offset: 0 -> (0,0)
        Offset: 1 -> (0,1)
        Offset: 2 -> pad
        Offset: 3 -> (1,1)
        Offset: 4 -> (1,0)
    """
    check_inputs(layout, "offset", "block", "partition")
    if any(interval <= 0 or pad < 0 for interval, pad in padding):
        raise LayoutError(f"padding must be of positive intervals, got {list(padding)}")
    memory = Memory(layout, padding)
    return _hardware_view(memory, selection) if use_hw_view else _tensor_view(memory, selection)


@dataclass(frozen=True)
class Memory:
    """The shared memory of all blocks, one buffer for each block and partition.

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
        """The number of elements in a buffer: offsets beyond the tensor's share are not shown."""
        total = math.prod(size for _, size in self.layout.out_sizes)
        return total // self.blocks // self.partitions

    @cached_property
    def slots(self) -> int:
        """The number of slots of a buffer, up to its last element."""
        return padded_size(self.elements, self.padding)

    def elements_before(self, slot: int) -> int:
        """Return the number of elements of a buffer that lie before a slot."""
        slots = partial(padded, padding=self.padding)
        return bisect_left(range(self.elements), slot, key=slots)

    def cells(self, joint: str, separator: bytes, lead: int = 0) -> TupleCells:
        """Return cells that show the elements by block, partition and offset."""
        sizes = tuple(size for _, size in self.layout.out_sizes)
        nothing = (0,) * len(sizes)
        shown = log2(self.elements) if self.elements else 0
        offsets = [*self.layout.vectors("offset"), *[nothing] * shown][:shown]
        vectors = [*offsets, *self.layout.vectors("partition"), *self.layout.vectors("block")]
        coordinates = (F2Map(tuple(v[axis] for v in vectors)) for axis in range(len(sizes)))
        return TupleCells(tuple(coordinates), sizes, joint, separator, lead)


def _tensor_view(memory: Memory, selection: Selection) -> View:
    selection.check_options("a tensor view", "slices")
    names = memory.layout.get_out_dim_names()
    sizes = tuple(size for _, size in memory.layout.out_sizes)
    box = Box(sizes, selection.tensor_ranges(names, list(sizes)))
    has_elements = memory.elements > 0  # none where there are more blocks than elements
    cells: Cells = memory.cells(":", b",") if has_elements else EmptyCells(b",")
    return framed_view(Painter(box, cells), Brackets(box.extents))


def _hardware_view(memory: Memory, selection: Selection) -> View:
    selection.check_options("a hardware view of shared memory", "blocks", "offsets")
    blocks = checked_range("block", selection.blocks, memory.blocks)
    slots = (0, 0)
    if memory.slots or selection.offsets:
        slots = checked_range("offset", selection.offsets, memory.slots)
    return View(
        _hardware_size(memory, blocks, slots),
        lambda: _hardware_blocks(memory, blocks, slots),
    )


def _hardware_size(memory: Memory, blocks: Range, slots: Range) -> int:
    start, stop = slots
    elements = memory.elements_before(stop) - memory.elements_before(start)
    buffer = header_size("Offset:  -> \n", start, stop)
    buffer += elements * memory.cells(",", b"").width + (stop - start - elements) * len(PAD)
    block = memory.partitions * buffer
    if memory.is_partitioned:
        block += header_size("Partition: :\n", 0, memory.partitions)
    return header_size("Block: :\n", *blocks) + (blocks[1] - blocks[0]) * block


def _hardware_blocks(memory: Memory, blocks: Range, slots: Range) -> Iterator[Block]:
    for block in range(*blocks):
        yield f"Block: {block}:\n".encode()
        for partition in range(memory.partitions):
            if memory.is_partitioned:
                yield f"Partition: {partition}:\n".encode()
            first = (block * memory.partitions + partition) * memory.elements
            for start, stop in _same_digits(*slots):
                counter = Counter(stop, memory.cells(",", b"").width)
                if memory.padding:
                    yield from _padded_lines(memory, first, start, stop, counter)
                else:
                    yield from _lines(memory, first, start, stop, counter)


def _same_digits(start: int, stop: int) -> Iterator[Range]:
    """Split a range where the number of digits changes."""
    while start < stop:
        end = min(stop, 10 ** digits(start))
        yield start, end
        start = end


def _counted(start: int, stop: int) -> Iterator[Range]:
    """Split a range at the multiples of BLOCK_LINES."""
    while start < stop:
        end = min(stop, start - start % BLOCK_LINES + BLOCK_LINES)
        yield start, end
        start = end


class Counter:
    """Makes ``Offset: <o> -> `` in front of the lines of a range with equally many digits.

    The low digits stand ready in a text of at most BLOCK_LINES lines.
    """

    def __init__(self, stop: int, content: int) -> None:
        """Prepare for numbers below ``stop``, in front of ``content`` bytes and a line end."""
        width = digits(stop - 1)
        low = min(width, COUNTED)
        line = b"Offset: " + b"0" * width + b" -> " + bytes([FILLER]) * content + b"\n"
        self.lead = len(line) - content - 1
        self._high = slice(len("Offset: "), len("Offset: ") + width - low)
        self._lines = np.tile(np.frombuffer(line, np.uint8), (min(stop, BLOCK_LINES), 1))
        counted = decimals(np.arange(len(self._lines)), low, fill=ord("0"))
        self._lines[:, self._high.stop : self._high.stop + low] = counted

    def lines(self, start: int, stop: int) -> Bytes:
        """Return the lines with fillers for their content, good until the next call.

        ``start`` and ``stop - 1`` have the same digits but for the low ones.
        """
        high, first = divmod(start, BLOCK_LINES)
        if high:
            self._write_high(str(high).encode())
        return self._lines[first : first + stop - start]

    def _write_high(self, high: bytes) -> None:
        """Write the high digits, a column for each that has changed: long runs are quick."""
        columns = range(self._high.start, self._high.stop)
        for column, digit, before in zip(columns, high, self._lines[0, self._high].tolist()):
            if digit != before:
                self._lines[:, column] = digit


def _lines(memory: Memory, first: int, start: int, stop: int, counter: Counter) -> Iterator[Block]:
    """Return the lines of offsets ``start`` .. ``stop - 1`` in the buffer at ``first``."""
    cells = memory.cells(",", b"\n", counter.lead)
    box = Box((first + memory.elements,), ((first + start, first + stop),))
    painter = Painter(box, cells, span_limit=BLOCK_LINES & -BLOCK_LINES)
    span = painter.span
    rows = (((a - start) // span, (b - start) // span) for a, b in _counted(start, stop))
    for page, row, last in painter.pages(rows):
        text = np.empty((last - row) * painter.row_bytes, np.uint8)
        page.paint(row, last, text[np.newaxis])
        offset = start + row * span
        counted = counter.lines(offset, offset + (last - row) * span)
        text |= counted.ravel()
        yield text


def _padded_lines(
    memory: Memory, first: int, start: int, stop: int, counter: Counter
) -> Iterator[Block]:
    """Return the lines of slots ``start`` .. ``stop - 1`` in the buffer at ``first``."""
    cells = memory.cells(",", b"")
    for low, high in _counted(start, stop):
        lines = counter.lines(low, high).copy()
        content = lines[:, counter.lead : -1]
        content[:] = np.frombuffer(PAD.ljust(cells.width, bytes([FILLER])), np.uint8)
        elements = np.arange(memory.elements_before(low), memory.elements_before(high))
        if len(elements):
            content[padded(elements, memory.padding) - low] = cells.texts(first + elements)
        yield lines.tobytes().replace(bytes([FILLER]), b"")
