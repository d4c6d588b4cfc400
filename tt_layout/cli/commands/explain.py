"""``tt-layout explain``: a line of a dump in words."""

from __future__ import annotations

import os

import click

from tt_layout.cli.compiling import compile_options
from tt_layout.cli.output import emit
from tt_layout.cli.parameters import format_option
from tt_layout.editing.explained import explained_line
from tt_layout.errors import FileLocation, LayoutError, pointing_at
from tt_layout.mlir.languages import read_mlir
from tt_layout.mlir.source import read_source


@click.command(
    "explain",
    help="""\
    Explain a line of a dump in words.

    Shows what the operation does, the layouts of its operands and results, which uses need which of
    them, its cost, and what in a program changes that; then its values and layouts.
    """,
)
@click.argument("place", metavar="FILE:LINE")
@compile_options
@format_option
def command(place: str, output_format: str) -> None:
    """Explain a line of a dump in words."""
    file, colon, number = place.rpartition(":")
    if not colon or not file or not number.isascii() or not number.isdecimal() or len(number) > 9:
        if os.path.isfile(place):
            read_mlir(place)
        raise LayoutError(f"a line is FILE:LINE, such as kernel.ttgir:90, got {place!r}")
    source = read_source(file)
    with pointing_at(FileLocation(file)):
        report = explained_line(file, source.text, int(number))
    emit(report, output_format)
