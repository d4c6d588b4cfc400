"""Figures of layouts by the name of the view.

The hardware view, and every other view with columns, has a row for each line and a column for each
cell.  In a comparison of two layouts, moved elements keep their colour and others are dimmed.  The
matrix over F2 has a column for each bit of a location.  A reduction has a row for each step and a
colour for each sum.  The figure of a swizzle has the chunks of rows without and with it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import accumulate, product

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.conversion.placed_reduction import placed_reduction
from tt_layout.analyses.conversion.reduction_order import AddStep
from tt_layout.analyses.layouts.layout_difference import compare
from tt_layout.colour import SHADES
from tt_layout.encodings.base import MAX_SHAPE_BITS
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import Colouring, DrawnLayout, element_labels, location_labels
from tt_layout.figures.model import (
    NOTHING,
    PLAIN,
    Figure,
    Grid,
    check_cells,
    has_labels,
    legend_of_nothing,
    table,
)
from tt_layout.figures.tensor import NOWHERE, element_groups, tensor_grid
from tt_layout.hardware import DEFAULT_TARGET
from tt_layout.placement import PlacedLayout
from tt_layout.surface import argument
from tt_layout.views.cells import Cells, Mask, coordinates
from tt_layout.views.groups import (
    BANKED,
    SLICE_ROWS,
    chunk_bytes,
    coloured,
    default_grouping,
    fast_axis,
    hardware_sizes,
)
from tt_layout.views.kinds import HARDWARE, KINDS, TENSOR, ViewKind
from tt_layout.views.shared import memory_of
from tt_layout.views.view import View
from tt_layout.wording import count

MAX_WORDS = 6


_NAMES = {"block": "B{}", "warp": "W{}", "register": "r{}"}
"""How the coordinates of a line are written, where not as numbers alone."""

MAX_LINES = 16

OF_ONE = (*KINDS, "matrix", "mma", "swizzle", "sectors", "reduce")
"""Views of one layout."""
OF_AN_ACCESS = ("banks", "cycles", "copy")
"""Views of a layout of registers and one of shared memory; ``banks`` is of memory alone, too."""
VIEWS = (*OF_ONE, *OF_AN_ACCESS, "compare")


def compare_figure(before: DrawnLayout, after: DrawnLayout, color_by: str | None) -> Figure:
    """Return the figure of two layouts of one tensor.

    Raises:
        LayoutError: their memory spaces or their tensor shapes differ.
    """
    spaces = before.placed.memory_space, after.placed.memory_space
    if spaces[0] != spaces[1]:
        message = "layouts in different memory spaces cannot be compared"
        raise LayoutError(f"{message}: {' and '.join(spaces)}")
    words = compare(before.layout, after.layout).words() or ["nothing moves"]
    name = color_by or default_grouping(before.placed)
    wider = before if _location_count(before) > _location_count(after) else after
    colouring = Colouring(wider.placed, name)
    groups = [element_groups(drawn, Colouring(drawn.placed, name)) for drawn in (before, after)]
    was, now = map(colouring.colours, groups)
    stays = ~_moved(before, after) & (now != NOTHING)
    grids = (
        tensor_grid(before, was, "before"),
        tensor_grid(after, np.where(stays, PLAIN, now), "after"),
    )
    legend = colouring.legend(np.concatenate([groups[0], groups[1][~stays]]))
    plain = ((PLAIN, "has not moved"),) if stays.any() else ()
    return Figure(
        (f"- {before.encoding}", f"+ {after.encoding}", before.placed.type_text),
        grids,
        (*legend, *plain, *legend_of_nothing(grids, NOWHERE)),
        tuple(words[:MAX_WORDS]),
        places=((0, 0), (0, 1)),
    )


def _location_count(drawn: DrawnLayout) -> int:
    return math.prod(size for _, size in drawn.holders.sizes)


def _moved(before: DrawnLayout, after: DrawnLayout) -> Mask:
    """Return whether the locations of each drawn element differ."""
    was, now = before.cells, after.cells
    kernels = _kernel(before), _kernel(after)
    ranks = {F2Span(vectors).rank for vectors in (*kernels, kernels[0] + kernels[1])}
    if len(ranks) > 1:  # the layouts do not replicate in the same way
        return np.ones(len(now.are_mapped), np.bool_)
    moved: Mask = was.are_mapped != now.are_mapped
    for name, _ in before.holders.sizes:
        is_elsewhere = (was.locations[name] != now.locations[name])[:, 0]
        moved |= is_elsewhere & was.are_mapped
    return moved


def _kernel(drawn: DrawnLayout) -> list[int]:
    """Return the kernel, with the coordinates of a location in separate bits."""
    parts = coordinates(np.array(drawn.kernel, np.int64), drawn.holders.sizes)
    rows = zip(*(part.tolist() for part in parts.values()))
    return [sum(x << at * MAX_SHAPE_BITS for at, x in enumerate(row)) for row in rows]


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
    counts = [(len(vectors), name) for name, vectors in layout.in_bases if vectors]
    firsts = accumulate((bits for bits, _ in counts), initial=0)
    groups = tuple((first, bits, name) for first, (bits, name) in zip(firsts, counts))
    sizes = {size for _, size in layout.out_sizes}
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
        groups=groups,
        cell_width=max((len(name) * 6 + 9) // bits for bits, name in counts or [(1, "")]),
        row_step=log2(layout.out_sizes[0][1]) if len(sizes) == 1 else 0,
    )
    legend = tuple((kinds[name], name) for name, vectors in layout.in_bases if vectors)
    note = "each column: the coordinate that one bit of the location adds, by xor"
    return Figure(drawn.title, (grid,), legend, (note,))


def reduction_figure(drawn: DrawnLayout, axis: int, target: str | None) -> Figure:
    """Return the figure of a sum along an axis.

    Args:
        drawn: the layout, in registers.
        axis: the dimension; a negative one counts from the last.
        target: the GPU; None for the usual one with warps of that many lanes.

        Raises:
            LayoutError: the layout is not a register layout, or the order is not known.
    """
    drawn.selection.check_options("a figure of a reduction")
    tree = placed_reduction(drawn.placed, axis, target)
    shape = len(tree.steps) + 1, tree.size
    check_cells(shape[0] * shape[1])
    rows = [np.arange(tree.size, dtype=np.int64)]
    for step in tree.steps:
        rows.append(rows[-1] & ~step.bits)
    sums = np.stack(rows)
    colours = [coloured(np.unique(row, return_inverse=True)[1], len(set(row))) for row in sums]
    grid = Grid(
        np.array(colours),
        table(map(str, sums.ravel().tolist()), shape) if has_labels(*shape) else None,
        f"sum of {count(tree.size, 'element')} of {tree.element} along dimension {tree.axis}",
        ("elements", *map(_step_name, tree.steps)),
        tuple(map(str, range(tree.size))),
        row_title="step",
        column_title=f"dimension {tree.axis}",
        marks=sums == np.arange(tree.size),
    )
    notes = (
        "each cell: the first element of the sum that it is in by then, which is outlined",
        f"as Triton {tree.release} adds on {tree.target.name}",
    )
    return Figure(drawn.title, (grid,), (), notes)


def _step_name(step: AddStep) -> str:
    """Return the name of a step: the offsets that it adds.

    Example:
        >>> _step_name(AddStep("lanes", (0, 16))), _step_name(AddStep("registers", (0, 1, 2, 3)))
        ('lanes +16', 'registers +1 .. +3')
    """
    _, first, *rest = step.offsets
    return f"{step.place} +{first}{f' .. +{rest[-1]}' if rest else ''}"


def view_figure(drawn: DrawnLayout, kind: ViewKind, color_by: str | None) -> Figure:
    """Return the figure of a view, cell by cell in the order of its text.

    Raises:
        LayoutError: the layout has no such groups or no such view, or too many cells, or the
            view has one cell in a line.
    """
    view = kind.view(drawn.placed, drawn.selection)
    if view.axes.columns is None:
        raise LayoutError(f"the {kind.name} view of {drawn.placed.memory_space} has no figure")
    check_cells(view.axes.count)
    colouring = Colouring(drawn.placed, color_by or default_grouping(drawn.placed))
    cells = view.cells_between(0, view.axes.count)
    groups = np.where(cells.are_mapped, colouring.groups(cells, of_elements=True), NOTHING)
    axes, columns = view.axes, view.axes.columns
    shape = axes.lines, columns.extent
    (row, *outer) = reversed(axes.rows)
    if row.name == "row" and not outer:
        row_step = SLICE_ROWS if row.shown[0] % SLICE_ROWS == 0 else 0
    else:
        row_step = row.extent
    named = [axis for axis in (*axes.sections, *axes.rows) if axis.name != "block" or axis.size > 1]
    patterns = [_NAMES.get(axis.name, "{}") for axis in named]
    lines = product(*(range(*axis.shown) for axis in named))
    grid = Grid(
        colouring.colours(groups).reshape(shape),
        table(_labels(drawn, view, cells), shape) if has_labels(*shape) else None,
        "",
        tuple(" ".join(p.format(n) for p, n in zip(patterns, line)) for line in lines),
        tuple(map(str, range(*columns.shown))),
        row_title=",".join(axis.name for axis in axes.rows),
        column_title=columns.name,
        row_step=row_step,
    )
    legend = (*colouring.legend(groups), *legend_of_nothing([grid], "no element"))
    return Figure(drawn.title, (grid,), legend, (hardware_sizes(drawn.placed),))


def _labels(drawn: DrawnLayout, view: View, cells: Cells) -> list[str]:
    if not view.content.shows_locations:
        return element_labels(cells)
    return location_labels(drawn.placed, cells)


def swizzle_figure(drawn: DrawnLayout) -> Figure:
    """Return the figure of the first lines of banks, one cell per chunk.

    Raises:
        LayoutError: the layout is not a shared layout, or has padding.
    """
    placed = drawn.placed
    if not placed.is_shared:
        message = f"#{drawn.encoding.name} lives in {placed.memory_space}"
        raise LayoutError(f"{argument('view', 'swizzle')} needs a shared layout, but {message}")
    if placed.padding:
        raise LayoutError(
            f"#{drawn.encoding.name} has padding; {argument('view', 'banks')} shows where it is"
        )
    drawn.selection.check_options("a figure of a swizzle")
    plain = replace(drawn, placed=replace(placed, layout=without_swizzle(drawn)))
    colouring = Colouring(placed, "chunk")
    # Without its swizzle a layout does not say how large a chunk is that the swizzle moves.
    cells = [_cells(layout, chunk_bytes(placed)) for layout in (plain, drawn)]
    shifts = [(), _shifts(placed, *cells)]
    groups = [colouring.groups(chunks, of_elements=True) for chunks in cells]
    titles = "unswizzled", "swizzled"
    grids = [
        _patterned_grid(drawn, chunks, title, colouring.colours(numbers), numbers == 0, shift)
        for chunks, title, numbers, shift in zip(cells, titles, groups, shifts)
    ]
    lines = -(-memory_of(placed).elements * placed.element_bytes // BANKED.row_bytes)
    notes = ["outlined: where chunk 0 of each row goes"]
    if shifts[1]:
        notes += ["xor: chunk c is stored at position c xor this number"]
    if lines > MAX_LINES:
        notes += [f"showing {MAX_LINES} of the {lines} lines of banks"]
    legend = colouring.legend(np.concatenate(groups))
    return Figure(drawn.title, tuple(grids), legend, tuple(notes), ((0, 0), (0, 1)))


def without_swizzle(drawn: DrawnLayout) -> LinearLayout:
    """Return the layout with the phases of its swizzle removed."""
    layout, fast = drawn.layout, fast_axis(drawn.placed)

    def straight(vector: tuple[int, ...]) -> tuple[int, ...]:
        rest = (*vector[:fast], 0, *vector[fast + 1 :])
        return rest if any(rest) else vector

    bases = [
        (name, [straight(v) for v in vectors] if name == "offset" else vectors)
        for name, vectors in layout.in_bases
    ]
    names, sizes = zip(*layout.out_sizes)
    return LinearLayout.from_bases(bases, names, sizes, require_surjective=False)


def _cells(drawn: DrawnLayout, chunk: int) -> Cells:
    """Return the first element of each chunk of ``chunk`` bytes in the drawn lines."""
    memory, size = memory_of(drawn.placed), drawn.placed.element_bytes
    step = max(1, chunk // size)
    stop = min(memory.elements, MAX_LINES * max(1, BANKED.row_bytes // size))
    return memory.cells.cells(np.arange(0, stop, step))


def _shape(placed: PlacedLayout, chunks: int) -> tuple[int, int]:
    """Return the number of lines of banks, and of chunks per line."""
    columns = min(chunks, max(1, BANKED.row_bytes // chunk_bytes(placed)))
    return chunks // columns, columns


def _shifts(placed: PlacedLayout, plain: Cells, swizzled: Cells) -> tuple[int, ...]:
    """Return the xor mask of each line's chunks; empty unless one mask moves a whole line."""
    lines, columns = _shape(placed, len(plain.elements))
    before, after = (cells.elements.reshape(lines, columns, -1) for cells in (plain, swizzled))
    order = np.arange(columns)
    is_moved = [(before[:, order ^ shift] == after).all(axis=(1, 2)) for shift in order]
    matches = np.stack(is_moved, axis=1)
    return tuple(matches.argmax(axis=1).tolist()) if matches.any(axis=1).all() else ()


