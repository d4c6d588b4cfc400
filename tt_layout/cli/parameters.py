"""Arguments that several commands take, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import TensorType, parse_type
from tt_layout.releases import Release, release_names

if TYPE_CHECKING:
    from tt_layout.encodings.alias_table import AliasTable

type_option = click.option("-t", "tensor", required=True, metavar="TYPE", help="Tensor type.")
release_option = click.option(
    "--triton", metavar="RELEASE", help=f"Rules of this release: {release_names()}."
)
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)


def read_release(text: str | None) -> Release | None:
    """Return the release named, or None where none is."""
    return Release.parse(text) if text is not None else None


def read_type(text: str) -> TensorType:
    """Return the type given with ``-t``."""
    return parse_type(text, name="-t")


def read_layout(text: str, release: Release | None, name: str) -> Encoding:
    """Return the encoding of an argument: an attribute, or an alias as ``FILE:ALIAS``.

    Args:
        text: the argument.
        release: whose rules hold.
        name: what messages call the argument.
    """
    if text.lstrip().startswith("#"):
        from tt_layout.encodings.parsing import parse_layout

        return parse_layout(text, release=release, name=name)
    path, separator, alias = text.rpartition(":")
    if not separator:
        message = f"{name} must be an attribute such as #ttg.blocked<{{...}}> or FILE:ALIAS"
        raise LayoutError(f"{message}, got {text!r}")
    return read_aliases(path, [alias.removeprefix("#")]).layout(alias.removeprefix("#"), release)


def read_aliases(name: str, aliases: Sequence[str] = ()) -> AliasTable:
    """Return the aliases of a file, or of one module of it; say which where there are several.

    Args:
        name: the file, or ``FILE@2`` for its second module.
        aliases: those that are wanted; by default all that are layouts.
    """
    from tt_layout.ir.file_aliases import FileAliases, split_module
    from tt_layout.mlir.source import read_source

    path, module = split_module(name)
    found = FileAliases(read_source(path)).choose(aliases, module)
    if found.note is not None:
        click.echo(f"note: {found.note}", err=True)
    return found.table


def read_order(text: str | None, option: str) -> list[int] | None:
    """Return the numbers of an option such as ``1,0``, or None where it is not given.

    Raises:
        LayoutError: the text is no list of numbers.
    """
    if text is None:
        return None
    parts = text.strip().removeprefix("[").removesuffix("]").split(",")
    if not all(part.strip().isdecimal() and len(part) < 20 for part in parts):
        raise LayoutError(f"{option} takes numbers such as 1,0, got {text!r}")
    return [int(part) for part in parts]


def echo(line: str, colour: str = "") -> None:
    """Print a line; coloured only on a terminal, and not where NO_COLOR is set."""
    plain = False if os.environ.get("NO_COLOR") else None
    click.echo(click.style(line, fg=colour) if colour else line, color=plain)
