"""Attributes with parameters that equal a layout of bases over one shape.

Each family proposes candidates, with the parameters that the bases determine; the first whose bases
over the shape are equal is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.encodings.amd_mfma import AmdMfma
from tt_layout.encodings.amd_wmma import AmdWmma
from tt_layout.encodings.base import Bases, Shape
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.instruction_tiles import MFMA_RUNS, WMMA_INSTRUCTIONS
from tt_layout.encodings.linear import GenericLinear, Linear
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.shared_linear import SharedLinear
from tt_layout.encodings.slice import Slice
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError
from tt_layout.placement import alignment_of

MAX_RANK = 4  # dimensions of which every order is tried
WARP_LANES = 32  # of a warp that works on an nvidia_mma or an amd_wmma
WAVE_LANES = 64  # of one that works on an amd_mfma
MFMA_SHAPES = ((32, 32, 8), (16, 16, 16), (64, 4, 4), (4, 64, 4))
"""Instructions of CDNA, whose K is that of 16-bit elements; the layout does not depend on it."""

WGMMA_COLUMNS = (8, 16, 32, 64, 128, 256)
SWIZZLE_BYTES = (0, 32, 64, 128)
CORE_BITS = (8, 16, 32, 64)
"""Of elements of core matrices."""

MFMA_TILES = ((), (1, 2), (2, 1), (2, 2))
"""Tiles of a warp side by side."""

K_WIDTHS: dict[type[Encoding], tuple[int, ...]] = {
    NvidiaMma: (1, 2, 4),
    AmdMfma: (4, 8, 16),
    AmdWmma: (8, 16, 4, 2),
}
"""Elements side by side of an operand; of `nvidia_mma` those of a word where that is known."""


def shortest(encoding: Encoding, shape: Shape, element_bits: int | None = None) -> Encoding:
    """Return the attribute with parameters that equals a layout of bases over a shape.

    A layout without such an attribute, or not given by bases, is returned unchanged; so is a shared
    layout whose alignment the attribute would not keep.

    Args:
        encoding: the layout.
        shape: shape of the tensor, in elements.
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
    vectors = wanted.vectors("block")
    if any(sum(map(bool, vector)) > 1 for vector in vectors):
        return encoding
    splits = [1 << sum(bool(vector[d]) for vector in vectors) for d in range(len(shape))]
    parts = [max(1, size // count) for size, count in zip(shape, splits)]
    if any(step % part for vector in vectors for step, part in zip(vector, parts)):
        return encoding
    # in units of a CTA's part
    cga = tuple(tuple(step // part for step, part in zip(v, parts)) for v in vectors)
    is_shared = isinstance(encoding, SharedLinear)
    candidates = (
        _shared(wanted, shape, element_bits) if is_shared else _distributed(wanted, element_bits)
    )
    for candidate in candidates:
        split = _over_ctas(candidate, cga)
        try:
            layout = split.to_linear_layout(shape, element_bits=element_bits)
        except LayoutError:
            continue
        if is_shared and alignment_of(split) < alignment_of(encoding):
            continue
        if layout == wanted:
            return split
    return encoding


def _over_ctas(candidate: Encoding, cga: Bases) -> Encoding:
    """Return a candidate distributed over the CTAs of a cluster."""
    if not cga:
        return candidate
    if isinstance(candidate, DotOperand):
        return replace(candidate, parent=_over_ctas(candidate.parent, cga))
    if isinstance(candidate, Slice):
        wide = tuple((*basis[: candidate.dim], 0, *basis[candidate.dim :]) for basis in cga)
        return replace(candidate, parent=_over_ctas(candidate.parent, wide))
    fields: dict[str, Any] = {"cga": cga}
    return replace(candidate, **fields)


def _shared(wanted: LinearLayout, shape: Shape, element_bits: int | None) -> Iterator[Encoding]:
    """Yield swizzles of a buffer, the plain ones first, and core matrices."""
    vectors = wanted.vectors("offset")
    for order in permutations(reversed(range(len(shape)))):
        inner = order[0]
        moves = [
            (vector[order[1]], vector[inner])
            for vector in vectors
            if len(order) > 1 and vector[order[1]] and vector[inner]
        ]
        yield SwizzledShared(
            vec=min((column for _, column in moves), default=1),
            per_phase=min((row for row, _ in moves), default=1),
            max_phase=1 << len(moves),
            order=order,
        )
    if element_bits in CORE_BITS:
        for width, transposed in product(SWIZZLE_BYTES, (False, True)):
            yield NvmmaShared(
                swizzling_byte_width=width,
                element_bit_width=element_bits,
                transposed=transposed,
                rank_key=len(shape) if len(shape) != 2 else None,
            )


def _distributed(wanted: LinearLayout, element_bits: int | None) -> Iterator[Encoding]:
    """Yield blocked layouts, accumulators and operands of matrix instructions."""
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
        yield from _with_operands(_wave_accumulators(1 << len(warps)), K_WIDTHS[AmdMfma])
    if rank == 2 and 1 << len(lanes) == WARP_LANES:
        widths = (32 // element_bits,) if element_bits in (8, 16, 32) else K_WIDTHS[NvidiaMma]
        yield from _with_operands(_accumulators(1 << len(warps)), widths)
        yield from _with_operands(_wmma_accumulators(wanted), K_WIDTHS[AmdWmma])


def _with_operands(accumulators: Iterator[Any], widths: tuple[int, ...]) -> Iterator[Encoding]:
    """Yield accumulators, then the operands of their instructions."""
    parents = tuple(accumulators)
    yield from parents
    for parent, operand, width in product(parents, (0, 1), widths):
        yield DotOperand(op_idx=operand, parent=parent, k_width=width)


def _slices(
    wanted: LinearLayout, sizes: list[int], threads: list[int], ctas: list[int]
) -> Iterator[Encoding]:
    """Yield slices of blocked layouts, with lanes and warps repeated along the sliced dimension."""
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
    """Yield the accumulator layouts of ``mfma``, those with one tile per warp first."""
    for tiles, bits in product(MFMA_TILES, MFMA_RUNS):
        for rows in reversed(_powers(warps)):
            for shape, is_transposed in product(MFMA_SHAPES, (False, True)):
                yield AmdMfma(
                    version=3,
                    warps_per_cta=(rows, warps // rows),
                    instr_shape=shape,
                    is_transposed=is_transposed,
                    tiles_per_warp=tiles,
                    element_bit_width=bits,
                )


def _wmma_accumulators(wanted: LinearLayout) -> Iterator[AmdWmma]:
    """Yield the accumulator layouts of ``wmma``, those with the fewest bases first.

    The warps, and the registers that go through tiles before the rest repeats, are taken from the
    layout, in units of tiles.
    """
    for version, is_transpose in product(WMMA_INSTRUCTIONS, (False, True)):
        instructions = {shape[:2]: shape for shape in reversed(WMMA_INSTRUCTIONS[version])}
        for shape in instructions.values():
            rows, columns = shape[1::-1] if is_transpose else shape[:2]
            moves = [v for v in wanted.vectors("register") if v[0] >= rows or v[1] >= columns]
            warps = _tiles(wanted.vectors("warp"), rows, columns)
            walks = _tiles(moves, rows, columns)
            if warps is None or walks is None:
                continue
            for count in range(len(walks) + 1):
                yield AmdWmma(
                    version=version,
                    is_transpose=is_transpose,
                    cta_layout=(walks[:count], _filled(warps)),
                    instr_shape=shape,
                )


def _filled(warps: Bases) -> Bases:
    """Return bases of warps, those that repeat an operand placed along its other dimension."""
    across = 1 if any(row for row, _ in warps) or not any(map(any, warps)) else 0
    step = 1 << max(vector[across].bit_length() for vector in (*warps, (0, 0)))
    filled = []
    for vector in warps:
        if not any(vector):
            vector = (0, step) if across else (step, 0)
            step *= 2
        filled.append(vector)
    return tuple(filled)


def _tiles(vectors: Any, rows: int, columns: int) -> Bases | None:
    """Return vectors in units of tiles; None if one ends inside a tile."""
    if any(row % rows or column % columns for row, column in vectors):
        return None
    return tuple((row // rows, column // columns) for row, column in vectors)


def _accumulators(warps: int) -> Iterator[NvidiaMma]:
    """Yield the accumulator layouts of ``mma.sync`` and ``wgmma``."""
    for rows in reversed(_powers(warps)):
        per_cta = (rows, warps // rows)
        yield NvidiaMma(
            version_major=2, version_minor=0, warps_per_cta=per_cta, instr_shape=(16, 8)
        )
        if rows % 4 == 0:
            for columns in WGMMA_COLUMNS:
                yield NvidiaMma(
                    version_major=3,
                    version_minor=0,
                    warps_per_cta=per_cta,
                    instr_shape=(16, columns, 16),
                )


def _neighbours(layout: LinearLayout, dim: int) -> int:
    """Return the number of elements along a dimension that are consecutive in registers."""
    size = 1
    for vector in sorted(layout.vectors("register"), key=lambda vector: vector[dim]):
        if vector[dim] == size and not any(v for d, v in enumerate(vector) if d != dim):
            size *= 2
    return size


def _powers(most: int) -> list[int]:
    """Return the powers of two up to a number."""
    return [1 << bit for bit in range(max(1, most).bit_length())]
