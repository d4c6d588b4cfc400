"""Register counts of compiled kernels: cubins, and AMD's assembly.

Source:
    The sections of cubins: what ``cuobjdump -res-usage`` prints of those of Triton 3.4 to 3.9
    (``tests/compiler/test_compiled_kernels.py``).  AMD: LLVM, AMDGPUUsage, code object metadata.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

WORD_BYTES = 4

_ELF = b"\x7fELF\x02\x01"
"""How a file of 64 bits begins, the lower bytes first."""

_INFO = ".nv.info"
_SIZED = 4
"""The format of a record that says how many bytes it has."""

_STACK, _REGISTERS = 0x11, 0x2F
"""The records of the bytes of the stack, and of the registers, of a function."""

_COUNT = re.compile(r"^\s*(?:- )?\.vgpr_count:\s+(\d{1,9})\s*$", re.MULTILINE)
_SPILLED = re.compile(r"^\s*(?:- )?\.vgpr_spill_count:\s+(\d{1,9})\s*$", re.MULTILINE)


class CompiledRegisters(NamedTuple):
    """The registers of a compiled kernel.

    Attributes:
        used: registers of 32 bits of a thread.
        spilled: those that are in local memory instead; None where that is not known.
        source: what they were read from, in a few words.
    """

    used: int
    spilled: int | None = None
    source: str = ""


def cubin_registers(data: bytes) -> CompiledRegisters | None:
    """Return the registers of the cubin function that has most; None without any.

    What is spilled is on the stack, in words of 4 bytes.
    """
    try:
        records = list(_records(data)) if data.startswith(_ELF) else []
    except (struct.error, ValueError):  # it is cut off
        return None
    counts = [value for kind, value in records if kind == _REGISTERS]
    stacks = [value for kind, value in records if kind == _STACK]
    if not counts:
        return None
    return CompiledRegisters(max(counts), max(stacks, default=0) // WORD_BYTES)


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield kind and number of each record of a function.

    Raises:
        struct.error: a record is beyond the end.
        ValueError: a name is.
    """
    (sections,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, sections + at * size) for at in range(count)]
    names = headers[names_at][4] if names_at < count else 0
    for name, _, _, _, begin, length in headers:
        start = names + name
        if data[start : data.index(b"\0", start)].decode(errors="replace") == _INFO:
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
    """Return the registers of the kernel in AMD's assembly that has most.

    Example:
        >>> assembly_registers('''
        ...     .vgpr_count:     256
        ...     .vgpr_spill_count: 21
        ... ''')
        CompiledRegisters(used=256, spilled=21, source='')
    """
    counts, spilled = (
        [int(number) for number in pattern.findall(text)] for pattern in (_COUNT, _SPILLED)
    )
    return CompiledRegisters(max(counts), max(spilled, default=None)) if counts else None
