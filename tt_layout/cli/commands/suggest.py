"""``tt-layout suggest``: the layouts that the compiler would choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tt_layout.cli.groups import HelpfulGroup
from tt_layout.cli.output import emit
from tt_layout.cli.parameters import (
    LayoutParameter,
    NumbersParameter,
    format_option,
    reading_options,
    type_option,
)
from tt_layout.encodings import Encoding, TensorMemoryBase
from tt_layout.errors import LayoutError, pointing_at
from tt_layout.mlir.types import TensorType, sizes_and_width
from tt_layout.reports.written_layouts import SuggestionReport

order_option = click.option(
    "--order",
    type=NumbersParameter(),
    metavar="1,0",
    help="Dimensions, the fastest first; by default the last first.",
)
warps_option = click.option("--num-warps", default=4, show_default=True, help="Warps per CTA.")
threads_option = click.option(
    "--threads-per-warp", default=32, show_default=True, help="64 on AMD's CDNA."
)


@click.group(
    "suggest",
    cls=HelpfulGroup,
    help="Print the layout that the compiler would choose, as an attribute.",
)
def command() -> None:
    """Print the layout that the compiler would choose, as an attribute."""


def _emit(kind: str, tensor: TensorType, output_format: str, build: Callable[[], Encoding]) -> None:
    """Build a layout, check that it fits the type, and print it."""
    with pointing_at(tensor.span):
        encoding = build()
        encoding.to_linear_layout(tensor.shape, element_bits=tensor.element_bits)
    emit(SuggestionReport(kind, encoding), output_format)


@command.command(
    "blocked",
    help="Print the default blocked layout of a shape.",
)
@type_option
@warps_option
@threads_option
@click.option(
    "--size-per-thread",
    type=NumbersParameter(),
    metavar="1,4",
    help="Elements per thread; by default one.",
)
@order_option
@click.option("--num-ctas", default=1, show_default=True, help="CTAs of a cluster.")
@format_option
def blocked(tensor: TensorType, output_format: str, **options: Any) -> None:
    """Print the default blocked layout of a shape."""
    from tt_layout.analyses.layouts.builders import default_blocked

    _emit("blocked", tensor, output_format, lambda: default_blocked(tensor, **options))


@command.command(
    "coalesced",
    short_help="Print the layout that coalescing gives pointers.",
    help="""\
    Print the blocked layout that coalescing gives the pointers of a load or store.

    The type is that of the values, not of the pointers.
    """,
)
@type_option
@click.option(
    "--contiguity",
    required=True,
    type=int,
    help="Adjacent, aligned elements known along the fastest dimension.",
)
@warps_option
@threads_option
@order_option
@format_option
def coalesced(tensor: TensorType, output_format: str, **options: Any) -> None:
    """Print the blocked layout that coalescing gives the pointers of a load or store."""
    from tt_layout.analyses.layouts.builders import coalesced_blocked

    _emit("coalesced", tensor, output_format, lambda: coalesced_blocked(tensor, **options))


@command.command(
    "shared",
    help="""\
    Print the swizzled shared layout of a dot operand.

    OPERAND_LAYOUT is a #ttg.dot_op, in any notation, or FILE:ALIAS.
    """,
)
@click.argument("operand", type=LayoutParameter(), metavar="OPERAND_LAYOUT")
@type_option
@order_option
@click.option("--transposed", is_flag=True, help="The operand is read against its order.")
@reading_options
@format_option
def shared(
    operand: Encoding,
    tensor: TensorType,
    order: list[int] | None,
    transposed: bool,
    output_format: str,
) -> None:
    """Print the swizzled shared layout of a dot operand."""
    from tt_layout.analyses.layouts.builders import shared_of_operand

    _emit(
        "shared",
        tensor,
        output_format,
        lambda: shared_of_operand(operand, tensor, order, transposed),
    )


@command.command(
    "nvmma",
    short_help="Print the shared layout of wgmma, tcgen05 and TMA.",
    help="Print the shared layout that wgmma, tcgen05 and TMA use by default.",
)
@type_option
@order_option
@click.option("--fp4-padded", is_flag=True, help="Packed fp4 is spread out.")
@format_option
def nvmma(tensor: TensorType, output_format: str, **options: Any) -> None:
    """Print the shared layout that wgmma, tcgen05 and TMA use by default."""
    from tt_layout.analyses.layouts.builders import default_nvmma

    _emit("nvmma", tensor, output_format, lambda: default_nvmma(tensor, **options))


@command.command(
    "tmem",
    short_help="Print the register layouts for tensor memory.",
    help="""\
    Print the register layouts that a load or store of tensor memory may have.

    MEMORY_LAYOUT is a #ttng.tensor_memory_encoding, in any notation, or FILE:ALIAS, TYPE that of
    the buffer. The first is the compiler's default; of each its messages, its registers, the
    attribute and the constructor in Gluon.
    """,
)
@click.argument("memory", type=LayoutParameter(), metavar="MEMORY_LAYOUT")
@type_option
@warps_option
@click.option(
    "--maxnreg",
    type=click.IntRange(16, 256),
    default=256,
    show_default=True,
    help="Registers that a thread may have.",
)
@reading_options
@format_option
def tmem(
    memory: Encoding, tensor: TensorType, num_warps: int, maxnreg: int, output_format: str
) -> None:
    """Print the register layouts that a load or store of tensor memory may have."""
    from tt_layout.analyses.tensor_memory.registers import register_layouts
    from tt_layout.encodings.tensor_memory import TensorMemoryScales
    from tt_layout.placement import place
    from tt_layout.reports.written_layouts import RegisterLayoutsReport

    span = memory.origin.attribute if memory.origin else None
    if not isinstance(memory, TensorMemoryBase):
        raise LayoutError(f"expected a layout of tensor memory, got #{memory.name}", span)
    with pointing_at(tensor.span):
        _, bits = sizes_and_width(tensor)
        layouts = register_layouts(
            place(memory, tensor).layout,
            bits,
            num_warps,
            is_stored_only=isinstance(memory, TensorMemoryScales),
            max_registers=maxnreg,
        )
    if not layouts:
        raise LayoutError("no message of tensor memory moves such a buffer", span)
    emit(RegisterLayoutsReport(layouts), output_format)
