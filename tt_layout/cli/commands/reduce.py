"""``tt-layout reduce``: the order in which a reduction adds the elements along an axis."""

from __future__ import annotations

import click

from tt_layout.cli.output import emit
from tt_layout.cli.parameters import (
    InferredOption,
    LayoutArgument,
    LayoutParameter,
    format_option,
    reading_options,
    target_option,
    type_option,
)
from tt_layout.encodings import Encoding
from tt_layout.enums import ORDERINGS, UNORDERED
from tt_layout.errors import pointing_at
from tt_layout.hardware import Target
from tt_layout.mlir.types import TensorType
from tt_layout.reports.reduce import reduction_report


@click.command(
    "reduce",
    help="""\
    Show the order in which a reduction adds the elements along an axis.

    Sums of floats have the same bits only if they are added in one order: within threads, between
    lanes and between warps. LAYOUT is in any notation, FILE:ALIAS, or FILE:LINE of a reduction;
    --triton chooses the release that compiles it. diff --reduce compares two layouts.
    """,
)
@click.argument("layout", cls=LayoutArgument, type=LayoutParameter(), metavar="LAYOUT")
@type_option
@click.option(
    "--axis",
    cls=InferredOption,
    type=int,
    required=True,
    metavar="N",
    help="The dimension that is reduced; -1 is the last.",
)
@target_option
@click.option(
    "--ordering",
    cls=InferredOption,
    type=click.Choice(ORDERINGS),
    default=UNORDERED,
    show_default=True,
    help="The reduction_ordering of Meta's Triton.",
)
@reading_options
@format_option
def command(
    layout: Encoding,
    tensor: TensorType,
    axis: int,
    target: Target | None,
    ordering: str,
    output_format: str,
) -> None:
    """Show the order in which a reduction adds the elements along an axis."""
    with pointing_at(tensor.span):
        report = reduction_report(layout, tensor, axis, target, ordering)
    emit(report, output_format)
