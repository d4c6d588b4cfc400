"""Plain text, for people."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.reports.format import Format
from tt_layout.reports.report import Report, plain_pieces


class TextFormat(Format):
    """Text without colours; on a terminal `tt_layout.cli.output` takes its place."""

    name = "text"
    order = 0
    prints = "text"
    needs = Report
    scope = "reports"

    @classmethod
    def texts(cls, report: Report) -> Iterator[str]:
        """Yield the lines of a report."""
        return plain_pieces(report)
