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
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import TensorType
from tt_layout.reports.suggestion import SuggestionReport

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
    """Build a layout, check that it fits the type, and write it."""
    try:
        encoding = build()
        encoding.to_linear_layout(tensor.shape, element_bits=tensor.element_bits)
    except LayoutError as error:
        raise error.at(tensor.span) from None
    emit(SuggestionReport(kind, encoding), output_format)


def _bits(tensor: TensorType) -> int:
    if tensor.element_bits is None:
        message = f"the width of an element must be known, but {tensor.element_type} has none"
        raise LayoutError(message, tensor.span)
    return tensor.element_bits


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
def blocked(
    tensor: TensorType,
    num_warps: int,
    threads_per_warp: int,
    size_per_thread: list[int] | None,
    order: list[int] | None,
    num_ctas: int,
    output_format: str,
) -> None:
    """Print the default blocked layout of a shape."""
    from tt_layout.analyses.layouts.builders import default_blocked

    options: dict[str, Any] = {
        "num_warps": num_warps,
        "threads_per_warp": threads_per_warp,
        "size_per_thread": size_per_thread,
        "order": order,
        "num_ctas": num_ctas,
    }
    _emit("blocked", tensor, output_format, lambda: default_blocked(tensor.shape, **options))


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
def coalesced(
    tensor: TensorType,
    contiguity: int,
    num_warps: int,
    threads_per_warp: int,
    order: list[int] | None,
    output_format: str,
) -> None:
    """Print the blocked layout that coalescing gives the pointers of a load or store."""
    from tt_layout.analyses.layouts.builders import coalesced_blocked

    bits = _bits(tensor)
    options: dict[str, Any] = {
        "num_warps": num_warps,
        "threads_per_warp": threads_per_warp,
        "order": order,
    }

    def build() -> Encoding:
        return coalesced_blocked(tensor.shape, bits, contiguity, **options)

    _emit("coalesced", tensor, output_format, build)


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
    from tt_layout.analyses.layouts.builders import operand_shared
    from tt_layout.encodings.dot_op import DotOperand

    if not isinstance(operand, DotOperand):
        span = operand.origin.whole if operand.origin else None
        raise LayoutError(f"expected a #ttg.dot_op, got #{operand.name}", span)
    operand.check_layout()
    bits = _bits(tensor)

    def build() -> Encoding:
        return operand_shared(
            operand, tensor.shape, bits, order=order, need_transposition=transposed
        )

    _emit("shared", tensor, output_format, build)


@command.command(
    "nvmma",
    short_help="Print the shared layout of wgmma, tcgen05 and TMA.",
    help="Print the shared layout that wgmma, tcgen05 and TMA use by default.",
)
@type_option
@order_option
@click.option("--fp4-padded", is_flag=True, help="Packed fp4 is spread out.")
@format_option
def nvmma(
    tensor: TensorType, order: list[int] | None, fp4_padded: bool, output_format: str
) -> None:
    """Print the shared layout that wgmma, tcgen05 and TMA use by default."""
    from tt_layout.analyses.layouts.builders import default_nvmma

    bits = _bits(tensor)

    def build() -> Encoding:
        return default_nvmma(tensor.shape, bits, order=order, fp4_padded=fp4_padded)

    _emit("nvmma", tensor, output_format, build)


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
    from tt_layout.reports.register_layouts import RegisterLayoutsReport

    span = memory.origin.whole if memory.origin else None
    if not isinstance(memory, TensorMemoryBase):
        raise LayoutError(f"expected a layout of tensor memory, got #{memory.name}", span)
    bits = _bits(tensor)
    try:
        found = register_layouts(
            place(memory, tensor).layout,
            bits,
            num_warps,
            is_stored_only=isinstance(memory, TensorMemoryScales),
            max_registers=maxnreg,
        )
    except LayoutError as error:
        raise error.at(tensor.span) from None
    if not found:
        raise LayoutError("no message of tensor memory moves such a buffer", span)
    emit(RegisterLayoutsReport(found), output_format)
