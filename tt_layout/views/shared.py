"""Views of shared layouts over their offsets."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from tt_layout.algebra.arrays import F2Map
from tt_layout.algebra.linear_layout import Basis, LinearLayout, log2
from tt_layout.algebra.padding import Padding, padded, padded_size
from tt_layout.errors import LayoutError
from tt_layout.views import distributed
from tt_layout.views.axes import Axes, Axis, location_axis, tensor_axes
from tt_layout.views.cell_text import CellText, EmptyText, TupleText
from tt_layout.views.cells import ElementCells, LocationCells, SlotCells
from tt_layout.views.columns import Column, CountedLines, blocks, pages
from tt_layout.views.distributed import check_inputs
from tt_layout.views.frames import Brackets, framed_view, header_size
from tt_layout.views.selection import EVERYTHING, Range, Selection
from tt_layout.views.text import FILLER
from tt_layout.views.view import Allocate, CellShape, LineBlock, View, Viewable

DIMENSIONS = ("offset", "partition", "block")
"""The input dimensions, the fastest first."""

PAD = b"pad"


def tensor_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the elements in memory order, in the tensor's shape.

    Args:
        placed: its layout is from ``offset``, ``block`` and perhaps ``partition``; a missing
            one counts as of size 1.  Padding is not shown.
        selection: the part to show.

    Raises:
        LayoutError: the layout has other input dimensions, or lacks what is selected.

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

    Args:
        placed: as for `tensor_view`.
        selection: the part to show.

    Raises:
        LayoutError: the layout has other input dimensions, or lacks what is selected.

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
    """Return the offset of each element, the first of several."""
    memory, layout = memory_of(placed), placed.layout
    vectors = [vector for name in memory.sizes for vector in memory.vectors(name)]
    locations = [(layout.flatten(vector), 1 << bit) for bit, vector in enumerate(vectors)]
    cells = distributed.element_cells(layout, tuple(memory.sizes.items()), locations)
    first = replace(cells.holders, kernel=())
    return replace(cells, holders=first, padding=memory.padding)


def memory_of(placed: Viewable) -> Memory:
    """Return the shared memory of a layout.

    Raises:
        LayoutError: the layout has other input dimensions, or its padding makes no sense.
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
        """The number of elements in a buffer; offsets beyond the tensor's share are not shown."""
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
