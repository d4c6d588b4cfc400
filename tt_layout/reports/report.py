"""Protocol of reports: lines and tables for people, and data for programs.

A command makes one report and hands it to `tt_layout.cli.output.emit`, the one way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from tt_layout.reports.fitted import PLAIN_WIDTH, Fitted
from tt_layout.safe_text import safe_lines

GAP = "  "


class Line(NamedTuple):
    """A line of a report.

    Attributes:
        text: without its end.
        colour: the colour that it has on a terminal; empty for none.
    """

    text: str = ""
    colour: str = ""


class Report(Protocol):
    """Result of a command."""

    def lines(self) -> Iterable[Line | Fitted]:
        """Return the text for people."""

    def data(self) -> dict[str, Any]:
        """Return the data for programs; the value of a long list may be an iterator."""


def safe_elements(report: Report, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the text of a report, without anything that a terminal would act on.

    Args:
        report: the report.
        width: of a line, to which what can be folded is folded.
    """
    for element in report.lines():
        if isinstance(element, Line):
            yield element._replace(text=safe_lines(element.text))
        else:
            for text, colour in element.fold(width):
                yield Line(safe_lines(text), colour)


def plain_pieces(report: Report) -> Iterator[str]:
    """Yield a report as plain text, a line at a time.

    Escape sequences and CI commands in it are neutralised.
    """
    for line in safe_elements(report):
        yield f"{line.text}\n"


def plain_text(report: Report) -> str:
    """Return a report as plain text."""
    return "".join(plain_pieces(report))
