"""Reading what Nsight Compute prints as CSV: the raw page, the details, the source page.

The raw page has a row for each launch and a column for each metric, and a row of units; older
versions, and the details, a row for each metric.  The source page has, of each file of the
program, a row for each line and below it the instructions that it was compiled to, or the
instructions alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod

from tt_layout.audit.measured.counters import LSU_METRICS, METRICS, PLAIN_METRICS
from tt_layout.audit.measured.launch import Launch
from tt_layout.audit.measured.rows import Row, Rows, read_rows
from tt_layout.audit.measured.source_page import is_heading, is_source_header, read_source_page
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.mlir.source import Source

GRID_SIZE = "launch__grid_size"
CYCLES = "sm__cycles_elapsed.max"
"""For how many cycles of a multiprocessor the launch ran."""

COMPARED = frozenset({*METRICS, *PLAIN_METRICS, *LSU_METRICS})


def read_launches(source: Source) -> list[Launch]:
    """Return the launches that a file tells of, in its order.

    Raises:
        LayoutError: it is not such a file, or has nothing that could be compared.

    Example:
        >>> text = '''"ID","Kernel Name","launch__grid_size","smsp__inst_executed_op_ldsm.sum"
        ... "","","","inst"
        ... "0","add","1,024","4,096"'''
        >>> [launch] = read_launches(Source(text))
        >>> launch.ctas, launch.counts
        (1024, {Counter(access='ldmatrix', unit='instructions'): 4096.0})
    """
    launches = _launches(read_rows(source))
    if not any(launch.counts for launch in launches):
        names = ", ".join(list(METRICS)[:2])
        message = f"has none of the counters that are predicted, such as {names}"
        raise LayoutError(message, FileLocation(source.name))
    return launches


def _launches(rows: Rows) -> list[Launch]:
    """Return the launches of the first page of a file."""
    for at, row in enumerate(rows.rows):
        below = rows._replace(rows=rows.rows[at + 1 :])
        if {"Kernel Name", "Metric Name", "Average"} <= set(row.cells):
            message = "is a summary of several launches: print it without --print-summary"
            raise LayoutError(message, FileLocation(rows.file, row.line))
        if {"ID", "Kernel Name"} <= set(row.cells):
            read = _details if "Metric Name" in row.cells else _raw
            return read(row.cells, below)
        if is_heading(row.cells) or is_source_header(row.cells):
            return read_source_page(rows._replace(rows=rows.rows[at:]))
    message = "found no page of Nsight Compute: print one with ncu --csv --page raw"
    raise LayoutError(message, FileLocation(rows.file))


def _raw(header: Sequence[str], rows: Rows) -> list[Launch]:
    """Return the launches of a page with a column for each metric."""
    units: Mapping[str, str] = {}
    launches = []
    for row in rows.rows:
        cells = dict(zip(header, row.cells))
        if len(row.cells) != len(header):
            continue  # what the program or ncu printed between them
        if not cells["ID"]:
            units = cells
            continue
        launch = _launch(cells)
        for name, text in cells.items():
            _count(launch, name, text, units.get(name, ""), rows, row)
        launches.append(launch)
    return launches


def _details(header: Sequence[str], rows: Rows) -> list[Launch]:
    """Return the launches of a page with a row for each metric, or for what a rule says."""
    launches: dict[str, Launch] = {}
    for row in rows.rows:
        cells = dict(zip(header, row.cells))
        name, unit = cells.get("Metric Name", ""), cells.get("Metric Unit", "")
        if "Metric Value" not in cells or not cells["ID"].isdecimal():
            continue  # what the program or ncu printed between them
        launch = launches.setdefault(cells["ID"], _launch(cells))
        _count(launch, name, cells["Metric Value"], unit, rows, row)
    return list(launches.values())


def _count(launch: Launch, name: str, text: str, unit: str, rows: Rows, row: Row) -> None:
    """Add a metric to a launch, if it is one that is compared."""
    if name not in (GRID_SIZE, CYCLES) and name not in COMPARED:
        return
    number = rows.number(text, unit, row.line)
    if number is None:
        return
    if name == GRID_SIZE:
        launch.ctas = round(number)
    elif name == CYCLES:
        launch.cycles = number
    else:
        launch.add(name, number)


def _launch(cells: Mapping[str, str]) -> Launch:
    """Return a launch of which nothing was counted yet."""
    grid = _grid(cells.get("Grid Size", ""))
    return Launch(cells["Kernel Name"], cells["ID"], prod(grid) if grid else None, grid)


def _grid(text: str) -> tuple[int, int, int] | None:
    """Return the CTAs of a grid along each axis.

    Example:
        >>> _grid("(64, 2, 1)"), _grid("")
        ((64, 2, 1), None)
    """
    sizes = [int(size) for size in re.findall(r"\d{1,10}", text)]
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 and all(sizes) else None
