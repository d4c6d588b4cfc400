"""Two layouts side by side: what moves keeps its colour, what stays is pale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import all_values
from tt_layout.analyses.layout_difference import compare
from tt_layout.errors import LayoutError
from tt_layout.figures.model import NOTHING, PLAIN, Figure
from tt_layout.figures.places import DrawnLayout
from tt_layout.figures.tensor import legend, tensor_grid
from tt_layout.views.groups import default_grouping

MAX_WORDS = 6


def compare_figure(before: DrawnLayout, after: DrawnLayout, color_by: str | None = None) -> Figure:
    """Return the figure of two layouts of one tensor.

    Raises:
        LayoutError: they are of different memories, or of tensors of different shapes.
    """
    if before.encoding.memory_kind != after.encoding.memory_kind:
        kinds = f"{before.encoding.memory_kind} and {after.encoding.memory_kind}"
        raise LayoutError(f"layouts of different memories cannot be compared: {kinds}")
    words = compare(before.layout, after.layout).words() or ["nothing moves"]
    name = color_by or default_grouping(before.placed)
    grids = tensor_grid(before, name, "before"), tensor_grid(after, name, "after")
    moved = _moved(before, after).reshape(grids[1].shape)
    colours = np.where(moved | (grids[1].colours == NOTHING), grids[1].colours, PLAIN)
    wider = before if before.places > after.places else after
    return Figure(
        (f"- {before.encoding}", f"+ {after.encoding}", before.placed.type_text),
        (grids[0], replace(grids[1], colours=colours)),
        (*legend(wider, name), (PLAIN, "has not moved")),
        tuple(words[:MAX_WORDS]),
        is_across=True,
    )


def _moved(before: DrawnLayout, after: DrawnLayout) -> npt.NDArray[np.bool_]:
    """Tell for each element that is shown whether other places hold it."""
    if _copies(before) != _copies(after):
        return np.ones(len(after.shown), np.bool_)
    was, now = (drawn.split(drawn.holders(drawn.shown)) for drawn in (before, after))
    moved = np.zeros(len(after.shown), np.bool_)
    for name in before.sizes:
        moved |= was[name] != now[name]
    return moved


def _copies(drawn: DrawnLayout) -> set[tuple[int, ...]]:
    """Return the places that hold the same as the first place: by xor, those of any element."""
    same = all_values(drawn.copies)
    return set(zip(*(part.tolist() for part in drawn.split(same).values())))
