"""The tensor view: who holds each element."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from tt_layout.colour import CELLS
from tt_layout.figures.model import NOTHING, PLAIN, Figure, Grid, Numbers, has_labels, table
from tt_layout.figures.places import DrawnLayout, extent
from tt_layout.views.groups import default_grouping, group_count, grouping, hardware_sizes
from tt_layout.views.selection import Range

LINE = 32  # elements of a row where the tensor has one dimension


def tensor_figure(drawn: DrawnLayout, color_by: str | None = None) -> Figure:
    """Return the figure of the holders of all elements.

    Raises:
        LayoutError: the layout has no such groups, or too many elements.
    """
    name = color_by or default_grouping(drawn.placed)
    notes = [hardware_sizes(drawn.placed), *_copy_note(drawn)]
    return Figure(
        (str(drawn.encoding), drawn.placed.type_text),
        (tensor_grid(drawn, name),),
        legend(drawn, name),
        tuple(notes),
    )


def _copy_note(drawn: DrawnLayout) -> list[str]:
    more = (1 << len(drawn.copies)) - 1
    if more <= 1:
        return []
    return [f"+{more}: {more} more places hold the element; the first is named"]


def tensor_grid(drawn: DrawnLayout, name: str, title: str = "") -> Grid:
    """Return the grid of the holders of all elements, coloured by group."""
    extents = tuple(map(extent, drawn.ranges))
    shape = grid_shape(extents)
    holders = drawn.holders(drawn.shown)
    labels = table(holder_labels(drawn, holders), shape) if has_labels(*shape) else None
    rows, columns = axis_names(drawn.ranges, shape)
    dims = drawn.layout.get_out_dim_names()
    return Grid(
        _element_groups(drawn, name, holders).reshape(shape),
        labels,
        title,
        rows,
        columns,
        row_title=",".join(dims[:-1]),
        column_title=dims[-1],
        row_step=shape[0] // extents[0] if len(extents) > 2 else 0,
    )


def _element_groups(drawn: DrawnLayout, name: str, holders: Numbers) -> Numbers:
    """Return the colour of each element that is shown: that of its first holder."""
    groups = element_axis(drawn, name, drawn.shown)
    if groups is None:
        groups = grouping(drawn.placed, name)(drawn.split(np.maximum(holders, 0)))
    return np.where(holders < 0, NOTHING, groups)


def element_axis(drawn: DrawnLayout, name: str, elements: Numbers) -> Numbers | None:
    """Return a coordinate of elements, for ``row`` and ``column``; None for others."""
    if name not in ("row", "column"):
        return None
    axes = drawn.coordinates(elements)
    return axes[-1] if name == "column" or len(axes) == 1 else axes[-2]


def grid_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns in which a tensor is shown.

    Example:
        >>> grid_shape((4, 8)), grid_shape((2, 4, 8)), grid_shape((128,)), grid_shape((8,))
        ((4, 8), (8, 8), (4, 32), (1, 8))
    """
    if len(shape) == 1:
        columns = min(shape[0], LINE if shape[0] <= LINE * 128 else 1024)
        return shape[0] // columns, columns
    return math.prod(shape[:-1]), shape[-1]


def axis_names(
    ranges: tuple[Range, ...], grid: tuple[int, int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the rows and columns of a part of a tensor.

    Example:
        >>> axis_names(((2, 4), (8, 10)), (2, 2))
        (('2', '3'), ('8', '9'))
        >>> axis_names(((32, 96),), (2, 32))[0]
        ('32', '64')
    """
    rows, columns = grid
    first, _ = ranges[-1]
    if len(ranges) == 1:
        starts = range(first, first + rows * columns, columns)
        offset = first if rows == 1 else 0
        return tuple(map(str, starts)), tuple(map(str, range(offset, offset + columns)))
    leading = product(*(range(*bounds) for bounds in ranges[:-1]))
    names = tuple(",".join(map(str, index)) for index in leading)
    return names, tuple(map(str, range(first, first + columns)))


def holder_labels(drawn: DrawnLayout, holders: Numbers) -> list[str]:
    """Return the first holder of every element; of two holders, both."""
    labels = place_labels(drawn, holders)
    if len(drawn.copies) == 1:
        last = np.where(holders < 0, -1, holders ^ drawn.copies[0])
        return [f"{a}|{b}" if a else a for a, b in zip(labels, place_labels(drawn, last))]
    if drawn.copies:
        more = (1 << len(drawn.copies)) - 1
        return [f"{label}+{more}" if label else "" for label in labels]
    return labels


def place_labels(drawn: DrawnLayout, places: Numbers) -> list[str]:
    """Return places as the views write them; nothing for -1."""
    parts = {name: part.tolist() for name, part in drawn.split(np.maximum(places, 0)).items()}
    fronts = [f"B{b}:" for b in parts["block"]] if drawn.sizes["block"] > 1 else [""] * len(places)
    if "offset" in parts:
        parted = drawn.sizes["partition"] > 1
        inner = [f"{p}/" if parted else "" for p in parts["partition"]]
        texts = [f"{p}{offset}" for p, offset in zip(inner, parts["offset"])]
    elif "row" in parts:
        texts = [f"R{row}:C{column}" for row, column in zip(parts["row"], parts["col"])]
    else:
        lanes = drawn.sizes["lane"]
        threads = (w * lanes + t for w, t in zip(parts["warp"], parts["lane"]))
        texts = [f"T{thread}:{r}" for thread, r in zip(threads, parts["register"])]
    return [
        front + text if place >= 0 else ""
        for front, text, place in zip(fronts, texts, places.tolist())
    ]


def legend(drawn: DrawnLayout, name: str) -> tuple[tuple[int, str], ...]:
    """Return the meaning of the colours."""
    if name in ("row", "column"):
        count = drawn.shape[-1] if name == "column" else drawn.shape[max(-2, -len(drawn.shape))]
    else:
        count = group_count(drawn.placed, name)
    named = [(number, f"{name} {number}") for number in range(min(count, len(CELLS)))]
    if count > len(CELLS):
        named.append((PLAIN, f"... {count - 1}; every {len(CELLS)} alike"))
    return tuple(named)
