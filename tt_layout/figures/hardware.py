"""The hardware view: which element each place holds."""

from __future__ import annotations

import numpy as np

from tt_layout.figures.model import NOTHING, Figure, Grid, Numbers, has_labels, table
from tt_layout.figures.places import DrawnLayout
from tt_layout.figures.tensor import element_axis, legend
from tt_layout.views.groups import SLICE_ROWS, default_grouping, grouping, hardware_sizes


def hardware_figure(drawn: DrawnLayout, color_by: str | None = None) -> Figure:
    """Return the figure of the elements at all places of registers or tensor memory.

    Raises:
        LayoutError: the layout has no such groups, or too many places.
    """
    grid = _warps if drawn.placed.is_distributed else _rows
    name = color_by or default_grouping(drawn.placed)
    return Figure(
        (str(drawn.encoding), drawn.placed.type_text),
        (grid(drawn, name),),
        legend(drawn, name),
        (hardware_sizes(drawn.placed),),
    )


def place_groups(drawn: DrawnLayout, name: str, places: Numbers) -> Numbers:
    """Return the colour of each place."""
    axis = element_axis(drawn, name, drawn.elements(places))
    if axis is not None:
        return axis
    return grouping(drawn.placed, name)(drawn.split(places))


def element_labels(drawn: DrawnLayout, elements: Numbers) -> list[str]:
    """Return elements as coordinates, such as ``3,12``."""
    axes = [axis.tolist() for axis in drawn.coordinates(elements)]
    return [",".join(map(str, point)) for point in zip(*axes)]


def _warps(drawn: DrawnLayout, name: str) -> Grid:
    """Return a row per register of every warp, a column per lane."""
    dims = "block", "warp", "register", "lane"
    window = drawn.window(*dims)
    places = drawn.places_in(dims, window)
    blocks, warps, registers, lanes = (range(*bounds) for bounds in window)
    shape = len(blocks) * len(warps) * len(registers), len(lanes)
    names = [
        (f"B{block} " if drawn.sizes["block"] > 1 else "") + f"W{warp} r{register}"
        for block in blocks
        for warp in warps
        for register in registers
    ]
    labels = element_labels(drawn, drawn.elements(places)) if has_labels(*shape) else None
    return Grid(
        place_groups(drawn, name, places).reshape(shape),
        table(labels, shape) if labels else None,
        "",
        tuple(names),
        tuple(map(str, lanes)),
        row_title="register",
        column_title="lane",
        row_step=len(registers),
    )


def _rows(drawn: DrawnLayout, name: str) -> Grid:
    """Return a row per row of tensor memory."""
    dims = "block", "row", "col"
    window = drawn.window(*dims)
    places = drawn.places_in(dims, window)
    blocks, rows, columns = (range(*bounds) for bounds in window)
    shape = len(blocks) * len(rows), len(columns)
    empty = drawn.is_empty(places)
    labels = None
    if has_labels(*shape):
        texts = element_labels(drawn, drawn.elements(places))
        labels = table((t * (not e) for t, e in zip(texts, empty.tolist())), shape)
    front = "B{} {}" if drawn.sizes["block"] > 1 else "{1}"
    return Grid(
        np.where(empty, NOTHING, place_groups(drawn, name, places)).reshape(shape),
        labels,
        "",
        tuple(front.format(block, row) for block in blocks for row in rows),
        tuple(map(str, columns)),
        row_title="row",
        column_title="column",
        row_step=SLICE_ROWS if rows.start % SLICE_ROWS == 0 else 0,
    )
