"""``tt-layout where``: the locations of an element, and the element at a location."""

from __future__ import annotations

from typing import Any

import click

from tt_layout.analyses.layouts.point import MAX_HOLDERS
from tt_layout.cli.output import emit
from tt_layout.cli.parameters import (
    LayoutArgument,
    LayoutParameter,
    NumbersParameter,
    format_option,
    reading_options,
    type_option,
)
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError, pointing_at
from tt_layout.mlir.source import Source
from tt_layout.mlir.types import TensorType
from tt_layout.placement import place
from tt_layout.reports.where import INPUTS, element_report, location_report

_HELPS = {
    "thread": "The thread, counted across all warps.",
    "offset": "The offset in elements, as in the views.",
}


def _input_options(function: Any) -> Any:
    """Add an option for each input of a location."""
    for name in reversed(INPUTS):
        option = click.option(
            f"--{name}",
            type=click.IntRange(min=0),
            metavar="N",
            help=_HELPS.get(name, f"The {name}."),
        )
        function = option(function)
    return function


@click.command(
    "where",
    help="""\
    Show which locations hold an element, or which element a location holds, and its bits.

    LAYOUT is in any notation, or FILE:ALIAS. Ask for an element with --element, or for a location:
    --thread (or --lane and --warp) and --register; --offset; --row and --column. Without
    --register, all registers of the thread are listed.
    """,
)
@click.argument("layout", cls=LayoutArgument, type=LayoutParameter(), metavar="LAYOUT")
@type_option
@click.option(
    "--element", type=NumbersParameter(), metavar="I,J", help="Show the locations of this element."
)
@_input_options
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=1 << 20),
    metavar="N",
    default=MAX_HOLDERS,
    show_default=True,
    help="List at most this many locations.",
)
@reading_options
@format_option
def command(
    layout: Encoding,
    tensor: TensorType,
    element: list[int] | None,
    limit: int,
    output_format: str,
    **inputs: int | None,
) -> None:
    """Show which locations hold an element, or what a location holds, and by which bits."""
    location = {name: value for name, value in inputs.items() if value is not None}
    if (element is None) == (not location):
        message = "ask for one element with --element 3,5, or for one location"
        raise LayoutError(f"{message}, such as --thread 37 --register 2 or --offset 96")
    placed = place(layout, tensor)
    if element is None:
        emit(location_report(placed, location), output_format)
        return
    text = ",".join(map(str, element))
    with pointing_at(Source(text, "--element").span(0, len(text))):
        report = element_report(placed, element, limit)
    emit(report, output_format)
