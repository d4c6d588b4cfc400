"""The tensor view: who holds each element."""

from __future__ import annotations

import math

import numpy as np

from tt_layout.colour import CELLS
from tt_layout.figures.model import NOTHING, PLAIN, Figure, Grid, Numbers, has_labels, table
from tt_layout.figures.places import Held
from tt_layout.terminal.groups import default_grouping, grouping
from tt_layout.terminal.margins import sizes
from tt_layout.terminal.tokens import group_count

LINE = 32  # elements of a row where the tensor has one dimension


def tensor_figure(held: Held, color_by: str | None = None) -> Figure:
    """Return the figure of the holders of all elements.

    Raises:
        LayoutError: the layout has no such groups, or too many elements.
    """
    name = color_by or default_grouping(held.subject)
    notes = [sizes(held.subject), *_copy_note(held)]
    return Figure(
        (str(held.encoding), held.type_text),
        (tensor_grid(held, name),),
        legend(held, name),
        tuple(notes),
    )


def _copy_note(held: Held) -> list[str]:
    if held.copies <= 2:
        return []
    more = held.copies - 1
    return [f"+{more}: {more} more places hold the element; the first is named"]


def tensor_grid(held: Held, name: str, title: str = "") -> Grid:
    """Return the grid of the holders of all elements, coloured by group."""
    shape = grid_shape(held.shape)
    groups = element_groups(held, name)
    labels = table(holder_labels(held), shape) if has_labels(*shape) else None
    rows, columns = axis_names(held.shape, shape)
    dims = held.layout.get_out_dim_names()
    return Grid(
        groups.reshape(shape),
        labels,
        title,
        rows,
        columns,
        row_title=",".join(dims[:-1]),
        column_title=dims[-1],
        row_step=shape[0] // held.shape[0] if len(held.shape) > 2 else 0,
    )


def element_groups(held: Held, name: str) -> Numbers:
    """Return the colour of each element: that of its first holder."""
    holders = held.holders
    groups = element_axis(held, name)
    if groups is None:
        groups = grouping(held.subject, name)(held.split(np.maximum(holders, 0)))
    return np.where(holders < 0, NOTHING, groups)


def element_axis(held: Held, name: str) -> Numbers | None:
    """Return a coordinate of every element, for ``row`` and ``column``; None for others."""
    if name not in ("row", "column"):
        return None
    axes = held.coordinates(np.arange(math.prod(held.shape)))
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
    shape: tuple[int, ...], grid: tuple[int, int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the rows and columns of a tensor."""
    rows, columns = grid
    names = tuple(map(str, range(columns)))
    if len(shape) == 1:
        return tuple(str(row * columns) for row in range(rows)), names
    leading = np.unravel_index(np.arange(rows), shape[:-1])
    return tuple(",".join(map(str, index)) for index in zip(*(a.tolist() for a in leading))), names


def holder_labels(held: Held) -> list[str]:
    """Return the first holder of every element; of two holders, both."""
    labels = place_labels(held, held.holders)
    if held.copies == 2:
        last = np.empty_like(held.holders)
        last[held.elements] = np.arange(len(held.elements))
        return [f"{a}|{b}" if a else a for a, b in zip(labels, place_labels(held, last))]
    if held.copies > 2:
        return [f"{label}+{held.copies - 1}" if label else "" for label in labels]
    return labels


def place_labels(held: Held, places: Numbers) -> list[str]:
    """Return places as the views write them; nothing for -1."""
    parts = {name: part.tolist() for name, part in held.split(np.maximum(places, 0)).items()}
    fronts = [f"B{b}:" for b in parts["block"]] if held.sizes["block"] > 1 else [""] * len(places)
    if "offset" in parts:
        parted = held.sizes["partition"] > 1
        inner = [f"{p}/" if parted else "" for p in parts["partition"]]
        texts = [f"{p}{offset}" for p, offset in zip(inner, parts["offset"])]
    elif "row" in parts:
        texts = [f"R{row}:C{column}" for row, column in zip(parts["row"], parts["col"])]
    else:
        lanes = held.sizes["lane"]
        threads = (w * lanes + t for w, t in zip(parts["warp"], parts["lane"]))
        texts = [f"T{thread}:{r}" for thread, r in zip(threads, parts["register"])]
    return [
        front + text if place >= 0 else ""
        for front, text, place in zip(fronts, texts, places.tolist())
    ]


def legend(held: Held, name: str) -> tuple[tuple[int, str], ...]:
    """Return the meaning of the colours."""
    if name in ("row", "column"):
        count = held.shape[-1] if name == "column" else held.shape[max(-2, -len(held.shape))]
    else:
        count = group_count(held.subject, name)
    named = [(number, f"{name} {number}") for number in range(min(count, len(CELLS)))]
    if count > len(CELLS):
        named.append((PLAIN, f"... {count - 1}; every {len(CELLS)} alike"))
    return tuple(named)
