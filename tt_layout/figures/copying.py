"""Copies between memory and registers, lane by lane.

For shared memory: ``ldmatrix``, ``stmatrix``, AMD's transposing reads, plain loads and stores; for
tensor memory: ``tcgen05.ld`` and ``tcgen05.st``.
"""

from __future__ import annotations

import numpy as np

from tt_layout.algebra.arrays import Ints, all_values
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.padding import padded
from tt_layout.analyses.shared_memory.access import MATRIX_ROW_BYTES, AccessMap, Instruction
from tt_layout.analyses.shared_memory.addresses import matrix_bits
from tt_layout.analyses.shared_memory.banks import SharedAccess, cost, fitting_target, map_access
from tt_layout.colour import COLOURS
from tt_layout.encodings import DistributedEncoding, SharedEncoding
from tt_layout.encodings.base import TensorMemoryBase
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import DrawnLayout, element_labels, lane_legend
from tt_layout.figures.model import NOTHING, Figure, Grid, check_cells, legend_of_nothing, table
from tt_layout.hardware import find_target
from tt_layout.records import dataclass
from tt_layout.surface import argument
from tt_layout.views.shared import memory_of

MAX_COLUMNS = 16  # of tensor memory that are drawn


@dataclass(frozen=True)
class Copy:
    """Rows of memory that one instruction copies, each at the address of a lane.

    Attributes:
        addresses: address of each row in bytes.
        offsets: offset of each element of each row, in elements and without padding.
        lanes, registers: its holder, in arrays of the same shape.
    """

    addresses: Ints
    offsets: Ints
    lanes: Ints
    registers: Ints


def copy_figure(memory: DrawnLayout, registers: DrawnLayout, target: str, is_store: bool) -> Figure:
    """Return the figure of the first instruction of warp 0.

    Args:
        memory: a layout in shared or tensor memory.
        registers: the register layout that is stored or loaded.
        target: a name of `tt_layout.hardware.TARGETS`.
        is_store: whether registers go to memory.

    Raises:
        LayoutError: the two do not belong together.
    """
    shared, held = memory.encoding, registers.encoding
    if isinstance(shared, TensorMemoryBase) and isinstance(held, DistributedEncoding):
        return _tensor_memory_figure(memory, registers, is_store)
    if not isinstance(shared, SharedEncoding) or not isinstance(held, DistributedEncoding):
        raise LayoutError(
            f"{argument('view', 'copy')} needs a layout of memory and one of registers"
        )
    size = memory.placed.element_bytes
    places = map_access(held, shared, memory.placed.shape, size)
    hardware = fitting_target(places, find_target(target))
    access = cost(places, hardware, is_store=is_store)
    copy = _copy(places, access.instruction)
    legend = lane_legend(np.concatenate([np.arange(len(copy.offsets)), copy.lanes.ravel()]))
    title = str(shared), str(held), memory.placed.type_text
    name = f"{'store' if is_store else 'load'}: {access.name}"
    notes = [f"{name}, the first of {access.instructions} of warp 0"]
    if access.instruction.forms[0].accesses > 1:
        notes.append("showing the first of its two addresses")
    return Figure(title, _grids(memory, copy, access), legend, tuple(notes), ((0, 0), (0, 1)))


