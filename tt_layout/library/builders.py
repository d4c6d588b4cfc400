"""The layouts that the compiler chooses where a program gives none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tt_layout.analyses.layouts import builders
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError
from tt_layout.library.inputs import Layout, read, type_of, with_width

if TYPE_CHECKING:
    from tt_layout.mlir.types import ShapeOrType
    from tt_layout.releases import Release


def default_blocked(
    shape_or_type: ShapeOrType,
    *,
    num_warps: int = 4,
    threads_per_warp: int = 32,
    size_per_thread: Sequence[int] | None = None,
    order: Sequence[int] | None = None,
    num_ctas: int = 1,
) -> Blocked:
    """Return the blocked layout that the compiler gives a tensor.

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
        >>> default_blocked([16, 64], size_per_thread=[1, 4]).threads_per_warp
        (2, 16)
    """
    return builders.default_blocked(
        type_of(shape_or_type).shape,
        num_warps=num_warps,
        threads_per_warp=threads_per_warp,
        size_per_thread=size_per_thread,
        order=order,
        num_ctas=num_ctas,
    )


def coalesced_blocked(
    shape_or_type: ShapeOrType,
    contiguity: int,
    *,
    num_warps: int = 4,
    threads_per_warp: int = 32,
    order: Sequence[int] | None = None,
) -> Blocked:
    """Return the blocked layout that coalescing gives the pointers of a load or store.

    Args:
        shape_or_type: the tensor of the values; a type, since the width of an element counts.
        contiguity: adjacent and aligned elements known to lie along the fastest dimension.
        num_warps: warps per CTA.
        threads_per_warp: 32, or 64 on AMD's CDNA.
        order: dimensions from the fastest to the slowest in memory; by default the last first.

    Example:
        >>> coalesced_blocked("64x64xf16", 64).size_per_thread
        (1, 8)
    """
    tensor = with_width(shape_or_type)
    options: dict[str, Any] = {"num_warps": num_warps, "threads_per_warp": threads_per_warp}
    return builders.coalesced_blocked(
        tensor.shape, tensor.element_bits or 0, contiguity, order=order, **options
    )


def operand_shared(
    operand: Layout,
    shape_or_type: ShapeOrType,
    *,
    order: Sequence[int] | None = None,
    is_transposed: bool = False,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> SwizzledShared:
    """Return the shared memory through which the compiler takes a dot operand.

    Args:
        operand: its layout in registers, a ``#ttg.dot_op``.
        shape_or_type: the tensor; a type, since the width of an element counts.
        order: dimensions in shared memory, the fastest first; by default the last first.
        is_transposed: whether the operand is read against its order.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        LayoutError: it is another layout, or the order does not suit the shape.

    Example:
        >>> mma = "gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])"
        >>> print(operand_shared(f"gl.DotOperandLayout(0, {mma}, 2)", "64x32xf16"))
        #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
    """
    tensor = with_width(shape_or_type)
    encoding = read(
        operand, tensor, name="<operand>", release=release, threads_per_warp=threads_per_warp
    )
    if not isinstance(encoding, DotOperand):
        raise LayoutError(f"expected a #ttg.dot_op, got #{encoding.name}")
    encoding.check_layout()
    return builders.operand_shared(
        encoding,
        tensor.shape,
        tensor.element_bits or 0,
        order=order,
        need_transposition=is_transposed,
    )


def default_nvmma(
    shape_or_type: ShapeOrType,
    *,
    order: Sequence[int] | None = None,
    fp4_padded: bool = False,
) -> NvmmaShared:
    """Return the shared memory from which wgmma, tcgen05 and TMA read by default.

    Args:
        shape_or_type: the tensor; a type, since the width of an element counts.
        order: dimensions, the fastest first: the last first, or 0 first for transposed.
        fp4_padded: whether packed fp4 is spread out.

    Raises:
        LayoutError: the order does not suit the shape, or fp4 does not.

    Example:
        >>> default_nvmma("64x32xf16").swizzling_byte_width
        64
    """
    tensor = with_width(shape_or_type)
    return builders.default_nvmma(
        tensor.shape, tensor.element_bits or 0, order=order, fp4_padded=fp4_padded
    )
