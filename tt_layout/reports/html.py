"""A report as HTML, for notebooks: lines in a fixed-width font."""

from __future__ import annotations

from html import escape

from tt_layout.reports.report import Line, Report, safe_elements

STYLE = "font:12px/1.4 monospace;white-space:pre;text-align:left;overflow-x:auto"
"""120 characters fit in the cell of a notebook on a screen of 1400 pixels."""

COLOURS = {
    name: f"color-mix(in srgb,{colour} 60%,currentColor)"
    for name, colour in {"red": "#d8382e", "green": "#1f9d55", "yellow": "#b87800"}.items()
}
"""Mixed with the colour of text they can be read in themes of any kind."""


def to_html(report: Report) -> str:
    """Return a report as HTML; text of files is shown, never obeyed.

    Example:
        >>> class Sample:
        ...     def lines(self):
        ...         return [Line("a < b", "red")]
        >>> to_html(Sample())
        '<div style="font:12px/1.4 monospace;white-space:pre;text-align:left;overflow-x:auto"><div \
style="color:color-mix(in srgb,#d8382e 60%,currentColor)">a &lt; b</div></div>'
    """
    return f'<div style="{STYLE}">{"".join(map(_line, safe_elements(report)))}</div>'


def to_page(title: str, report: Report, mark: str = "") -> str:
    """Return a report as a page of its own, with a mark in its head."""
    head = f'<meta charset="utf-8">{mark}<title>{escape(title)}</title>'
    theme = "<style>:root{color-scheme:light dark}</style>"
    return f"<!doctype html>\n<html lang=en>{head}{theme}<body>{to_html(report)}</body></html>\n"


def _line(line: Line) -> str:
    colour = COLOURS.get(line.colour)
    style = f' style="color:{colour}"' if colour else ""
    return f"<div{style}>{escape(line.text) or '&nbsp;'}</div>"
