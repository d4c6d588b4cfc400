"""``tt-layout translate``: the same layout in another spelling, exact or refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from tt_layout.cli.output import emit, note
from tt_layout.cli.parameters import (
    LayoutParameter,
    TypeParameter,
    format_option,
    release_option,
)
from tt_layout.encodings import Encoding
from tt_layout.mlir.types import TensorType
from tt_layout.placement import place
from tt_layout.releases import release_names
from tt_layout.reports.translation import TranslationReport
from tt_layout.translation import TARGETS, TensorSpec, translate


class Given(NamedTuple):
    """A layout, and the tensor that its notation determines."""

    encoding: Encoding
    tensor: TensorSpec = TensorSpec()


class NotationParameter(LayoutParameter):
    """A layout in any notation that is read: also Gluon's, and JSON in a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the layout, and the tensor that its notation determines."""
        if value.startswith("gl."):
            from tt_layout.translation.gluon import read_gluon

            return Given(read_gluon(value))
        if value == "-" or value.endswith(".json"):
            from tt_layout.mlir.source import read_source
            from tt_layout.translation.as_json import read_json

            return Given(*read_json(read_source(value).text))
        return Given(super().convert(value, param, ctx))


@click.command(
    "translate",
    short_help="Write a layout in another spelling.",
    help="""\
    Write the same layout in another spelling, or explain why that is not possible.

    LAYOUT is an attribute, FILE:ALIAS, a constructor of Gluon (gl.BlockedLayout(...)), or the
    JSON of --to json as FILE.json or - for standard input. Exits 2 if it is refused.
    """,
)
@click.argument("given", type=NotationParameter(), metavar="LAYOUT")
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help=f"A release ({release_names()}), {', '.join(TARGETS)}.",
)
@click.option("-t", "tensor", type=TypeParameter(), help="The tensor type to check it over.")
@release_option
@format_option
def command(given: Given, to: str, tensor: TensorType | None, output_format: str) -> None:
    """Write the same layout in another spelling, or explain why that is not possible."""
    over = given.tensor
    if tensor is not None:
        over = TensorSpec(place(given.encoding, tensor).shape, tensor.element_bits)
    found = translate(given.encoding, to, over.shape, element_bits=over.element_bits)
    report = TranslationReport(given.encoding, to, found)
    emit(report, output_format)
    if output_format == "text":
        for text in report.notes(has_shape=over.shape is not None):
            note(text)
