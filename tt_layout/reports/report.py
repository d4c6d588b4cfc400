"""What every report is: lines and tables for people, and data for programs.

A command makes one report and hands it to `tt_layout.cli.output.emit`, the one way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from tt_layout.reports.fitted import PLAIN_WIDTH, Fitted
from tt_layout.safe_text import safe, safe_lines

GAP = "  "


class Line(NamedTuple):
    """A line of a report.

    Attributes:
        text: without its end.
        colour: the colour that it has on a terminal; empty for none.
    """

    text: str = ""
    colour: str = ""


class Table(NamedTuple):
    """A table of a report.

    Attributes:
        header: the names of the columns.
        rows: the cells.
        right: the names of the columns that are flush right.
        indent: what stands in front of every line.

    Example:
        >>> table = Table(["name", "count"], [["a", "10"], ["bcdef", "9"]], ["count"])
        >>> print(*table.lines(), sep="\\n")
          name   count
          a         10
          bcdef      9
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[str] = ()
    indent: str = GAP

    def without(self, *names: str) -> Table:
        """Return the table without some of its columns."""
        kept = [at for at, name in enumerate(self.header) if name not in names]
        header, *rows = ([row[at] for at in kept] for row in (self.header, *self.rows))
        return self._replace(header=header, rows=rows)

    def lines(self) -> Iterator[str]:
        """Yield aligned lines, the same for the same cells."""
        columns = zip(self.header, *self.rows)
        widths = [max(map(len, column)) for column in columns]
        flush = ["" if name in self.right else "-" for name in self.header]
        form = self.indent + GAP.join(f"%{left}{width}s" for left, width in zip(flush, widths))
        for row in (self.header, *self.rows):
            yield (form % tuple(row)).rstrip()

    @property
    def safe(self) -> Table:
        """The table without anything that a terminal would act on."""
        if all(map(str.isprintable, map("".join, self.rows))):
            return self
        return self._replace(rows=[[safe(cell) for cell in row] for row in self.rows])


class Report(Protocol):
    """What a command found out."""

    def lines(self) -> Iterable[Line | Table | Fitted]:
        """Return what people read."""

    def data(self) -> dict[str, Any]:
        """Return what programs read; a value may be an iterator, of a list that is long."""


def safe_elements(report: Report, width: int = PLAIN_WIDTH) -> Iterator[Line | Table]:
    """Yield the text of a report, without anything that a terminal would act on.

    Args:
        report: the report.
        width: of a line, to which what can be folded is folded.
    """
    for element in report.lines():
        if isinstance(element, Table):
            yield element.safe
        elif isinstance(element, Line):
            yield element._replace(text=safe_lines(element.text))
        else:
            for text, colour in element.fold(width):
                yield Line(safe_lines(text), colour)


def plain_pieces(report: Report) -> Iterator[str]:
    """Yield a report as plain text, a line or a table at a time.

    Escape sequences and CI commands in it are neutralised.
    """
    for element in safe_elements(report):
        if isinstance(element, Table):
            yield safe_lines("\n".join(element.lines())) + "\n"
        else:
            yield f"{element.text}\n"


def plain_text(report: Report) -> str:
    """Return a report as plain text."""
    return "".join(plain_pieces(report))