def _grids(memory: DrawnLayout, copy: Copy, access: SharedAccess) -> tuple[Grid, Grid]:
    """Return grids of the memory, coloured by the lanes that give addresses and by the holders."""
    shape = copy.offsets.shape
    cells = memory_of(memory.placed).cells.cells(copy.offsets.ravel())
    lanes = np.arange(shape[0])[:, np.newaxis]
    columns = tuple(map(str, range(shape[1])))
    ends = ("destination", "source") if access.is_store else ("source", "destination")
    providing = Grid(
        np.broadcast_to(lanes % COLOURS, shape),
        table(element_labels(cells), shape),
        f"{ends[0]}: memory, a row at each lane's address",
        tuple(f"T{lane}" for lane in range(shape[0])),
        columns,
        row_title="lane",
    )
    named = [f"T{t}:{r}" for t, r in zip(copy.lanes.ravel(), copy.registers.ravel())]
    bytes_and_banks = []
    bank_bytes, banks = access.target.bank_bytes, access.phase.banks
    last = copy.addresses + copy.offsets.shape[1] * memory.placed.element_bytes - 1
    for byte, end in zip(copy.addresses.tolist(), last.tolist()):
        first, other = (at // bank_bytes % banks for at in (byte, end))
        bytes_and_banks.append(f"{byte}, {first}" + (f"-{other}" if first != other else ""))
    held = Grid(
        copy.lanes % COLOURS,
        table(named, shape),
        f"{ends[1]}: lane and register",
        tuple(bytes_and_banks),
        columns,
        row_title="byte, bank",
    )
    return providing, held


def _tensor_memory_figure(memory: DrawnLayout, registers: DrawnLayout, is_store: bool) -> Figure:
    """Return the figure of the rows of tensor memory that warp 0 reaches, with the holders."""
    places = registers.layout.invert_and_compose(memory.layout)
    sizes = [places.get_in_dim_size(name) for name in ("register", "lane")]
    number, row, column = _tensor_memory_cells(places)
    rows, columns = np.unique(row), np.unique(column)[:MAX_COLUMNS]
    holders = np.full((len(rows), len(columns)), NOTHING, np.int64)
    kept = np.flatnonzero(column <= columns[-1])[::-1]  # of several holders the first stays
    at = np.searchsorted(rows, row[kept]), np.searchsorted(columns, column[kept])
    holders[at] = number[kept]
    lanes = np.where(holders < 0, NOTHING, holders // sizes[0] % COLOURS)
    named = [f"T{n // sizes[0]}:{n % sizes[0]}" if n >= 0 else "" for n in holders.ravel().tolist()]
    cells = [f"R{r}:C{c}" for r in rows.tolist() for c in columns.tolist()]
    ends = ("destination", "source") if is_store else ("source", "destination")
    axes = tuple(map(str, rows.tolist())), tuple(map(str, columns.tolist()))
    by_row = np.broadcast_to((rows % COLOURS)[:, np.newaxis], holders.shape)
    grids = (
        Grid(by_row, table(cells, holders.shape), f"{ends[0]}: tensor memory", *axes),
        Grid(lanes, table(named, holders.shape), f"{ends[1]}: lane and register", *axes),
    )
    legend = lane_legend(holders[holders >= 0] // sizes[0], "row, lane")
    legend += legend_of_nothing(grids, "not copied")
    hidden = len(np.unique(column)) - len(columns)
    notes = (f"warp 0; {hidden} more columns are not drawn",) if hidden else ("warp 0",)
    title = str(memory.encoding), str(registers.encoding), memory.placed.type_text
    return Figure(title, grids, legend, notes, ((0, 0), (0, 1)))


def _tensor_memory_cells(places: LinearLayout) -> tuple[Ints, Ints, Ints]:
    """Return the numbers of warp 0's distinct locations, and the row and column of each.

    Raises:
        TooLargeError: they exceed the limit of a figure.
    """
    bits = [vector for name in ("register", "lane") for vector in places.vectors(name)]
    moving = [(1 << k, vector) for k, vector in enumerate(bits) if any(vector)]
    check_cells(1 << len(moving))
    names = places.get_out_dim_names()
    rows, columns = ([v[names.index(name)] for _, v in moving] for name in ("row", "col"))
    return all_values([n for n, _ in moving]), all_values(rows), all_values(columns)


def _copy(places: AccessMap, instruction: Instruction) -> Copy:
    """Return the rows that the first instruction of warp 0 copies."""
    size = places.element_bytes
    if instruction.matrices:
        rows = [*instruction.addresses, *matrix_bits(places, instruction)]
        per_row = MATRIX_ROW_BYTES // size
    else:
        rows, per_row = [*instruction.addresses], instruction.forms[0].width_bytes // size
    firsts = all_values(rows) // size
    offsets = firsts[:, np.newaxis] ^ np.arange(per_row)
    bits = len(places.register)
    held = all_values([*places.register, *places.lane])
    distinct, first = np.unique(held, return_index=True)
    location = first[np.searchsorted(distinct, offsets)]
    addresses = padded(firsts, places.padding) * size
    return Copy(addresses, offsets, location >> bits, location & (1 << bits) - 1)
