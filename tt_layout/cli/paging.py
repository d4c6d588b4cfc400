"""Text that is longer than the terminal goes through a pager, where somebody can use one."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from itertools import chain

from tt_layout.reports.writing import write

Chunk = bytes | memoryview
PAGER = "less"
LESS = "FRS"
"""What ``LESS`` is where it is unset: quit after one screen, show colours, do not fold lines."""


def write_paged(chunks: Iterable[Chunk], size: int) -> None:
    """Write to standard output, through ``PAGER`` where it is a terminal with too few lines.

    Args:
        chunks: the text, as it is made.
        size: bytes in all.
    """
    rest = iter(chunks)
    command = _pager()
    if not command:
        write(rest, None, size=size)
        return
    from shutil import get_terminal_size

    shown, is_long = _screen(rest, get_terminal_size().lines)
    if is_long:
        _page(command, chain(shown, rest))
    else:
        write(shown, None, size=size)


def _pager() -> list[str]:
    """Return the command of the pager; none where nobody can use it, or there is none."""
    is_used = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    if not is_used or os.environ.get("TERM") == "dumb":
        return []
    from shutil import which

    try:
        command = shlex.split(os.environ.get("PAGER", PAGER))
    except ValueError:
        return []
    return command if command and which(command[0]) else []


def _screen(chunks: Iterator[Chunk], rows: int) -> tuple[list[bytes], bool]:
    """Return the chunks that fill a screen, and whether there is more than fits it."""
    shown, lines = [], 0
    for chunk in chunks:
        shown.append(bytes(chunk))
        lines += shown[-1].count(b"\n")
        if lines >= rows:
            return shown, True
    return shown, False


def _page(command: list[str], chunks: Iterable[Chunk]) -> None:
    """Give text to a pager, until it wants no more."""
    import subprocess

    sys.stdout.flush()
    environment = {"LESS": LESS, **os.environ}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        try:
            for chunk in chunks:
                process.stdin.write(chunk)
            process.stdin.close()
        except BrokenPipeError:
            pass
        while process.poll() is None:
            try:
                process.wait()
            except KeyboardInterrupt:  # which the pager has got, too
                continue
