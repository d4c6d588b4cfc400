"""``tt-layout convert``: the cost of converting a tensor between two layouts."""

from __future__ import annotations

import click

from tt_layout.cli.output import emit
from tt_layout.cli.parameters import (
    InferredOption,
    LayoutArgument,
    LayoutParameter,
    format_option,
    npot_option,
    read_target,
    reading_options,
    type_option,
)
from tt_layout.encodings import Encoding
from tt_layout.errors import pointing_at
from tt_layout.hardware import target_names
from tt_layout.mlir.types import TensorType
from tt_layout.reports.modular import conversion_over_any_sizes


@click.command(
    "convert",
    help="""\
    Show what converting a tensor from one layout to another takes.

    Both are register layouts, or one is a shared layout: a load from shared memory, or a store
    to it. They are in any notation, or FILE:ALIAS.
    """,
)
@click.argument("src", cls=LayoutArgument, type=LayoutParameter(), metavar="SRC_LAYOUT")
@click.argument("dst", cls=LayoutArgument, type=LayoutParameter(), metavar="DST_LAYOUT")
@type_option
@click.option(
    "--target",
    cls=InferredOption,
    metavar="TARGET",
    help=f"The GPU: {target_names()}; by default one with the layout's warp size.",
)
@reading_options
@npot_option
@format_option
def command(
    src: Encoding,
    dst: Encoding,
    tensor: TensorType,
    target: str | None,
    output_format: str,
) -> None:
    """Show what converting a tensor from one layout to another takes."""
    if target is not None:
        read_target(target)
    with pointing_at(tensor.span):
        report = conversion_over_any_sizes(src, dst, tensor, target)
    emit(report, output_format)
