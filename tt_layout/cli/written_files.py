"""Destination of a page or a figure: ``-o``, a file named after it on a terminal, else stdout.

Nobody reads a page's scripts on a terminal.  A file that is there already is replaced only if it
is one that this package wrote.
"""

from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple

import click

from tt_layout.errors import FileLocation, LayoutError
from tt_layout.files import read_start

STDOUT = "-"
_HEAD = 4096  # bytes of a file that tell what wrote it
_OURS = {
    ".html": re.compile(rb'<meta name="generator" content="tt-layout '),
    ".svg": re.compile(rb'<svg xmlns="[^"]*" role="img" [^>]*font-family="DejaVu Sans Mono,Menlo,'),
}
"""Ending -> what stands at the head of the files of this package."""


class Destination(NamedTuple):
    """Destination of an output.

    Attributes:
        path: the file; None for standard output.
        is_chosen: whether the file is named after what is written, as nobody named one.
    """

    path: str | None
    is_chosen: bool = False

    def write(self, content: bytes) -> None:
        """Write a file, and say which where nobody named it.

        Raises:
            LayoutError: it cannot be written.
        """
        from tt_layout.reports.writing import write

        try:
            write([content], self.path, size=len(content))
        except LayoutError as error:
            raise (error.hint("-o names another file") if self.is_chosen else error) from None
        if self.is_chosen:
            click.echo(f"wrote {self.path}")


def destination(output: str | None, name: str, ending: str) -> Destination:
    """Return the destination of an output, before it is made.

    Args:
        output: what ``-o`` says; None for nothing.
        name: of what is written, such as that of a dump, without an ending.
        ending: of the file, such as ``.html``.

    Raises:
        LayoutError: a file of that name is there that this package did not write.
    """
    if output is not None:
        return Destination(None if output == STDOUT else output)
    if not sys.stdout.isatty():
        return Destination(None)
    path = f"{name}{ending}"
    if os.path.lexists(path) and not _is_ours(path, ending):
        message = "a file of this name is there that tt-layout did not write; -o names the file"
        raise LayoutError(message, FileLocation(path))
    return Destination(path, is_chosen=True)


def _is_ours(path: str, ending: str) -> bool:
    try:
        return _OURS[ending].search(read_start(path, _HEAD)) is not None
    except LayoutError:
        return False


def stem(path: str) -> str:
    """Return the name of a file without folders, its ending, and the number of a module.

    Example:
        >>> stem("dumps/matmul.ttgir@2")
        'matmul'
    """
    from tt_layout.ir.file_aliases import split_module

    return os.path.splitext(os.path.basename(split_module(path).path))[0] or "dump"
