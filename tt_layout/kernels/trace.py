"""Logs of tritonparse: compiled kernels and their launches.

A log is one JSON object a line, perhaps compressed by gzip.  What is not such an object is left out
and counted: a program that was killed leaves half a line.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tt_layout.errors import FileLocation, LayoutError, file_error
from tt_layout.files import lines_of, read_start
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

ZSTANDARD = b"\x28\xb5\x2f\xfd"
ENDINGS = (".ndjson", ".ndjson.gz")

MAX_BYTES = 1 << 31
"""Of a log, once it is no longer compressed: more is refused, as it may have no end."""

MAX_LINE = 1 << 28
"""Bytes of a line: a kernel with all of its stages has a few million."""

MAX_UNREAD = 8
"""Lines that are named, of those that are no events."""

STAGE = ".ttgir"
ASSEMBLY = ".amdgcn"


class ProgramText(NamedTuple):
    """Source of a kernel in the log.

    Attributes:
        file: its path on the machine that wrote the log.
        start: the line of the file that the text begins at.
        text: of the function, or of the whole file.
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
        kernels: in the order in which they were compiled.
        programs: hash of a kernel -> its source, where the log has it.
        unread: the lines that are no events.
    """

    kernels: tuple[SeenKernel, ...]
    programs: Mapping[str, ProgramText]
    unread: tuple[Unread, ...] = ()


def is_trace_name(path: str) -> bool:
    """Return whether a file is named like a log of tritonparse.

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
    reader, number = _TraceReader(), 0
    try:
        for number, line in enumerate(_lines(path), 1):
            reader.read(number, line)
    except (EOFError, zlib.error):
        reader.unread.append(Unread(number + 1, "the compressed data ends in the middle"))
    except OSError as error:
        raise file_error("read", path, error) from None
    kernels = reader.record.kernels
    if not kernels:
        first = next(iter(reader.unread), None)
        problem = f"; line {first.line}: {first.reason}" if first is not None else ""
        message = f"found no compiled kernel in the log{problem}"
        raise LayoutError(message, FileLocation(path))
    return KernelLog(kernels, reader.programs, tuple(reader.unread[:MAX_UNREAD]))


def _lines(path: str) -> Iterator[bytes]:
    if read_start(path, len(ZSTANDARD)) == ZSTANDARD:
        message = "is compressed by zstd: decompress it (zstd -d) first"
        raise LayoutError(message, FileLocation(path))
    try:
        yield from lines_of(path, MAX_BYTES, MAX_LINE)
    except LayoutError as error:
        raise error.hint("give the log in parts") from None


class _TraceReader:
    """Reader of the events of a log."""

    def __init__(self) -> None:
        self.record = Record(max_launches=None)
        self.programs: dict[str, ProgramText] = {}
        self.unread: list[Unread] = []

    def read(self, number: int, line: bytes) -> None:
        """Read an event; note a line that is not one."""
        if not line.strip():
            return
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            self.unread.append(Unread(number, "it is not JSON"))
            return
        if not isinstance(event, dict):
            self.unread.append(Unread(number, "it is no event"))
            return
        kind = event.get("event_type")
        if kind == "compilation":
            self._compiled(number, _object(event.get("payload")))
        elif kind == "launch":
            self._launched({**event, **_object(event.get("payload"))})

    def _compiled(self, number: int, payload: Mapping[str, Any]) -> None:
        metadata, files = _object(payload.get("metadata")), _object(payload.get("file_content"))
        text = next((v for k, v in files.items() if k.endswith(STAGE)), None)
        program = _program(_object(payload.get("python_source")))
        name = metadata.get("name")
        key = metadata.get("hash") or f"line {number}"
        if not isinstance(key, str):
            self.unread.append(Unread(number, "the kernel has no hash"))
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
        self.record.compiled(kernel)

    def _launched(self, event: Mapping[str, Any]) -> None:
        key = _object(event.get("compilation_metadata")).get("hash")
        grid = event.get("grid")
        if not isinstance(key, str) or not isinstance(grid, list):
            return
        sizes = [size for size in map(integer, grid) if size is not None]
        across, down, deep = (*sizes, 1, 1, 1)[:3]
        values = tuple(_values(_object(event.get("extracted_args"))))
        self.record.launched(key, Launch((across, down, deep), values))


def _object(value: object) -> Mapping[str, Any]:
    """Return a JSON object, which may be encoded as a text; an empty one for anything else."""
    if isinstance(value, str):
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
    return ProgramText(file, integer(source.get("start_line")) or 1, code)


def _values(arguments: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield each integer argument, and the address of each tensor modulo 512."""
    for name, encoded in arguments.items():
        argument = _object(encoded)
        value, address = argument.get("value"), argument.get("data_ptr")
        if isinstance(value, int):
            yield name, int(value)
        elif isinstance(address, str) and address.startswith("0x") and len(address) < 20:
            yield name, int(address, 16) % POINTER_PERIOD