def _patterned_grid(
    drawn: DrawnLayout,
    cells: Cells,
    title: str,
    colours: Ints,
    marks: Mask,
    shifts: tuple[int, ...],
) -> Grid:
    chunk, size = chunk_bytes(drawn.placed), drawn.placed.element_bytes
    shape = _shape(drawn.placed, len(colours))
    last, fast = max(1, chunk // size) - 1, fast_axis(drawn.placed)
    names = [
        ",".join(f"{x}-{x + last}" if d == fast and last else str(x) for d, x in enumerate(point))
        for point in cells.elements.tolist()
    ]
    return Grid(
        colours.reshape(shape),
        table(names, shape),
        title,
        tuple(
            ", ".join(map(str, (line * shape[1] * chunk, *shifts[line : line + 1])))
            for line in range(shape[0])
        ),
        tuple(str(column * chunk // BANKED.bank_bytes) for column in range(shape[1])),
        row_title="byte, xor" if shifts else "byte",
        column_title="first bank",
        marks=marks.reshape(shape),
    )


def draw(
    drawn: DrawnLayout,
    other: DrawnLayout | None = None,
    *,
    view: str | None = None,
    color_by: str | None = None,
    target: str = "nvidia",
    access: str = "load",
    operand: str | None = None,
    axis: int | None = None,
) -> Figure:
    """Return the figure of one layout, or of two.

    Args:
        drawn: the layout.
        other: another layout: for ``compare``, of the same tensor; for ``banks``, in registers.
        view: one of `VIEWS`; by default ``compare`` for two layouts in one memory space, ``banks``
            for a register layout and a shared layout, ``copy`` for a register layout and one in
            tensor memory, otherwise ``tensor``.
        color_by: the grouping by colour.
        target: the GPU for the access of ``banks``.
        access: ``load`` or ``store``, for the access of ``banks``.
        operand: the element type of A and B for ``mma``; None for the usual one.
        axis: the reduced dimension for ``reduce``.

    Raises:
        LayoutError: the view does not suit the layouts.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.figures.drawn import DrawnLayout
        >>> from tt_layout.mlir.types import parse_type
        >>> from tt_layout.placement import place
        >>> layout = parse_layout("#ttg.linear<{register = [[1]], lane = [[2]], "
        ...                       "warp = [], block = []}>")
        >>> draw(DrawnLayout(place(layout, parse_type("tensor<4xf16>")))).grids[0].labels
        [['T0:0', 'T0:1', 'T1:0', 'T1:1']]
    """
    view = view or _default(drawn, other)
    if view in OF_ONE and other is not None:
        raise LayoutError(f"{argument('view', view)} is of one layout, got two")
    if view == "mma":
        from tt_layout.figures.mma import mma_figure

        return mma_figure(drawn, operand, color_by)
    if view == "reduce":
        if axis is None:
            message = f"{argument('view', 'reduce')} needs {argument('axis')}"
            raise LayoutError(f"{message}, the dimension that is reduced")
        if color_by is not None:
            raise LayoutError(_own_colours("reduce"))
        return reduction_figure(drawn, axis, None if target == DEFAULT_TARGET else target)
    if view == "compare":
        if other is None:
            raise LayoutError(f"{argument('view', view)} needs two layouts")

        return compare_figure(drawn, other, color_by)
    if view in OF_AN_ACCESS or (view == HARDWARE and drawn.placed.is_shared):
        return _access(drawn, other, view, color_by, target, access == "store")
    return _single(drawn, view, color_by)


def _own_colours(view: str) -> str:
    return f"{argument('view', view)} has colours of its own; leave {argument('color_by')} out"


def _default(drawn: DrawnLayout, other: DrawnLayout | None) -> str:
    if other is None:
        return TENSOR
    spaces = {drawn.placed.memory_space, other.placed.memory_space}
    if len(spaces) == 1:
        return "compare"
    return "copy" if MemorySpace.TENSOR in spaces else "banks"


def _access(
    drawn: DrawnLayout,
    other: DrawnLayout | None,
    view: str,
    color_by: str | None,
    target: str,
    is_store: bool,
) -> Figure:
    """Return the figure of an access, or of the banks of one layout."""
    from tt_layout.figures.banks import access_figure, banks_figure, cycles_figure
    from tt_layout.figures.copying import copy_figure

    if other is None:
        if view in ("cycles", "copy"):
            message = "needs a layout of registers and one of shared memory"
            raise LayoutError(f"{argument('view', view)} {message}")
        return banks_figure(drawn, color_by)
    if color_by not in (None, "lane"):
        raise LayoutError("the figure of an access is coloured by lane")
    if drawn.placed.is_distributed:
        drawn, other = other, drawn
    figure = {"cycles": cycles_figure, "copy": copy_figure}.get(view, access_figure)
    return figure(drawn, other, target, is_store)


def _single(drawn: DrawnLayout, view: str, color_by: str | None) -> Figure:
    if view == "matrix":
        if color_by is not None:
            raise LayoutError("the figure of a matrix is coloured by input dimension")
        return matrix_figure(drawn)
    if view in ("swizzle", "sectors"):
        from tt_layout.figures.sectors import sectors_figure

        if color_by is not None:
            raise LayoutError(_own_colours(view))
        return swizzle_figure(drawn) if view == "swizzle" else sectors_figure(drawn)
    if view == TENSOR:
        from tt_layout.figures.tensor import tensor_figure

        return tensor_figure(drawn, color_by)

    return view_figure(drawn, KINDS[view], color_by)
