"""Figure of a warp's access to global memory: bytes, sectors and lines by lane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.analyses.global_memory.global_access import (
    LINE_BYTES,
    SECTOR_BYTES,
    global_access,
)
from tt_layout.analyses.global_memory.sectors import lanes_of
from tt_layout.colour import COLOURS
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import DrawnLayout, lane_legend
from tt_layout.figures.model import (
    NOTHING,
    PLAIN,
    Figure,
    Grid,
    Legend,
    legend_of_nothing,
    table,
)
from tt_layout.placement import ASSUMED_BITS
from tt_layout.surface import argument
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count


def sectors_figure(drawn: DrawnLayout) -> Figure:
    """Return the figure of the first instruction of the first warp, a row per line.

    The tensor is assumed to be contiguous in memory, its last dimension the fastest, and to start
    at the beginning of a line.

    Raises:
        LayoutError: the layout is not a register layout, or a part of it is selected.
    """
    if not drawn.placed.is_distributed:
        message = f"#{drawn.encoding.name} lives in {drawn.placed.memory_space}"
        raise LayoutError(f"{argument('view', 'sectors')} needs a register layout, but {message}")
    drawn.selection.check_options("a figure of sectors")
    access = global_access(drawn.layout, drawn.placed.element_bits or ASSUMED_BITS)
    starts: Ints = lanes_of(drawn.layout, access.vector).elements[0, 0]
    units = _Units(drawn.placed.element_bytes, SECTOR_BYTES, LINE_BYTES)
    asked = starts[:, np.newaxis] + np.arange(access.vector)
    lines, lanes = _lanes(asked, units)
    per_line = units.per_line
    numbers = (lines[:, np.newaxis] * per_line + np.arange(per_line)).ravel()
    grid = _grid(lines, lanes, units, _names(drawn, numbers))
    moved = access.sectors * SECTOR_BYTES
    notes = (
        f"first of {count(access.instructions, 'instruction')} of warp 0: "
        f"{count(access.vector_bytes, 'byte')} a lane, "
        f"{count(access.useful_bytes, 'byte')} asked for",
        f"{count(access.sectors, 'sector')} in {count(access.lines, 'line')}: "
        f"{moved} bytes moved, {100 * access.efficiency:.0f} % of them asked for; "
        f"at best {count(access.ideal_sectors, 'sector')}",
        "no addresses are known; the tensor is drawn in memory without gaps",
    )
    return Figure(drawn.title, (grid,), _legend(grid, lanes), notes)


def request_figure(
    title: tuple[str, ...],
    starts: Sequence[int | None],
    width_bytes: int,
    *,
    sector_bytes: int = SECTOR_BYTES,
    line_bytes: int = LINE_BYTES,
) -> Figure:
    """Return the figure of a warp's instruction with known addresses.

    Args:
        title: the title of the figure.
        starts: the first byte of each lane, from the beginning of a line; None for an inactive
            lane.
        width_bytes: bytes that each lane moves.
        sector_bytes, line_bytes: the units in which memory is fetched.

    Example:
        >>> print(request_figure(("a load",), [0, 64, None, 64], 4).notes[1])
        2 sectors in 1 line: 64 bytes moved, 12 % of them asked for; at best 1 sector
    """
    units = _Units(width_bytes, sector_bytes, line_bytes)
    asked = np.array([[-1 if at is None else at // width_bytes] for at in starts], np.int64)
    lines, lanes = _lanes(asked, units)
    grid = _grid(lines, lanes, units, [str(lane) if lane >= 0 else "" for lane in lanes.tolist()])
    bytes_ = int((lanes >= 0).sum()) * width_bytes
    sectors = int((lanes != NOTHING).sum()) // units.per_sector
    moved = sectors * sector_bytes
    notes = (
        f"the first instruction that asks for anything: {count(width_bytes, 'byte')} a lane, "
        f"{count(bytes_, 'byte')} asked for",
        f"{count(sectors, 'sector')} in {count(len(lines), 'line')}: {moved} bytes moved, "
        f"{100 * bytes_ / moved:.0f} % of them asked for; "
        f"at best {count(-(-bytes_ // sector_bytes), 'sector')}",
    )
    return Figure(title, (grid,), _legend(grid, lanes), notes)


class _Units(NamedTuple):
    """The units of the drawn lines in bytes."""

    cell: int
    sector: int
    line: int

    @property
    def per_sector(self) -> int:
        return self.sector // self.cell

    @property
    def per_line(self) -> int:
        return self.line // self.cell


def _legend(grid: Grid, lanes: Ints) -> Legend:
    legend = lane_legend(lanes[lanes >= 0])
    if (lanes == PLAIN).any():
        legend += ((PLAIN, "moved, not asked for"),)
    return legend + legend_of_nothing([grid], "not moved")


def _lanes(asked: Ints, units: _Units) -> tuple[Ints, Ints]:
    """Return the accessed lines, and the lane that requests each of their cells.

    Args:
        asked: the numbers of the cells that each lane requests; negative ones are ignored.
        units: the bytes of a cell, a sector and a line.

    Of several lanes the first is named; `PLAIN` is a cell that is moved but not requested, and
    `NOTHING` one in a sector that is not accessed.
    """
    per_line, per_sector = units.per_line, units.per_sector
    active = np.flatnonzero((asked >= 0).all(axis=1))
    asked = asked[active]
    lines, rows = np.unique(asked // per_line, return_inverse=True)
    lanes = np.full(len(lines) * per_line, PLAIN, np.int64)
    at = rows.reshape(asked.shape) * per_line + asked % per_line
    for row, lane in reversed(list(enumerate(active.tolist()))):
        lanes[at[row]] = lane
    is_moved = (lanes >= 0).reshape(-1, per_sector).any(axis=1).repeat(per_sector)
    lanes[~is_moved] = NOTHING
    return lines, lanes


def _grid(lines: Ints, lanes: Ints, units: _Units, labels: list[str]) -> Grid:
    shape, per_sector = (len(lines), units.per_line), units.per_sector
    sectors = range(units.line // units.sector)
    return Grid(
        np.where(lanes >= 0, lanes % COLOURS, lanes).reshape(shape),
        table(labels, shape),
        "",
        tuple(str(line * units.line) for line in lines.tolist()),
        row_title="byte",
        column_title=f"sectors of {units.sector} bytes",
        column_step=per_sector,
        groups=tuple((k * per_sector, per_sector, str(k)) for k in sectors),
    )


def _names(drawn: DrawnLayout, numbers: Ints) -> list[str]:
    """Return the coordinates of elements; empty beyond the end of the tensor."""
    shape = drawn.placed.shape
    count = int(np.prod(shape))
    points = np.stack(np.unravel_index(np.minimum(numbers, count - 1), shape), axis=-1)
    inside = (numbers < count).tolist()
    return [",".join(map(str, p)) if is_in else "" for p, is_in in zip(points.tolist(), inside)]
