"""The standard streams of a run: the one way out for everything that is printed.

A reader that has gone away is not an error: what it does not read is dropped, and the command ends
with its own status.  Any other fault of standard output ends the run with one line; a fault of
standard error is not worth one.  What is printed is made safe for terminals and logs.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from tt_layout.errors import LayoutError
from tt_layout.safe_text import safe_lines


class _Descriptor(io.RawIOBase):
    """A descriptor that is written to; None where the stream is closed from the beginning."""

    def __init__(self, descriptor: int | None, is_output: bool) -> None:
        self._descriptor = descriptor
        self._is_output = is_output
        self._is_dropped = False

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._descriptor is not None and os.isatty(self._descriptor)

    def fileno(self) -> int:
        if self._descriptor is None:
            raise OSError("the stream is closed")
        return self._descriptor

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if self._is_dropped:
            return size
        try:
            return self._write(data)
        except BrokenPipeError:
            self._is_dropped = True
        except OSError as error:
            self._is_dropped = True
            if self._is_output:
                reason = error.strerror or error
                raise LayoutError(f"cannot write to standard output: {reason}") from None
        return size

    def _write(self, data: Any) -> int:
        while True:
            try:
                return os.write(self.fileno(), data)
            except BlockingIOError:  # whoever shares the descriptor does not want to wait
                import select

                select.select([], [self.fileno()], [])


class _Text(io.TextIOWrapper):
    """A stream of text in which nothing is obeyed; standard output may have our own colours."""

    is_output = True

    def write(self, text: str) -> int:
        super().write(safe_lines(text, coloured=self.is_output))
        return len(text)


def _opened(stream: IO[str] | None, is_output: bool) -> _Text:
    try:
        descriptor = stream.fileno() if stream is not None else None
    except (OSError, ValueError):
        descriptor = None
    raw = _Descriptor(descriptor, is_output)
    text = _Text(
        io.BufferedWriter(raw, 1 << 16),
        encoding=getattr(stream, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=raw.isatty() or not is_output,
    )
    text.is_output = is_output
    return text


@contextmanager
def standard_streams() -> Iterator[None]:
    """Print through streams as described above, unless others stand in their place already."""
    before = sys.stdout, sys.stderr
    if sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__:
        sys.stdout, sys.stderr = _opened(sys.stdout, True), _opened(sys.stderr, False)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
