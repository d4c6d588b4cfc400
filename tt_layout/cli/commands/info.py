"""``tt-layout info``: what a layout is made of, in numbers."""

from __future__ import annotations

import click

from tt_layout.cli.parameters import (
    echo,
    format_option,
    read_layout,
    read_order,
    read_release,
    read_type,
    release_option,
    type_option,
)
from tt_layout.reports.info import as_json, as_text, report


@click.command("info")
@click.argument("layout", metavar="LAYOUT")
@type_option
@click.option(
    "--memory-order",
    metavar="1,0",
    help="Dimensions in global memory, the fastest first; by default the last first.",
)
@release_option
@format_option
def command(
    layout: str, tensor: str, memory_order: str | None, triton: str | None, form: str
) -> None:
    """Say what a layout is made of: who holds how much, in which order, and how it is moved.

    LAYOUT is an attribute, or FILE:ALIAS.
    """
    tensor_type = read_type(tensor)
    encoding = read_layout(layout, read_release(triton), "LAYOUT")
    result = report(encoding, tensor_type, read_order(memory_order, "--memory-order"))
    if form == "json":
        import json

        click.echo(json.dumps(as_json(result), indent=2))
        return
    for line in as_text(result):
        echo(line)
