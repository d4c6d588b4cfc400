"""``tt-layout diff``: what changed between two layouts, in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from tt_layout.analyses.encoding_difference import LEVELS, Difference, difference
from tt_layout.cli.parameters import (
    echo,
    format_option,
    read_layout,
    read_release,
    read_type,
    release_option,
    type_option,
)
from tt_layout.errors import LayoutError

JSON_VERSION = 1

VERDICTS = {
    "text": "same text",
    "map": "same map, written differently",
    "registers": "same but for the order of registers",
    "lanes": "same but for the order of lanes",
    "warps": "same but for the order of warps",
    "different": "different",
}


def as_text(result: Difference) -> list[tuple[str, str]]:
    """Return the lines of the report, each with the colour it has on a terminal."""
    colour = "red" if result.verdict == "different" else "green"
    lines = [
        (f"- {result.before}", "red"),
        (f"+ {result.after}", "green"),
        (VERDICTS[result.verdict], colour),
    ]
    lines += [(f"  {words}", "") for words in result.words()]
    others = result.comparison.first_moves[1:]
    return lines + [(f"  next: {move}", "") for move in others]


def as_json(result: Difference) -> dict[str, Any]:
    """Return the report as plain data; documented in ``docs/diff.md``."""
    return {
        "version": JSON_VERSION,
        "before": str(result.before),
        "after": str(result.after),
        "verdict": result.verdict,
        "words": result.words(),
        **asdict(result.comparison),
    }


@click.command("diff")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@type_option
@release_option
@click.option(
    "--equal",
    "level",
    type=click.Choice(LEVELS),
    default="map",
    show_default=True,
    help="What counts as same: the text, the map, or the map but for an order.",
)
@format_option
def command(before: str, after: str, tensor: str, triton: str | None, level: str, form: str) -> int:
    """Say what changed between two layouts of one tensor.

    A and B are attributes, or FILE:ALIAS. Exits 0 if they are the same, 1 if they differ, 2 on
    trouble.
    """
    release, tensor_type = read_release(triton), read_type(tensor)
    encodings = read_layout(before, release, "A"), read_layout(after, release, "B")
    try:
        result = difference(*encodings, tensor_type)
    except LayoutError as error:
        raise error.at(tensor_type.span) from None
    if form == "json":
        import json

        click.echo(json.dumps(as_json(result), indent=2))
    else:
        for line, colour in as_text(result):
            echo(line, colour)
    return 0 if result.is_equal(level) else 1
