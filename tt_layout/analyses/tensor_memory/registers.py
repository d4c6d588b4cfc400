"""Register layouts of loads from tensor memory and of stores to it.

Each shape of a message (see `tt_layout.analyses.tensor_memory.access`) gives one layout: its tile,
repeated along the columns, then over the warps, composed with the layout of tensor memory.  The
compiler tries these when it chooses a layout itself; in Gluon ``get_reg_layout`` returns them.

Read next:    `tt_layout.analyses.tensor_memory.access`.

Source:
    Triton, lib/Dialect/TritonNvidiaGPU/IR/Dialect.cpp, getDistributedLayoutForTmemLdSt and
    getTmemLoadLayoutSplitLongM; triton/experimental/gluon/language/_semantic.py,
    _compute_tmem_reg_layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from tt_layout.algebra.linear_layout import Basis, LinearLayout, is_power_of_two, log2
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.tensor_memory.access import (
    CELL_BITS,
    GROUP,
    MAX_REGISTERS,
    TILES,
    Cell,
    Message,
    Tile,
    tensor_memory_access,
)
from tt_layout.errors import LayoutError
from tt_layout.tuples import NamedTuple

WARPS_OF_GROUP = 1 << len(GROUP)
UPPER_ROWS: Cell = (16, 0)
WHOLE = TILES[0]
"""The tile of 32 rows."""


class RegisterLayout(NamedTuple):
    """A register layout that tensor-memory messages can move.

    Attributes:
        variant: the shape of its message, as in Gluon's ``instr_variant``; ``32x32b_splitn`` if
            the last register holds the second half of the columns, unlike that of ``32x32b``;
            ``split_m`` if warps 4 to 7 hold other rows than warps 0 to 3.
        layout: the layout from register, lane, warp and block.
        message: the message of a load; for scales, which are only stored, of a store.
    """

    variant: str
    layout: LinearLayout
    message: Message

    @property
    def registers(self) -> int:
        """Number of 32-bit registers per thread that the messages move."""
        return self.message.registers * self.message.messages


def register_layouts(
    memory: LinearLayout,
    element_bits: int,
    num_warps: int,
    *,
    is_stored_only: bool = False,
    max_registers: int = MAX_REGISTERS,
) -> list[RegisterLayout]:
    """Return the possible layouts of a load from tensor memory, the compiler's default first.

    Args:
        memory: the layout in tensor memory, from row, col and block.
        element_bits: width of an element, a power of two up to 32.
        num_warps: number of participating warps, a power of two of at least 4.
        is_stored_only: whether the tensor is stored and never loaded, like scales.
        max_registers: maximum registers of a thread of the kernel, or of the partition.

        Raises:
            LayoutError: the number of warps or the element width is not supported.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> memory = parse_layout("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, "
        ...     "colStride = 1>").to_linear_layout([128, 64], element_bits=32)
        >>> for layout in register_layouts(memory, 32, 4):
        ...     print(layout.variant, layout.message.messages, layout.message.name)
        32x32b 1 tcgen05.ld.sync.aligned.32x32b.x64.b32
        16x64b 2 tcgen05.ld.sync.aligned.16x64b.x32.b32
        16x128b 2 tcgen05.ld.sync.aligned.16x128b.x16.b32
        16x256b 2 tcgen05.ld.sync.aligned.16x256b.x8.b32
    """
    if not is_power_of_two(num_warps) or num_warps < WARPS_OF_GROUP:
        raise LayoutError(f"the warps must be a power of two of at least 4, got {num_warps}")
    if not is_power_of_two(element_bits) or element_bits > CELL_BITS:
        raise LayoutError(f"elements of {element_bits} bits are not moved to tensor memory")
    layouts = []
    for variant, layout in _variants(memory, element_bits, num_warps):
        try:
            message = tensor_memory_access(
                layout, memory, element_bits, is_store=is_stored_only, max_registers=max_registers
            )
        except LayoutError:
            continue  # the compiler offers it, and cannot lower it
        layouts.append(RegisterLayout(variant, layout, message))
    return layouts


def _variants(
    memory: LinearLayout, element_bits: int, num_warps: int
) -> Iterator[tuple[str, LinearLayout]]:
    for tile in sorted(TILES, key=lambda tile: (tile.columns, tile.shape != WHOLE.shape)):
        layout = layout_for_tile(memory, element_bits, num_warps, tile)
        if layout is not None:
            yield tile.shape, layout
    default = layout_for_tile(memory, element_bits, num_warps, WHOLE)
    if default is None:
        return
    columns = split_columns(default, element_bits)
    if columns is not None and columns != default:
        yield "32x32b_splitn", columns
    rows = split_rows(default)
    if rows is not None:
        yield "split_m", rows


def layout_for_tile(
    memory: LinearLayout, element_bits: int, num_warps: int, tile: Tile
) -> LinearLayout | None:
    """Return the register layout that begins with the tile of a message; None without one.

    Args:
        memory: the layout in tensor memory.
        element_bits: width of an element.
        num_warps: number of participating warps.
        tile: the tile of the message.
    """
    packed = packed_registers(memory, element_bits)
    if packed is None:
        return None
    first, columns = packed
    cells = _ElementCells(memory.vectors("row"), columns)
    spread = cells.spread(tile, num_warps)
    if spread is None:
        return None
    bases = {name: [cells.element(cell) for cell in reached] for name, reached in spread.items()}
    bases["register"] = [*first, *bases["register"]]
    bases["block"] = list(memory.vectors("block"))
    return LinearLayout.from_bases(
        [(name, bases[name]) for name in ("register", "lane", "warp", "block")],
        memory.get_out_dim_names(),
        [size for _, size in memory.out_sizes],
        require_surjective=False,
    )


def split_columns(layout: LinearLayout, element_bits: int) -> LinearLayout | None:
    """Return a layout whose last register holds the second half of the columns.

    In it a tensor can be split in two without data movement.  None if the layout already has this
    property, or no lane or warp can be exchanged for it.

    Args:
        layout: the layout of a 32x32b message.
        element_bits: width of an element.
    """
    half = (0, layout.out_sizes[1][1] // 2)
    register, lane, warp = (list(layout.vectors(name)) for name in ("register", "lane", "warp"))
    if not register:
        if lane[-1] != half:
            return None
        return layout.with_vectors("register", [half]).with_vectors("lane", [*lane[:-1], (0, 0)])
    if register[-1] == half:
        return layout
    if 1 << len(register) <= CELL_BITS // element_bits:
        return None
    for name, vectors, begin in (("lane", lane, 0), ("warp", warp, len(GROUP))):
        if half in vectors[begin:]:
            at = vectors.index(half, begin)
            vectors[at], register[-1] = register[-1], half
            return layout.with_vectors("register", register).with_vectors(name, vectors)
    return None


def split_rows(layout: LinearLayout) -> LinearLayout | None:
    """Return a layout whose warps 4 to 7 hold other rows than warps 0 to 3; None without one.

    In it a reduction along the columns stays within a warp.

    Args:
        layout: the layout of a 32x32b message with 8 warps.
    """
    lane, warp = list(layout.vectors("lane")), list(layout.vectors("warp"))
    if len(warp) != len(GROUP) + 1:
        return None
    for dim in range(layout.num_out_dims):
        first, second, third = (not vector[dim] for vector in warp)
        last = not lane[-1][dim]
        if last != third and first == second == last:
            warp[-1], lane[-1] = lane[-1], warp[-1]
            return layout.with_vectors("lane", lane).with_vectors("warp", warp)
    return None


class _ElementCells(NamedTuple):
    """Elements at the rows and columns of 32-bit cells.

    Attributes:
        rows, columns: their basis vectors.
    """

    rows: Sequence[Basis]
    columns: Sequence[Basis]

    def element(self, cell: Cell) -> Basis:
        """Return the element of a cell, the xor over its bits."""
        bits = [v for axis, basis in zip(cell, self) for k, v in enumerate(basis) if axis >> k & 1]
        rank = len(self.rows[0])
        return reduce(lambda a, b: tuple(x ^ y for x, y in zip(a, b)), bits, (0,) * rank)

    def spread(self, tile: Tile, num_warps: int) -> dict[str, list[Cell]] | None:
        """Return the cells of registers, lanes and warps; None if the tile does not fit."""
        is_whole, lower_only = tile == WHOLE, not any(self.rows[log2(UPPER_ROWS[0])])
        missing = (1 << len(self.columns)) // tile.columns
        if not missing or not self._are_independent(
            [*tile.register, *tile.lane[: len(tile.lane) - is_whole]]
        ):
            return None
        register, lane, warp = list(tile.register), list(tile.lane), list(GROUP)
        takes_upper = not is_whole and not lower_only
        by_warp = takes_upper and num_warps > WARPS_OF_GROUP
        groups = num_warps // WARPS_OF_GROUP >> by_warp
        along = min(missing, groups)
        repeats = missing // along
        steps = [(0, tile.columns << bit) for bit in range(log2(missing))]
        if repeats > 1 and is_whole and lower_only:
            lane = [*tile.lane[:-1], steps[log2(repeats) - 1]]
            register += steps[: log2(repeats) - 1]
        else:
            register += steps[: log2(repeats)]
        if takes_upper:
            (warp if by_warp else register).append(UPPER_ROWS)
        warp += [*steps[log2(repeats) :], *[(0, 0)] * log2(groups // along)]
        return {"register": register, "lane": lane, "warp": warp}

    def _are_independent(self, cells: Sequence[Cell]) -> bool:
        vectors = [self.element(cell) for cell in cells]
        shifts = [sum(vector[d] << 32 * d for d in range(len(vector))) for vector in vectors]
        return F2Span(shifts).rank == len(shifts)


def packed_registers(
    memory: LinearLayout, element_bits: int
) -> tuple[list[Basis], list[Basis]] | None:
    """Return the elements that share a register, and the columns of 32 bits; None without any."""
    columns = list(memory.vectors("col"))
    outside = [*memory.vectors("row"), *memory.vectors("block")]
    while columns and not any(columns[-1]):  # of a tensor smaller than the tiles
        columns.pop()
    register: list[Basis] = []
    while element_bits < CELL_BITS:
        most = log2(CELL_BITS // element_bits)
        taken = _neighbours(columns, outside, len(register), most)
        if taken:
            register, columns = [*register, *columns[:taken]], columns[taken:]
            element_bits <<= taken
            continue
        if not columns:
            break
        if len(columns) < most or any(map(any, columns[:most])):
            return None
        pair = element_bits == CELL_BITS // 2
        if pair and _neighbours(columns[most:], outside, len(register), 1):
            register.append(columns[most])
            most += 1
        columns = columns[most:]
        break
    return register, columns


def _neighbours(columns: Sequence[Basis], outside: Sequence[Basis], below: int, most: int) -> int:
    """Count the column bits that reach neighbours which no other bit enters.

    Args:
        columns, outside: basis vectors of the columns, and of everything else.
        below: bits of the last dimension that are already packed.
        most: maximum number of bits.
    """
    adjacent = 0
    for count in range(1, min(most, len(columns)) + 1):
        mask = (1 << count) - 1 << below
        are_adjacent = all(v == (0, 1 << below + k) for k, v in enumerate(columns[:count]))
        if not are_adjacent or any(vector[-1] & mask for vector in (*columns[count:], *outside)):
            break
        adjacent = count
    return adjacent
