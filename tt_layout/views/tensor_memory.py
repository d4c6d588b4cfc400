"""Views of layouts over the rows and columns of tensor memory."""

from __future__ import annotations

from dataclasses import replace

from tt_layout.algebra.arrays import F2Map
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.views.box import Box, Painter
from tt_layout.views.cells import Gap, Label, TupleCells
from tt_layout.views.distributed import check_inputs, holders_view, tuple_cells
from tt_layout.views.frames import Sections, framed_view, header_size
from tt_layout.views.selection import EVERYTHING, Selection, checked_range
from tt_layout.views.view import View

SLICE_BITS = (5, 6)  # row bits that choose among the four 32-row slices of the memory


def tensor_memory_view(
    layout: LinearLayout, use_hw_view: bool, selection: Selection = EVERYTHING
) -> View:
    """Return a view of a layout from ``row``, ``col`` and ``block``.

    A zero basis says that a cell holds nothing; only that of a bit which chooses a 32-row
    slice says that the slices hold the same.

    Args:
        layout: a missing input dimension counts as one of size 1.
        use_hw_view: show the elements by cell instead of the cells by element.
        selection: the part to show.

    Raises:
        LayoutError: the layout has other input dimensions, or lacks what is selected.

    Example:
        >>> layout = LinearLayout.from_bases([("row", [[2]]), ("col", [[0], [1]])], ["dim0"])
        >>> print(tensor_memory_view(layout, False).text(), end="")
        [R0:C0, R0:C2, R1:C0, R1:C2]
        >>> print(tensor_memory_view(layout, True).text(), end="")
        Row0: (0),   -, (1),   -
        Row1: (2),   -, (3),   -
    """
    check_inputs(layout, "row", "col", "block")
    if use_hw_view:
        return _hardware_view(layout, selection)
    vectors = [v for name in ("col", "row", "block") for v in layout.vectors(name)]
    places = [
        (layout.flatten(vector), 1 << bit)
        for bit, (vector, empty) in enumerate(zip(vectors, empty_bits(layout)))
        if not empty
    ]
    blocks, rows, columns = (layout.get_in_dim_size(name) for name in ("block", "row", "col"))
    return holders_view(layout, places, Label("R", ":C", blocks, rows, columns), selection)


def empty_bits(layout: LinearLayout) -> list[bool]:
    """Tell for each bit of a cell's number whether cells with the bit set hold nothing."""
    columns = [not any(vector) for vector in layout.vectors("col")]
    rows = [
        not any(vector) and bit not in SLICE_BITS
        for bit, vector in enumerate(layout.vectors("row"))
    ]
    return columns + rows + [False] * len(layout.vectors("block"))


def _hardware_view(layout: LinearLayout, selection: Selection) -> View:
    selection.check_options("a hardware view of tensor memory", "blocks", "rows", "columns")
    sizes = tuple(layout.get_in_dim_size(name) for name in ("block", "row", "col"))
    chosen = (selection.blocks, selection.rows, selection.columns)
    box = Box(sizes, tuple(map(checked_range, ("block", "row", "column"), chosen, sizes)))
    cells = _with_dashes(tuple_cells(layout, ["block", "row", "col"], b", "), layout)
    return framed_view(Painter(box, cells), _row_sections(box))


def _with_dashes(cells: TupleCells, layout: LinearLayout) -> TupleCells:
    """Show cells that hold nothing as a dash."""
    misses = F2Map(tuple(empty << bit for bit, empty in enumerate(empty_bits(layout))))
    if misses.is_zero:
        return cells
    return replace(cells, gap=Gap(misses, b"-".rjust(cells.tuple_width)))


def _row_sections(box: Box) -> Sections:
    """Return the headers of blocks and the labels of rows."""
    blocks, rows, _ = box.extents
    (first_block, last_block), (first_row, _), _ = box.ranges
    many = box.sizes[0] > 1

    def header(section: int) -> str:
        return f"Block{first_block + section}:\n" if many else ""

    size = header_size("Block:\n", first_block, last_block) if many else 0
    return Sections(blocks, rows, header, size, row=(first_row, box.sizes[1]))
