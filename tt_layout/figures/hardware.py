"""The hardware view: which element each place holds."""

from __future__ import annotations

import numpy as np

from tt_layout.figures.model import NOTHING, Figure, Grid, Numbers, has_labels, table
from tt_layout.figures.places import Held
from tt_layout.figures.tensor import element_axis, legend
from tt_layout.terminal.groups import SLICE_ROWS, default_grouping, grouping
from tt_layout.terminal.margins import sizes


def hardware_figure(held: Held, color_by: str | None = None) -> Figure:
    """Return the figure of the elements at all places of registers or tensor memory.

    Raises:
        LayoutError: the layout has no such groups, or too many places.
    """
    grid = _warps if held.subject.is_distributed else _rows
    name = color_by or default_grouping(held.subject)
    return Figure(
        (str(held.encoding), held.type_text),
        (grid(held, name),),
        legend(held, name),
        (sizes(held.subject),),
    )


def place_groups(held: Held, name: str, places: Numbers) -> Numbers:
    """Return the colour of each place."""
    axis = element_axis(held, name, held.elements(places))
    if axis is not None:
        return axis
    return grouping(held.subject, name)(held.split(places))


def element_labels(held: Held, elements: Numbers) -> list[str]:
    """Return elements as coordinates, such as ``3,12``."""
    axes = [axis.tolist() for axis in held.coordinates(elements)]
    return [",".join(map(str, point)) for point in zip(*axes)]


def _warps(held: Held, name: str) -> Grid:
    """Return a row per register of every warp, a column per lane."""
    dims = "block", "warp", "register", "lane"
    window = held.window(*dims)
    places = held.places_in(dims, window)
    blocks, warps, registers, lanes = (range(*bounds) for bounds in window)
    shape = len(blocks) * len(warps) * len(registers), len(lanes)
    names = [
        (f"B{block} " if held.sizes["block"] > 1 else "") + f"W{warp} r{register}"
        for block in blocks
        for warp in warps
        for register in registers
    ]
    labels = element_labels(held, held.elements(places)) if has_labels(*shape) else None
    return Grid(
        place_groups(held, name, places).reshape(shape),
        table(labels, shape) if labels else None,
        "",
        tuple(names),
        tuple(map(str, lanes)),
        row_title="register",
        column_title="lane",
        row_step=len(registers),
    )


def _rows(held: Held, name: str) -> Grid:
    """Return a row per row of tensor memory."""
    dims = "block", "row", "col"
    window = held.window(*dims)
    places = held.places_in(dims, window)
    blocks, rows, columns = (range(*bounds) for bounds in window)
    shape = len(blocks) * len(rows), len(columns)
    empty = held.is_empty(places)
    labels = None
    if has_labels(*shape):
        texts = element_labels(held, held.elements(places))
        labels = table((t * (not e) for t, e in zip(texts, empty.tolist())), shape)
    front = "B{} {}" if held.sizes["block"] > 1 else "{1}"
    return Grid(
        np.where(empty, NOTHING, place_groups(held, name, places)).reshape(shape),
        labels,
        "",
        tuple(front.format(block, row) for block in blocks for row in rows),
        tuple(map(str, columns)),
        row_title="row",
        column_title="column",
        row_step=SLICE_ROWS if rows.start % SLICE_ROWS == 0 else 0,
    )
