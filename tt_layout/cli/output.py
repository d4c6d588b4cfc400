"""The one way out: a report as text or JSON, plain in a pipe and coloured on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tt_layout.reports.report import Report

KEPT = 1 << 22
"""Bytes of a report that are kept in memory until all of it has been made."""


def emit(report: Report, output_format: str = "text") -> None:
    """Write a report to standard output, once all of it has been made.

    Args:
        report: what to write.
        output_format: ``text`` or ``json``.
    """
    from tt_layout.reports.writing import write

    with _made(_texts(report, output_format)) as (size, chunks):
        write(chunks, None, size=size)


def _texts(report: Report, output_format: str) -> Iterator[str]:
    """Yield the text of a report, as it is made."""
    if output_format == "json":
        yield from _json_chunks(report.data())
    elif sys.stdout.isatty():
        from tt_layout.reports.terminal_text import terminal_text
        from tt_layout.terminal.options import DisplayOptions

        yield terminal_text(report, has_colours=DisplayOptions().has_colours(on_terminal=True))
    else:
        from tt_layout.reports.report import plain_pieces

        yield from plain_pieces(report)


@contextmanager
def _made(texts: Iterable[str]) -> Iterator[tuple[int, Iterable[bytes]]]:
    """Make all of a text before any of it is written; yield how many bytes it has, and them.

    A long one waits in a temporary file: the report of a large dump takes little memory.
    """
    chunks: Iterator[bytes] = (text.encode("utf-8", "backslashreplace") for text in texts)
    kept: list[bytes] = []
    size = 0
    for chunk in chunks:
        kept.append(chunk)
        size += len(chunk)
        if size > KEPT:
            break
    else:
        yield size, kept
        return
    from tt_layout.files import scratch

    with scratch() as file:
        file.writelines(kept)
        kept.clear()
        file.writelines(chunks)
        size = file.tell()
        file.seek(0)
        yield size, iter(lambda: file.read(KEPT), b"")


def emit_text(text: str) -> None:
    """Write text that is neither report nor JSON object to standard output."""
    from tt_layout.reports.writing import write

    data = text.encode("utf-8", "backslashreplace")
    write([data], None, size=len(data))


def note(text: str) -> None:
    """Print a note beside a report, on standard error."""
    click.echo(fitted(f"note: {text}", sys.stderr), err=True)


def fitted(text: str, stream: IO[str]) -> str:
    """Return text in lines that fit the terminal that a stream is, if it is one."""
    if not stream.isatty():
        return text
    from tt_layout.folding import fold
    from tt_layout.reports.writing import terminal_columns

    return fold(text, terminal_columns(stream))


def _json_chunks(data: dict[str, Any]) -> Iterator[str]:
    """Yield the text of an object; a value that is an iterator is a list, made item by item."""
    import json

    separator = "{"
    for key, value in data.items():
        yield f"{separator}\n  {json.dumps(key)}: "
        separator = ","
        if isinstance(value, Iterator):
            yield from _json_items(value)
        else:
            yield json.dumps(value, indent=2).replace("\n", "\n  ")
    yield "\n}\n"


def _json_items(items: Iterator[Any]) -> Iterator[str]:
    import json

    separator = "["
    for item in items:
        yield f"{separator}\n    " + json.dumps(item, indent=2).replace("\n", "\n    ")
        separator = ","
    yield "[]" if separator == "[" else "\n  ]"
