"""``tt-layout swizzle``: the shared layout with the fewest cycles."""

from __future__ import annotations

import click

from tt_layout.analyses.shared_memory.swizzle import FAMILIES, find_swizzle
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
from tt_layout.hardware import DEFAULT_TARGET, Target, target_names
from tt_layout.mlir.types import TensorType
from tt_layout.reports.conflicts import element_bytes
from tt_layout.reports.swizzle import SwizzleReport


@click.command(
    "swizzle",
    help="""\
    Find the shared layout with the fewest bank conflicts for a writer and its readers.

    Writers and readers are register layouts, in any notation, or FILE:ALIAS. Without a reader the
    writer reads the tensor back.
    """,
)
@click.argument("writer", cls=LayoutArgument, type=LayoutParameter(), metavar="WRITER_LAYOUT")
@click.argument(
    "readers", cls=LayoutArgument, type=LayoutParameter(), metavar="[READER_LAYOUT]...", nargs=-1
)
@type_option
@click.option(
    "--writer",
    "more_writers",
    cls=InferredOption,
    type=LayoutParameter(),
    multiple=True,
    help="Another layout that writes.",
)
@click.option(
    "--target",
    cls=InferredOption,
    type=TargetParameter(),
    default=DEFAULT_TARGET,
    show_default=True,
    help=f"The GPU: {target_names()}.",
)
@click.option(
    "--family",
    type=click.Choice([*FAMILIES, "all"]),
    default="swizzled",
    show_default=True,
    help="The attribute whose parameters are searched.",
)
@click.option(
    "--max-search",
    type=click.IntRange(1),
    metavar="COUNT",
    help="Try at most this many layouts; by default as many as take a few seconds.",
)
@click.option("--all", "has_ranking", is_flag=True, help="Show the whole ranking.")
@reading_options
@format_option
def command(
    writer: Encoding,
    readers: tuple[Encoding, ...],
    tensor: TensorType,
    more_writers: tuple[Encoding, ...],
    target: Target,
    family: str,
    max_search: int | None,
    has_ranking: bool,
    output_format: str,
) -> None:
    """Find the shared layout with the fewest bank conflicts for a writer and its readers."""
    writers = [writer, *more_writers]
    size = element_bytes(tensor)
    with pointing_at(tensor.span):
        search = find_swizzle(
            writers,
            readers or writers,
            tensor.shape,
            elem_bytes=size,
            target=target,
            family=family,
            max_candidates=max_search,
        )
    emit(SwizzleReport(search, target, has_ranking), output_format)
