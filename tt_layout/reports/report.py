"""Protocols of reports: lines and tables for people, data for programs, parts that formats need.

A command makes one report and passes it to `tt_layout.cli.output.emit`, the only place that
prints.  A format of `tt_layout.reports.formats` names the protocol that it needs, and is offered
for the reports that follow it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tt_layout.reports.fitted import PLAIN_WIDTH, Fitted
from tt_layout.safe_text import safe_lines
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.audit.kernel import Kernel

GAP = "  "


class Line(NamedTuple):
    """A line of a report.

    Attributes:
        text: text without the newline.
        colour: its colour on a terminal; empty for none.
    """

    text: str = ""
    colour: str = ""


def lines_of_both(before: object, after: object) -> Iterator[Line]:
    """Yield two layouts of a comparison, marked as in a difference of texts."""
    yield Line(f"- {before}", "red")
    yield Line(f"+ {after}", "green")


@runtime_checkable
class Report(Protocol):
    """Result of a command."""

    def lines(self) -> Iterable[Line | Fitted]:
        """Return the text for people."""

    def data(self) -> dict[str, Any]:
        """Return the data for programs; the value of a long list may be an iterator."""


@runtime_checkable
class Titled(Report, Protocol):
    """Report that can be a page of its own."""

    def title(self) -> str:
        """Return the title of the page."""


class Summary(NamedTuple):
    """The short form of a report, with a table.

    Attributes:
        title: title of the subject.
        text: the summary in a line.
        header, rows: header and rows of the table; without rows there is none.
    """

    title: str
    text: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@runtime_checkable
class Summarized(Protocol):
    """Report that can be one comment."""

    def summarized(self) -> Summary:
        """Return the summary."""


class Annotation(NamedTuple):
    """Message at a line of a file.

    Attributes:
        file, line: location; empty and 0 where not known.
        title: title of the message; empty for none.
        level: ``error`` or ``warning``.
    """

    message: str
    file: str = ""
    line: int = 0
    title: str = ""
    level: str = "error"


@runtime_checkable
class Annotated(Protocol):
    """Report of messages at lines of files."""

    def annotations(self) -> Iterator[Annotation | Line]:
        """Yield the messages, and other lines."""


@runtime_checkable
class OfKernels(Protocol):
    """Report of kernels."""

    def all_kernels(self) -> Iterator[Kernel]:
        """Yield the kernels, each audited on demand."""


class Problem(NamedTuple):
    """Reason why a case did not pass.

    Attributes:
        is_error: whether the case could not be run.
        kind: the kind of problem in a word.
        message: the problem in a line.
        text: the full text.
    """

    is_error: bool
    kind: str
    message: str
    text: str


class ReportedCase(NamedTuple):
    """A test case.

    Attributes:
        name: name of the case.
        file, line: where it is defined; None where not known.
        problem: None if it passed.
        seconds: its duration; None where not known.
    """

    name: str
    file: str | None = None
    line: int | None = None
    problem: Problem | None = None
    seconds: float | None = None


class Suite(NamedTuple):
    """A suite of test cases, and its name."""

    name: str
    cases: Iterable[ReportedCase]


@runtime_checkable
class Tested(Protocol):
    """Report of test cases."""

    def suite(self) -> Suite:
        """Return the cases."""


def safe_elements(report: Report, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the text of a report, with control sequences of terminals neutralised.

    Args:
        report: the report.
        width: line width to which tables and paragraphs are folded.
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
