"""Writing to streams, to files that are replaced whole or not at all, and to closed pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import IO

from tt_layout.errors import FileLocation, LayoutError, TooLargeError, file_error
from tt_layout.surface import argument

PROGRESS_FROM = 64 << 20  # bytes of output from which a terminal is shown how far it is

DEFAULT_SIZE = os.terminal_size((80, 24))
"""Columns and lines of a terminal of unknown size."""


def write(chunks: Iterable[bytes | memoryview], path: str | None, *, size: int) -> None:
    """Write chunks to a file, or to standard output without a path.

    Args:
        chunks: the text, in chunks.
        path: a file; it is replaced once everything has been written, and unchanged if anything
            fails.
        size: total bytes, for the progress on a terminal.

    Raises:
        LayoutError: the file cannot be written.
    """
    if path is None:
        _write_to_stdout(_with_progress(chunks, size))
        return
    if not path:
        raise LayoutError("-o needs the name of a file, got ''")
    from tt_layout import files

    try:
        with files.replacing(path) as file:
            for chunk in _with_progress(chunks, size):
                file.write(chunk)
    except OSError as error:
        raise file_error("write", path, error) from None


def refuse_input(output: str | None, read: str | None) -> None:
    """Raise an error if the output would replace the input.

    Raises:
        LayoutError: both are the same file.
    """
    if output is None or read is None:
        return
    from tt_layout.files import is_same
    from tt_layout.ir.file_aliases import split_module

    if is_same(split_module(read).path, output):
        message = "it is what is read, and would be lost: name another file with -o"
        raise LayoutError(message, FileLocation(output))


def terminal_size(stream: IO[str]) -> os.terminal_size | None:
    """Return the columns and lines of a stream's terminal; None if it is not one."""
    if not stream.isatty():
        return None
    from shutil import get_terminal_size

    columns, lines = get_terminal_size(DEFAULT_SIZE)  # until 3.11 either may be 0
    return os.terminal_size((columns or DEFAULT_SIZE.columns, lines or DEFAULT_SIZE.lines))


def terminal_columns(stream: IO[str]) -> int | None:
    """Return the columns of a stream's terminal; None if it is not one."""
    size = terminal_size(stream)
    return size.columns if size is not None else None


def _write_to_stdout(chunks: Iterable[bytes | memoryview]) -> None:
    sys.stdout.flush()
    for chunk in chunks:
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _with_progress(chunks: Iterable[bytes | memoryview], size: int) -> Iterable[bytes | memoryview]:
    """Pass chunks through, and show the progress of long output on a terminal."""
    if size < PROGRESS_FROM or not sys.stderr.isatty() or sys.stdout.isatty():
        return chunks
    return with_progress(chunks, size)


def with_progress(chunks: Iterable[bytes | memoryview], size: int) -> Iterator[bytes | memoryview]:
    """Yield chunks, and show on a terminal how many bytes have passed."""
    from tt_layout.reports.progress import progress_bar

    done = 0
    with progress_bar(size, "DownloadColumn", binary_units=True) as show:
        for chunk in chunks:
            yield chunk
            show(done := done + len(chunk))


def check_size(size: int, limit: int) -> int:
    """Return the size of a text in bytes.

    Raises:
        TooLargeError: it is larger than the limit.
    """
    if size > limit:
        from tt_layout.wording import size as size_text

        exact = f" ({size} bytes)" if size >= 1024 else ""
        raise TooLargeError(
            f"the text would have {size_text(size)}{exact}, more than the limit of "
            f"{size_text(limit)}; {argument('max_text')} raises the limit"
        )
    return size
