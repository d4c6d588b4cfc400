"""``tt-layout translate``: the same layout in another spelling, exact or refused."""

from __future__ import annotations

from typing import Any

import click

from tt_layout.cli.parameters import (
    echo,
    format_option,
    read_layout,
    read_release,
    read_type,
    release_option,
)
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import TensorType
from tt_layout.placement import buffer_shape
from tt_layout.releases import Release, release_names
from tt_layout.translation import TensorSpec, Translation, translate

JSON_VERSION = 1


def read_given(text: str, release: Release | None) -> tuple[Encoding, TensorSpec]:
    """Return the layout of the argument, and the tensor that it tells, if it is a JSON."""
    if text.startswith("gl."):
        from tt_layout.translation.gluon import read_gluon

        return read_gluon(text), TensorSpec()
    if text == "-" or text.endswith(".json"):
        from tt_layout.mlir.source import read_source
        from tt_layout.translation.as_json import read_json

        return read_json(read_source(text).text)
    return read_layout(text, release, "LAYOUT"), TensorSpec()


def translated(
    encoding: Encoding, to: str, tensor: TensorType | None, known: TensorSpec
) -> Translation:
    """Return the translation over a type; without one, over what the layout itself tells."""
    if tensor is None:
        return translate(encoding, to, known.shape, element_bits=known.element_bits)
    try:
        shape = buffer_shape(encoding, tensor)
        encoding.to_linear_layout(shape, element_bits=tensor.element_bits)
    except LayoutError as error:
        raise error.at(tensor.span) from None
    return translate(encoding, to, shape, element_bits=tensor.element_bits)


def as_json(encoding: Encoding, to: str, result: Translation) -> dict[str, Any]:
    """Return the outcome as plain data; documented in ``docs/translate.md``."""
    return {
        "version": JSON_VERSION,
        "from": str(encoding),
        "release": str(encoding.release),
        "to": to,
        "text": result.text,
        "shapes": [list(shape) for shape in result.shapes],
        "notes": list(result.notes),
    }


def remarks(result: Translation, has_type: bool) -> list[str]:
    """Return what is said beside the translation."""
    lines = list(result.notes)
    if not has_type:
        shapes = ", ".join("x".join(map(str, shape)) for shape in result.shapes)
        lines.append(f"checked over {shapes}; -t checks it over one tensor")
    return lines


@click.command("translate")
@click.argument("layout", metavar="LAYOUT")
@click.option(
    "--to",
    required=True,
    metavar="TARGET",
    help=f"A release ({release_names()}), linear, gluon, cute or json.",
)
@click.option("-t", "tensor", metavar="TYPE", help="Tensor type to check it over.")
@release_option
@format_option
def command(layout: str, to: str, tensor: str | None, triton: str | None, form: str) -> None:
    """Write the same layout in another spelling, or say why that cannot be.

    LAYOUT is an attribute, FILE:ALIAS, a constructor of Gluon (gl.BlockedLayout(...)), or the
    JSON of --to json as FILE.json or - for standard input. Exits 2 if it is refused.
    """
    encoding, known = read_given(layout, read_release(triton))
    result = translated(encoding, to, read_type(tensor) if tensor is not None else None, known)
    if form == "json":
        import json

        click.echo(json.dumps(as_json(encoding, to, result), indent=2))
        return
    echo(result.text)
    for remark in remarks(result, tensor is not None or known.shape is not None):
        click.echo(f"note: {remark}", err=True)
