"""Annotations of GitHub Actions: workflow commands for lines of files.

Source:
    GitHub, "Workflow commands for GitHub Actions"; escapes as in actions/toolkit,
    packages/core/src/command.ts.
"""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.reports.format import Format
from tt_layout.reports.report import Annotated, Annotation, Line
from tt_layout.safe_text import safe


class GitHub(Format):
    """A line for each annotation."""

    name = "github"
    order = 30
    prints = "GitHub annotations"
    needs = Annotated
    scope = "the report of an audit"

    @classmethod
    def texts(cls, report: Annotated) -> Iterator[str]:
        """Yield the annotations of a report, and its other lines."""
        for item in report.annotations():
            yield f"{item.text if isinstance(item, Line) else workflow_command(item)}\n"


def workflow_command(annotation: Annotation) -> str:
    """Format a workflow command of GitHub Actions that annotates a line.

    Example:
        >>> workflow_command(Annotation("50% moved\\nsee below", "a,b.yaml", 3, "x: changed"))
        '::error file=a%2Cb.yaml,line=3,title=x%3A changed::50%25 moved%0Asee below'
        >>> workflow_command(Annotation("no manifest"))
        '::error::no manifest'
    """
    line = str(annotation.line) if annotation.line else ""
    values = {"file": annotation.file, "line": line, "title": annotation.title}
    options = ",".join(f"{key}={_property(value)}" for key, value in values.items() if value)
    head = f"{annotation.level} {options}" if options else annotation.level
    return f"::{head}::{_data(annotation.message)}"


def _data(text: str) -> str:
    lines = text.replace("%", "%25").split("\n")
    return "%0A".join("%0D".join(map(safe, line.split("\r"))) for line in lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
