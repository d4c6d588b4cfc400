"""Messages of copies by descriptors, into which the compiler divides a tensor.

NVIDIA's tensor memory accelerator moves one box per message between global and shared memory.  The
CTA's part of the tensor is divided into boxes, whose messages the warps issue in turn.  A gather or
scatter names four rows in each message, and moves the columns of a box.

For gfx1250's tensor data mover a block is cut over the warps along its dimensions, the first as far
as it goes; each warp issues ``tensor_load_to_lds`` or ``tensor_store_from_lds`` for its box.  Over
a partitioned buffer no box reaches from one piece into the next, which may take several
instructions.  Gathers and scatters name up to 8 rows by 32-bit numbers in an instruction, or 16 by
16-bit numbers.  The mover writes a box as one stream of elements; it supports shared layouts with
rows without swizzle, and one interval of padding.

Source:
    PTX ISA, "cp.async.bulk.tensor"; Triton, lib/Dialect/TritonGPU/IR/Dialect.cpp,
    getTMABlockShape, and third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/LoadStoreOpToLLVM.cpp,
    getMsgToPackedOffsetLayout and iterateGatherScatterIndices;
    third_party/amd/lib/TritonAMDGPUToLLVM/TDMUtility.cpp, the verifiers in
    third_party/amd/lib/Dialect/TritonAMDGPU/IR/Dialect.cpp, and third_party/amd/backend/include/
    TDMCommon.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import gcd, prod
from operator import or_

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.encodings.cga import shape_per_cta
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.partitioned_shared import PartitionedShared
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

MAX_PIXELS = 1024  # of a box in im2col mode
ROWS_OF_A_MESSAGE = 4  # that a message of a gather or scatter names

BOX_LIMIT = (1 << 16) - 1
"""The most elements along a dimension of a block."""
ROWS_BY_BITS = {32: 8, 16: 16}
"""Bits of a row's number -> rows that one instruction gathers or scatters."""
DWORD_BITS = 32
LEAST_INTERVAL = 2  # dwords between paddings, at least
MOST_INTERVAL = 256  # dwords, at most
MOST_PADDING = 128  # dwords, at most


# -- the tensor memory accelerator -----------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TmaMessages:
    """The messages that move a tensor.

    Attributes:
        box: the elements that one of them moves, along each dimension.
        messages: number of messages per CTA.
    """

    box: tuple[int, ...]
    messages: int


