"""``tt-layout conflicts``: shared-memory bank conflicts, and which lanes collide."""

from __future__ import annotations

import click

from tt_layout.cli.output import emit, note
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
from tt_layout.enums import MemorySpace
from tt_layout.errors import pointing_at
from tt_layout.hardware import DEFAULT_TARGET, Target, find_target
from tt_layout.mlir.types import TensorType
from tt_layout.reports.conflicts import KINDS, conflicts_report, target_of


@click.command(
    "conflicts",
    help="""\
    Count the shared-memory bank conflicts of storing and loading a tensor.

    The layouts are in any notation, or FILE:ALIAS, and may be given in either order. Exits 0; 1 on
    a conflict with --fail-on-conflict; 2 on error.
    """,
)
@click.argument("register", cls=LayoutArgument, type=LayoutParameter(), metavar="REGISTER_LAYOUT")
@click.argument(
    "shared", cls=LayoutArgument, type=LayoutParameter(MemorySpace.SHARED), metavar="SHARED_LAYOUT"
)
@type_option
@target_option
@click.option(
    "--access",
    cls=InferredOption,
    type=click.Choice([*KINDS, "both"]),
    default="both",
    show_default=True,
    help="Count a store, a load, or both.",
)
@click.option("--fail-on-conflict", is_flag=True, help="Exit 1 if there are bank conflicts.")
@reading_options
@format_option
def command(
    register: Encoding,
    shared: Encoding,
    tensor: TensorType,
    target: Target | None,
    access: str,
    fail_on_conflict: bool,
    output_format: str,
) -> int:
    """Count the shared-memory bank conflicts of storing and loading a tensor."""
    kinds = KINDS if access == "both" else (access,)
    with pointing_at(tensor.span):
        gpu = target or target_of(register, shared, tensor)
        report = conflicts_report(register, shared, tensor, gpu, kinds)
    emit(report, output_format)
    if target is None and gpu.name != find_target(DEFAULT_TARGET).name:
        note(f"warps of {gpu.lanes} lanes are of {gpu.title}; --target picks another GPU")
    has_conflicts = any(access.extra_wavefronts for access in report.accesses)
    return 1 if has_conflicts and fail_on_conflict else 0
