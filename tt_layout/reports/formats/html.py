"""HTML: lines in a fixed-width font, as a page and in the cell of a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.reports.format import Format
from tt_layout.reports.report import Line, Report, Titled, safe_elements
from tt_layout.version import __version__

STYLE = "font:12px/1.4 monospace;white-space:pre;text-align:left;overflow-x:auto"
"""120 characters fit in the cell of a notebook on a screen of 1400 pixels."""

COLOURS = {
    name: f"color-mix(in srgb,{colour} 60%,currentColor)"
    for name, colour in {"red": "#d8382e", "green": "#1f9d55", "yellow": "#b87800"}.items()
}
"""Mixed with the colour of text they can be read in themes of any kind."""


MARK = '<meta name="generator" content="tt-layout'
"""The beginning of what is in the head of a page of ours, in front of the release."""

GENERATOR = f'{MARK} {__version__}">'
"""What is in the head of a page that a later one may replace."""


class Html(Format):
    """A page of its own."""

    name = "html"
    order = 60
    prints = "a page"
    needs = Titled
    scope = "--baseline"
    ending = ".html"

    @classmethod
    def texts(cls, report: Titled) -> Iterator[str]:
        """Yield the page of a report."""
        yield to_page(report.title(), report)

    @classmethod
    def marked(cls, report: Titled) -> str:
        """Return the page with the release that wrote it in its head."""
        return to_page(report.title(), report, GENERATOR)

    @classmethod
    def is_marked(cls, start: bytes, end: bytes) -> bool:
        """Tell whether a page has the mark in its head."""
        return start.startswith(b"<!doctype html>") and MARK.encode() in start


def to_html(report: Report) -> str:
    """Return a report as HTML, with the text of files escaped.

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
    """Return a report as a page of its own, with a mark in its head.

    It has a heading and a landmark for screen readers.
    """
    from html import escape  # with all entities of HTML

    head = f'<meta charset="utf-8">{mark}<title>{escape(title)}</title>'
    theme = "<style>:root{color-scheme:light dark}</style>"
    heading = f'<h1 style="font:600 14px system-ui">{escape(title)}</h1>'
    body = f"<body><main>{heading}{to_html(report)}</main></body>"
    return f"<!doctype html>\n<html lang=en>{head}{theme}{body}</html>\n"


def _line(line: Line) -> str:
    from html import escape

    colour = COLOURS.get(line.colour)
    style = f' style="color:{colour}"' if colour else ""
    return f"<div{style}>{escape(line.text) or '&nbsp;'}</div>"
