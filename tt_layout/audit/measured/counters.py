"""Counters of a kernel's accesses, their names in Nsight Compute, and its pages as CSV.

The raw page has a row for each launch and a column for each metric, and a row of units; older
versions, and the details, a row for each metric.  The source page has, of each file of the
program, a row for each line and below it the instructions that it was compiled to, or the
instructions alone.

Every cell is in quotes, but those within it are not doubled: a line of a program such as
``eviction_policy="evict_last", mask=m`` is no cell for a reader of CSV.  Numbers are grouped and
pointed as the locale of the machine says.

Source:
    NVIDIA, "Nsight Compute", metrics of the raw page and columns of the source page; which
    instructions a metric counts: counters of an H100 (docs/audit.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from tt_layout.errors import FileLocation, LayoutError, quoted
from tt_layout.mlir.source import Source
from tt_layout.tuples import NamedTuple

MISSING = ("", "-", "n/a", "no data", "nan")
"""Cells where nothing was counted."""

SCALES = {"K": 1e3, "M": 1e6, "G": 1e9}
"""Prefix of a unit -> its factor."""

MAX_COUNT = 1e18
"""A count greater than any launch has."""

_DECIMAL_COMMA = re.compile(r"(\d+|\d{1,3}(\.\d{3})+),(\d{1,2}|\d{4,})")
"""A number that no locale with a decimal point prints."""

_FILES = ("File Path", "File Name")
_HEADINGS = ("Kernel Name", "Function Name", *_FILES)

GRID_SIZE = "launch__grid_size"
CYCLES = "sm__cycles_elapsed.max"
"""Metric of a launch's duration in cycles of a multiprocessor."""


class Counter(NamedTuple):
    """Counter of accesses or instructions.

    Attributes:
        access: such as ``shared load``.
        unit: ``instructions`` of warps; ``requests``, ``sectors`` and ``lines`` (of 128 bytes)
            of global memory; ``wavefronts`` of shared memory.
    """

    access: str
    unit: str

    @property
    def name(self) -> str:
        """The words that a report has for it."""
        return f"{self.access} {self.unit}"


GLOBAL_LOAD, GLOBAL_STORE = "global load", "global store"
ASYNC_COPY = "asynchronous copy"
SHARED_LOAD, SHARED_STORE = "shared load", "shared store"
LDMATRIX, STMATRIX = "ldmatrix", "stmatrix"
GLOBAL_ACCESS = "global access"

TRAFFIC = ("requests", "sectors", "lines")
"""Units of global-memory counters besides instructions."""

ASKED = (*TRAFFIC, "lsu_wavefronts")
"""The same with wavefronts, which Nsight counts together with those of shared memory."""

_L1 = "l1tex__{}_pipe_lsu_mem_global_op_{}.sum"
_LSU = "l1tex__data_pipe_lsu_wavefronts"
_SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_PLAIN = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"

METRICS: Mapping[str, Counter] = {
    "smsp__inst_executed_op_global_ld.sum": Counter(GLOBAL_LOAD, "instructions"),
    _L1.format("t_requests", "ld"): Counter(GLOBAL_LOAD, "requests"),
    _L1.format("t_sectors", "ld"): Counter(GLOBAL_LOAD, "sectors"),
    "smsp__inst_executed_op_global_st.sum": Counter(GLOBAL_STORE, "instructions"),
    _L1.format("t_requests", "st"): Counter(GLOBAL_STORE, "requests"),
    _L1.format("t_sectors", "st"): Counter(GLOBAL_STORE, "sectors"),
    "smsp__inst_executed_op_ldgsts.sum": Counter(ASYNC_COPY, "instructions"),
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum": Counter(
        ASYNC_COPY, "wavefronts"
    ),
    "smsp__inst_executed_op_shared_ld.sum": Counter(SHARED_LOAD, "instructions"),
    "smsp__inst_executed_op_ldsm.sum": Counter(LDMATRIX, "instructions"),
    _SHARED.format("ld"): Counter(SHARED_LOAD, "wavefronts"),
    "smsp__inst_executed_op_shared_st.sum": Counter(SHARED_STORE, "instructions"),
    _SHARED.format("st"): Counter(SHARED_STORE, "wavefronts"),
}
"""Metric of the raw page -> what it counts.

Requests and sectors of global loads include those of asynchronous copies, wavefronts of shared
memory those of ldmatrix and stmatrix; the instructions do not.
"""

