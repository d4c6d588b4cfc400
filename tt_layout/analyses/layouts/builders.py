"""Default layouts of the compiler.

Source:
    Triton, TritonGPUAttrDefs.td (the builders of BlockedEncodingAttr, SwizzledSharedEncodingAttr
    and NVMMASharedEncodingAttr) and lib/Dialect/TritonGPU/Transforms/CoalesceUtils.cpp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.algebra.tiles import row_major
from tt_layout.arguments import checks_arguments
from tt_layout.encodings import Encoding
from tt_layout.encodings.amd_mfma import AmdMfma
from tt_layout.encodings.amd_wmma import AmdWmma
from tt_layout.encodings.base import Bases
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.cga import bases_of_split, shape_per_cta
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.nvmma_shared import CORE_ROWS, NvmmaShared
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError
from tt_layout.hardware import DEFAULT_TARGET, TARGETS
from tt_layout.mlir.types import ShapeOrType, TensorType, sizes_and_width, sizes_of
from tt_layout.wording import count

BANK_ROW_BITS = 8 * TARGETS[DEFAULT_TARGET].row_bytes
WARP_LANES = TARGETS[DEFAULT_TARGET].lanes
VECTOR_BITS = 8 * TARGETS[DEFAULT_TARGET].max_vector_bytes
NO_SWIZZLE = (1, 1, 1)
"""The parameters vec, perPhase and maxPhase of rows that are not swizzled."""


def clamp(value: int, low: int, high: int) -> int:
    """Clamp a value to ``low..high``."""
    return max(low, min(value, high))


def _checked_order(order: Sequence[int] | None, rank: int) -> list[int]:
    if not rank:
        raise LayoutError("the shape must have at least one dimension, got []")
    if order is None:
        return row_major(rank)
    if sorted(order) != list(range(rank)):
        message = f"order must be a permutation of 0..{rank - 1}, got {list(order)}"
        raise LayoutError(message)
    return list(order)


def _check_powers(name: str, values: Sequence[int]) -> None:
    for value in values:
        if not is_power_of_two(value):
            raise LayoutError(f"{name} must be a power of two, got {value}")


@checks_arguments
def default_blocked(
    shape_or_type: ShapeOrType,
    *,
    num_warps: int = 4,
    threads_per_warp: int = WARP_LANES,
    size_per_thread: Sequence[int] | None = None,
    order: Sequence[int] | None = None,
    num_ctas: int = 1,
) -> Blocked:
    """Return the compiler's default blocked layout of a tensor.

    Along the order, each dimension takes as many threads as it has pieces of
    ``size_per_thread``, lanes before warps; the slowest takes what is left.

    Args:
        shape_or_type: the tensor.
        num_warps: warps per CTA.
        threads_per_warp: 32, or 64 on AMD's CDNA.
        size_per_thread: elements of a thread along each dimension; by default one.
        order: dimensions from the fastest to the slowest; by default the last first.
        num_ctas: CTAs of a cluster.

    Raises:
        LayoutError: a number is not a power of two, or the lists do not suit the shape.

    Example:
        >>> print(default_blocked([16, 64], size_per_thread=[1, 4]))
        #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], \
