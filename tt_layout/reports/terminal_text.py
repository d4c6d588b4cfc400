"""A report on a terminal: lines in colour, tables that fit its width."""

from __future__ import annotations

from tt_layout.reports.report import Report, Table, safe_elements
from tt_layout.reports.writing import DEFAULT_COLUMNS


def terminal_text(report: Report, *, has_colours: bool, width: int | None = None) -> str:
    """Return the text of a report for a terminal.

    Args:
        report: the report.
        has_colours: whether colours are wanted.
        width: the characters in a line; by default those of the terminal.
    """
    from shutil import get_terminal_size

    from click import style

    lines = []
    for element in safe_elements(report, width or get_terminal_size().columns or DEFAULT_COLUMNS):
        if isinstance(element, Table):
            lines.append(_table(element, has_colours, width))
        else:
            colour = element.colour if has_colours and element.colour else None
            lines.append((style(element.text, fg=colour) if colour else element.text) + "\n")
    return "".join(lines)


def _table(table: Table, has_colours: bool, width: int | None) -> str:
    """Return a table with rules; cells that are too wide for the terminal are folded."""
    from io import StringIO

    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in table.header:
        justify = "right" if name in table.right else "left"
        drawn.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    console = Console(
        file=StringIO(),
        force_terminal=True,
        no_color=not has_colours,
        width=width,
        height=25,  # of a dumb terminal the width is only asked for with the height
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(drawn)
    return captured.get()