PLAIN_METRICS: Mapping[str, Counter] = {
    _PLAIN.format("ld"): Counter(SHARED_LOAD, "wavefronts"),
    _PLAIN.format("st"): Counter(SHARED_STORE, "wavefronts"),
}
"""Metric -> what it counts, in place of the metric in `METRICS` where a page has both.

They leave out ldmatrix and stmatrix, and the turns that other traffic takes (arbitration).
"""

LSU_METRICS = f"{_LSU}.sum", f"{_LSU}_mem_shared.sum"
"""Wavefronts of all memory, and those of shared memory among them."""

Counts = dict[Counter, float]

COMPARED = frozenset({*METRICS, *PLAIN_METRICS, *LSU_METRICS})

GLOBAL_WAVEFRONTS = Counter(GLOBAL_ACCESS, "wavefronts")
"""The rest of these: a line of 128 bytes each, roughly."""

MATRIX_OF: Mapping[str, str] = {SHARED_LOAD: LDMATRIX, SHARED_STORE: STMATRIX}
"""Access -> the instructions of matrices that do the same."""

COUNTERS = (
    *(
        counter
        for own in METRICS.values()
        for counter in ([own, Counter(own.access, "lines")] if own.unit == "sectors" else [own])
    ),
    GLOBAL_WAVEFRONTS,
)
"""All compared counters, in the order of reports; only the source page has lines."""

COLUMNS: Mapping[str, str] = {
    "Instructions Executed": "instructions",
    "L1 Tag Requests Global": "lines",
    "L2 Theoretical Sectors Global": "sectors",
    "L1 Wavefronts Shared": "wavefronts",
}
"""Column of the source page -> the unit that it counts.

A request looks up the tag of each line that it touches, once.
"""

NEVER = "@!PT"
"""The predicate of instructions that no lane executes."""

NO_LANE = f"{NEVER} LDS"
"""Loads from shared memory that no lane executes, which ptxas puts before asynchronous copies."""

_OPCODES: Mapping[str, str] = {
    "LDG": GLOBAL_LOAD,
    "STG": GLOBAL_STORE,
    "LDGSTS": ASYNC_COPY,
    "LDS": SHARED_LOAD,
    "LDSM": SHARED_LOAD,
    "STS": SHARED_STORE,
    "STSM": SHARED_STORE,
}


def counted_as(access: str, unit: str) -> Counter:
    """Return the hardware counter of an access.

    Example:
        >>> counted_as(ASYNC_COPY, "sectors")
        Counter(access='global load', unit='sectors')
    """
    is_load = access == ASYNC_COPY and unit in TRAFFIC
    return Counter(GLOBAL_LOAD if is_load else access, unit)


def counter_of(instruction: str, unit: str) -> Counter | None:
    """Return the counter of an assembly instruction in a column; None if it is not compared.

    Example:
        >>> counter_of("@!P0 LDS.128 R4, [R2]", "wavefronts")
        Counter(access='shared load', unit='wavefronts')
        >>> counter_of("LDSM.16.M88.4 R4, [R2]", "instructions")
        Counter(access='ldmatrix', unit='instructions')
        >>> counter_of("FFMA R1, R2, R3, R4", "instructions") is None
        True
        >>> counter_of("@!PT LDS RZ, [RZ]", "instructions") is None  # no lane executes it
        True
    """
    if instruction.startswith(NEVER):
        return None
    words = [word for word in instruction.split() if not word.startswith("@")]
    opcode = words[0].partition(".")[0].rstrip(";") if words else ""
    access = _OPCODES.get(opcode)
    if access is None:
        return None
    counter = counted_as(access, unit)
    if unit == "instructions" and opcode in ("LDSM", "STSM"):
        counter = Counter(LDMATRIX if opcode == "LDSM" else "", unit)
    return counter if counter in COUNTERS else None


# -- rows and numbers ------------------------------------------------------------------------------


class Row(NamedTuple):
    """A row of the file and its line."""

    line: int
    cells: Sequence[str]


class Rows(NamedTuple):
    """The rows of a file.

    Attributes:
        file: its name.
        rows: rows that are not empty.
        decimal_comma: whether points group the digits, and a comma ends the whole part.
    """

    file: str
    rows: Sequence[Row]
    decimal_comma: bool

    def number(self, text: str, unit: str, line: int) -> float | None:
        """Return a number of a line of the file; None where nothing was counted.

        Raises:
            LayoutError: it is not a number.

        Example:
            >>> Rows("x.csv", [], False).number("1,024", "inst", 1)
            1024.0
            >>> Rows("x.csv", [], True).number("1.024,5", "Kinst", 1)
            1024500.0
        """
        if text.lower() in MISSING:
            return None
        plain = text.replace(".", "").replace(",", ".") if self.decimal_comma else text
        try:
            number = float(plain.replace(",", "")) * SCALES.get(unit[:1], 1)
        except ValueError:
            number = -1
        if not 0 <= number <= MAX_COUNT:
            raise LayoutError(
                f"expected a count, got {quoted(text)}", FileLocation(self.file, line)
            )
        return number


