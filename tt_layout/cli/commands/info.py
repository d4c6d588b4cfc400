"""``tt-layout info``: the properties of a layout, in numbers."""

from __future__ import annotations

import click

from tt_layout.cli.output import emit
from tt_layout.cli.parameters import (
    LayoutArgument,
    LayoutParameter,
    NumbersParameter,
    format_option,
    npot_option,
    reading_options,
    type_option,
)
from tt_layout.encodings import Encoding
from tt_layout.mlir.types import TensorType
from tt_layout.reports.modular import info_over_any_sizes


@click.command(
    "info",
    help="""\
    Show the properties of a layout: elements per thread, order, contiguity, replication.

    LAYOUT is in any notation, or FILE:ALIAS.
    """,
)
@click.argument("layout", cls=LayoutArgument, type=LayoutParameter(), metavar="LAYOUT")
@type_option
@click.option(
    "--memory-order",
    type=NumbersParameter(),
    metavar="1,0",
    help="Dimensions in global memory, the fastest first; by default the last first.",
)
@reading_options
@npot_option
@format_option
def command(
    layout: Encoding,
    tensor: TensorType,
    memory_order: list[int] | None,
    output_format: str,
) -> None:
    """Show the properties of a layout: elements per thread, order, contiguity, replication."""
    emit(info_over_any_sizes(layout, tensor, memory_order), output_format)
