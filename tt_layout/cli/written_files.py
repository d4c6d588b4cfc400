"""Destination of a page or a figure: ``-o``, a file with a derived name on a terminal, or stdout.

Nobody reads a page's scripts on a terminal.  An existing file is replaced only if it is empty or
was written by this package, or with ``--force``.
"""

from __future__ import annotations

import os
import re
import sys
from functools import partial

import click

from tt_layout.errors import FileLocation, LayoutError, file_error
from tt_layout.files import is_foreign
from tt_layout.tuples import NamedTuple

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
        is_chosen: whether the name of the file is derived, since none was given.
    """

    path: str | None
    is_chosen: bool = False

    def write(self, content: bytes) -> None:
        """Write a file, and print its name if it is derived.

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
    """Return the destination of an output that is yet to be made.

    Args:
        output: the argument of ``-o``; None without it.
        name: name of the subject, such as a dump, without a suffix.
        ending: suffix of the file, such as ``.html``.
        force: whether any file may be replaced.

    Raises:
        LayoutError: a file of that name exists that this package did not write.
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
    """Tell whether a file exists that this package did not write.

    Raises:
        LayoutError: the file cannot be read.
    """
    try:
        return is_foreign(path, partial(_is_ours, ending))
    except OSError as error:
        raise file_error("write", path, error) from None


def _is_ours(ending: str, start: bytes, _: bytes) -> bool:
    return _OURS[ending].search(start) is not None


def stem(path: str) -> str:
    """Return the name of a file without its folders, its suffix and a module number.

    Example:
        >>> stem("dumps/matmul.ttgir@2")
        'matmul'
    """
    from tt_layout.ir.file_aliases import split_module

    return os.path.splitext(os.path.basename(split_module(path).path))[0] or "dump"
