"""Attributes with parameters that are the same layout as one of bases, over one shape."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.encodings.amd_mfma import AmdMfma
from tt_layout.encodings.base import Shape
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.linear import GenericLinear, Linear
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.shared_linear import SharedLinear
from tt_layout.encodings.slice import Slice
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError
from tt_layout.notation.checking import differing

MAX_RANK = 3  # dimensions of which every order is tried
WARP_LANES = 32  # of a warp that works on an nvidia_mma
WAVE_LANES = 64  # of one that works on an amd_mfma


def shortest(encoding: Encoding, shape: Shape, element_bits: int | None = None) -> Encoding:
    """Return the attribute with parameters that is a layout of bases over a shape.

    A layout without such an attribute, and any other than one of bases, is returned itself.

    Args:
        encoding: the layout.
        shape: of the tensor, in elements.
        element_bits: width of an element.

    Example:
        >>> import tt_layout
        >>> bases = tt_layout.parse_layout("#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 1], "
        ...     "[2, 2]]}, alignment = 16>")
        >>> print(shortest(bases, (4, 4)))
        #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>
    """
    if not isinstance(encoding, (Linear, GenericLinear, SharedLinear)) or len(shape) > MAX_RANK:
        return encoding
    wanted = encoding.to_linear_layout(shape, element_bits=element_bits)
    is_shared = isinstance(encoding, SharedLinear)
    candidates = _swizzled(wanted, shape) if is_shared else _distributed(wanted, element_bits)
    for candidate in candidates:
        try:
            layout = candidate.to_linear_layout(shape, element_bits=element_bits)
        except LayoutError:
            continue
        if differing(wanted, layout) is None:
            return candidate
    return encoding


def _swizzled(wanted: LinearLayout, shape: Shape) -> Iterator[Encoding]:
    """Yield swizzles of a buffer, the plain ones first."""
    if len(shape) < 2 or any(map(any, wanted.vectors("block"))):
        return
    for order in permutations(reversed(range(len(shape)))):
        row = shape[order[0]]
        for vec in _powers(row):
            for phases in _powers(row // vec):
                for per_phase in _powers(shape[order[1]] if phases > 1 else 1):
                    yield SwizzledShared(
                        vec=vec, per_phase=per_phase, max_phase=phases, order=order
                    )


def _distributed(wanted: LinearLayout, element_bits: int | None) -> Iterator[Encoding]:
    """Yield blocked layouts, accumulators and operands of matrix instructions."""
    if any(map(any, wanted.vectors("block"))):
        return
    lanes, warps = wanted.vectors("lane"), wanted.vectors("warp")
    rank = wanted.num_out_dims
    threads = [2 ** sum(bool(vector[d]) for vector in lanes) for d in range(rank)]
    ctas = [2 ** sum(bool(vector[d]) for vector in warps) for d in range(rank)]
    sizes = [_neighbours(wanted, d) for d in range(rank)]
    for order in permutations(reversed(range(rank))):
        yield Blocked(
            size_per_thread=tuple(sizes),
            threads_per_warp=tuple(threads),
            warps_per_cta=tuple(ctas),
            order=order,
        )
    yield from _slices(wanted, sizes, threads, ctas)
    if rank == 2 and 1 << len(lanes) == WAVE_LANES:
        for accumulator in _wave_accumulators(1 << len(warps)):
            yield accumulator
            for operand in (0, 1):
                yield from (
                    DotOperand(op_idx=operand, parent=accumulator, k_width=k) for k in (4, 8, 16)
                )
    if rank != 2 or 1 << len(lanes) != WARP_LANES:
        return
    for parent in _accumulators(1 << len(warps)):
        yield parent
        for operand in (0, 1):
            widths = [32 // element_bits] if element_bits in (8, 16, 32) else [1, 2, 4]
            yield from (DotOperand(op_idx=operand, parent=parent, k_width=k) for k in widths)


def _slices(
    wanted: LinearLayout, sizes: list[int], threads: list[int], ctas: list[int]
) -> Iterator[Encoding]:
    """Yield slices of blocked layouts, along whose lost dimension lanes and warps repeat."""
    rank = wanted.num_out_dims + 1
    lanes, warps = (
        1 << sum(not any(vector) for vector in wanted.vectors(name)) for name in ("lane", "warp")
    )
    if lanes * warps == 1 or rank > MAX_RANK:
        return
    for dim in reversed(range(rank)):
        size, thread, cta = (
            (*counts[:dim], lost, *counts[dim:])
            for counts, lost in ((sizes, 1), (threads, lanes), (ctas, warps))
        )
        for order in permutations(reversed(range(rank))):
            parent = Blocked(
                size_per_thread=size, threads_per_warp=thread, warps_per_cta=cta, order=order
            )
            yield Slice(dim=dim, parent=parent)


def _wave_accumulators(warps: int) -> Iterator[AmdMfma]:
    """Yield the layouts of the accumulators of ``mfma``."""
    for rows in reversed(_powers(warps)):
        for shape in ((32, 32, 8), (16, 16, 16)):
            for is_transposed in (False, True):
                yield AmdMfma(
                    version=3,
                    warps_per_cta=(rows, warps // rows),
                    instr_shape=shape,
                    is_transposed=is_transposed,
                )


def _accumulators(warps: int) -> Iterator[NvidiaMma]:
    """Yield the layouts of the accumulators of ``mma.sync`` and ``wgmma``."""
    for rows in reversed(_powers(warps)):
        per_cta = (rows, warps // rows)
        yield NvidiaMma(
            version_major=2, version_minor=0, warps_per_cta=per_cta, instr_shape=(16, 8)
        )
        if rows % 4 == 0:
            for columns in (8, 16, 32, 64, 128, 256):
                yield NvidiaMma(
                    version_major=3,
                    version_minor=0,
                    warps_per_cta=per_cta,
                    instr_shape=(16, columns, 16),
                )


def _neighbours(layout: LinearLayout, dim: int) -> int:
    """Return how many elements along a dimension follow each other in the registers."""
    size = 1
    for vector in sorted(layout.vectors("register"), key=lambda vector: vector[dim]):
        if vector[dim] == size and not any(v for d, v in enumerate(vector) if d != dim):
            size *= 2
    return size


def _powers(most: int) -> list[int]:
    """Return the powers of two up to a number."""
    return [1 << bit for bit in range(max(1, most).bit_length())]
