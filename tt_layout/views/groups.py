"""Groups of cells with a colour each: warps, lanes, banks, rows, ..."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.colour import COLOURS, colour_step
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.hardware import DEFAULT_TARGET, TARGETS
from tt_layout.placement import PlacedLayout
from tt_layout.surface import argument
from tt_layout.views.cells import Cells

Grouping = Callable[[Cells], Ints]
"""From cells to the number of the group of each of their locations."""

BANKED = TARGETS[DEFAULT_TARGET]
"""The GPU whose banks are meant where none is named."""
SLICE_ROWS = 32  # a warp reaches these rows of tensor memory

CHUNK_BYTES = 16
"""What a lane moves at most at once, and what most swizzles move."""
LINE_CHUNKS = 8

_GROUPS = {
    MemorySpace.REGISTERS: ("warp", "lane", "thread", "register", "block"),
    MemorySpace.SHARED: ("bank", "chunk", "block"),
    MemorySpace.TENSOR: ("warp", "lane", "thread", "register", "block"),
}
_COORDINATES = ("row", "column")
"""Groups of elements, by their last two dimensions."""


def default_grouping(placed: PlacedLayout) -> str:
    """Return the default grouping for the colours of a layout."""
    if placed.is_shared:
        return "chunk"
    if placed.is_distributed and placed.layout.get_in_dim_size("warp") == 1:
        return "lane"
    return "warp"


def check_grouping(placed: PlacedLayout, name: str) -> None:
    """Raise an error if a layout has no such groups.

    Raises:
        LayoutError: it has none, such as banks of registers.
    """
    groups = _GROUPS[placed.memory_space] + _COORDINATES
    if name not in groups:
        message = f"{argument('color_by', name)} does not suit {placed.memory_space}"
        raise LayoutError(f"{message}; it has {', '.join(groups)}")


def grouping(placed: PlacedLayout, name: str, *, of_elements: bool) -> Grouping:
    """Return the function from cells to the indices of their groups.

    Args:
        placed: the layout of the cells; in tensor memory the warp that reaches a row, its lane and
            the register are those of a load of 32 rows.
        name: one of `tt_layout.colour.GROUPINGS`.
        of_elements: whether the cells are in the order of the memory.  A chunk is then that of
            the tensor's row, so that a swizzle is visible in either order.

    Raises:
        LayoutError: the layout has no such groups.
    """
    check_grouping(placed, name)
    if name in _COORDINATES:
        axis = _axis(placed, name)
        return lambda cells: cells.elements[:, axis, np.newaxis]
    if name == "bank":
        size = placed.element_bytes
        return lambda cells: cells.locations["slot"] * size // BANKED.bank_bytes % BANKED.banks
    if name == "chunk":
        size, chunk = placed.element_bytes, chunk_bytes(placed)
        if of_elements:
            axis = fast_axis(placed)
            return lambda cells: cells.elements[:, axis, np.newaxis] * size // chunk % LINE_CHUNKS
        return lambda cells: cells.locations["slot"] * size // chunk % LINE_CHUNKS
    if placed.memory_space is MemorySpace.TENSOR and name != "block":
        return {
            "warp": lambda cells: cells.locations["row"] // SLICE_ROWS,
            "lane": lambda cells: cells.locations["row"] % SLICE_ROWS,
            "thread": lambda cells: cells.locations["row"],
            "register": lambda cells: cells.locations["col"],
        }[name]
    if name == "thread":
        lanes = placed.layout.get_in_dim_size("lane")
        return lambda cells: cells.locations["warp"] * lanes + cells.locations["lane"]
    return lambda cells: cells.locations[name]


def _axis(placed: PlacedLayout, name: str) -> int:
    """Return the dimension of a tensor's rows or columns, the same for rank 1."""
    rank = len(placed.shape)
    return rank - 1 if name == "column" else max(0, rank - 2)


def fast_axis(placed: PlacedLayout) -> int:
    """Return the dimension along which shared memory is contiguous."""
    vectors = dict(placed.layout.in_bases).get("offset", ())
    return next((axis for vector in vectors for axis, step in enumerate(vector) if step), 0)


def chunk_bytes(placed: PlacedLayout) -> int:
    """Return the number of bytes of shared memory that share a colour.

    It is 16, or the unit of the swizzle if that is smaller, or is not a part of a line of banks: a
    swizzle is not visible in larger chunks.
    """
    fast = fast_axis(placed)
    vectors = dict(placed.layout.in_bases).get("offset", ())
    moved = [v[fast] & -v[fast] for v in vectors if v[fast] and any((*v[:fast], *v[fast + 1 :]))]
    if not moved:
        return CHUNK_BYTES
    piece = min(moved) * placed.element_bytes
    is_usual = CHUNK_BYTES <= piece < BANKED.row_bytes
    return CHUNK_BYTES if is_usual else piece


def group_count(placed: PlacedLayout, name: str) -> int:
    """Return the maximum number of groups of a kind."""
    layout = placed.layout
    if name in _COORDINATES:
        return placed.shape[_axis(placed, name)]
    if name in ("bank", "chunk"):
        unit, most = BANKED.bank_bytes, BANKED.banks
        if name == "chunk":
            unit, most = chunk_bytes(placed), LINE_CHUNKS
        return min(most, max(1, math.prod(placed.shape) * placed.element_bytes // unit))
    if placed.memory_space is MemorySpace.TENSOR and name != "block":
        rows, columns = layout.get_in_dim_size("row"), layout.get_in_dim_size("col")
        lanes, warps = min(SLICE_ROWS, rows), -(-rows // SLICE_ROWS)
        return {"warp": warps, "lane": lanes, "thread": rows, "register": columns}[name]
    if name == "thread":
        return layout.get_in_dim_size("lane") * layout.get_in_dim_size("warp")
    return layout.get_in_dim_size(name)


def group_title(placed: PlacedLayout, name: str) -> str:
    """Return the title of groups in a legend, such as ``16-byte chunk``."""
    return f"{chunk_bytes(placed)}-byte chunk" if name == "chunk" else name


def coloured(groups: Ints, count: int) -> Ints:
    """Return the palette indices of a number of groups."""
    return groups * colour_step(count) % COLOURS


def hardware_sizes(placed: PlacedLayout) -> str:
    """Format the sizes of the hardware, such as ``4 warps of 32 lanes``."""
    layout = placed.layout
    blocks = layout.get_in_dim_size("block")
    extra = f", {blocks} blocks" if blocks > 1 else ""
    from tt_layout.wording import count

    if placed.is_distributed:
        warps, lanes, registers = (
            count(layout.get_in_dim_size(name), name) for name in ("warp", "lane", "register")
        )
        return f"{warps} of {lanes} with {registers}{extra}"
    if placed.is_shared:
        elements = math.prod(placed.shape)
        size, banks = placed.element_bytes, BANKED.banks
        return f"{count(elements, 'element')} of {count(size, 'byte')} in {banks} banks{extra}"
    rows, columns = layout.get_in_dim_size("row"), layout.get_in_dim_size("col")
    return f"{count(rows, 'row')} of {count(columns, 'column')}{extra}"
