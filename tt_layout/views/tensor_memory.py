"""Views of tensor memory over rows, columns and blocks; a missing input counts as of size 1.

Arguments and errors are those of `tt_layout.views.kinds.ViewKind.view`.
"""

from __future__ import annotations

from dataclasses import replace

from tt_layout.algebra.arrays import F2Map
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.views.axes import Axes, location_axes
from tt_layout.views.cell_text import Gap, Label
from tt_layout.views.distributed import (
    check_inputs,
    element_cells,
    holders_view,
    input_sizes,
    location_cells,
    tuple_text,
)
from tt_layout.views.frames import Sections, framed_view, header_size
from tt_layout.views.selection import EVERYTHING, Selection
from tt_layout.views.view import View, Viewable

DIMENSIONS = ("col", "row", "block")
"""The input dimensions, the fastest first."""

SLICE_BITS = (5, 6)  # row bits that choose among the four 32-row slices of the memory


def tensor_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the cells of tensor memory of each element of a tensor.

    A zero basis means an empty cell, except for a bit that chooses a 32-row slice: there it means
    that the slices hold the same elements.

    Example:
        >>> from tt_layout.views.view import BareLayout
        >>> layout = LinearLayout.from_bases([("row", [[2]]), ("col", [[0], [1]])], ["dim0"])
        >>> print(tensor_view(BareLayout(layout)).text(), end="")
        [R0:C0, R0:C2, R1:C0, R1:C2]
    """
    layout = placed.layout
    check_inputs(layout, "row", "col", "block")
    vectors = [v for name in DIMENSIONS for v in layout.vectors(name)]
    locations = [
        (layout.flatten(vector), 1 << bit)
        for bit, (vector, empty) in enumerate(zip(vectors, empty_bits(layout)))
        if not empty
    ]
    sizes = input_sizes(layout, DIMENSIONS)
    (_, columns), (_, rows), (_, blocks) = sizes
    content = element_cells(layout, sizes, locations)
    label = Label("R", ":C", blocks, rows, columns)
    return holders_view(layout, content, label, selection, "R<row>:C<column>")


def hardware_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the element in each cell of tensor memory.

    Example:
        >>> from tt_layout.views.view import BareLayout
        >>> layout = LinearLayout.from_bases([("row", [[2]]), ("col", [[0], [1]])], ["dim0"])
        >>> print(hardware_view(BareLayout(layout)).text(), end="")
        Row0: (0),   -, (1),   -
        Row1: (2),   -, (3),   -
    """
    layout = placed.layout
    check_inputs(layout, "row", "col", "block")
    selection.check_options("a hardware view of tensor memory", "blocks", "rows", "columns")
    names = DIMENSIONS[::-1]
    block, row, column = location_axes(layout, selection, names)
    sections = (block,) if block.size > 1 else ()
    axes = Axes(sections, (row,), column, has_row_labels=True)
    misses = F2Map(tuple(empty << bit for bit, empty in enumerate(empty_bits(layout))))
    content = replace(location_cells(layout, names), misses=misses)
    text = tuple_text(layout, content, b", ")
    if not misses.is_zero:  # empty cells are a dash
        text = replace(text, gap=Gap(misses, b"-".rjust(text.tuple_width)))
    return framed_view(axes, content, text, _row_sections(axes), notation="one line per row")


def empty_bits(layout: LinearLayout) -> list[bool]:
    """Tell whether cells with a bit set are empty, for each bit of a cell's number."""
    columns = [not any(vector) for vector in layout.vectors("col")]
    rows = [
        not any(vector) and bit not in SLICE_BITS
        for bit, vector in enumerate(layout.vectors("row"))
    ]
    return columns + rows + [False] * len(layout.vectors("block"))


def _row_sections(axes: Axes) -> Sections:
    """Return the headers of blocks, if there are several, and the row labels."""
    (row,) = axes.rows
    label = row.shown[0], row.size
    if not axes.sections:
        return Sections(1, row.extent, lambda section: "", 0, label)
    (block,) = axes.sections

    def header(section: int) -> str:
        return f"Block{block.shown[0] + section}:\n"

    return Sections(block.extent, row.extent, header, header_size("Block:\n", *block.shown), label)
