"""The number by which a place is coloured: its warp, lane, register, block or bank."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.padding import padded
from tt_layout.errors import LayoutError
from tt_layout.hardware import DEFAULT_TARGET, TARGETS
from tt_layout.placement import PlacedLayout

Places = Mapping[str, Ints]
Grouping = Callable[[Places], Ints]

SLICE_ROWS = 32  # a warp reaches these rows of tensor memory

_KINDS = {
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
    kinds = _KINDS[placed.memory_space]
    if name not in kinds:
        message = f"--color-by {name} does not suit {placed.memory_space}"
        raise LayoutError(f"{message}; it has {', '.join(kinds)}")


def grouping(placed: PlacedLayout, name: str) -> Grouping:
    """Return the function from places to the numbers of their groups.

    Args:
        placed: whose places they are; of tensor memory the warp that reaches a row, its
            lane and the register are those of a load of 32 rows.
        name: one of ``warp``, ``lane``, ``register``, ``block`` and ``bank``.

    Raises:
        LayoutError: the layout has no such groups.
    """
    check_grouping(placed, name)
    if name == "bank":
        return lambda places: banks(places["offset"], placed)
    if placed.memory_space == "tensor memory" and name != "block":
        return {
            "warp": lambda places: places["row"] // SLICE_ROWS,
            "lane": lambda places: places["row"] % SLICE_ROWS,
            "register": lambda places: places["col"],
        }[name]
    return lambda places: places[name]


def banks(offsets: Ints, placed: PlacedLayout) -> Ints:
    """Return the bank of each offset, padding included."""
    return slot_banks(padded(offsets, placed.padding), placed)


def slot_banks(slots: Ints, placed: PlacedLayout) -> Ints:
    """Return the bank of each slot of the memory."""
    target = TARGETS[DEFAULT_TARGET]
    found: Ints = slots * placed.element_bytes // target.bank_bytes % target.banks
    return found
