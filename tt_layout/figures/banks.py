"""Shared memory by banks: the element in every bank cell, and the conflicts of an access."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.analyses.banks import Access, check_lanes, cost, map_access
from tt_layout.encodings import DistributedEncoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import DrawnLayout, cell_groups, element_labels
from tt_layout.figures.model import NOTHING, PLAIN, Figure, Grid, check_cells, has_labels, table
from tt_layout.figures.tensor import legend
from tt_layout.hardware import DEFAULT_TARGET, TARGETS, Target, find_target
from tt_layout.views.shared import Memory, memory_of

MAX_BUFFERS = 4
MAX_LANES = 8  # colliding lanes that are named


def banks_figure(drawn: DrawnLayout, color_by: str | None = None) -> Figure:
    """Return the figure of a shared layout, a row of all banks per line.

    Raises:
        LayoutError: the layout is not of shared memory, or a part of it is selected.
    """
    if not isinstance(drawn.encoding, SharedEncoding):
        message = f"#{drawn.encoding.name} lives in {drawn.placed.memory_space}"
        raise LayoutError(f"banks are of shared memory, but {message}")
    name, memory = color_by or "row", memory_of(drawn.placed)
    buffers = memory.partitions * memory.blocks
    target = TARGETS[DEFAULT_TARGET]
    grids = tuple(_grid(drawn, name, buffer, target) for buffer in range(min(buffers, MAX_BUFFERS)))
    more = buffers - MAX_BUFFERS
    notes = (f"{more} more buffers are not shown",) if more > 0 else ()
    return Figure(drawn.title, grids, legend(drawn, name), notes)


def _grid(drawn: DrawnLayout, name: str, buffer: int, target: Target) -> Grid:
    """Return the cells of one buffer: of one block and partition."""
    drawn.selection.check_options("a figure of banks")
    size, memory = drawn.placed.element_bytes, memory_of(drawn.placed)
    columns = max(1, target.row_bytes // size)
    rows = max(1, -(-memory.slots // columns))
    shape = rows, columns
    check_cells(rows * columns)
    numbers = np.arange(buffer * memory.elements, (buffer + 1) * memory.elements)
    cells = memory.cells.cells(numbers)
    slots = cells.locations["slot"][:, 0]
    colours = np.full(rows * columns, NOTHING, np.int64)
    colours[slots] = cell_groups(drawn.placed, name, cells)
    labels = None
    if has_labels(*shape):
        texts = [""] * (rows * columns)
        for slot, text in zip(slots.tolist(), element_labels(cells)):
            texts[slot] = text
        labels = table(texts, shape)
    return Grid(
        colours.reshape(shape),
        labels,
        _buffer_title(memory, buffer),
        tuple(str(row * target.row_bytes) for row in range(rows)),
        (),
        row_title="byte",
        column_title="bank",
        column_step=max(1, target.bank_bytes // size),
        groups=_bank_names(size, columns, target.bank_bytes),
    )


def _bank_names(size: int, columns: int, bank_bytes: int) -> tuple[tuple[int, int, str], ...]:
    """Return the name of each bank over its columns; an element may cover several banks."""
    if size <= bank_bytes:
        width = bank_bytes // size
        return tuple((bank * width, width, str(bank)) for bank in range(columns // width))
    width = size // bank_bytes
    names = ((column, column * width) for column in range(columns))
    return tuple((column, 1, f"{bank}-{bank + width - 1}") for column, bank in names)


def _buffer_title(memory: Memory, buffer: int) -> str:
    block, partition = divmod(buffer, memory.partitions)
    parts = [f"block {block}"] if memory.blocks > 1 else []
    parts += [f"partition {partition}"] if memory.partitions > 1 else []
    return ", ".join(parts)


def access_figure(
    drawn: DrawnLayout, registers: DrawnLayout, target: str, is_store: bool
) -> Figure:
    """Return the figure of an access: what the lanes of its worst phase touch, and who waits.

    Args:
        drawn: the shared layout.
        registers: the layout of the registers that are stored or loaded.
        target: a name of `tt_layout.hardware.TARGETS`.
        is_store: whether registers go to memory.

    Raises:
        LayoutError: the two do not belong together.
    """
    if not isinstance(drawn.encoding, SharedEncoding) or not isinstance(
        registers.encoding, DistributedEncoding
    ):
        message = "the figure of an access needs a layout of shared memory and one of registers"
        raise LayoutError(message)
    hardware = find_target(target)
    size = drawn.placed.element_bytes
    places = map_access(registers.encoding, drawn.encoding, drawn.placed.shape, size)
    check_lanes(places, hardware)
    access = cost(places, hardware, is_store=is_store)
    grid = _grid(drawn, "row", 0, hardware)
    grid = _touched(grid, access, size)
    title = str(drawn.encoding), str(registers.encoding), drawn.placed.type_text
    return Figure(title, (grid,), _lane_legend(access), _words(access))


def _touched(grid: Grid, access: Access, size: int) -> Grid:
    """Colour what the lanes touch by lane; outline what makes them wait."""
    lanes, words = access.worst_phase
    colours = np.where(grid.colours == NOTHING, NOTHING, PLAIN).ravel()
    marks = np.zeros(colours.shape, bool)
    bank_bytes = access.target.bank_bytes
    per_word = max(1, bank_bytes // size)
    waiting = {word for collision in access.collisions for word in collision.words}
    for lane, touched in zip(lanes.tolist(), words.tolist()):
        for word in touched:
            start = word * bank_bytes // size
            cells = slice(start, min(start + per_word, len(colours)))
            colours[cells] = np.where(colours[cells] == PLAIN, lane, colours[cells])
            marks[cells] = word in waiting
    shape = grid.shape
    return replace(grid, colours=colours.reshape(shape), marks=marks.reshape(shape))


def _lane_legend(access: Access) -> tuple[tuple[int, str], ...]:
    lanes, _ = access.worst_phase
    first: Ints = lanes[:MAX_LANES]
    entries = [(int(lane), f"lane {lane}") for lane in first]
    if len(lanes) > MAX_LANES:
        entries.append((PLAIN, f"... {lanes[-1]}; repeats every {MAX_LANES}"))
    return tuple(entries)


def _words(access: Access) -> tuple[str, ...]:
    """Return what the access costs, in words."""
    kind = "store" if access.is_store else "load"
    wavefronts, ideal = access.wavefronts_per_instruction, access.phases
    lines = [
        f"{kind}: {access.name}, {wavefronts} wavefront{'s' * (wavefronts != 1)} per instruction, "
        f"at best {ideal}"
    ]
    if access.collisions:
        worst = max(access.collisions, key=lambda collision: len(collision.words))
        shown = ", ".join(map(str, worst.lanes[:MAX_LANES]))
        more = ", ..." if len(worst.lanes) > MAX_LANES else ""
        lines.append(
            f"outlined: bank conflicts; {len(worst.words)} words in bank {worst.bank} "
            f"for lanes {shown}{more}"
        )
    return tuple(lines)