def tma_messages(
    shared: NvmmaShared, shape: Sequence[int], *, is_im2col: bool = False
) -> TmaMessages:
    """Return the messages that move a tensor between global and shared memory.

    Args:
        shared: the layout in shared memory.
        shape: the sizes of the tensor, or of one of several buffers.
        is_im2col: whether rows are pixels of a convolution, which one message moves.

    Raises:
        LayoutError: the swizzle does not fit into the shape, or there are too many pixels.

    Example:
        >>> shared = NvmmaShared(swizzling_byte_width=128, element_bit_width=16)
        >>> tma_messages(shared, [512, 128])
        TmaMessages(box=(256, 64), messages=4)
        >>> tma_messages(shared, [512, 128], is_im2col=True)
        TmaMessages(box=(512, 64), messages=2)
    """
    sizes = shared.checked_shape(shape)
    per_cta = shape_per_cta(shared.cga, sizes)
    box = list(shared.box(sizes))
    if is_im2col:
        if len(sizes) != 2:
            raise LayoutError(f"im2col needs a matrix of pixels and channels, got {list(sizes)}")
        pixels = 1 if shared.transposed else 0
        box[pixels] = per_cta[pixels]
        if box[pixels] > MAX_PIXELS:
            raise LayoutError(f"im2col takes up to {MAX_PIXELS} pixels per CTA, got {box[pixels]}")
    messages = prod(size // part for size, part in zip(per_cta, box))
    return TmaMessages(box=tuple(box), messages=messages)


def gather_messages(
    shared: NvmmaShared, shape: Sequence[int], indices: LinearLayout
) -> TmaMessages:
    """Return the messages that gather rows into shared memory, or scatter them from there.

    Args:
        shared: the layout in shared memory.
        shape: rows and columns in shared memory.
        indices: layout of the row indices over registers and warps.

    Raises:
        LayoutError: the swizzle does not fit, or no thread holds the indices of four rows.

    Example:
        >>> shared = NvmmaShared(swizzling_byte_width=128, element_bit_width=16)
        >>> indices = LinearLayout.from_bases(
        ...     [("register", [[1], [2], [16]]), ("lane", [[0]] * 5), ("warp", [[4], [8]])],
        ...     ["dim0"])
        >>> gather_messages(shared, [32, 128], indices)
        TmaMessages(box=(4, 64), messages=16)
    """
    sizes = shared.checked_shape(shape)
    columns = shared.box(sizes)[-1]
    registers = indices.vectors("register")
    if [vector[0] for vector in registers[:2]] != [1, 2]:
        raise LayoutError(
            f"a thread must hold the indices of {ROWS_OF_A_MESSAGE} rows in its first registers"
        )
    masks = indices.get_free_variable_masks()
    if masks["lane"] != indices.get_in_dim_size("lane") - 1:
        raise LayoutError("all lanes of a warp must hold the same indices")
    distinct = prod(
        indices.get_in_dim_size(name) >> masks[name].bit_count() for name in ("register", "warp")
    )
    per_row = shape_per_cta(shared.cga, sizes)[-1] // columns
    return TmaMessages(
        box=(ROWS_OF_A_MESSAGE, columns), messages=distinct // ROWS_OF_A_MESSAGE * per_row
    )


# -- the tensor data mover -------------------------------------------------------------------------


class TdmMessages(NamedTuple):
    """The instructions of a copy, a gather or a scatter.

    Attributes:
        name: their name in assembly.
        instructions: number of instructions per warp.
        box: elements that one of them moves; rows and columns for a gather or scatter.
        warps: number of warps that issue them; the others are inactive.
    """

    name: str
    instructions: int
    box: tuple[int, ...]
    warps: int


def hinted_warps(hint: int, num_warps: int) -> int:
    """Return the number of warps that issue a copy with a hint.

    Args:
        hint: mask with bit n for warp n.
        num_warps: number of all warps, a power of two.

    Raises:
        LayoutError: the numbers of these warps are not all combinations of some bits.

    Example:
        >>> hinted_warps(0b1010, 4)
        2
    """
    warps = [number for number in range(num_warps) if hint >> number & 1]
    differing = reduce(or_, (number ^ warps[0] for number in warps), 0) if warps else 0
    if not warps or hint >> num_warps or len(warps) != 1 << differing.bit_count():
        message = "warp_used_hint must name warps that differ in some bits of their numbers"
        raise LayoutError(f"{message}, in every way, of {num_warps} warps, got {hint:#x}")
    return len(warps)


def tdm_copy(
    shared: Encoding, shape: Sequence[int], element_bits: int, num_warps: int, *, is_store: bool
) -> TdmMessages:
    """Return the instructions of a copy of a block.

    Args:
        shared: the layout of the buffer.
        shape: the sizes of the block of each CTA.
        element_bits: width of an element.
        num_warps: number of participating warps, a power of two.
        is_store: whether the copy goes to global memory.

    Raises:
        LayoutError: the mover does not support it.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> rows = parse_layout("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [128, 64]}>")
        >>> tdm_copy(rows, [128, 64], 16, 4, is_store=False)
        TdmMessages(name='tensor_load_to_lds', instructions=1, box=(32, 64), warps=4)
    """
    _check_block(shared, shape)
    _check_layout(shared, may_be_partitioned=not is_store)
    padding = shared.padding
    if is_store:
        _check_whole_rows(padding, shape[-1])
    elif padding:
        _check_load_padding(padding, element_bits)
    cut, instructions = _cut(shared, shape, num_warps)
    if isinstance(shared, PartitionedShared):
        dim = shared.partition_dim
        sizes = [s // instructions if d == dim else s for d, s in enumerate(shape)]
    else:
        sizes = list(shape)
    box = tuple(-(-size // count) for size, count in zip(sizes, cut))
    name = "tensor_store_from_lds" if is_store else "tensor_load_to_lds"
    return TdmMessages(name, instructions, box, num_warps)


def tdm_rows(
    shared: Encoding,
    shape: Sequence[int],
    indices: LinearLayout,
    index_bits: int,
    *,
    is_scatter: bool,
) -> TdmMessages:
    """Return the instructions of a gather or a scatter of rows.

    Args:
        shared: the layout of the buffer.
        shape: its sizes in each CTA: rows and columns.
        indices: the layout of the numbers of the rows in global memory.
        index_bits: 16 or 32.
        is_scatter: whether the rows go to global memory.

    Raises:
        LayoutError: the mover does not support it.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> rows = parse_layout("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
        ...     "order = [1, 0]}>")
        >>> indices = parse_layout("#ttg.linear<{register = [[1], [2], [4], [8]], lane = [[0], "
        ...     "[0], [0], [0], [0]], warp = [], block = []}>").to_linear_layout([16])
        >>> tdm_rows(rows, [16, 64], indices, 32, is_scatter=False)
        TdmMessages(name='tensor_load_to_lds', instructions=2, box=(8, 64), warps=1)
    """
    if len(shape) != 2:
        raise LayoutError(f"rows are gathered of matrices, got {len(shape)} dimensions")
    _check_block(shared, shape)
    _check_layout(shared, may_be_partitioned=False)
    if is_scatter:
        _check_whole_rows(shared.padding, shape[-1])
    else:
        _check_gather(shared, shape, indices)
    distinct = indices.remove_zero_bases("register")
    registers = distinct.get_in_dim_size("register")
    rows = min(ROWS_BY_BITS[index_bits], _in_order(distinct))
    free = indices.get_free_variable_masks().get("warp", 0)
    warps = indices.get_in_dim_size("warp") >> free.bit_count()
    name = "tensor_store_from_lds" if is_scatter else "tensor_load_to_lds"
    return TdmMessages(name, -(-registers // rows), (rows, shape[-1]), warps)


def _in_order(layout: LinearLayout) -> int:
    """Count the first registers that hold consecutive numbers."""
    count = 1
    for vector in layout.vectors("register"):
        if vector[0] != count:
            break
        count *= 2
    return count


# -- how a block is cut -----------------------------------------------------------------------


def _cut(shared: Encoding, shape: Sequence[int], num_warps: int) -> tuple[list[int], int]:
    """Return the number of warps along each dimension of a block, and of instructions per warp."""
    if isinstance(shared, PartitionedShared):
        return _cut_pieces(shared, shape, num_warps)
    counts = [1] * len(shape)
    left = num_warps
    for dim, size in enumerate(shape):
        while left > 1 and counts[dim] * 2 <= size:
            counts[dim] *= 2
            left //= 2
    counts[-1] *= left
    return counts, 1


def _cut_pieces(
    shared: PartitionedShared, shape: Sequence[int], num_warps: int
) -> tuple[list[int], int]:
    """Return the cut of a partitioned buffer, in which a warp stays within rows of a piece.

    Raises:
        LayoutError: there are fewer warps than buffers.
    """
    dim, last = shared.partition_dim, len(shape) - 1
    pieces = shared.num_partitions * shared.num_groups
    along = gcd(num_warps, pieces)
    instructions, left = -(-pieces // along), num_warps // along
    if instructions > 1 and along < shared.num_partitions:
        message = f"a copy to {shared.num_partitions} buffers needs as many warps"
        raise LayoutError(f"{message}, got {num_warps}")
    while dim != last and left >= 2 and along * 2 <= shape[dim]:
        along, left = along * 2, left // 2
    counts = [along if d == dim else 1 for d in range(len(shape))]
    for other, size in enumerate(shape[:-1]):
        while other != dim and left > 1 and counts[other] * 2 <= size:
            counts[other] *= 2
            left //= 2
    return counts, instructions


# -- what the mover cannot do -------------------------------------------------------------------


def _check_block(shared: Encoding, shape: Sequence[int]) -> None:
    if shared.rank not in (None, len(shape)):
        message = f"#{shared.name} is for {count(shared.rank, 'dimension')}"
        raise LayoutError(f"{message}, but the block {list(shape)} has {len(shape)}")
    if not 1 <= len(shape) <= 5:
        raise LayoutError(f"a block has 1 to 5 dimensions, got {len(shape)}")
    if max(shape) > BOX_LIMIT:
        raise LayoutError(f"a block has at most {BOX_LIMIT} elements along a dimension")


def _check_layout(shared: Encoding, *, may_be_partitioned: bool) -> None:
    """Raise an error unless a buffer has rows without swizzle, padded or not."""
    if isinstance(shared, PartitionedShared) and may_be_partitioned:
        shared = shared.partition_layout
    if isinstance(shared, SwizzledShared):
        if shared.max_phase != 1:
            message = f"the tensor data mover does not swizzle: {shared.key('max_phase')} must be 1"
            raise LayoutError(f"{message}, got {shared.max_phase}")
        return
    if not isinstance(shared, PaddedShared):
        message = "the tensor data mover copies to rows, perhaps padded, not to"
        raise LayoutError(f"{message} #{shared.name}")


def _check_load_padding(padding: Sequence[tuple[int, int]], element_bits: int) -> None:
    [interval, amount] = _only(padding)
    dwords = interval * element_bits // DWORD_BITS
    if not LEAST_INTERVAL <= dwords <= MOST_INTERVAL:
        limits = f"{LEAST_INTERVAL} to {MOST_INTERVAL} dwords"
        raise LayoutError(f"paddings must be {limits} apart, got {dwords}")
    added = amount * element_bits // DWORD_BITS
    if not 1 <= added <= MOST_PADDING:
        raise LayoutError(f"a padding must be 1 to {MOST_PADDING} dwords, got {added}")


def _only(padding: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the only interval of padding, as the mover requires."""
    if len(padding) != 1:
        raise LayoutError(f"the tensor data mover pads at one interval, got {len(padding)}")
    return padding[0]


def _check_whole_rows(padding: Sequence[tuple[int, int]], columns: int) -> None:
    """Raise an error unless padding, which a store skips, follows every row."""
    if padding and _only(padding)[0] != columns:
        message = f"to global memory the padding must follow every row of {columns} elements"
        raise LayoutError(f"{message}, got one every {padding[0][0]}")


def _check_gather(shared: Encoding, shape: Sequence[int], indices: LinearLayout) -> None:
    if shared.padding and shape[-1] % _only(shared.padding)[0]:
        message = f"the interval of the padding must divide a row of {shape[-1]} elements"
        raise LayoutError(f"{message}, got {shared.padding[0][0]}")
    offsets = shared.to_linear_layout(shape).vectors("offset")
    if offsets and not offsets[0][-1] and shape[-1] > 1:
        raise LayoutError("rows are gathered to a buffer whose rows are contiguous")
    if any(map(any, indices.vectors("lane"))):
        message = "the numbers of the rows must be the same in all lanes of a warp"
        raise LayoutError(f"{message}: they are read from scalar registers")
