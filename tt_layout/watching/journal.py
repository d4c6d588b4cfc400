"""Journals of the processes of a watched program, written to disk as events happen.

A process may end at any moment, so each kernel and each launch is a line in the file of its
process, written by one system call.  The watching process reads all files at the end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import uuid4

from tt_layout.errors import LayoutError
from tt_layout.files import lines_of
from tt_layout.kernels.seen import (
    CompiledKernel,
    Launch,
    Record,
    SeenKernel,
    kernel_from_plain,
    kernel_to_plain,
    launch_from_plain,
    launch_to_plain,
)
from tt_layout.tuples import NamedTuple
from tt_layout.wording import size

VERSION = 1
SUFFIX = ".journal"

MAX_BYTES = 1 << 27
"""Of a journal: what a process saw beyond that is not reported, and the table says so."""

MAX_TOTAL = 1 << 28
"""Bytes of the journals of all processes together."""

MAX_LINE = 1 << 26
"""Bytes of what a process saw at once: a kernel with its text."""


class Journal:
    """File to which one process appends its events.

    The file is created with its first line, and again in a forked process, so that no two
    processes share one.

    Args:
        folder: the folder of the session.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._process = -1
        self._file = -1

    def compiled(self, kernel: CompiledKernel) -> None:
        """Append a kernel."""
        self._append({"kernel": kernel_to_plain(kernel)})

    def launched(self, key: str, launch: Launch) -> None:
        """Append a launch of the kernel with a hash."""
        self._append({"launch": launch_to_plain(launch), "of": key})

    def failed(self, failure: str) -> None:
        """Append a failure of the hooks."""
        self._append({"failure": failure})

    def _append(self, entry: dict[str, Any]) -> None:
        if not os.path.isdir(self._folder):
            return  # the session is over, and this process goes on
        if self._process != os.getpid():
            self._process = os.getpid()
            path = os.path.join(self._folder, f"{self._process}-{uuid4().hex}{SUFFIX}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            self._file = os.open(path, flags, 0o600)
            self._append({"version": VERSION})
        line = json.dumps(entry).encode() + b"\n"
        written = os.write(self._file, line)
        if written != len(line):
            raise OSError(f"{self._folder}: no room for what was seen")


class ProcessLog(NamedTuple):
    """Content of the journal of one process.

    Attributes:
        process: identifier of the process.
        kernels: the kernels that it compiled or launched, in order.
        failure: the first failure of its hooks or of its journal; None without one.
    """

    process: int
    kernels: tuple[SeenKernel, ...]
    failure: str | None


def process_logs(folder: str) -> Iterator[ProcessLog]:
    """Yield the journals of a session in the order of their names, up to a total size."""
    left = MAX_TOTAL

    def counted(lines: Iterable[bytes]) -> Iterator[bytes]:
        nonlocal left
        for line in lines:
            left -= len(line)
            if left < 0:
                every = f"those of all processes have more than {size(MAX_TOTAL)}"
                raise LayoutError(f"not read to its end: {every}")
            yield line

    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        process = entry.name.partition("-")[0]
        if entry.name.endswith(SUFFIX) and process.isdecimal():
            yield _log(int(process), counted(lines_of(entry.path, MAX_BYTES, MAX_LINE)))


def _log(process: int, lines: Iterable[bytes]) -> ProcessLog:
    """Read a journal; unreadable entries are recorded as a failure, not raised."""
    record, failure = Record(None), None
    try:
        for line in lines:
            if not line.endswith(b"\n"):
                failure = failure or f"process {process} ended while it wrote what it saw"
                break
            failure = _read_entry(json.loads(line), record) or failure
    except LayoutError as error:
        failure = f"the journal of process {process} is {error.message}"
    except OSError as error:
        failure = f"the journal of process {process} cannot be read: {error}"
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        failure = f"the journal of process {process} is damaged ({type(error).__name__})"
    return ProcessLog(process, record.kernels, failure)


def _read_entry(entry: dict[str, Any], record: Record) -> str | None:
    """Add an entry to a record; return the failure in it, if any."""
    if "kernel" in entry:
        record.compiled(kernel_from_plain(entry["kernel"]))
    elif "launch" in entry:
        record.launched(entry["of"], launch_from_plain(entry["launch"]))
    elif "failure" in entry:
        return str(entry["failure"])
    elif entry["version"] != VERSION:
        raise ValueError("another version wrote it")
    return None
