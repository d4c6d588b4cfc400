"""Shared memory without and with its swizzle: where each chunk of the tensor's rows lies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import Colouring, DrawnLayout
from tt_layout.figures.model import Figure, Grid, table
from tt_layout.placement import PlacedLayout
from tt_layout.views.cells import Cells, Mask
from tt_layout.views.groups import BANKED, chunk_bytes, fast_axis
from tt_layout.views.shared import memory_of

MAX_LINES = 16


def swizzle_figure(drawn: DrawnLayout) -> Figure:
    """Return the figure of the first lines of banks, a cell for each chunk.

    Raises:
        LayoutError: the layout is not of shared memory, or it has padding.
    """
    placed = drawn.placed
    if not placed.is_shared:
        message = f"#{drawn.encoding.name} lives in {placed.memory_space}"
        raise LayoutError(f"--view swizzle is of shared memory, but {message}")
    if placed.padding:
        raise LayoutError(f"#{drawn.encoding.name} has padding; --view banks shows where it is")
    drawn.selection.check_options("a figure of a swizzle")
    plain = replace(drawn, placed=replace(placed, layout=without_swizzle(drawn)))
    colouring = Colouring(placed, "chunk")
    cells = [_cells(one) for one in (plain, drawn)]
    shifts = [(), _shifts(placed, *cells)]
    groups = [colouring.groups(own, of_elements=True) for own in cells]
    titles = "unswizzled", "swizzled"
    grids = [
        _grid(drawn, own, title, colouring.colours(numbers), numbers == 0, shift)
        for own, title, numbers, shift in zip(cells, titles, groups, shifts)
    ]
    lines = -(-memory_of(placed).elements * placed.element_bytes // BANKED.row_bytes)
    notes = ["outlined: where chunk 0 of each row goes"]
    notes += ["xor: chunk c is stored at position c xor this number"] * bool(shifts[1])
    notes += [f"showing {MAX_LINES} of the {lines} lines of banks"] * (lines > MAX_LINES)
    legend = colouring.legend(np.concatenate(groups))
    return Figure(drawn.title, tuple(grids), legend, tuple(notes), ((0, 0), (0, 1)))


def without_swizzle(drawn: DrawnLayout) -> LinearLayout:
    """Return the same memory with each row of the tensor where it would lie without phases."""
    layout, fast = drawn.layout, fast_axis(drawn.placed)

    def straight(vector: tuple[int, ...]) -> tuple[int, ...]:
        others = (*vector[:fast], 0, *vector[fast + 1 :])
        return others if any(others) else vector

    bases = [
        (name, [straight(v) for v in vectors] if name == "offset" else vectors)
        for name, vectors in layout.in_bases
    ]
    names, sizes = zip(*layout.out_sizes)
    return LinearLayout.from_bases(bases, names, sizes, require_surjective=False)


def _cells(drawn: DrawnLayout) -> Cells:
    """Return the first element of each chunk of the lines that are drawn."""
    memory, size = memory_of(drawn.placed), drawn.placed.element_bytes
    step = max(1, chunk_bytes(drawn.placed) // size)
    stop = min(memory.elements, MAX_LINES * max(1, BANKED.row_bytes // size))
    return memory.cells.cells(np.arange(0, stop, step))


def _shape(placed: PlacedLayout, chunks: int) -> tuple[int, int]:
    """Return the lines of banks that chunks fill, and the chunks of a line."""
    columns = min(chunks, max(1, BANKED.row_bytes // chunk_bytes(placed)))
    return chunks // columns, columns


def _shifts(placed: PlacedLayout, plain: Cells, swizzled: Cells) -> tuple[int, ...]:
    """Return what each line's chunks are moved by; nothing where that is not one xor for a line."""
    lines, columns = _shape(placed, len(plain.elements))
    before, after = (one.elements.reshape(lines, columns, -1) for one in (plain, swizzled))
    own = np.arange(columns)
    is_moved = [(before[:, own ^ shift] == after).all(axis=(1, 2)) for shift in own]
    found = np.stack(is_moved, axis=1)
    return tuple(found.argmax(axis=1).tolist()) if found.any(axis=1).all() else ()


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
