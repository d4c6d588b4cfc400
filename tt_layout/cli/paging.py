"""Text that is longer than the terminal goes through a pager, where somebody can use one."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain

from tt_layout.cli.output import note
from tt_layout.reports.writing import DEFAULT_SIZE, terminal_size, write

Chunk = bytes | memoryview
PAGER = "less"
LESS = "RSPs arrow keys scroll, sideways too; q quits$"
"""What ``LESS`` is where it is unset: colours are shown, lines are not folded, the prompt helps."""
SCREENS = 3  # of text that is shown without a pager


def write_paged(fitted: Iterable[Chunk], unfitted: Iterable[Chunk], size: int) -> None:
    """Write to standard output, through ``PAGER`` where that takes more than three screens.

    Args:
        fitted: the text in lines that fit the terminal, as it is made.
        whole: the text in whole lines, which a pager gets.
        size: bytes in all.
    """
    rest = iter(fitted)
    command = pager_command()
    if not command:
        write(rest, None, size=size)
        return
    lines = terminal_size(sys.stdout) or DEFAULT_SIZE
    shown, is_long = _screens(rest, SCREENS * lines.lines)
    if not is_long:
        write(shown, None, size=size)
    elif not _page(command, unfitted):
        write(chain(shown, rest), None, size=size)


def pager_command() -> list[str]:
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


def _screens(chunks: Iterator[Chunk], rows: int) -> tuple[list[bytes], bool]:
    """Return chunks up to so many lines, and whether there are more lines."""
    shown, lines = [], 0
    for chunk in chunks:
        shown.append(bytes(chunk))
        lines += shown[-1].count(b"\n")
        if lines > rows:
            return shown, True
    return shown, False


def _page(command: list[str], chunks: Iterable[Chunk]) -> bool:
    """Give text to a pager, until it wants no more; tell whether the pager could show any."""
    import subprocess

    sys.stdout.flush()
    options = os.environ.get("LESS")
    # Of lines that are cut nothing is lost unless less quits after one screen of them.
    less = LESS if options is None else f"{options} -R -S -+F"
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "LESS": less})
    except OSError:
        return False
    assert process.stdin is not None
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the pager gets an interrupt, too
        for chunk in chunks:
            process.stdin.write(chunk)
    with suppress(BrokenPipeError):  # of what is left in the buffer
        process.stdin.close()
    while process.poll() is None:
        with suppress(KeyboardInterrupt):
            process.wait()
    if process.returncode > 0:
        failed = f"the pager failed with status {process.returncode}: {' '.join(command)}"
        note(f"{failed}; --no-pager shows the text")
    return True
