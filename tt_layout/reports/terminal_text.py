"""A report on a terminal: lines in colour, tables that fit its width."""

from __future__ import annotations

from tt_layout.reports.report import Report, safe_elements
from tt_layout.reports.writing import DEFAULT_SIZE


def terminal_text(report: Report, *, has_colours: bool, width: int | None = None) -> str:
    """Return the text of a report for a terminal.

    Args:
        report: the report.
        has_colours: whether colours are wanted.
        width: the characters in a line; by default those of the terminal.
    """
    from shutil import get_terminal_size

    from click import style

    from tt_layout.folding import fold

    columns = width or get_terminal_size(DEFAULT_SIZE).columns or DEFAULT_SIZE.columns
    lines = []
    for line in safe_elements(report, columns):
        for text in fold(line.text, columns).split("\n"):
            lines.append(style(text, fg=line.colour) if has_colours and line.colour else text)
    return "".join(f"{line}\n" for line in lines)
