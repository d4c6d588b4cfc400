"""Values of kernel arguments, from the command line and from a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import click

from tt_layout.audit.values.given import (
    PROGRAM_COUNTS,
    GivenValues,
    parse_number,
    parse_values,
    plain_name,
    program_counts,
)
from tt_layout.errors import MAX_SHOWN, LayoutError
from tt_layout.hardware import find_product
from tt_layout.safe_text import shortened

MAX_DIGITS = 20
"""Of a size of a grid, zeros before it included."""

value_option = click.option(
    "--value",
    "values",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Value of a kernel argument; for a pointer, its address modulo 512. Repeatable.",
)
values_option = click.option(
    "--values", "values_file", metavar="FILE", help="The same from a file, as YAML or JSON."
)


grid_option = click.option(
    "--grid",
    metavar="N[,M,K]",
    help="The programs of the launch along each axis; bounds are then in seconds.",
)


_gpu_option = click.option(
    "--gpu",
    metavar="PRODUCT",
    help="The GPU product, such as h100, whose memory, clock and multiprocessors determine times;"
    " by default the first of the dump's chip. The report names it.",
)


def launch_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how a kernel is launched, and on which product."""
    return value_option(values_option(grid_option(_gpu_option(function))))


def read_values(
    texts: Sequence[str], path: str | None, grid: str | None = None, gpu: str | None = None
) -> GivenValues | None:
    """Return the values on the command line and, for other arguments, in a file; None without any.

    Raises:
        LayoutError: a value is not an integer, the file is not a mapping from names to integers,
            the grid has no sizes, or the GPU is not a known product.
    """
    if not texts and (path, grid, gpu) == (None, None, None):
        return None
    from_file = _from_file(path) if path is not None else {}
    numbers = parse_values(
        texts, {**from_file, **_of_grid(grid)} if grid is not None else from_file
    )
    return numbers if gpu is None else replace(numbers, product=find_product(gpu))


def _of_grid(text: str) -> dict[str, int]:
    """Return the number of programs along each axis."""
    sizes = [size.strip() for size in text.split(",")]
    if len(sizes) > len(PROGRAM_COUNTS) or not all(
        size.isascii() and size.isdecimal() and len(size) < MAX_DIGITS and 0 < int(size) < 1 << 31
        for size in sizes
    ):
        shown = shortened(text, MAX_SHOWN)
        raise LayoutError(f"--grid takes 1 to 3 numbers such as 4096 or 64,8, got {shown!r}")
    return program_counts([int(size) for size in sizes])


def _from_file(path: str) -> dict[str, int]:
    from tt_layout.golden.yaml_nodes import MappingNode, ScalarNode, read_nodes

    root = read_nodes(path, "file of values")
    if not isinstance(root, MappingNode):
        message = "a file of values maps the names of arguments to integers"
        raise LayoutError(f"{message}, got a {root.kind}", root.span)
    values: dict[str, int] = {}
    for key, node in root.entries:
        name = plain_name(key.text)
        if not isinstance(node, ScalarNode) or node.kind not in ("number", "boolean"):
            message = f"the value of {name} must be an integer, got a {node.kind}"
            raise LayoutError(message, node.span)
        try:
            values[name] = parse_number(name, node.text)
        except LayoutError as error:
            raise error.at(node.span) from None
    return values
