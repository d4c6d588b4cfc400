"""A warp's access to global memory: which bytes of which sectors and lines its lanes ask for."""

from __future__ import annotations

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.analyses.global_memory.global_access import (
    LINE_BYTES,
    SECTOR_BYTES,
    GlobalAccess,
    global_access,
)
from tt_layout.analyses.global_memory.sectors import lanes_of
from tt_layout.colour import COLOURS
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import DrawnLayout, named_colours
from tt_layout.figures.model import NOTHING, PLAIN, Figure, Grid, legend_of_nothing, table
from tt_layout.placement import ASSUMED_BITS
from tt_layout.wording import count


def sectors_figure(drawn: DrawnLayout) -> Figure:
    """Return the figure of the first instruction of the first warp, a row for each line.

    The tensor is taken to lie in memory without gaps, its last dimension the fastest, from the
    beginning of a line on.

    Raises:
        LayoutError: the layout is not of registers, or a part of it is selected.
    """
    if not drawn.placed.is_distributed:
        message = f"#{drawn.encoding.name} lives in {drawn.placed.memory_space}"
        raise LayoutError(f"--view sectors is of registers, but {message}")
    drawn.selection.check_options("a figure of sectors")
    access = global_access(drawn.layout, drawn.placed.element_bits or ASSUMED_BITS)
    starts: Ints = lanes_of(drawn.layout, access.vector).elements[0, 0]
    lines, lanes = _lanes(starts, access.vector, LINE_BYTES // drawn.placed.element_bytes)
    grid = _grid(drawn, lines, lanes)
    shown = np.unique(lanes[lanes >= 0]).tolist()
    legend = named_colours("lane", shown, [lane % COLOURS for lane in shown])
    if (lanes == PLAIN).any():
        legend += ((PLAIN, "moved, not asked for"),)
    legend += legend_of_nothing([grid], "not moved")
    return Figure(drawn.title, (grid,), legend, _words(access))


def _lanes(starts: Ints, vector: int, per_line: int) -> tuple[Ints, Ints]:
    """Return the lines that are touched, and the lane that asks for each of their elements.

    Of several lanes the first is named; `PLAIN` is an element that is moved, but not asked for,
    and `NOTHING` one in a sector that is not touched.
    """
    asked = starts[:, np.newaxis] + np.arange(vector)
    lines, rows = np.unique(asked // per_line, return_inverse=True)
    lanes = np.full(len(lines) * per_line, PLAIN, np.int64)
    at = rows.reshape(asked.shape) * per_line + asked % per_line
    for lane in reversed(range(len(starts))):
        lanes[at[lane]] = lane
    per_sector = per_line * SECTOR_BYTES // LINE_BYTES
    is_moved = (lanes >= 0).reshape(-1, per_sector).any(axis=1).repeat(per_sector)
    lanes[~is_moved] = NOTHING
    return lines, lanes


def _grid(drawn: DrawnLayout, lines: Ints, lanes: Ints) -> Grid:
    shape = len(lines), len(lanes) // len(lines)
    numbers = (lines[:, np.newaxis] * shape[1] + np.arange(shape[1])).ravel()
    per_sector = shape[1] * SECTOR_BYTES // LINE_BYTES
    sectors = range(LINE_BYTES // SECTOR_BYTES)
    return Grid(
        np.where(lanes >= 0, lanes % COLOURS, lanes).reshape(shape),
        table(_names(drawn, numbers), shape),
        "",
        tuple(str(line * LINE_BYTES) for line in lines.tolist()),
        row_title="byte",
        column_title=f"sectors of {SECTOR_BYTES} bytes",
        column_step=per_sector,
        groups=tuple((k * per_sector, per_sector, str(k)) for k in sectors),
    )


def _words(access: GlobalAccess) -> tuple[str, ...]:
    """Return what the instruction asks for and what is moved."""
    moved = access.sectors * SECTOR_BYTES
    return (
        f"first of {count(access.instructions, 'instruction')} of warp 0: "
        f"{access.vector_bytes} bytes a lane, {access.useful_bytes} bytes asked for",
        f"{count(access.sectors, 'sector')} in {count(access.lines, 'line')}: "
        f"{moved} bytes moved, {100 * access.efficiency:.0f} % of them asked for; "
        f"at best {count(access.ideal_sectors, 'sector')}",
    )


def _names(drawn: DrawnLayout, numbers: Ints) -> list[str]:
    """Return the coordinates of elements; nothing behind the end of the tensor."""
    shape = drawn.placed.shape
    count = int(np.prod(shape))
    points = np.stack(np.unravel_index(np.minimum(numbers, count - 1), shape), axis=-1)
    inside = (numbers < count).tolist()
    return [",".join(map(str, p)) if is_in else "" for p, is_in in zip(points.tolist(), inside)]
