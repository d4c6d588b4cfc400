"""Shared memory by banks: the element in every bank cell, and the conflicts of an access."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.analyses.shared_memory.banks import SharedAccess, cost, fitting_target, map_access
from tt_layout.colour import COLOURS
from tt_layout.encodings import DistributedEncoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import Colouring, DrawnLayout, element_labels, lane_legend
from tt_layout.figures.model import (
    NOTHING,
    PLAIN,
    Figure,
    Grid,
    Legend,
    check_cells,
    has_labels,
    legend_of_nothing,
    table,
)
from tt_layout.hardware import DEFAULT_TARGET, TARGETS, Target, find_target
from tt_layout.views.cells import Cells, SlotCells
from tt_layout.views.selection import Range, checked_range
from tt_layout.views.shared import Memory, memory_of
from tt_layout.wording import count

Served = dict[int, list[int]]
"""Bank -> the lanes that it serves in a cycle."""

MAX_BUFFERS = 4
MAX_LANES = 8  # colliding lanes that are named


def banks_figure(drawn: DrawnLayout, color_by: str | None) -> Figure:
    """Return the figure of a shared layout, a row of all banks per line.

    Raises:
        LayoutError: the layout is not a shared layout, or a part of it is selected.
    """
    if not isinstance(drawn.encoding, SharedEncoding):
        message = f"#{drawn.encoding.name} lives in {drawn.placed.memory_space}"
        raise LayoutError(f"banks need a shared layout, but {message}")
    drawn.selection.check_options("a figure of banks")
    colouring, memory = Colouring(drawn.placed, color_by or "chunk"), memory_of(drawn.placed)
    buffers, target = memory.partitions * memory.blocks, TARGETS[DEFAULT_TARGET]
    size = drawn.placed.element_bytes
    check_cells(memory.slots)
    rows = np.arange(max(1, -(-memory.slots * size // target.row_bytes)))
    shown, groups = [], []
    for buffer in range(min(buffers, MAX_BUFFERS)):
        cells = _cells(memory, buffer, rows, max(1, target.row_bytes // size))
        indices = np.where(cells.are_mapped, colouring.groups(cells, of_elements=True), NOTHING)
        groups.append(indices)
        shown.append(_grid(drawn, buffer, target, rows, cells, colouring.colours(indices)))
    hidden = buffers - MAX_BUFFERS
    notes = (f"{hidden} more buffers are not shown",) if hidden > 0 else ()
    legend = colouring.legend(np.concatenate(groups))
    return Figure(drawn.title, tuple(shown), (*legend, *_padding_legend(drawn, shown)), notes)


def _padding_legend(drawn: DrawnLayout, grids: list[Grid]) -> Legend:
    name = "padding" if drawn.placed.padding else "no element"
    is_cut = memory_of(drawn.placed).slots % grids[0].shape[1] != 0
    return legend_of_nothing(grids, f"{name}, or behind the end" if is_cut else name)


def _cells(memory: Memory, buffer: int, rows: Ints, columns: int) -> Cells:
    """Return the slots of some rows of a buffer; slots beyond its end are empty."""
    check_cells(len(rows) * columns)
    slots = (rows[:, np.newaxis] * columns + np.arange(columns)).ravel()
    inside = np.minimum(slots, max(0, memory.slots - 1))
    cells = SlotCells(memory.cells, memory.slots).cells(buffer * memory.slots + inside)
    return cells._replace(are_mapped=cells.are_mapped & (slots < memory.slots))


def _grid(
    drawn: DrawnLayout, buffer: int, target: Target, rows: Ints, cells: Cells, colours: Ints
) -> Grid:
    """Return the grid of some rows of one buffer, of one block and partition."""
    size, memory = drawn.placed.element_bytes, memory_of(drawn.placed)
    columns = max(1, target.row_bytes // size)
    shape = len(rows), columns
    block, partition = divmod(buffer, memory.partitions)
    parts = [f"block {block}"] if memory.blocks > 1 else []
    parts += [f"partition {partition}"] if memory.partitions > 1 else []
    return Grid(
        colours.reshape(shape),
        table(element_labels(cells), shape) if has_labels(*shape) else None,
        ", ".join(parts),
        tuple(str(row * target.row_bytes) for row in rows.tolist()),
        (),
        row_title="byte",
        column_title="bank",
        column_step=max(1, target.bank_bytes // size),
        groups=_bank_names(size, columns, target.bank_bytes),
    )


def _bank_names(size: int, columns: int, bank_bytes: int) -> tuple[tuple[int, int, str], ...]:
    """Return the names of the banks above their columns; an element may cover several banks."""
    if size <= bank_bytes:
        width = bank_bytes // size
        return tuple((bank * width, width, str(bank)) for bank in range(columns // width))
    width = size // bank_bytes
    names = ((column, column * width) for column in range(columns))
    return tuple((column, 1, f"{bank}-{bank + width - 1}") for column, bank in names)


def access_figure(
    drawn: DrawnLayout, registers: DrawnLayout, target: str, is_store: bool
) -> Figure:
    """Return the figure of an access: the words of its worst phase by lane, and the conflicts.

    Args:
        drawn: the shared layout.
        registers: the layout of the registers that are stored or loaded.
        target: a name of `tt_layout.hardware.TARGETS`.
        is_store: whether registers go to memory.

    Raises:
        LayoutError: the two do not belong together.
    """
    access = _access(drawn, registers, target, is_store)
    drawn.selection.check_options("a figure of banks")
    hardware, size, memory = access.target, drawn.placed.element_bytes, memory_of(drawn.placed)
    _, words = access.worst_phase
    columns = max(1, hardware.row_bytes // size)
    rows = np.unique(words * hardware.bank_bytes // hardware.row_bytes)
    cells = _cells(memory, 0, rows, columns)
    plain = np.where(cells.are_mapped, PLAIN, NOTHING)
    grid = _touched(_grid(drawn, 0, hardware, rows, cells, plain), access, rows, size)
    in_all = -(-memory.slots // columns)
    left_out = in_all - len(rows)
    notes = _words(access)
    if left_out:
        notes += (f"showing {len(rows)} of the {in_all} rows touched",)
    legend = (*lane_legend(access.worst_phase[0]), *_padding_legend(drawn, [grid]))
    return Figure(_titles(drawn, registers), (grid,), legend, notes)


def cycles_figure(
    drawn: DrawnLayout, registers: DrawnLayout, target: str, is_store: bool
) -> Figure:
    """Return the figure of an access's first instruction: the lanes per bank and cycle.

    Args:
        drawn, registers, target, is_store: as for `access_figure`.

    Raises:
        LayoutError: the two do not belong together, or more than lanes is selected.
    """
    drawn.selection.check_options("a figure of cycles", "lanes")
    access = _access(drawn, registers, target, is_store)
    lanes, words = _phases_of(*access.first_instruction, drawn.selection.lanes)
    phases = [_served(*phase, access.phase.banks) for phase in zip(lanes, words)]
    served = [cycle for phase in phases for cycle in phase]
    shape = len(served), access.phase.banks
    colours = np.full(shape, NOTHING, np.int64)
    labels = [[""] * shape[1] for _ in range(shape[0])]
    for cycle, banks in enumerate(served):
        for bank, (first, *rest) in banks.items():
            colours[cycle, bank] = first % COLOURS
            labels[cycle][bank] = f"{first}+{len(rest)}" if rest else f"{first}"
    lengths = set(map(len, phases))
    grid = Grid(
        colours,
        labels,
        "",
        tuple(
            f"{number}, {cycle}" if len(phases) > 1 else str(cycle)
            for number, phase in enumerate(phases, 1)
            for cycle in range(1, len(phase) + 1)
        ),
        tuple(map(str, range(shape[1]))),
        row_title=("phase, " if len(phases) > 1 else "") + access.target.cycle,
        column_title="bank; in the cells the lanes served",
        row_step=lengths.pop() if len(phases) > 1 and len(lengths) == 1 else 0,
        step_width=2,
    )
    legend = (*lane_legend(lanes), *legend_of_nothing([grid], "idle"))
    notes = _words(access)[:1]
    if len(phases) < len(access.first_instruction[0]):
        notes += (f"showing the phases of lanes {lanes.min()} to {lanes.max()}",)
    if access.instruction.forms[0].accesses > 1:
        notes += ("showing the first of the two addresses of each lane",)
    return Figure(_titles(drawn, registers), (grid,), legend, notes)


def _phases_of(lanes: Ints, words: Ints, chosen: Range | None) -> tuple[Ints, Ints]:
    """Return the phases that serve any of the selected lanes."""
    first, stop = checked_range("lane", chosen, int(lanes.max()) + 1)
    is_served = ((lanes >= first) & (lanes < stop)).any(axis=1)
    return lanes[is_served], words[is_served]


def _served(lanes: Ints, words: Ints, banks: int) -> list[Served]:
    """Return the lanes that each bank serves in each cycle of a phase.

    A bank serves one word per cycle, to all lanes that access it; its words are taken in the order
    of the lanes.
    """
    asked: dict[int, dict[int, list[int]]] = {}
    for lane, words_of_lane in zip(lanes.tolist(), words.tolist()):
        for word in words_of_lane:
            asked.setdefault(word % banks, {}).setdefault(word, []).append(lane)
    cycles: list[Served] = [{} for _ in range(max(map(len, asked.values())))]
    for bank, by_word in asked.items():
        for cycle, lanes_served in enumerate(by_word.values()):
            cycles[cycle][bank] = lanes_served
    return cycles


def _access(
    drawn: DrawnLayout, registers: DrawnLayout, target: str, is_store: bool
) -> SharedAccess:
    """Return the cost of an access between registers and shared memory."""
    if not isinstance(drawn.encoding, SharedEncoding) or not isinstance(
        registers.encoding, DistributedEncoding
    ):
        message = "the figure of an access needs a layout of shared memory and one of registers"
        raise LayoutError(message)
    size = drawn.placed.element_bytes
    places = map_access(registers.encoding, drawn.encoding, drawn.placed.shape, size)
    hardware = fitting_target(places, find_target(target))
    return cost(places, hardware, is_store=is_store)


def _titles(drawn: DrawnLayout, registers: DrawnLayout) -> tuple[str, ...]:
    return str(drawn.encoding), str(registers.encoding), drawn.placed.type_text


def _touched(grid: Grid, access: SharedAccess, rows: Ints, size: int) -> Grid:
    """Colour the accessed words by lane, and outline the conflicts."""
    lanes, words = access.worst_phase
    colours = grid.colours.ravel().copy()
    marks = np.zeros(colours.shape, bool)
    bank_bytes, columns = access.target.bank_bytes, grid.shape[1]
    per_word = max(1, bank_bytes // size)
    waiting = {word for collision in access.collisions for word in collision.words}
    for lane, touched in zip(lanes.tolist(), words.tolist()):
        for word in touched:
            row, column = divmod(word * bank_bytes // size, columns)
            start = int(np.searchsorted(rows, row)) * columns + column
            cells = slice(start, min(start + per_word, len(colours)))
            colours[cells] = np.where(colours[cells] == PLAIN, lane % COLOURS, colours[cells])
            marks[cells] = word in waiting
    shape = grid.shape
    return replace(grid, colours=colours.reshape(shape), marks=marks.reshape(shape))


def _words(access: SharedAccess) -> tuple[str, ...]:
    """Describe the cost of the access."""
    kind = "store" if access.is_store else "load"
    ideal, cycles = access.phases, count(access.wavefronts_per_instruction, access.target.cycle)
    lines = [f"{kind}: {access.name}, {cycles} per instruction, at best {ideal}"]
    if access.collisions:
        worst = max(access.collisions, key=lambda collision: len(collision.words))
        shown = ", ".join(map(str, worst.lanes[:MAX_LANES]))
        rest = ", ..." if len(worst.lanes) > MAX_LANES else ""
        lines.append(
            f"outlined: bank conflicts; {len(worst.words)} words in bank {worst.bank} "
            f"for lanes {shown}{rest}"
        )
    return tuple(lines)
