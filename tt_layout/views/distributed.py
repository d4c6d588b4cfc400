"""Views of layouts over registers, lanes, warps and blocks; a missing input counts as of size 1.

Arguments and errors are those of `tt_layout.views.kinds.ViewKind.view`.
"""

from __future__ import annotations

from dataclasses import replace

from tt_layout.algebra.arrays import F2Map, Preimages, count_zeros
from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.errors import LayoutError
from tt_layout.views.axes import Axes, location_axes, tensor_axes
from tt_layout.views.cell_text import CellText, Gap, Label, LabelText, TupleText
from tt_layout.views.cells import Content, ElementCells, LocationCells, Sizes
from tt_layout.views.frames import Brackets, Sections, framed_view, header_size
from tt_layout.views.selection import EVERYTHING, Selection
from tt_layout.views.text import FILLER
from tt_layout.views.view import View, Viewable

DIMENSIONS = ("register", "lane", "warp", "block")
"""The input dimensions, the fastest first."""

LOCATIONS = ("block", "warp", "register", "lane")
"""The same in the order of the hardware view, the slowest first."""


def tensor_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the registers that hold each element of a tensor.

    Example:
        >>> from tt_layout.views.view import BareLayout
        >>> layout = LinearLayout.from_bases([("register", [[1]]), ("lane", [[2]])], ["dim0"])
        >>> print(tensor_view(BareLayout(layout)).text(), end="")
        [T0:0, T0:1, T1:0, T1:1]
    """
    layout = placed.layout
    check_inputs(layout, *DIMENSIONS)
    sizes = input_sizes(layout, DIMENSIONS)
    vectors = [v for name in DIMENSIONS for v in layout.vectors(name)]
    locations = [(layout.flatten(vector), 1 << bit) for bit, vector in enumerate(vectors)]
    (_, registers), (_, lanes), (_, warps), (_, blocks) = sizes
    label = Label("T", ":", blocks, lanes * warps, registers)
    notation = "T<thread>:<register>, | between several holders"
    content = element_cells(layout, sizes, locations)
    return holders_view(layout, content, label, selection, notation)


def hardware_view(placed: Viewable, selection: Selection = EVERYTHING) -> View:
    """Return the element in each register.

    Example:
        >>> from tt_layout.views.view import BareLayout
        >>> layout = LinearLayout.from_bases([("register", [[1]]), ("lane", [[2]])], ["dim0"])
        >>> print(hardware_view(BareLayout(layout)).text(), end="")
        Warp0:
        (0), (2)
        (1), (3)
    """
    layout = placed.layout
    check_inputs(layout, *DIMENSIONS)
    content = location_cells(layout, LOCATIONS)
    return registers_view(layout, content, tuple_text(layout, content, b", "), selection)


def registers_view(
    layout: LinearLayout, content: Content, text: CellText, selection: Selection
) -> View:
    """Return the hardware view: a line per register of a warp, a column per lane."""
    options = ("blocks", "warps", "registers", "lanes")
    selection.check_options("a hardware view of a distributed layout", *options)
    block, warp, register, lane = location_axes(layout, selection, LOCATIONS)
    axes = Axes((block, warp), (register,), lane)
    notation = "one line per register, one column per lane"
    return framed_view(axes, content, text, warp_sections(axes), notation=notation)


def check_inputs(layout: LinearLayout, *allowed: str) -> None:
    """Reject a layout with other input dimensions, or without output dimensions."""
    strange = [name for name in layout.get_in_dim_names() if name not in allowed]
    if strange:
        raise LayoutError(
            f"this view shows layouts from {', '.join(allowed)}, got one from {', '.join(strange)}"
        )
    if not layout.num_out_dims:
        raise LayoutError("a view needs at least one output dimension")


def input_sizes(layout: LinearLayout, names: tuple[str, ...]) -> Sizes:
    """Return input dimensions with their sizes."""
    return tuple((name, layout.get_in_dim_size(name)) for name in names)


def element_cells(
    layout: LinearLayout, sizes: Sizes, locations: list[tuple[int, int]]
) -> ElementCells:
    """Return the locations that hold each element, in ascending order.

    Args:
        layout: the layout with the tensor's dimensions.
        sizes: sizes of the input dimensions, the fastest first.
        locations: the flattened element of each bit of a location, and the bit's weight in the
            location's number, ascending.
    """
    shape = tuple(size for _, size in layout.out_sizes)
    return ElementCells(shape, sizes, Preimages.of(locations, _element_bits(layout)))


def location_cells(layout: LinearLayout, names: tuple[str, ...]) -> LocationCells:
    """Return the element of each location; the last name has the lowest bits of its number."""
    ordered = names[::-1]
    vectors = [vector for name in ordered for vector in layout.vectors(name)]
    axes = range(layout.num_out_dims)
    coordinates = tuple(F2Map(tuple(vector[axis] for vector in vectors)) for axis in axes)
    return LocationCells(input_sizes(layout, ordered), coordinates)


def tuple_text(layout: LinearLayout, content: LocationCells, separator: bytes) -> TupleText:
    """Return the text of elements as coordinates, such as ``(3,12)``."""
    sizes = tuple(size for _, size in layout.out_sizes)
    return TupleText(content.coordinates, sizes, ",", separator)


def holders_view(
    layout: LinearLayout, content: ElementCells, label: Label, selection: Selection, notation: str
) -> View:
    """Return the tensor view: the locations that hold each element, in ascending order."""
    axes = tensor_axes(layout, selection)
    text = _holder_text(content.holders, label)
    gaps = 0
    if text.gap is not None:
        shown = count_zeros(text.gap.misses, axes.box.ranges, axes.box.sizes)
        gaps = (axes.count - shown) * (text.width - len(text.separator))
    frame = Brackets(axes.box.extents, text.gap is not None)
    return framed_view(axes, content, text, frame, gaps=gaps, notation=notation)


def _element_bits(layout: LinearLayout) -> list[int]:
    """Return the flattened element of each bit of an element's row-major number."""
    sizes = [size for _, size in layout.out_sizes]
    bits = []
    for axis in reversed(range(len(sizes))):
        for bit in range(log2(sizes[axis])):
            bits.append(layout.flatten([(d == axis) << bit for d in range(len(sizes))]))
    return bits


