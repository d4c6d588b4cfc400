"""Destination of a page or a figure: ``-o``, a file named after it on a terminal, else stdout.

Nobody reads a page's scripts on a terminal.  A file that is there already is replaced only if it
is empty or one that this package wrote, or with ``--force``.
"""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from typing import NamedTuple

import click

from tt_layout.errors import FileLocation, LayoutError, file_error
from tt_layout.files import is_foreign

STDOUT = "-"
_OURS = {
    ".html": re.compile(rb'<meta name="generator" content="tt-layout '),
    ".svg": re.compile(rb'<svg xmlns="[^"]*" role="img" [^>]*font-family="DejaVu Sans Mono,Menlo,'),
    ".png": re.compile(rb"\x89PNG\r\n.*tEXtSoftware\0tt-layout", re.DOTALL),
    ".pdf": re.compile(rb"%PDF-1\.4\n%tt-layout\n"),
}
"""Ending -> what stands at the head of the files of this package."""


force_option = click.option(
    "--force", is_flag=True, help="Replace a file that tt-layout did not write."
)


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


def destination(output: str | None, name: str, ending: str, *, force: bool) -> Destination:
    """Return the destination of an output, before it is made.

    Args:
        output: what ``-o`` says; None for nothing.
        name: of what is written, such as that of a dump, without an ending.
        ending: of the file, such as ``.html``.
        force: whether it may be any file.

    Raises:
        LayoutError: a file of that name is there that this package did not write.
    """
    if output == STDOUT or (output is None and not sys.stdout.isatty()):
        return Destination(None)
    path = output if output is not None else f"{name}{ending}"
    if not force and _is_foreign(path, ending):
        others = "--force replaces it, -o names another"
        message = f"a file of this name is there that tt-layout did not write; {others}"
        raise LayoutError(message, FileLocation(path))
    return Destination(path, is_chosen=output is None)


def _is_foreign(path: str, ending: str) -> bool:
    """Tell whether there is a file that this package did not write.

    Raises:
        LayoutError: that cannot be told.
    """
    try:
        return is_foreign(path, partial(_is_ours, ending))
    except OSError as error:
        raise file_error("write", path, error) from None


def _is_ours(ending: str, start: bytes, _: bytes) -> bool:
    return _OURS[ending].search(start) is not None


def stem(path: str) -> str:
    """Return the name of a file without folders, its ending, and the number of a module.

    Example:
        >>> stem("dumps/matmul.ttgir@2")
        'matmul'
    """
    from tt_layout.ir.file_aliases import split_module

    return os.path.splitext(os.path.basename(split_module(path).path))[0] or "dump"
