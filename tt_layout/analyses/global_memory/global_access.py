"""Loads and stores of a tensor in registers from and to global memory.

The tensor is assumed to be contiguous in global memory, in a given order of dimensions, at an
address that is a multiple of 128 bytes.  Then the address of an element is linear in its
coordinates, and so in register and lane: a warp's instruction touches 2^rank sectors, with the rank
of the lane bits above those within a sector.

A thread moves as many adjacent elements at once as it holds, up to 16 bytes, provided that
its fastest dimension is that of memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.conversion.conversion import memory_bytes, without_replication
from tt_layout.analyses.layouts.properties import contiguity_per_thread, order_of
from tt_layout.arguments import checks_arguments
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass

SECTOR_BYTES = 32
LINE_BYTES = 128
MAX_VECTOR_BYTES = 16

MAX_LAYOUTS = 1 << 12
"""Layouts whose facts are kept: variants of a kernel have the same ones again and again."""


@dataclass(frozen=True, kw_only=True)
class GlobalAccess:
    """A global load or store of a whole tensor, with counts per instruction of a warp.

    Attributes:
        memory_order: dimensions of the tensor in memory, the fastest first.
        vector: elements that a thread moves at once.
        vector_bytes: the same in bytes.
        instructions: number of instructions per warp.
        sectors: sectors of 32 bytes that one of them touches.
        lines: lines of 128 bytes that one of them touches.
        ideal_sectors: the minimum of sectors for the data of one of them.
        useful_bytes: bytes of distinct elements that one of them moves.
    """

    memory_order: tuple[int, ...]
    vector: int
    vector_bytes: int
    instructions: int
    sectors: int
    lines: int
    ideal_sectors: int
    useful_bytes: int

    @property
    def efficiency(self) -> float:
        """Share of the bytes of the touched sectors that is requested."""
        return self.useful_bytes / (self.sectors * SECTOR_BYTES)


@checks_arguments
def global_access(
    layout: LinearLayout, element_bits: int, memory_order: Sequence[int] | None = None
) -> GlobalAccess:
    """Return the global-memory access of a tensor in registers.

    Args:
        layout: a layout from ``register``, ``lane``, ``warp`` and ``block``.
        element_bits: width of an element, a power of two.
        memory_order: dimensions in memory, the fastest first; by default the last first.

    Raises:
        LayoutError: the order is not a permutation, or the elements are of an odd width.

    Example:
        >>> import tt_layout
        >>> blocked = tt_layout.parse_layout(
        ...     "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
        ...     "warpsPerCTA = [4, 1], order = [1, 0]}>")
        >>> access = global_access(blocked.to_linear_layout([64, 64]), 16)
        >>> access.vector_bytes, access.instructions, access.sectors, access.lines
        (8, 8, 8, 4)
    """
    distinct = without_replication(layout)
    if element_bits < 1:
        raise LayoutError(f"element_bits must be at least 1, got {element_bits}")
    rank = distinct.num_out_dims
    order = tuple(reversed(range(rank)) if memory_order is None else memory_order)
    if sorted(order) != list(range(rank)):
        message = f"the memory order must be a permutation of 0..{rank - 1}"
        raise LayoutError(f"{message}, got {list(order)}")
    size = memory_bytes(element_bits)
    if size & size - 1:
        raise LayoutError(f"elements of {element_bits} bits have no alignment in memory")
    vector = vector_width(layout, size, order)
    bits = log2(vector)
    lanes = [address(v, distinct, order) for v in distinct.vectors("lane")]
    within = [1 << bit for bit in range(bits)]
    counts = [
        1 << F2Span([a >> log2(max(1, unit // size)) for a in lanes]).rank
        for unit in (SECTOR_BYTES, LINE_BYTES)
    ]
    useful = size << F2Span([*lanes, *within]).rank
    return GlobalAccess(
        memory_order=order,
        vector=vector,
        vector_bytes=vector * size,
        instructions=distinct.get_in_dim_size("register") // vector,
        sectors=counts[0],
        lines=counts[1],
        ideal_sectors=-(-useful // SECTOR_BYTES),
        useful_bytes=useful,
    )


def vector_width(layout: LinearLayout, element_bytes: int, memory_order: Sequence[int]) -> int:
    """Return the vector width of an access, in elements, as the compiler chooses it.

    Source:
        Triton, lib/Analysis/AxisInfo.cpp, ModuleAxisInfoAnalysis::getContiguity.
    """
    if not memory_order or fastest_dimension(layout) != memory_order[0]:
        return 1
    neighbours = neighbours_along(layout, memory_order[0])
    return max(1, min(neighbours, MAX_VECTOR_BYTES // element_bytes))


@lru_cache(maxsize=MAX_LAYOUTS)
def fastest_dimension(layout: LinearLayout, of: str = "register") -> int:
    """Return the dimension that an input follows first, along which accesses vectorize.

    Example:
        >>> fastest_dimension(LinearLayout.from_bases([("register", [[0, 1], [1, 0]])], ["a", "b"]))
        1
    """
    return order_of(layout, of)[0]


@lru_cache(maxsize=MAX_LAYOUTS)
def neighbours_along(layout: LinearLayout, dim: int) -> int:
    """Count the adjacent elements of a thread along a dimension, a limit of its vectors."""
    return contiguity_per_thread(layout)[dim]


def address(point: Sequence[int], layout: LinearLayout, memory_order: Sequence[int]) -> int:
    """Return the offset of an element in memory, in elements."""
    place = shift = 0
    for d in memory_order:
        place |= point[d] << shift
        shift += log2(layout.out_sizes[d][1])
    return place
