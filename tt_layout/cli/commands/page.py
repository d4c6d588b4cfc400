"""``tt-layout page``: a page in which layouts are typed."""

from __future__ import annotations

import click

from tt_layout.cli.parameters import FileParameter


@click.command(
    "page",
    help="""\
    Make one HTML file in which layouts are typed, in any notation, seen, compared and shared.

    Put it on any web server, or open it as it is: nothing else is loaded, and nothing sent.
    """,
)
@click.option(
    "-o",
    "output",
    type=FileParameter(),
    metavar="FILE",
    help="Write to FILE; by default to standard output.",
)
def command(output: str | None) -> None:
    """Make one HTML file in which layouts are typed."""
    from tt_layout.page.playground import playground
    from tt_layout.reports.writing import write

    content = playground().encode()
    write([content], output, size=len(content))
