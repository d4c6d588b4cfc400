"""Groups of hardware locations, each with a colour of its own: warps, lanes, banks, ..."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tt_layout.algebra.arrays import Ints
from tt_layout.errors import LayoutError
from tt_layout.hardware import DEFAULT_TARGET, TARGETS
from tt_layout.placement import PlacedLayout

Locations = Mapping[str, Ints]
"""The coordinates of hardware locations, by name, as in `tt_layout.views.cells.Cells`."""
Grouping = Callable[[Locations], Ints]

BANKED = TARGETS[DEFAULT_TARGET]
"""The GPU whose banks are meant where none is named."""
SLICE_ROWS = 32  # a warp reaches these rows of tensor memory

_GROUPS = {
    "registers": ("warp", "lane", "register", "block"),
    "shared memory": ("bank", "block"),
    "tensor memory": ("warp", "lane", "register", "block"),
}


def default_grouping(placed: PlacedLayout) -> str:
    """Return what a layout is coloured by where nothing is asked."""
    if placed.is_shared:
        return "bank"
    if placed.is_distributed and placed.layout.get_in_dim_size("warp") == 1:
        return "lane"
    return "warp"


def check_grouping(placed: PlacedLayout, name: str) -> None:
    """Raise where a layout has no such groups.

    Raises:
        LayoutError: for instance banks of registers.
    """
    groups = _GROUPS[placed.memory_space]
    if name not in groups:
        message = f"--color-by {name} does not suit {placed.memory_space}"
        raise LayoutError(f"{message}; it has {', '.join(groups)}")


def grouping(placed: PlacedLayout, name: str) -> Grouping:
    """Return the function from locations to the numbers of their groups.

    Args:
        placed: whose locations they are; of tensor memory the warp that reaches a row, its
            lane and the register are those of a load of 32 rows.
        name: one of ``warp``, ``lane``, ``register``, ``block`` and ``bank``.

    Raises:
        LayoutError: the layout has no such groups.
    """
    check_grouping(placed, name)
    if name == "bank":
        size = placed.element_bytes
        return lambda locations: locations["slot"] * size // BANKED.bank_bytes % BANKED.banks
    if placed.memory_space == "tensor memory" and name != "block":
        return {
            "warp": lambda locations: locations["row"] // SLICE_ROWS,
            "lane": lambda locations: locations["row"] % SLICE_ROWS,
            "register": lambda locations: locations["col"],
        }[name]
    return lambda locations: locations[name]


def group_count(placed: PlacedLayout, name: str) -> int:
    """Return how many groups of a kind a layout has at most."""
    if name == "bank":
        words = math.prod(placed.shape) * placed.element_bytes // BANKED.bank_bytes
        return min(BANKED.banks, max(1, words))
    if placed.memory_space == "tensor memory" and name != "block":
        rows = placed.layout.get_in_dim_size("row")
        columns = placed.layout.get_in_dim_size("col")
        warps = -(-rows // SLICE_ROWS)
        return {"warp": warps, "lane": min(SLICE_ROWS, rows), "register": columns}[name]
    return placed.layout.get_in_dim_size(name)


def hardware_sizes(placed: PlacedLayout) -> str:
    """Return the sizes of the hardware in words, such as ``4 warps of 32 lanes``."""
    layout = placed.layout
    blocks = layout.get_in_dim_size("block")
    extra = f", {blocks} blocks" if blocks > 1 else ""
    if placed.is_distributed:
        warps, lanes, registers = (
            _count(layout.get_in_dim_size(name), name) for name in ("warp", "lane", "register")
        )
        return f"{warps} of {lanes} with {registers}{extra}"
    if placed.is_shared:
        elements = math.prod(placed.shape)
        size, banks = placed.element_bytes, BANKED.banks
        return f"{elements} elements of {size} bytes in {banks} banks{extra}"
    return f"{layout.get_in_dim_size('row')} rows of {layout.get_in_dim_size('col')} columns{extra}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