def read_rows(source: Source) -> Rows:
    """Return the rows of a file.

    Raises:
        LayoutError: it is not CSV.
    """
    rows = list(_rows(source))
    comma = any(_DECIMAL_COMMA.fullmatch(cell) for row in rows for cell in row.cells)
    return Rows(source.name, rows, comma)


def _rows(source: Source) -> Iterator[Row]:
    import csv  # here, since most audits read none

    for line, text in enumerate(source.text.removeprefix("\ufeff").splitlines(), 1):
        try:
            cells = split_cells(text)
        except csv.Error as error:
            where = FileLocation(source.name, line)
            raise LayoutError(f"cannot read as CSV: {error}", where) from None
        if cells:
            yield Row(line, [cell.strip() for cell in cells])


def split_cells(line: str) -> list[str]:
    """Return the cells of a line, without an empty one after a last comma.

    Raises:
        csv.Error: it is not CSV.

    Example:
        >>> split_cells('"6","load(x, policy="evict", mask=m)","-"')
        ['6', 'load(x, policy="evict", mask=m)', '-']
        >>> split_cells('"Kernel Name","softmax",')
        ['Kernel Name', 'softmax']
        >>> split_cells('0,add,"1,024"')
        ['0', 'add', '1,024']
    """
    text = line.strip()
    if not text.startswith('"'):
        import csv

        return next(csv.reader([text]), [])
    return text[1:].removesuffix(",").removesuffix('"').split('","')


# -- pages -----------------------------------------------------------------------------------------


# -- the source page -------------------------------------------------------------------------------


def is_heading(cells: Sequence[str]) -> bool:
    """Tell whether a row names the kernel or the file of the following rows."""
    return len(cells) == 2 and cells[0] in _HEADINGS


def is_source_header(cells: Sequence[str]) -> bool:
    """Whether a row has the names of the columns of a source page."""
    return "Source" in cells and any(name in cells for name in ("Line No", "Address", *COLUMNS))


class _Columns(NamedTuple):
    """Indices of the columns of a source page.

    Attributes:
        address: column of the instructions' addresses.
        instruction: column of their text.
        line: column of line numbers; None on pages with only instructions.
        units: unit -> its column.
        width: number of columns.
    """

    address: int
    instruction: int
    line: int | None
    units: Mapping[str, int]
    width: int


def _columns(header: Sequence[str], where: FileLocation) -> _Columns:
    """Find the columns by the header.

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
    """Reader of a source page.

    Attributes:
        launches: launches of all kernels.
    """

    def __init__(self, rows: Rows) -> None:
        self.launches: list[MeasuredLaunch] = []
        self._rows = rows
        self._kernel = self._file = ""
        self._columns: _Columns | None = None
        self._place: SourceLine | None = None
        self._seen: set[str] = set()  # files of the launch
        self._addresses: set[int] = set()
        self._first: int | None = None  # the lowest of them

    def heading(self, name: str, text: str) -> None:
        """Read the name of the kernel or file of the following rows."""
        if name in _FILES:
            self._file = text
        else:
            self._kernel = text
        self._columns = None

    def header(self, row: Row) -> None:
        """Read the names of the columns of the following rows."""
        self._columns = _columns(row.cells, FileLocation(self._rows.file, row.line))
        self._place = None
        is_same = bool(self.launches) and self.launches[-1].kernel == self._kernel
        if not is_same or self._file in self._seen:
            self.launches.append(MeasuredLaunch(self._kernel, str(len(self.launches))))
            self._seen, self._addresses, self._first = set(), set(), None
        self._seen.add(self._file)

    def row(self, row: Row) -> None:
        """Take a line of the program, or an instruction."""
        columns = self._columns
        if columns is None or len(row.cells) < columns.width:
            return  # what the program or ncu printed between them
        if columns.line is not None and row.cells[columns.line].isdecimal():
            self._place = SourceLine(self._file, int(row.cells[columns.line][:9]))
        elif (address := _address(row.cells[columns.address])) is not None:
            self._instruction(row, columns, address)

    def _instruction(self, row: Row, columns: _Columns, address: int) -> None:
        launch = self.launches[-1]
        is_new = address not in self._addresses
        is_first = self._first is None or address < self._first
        self._first = address if is_first else self._first
        self._addresses.add(address)
        for unit, at in columns.units.items():
            number = self._rows.number(row.cells[at], "", row.line)
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
                counters = launch.lines.setdefault(self._place, {})
                counters[counter] = counters.get(counter, 0) + number


def _address(text: str) -> int | None:
    """Return the address of an instruction; None of anything else."""
    try:
        return int(text, 16)
    except ValueError:
        return None


def read_source_page(rows: Rows) -> list[MeasuredLaunch]:
    """Return the launches of a source page.

    Raises:
        LayoutError: it has lines of the program alone, or something else than counts.
    """
    reader = _SourceReader(rows)
    for row in rows.rows:
        if is_heading(row.cells):
            reader.heading(*row.cells)
        elif is_source_header(row.cells):
            reader.header(row)
        else:
            reader.row(row)
    return reader.launches


# -- the pages of a file ---------------------------------------------------------------------------


def read_launches(source: Source) -> list[MeasuredLaunch]:
    """Return the launches in a file, in its order.

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


