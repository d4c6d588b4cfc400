"""Two layouts side by side: moved elements keep their colour, others are dimmed."""

from __future__ import annotations

import math

import numpy as np

from tt_layout.algebra.span import F2Span
from tt_layout.analyses.layouts.layout_difference import compare
from tt_layout.encodings.base import MAX_SHAPE_BITS
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import Colouring, DrawnLayout
from tt_layout.figures.model import NOTHING, PLAIN, Figure, legend_of_nothing
from tt_layout.figures.tensor import NOWHERE, element_groups, tensor_grid
from tt_layout.views.cells import Mask, coordinates
from tt_layout.views.groups import default_grouping

MAX_WORDS = 6


def compare_figure(before: DrawnLayout, after: DrawnLayout, color_by: str | None = None) -> Figure:
    """Return the figure of two layouts of one tensor.

    Raises:
        LayoutError: they are in different memory spaces, or of tensors of different shapes.
    """
    spaces = before.placed.memory_space, after.placed.memory_space
    if spaces[0] != spaces[1]:
        message = "layouts in different memory spaces cannot be compared"
        raise LayoutError(f"{message}: {' and '.join(spaces)}")
    words = compare(before.layout, after.layout).words() or ["nothing moves"]
    name = color_by or default_grouping(before.placed)
    wider = before if _location_count(before) > _location_count(after) else after
    colouring = Colouring(wider.placed, name)
    groups = [element_groups(drawn, Colouring(drawn.placed, name)) for drawn in (before, after)]
    was, now = map(colouring.colours, groups)
    stays = ~_moved(before, after) & (now != NOTHING)
    grids = (
        tensor_grid(before, was, "before"),
        tensor_grid(after, np.where(stays, PLAIN, now), "after"),
    )
    legend = colouring.legend(np.concatenate([groups[0], groups[1][~stays]]))
    plain = ((PLAIN, "has not moved"),) if stays.any() else ()
    return Figure(
        (f"- {before.encoding}", f"+ {after.encoding}", before.placed.type_text),
        grids,
        (*legend, *plain, *legend_of_nothing(grids, NOWHERE)),
        tuple(words[:MAX_WORDS]),
        places=((0, 0), (0, 1)),
    )


def _location_count(drawn: DrawnLayout) -> int:
    return math.prod(size for _, size in drawn.holders.sizes)


def _moved(before: DrawnLayout, after: DrawnLayout) -> Mask:
    """Return for each drawn element whether its locations differ."""
    was, now = before.cells, after.cells
    if not _are_replicated_alike(before, after):
        return np.ones(len(now.are_mapped), np.bool_)
    moved: Mask = was.are_mapped != now.are_mapped
    for name, _ in before.holders.sizes:
        is_elsewhere = (was.locations[name] != now.locations[name])[:, 0]
        moved |= is_elsewhere & was.are_mapped
    return moved


def _are_replicated_alike(before: DrawnLayout, after: DrawnLayout) -> bool:
    """Return whether the replicas of the first location, as of any other, are the same."""
    was, now = _kernel(before), _kernel(after)
    return F2Span(was).rank == F2Span(now).rank == F2Span(was + now).rank


def _kernel(drawn: DrawnLayout) -> list[int]:
    """Return the kernel with the coordinates of a location in separate bits."""
    parts = coordinates(np.array(drawn.kernel, np.int64), drawn.holders.sizes)
    rows = zip(*(part.tolist() for part in parts.values()))
    return [sum(x << at * MAX_SHAPE_BITS for at, x in enumerate(row)) for row in rows]