order = [1, 0]}>
    """
    shape, _ = sizes_of(shape_or_type)
    rank = len(shape)
    order = _checked_order(order, rank)
    size = list(size_per_thread) if size_per_thread is not None else [1] * rank
    if len(size) != rank:
        raise LayoutError(
            f"sizePerThread must have {count(rank, 'number')} for this shape, got {size}"
        )
    _check_powers("every dimension", shape)
    _check_powers("every entry of sizePerThread", size)
    for name, number in (("warps", num_warps), ("lanes", threads_per_warp), ("CTAs", num_ctas)):
        _check_powers(f"the number of {name}", [number])
    cga = _default_ctas(shape, size, order, num_ctas)
    lanes, warps = _dealt_out(shape_per_cta(cga, shape), size, order, threads_per_warp, num_warps)
    return Blocked(
        size_per_thread=tuple(size),
        threads_per_warp=tuple(lanes),
        warps_per_cta=tuple(warps),
        order=tuple(order),
        cga=cga,
    )


def _dealt_out(
    shape: Sequence[int], size: Sequence[int], order: Sequence[int], lanes: int, warps: int
) -> tuple[list[int], list[int]]:
    """Distribute lanes and warps over the dimensions."""
    per_warp, per_cta = [1] * len(shape), [1] * len(shape)
    threads = lanes * warps
    for d in order[:-1]:
        count = clamp(threads, 1, max(1, shape[d] // size[d]))
        per_warp[d] = clamp(count, 1, lanes)
        per_cta[d] = clamp(count // per_warp[d], 1, warps)
        lanes, warps, threads = lanes // per_warp[d], warps // per_cta[d], threads // count
    per_warp[order[-1]], per_cta[order[-1]] = lanes, warps
    return per_warp, per_cta


def _default_ctas(
    shape: Sequence[int], size: Sequence[int], order: Sequence[int], count: int
) -> Bases:
    """Return the bases of ``block``: CTAs split the slowest dimensions first."""
    if count == 1:
        return ()
    split = [1] * len(shape)
    for d in reversed(order):
        split[d] = clamp(count, 1, max(1, shape[d] // size[d]))
        count //= split[d]
    ctas = list(split)
    ctas[-1] *= count
    split_parameters = {"CTAsPerCGA": ctas, "CTASplitNum": split, "CTAOrder": order}
    return bases_of_split({name: tuple(values) for name, values in split_parameters.items()})


@checks_arguments
def coalesced_blocked(
    shape_or_type: ShapeOrType,
    contiguity: int,
    *,
    element_bits: int | None = None,
    num_warps: int = 4,
    threads_per_warp: int = WARP_LANES,
    order: Sequence[int] | None = None,
) -> Blocked:
    """Return the blocked layout that coalescing gives to the pointers of a load or store.

    Args:
        shape_or_type: the tensor of the values.
        contiguity: number of elements known to be contiguous and aligned along the fastest
            dimension.
        element_bits: width of an element, if it is not in a type.
        num_warps: warps per CTA.
        threads_per_warp: 32, or 64 on AMD's CDNA.
        order: dimensions from the fastest to the slowest in memory; by default the last first.

    Raises:
        LayoutError: a number is not a power of two, the order does not suit the shape, or the
            element width is not known.

    Example:
        >>> coalesced_blocked("64x64xf16", 64).size_per_thread
        (1, 8)
    """
    shape, bits = sizes_and_width(shape_or_type, element_bits)
    _check_powers("the contiguity", [contiguity])
    _check_powers("the number of warps", [num_warps])
    _check_powers("the number of lanes", [threads_per_warp])
    _check_powers("every dimension", shape)
    order = _checked_order(order, len(shape))
    fastest = order[0]
    widest = max(1, VECTOR_BITS // max(8, bits))
    share = math.prod(shape) // (num_warps * threads_per_warp)
    size = [1] * len(shape)
    size[fastest] = min(contiguity, shape[fastest], widest, max(1, share))
    return default_blocked(
        shape,
        num_warps=num_warps,
        threads_per_warp=threads_per_warp,
        size_per_thread=size,
        order=order,
    )


@checks_arguments
def shared_of_operand(
    operand: Encoding, tensor: TensorType, order: Sequence[int] | None, is_transposed: bool
) -> SwizzledShared:
    """Return the shared layout of a dot operand; see `tt_layout.operand_shared`."""
    if not isinstance(operand, DotOperand):
        span = operand.origin.attribute if operand.origin else None
        raise LayoutError(f"expected a #ttg.dot_op, got #{operand.name}", span)
    operand.check_layout()
    shape, bits = sizes_and_width(tensor)
    order = _checked_order(order, len(shape))
    _check_powers("every dimension", shape)
    if not is_power_of_two(bits):
        raise LayoutError(f"an element must have a power of two of bits, got {bits}")
    parent = operand.parent
    if isinstance(parent, NvidiaMma):
        swizzle = _nvidia_swizzle(operand, shape[order[0]], order, bits, is_transposed)
    elif isinstance(parent, AmdMfma):
        swizzle = _mfma_swizzle(operand, parent, shape, order, bits, is_transposed)
    elif isinstance(parent, AmdWmma):
        swizzle = _wmma_swizzle(operand, parent, shape, order, bits)
    else:
        swizzle = NO_SWIZZLE
    vec, per_phase, max_phase = swizzle
    return SwizzledShared(vec=vec, per_phase=per_phase, max_phase=max_phase, order=tuple(order))


def _nvidia_swizzle(
    operand: DotOperand, extent: int, order: Sequence[int], bits: int, transposes: bool
) -> tuple[int, int, int]:
    """Return vec, perPhase and maxPhase for ``ldmatrix`` and ``mma``."""
    per_phase = max(BANK_ROW_BITS // (bits * extent), 1)
    vec, stride = 4 * operand.k_width, 4 if bits == 64 else 8
    if transposes:
        vec, stride = stride, vec
    if order[0] != operand.k_dim:
        vec, stride = stride, vec
    max_phase = max(min(stride, BANK_ROW_BITS // (vec * bits)), 1)
    return vec, per_phase, max(max_phase // per_phase, 1)


def _mfma_swizzle(
    operand: DotOperand,
    parent: AmdMfma,
    shape: Sequence[int],
    order: Sequence[int],
    bits: int,
    transposes: bool,
) -> tuple[int, int, int]:
    """Return vec, perPhase and maxPhase for ``ds_read`` before an mfma."""
    k_dim = int((operand.op_idx == 0) != transposes)
    reads_transposed = parent.version == 4 and bits in (8, 16)
    if order[0] != k_dim and not reads_transposed:
        return NO_SWIZZLE
    row = 8 * TARGETS["gfx950" if parent.version == 4 else "gfx942"].row_bytes // bits
    extent, vec = shape[order[0]], operand.k_width
    per_phase = max(1, row // extent)
    max_phase = max(min(16 // per_phase, extent // max(1, vec)), 1)
    return vec, per_phase, 4 if parent.instr_shape[0] == 4 else max_phase


def _wmma_swizzle(
    operand: DotOperand, parent: AmdWmma, shape: Sequence[int], order: Sequence[int], bits: int
) -> tuple[int, int, int]:
    """Return vec, perPhase and maxPhase for ``ds_read`` before a wmma."""
    if order[0] != int(operand.op_idx == 0):
        return NO_SWIZZLE
    vec = max(1, min(operand.k_width * bits, VECTOR_BITS) // bits)
    extent = shape[order[0]]
    per_phase = max(1, BANK_ROW_BITS // bits // extent)
    return vec, per_phase, max(min(parent.instr_shape[0] // per_phase, extent // vec), 1)


@checks_arguments
def default_nvmma(
    shape_or_type: ShapeOrType,
    *,
    element_bits: int | None = None,
    order: Sequence[int] | None = None,
    cga: Bases = (),
    fp4_padded: bool = False,
) -> NvmmaShared:
    """Return the default shared layout for wgmma, tcgen05 and TMA.

    Args:
        shape_or_type: the tensor.
        element_bits: width of an element, if it is not in a type.
        order: dimensions, the fastest first: the last first, or 0 first for transposed.
        cga: bases of the CTAs.
        fp4_padded: whether packed fp4 is padded.

        Raises:
            LayoutError: the order or fp4 does not suit the shape, or the element width is not
                known.

    Example:
        >>> print(default_nvmma("64x32xf16"))
        #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
    """
    shape, bits = sizes_and_width(shape_or_type, element_bits)
    order = _checked_order(order, len(shape))
    _check_powers("every dimension", shape)
    rank = len(shape)
    for basis in cga:
        if len(basis) != rank:
            raise LayoutError(
                f"a basis of cga must have {count(rank, 'number')}, got {list(basis)}"
            )
    extent = shape_per_cta(cga, shape)
    row = extent[order[0]] * (2 if fp4_padded else 1) * bits // 8
    width = next((w for w in (128, 64, 32) if row >= w and row % w == 0), 0)
    if rank < 2 or math.prod(extent[d] for d in order[1:]) < CORE_ROWS:
        width = 0
    if fp4_padded and (width, bits) != (128, 8):
        message = "fp4Padded needs 8-bit elements, and rows of whole 128 bytes once spread out"
        raise LayoutError(f"{message}, got rows of {row}")
    return NvmmaShared(
        swizzling_byte_width=width,
        transposed=rank > 1 and order[0] == 0,
        element_bit_width=bits,
        fp4_padded=fp4_padded,
        cga=cga,
        rank_key=None if rank == 2 or cga else rank,
    )
