"""``tt-layout diff``: what changed between two layouts, in words."""

from __future__ import annotations

import click

from tt_layout.analyses.layouts.encoding_difference import LEVELS, difference
from tt_layout.cli.output import emit
from tt_layout.cli.parameters import (
    InferredOption,
    LayoutArgument,
    LayoutParameter,
    TargetParameter,
    format_option,
    reading_options,
    type_option,
)
from tt_layout.encodings import Encoding
from tt_layout.errors import pointing_at
from tt_layout.hardware import Target, target_names
from tt_layout.mlir.types import TensorType
from tt_layout.reports.difference import DifferenceReport


@click.command(
    "diff",
    help="""\
    Explain what changed between two layouts of one tensor.

    The layouts are in any notation, or FILE:ALIAS. Exits 0 if they are equal, 1 if they differ, 2
    on error. With --reduce, they are equal if sums have the same bits.
    """,
)
@click.argument("before", cls=LayoutArgument, type=LayoutParameter(), metavar="OLD_LAYOUT")
@click.argument("after", cls=LayoutArgument, type=LayoutParameter(), metavar="NEW_LAYOUT")
@type_option
@reading_options
@click.option(
    "--equal",
    "level",
    type=click.Choice(LEVELS),
    default="map",
    show_default=True,
    help="What counts as equal: the text, the map, or the map up to an order.",
)
@click.option(
    "--reduce",
    "axis",
    type=int,
    metavar="N",
    help="Compare the bits of sums along this dimension.",
)
@click.option(
    "--target",
    cls=InferredOption,
    type=TargetParameter(),
    help=f"With --reduce, the GPU: {target_names()}.",
)
@format_option
def command(
    before: Encoding,
    after: Encoding,
    tensor: TensorType,
    level: str,
    axis: int | None,
    target: Target | None,
    output_format: str,
) -> int:
    """Explain what changed between two layouts of one tensor."""
    with pointing_at(tensor.span):
        if axis is not None:
            from tt_layout.reports.reduce import reduction_difference

            report = reduction_difference(before, after, tensor, axis, target)
            emit(report, output_format)
            return 0 if report.has_same_bits else 1
        comparison = difference(before, after, tensor)
    emit(DifferenceReport(comparison), output_format)
    return 0 if comparison.is_equal(level) else 1
