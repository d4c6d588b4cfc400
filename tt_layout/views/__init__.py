"""Printed views of layouts, made block by block with whole-array operations.

Choose a view by the kind of layout; each is a `View`, whose size is known before its text:

    distributed_view      register, lane, warp, block
    shared_view           offset, block and perhaps partition
    tensor_memory_view    row, col, block

How a view comes about, from the inside out:

    text      numbers as arrays of ASCII bytes
    cells     the text of single cells, shared among rows of cells
    box       which cells are shown, row by row and page by page
    frames    brackets, line ends and headers around the cells
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tt_layout.views.distributed import distributed_view
    from tt_layout.views.selection import Selection
    from tt_layout.views.shared import shared_view
    from tt_layout.views.tensor_memory import tensor_memory_view
    from tt_layout.views.view import View

__all__ = ["Selection", "View", "distributed_view", "shared_view", "tensor_memory_view"]

_HOMES = {
    "Selection": "selection",
    "View": "view",
    "distributed_view": "distributed",
    "shared_view": "shared",
    "tensor_memory_view": "tensor_memory",
}


def __getattr__(name: str) -> Any:
    """Import a view when it is first used: a run shows one kind of layout."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
