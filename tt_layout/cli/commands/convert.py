"""``tt-layout convert``: what converting a tensor between two layouts takes."""

from __future__ import annotations

import click

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
from tt_layout.hardware import find_target, target_names
from tt_layout.reports.convert import as_json, as_text, report


@click.command("convert")
@click.argument("src", metavar="SRC")
@click.argument("dst", metavar="DST")
@type_option
@click.option("--target", metavar="TARGET", help=f"The GPU: {target_names()}.")
@release_option
@format_option
def command(
    src: str, dst: str, tensor: str, target: str | None, triton: str | None, form: str
) -> None:
    """Say what converting a tensor from layout SRC to layout DST takes.

    SRC and DST are attributes, or FILE:ALIAS, of tensors in registers.
    """
    release, tensor_type = read_release(triton), read_type(tensor)
    if target is not None:
        find_target(target)
    encodings = read_layout(src, release, "SRC"), read_layout(dst, release, "DST")
    try:
        result = report(*encodings, tensor_type, target)
    except LayoutError as error:
        raise error.at(tensor_type.span) from None
    if form == "json":
        import json

        click.echo(json.dumps(as_json(result), indent=2))
        return
    for line, colour in as_text(result):
        echo(line, colour)
