"""Reading what Nsight Compute prints as CSV: the raw page, the details, the source page.

The raw page has a row for each launch and a column for each metric, and a row of units; older
versions, and the details, a row for each metric.  The source page has, of each file of the
program, a row for each line and below it the instructions that it was compiled to, or the
instructions alone.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import prod
from typing import NamedTuple

from tt_layout.audit.measured.counters import COLUMNS, COUNTERS, METRICS, Counter, counter_of
from tt_layout.errors import FileLocation, LayoutError, quoted
from tt_layout.mlir.source import Source

GRID_SIZE = "launch__grid_size"
MISSING = ("", "-", "n/a", "no data", "nan")
"""What stands where nothing was counted."""

SCALES = {"K": 1e3, "M": 1e6, "G": 1e9}
"""First letter of a unit -> what the values are multiples of."""

MAX_COUNT = 1e18
"""More than any launch does."""

Counts = dict[Counter, float]


class Place(NamedTuple):
    """A line of the program; the file as it is named there."""

    file: str
    line: int


@dataclass
class Launch:
    """What was counted of one launch of a kernel.

    Attributes:
        kernel: its name.
        number: that of the launch, as the file has it.
        ctas: of the grid; None where the page does not say it.
        warps: that executed the first instruction; None on pages without instructions.
        counts: of the whole launch.
        lines: of each line of the program; empty on pages that have none.
    """

    kernel: str
    number: str
    ctas: int | None = None
    warps: float | None = None
    counts: Counts = field(default_factory=dict)
    lines: dict[Place, Counts] = field(default_factory=dict)

    def whole(self, counts: Counts) -> Counts:
        """Return counts of the launch with 0 for what no instruction of it was counted as."""
        if self.warps is None:
            return counts
        units = {counter.unit for counter in self.counts}
        return {counter: counts.get(counter, 0) for counter in COUNTERS if counter.unit in units}


class _Row(NamedTuple):
    """A row of the file and the line that it ends on."""

    line: int
    cells: Sequence[str]


def read_launches(source: Source) -> list[Launch]:
    """Return the launches that a file tells of, in its order.

    Raises:
        LayoutError: it is no such file, or has nothing that could be compared.

    Example:
        >>> text = '''"ID","Kernel Name","launch__grid_size","smsp__inst_executed_op_ldsm.sum"
        ... "","","","inst"
        ... "0","add","1,024","4,096"'''
        >>> [launch] = read_launches(Source(text))
        >>> launch.ctas, launch.counts
        (1024, {Counter(access='ldmatrix', unit='instructions'): 4096.0})
    """
    rows = _rows(source)
    for at, row in enumerate(rows):
        if {"ID", "Kernel Name"} <= set(row.cells):
            read = _details if "Metric Name" in row.cells else _raw
            found = read(source.name, row.cells, rows[at + 1 :])
            break
        if _is_heading(row.cells) or _is_source_header(row.cells):
            found = _source_page(source.name, rows[at:])
            break
    else:
        message = "found no page of Nsight Compute: print one with ncu --csv --page raw"
        raise LayoutError(message, FileLocation(source.name))
    if not any(launch.counts for launch in found):
        names = ", ".join(list(METRICS)[:2])
        message = f"has none of the counters that are predicted, such as {names}"
        raise LayoutError(message, FileLocation(source.name))
    return found


def _rows(source: Source) -> list[_Row]:
    """Return the rows of a file that are not empty.

    Raises:
        LayoutError: it is no CSV.
    """
    reader = csv.reader(StringIO(source.text.removeprefix("\ufeff")))
    try:
        return [_Row(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    except csv.Error as error:
        where = FileLocation(source.name, reader.line_num)
        raise LayoutError(f"cannot read as CSV: {error}", where) from None


def _number(text: str, unit: str, where: FileLocation) -> float | None:
    """Return a number with thousands separators; None where nothing was counted.

    Raises:
        LayoutError: it is no number.
    """
    if text.lower() in MISSING:
        return None
    try:
        number = float(text.replace(",", "")) * SCALES.get(unit[:1], 1)
    except ValueError:
        number = -1
    if not 0 <= number <= MAX_COUNT:
        raise LayoutError(f"expected a count, got {quoted(text)}", where)
    return number


# -- the raw page and the details ---------------------------------------------------------------


def _raw(file: str, header: Sequence[str], rows: Sequence[_Row]) -> list[Launch]:
    """Return the launches of a page with a column for each metric."""
    units: Mapping[str, str] = {}
    launches = []
    for row in rows:
        cells = dict(zip(header, row.cells))
        if len(row.cells) != len(header):
            continue  # what the program or ncu printed between them
        if not cells["ID"]:
            units = cells
            continue
        launch = Launch(cells["Kernel Name"], cells["ID"], _grid(cells.get("Grid Size", "")))
        for name, text in cells.items():
            _count(launch, name, text, units.get(name, ""), FileLocation(file, row.line))
        launches.append(launch)
    return launches


def _details(file: str, header: Sequence[str], rows: Sequence[_Row]) -> list[Launch]:
    """Return the launches of a page with a row for each metric."""
    launches: dict[str, Launch] = {}
    for row in rows:
        cells = dict(zip(header, row.cells))
        if len(row.cells) != len(header) or not cells["ID"]:
            continue
        grid = _grid(cells.get("Grid Size", ""))
        launch = launches.setdefault(cells["ID"], Launch(cells["Kernel Name"], cells["ID"], grid))
        name, unit = cells["Metric Name"], cells.get("Metric Unit", "")
        _count(launch, name, cells.get("Metric Value", ""), unit, FileLocation(file, row.line))
    return list(launches.values())


def _count(launch: Launch, name: str, text: str, unit: str, where: FileLocation) -> None:
    """Add a metric to a launch, if it is one that is compared."""
    if name != GRID_SIZE and name not in METRICS:
        return
    number = _number(text, unit, where)
    if number is None:
        return
    if name == GRID_SIZE:
        launch.ctas = round(number)
    else:
        launch.counts[METRICS[name]] = number


def _grid(text: str) -> int | None:
    """Return the CTAs of a grid.

    Example:
        >>> _grid("(64, 2, 1)"), _grid("")
        (128, None)
    """
    sizes = [int(size) for size in re.findall(r"\d{1,10}", text)]
    return prod(sizes) if sizes else None


# -- the source page ----------------------------------------------------------------------------

_HEADINGS = ("Kernel Name", "Function Name", "File Path")


def _is_heading(cells: Sequence[str]) -> bool:
    return len(cells) == 2 and cells[0] in _HEADINGS


def _is_source_header(cells: Sequence[str]) -> bool:
    return "Source" in cells and any(column in cells for column in COLUMNS)


class _Columns(NamedTuple):
    """Where the columns of a source page are.

    Attributes:
        address: of the addresses of instructions.
        instruction: of their text.
        line: of the numbers of lines; None on pages of instructions alone.
        units: unit -> its column.
        width: how many columns there are.
    """

    address: int
    instruction: int
    line: int | None
    units: Mapping[str, int]
    width: int


def _columns(header: Sequence[str], where: FileLocation) -> _Columns:
    """Return where the columns are.

    Raises:
        LayoutError: the page has lines of the program alone.
    """
    names = [name.lstrip("# ") for name in header]
    if "Address" not in names:
        message = "the source page has no instructions: print it with --print-source cuda,sass"
        raise LayoutError(message, where)
    return _Columns(
        address=names.index("Address"),
        instruction=len(names) - 1 - names[::-1].index("Source"),
        line=next((names.index(name) for name in ("Line No", "Line") if name in names), None),
        units={COLUMNS[name]: at for at, name in enumerate(names) if name in COLUMNS},
        width=len(names),
    )


class _SourceReader:
    """What has been read of a source page.

    Attributes:
        launches: of all kernels.
    """

    def __init__(self, name: str) -> None:
        self.launches: list[Launch] = []
        self._name = name
        self._kernel = self._file = ""
        self._columns: _Columns | None = None
        self._place: Place | None = None
        self._seen: set[str] = set()  # files of the launch
        self._addresses: set[int] = set()
        self._first: int | None = None  # the lowest of them

    def heading(self, name: str, text: str) -> None:
        """Take the name of a kernel or of a file, of what follows."""
        if name == "File Path":
            self._file = text
        else:
            self._kernel = text
        self._columns = None

    def header(self, row: _Row) -> None:
        """Take the names of the columns of what follows."""
        self._columns = _columns(row.cells, FileLocation(self._name, row.line))
        self._place = None
        is_same = bool(self.launches) and self.launches[-1].kernel == self._kernel
        if not is_same or self._file in self._seen:
            self.launches.append(Launch(self._kernel, str(len(self.launches))))
            self._seen, self._addresses, self._first = set(), set(), None
        self._seen.add(self._file)

    def row(self, row: _Row) -> None:
        """Take a line of the program, or an instruction."""
        columns = self._columns
        if columns is None or len(row.cells) != columns.width:
            return
        if columns.line is not None and row.cells[columns.line].isdecimal():
            self._place = Place(self._file, int(row.cells[columns.line][:9]))
        elif (address := _address(row.cells[columns.address])) is not None:
            self._instruction(row, columns, address)

    def _instruction(self, row: _Row, columns: _Columns, address: int) -> None:
        launch, where = self.launches[-1], FileLocation(self._name, row.line)
        is_new = address not in self._addresses
        is_first = self._first is None or address < self._first
        self._first = address if is_first else self._first
        self._addresses.add(address)
        for unit, at in columns.units.items():
            number = _number(row.cells[at], "", where)
            if number is None:
                continue
            if unit == "instructions" and is_first:
                launch.warps = number
            counter = counter_of(row.cells[columns.instruction], unit)
            if counter is None:
                continue
            if is_new:
                launch.counts[counter] = launch.counts.get(counter, 0) + number
            if self._place is not None:
                own = launch.lines.setdefault(self._place, {})
                own[counter] = own.get(counter, 0) + number


def _address(text: str) -> int | None:
    """Return the address of an instruction; None of anything else."""
    try:
        return int(text, 16)
    except ValueError:
        return None


def _source_page(name: str, rows: Sequence[_Row]) -> list[Launch]:
    reader = _SourceReader(name)
    for row in rows:
        if _is_heading(row.cells):
            reader.heading(*row.cells)
        elif _is_source_header(row.cells):
            reader.header(row)
        else:
            reader.row(row)
    return reader.launches
