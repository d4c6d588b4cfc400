"""Where elements lie, element by element, from the definitions alone.

Nothing of the package is used here, and no linear algebra: these are the formulas that the
documents give for what Triton 3.9.0 prints no layout of.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Element = tuple[int, ...]
Pairs = Sequence[tuple[int, int]]


def elements(shape: Sequence[int]) -> Iterator[Element]:
    return itertools.product(*map(range, shape))


def in_order(element: Sequence[int], shape: Sequence[int], order: Sequence[int]) -> int:
    """Return the position of an element where ``order`` lists dimensions, fastest first."""
    position, stride = 0, 1
    for d in order:
        position += element[d] * stride
        stride *= shape[d]
    return position


# -- padding --------------------------------------------------------------------------------


def padded_position(index: int, pairs: Pairs) -> int:
    """Count the slots in front of an element, one element after the other."""
    position = 0
    for earlier in range(1, index + 1):
        position += 1 + sum(pad for interval, pad in pairs if earlier % interval == 0)
    return position


def padded_size(count: int, pairs: Pairs) -> int:
    """Return the slots of ``count`` elements; padding after the last one is not counted."""
    size = count
    for interval, pad in pairs:
        size += count // interval * pad
        size -= pad if count % interval == 0 else 0
    return size


# -- swizzles -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Swizzle:
    """Parameters of a swizzle; ``order`` lists the dimensions, fastest first."""

    vec: int
    per_phase: int
    max_phase: int
    order: Sequence[int]

    def phase(self, row: int) -> int:
        return row // self.per_phase % self.max_phase

    def rotated_phase(self, row: int) -> int:
        block = row // (self.per_phase * self.max_phase) % self.max_phase
        return self.phase(row) ^ block


def moved(column: int, phase: int, vec: int, columns: int) -> int:
    """Exchange the vectors of a row as its phase says."""
    vector, within = divmod(column, vec)
    if vec > columns:
        return column
    return ((vector ^ phase) * vec + within) % columns


def swizzled_offset(element: Element, shape: Sequence[int], swizzle: Swizzle) -> int:
    column, row = swizzle.order[:2]
    place = list(element)
    phase = swizzle.phase(element[row])
    place[column] = moved(element[column], phase, swizzle.vec, shape[column])
    return in_order(place, shape, swizzle.order)


def rotating_offset(
    element: Element, shape: Sequence[int], extent: Sequence[int], swizzle: Swizzle
) -> int:
    """Return the offset of an element of a CTA that holds ``extent`` of ``shape``.

    The rows are as long as those of the whole tensor; what other CTAs hold stays unused.
    """
    column, row = swizzle.order[:2]
    place = list(element)
    phase = swizzle.rotated_phase(element[row])
    place[column] = moved(element[column], phase, swizzle.vec, extent[column])
    return in_order(place, shape, swizzle.order)


def leading_offset(element: Element, shape: Sequence[int], swizzle: Swizzle) -> int:
    """Return the offset under ``hasLeadingOffset``: core matrices of 8 rows, column by column."""
    column, row, *further = swizzle.order
    width = swizzle.vec * swizzle.max_phase
    tile_row, r = divmod(element[row], 8)
    tile_column, c = divmod(element[column], width)
    within = r * width + moved(c, swizzle.phase(r), swizzle.vec, width)
    outer = [(element[d], shape[d]) for d in further]
    outer += [(tile_row, shape[row] // 8), (tile_column, shape[column] // width)]
    offset, stride = within, 8 * width
    for index, count in outer:
        offset += index * stride
        stride *= count
    return offset


# -- CTAs -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Triple:
    """The arrangement of CTAs in the spelling of 2.2 to 3.5; ``order`` has the fastest first."""

    per_cga: Sequence[int]
    split: Sequence[int]
    order: Sequence[int]

    def start(self, cta: int, shape: Sequence[int]) -> Element:
        """Return the first element of a CTA."""
        start = [0] * len(shape)
        for d in self.order:
            cta, index = divmod(cta, self.per_cga[d])
            start[d] = index % self.split[d] * (shape[d] // self.split[d])
        return tuple(start)


# -- partitions -----------------------------------------------------------------------------


def partitioned_place(
    element: Element, shape: Sequence[int], dim: int, partitions: int, groups: int
) -> tuple[Element, list[int], int, int]:
    """Return the element within its piece, the piece's shape, its partition and its group."""
    piece_shape = [
        size // (partitions * groups) if d == dim else size for d, size in enumerate(shape)
    ]
    piece, within = divmod(element[dim], piece_shape[dim])
    local = tuple(within if d == dim else x for d, x in enumerate(element))
    return local, piece_shape, piece % partitions, piece // partitions


