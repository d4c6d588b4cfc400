"""Register counts of compiled kernels: cubins, and AMD's assembly.

Source:
    The sections of cubins: compared with ``cuobjdump -res-usage`` for Triton 3.4 to 3.9
    (``tests/compiler/test_compiled_kernels.py``).  AMD: LLVM, AMDGPUUsage, code object metadata.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from tt_layout.tuples import NamedTuple

WORD_BYTES = 4

_ELF = b"\x7fELF\x02\x01"
"""How a file of 64 bits begins, the lower bytes first."""

_INFO = b".nv.info\0"
_SIZED = 4
"""The format of a record that says how many bytes it has."""

_STACK, _REGISTERS = 0x11, 0x2F
"""The records of the bytes of the stack, and of the registers, of a function."""

_HEADER = struct.Struct("<IIQQQQ")
"""The beginning of a section's header."""

MAX_INFO = 1 << 20
"""Bytes that the sections of a cubin that registers stand in have together; kernels have a few
hundred."""

_COUNT, _SPILLED = (
    re.compile(rf"\.{key}:(?<=[\s-]\.{key}:)[ \t]+(\d{{1,9}})[ \t\r]*$", re.MULTILINE)
    for key in ("vgpr_count", "vgpr_spill_count")
)
"""What begins with the key itself is found fast in a long text."""


class CompiledRegisters(NamedTuple):
    """The registers of a compiled kernel.

    Attributes:
        used: 32-bit registers per thread.
        spilled: registers spilled to local memory; None where not known.
        source: the source of the numbers, in a few words.
        spilled_bytes: bytes that a thread stores to local memory, as the assembler counts them;
            None if it was not run.
    """

    used: int
    spilled: int | None = None
    source: str = ""
    spilled_bytes: int | None = None


def cubin_registers(data: bytes) -> CompiledRegisters | None:
    """Return the registers of the cubin function with the most; None without any.

    Spilled registers are on the stack, in words of 4 bytes.
    """
    most: dict[int, int] = {}
    try:
        for kind, value in _records(data) if data.startswith(_ELF) else ():
            most[kind] = max(value, most.get(kind, 0))
    except (struct.error, ValueError):  # it is cut off
        return None
    if _REGISTERS not in most:
        return None
    return CompiledRegisters(most[_REGISTERS], most.get(_STACK, 0) // WORD_BYTES)


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield kind and number of each record of a function.

    Raises:
        struct.error: a record is beyond the end.
        ValueError: a section is beyond the end, or sections with records exceed `MAX_INFO` bytes.
    """
    (sections,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    if size < _HEADER.size or sections + count * size > len(data):
        raise ValueError("the headers of the sections are beyond the end")
    headers = [_HEADER.unpack_from(data, sections + at * size) for at in range(count)]
    names = headers[names_at][4] if names_at < count else 0
    room = MAX_INFO
    for name, _, _, _, begin, length in headers:
        start = names + name
        if start > len(data) or not data.startswith(_INFO, start):
            continue
        room -= length
        if begin + length > len(data) or room < 0:
            raise ValueError("a section is beyond the end, or there are too many")
        yield from _records_of(data, begin, begin + length)


def _records_of(data: bytes, at: int, end: int) -> Iterator[tuple[int, int]]:
    while at < end:
        form, kind, length = struct.unpack_from("<BBH", data, at)
        at += 4
        if form != _SIZED:
            continue
        if kind in (_STACK, _REGISTERS):
            _, value = struct.unpack_from("<II", data, at)
            yield kind, value
        at += length


def assembly_registers(text: str) -> CompiledRegisters | None:
    """Return the registers of the kernel with the most in AMD's assembly.

    Example:
        >>> assembly_registers('''
        ...     .vgpr_count:     256
        ...     .vgpr_spill_count: 21
        ... ''')
        CompiledRegisters(used=256, spilled=21, source='', spilled_bytes=None)
    """
    count, spilled = (
        max((int(match[1]) for match in pattern.finditer(text)), default=None)
        for pattern in (_COUNT, _SPILLED)
    )
    return CompiledRegisters(count, spilled) if count is not None else None
