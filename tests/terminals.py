"""Running the command on a pseudo-terminal of a chosen width."""

from __future__ import annotations

import os
import re
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import forked

pty = pytest.importorskip("pty")

ESCAPE = re.compile(rb"\x1b\[[0-9;]*m")


def on_terminal(
    *arguments: str, columns: int = 200, shows_errors: bool = False, **variables: str
) -> tuple[int, bytes, str]:
    """Run the command on a terminal; return status, what it shows, and standard error.

    It has ``LINES`` lines, or 24.  With ``shows_errors`` it shows standard error as well.  The
    command runs in a child of this process, which has imported all already.
    """
    import fcntl
    import termios

    ours, theirs = pty.openpty()
    size = struct.pack("HHHH", int(variables.get("LINES", 24)), columns, 0, 0)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    with tempfile.TemporaryFile() as errors, open(os.devnull, "rb") as nothing:
        streams = (
            theirs if "PAGER" in variables else nothing.fileno(),
            theirs,
            theirs if shows_errors else errors.fileno(),
        )
        child = forked(arguments, streams, {"TERM": "xterm-256color", **variables})
        os.close(theirs)
        shown = b"".join(_read(ours))
        os.close(ours)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        errors.seek(0)
        return status, shown.replace(b"\r\n", b"\n"), errors.read().decode()


def screen(width: int | None) -> os.terminal_size | None:
    """Return the size of a terminal of so many columns; None for no terminal."""
    return None if width is None else os.terminal_size((width, 24))


def _read(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(descriptor, 1 << 16)
        except OSError:  # the other end is closed
            return
        if not data:
            return
        yield data


def shell_on_terminal(
    command: str, *, columns: int, folder: Path, environment: dict[str, str]
) -> str:
    """Run a command of bash on a terminal of so many columns; return what it shows, uncoloured."""
    import fcntl
    import subprocess
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {**environment, "TERM": "xterm-256color"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        variables.pop(name, None)
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b"".join(_read(ours))
    os.close(ours)
    process.wait()
    return ESCAPE.sub(b"", shown).replace(b"\r\n", b"\n").decode()
