"""Views of layouts over registers, lanes, warps and blocks."""

from __future__ import annotations

from dataclasses import replace

from tt_layout.algebra.arrays import F2Map, Preimages, count_zeros
from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.errors import LayoutError
from tt_layout.views.box import Box, Painter
from tt_layout.views.cells import Gap, Label, LabelCells, TupleCells
from tt_layout.views.frames import Brackets, Sections, framed_view, header_size
from tt_layout.views.selection import EVERYTHING, Selection, checked_range
from tt_layout.views.text import FILLER
from tt_layout.views.view import View


def distributed_view(
    layout: LinearLayout, use_hw_view: bool, selection: Selection = EVERYTHING
) -> View:
    """Return a view of a layout from ``register``, ``lane``, ``warp`` and ``block``.

    Args:
        layout: a missing input dimension counts as one of size 1.
        use_hw_view: show the elements by place instead of the places by element.
        selection: the part to show.

    Raises:
        LayoutError: the layout has other input dimensions, or lacks what is selected.

    Example:
        >>> layout = LinearLayout.from_bases([("register", [[1]]), ("lane", [[2]])], ["dim0"])
        >>> print(distributed_view(layout, False).text(), end="")
        [T0:0, T0:1, T1:0, T1:1]
        >>> print(distributed_view(layout, True).text(), end="")
        Warp0:
        (0), (2)
        (1), (3)
    """
    check_inputs(layout, "register", "lane", "warp", "block")
    if use_hw_view:
        return _hardware_view(layout, selection)
    threads = layout.get_in_dim_size("lane") * layout.get_in_dim_size("warp")
    blocks, registers = layout.get_in_dim_size("block"), layout.get_in_dim_size("register")
    label = Label("T", ":", blocks, threads, registers)
    vectors = [v for name in ("register", "lane", "warp", "block") for v in layout.vectors(name)]
    places = [(layout.flatten(vector), 1 << bit) for bit, vector in enumerate(vectors)]
    return holders_view(layout, places, label, selection)


def check_inputs(layout: LinearLayout, *allowed: str) -> None:
    """Refuse a layout with other input dimensions, or without output dimensions."""
    others = [name for name in layout.get_in_dim_names() if name not in allowed]
    if others:
        raise LayoutError(
            f"this view is of layouts from {', '.join(allowed)}, got one from {', '.join(others)}"
        )
    if not layout.num_out_dims:
        raise LayoutError("a view needs at least one output dimension")


def holders_view(
    layout: LinearLayout, places: list[tuple[int, int]], label: Label, selection: Selection
) -> View:
    """Return the tensor view: the places that hold each element, in ascending order.

    Args:
        layout: gives the tensor's dimensions.
        places: for each bit of a place the element at it, flattened, and its weight in the
            place's number, ascending; the inner number is in the lowest bits.
        label: how a place is written.
        selection: the part to show.
    """
    selection.check_options("a tensor view", "slices")
    sizes = [size for _, size in layout.out_sizes]
    ranges = selection.tensor_ranges(layout.get_out_dim_names(), sizes)
    cells = _holder_cells(_element_bits(layout), places, label)
    box = Box(tuple(sizes), ranges)
    gaps = 0
    if cells.gap is not None:
        shown = count_zeros(cells.gap.misses, ranges, sizes)
        gaps = (box.lines * box.line_cells - shown) * (cells.width - len(cells.separator))
    return framed_view(Painter(box, cells), Brackets(box.extents, cells.gap is not None), gaps)


def _element_bits(layout: LinearLayout) -> list[int]:
    """Return the flattened element at each bit of an element's row-major number."""
    sizes = [size for _, size in layout.out_sizes]
    bits = []
    for axis in reversed(range(len(sizes))):
        for bit in range(log2(sizes[axis])):
            bits.append(layout.flatten([(d == axis) << bit for d in range(len(sizes))]))
    return bits


def _holder_cells(elements: list[int], places: list[tuple[int, int]], label: Label) -> LabelCells:
    """Return cells with all holders of each element, its outer and inner numbers apart."""
    holders = Preimages.of(places, elements)
    inner_bits, inner_mask = log2(label.inners), label.inners - 1
    cells = LabelCells(
        label,
        outer=F2Map(tuple(place >> inner_bits for place in holders.first.basis)),
        inner=F2Map(tuple(place & inner_mask for place in holders.first.basis)),
        outer_copies=tuple(copy >> inner_bits for copy in holders.copies),
        inner_copies=tuple(copy & inner_mask for copy in holders.copies),
    )
    if holders.misses.is_zero:
        return cells
    text = bytes([FILLER]) * (cells.width - len(cells.separator))
    return replace(cells, gap=Gap(holders.misses, text))


def _hardware_view(layout: LinearLayout, selection: Selection) -> View:
    options = ("blocks", "warps", "registers", "lanes")
    selection.check_options("a hardware view of a distributed layout", *options)
    names = [option[:-1] for option in options]
    sizes = tuple(layout.get_in_dim_size(name) for name in names)
    chosen = (getattr(selection, option) for option in options)
    box = Box(sizes, tuple(map(checked_range, names, chosen, sizes)))
    cells = tuple_cells(layout, names, b", ")
    return framed_view(Painter(box, cells), _warp_sections(box))


def _warp_sections(box: Box) -> Sections:
    """Return the headers of blocks and warps, each above the registers of a warp."""
    blocks, warps, registers, _ = box.extents
    (first_block, last_block), (first_warp, last_warp), _, _ = box.ranges
    many = box.sizes[0] > 1

    def header(section: int) -> str:
        block, warp = divmod(section, warps)
        begins = f"Block{first_block + block}:\n" if many and warp == 0 else ""
        return f"{begins}Warp{first_warp + warp}:\n"

    size = blocks * header_size("Warp:\n", first_warp, last_warp)
    if many:
        size += header_size("Block:\n", first_block, last_block)
    return Sections(blocks * warps, registers, header, size)


def tuple_cells(layout: LinearLayout, names: list[str], separator: bytes) -> TupleCells:
    """Return cells that show the element at each place; the last name has the lowest bits."""
    vectors = [vector for name in reversed(names) for vector in layout.vectors(name)]
    sizes = tuple(size for _, size in layout.out_sizes)
    coordinates = (F2Map(tuple(v[axis] for v in vectors)) for axis in range(len(sizes)))
    return TupleCells(tuple(coordinates), sizes, ",", separator)
