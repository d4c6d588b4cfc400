"""Markdown: a comment for a pull request, with a table of the changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tt_layout.reports.format import Format
from tt_layout.reports.report import Summarized
from tt_layout.safe_text import safe

MAX_ROWS = 100
"""Rows of a comment: GitHub takes 65,536 characters."""


class Markdown(Format):
    """One comment: a summary, and a table."""

    name = "markdown"
    order = 50
    prints = "a comment in Markdown"
    needs = Summarized
    scope = "--baseline"

    @classmethod
    def texts(cls, report: Summarized) -> Iterator[str]:
        """Yield the summary of a report and the rows of its table, as far as there is room."""
        summary = report.summarized()
        yield f"**{summary.title}**: {summary.text}\n"
        if summary.rows:
            yield "\n"
            yield _row(summary.header)
            yield _row(["---"] * len(summary.header))
            for cells in summary.rows[:MAX_ROWS]:
                yield _row(map(_code, cells))
        if len(summary.rows) > MAX_ROWS:
            yield f"\nand {len(summary.rows) - MAX_ROWS} more\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _code(cell: str) -> str:
    """Format the text of a file as code, unless it is a plain word."""
    if cell.replace(" ", "").isalnum() or cell == "-":
        return cell
    return "`" + safe(cell).replace("`", "'").replace("|", "\\|") + "`"
