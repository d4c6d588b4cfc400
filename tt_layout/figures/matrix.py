"""The matrix over F2: a column per location bit, a row per coordinate bit."""

from __future__ import annotations

import numpy as np

from tt_layout.algebra.linear_layout import log2
from tt_layout.colour import SHADES
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import PLAIN, Figure, Grid


def matrix_figure(drawn: DrawnLayout) -> Figure:
    """Return the figure of a layout's matrix, coloured by input dimension.

    Raises:
        LayoutError: a part of it is selected.
    """
    drawn.selection.check_options("a matrix")
    layout = drawn.layout
    ins = [(name, bit) for name, vectors in layout.in_bases for bit in range(len(vectors))]
    outs = [(name, bit) for name, size in layout.out_sizes for bit in range(log2(size))]
    columns = [vector for _, vectors in layout.in_bases for vector in vectors]
    names = layout.get_out_dim_names()
    kinds = {name: number * SHADES for number, (name, _) in enumerate(layout.in_bases)}
    shape = max(1, len(outs)), max(1, len(ins))
    colours = np.full(shape, PLAIN, np.int64)
    labels = [["0" if ins and outs else ""] * shape[1] for _ in range(shape[0])]
    for row, (out, out_bit) in enumerate(outs):
        for column, (name, _) in enumerate(ins):
            if columns[column][names.index(out)] >> out_bit & 1:
                colours[row, column] = kinds[name]
                labels[row][column] = "1"
    grid = Grid(
        colours,
        labels,
        "",
        tuple(f"{name} {1 << bit}" for name, bit in outs),
        tuple(str(1 << bit) for _, bit in ins),
        row_title="",
        column_title="",
        groups=_groups(ins),
        cell_width=max(
            (len(name) * 6 + 9) // count for _, count, name in _groups(ins) or [(0, 1, "")]
        ),
        row_step=log2(layout.out_sizes[0][1]) if len(set(_sizes(drawn))) == 1 else 0,
    )
    legend = tuple((kinds[name], name) for name, vectors in layout.in_bases if vectors)
    note = "each column: the coordinate that one bit of the location adds, by xor"
    return Figure(drawn.title, (grid,), legend, (note,))


def _sizes(drawn: DrawnLayout) -> list[int]:
    return [size for _, size in drawn.layout.out_sizes]


def _groups(ins: list[tuple[str, int]]) -> tuple[tuple[int, int, str], ...]:
    """Return the first column of each input dimension, and its number of bits."""
    groups: list[tuple[int, int, str]] = []
    for column, (name, bit) in enumerate(ins):
        if bit == 0:
            groups.append((column, sum(other == name for other, _ in ins), name))
    return tuple(groups)
