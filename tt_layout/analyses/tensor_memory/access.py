"""Messages between registers and tensor memory, and copies to it, as the compiler emits them.

A message (``tcgen05.ld``, ``tcgen05.st``) moves a tile of 32-bit cells, repeated along the
columns.  Its *shape* fixes the cells of registers and lanes:

    ==========  ==============================================================================
    shape       tile of one warp, for one repeat
    ==========  ==============================================================================
    32x32b      32 rows by 1 column: a lane for each row
    16x64b      16 rows by 2 columns
    16x128b     16 rows by 4 columns, two registers: rows 8 apart
    16x256b     16 rows by 8 columns, four registers: neighbours, and rows 8 apart
    16x32bx2    16 rows by 1 column, twice, at a distance given in the message
    ==========  ==============================================================================

A register layout can be loaded or stored if the map from registers, lanes and warps to rows and
columns begins with one of these tiles, and no other basis moves within it.  Elements smaller than a
cell are packed if a thread holds neighbours, or take a cell each (``pack::16b``).

One thread issues the copies from shared memory, ``tcgen05.cp``.  Scales are copied in blocks of 32
rows by 128 bits, which all four groups of 32 rows of tensor memory receive.  Other tensors are
copied in pieces of 128 rows by 256 bits, or 128 bits if there are no more; if groups of rows hold
the same data, a piece has fewer rows and is multicast.

Source:
    PTX ISA, "tcgen05 data movement shapes" and "tcgen05.cp"; Triton,
    lib/Dialect/TritonNvidiaGPU/IR/TensorMemoryUtils.cpp, lowerTMemLdSt, and
    third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/TensorMemoryToLLVM.cpp, getTMemCopyAtom and
    copyScales.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from math import prod
from operator import or_

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two, log2
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass

Cell = tuple[int, int]
"""Row and column of tensor memory."""

CELL_BITS = 32
MAX_REGISTERS = 256  # of a thread, where the kernel sets no limit
WARP_ROW_BITS = 5  # each warp of four reaches 32 of the 128 rows
GROUP: tuple[Cell, ...] = ((32, 0), (64, 0))
"""The cells that bits 0 and 1 of the warp lead to."""


ROWS_OF_8 = ((1, 0), (2, 0), (4, 0))

BLOCK_BITS = 32 * 128  # of scales
GROUP_BITS = (5, 6)  # bits of the row that determine the group of 32 rows
PIECES = {
    (False, False): (128, ""),
    (True, False): (64, ".warpx2::02_13"),
    (False, True): (64, ".warpx2::01_23"),
    (True, True): (32, ".warpx4"),
}
"""Whether rows 32, and rows 64 apart hold the same -> rows of a piece, and how it is multicast."""


@dataclass(frozen=True)
class Tile:
    """Tile of a message of one repeat.

    Attributes:
        shape: its name in assembly.
        register, lane: the cells of single bits.
        columns: columns of one repeat.
    """

    shape: str
    register: tuple[Cell, ...]
    lane: tuple[Cell, ...]
    columns: int


TILES = (
    Tile("32x32b", (), (*ROWS_OF_8, (8, 0), (16, 0)), 1),
    Tile("16x256b", ((0, 1), (8, 0)), ((0, 2), (0, 4), *ROWS_OF_8), 8),
    Tile("16x64b", (), ((8, 0), (0, 1), *ROWS_OF_8), 2),
    Tile("16x128b", ((8, 0),), ((0, 1), (0, 2), *ROWS_OF_8), 4),
)
"""The shapes that one message covers, in the order in which they are tried."""

HALVES = Tile("16x32bx2", (), (*ROWS_OF_8, (8, 0)), 1)
"""The shape of two halves; they differ in lane bit 4."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """The messages of an access to tensor memory.

    Attributes:
        is_store: whether registers go to tensor memory.
        shape: the shape, such as ``32x32b``.
        repeat: number of repeats of the tile along the columns.
        fills_cells: whether each 16-bit element takes a cell, which the message unpacks.
        registers: 32-bit registers per thread that a message moves.
        offsets: first cells of the messages of the first group of four warps, in order.
        half_offset: distance of the second half of ``16x32bx2`` from the first, rows times 65536;
            0 if both are equal.
        reduction: the reduction of a load within each thread, such as ``.min.NaN``.
    """

    is_store: bool
    shape: str
    repeat: int
    fills_cells: bool
    registers: int
    offsets: tuple[Cell, ...]
    half_offset: int | None = None
    reduction: str = ""

    @property
    def messages(self) -> int:
        """Messages per warp."""
        return len(self.offsets)

    @property
    def name(self) -> str:
        """The name of the instruction in assembly."""
        operation, packing = ("st", ".unpack::16b") if self.is_store else ("ld", ".pack::16b")
        what = f"sync.aligned.{self.shape}.x{self.repeat}"
        if self.reduction:
            return f"tcgen05.ld.red.{what}{self.reduction}.f32"
        return f"tcgen05.{operation}.{what}{packing * self.fills_cells}.b32"


def tensor_memory_access(
    register: LinearLayout,
    memory: LinearLayout,
    element_bits: int,
    *,
    is_store: bool,
    max_registers: int = MAX_REGISTERS,
) -> Message:
    """Return the messages of a load from tensor memory, or of a store to it.

    Args:
        register: the register layout of the tensor.
        memory: its layout in tensor memory, which may be larger than the tensor.
        element_bits: width of an element, a power of two up to 32.
        is_store: whether registers go to tensor memory.
        max_registers: maximum registers of a thread of the kernel, or of the partition.

        Raises:
            LayoutError: no message moves such a register layout.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> rows = parse_layout("#ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = "
        ...     "[32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>").to_linear_layout([128, 64])
        >>> memory = parse_layout("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, "
        ...     "colStride = 1>").to_linear_layout([128, 64], element_bits=32)
        >>> message = tensor_memory_access(rows, memory, 32, is_store=False)
        >>> message.messages, message.name
        (1, 'tcgen05.ld.sync.aligned.32x32b.x64.b32')
    """
    return _access(register, memory, element_bits, is_store, max_registers)


@lru_cache(maxsize=1024)
def _access(
    register: LinearLayout,
    memory: LinearLayout,
    element_bits: int,
    is_store: bool,
    max_registers: int,
) -> Message:
    if not is_power_of_two(element_bits) or element_bits > CELL_BITS:
        raise LayoutError(f"elements of {element_bits} bits are not moved to tensor memory")
    packed = _packed(_cells(register, memory), element_bits)
    for tile in TILES:
        match = packed.messages(tile, max_registers)
        if match is not None:
            return packed.as_message(tile, match, is_store=is_store)
    match = packed.messages(HALVES, max_registers)
    if match is None:
        raise LayoutError(
            "no message of tensor memory moves this register layout: lanes and warps must "
            f"hold rows and columns as one of {', '.join(tile.shape for tile in TILES)} does"
        )
    row, column = packed.lane[len(HALVES.lane)]
    return packed.as_message(HALVES, match, is_store=is_store, half_offset=row << 16 | column)


@dataclass(frozen=True)
class _MessageCells:
    """Cells of single hardware bits; registers replicate no element.

    Attributes:
        fills_cells: whether every second column is empty.
    """

    register: tuple[Cell, ...]
    lane: tuple[Cell, ...]
    warp: tuple[Cell, ...]
    fills_cells: bool = False

    def messages(self, tile: Tile, max_registers: int) -> tuple[tuple[Cell, ...], int] | None:
        """Return the repeat of a message, and all registers, those of one message first.

        None if the layout does not begin with the tile.
        """
        registers = max_registers // 2  # with more the compiler fears to spill
        if max_registers == MAX_REGISTERS and 1 << len(self.register) > registers:
            registers //= 2
        match, repeat = None, 1
        while repeat <= registers >> len(tile.register):
            steps = [(0, tile.columns << bit) for bit in range(log2(repeat))]
            ordered = self._beginning_with((*tile.register, *steps), tile.lane)
            if ordered is None:
                break
            match, repeat = (ordered, repeat), 2 * repeat
        return match

    def _beginning_with(
        self, register: tuple[Cell, ...], lane: tuple[Cell, ...]
    ) -> tuple[Cell, ...] | None:
        """Return all registers, these first; None if others move among the cells of these."""
        registers, lanes = tuple(map(self._spread, register)), tuple(map(self._spread, lane))
        rest = list(self.register)
        for cell in registers:
            if cell not in rest:
                return None
            rest.remove(cell)
        rows = reduce(or_, (row for row, _ in (*registers, *lanes, *GROUP)))
        columns = reduce(or_, (column for _, column in (*registers, *lanes)), 0)
        outside = (*rest, *self.lane[len(lanes) :], *self.warp[len(GROUP) :])
        is_free = not any(row & rows or column & columns for row, column in outside)
        return (*registers, *rest) if is_free and self.lane[: len(lanes)] == lanes else None

    def _spread(self, cell: Cell) -> Cell:
        return cell[0], cell[1] << self.fills_cells

    def begins_with(self, neighbours: int, empty: int = 0) -> bool:
        """Tell whether the first registers are adjacent columns that no other bit enters.

        Args:
            neighbours: number of bits of the register.
            empty: number of unused column bits below them.
        """
        adjacent = tuple((0, 1 << empty + bit) for bit in range(neighbours))
        outside = (*self.register[neighbours:], *self.lane, *self.warp)
        mask = (1 << empty + neighbours) - 1
        is_free = not any(column & mask for _, column in outside)
        return self.register[:neighbours] == adjacent and is_free

    def packed(self, neighbours: int, column_bits: int) -> _MessageCells:
        """Merge the registers that share a 32-bit register."""

        def shifted(cells: Iterable[Cell]) -> tuple[Cell, ...]:
            return tuple((row, column >> column_bits) for row, column in cells)

        register = self.register[neighbours:]
        return _MessageCells(shifted(register), shifted(self.lane), shifted(self.warp))

    def spread_out(self) -> _MessageCells:
        """Return the cells with every second column left empty."""

        def spread(cells: Iterable[Cell]) -> tuple[Cell, ...]:
            return tuple((row, column << 1) for row, column in cells)

        return _MessageCells(spread(self.register), spread(self.lane), spread(self.warp), True)

    def as_message(
        self,
        tile: Tile,
        match: tuple[tuple[Cell, ...], int],
        *,
        is_store: bool,
        half_offset: int | None = None,
    ) -> Message:
        """Return the messages of a tile with its registers and repeat."""
        registers, repeat = match
        moved = len(tile.register) + log2(repeat)
        offsets: list[Cell] = [(0, 0)]
        for row, column in registers[moved:]:
            offsets += [(r ^ row, c ^ column) for r, c in offsets]
        return Message(
            is_store=is_store,
            shape=tile.shape,
            repeat=repeat,
            fills_cells=self.fills_cells,
            registers=1 << moved,
            offsets=tuple(offsets),
            half_offset=half_offset,
        )


def _cells(register: LinearLayout, memory: LinearLayout) -> _MessageCells:
    """Return the map from hardware to the rows and columns in the addressing of messages.

    Raises:
        LayoutError: CTAs or warps hold parts of the tensor that they cannot reach.
    """
    composed = register.remove_zero_bases("register").invert_and_compose(memory)
    names = composed.get_out_dim_names()
    row, column = names.index("row"), names.index("col")
    _check_blocks(composed)
    warps = register.vectors("warp")
    if len(warps) < len(GROUP):
        message = f"tensor memory is reached by {1 << len(GROUP)} warps together"
        raise LayoutError(f"{message}, but the layout has {1 << len(warps)}")
    rows = memory.transpose_outs(register.get_out_dim_names()).vectors("row")
    if warps[: len(GROUP)] != rows[WARP_ROW_BITS : WARP_ROW_BITS + len(GROUP)]:
        raise LayoutError("warp bits 0 and 1 must hold rows 32 and 64 of tensor memory")

    def cells(name: str) -> tuple[Cell, ...]:
        return tuple((vector[row], vector[column]) for vector in composed.vectors(name))

    warp = (*GROUP, *cells("warp")[len(GROUP) :])
    return _MessageCells(cells("register"), cells("lane"), warp)


def _check_blocks(composed: LinearLayout) -> None:
    """Raise an error unless each CTA reads its own tensor memory."""
    names = composed.get_out_dim_names()
    at = names.index("block") if "block" in names else None
    for name, vectors in composed.in_bases:
        for bit, vector in enumerate(vectors):
            expected = tuple(1 << bit if k == at else 0 for k in range(len(names)))
            is_local = at is None or not vector[at]
            if vector != expected if name == "block" else not is_local:
                raise LayoutError("registers and tensor memory must have the same CGALayout")


def _packed(cells: _MessageCells, element_bits: int) -> _MessageCells:
    """Return the cells of 32-bit registers, for elements packed as the compiler packs them.

    Raises:
        LayoutError: elements are neither neighbours in registers nor take a cell each.
    """
    while element_bits < CELL_BITS:
        most = log2(CELL_BITS // element_bits)
        neighbours = max(bits for bits in range(most + 1) if not bits or cells.begins_with(bits))
        if not neighbours:
            return _one_for_each_cell(cells, element_bits)
        cells, element_bits = cells.packed(neighbours, neighbours), element_bits << neighbours
    return cells


def _one_for_each_cell(cells: _MessageCells, element_bits: int) -> _MessageCells:
    """Return the cells of registers with one element, or with two that the message unpacks."""
    empty = log2(CELL_BITS // element_bits)
    if element_bits == CELL_BITS // 2 and cells.begins_with(1, empty):
        return cells.packed(1, empty + 1).spread_out()
    if cells.begins_with(0, empty):
        return cells.packed(0, empty)
    raise LayoutError(
        f"elements of {element_bits} bits must be neighbours in the registers of a thread as they "
        f"are in tensor memory, or fill a cell of {CELL_BITS} bits each"
    )


# -- copies from shared memory ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TensorMemoryCopy:
    """The instructions of a copy from shared to tensor memory.

    Attributes:
        rows, column_bits: size of one copy.
        multicast: the groups of rows that receive it, in assembly.
        instructions: number of instructions per CTA.
    """

    rows: int
    column_bits: int
    multicast: str
    instructions: int

    def name(self, ctas: int = 1) -> str:
        """The name of the instruction in assembly.

        Args:
            ctas: number of participating CTAs, 1 or 2.
        """
        group = f"tcgen05.cp.cta_group::{ctas}"
        return f"{group}{self.multicast}.{self.rows}x{self.column_bits}b"


def tensor_memory_copy(
    memory: LinearLayout, shared: LinearLayout, element_bits: int
) -> TensorMemoryCopy:
    """Return the instructions that copy a tensor from shared to tensor memory.

    Args:
        memory: the layout in tensor memory.
        shared: the layout in shared memory.
        element_bits: width of an element.

        Raises:
            LayoutError: the two are of different tensors, or in other memory spaces.
    """
    if "row" not in memory.get_in_dim_names() or "offset" not in shared.get_in_dim_names():
        raise LayoutError("tcgen05.cp copies from shared memory to tensor memory")
    composed = memory.invert_and_compose(shared)
    at = composed.get_out_dim_names().index("offset")
    rows = composed.vectors("row")
    same = (rows[GROUP_BITS[0]][at] == 0, rows[GROUP_BITS[1]][at] == 0)
    height, multicast = PIECES[same]
    bits = composed.get_in_dim_size("col") * element_bits
    width = 256 if not any(same) and bits >= 256 else 128
    return TensorMemoryCopy(
        rows=height, column_bits=width, multicast=multicast, instructions=max(1, bits // width)
    )


def scales_copy(shape: Sequence[int], element_bits: int) -> TensorMemoryCopy:
    """Return the instructions that copy scales from shared to tensor memory.

    Args:
        shape: shape of the scales in shared memory: blocks along M or N, blocks along K, and then
            the block, whose sizes may be merged with those before; a leading 1 is ignored.
        element_bits: width of a scale.

    Example:
        >>> scales_copy([1, 1, 8, 2, 256], 8).instructions
        8
    """
    return TensorMemoryCopy(
        rows=32,
        column_bits=128,
        multicast=".warpx4",
        instructions=prod(_blocks(shape, element_bits)),
    )


def _blocks(shape: Sequence[int], element_bits: int) -> tuple[int, int]:
    """Count the blocks along M or N, and along K."""
    for dim in reversed(range(len(shape))):
        bits = prod(shape[dim:]) * element_bits
        if bits >= BLOCK_BITS:
            if dim == 0:
                return bits // BLOCK_BITS, 1
            if dim == 1:
                return shape[0], bits // BLOCK_BITS
            is_loaded_by_tma = shape[0] == 1 and shape[-1] == 256
            return (shape[1], shape[2]) if is_loaded_by_tma else (shape[0], shape[1])
    return 1, 1
