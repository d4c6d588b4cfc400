"""``tt-layout conflicts``: the turns that shared-memory accesses take, and which lanes collide."""

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
from tt_layout.hardware import DEFAULT_TARGET, find_target, target_names
from tt_layout.reports.conflicts import KINDS, as_json, as_text, report

target_option = click.option(
    "--target", "target_name", default=DEFAULT_TARGET, show_default=True, metavar="TARGET",
    help=f"The GPU: {target_names()}.",
)  # fmt: skip


@click.command("conflicts")
@click.argument("register", metavar="REG")
@click.argument("shared", metavar="SHARED")
@type_option
@target_option
@click.option("--access", type=click.Choice([*KINDS, "both"]), default="both", show_default=True)
@click.option("--fail-on-conflict", is_flag=True, help="Exit 1 where lanes take turns.")
@release_option
@format_option
def command(
    register: str,
    shared: str,
    tensor: str,
    target_name: str,
    access: str,
    fail_on_conflict: bool,
    triton: str | None,
    form: str,
) -> int:
    """Count the shared-memory turns of storing and loading a tensor.

    REG and SHARED are attributes, or FILE:ALIAS, in either order. Exits 0; 1 on a conflict with
    --fail-on-conflict; 2 on trouble.
    """
    target, release, tensor_type = find_target(target_name), read_release(triton), read_type(tensor)
    encodings = read_layout(register, release, "REG"), read_layout(shared, release, "SHARED")
    try:
        result = report(*encodings, tensor_type, target)
    except LayoutError as error:
        raise error.at(tensor_type.span) from None
    kinds = KINDS if access == "both" else (access,)
    if form == "json":
        import json

        click.echo(json.dumps(as_json(result, kinds), indent=2))
    else:
        for line, colour in as_text(result, kinds):
            echo(line, colour)
    found = any(getattr(result, kind).excess for kind in kinds)
    return 1 if found and fail_on_conflict else 0
