"""Reading the source page of Nsight Compute: the instructions, below the lines that they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tt_layout.audit.measured.counters import COLUMNS, counter_of
from tt_layout.audit.measured.launch import Launch, Place
from tt_layout.audit.measured.rows import Row, Rows
from tt_layout.errors import FileLocation, LayoutError

_FILES = ("File Path", "File Name")
_HEADINGS = ("Kernel Name", "Function Name", *_FILES)


def is_heading(cells: Sequence[str]) -> bool:
    """Whether a row names the kernel or the file of what follows."""
    return len(cells) == 2 and cells[0] in _HEADINGS


def is_source_header(cells: Sequence[str]) -> bool:
    """Whether a row has the names of the columns of a source page."""
    return "Source" in cells and any(name in cells for name in ("Line No", "Address", *COLUMNS))


class _Columns(NamedTuple):
    """Indices of the columns of a source page.

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
        launches: of all kernels.
    """

    def __init__(self, rows: Rows) -> None:
        self.launches: list[Launch] = []
        self._rows = rows
        self._kernel = self._file = ""
        self._columns: _Columns | None = None
        self._place: Place | None = None
        self._seen: set[str] = set()  # files of the launch
        self._addresses: set[int] = set()
        self._first: int | None = None  # the lowest of them

    def heading(self, name: str, text: str) -> None:
        """Take the name of a kernel or of a file, of what follows."""
        if name in _FILES:
            self._file = text
        else:
            self._kernel = text
        self._columns = None

    def header(self, row: Row) -> None:
        """Take the names of the columns of what follows."""
        self._columns = _columns(row.cells, FileLocation(self._rows.file, row.line))
        self._place = None
        is_same = bool(self.launches) and self.launches[-1].kernel == self._kernel
        if not is_same or self._file in self._seen:
            self.launches.append(Launch(self._kernel, str(len(self.launches))))
            self._seen, self._addresses, self._first = set(), set(), None
        self._seen.add(self._file)

    def row(self, row: Row) -> None:
        """Take a line of the program, or an instruction."""
        columns = self._columns
        if columns is None or len(row.cells) < columns.width:
            return  # what the program or ncu printed between them
        if columns.line is not None and row.cells[columns.line].isdecimal():
            self._place = Place(self._file, int(row.cells[columns.line][:9]))
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


def read_source_page(rows: Rows) -> list[Launch]:
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