def _launches(rows: Rows) -> list[MeasuredLaunch]:
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


def _raw(header: Sequence[str], rows: Rows) -> list[MeasuredLaunch]:
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


def _details(header: Sequence[str], rows: Rows) -> list[MeasuredLaunch]:
    """Return the launches of a page with a row for each metric, or for the text of a rule."""
    launches: dict[str, MeasuredLaunch] = {}
    for row in rows.rows:
        cells = dict(zip(header, row.cells))
        name, unit = cells.get("Metric Name", ""), cells.get("Metric Unit", "")
        if "Metric Value" not in cells or not cells["ID"].isdecimal():
            continue  # what the program or ncu printed between them
        launch = launches.setdefault(cells["ID"], _launch(cells))
        _count(launch, name, cells["Metric Value"], unit, rows, row)
    return list(launches.values())


def _count(launch: MeasuredLaunch, name: str, text: str, unit: str, rows: Rows, row: Row) -> None:
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


def _launch(cells: Mapping[str, str]) -> MeasuredLaunch:
    """Return a launch of which nothing was counted yet."""
    grid = _grid(cells.get("Grid Size", ""))
    return MeasuredLaunch(cells["Kernel Name"], cells["ID"], prod(grid) if grid else None, grid)


def _grid(text: str) -> tuple[int, int, int] | None:
    """Return the CTAs of a grid along each axis.

    Example:
        >>> _grid("(64, 2, 1)"), _grid("")
        ((64, 2, 1), None)
    """
    sizes = [int(size) for size in re.findall(r"\d{1,10}", text)]
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 and all(sizes) else None


class SourceLine(NamedTuple):
    """A line of the program; the file as it is named there."""

    file: str
    line: int


@dataclass
class MeasuredLaunch:
    """Counters of one launch of a kernel.

    Attributes:
        kernel: its name.
        number: number of the launch in the file.
        ctas: CTAs of the grid; None where the page does not have it.
        grid: CTAs along each axis; None where the page does not have it.
        warps: warps that executed the first instruction; None on pages without instructions.
        cycles: duration in cycles of a multiprocessor; None where it was not measured.
        counts: counters of the whole launch.
        lines: counters of each line of the program; empty on pages without lines.
        lsu: values of `LSU_METRICS`.
        plain: accesses to shared memory whose wavefronts are from `PLAIN_METRICS`.
    """

    kernel: str
    number: str
    ctas: int | None = None
    grid: tuple[int, int, int] | None = None
    warps: float | None = None
    cycles: float | None = None
    counts: Counts = field(default_factory=dict)
    lines: dict[SourceLine, Counts] = field(default_factory=dict)
    lsu: dict[str, float] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)

    def add(self, metric: str, number: float) -> None:
        """Add the value of a compared metric."""
        if metric in LSU_METRICS:
            self.lsu[metric] = number
            if len(self.lsu) == len(LSU_METRICS):
                of_all, of_shared = (self.lsu[name] for name in LSU_METRICS)
                self.counts[GLOBAL_WAVEFRONTS] = max(0, of_all - of_shared)
        elif (counter := PLAIN_METRICS.get(metric)) is not None:
            self.plain.add(counter.access)
            self.counts[counter] = number
        else:
            counter = METRICS[metric]
            if counter.unit != "wavefronts" or counter.access not in self.plain:
                self.counts[counter] = number

    def whole(self, counts: Counts) -> Counts:
        """Return counts of the launch, with 0 for counters that no instruction contributed to."""
        if self.warps is None:
            return counts
        units = {counter.unit for counter in self.counts}
        asked = [one for one in COUNTERS if one.unit in units and one != GLOBAL_WAVEFRONTS]
        return {counter: counts.get(counter, 0) for counter in asked}
