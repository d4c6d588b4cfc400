"""The rows and numbers of what Nsight Compute prints as CSV.

It puts every cell in quotes, but does not double those within: a line of a program such as
``eviction_policy="evict_last", mask=m`` is no cell for a reader of CSV.  Numbers are grouped and
pointed as the locale of the machine says.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tt_layout.errors import FileLocation, LayoutError, quoted
from tt_layout.mlir.source import Source

MISSING = ("", "-", "n/a", "no data", "nan")
"""What stands where nothing was counted."""

SCALES = {"K": 1e3, "M": 1e6, "G": 1e9}
"""First letter of a unit -> what the values are multiples of."""

MAX_COUNT = 1e18
"""More than any launch does."""

_DECIMAL_COMMA = re.compile(r"(\d+|\d{1,3}(\.\d{3})+),(\d{1,2}|\d{4,})")
"""A number that no locale with a decimal point prints."""


class Row(NamedTuple):
    """A row of the file and its line."""

    line: int
    cells: Sequence[str]


class Rows(NamedTuple):
    """The rows of a file.

    Attributes:
        file: its name.
        rows: those that are not empty.
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
    for line, text in enumerate(source.text.removeprefix("\ufeff").splitlines(), 1):
        try:
            cells = split_cells(text)
        except csv.Error as error:
            where = FileLocation(source.name, line)
            raise LayoutError(f"cannot read as CSV: {error}", where) from None
        if cells:
            yield Row(line, [cell.strip() for cell in cells])


def split_cells(line: str) -> list[str]:
    """Return the cells of a line, without that behind a last comma.

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
        return next(csv.reader([text]), [])
    return text[1:].removesuffix(",").removesuffix('"').split('","')
