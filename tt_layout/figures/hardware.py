"""The hardware view: which element each place holds."""

from __future__ import annotations

import numpy as np

from tt_layout.figures.model import NOTHING, Figure, Grid, Numbers, check_cells, has_labels, table
from tt_layout.figures.places import Held
from tt_layout.figures.tensor import element_axis, legend
from tt_layout.terminal.groups import default_grouping, grouping
from tt_layout.terminal.margins import sizes


def hardware_figure(held: Held, color_by: str | None = None) -> Figure:
    """Return the figure of the elements at all places of registers or tensor memory.

    Raises:
        LayoutError: the layout has no such groups, or too many places.
    """
    name = color_by or default_grouping(held.subject)
    places = _row_major(held)
    groups = place_groups(held, name, places)
    if held.subject.is_distributed:
        grid = _warps(held, places, groups)
    else:
        grid = _rows(held, places, groups)
    return Figure(
        (str(held.encoding), held.type_text), (grid,), legend(held, name), (sizes(held.subject),)
    )


def place_groups(held: Held, name: str, places: Numbers) -> Numbers:
    """Return the colour of each place."""
    axis = element_axis(held, name)
    if axis is not None:
        return axis[held.elements[places]]
    return grouping(held.subject, name)(held.split(places))


def element_labels(held: Held, elements: Numbers) -> list[str]:
    """Return elements as coordinates, such as ``3,12``."""
    axes = [axis.tolist() for axis in held.coordinates(elements)]
    return [",".join(map(str, point)) for point in zip(*axes)]


def _row_major(held: Held) -> Numbers:
    """Return the places in the order of the grid: blocks, warps, registers, lanes."""
    count = len(held.elements)
    check_cells(count)
    order: Numbers = np.arange(count)
    if not held.subject.is_distributed:
        return order
    sizes = [held.sizes[name] for name in ("block", "warp", "lane", "register")]
    ordered: Numbers = order.reshape(sizes).swapaxes(2, 3).ravel()
    return ordered


def _warps(held: Held, places: Numbers, groups: Numbers) -> Grid:
    """Return a row per register of every warp, a column per lane."""
    blocks, warps, registers, lanes = (
        held.sizes[name] for name in ("block", "warp", "register", "lane")
    )
    shape = blocks * warps * registers, lanes
    names = [
        (f"B{block} " if blocks > 1 else "") + f"W{warp} r{register}"
        for block in range(blocks)
        for warp in range(warps)
        for register in range(registers)
    ]
    labels = element_labels(held, held.elements[places]) if has_labels(*shape) else None
    return Grid(
        groups.reshape(shape),
        table(labels, shape) if labels else None,
        "",
        tuple(names),
        tuple(map(str, range(lanes))),
        row_title="register",
        column_title="lane",
        row_step=registers,
    )


def _rows(held: Held, places: Numbers, groups: Numbers) -> Grid:
    """Return a row per row of tensor memory."""
    shape = held.sizes["block"] * held.sizes["row"], held.sizes["col"]
    empty = held.empty_places() != 0
    labels = None
    if has_labels(*shape):
        texts = element_labels(held, held.elements)
        labels = table((t * (not e) for t, e in zip(texts, empty.tolist())), shape)
    blocks = held.sizes["block"]
    return Grid(
        np.where(empty, NOTHING, groups).reshape(shape),
        labels,
        "",
        tuple(
            (f"B{b} " if blocks > 1 else "") + str(row)
            for b in range(blocks)
            for row in range(held.sizes["row"])
        ),
        tuple(map(str, range(shape[1]))),
        row_title="row",
        column_title="column",
        row_step=32,
    )