def _holder_text(holders: Preimages, label: Label) -> LabelText:
    """Return the text of all holders of each element, with outer and inner numbers apart.

    The inner number is in the lowest bits of a location's number.
    """
    inner_bits, inner_mask = log2(label.inner_size), label.inner_size - 1
    text = LabelText(
        label,
        outer=F2Map(tuple(location >> inner_bits for location in holders.first.basis)),
        inner=F2Map(tuple(location & inner_mask for location in holders.first.basis)),
        outer_kernel=tuple(vector >> inner_bits for vector in holders.kernel),
        inner_kernel=tuple(vector & inner_mask for vector in holders.kernel),
    )
    if holders.misses.is_zero:
        return text
    nothing = bytes([FILLER]) * (text.width - len(text.separator))
    return replace(text, gap=Gap(holders.misses, nothing))


def warp_sections(axes: Axes) -> Sections:
    """Return the headers of blocks and warps above the registers of each warp."""
    block, warp = axes.sections
    many = block.size > 1

    def header(section: int) -> str:
        above, below = divmod(section, warp.extent)
        begins = f"Block{block.shown[0] + above}:\n" if many and below == 0 else ""
        return f"{begins}Warp{warp.shown[0] + below}:\n"

    size = block.extent * header_size("Warp:\n", *warp.shown)
    if many:
        size += header_size("Block:\n", *block.shown)
    return Sections(block.extent * warp.extent, axes.rows[0].extent, header, size)
