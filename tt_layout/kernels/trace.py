"""Logs of tritonparse: compiled kernels and their launches.

A log has one JSON object per line, possibly compressed by gzip or zstd.  Other lines are left out
and counted: a program that was killed leaves half a line.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from tt_layout.errors import FileLocation, LayoutError, file_error
from tt_layout.files import lines_of
from tt_layout.kernels.binaries import assembly_registers
from tt_layout.kernels.metadata import KernelMetadata, metadata_of
from tt_layout.kernels.seen import (
    POINTER_PERIOD,
    CompiledKernel,
    Launch,
    Record,
    SeenKernel,
    integer,
)
from tt_layout.tuples import NamedTuple

ENDINGS = (".ndjson", ".ndjson.gz", ".ndjson.zst")

MAX_BYTES = 1 << 30
"""Of a log, once it is no longer compressed: it may have no end."""

MAX_LINES = 1 << 19
"""Of a log."""

MAX_LINE = 1 << 24
"""Bytes of a line: a kernel with all of its stages has a few million."""

MAX_BRACKETS = 1 << 20
"""Of a line: each may be a list or an object, which takes twenty times the memory of its text."""

MAX_WORK = 1 << 25
"""Steps of reading: a log within all other limits would take minutes of them.

A step takes about a third of a microsecond.  There are a few for each line, and one for each value
of JSON, of which a kernel with its texts has less than one in `BYTES_OF_VALUE` bytes.
"""

OF_LINE = 1 << 6
"""Steps of a line."""

OF_ARGUMENT = 1 << 2
"""Steps of an argument of a launch, once it is read as JSON."""

BYTES_OF_VALUE = 1 << 4

MAX_UNREAD = 8
"""Lines that are named, of those that are no events."""

MAX_OTHER = 1000
"""Lines that are no events: of more of them a file is no log."""

MAX_KEPT = 1 << 27
"""Characters of kernels and programs that are kept."""

OF_KERNEL = 1 << 10
"""What a kernel counts as, besides its texts."""

MAX_ARGUMENTS = 1 << 20
"""Arguments of different launches that are kept."""

MAX_OF_LAUNCH = 1 << 10
"""Arguments of a launch."""

MAX_SIZE = 1 << 31
"""What a grid may have along a dimension."""

MAX_VALUE = 1 << 64

ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,16}")

STAGE = ".ttgir"
ASSEMBLY = ".amdgcn"


class ProgramText(NamedTuple):
    """Source of a kernel in the log.

    Attributes:
        file: its path on the machine that wrote the log.
        start: the first line of the text in the file.
        text: the text of the function, or of the whole file.
    """

    file: str
    start: int
    text: str


class Unread(NamedTuple):
    """A skipped line of a log, and the reason."""

    line: int
    reason: str


class KernelLog(NamedTuple):
    """Content of a log.

    Attributes:
        kernels: kernels in the order of compilation.
        programs: hash of a kernel -> its source, if the log has it.
        unread: the lines that are not events.
    """

    kernels: tuple[SeenKernel, ...]
    programs: Mapping[str, ProgramText]
    unread: tuple[Unread, ...] = ()


def is_trace_name(path: str) -> bool:
    """Tell whether a file has the name of a tritonparse log.

    Example:
        >>> is_trace_name("dedicated_log_7.bin.ndjson"), is_trace_name("kernel.ttgir")
        (True, False)
    """
    return path.endswith(ENDINGS)


def read_trace(path: str) -> KernelLog:
    """Read the kernels and launches of a log.

    Raises:
        LayoutError: the file cannot be read, or nothing in it is a compiled kernel.
    """
    reader = _TraceReader()
    try:
        for line in lines_of(path, MAX_BYTES + MAX_LINE, MAX_LINE):  # it stops before
            reader.read(line)
            if (reason := reader.reason_to_stop()) is not None:
                rest = f"tail -n +{reader.number + 1} has the rest"
                reader.leave_out(f"reading stops behind it: {reason}; {rest}", is_last=True)
                break
    except (EOFError, zlib.error):
        reader.number += 1
        reader.leave_out("the compressed data ends in the middle", is_last=True)
    except OSError as error:
        raise file_error("read", path, error) from None
    except LayoutError as error:
        raise error.at(FileLocation(path)) from None
    kernels = reader.record.kernels
    if not kernels:
        first = next(iter(reader.unread), None)
        problem = f"; line {first.line}: {first.reason}" if first is not None else ""
        message = f"found no compiled kernel in the log{problem}"
        raise LayoutError(message, FileLocation(path))
    return KernelLog(kernels, reader.programs, tuple(reader.unread))


class _TraceReader:
    """Reader of the events of a log, with a limit on what it keeps.

    Attributes:
        number: number of the last line read.
    """

    def __init__(self) -> None:
        self.number = 0
        self.record = Record(max_launches=None)
        self.programs: dict[str, ProgramText] = {}
        self.unread: list[Unread] = []
        self._others = self._bytes = self._characters = self._arguments = self._work = 0
        self._launches: set[tuple[str, Launch]] = set()
        self._is_inside = False

    def reason_to_stop(self) -> str | None:
        """Return the reason to stop reading; None to continue."""
        if self._bytes > MAX_BYTES:
            return f"{MAX_BYTES >> 30} GiB are read"
        if self.number >= MAX_LINES:
            return f"{MAX_LINES} lines are read"
        if self._work > MAX_WORK:
            return "it takes too long to read"
        if self._others > MAX_OTHER:
            return f"{MAX_OTHER} lines are not events"
        if self._characters > MAX_KEPT:
            return f"its kernels have more than {MAX_KEPT >> 20} MiB"
        return None

    def leave_out(self, reason: str, *, is_last: bool = False) -> None:
        """Record why the line is left out, for the first few lines and the last."""
        self._others += 1
        if is_last:
            del self.unread[MAX_UNREAD - 1 :]
        if len(self.unread) < MAX_UNREAD:
            self.unread.append(Unread(self.number, reason))

    def read(self, line: bytes) -> None:
        """Keep the content of an event, or record that the line is not one.

        Args:
            line: the next line, or a piece of it if it is too long.
        """
        self._bytes += len(line)
        is_inside, self._is_inside = self._is_inside, not line.endswith(b"\n")
        if is_inside:
            return
        self.number += 1
        if not line.strip():
            return
        if len(line) >= MAX_LINE and self._is_inside:
            self.leave_out(f"it has more than {MAX_LINE >> 20} MiB")
            return
        brackets = line.count(b"[") + line.count(b"{")
        values = brackets + line.count(b",")
        self._work += OF_LINE + max(0, values - len(line) // BYTES_OF_VALUE)
        if brackets > MAX_BRACKETS:
            self.leave_out(f"it has more than {MAX_BRACKETS} brackets")
            return
        import json

        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            self.leave_out("it is not JSON")
            return
        if not isinstance(event, dict):
            self.leave_out("it is not an event")
            return
        kind = event.get("event_type")
        if kind == "compilation":
            self._compiled(_object(event.get("payload")))
        elif kind == "launch":
            self._launched({**event, **_object(event.get("payload"))})

    def _compiled(self, payload: Mapping[str, Any]) -> None:
        metadata, files = _object(payload.get("metadata")), _object(payload.get("file_content"))
        text = next((v for k, v in files.items() if k.endswith(STAGE)), None)
        program = _program(_object(payload.get("python_source")))
        name = metadata.get("name")
        key = metadata.get("hash") or f"line {self.number}"
        if not isinstance(key, str):
            self.leave_out("the kernel has no hash")
            return
        if program is not None:
            self.programs[key] = program
        kernel = CompiledKernel(
            key=key,
            name=name if isinstance(name, str) else "kernel",
            text=text if isinstance(text, str) else None,
            place=f"{program.file}:{program.start}" if program is not None else "",
            known=_known(metadata, files),
        )
        texts = (key, kernel.name, kernel.text, program.text if program is not None else None)
        self._characters += OF_KERNEL + sum(
            len(stage_text) for stage_text in texts if stage_text is not None
        )
        self.record.compiled(kernel)

    def _launched(self, event: Mapping[str, Any]) -> None:
        key = _object(event.get("compilation_metadata")).get("hash")
        grid = event.get("grid")
        if not isinstance(key, str) or not isinstance(grid, list):
            return
        sizes = [size for size in map(integer, grid) if size is not None]
        if not all(0 < size < MAX_SIZE for size in sizes):
            return  # it launches nothing
        across, down, deep = (*sizes, 1, 1, 1)[:3]
        values = tuple(islice(_values(_object(event.get("extracted_args"))), MAX_OF_LAUNCH))
        self._work += OF_ARGUMENT * len(values)
        self._keep(key, Launch((across, down, deep), values))

    def _keep(self, key: str, launch: Launch) -> None:
        """Keep a launch, if it equals an earlier one or there is room for another."""
        if (key, launch) not in self._launches:
            if self._arguments > MAX_ARGUMENTS:
                return
            self._launches.add((key, launch))
            self._arguments += 1 + len(launch.values)
        self.record.launched(key, launch)


def _object(value: object) -> Mapping[str, Any]:
    """Return a JSON object, which may be encoded as a string; an empty one for anything else."""
    if isinstance(value, str):
        import json

        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _known(metadata: Mapping[str, Any], files: Mapping[str, Any]) -> KernelMetadata:
    """Return the metadata of a kernel, with the registers of AMD's assembly."""
    described = metadata_of(metadata)
    path, text = next(((k, v) for k, v in files.items() if k.endswith(ASSEMBLY)), ("", None))
    registers = assembly_registers(text) if isinstance(text, str) else None
    return (
        described
        if registers is None
        else described._replace(registers=registers._replace(source=path))
    )


def _program(source: Mapping[str, Any]) -> ProgramText | None:
    file, code = source.get("file_path"), source.get("code")
    if not isinstance(file, str) or not isinstance(code, str):
        return None
    start = integer(source.get("start_line"))
    return ProgramText(file, start if start is not None and 0 < start < MAX_SIZE else 1, code)


def _values(arguments: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield each integer argument, and the address of each tensor modulo 512."""
    for name, encoded in arguments.items():
        argument = _object(encoded)
        value, address = argument.get("value"), argument.get("data_ptr")
        if isinstance(value, int) and abs(value) < MAX_VALUE:
            yield name, int(value)
        elif isinstance(address, str) and ADDRESS.fullmatch(address):
            yield name, int(address, 16) % POINTER_PERIOD