# -- tensor memory --------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorMemoryTile:
    """Parameters of a tensor-memory layout over one CTA's part of a tensor."""

    block_m: int
    block_n: int
    col_stride: int
    two_ctas: bool
    fp4_padded: bool

    def cell(self, i: int, j: int, rows: int, columns: int) -> tuple[int, int]:
        """Return the row and the column of the cell that holds element (i, j)."""
        n = min(self.block_n, columns)
        if self.block_m == 128:
            row, tile = i % 128, (128, n)
            within = j % n
        elif self.two_ctas:
            row, tile = i % 64 + 64 * (j % n >= n // 2), (64, n)
            within, n = j % (n // 2), n // 2
        else:
            row, tile = self._halved(i, j, n, rows, columns)
            within = j % n
        repeat = i // tile[0] + rows // tile[0] * (j // tile[1])
        step = self.col_stride * (2 if self.fp4_padded else 1)
        return row, step * (within + n * repeat)

    def _halved(
        self, i: int, j: int, n: int, rows: int, columns: int
    ) -> tuple[int, tuple[int, int]]:
        """Return the row, and the tile, where 16 rows of each 32-row slice hold a tile."""
        slice_row = i % 16 + 32 * (i // 16 % 4)
        if rows > 64:
            return slice_row + 16 * (i // 64 % 2), (128, n)
        if columns > n:
            return slice_row + 16 * (j // n % 2), (64, 2 * n)
        return slice_row, (64, n)


def scale_cell(i: int, j: int, rows: int, columns: int, k_first: bool) -> tuple[int, int]:
    """Return the first row, of four, and the column of scale (i, j)."""
    blocks = math.ceil(rows / 64)
    column, stride = j % 4 + 4 * (i // 32 % 2), 8
    if blocks > 1:
        column, stride = column + 8 * (i // 64 % 2), 16
    along_mn, count_mn = i // 128, max(1, blocks // 2) if blocks > 1 else 1
    along_k, count_k = j // 4, math.ceil(columns / 4)
    if k_first:
        return i % 32, column + stride * (along_k + count_k * along_mn)
    return i % 32, column + stride * (along_mn + count_mn * along_k)


# -- Volta ----------------------------------------------------------------------------------


def volta_element(
    register: int, lane: int, warp: int, minor: int, warps: tuple[int, int], shape: Sequence[int]
) -> Element:
    """Return the element of mma version 1: quads of lanes side by side, pairs of columns."""
    is_a_row, is_b_row = bool(minor & 1), bool(minor & 2)
    is_a_vec4, is_b_vec4 = bool(minor & 4), bool(minor & 8)
    p0 = 1 if is_a_row or is_a_vec4 else 2
    p1 = 2 if is_b_row and not is_b_vec4 else 1
    row = lane % 2 + lane // 4 % 2 * 4 * p0 + lane // 16 * 8 * p0 + warp % warps[0] * 16 * p0
    column = lane // 2 % 2 * 2 + lane // 8 % 2 * 4 * p1 + warp // warps[0] * 16 * p1
    steps_m = [(2, 2), (4, p0), (16 * p0 * warps[0], shape[0] // (16 * p0 * warps[0]))]
    steps_n = [(1, 2), (8 * p1, 2), (4, p1), (16 * p1 * warps[1], shape[1] // (16 * p1 * warps[1]))]
    for step, count in steps_m:
        register, index = divmod(register, count)
        row += index * step
    for step, count in steps_n:
        register, index = divmod(register, count)
        column += index * step
    return row, column
