"""Data of a layout for the page: its basis vectors and their names."""

from __future__ import annotations

from typing import Any

from tt_layout.errors import LayoutError
from tt_layout.placement import PlacedLayout

MAX_SIZE = 1 << 53
"""JavaScript's numbers are exact below this."""


def check_sizes(placed: PlacedLayout) -> None:
    """Raise an error if a layout is too large for a browser.

    Raises:
        LayoutError: it is too large; the message has the limits.
    """
    layout = placed.layout
    sizes = [*layout.out_sizes, *((n, layout.get_in_dim_size(n)) for n, _ in layout.in_bases)]
    if too_large := [f"{name} {size}" for name, size in sizes if size > MAX_SIZE]:
        raise LayoutError(f"a page shows dimensions up to 2^53, got {', '.join(too_large)}")


def embedded(placed: PlacedLayout) -> dict[str, Any]:
    """Return a layout as data.

    Raises:
        LayoutError: it is too large for a browser.
    """
    check_sizes(placed)
    return {
        "attribute": str(placed.encoding),
        "type": placed.type_text,
        "memory": placed.memory_space,
        "ins": placed.layout.in_bases,
        "outs": placed.layout.out_sizes,
        "bits": placed.element_bits,
        "padding": placed.padding,
        "release": str(placed.encoding.release),
    }
