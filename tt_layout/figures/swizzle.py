"""Shared memory without and with its swizzle: the position of each chunk of the tensor's rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import Colouring, DrawnLayout
from tt_layout.figures.model import Figure, Grid, table
from tt_layout.placement import PlacedLayout
from tt_layout.surface import argument
from tt_layout.views.cells import Cells, Mask
from tt_layout.views.groups import BANKED, chunk_bytes, fast_axis
from tt_layout.views.shared import memory_of

MAX_LINES = 16


def swizzle_figure(drawn: DrawnLayout) -> Figure:
    """Return the figure of the first lines of banks, one cell per chunk.

    Raises:
        LayoutError: the layout is not of shared memory, or it has padding.
    """
    placed = drawn.placed
    if not placed.is_shared:
        message = f"#{drawn.encoding.name} lives in {placed.memory_space}"
        raise LayoutError(f"{argument('view', 'swizzle')} is of shared memory, but {message}")
    if placed.padding:
        raise LayoutError(
            f"#{drawn.encoding.name} has padding; {argument('view', 'banks')} shows where it is"
        )
    drawn.selection.check_options("a figure of a swizzle")
    plain = replace(drawn, placed=replace(placed, layout=without_swizzle(drawn)))
    colouring = Colouring(placed, "chunk")
    cells = [_cells(layout) for layout in (plain, drawn)]
    shifts = [(), _shifts(placed, *cells)]
    groups = [colouring.groups(chunks, of_elements=True) for chunks in cells]
    titles = "unswizzled", "swizzled"
    grids = [
        _grid(drawn, chunks, title, colouring.colours(numbers), numbers == 0, shift)
        for chunks, title, numbers, shift in zip(cells, titles, groups, shifts)
    ]
    lines = -(-memory_of(placed).elements * placed.element_bytes // BANKED.row_bytes)
    notes = ["outlined: where chunk 0 of each row goes"]
    notes += ["xor: chunk c is stored at position c xor this number"] * bool(shifts[1])
    notes += [f"showing {MAX_LINES} of the {lines} lines of banks"] * (lines > MAX_LINES)
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


def _cells(drawn: DrawnLayout) -> Cells:
    """Return the first element of each chunk of the drawn lines."""
    memory, size = memory_of(drawn.placed), drawn.placed.element_bytes
    step = max(1, chunk_bytes(drawn.placed) // size)
    stop = min(memory.elements, MAX_LINES * max(1, BANKED.row_bytes // size))
    return memory.cells.cells(np.arange(0, stop, step))


def _shape(placed: PlacedLayout, chunks: int) -> tuple[int, int]:
    """Return the number of lines of banks with chunks, and of chunks per line."""
    columns = min(chunks, max(1, BANKED.row_bytes // chunk_bytes(placed)))
    return chunks // columns, columns


def _shifts(placed: PlacedLayout, plain: Cells, swizzled: Cells) -> tuple[int, ...]:
    """Return the xor of each line's chunks; empty unless one mask moves a whole line."""
    lines, columns = _shape(placed, len(plain.elements))
    before, after = (cells.elements.reshape(lines, columns, -1) for cells in (plain, swizzled))
    order = np.arange(columns)
    is_moved = [(before[:, order ^ shift] == after).all(axis=(1, 2)) for shift in order]
    matches = np.stack(is_moved, axis=1)
    return tuple(matches.argmax(axis=1).tolist()) if matches.any(axis=1).all() else ()


def _grid(
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
