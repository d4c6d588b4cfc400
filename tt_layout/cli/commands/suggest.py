"""``tt-layout suggest``: the layouts that the compiler would choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tt_layout.cli.parameters import (
    format_option,
    read_layout,
    read_order,
    read_release,
    read_type,
    release_option,
    type_option,
)
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import TensorType

if TYPE_CHECKING:
    from tt_layout.encodings import Encoding

JSON_VERSION = 1

order_option = click.option(
    "--order", metavar="1,0", help="Dimensions, the fastest first; by default the last first."
)
warps_option = click.option("--num-warps", default=4, show_default=True, help="Warps per CTA.")
threads_option = click.option(
    "--threads-per-warp", default=32, show_default=True, help="64 on AMD's CDNA."
)


@click.group("suggest")
def command() -> None:
    """Print the layout that the compiler would choose, as an attribute."""


def _print(kind: str, tensor: TensorType, form: str, build: Callable[[], Encoding]) -> None:
    """Build a layout, lay it over the type to see that it fits, and print it."""
    try:
        encoding = build()
        encoding.to_linear_layout(tensor.shape, element_bits=tensor.element_bits)
    except LayoutError as error:
        raise error.at(tensor.span) from None
    if form == "json":
        import json

        said = {"version": JSON_VERSION, "kind": kind, "layout": str(encoding)}
        click.echo(json.dumps(said, indent=2))
    else:
        click.echo(str(encoding))


def _bits(tensor: TensorType) -> int:
    if tensor.element_bits is None:
        message = f"the width of an element must be known, but {tensor.element_type} has none"
        raise LayoutError(message, tensor.span)
    return tensor.element_bits


@command.command("blocked")
@type_option
@warps_option
@threads_option
@click.option("--size-per-thread", metavar="1,4", help="By default one element.")
@order_option
@click.option("--num-ctas", default=1, show_default=True, help="CTAs of a cluster.")
@format_option
def blocked(
    tensor: str,
    num_warps: int,
    threads_per_warp: int,
    size_per_thread: str | None,
    order: str | None,
    num_ctas: int,
    form: str,
) -> None:
    """The default blocked layout of a shape."""
    from tt_layout.analyses.builders import default_blocked

    parsed = read_type(tensor)
    options: dict[str, Any] = {
        "num_warps": num_warps,
        "threads_per_warp": threads_per_warp,
        "size_per_thread": read_order(size_per_thread, "--size-per-thread"),
        "order": read_order(order, "--order"),
        "num_ctas": num_ctas,
    }
    _print("blocked", parsed, form, lambda: default_blocked(parsed.shape, **options))


@command.command("coalesced")
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
    tensor: str,
    contiguity: int,
    num_warps: int,
    threads_per_warp: int,
    order: str | None,
    form: str,
) -> None:
    """The blocked layout that coalescing gives the pointers of a load or store.

    The type is that of the values, not of the pointers.
    """
    from tt_layout.analyses.builders import coalesced_blocked

    parsed = read_type(tensor)
    bits = _bits(parsed)
    options: dict[str, Any] = {
        "num_warps": num_warps,
        "threads_per_warp": threads_per_warp,
        "order": read_order(order, "--order"),
    }

    def build() -> Encoding:
        return coalesced_blocked(parsed.shape, bits, contiguity, **options)

    _print("coalesced", parsed, form, build)


@command.command("shared")
@click.argument("operand", metavar="OPERAND")
@type_option
@order_option
@click.option("--transposed", is_flag=True, help="The operand is read against its order.")
@release_option
@format_option
def shared(
    operand: str,
    tensor: str,
    order: str | None,
    transposed: bool,
    triton: str | None,
    form: str,
) -> None:
    """The swizzled shared memory through which a dot operand goes.

    OPERAND is a #ttg.dot_op, as an attribute or FILE:ALIAS.
    """
    from tt_layout.analyses.builders import operand_shared
    from tt_layout.encodings.dot_op import DotOperand

    parsed = read_type(tensor)
    encoding = read_layout(operand, read_release(triton), "OPERAND")
    if not isinstance(encoding, DotOperand):
        span = encoding.origin.whole if encoding.origin else None
        raise LayoutError(f"OPERAND must be a #ttg.dot_op, got #{encoding.name}", span)
    encoding.check_layout()
    bits, numbers = _bits(parsed), read_order(order, "--order")

    def build() -> Encoding:
        return operand_shared(
            encoding, parsed.shape, bits, order=numbers, need_transposition=transposed
        )

    _print("shared", parsed, form, build)


@command.command("nvmma")
@type_option
@order_option
@click.option("--fp4-padded", is_flag=True, help="Packed fp4 is spread out.")
@format_option
def nvmma(tensor: str, order: str | None, fp4_padded: bool, form: str) -> None:
    """The shared memory from which wgmma, tcgen05 and TMA read by default."""
    from tt_layout.analyses.builders import default_nvmma

    parsed = read_type(tensor)
    bits, numbers = _bits(parsed), read_order(order, "--order")

    def build() -> Encoding:
        return default_nvmma(parsed.shape, bits, order=numbers, fp4_padded=fp4_padded)

    _print("nvmma", parsed, form, build)
