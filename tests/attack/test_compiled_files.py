"""Compiled files that are none: cubins whose sections lie, assembly without an end."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from forking import Limits, server
from harness import DUMP, MEGABYTES, SECONDS, fault_of
from test_compiled_kernels import cubin

import tt_layout
from tt_layout.kernels.binaries import cubin_registers
from tt_layout.kernels.metadata import MAX_CODE_BYTES

pytestmark = pytest.mark.attack

SECTIONS, SIZES = 0x28, 0x3A
MOST = (1 << 64) - 1


def elf(
    body: bytes, headers: list[tuple[int, int, int]], *, size: int = 64, names: int = 0
) -> bytes:
    """Return a file of sections, each as the place of its name, its begin and its length."""
    packed = b"".join(
        struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, begin, length, *[0] * 4)
        for name, begin, length in headers
    )
    head = b"\x7fELF\x02\x01".ljust(SECTIONS, b"\0") + struct.pack("<Q", 64 + len(body))
    head = head.ljust(SIZES, b"\0") + struct.pack("<HHH", size, len(headers), names)
    return head.ljust(64, b"\0") + body + packed


def overlapping(bytes_each: int) -> bytes:
    """Return sections that are all of them the same megabytes of records."""
    body = b"\0.nv.info\0".ljust(64, b"\0") + struct.pack("<BBH", 3, 0, 0) * (bytes_each // 4)
    return elf(body, [(0, 64, 0), *[(1, 128, bytes_each)] * 60_000])


def nameless() -> bytes:
    """Return sections whose names are without end."""
    return elf(b"x" * (20 << 20), [(0, 64, 0), *[(1, 64, 8)] * 60_000])


def beyond(field: int) -> bytes:
    """Return a section with a number that is beyond every file."""
    own = [1, 128, 16]
    own[field] = 0xFFFFFFFF if field == 0 else MOST
    body = b"\0.nv.info\0".ljust(64, b"\0") + struct.pack("<BBHII", 4, 0x2F, 8, 9, 168)
    return elf(body, [(0, 64, 0), (own[0], own[1], own[2])])


def with_offset(place: int, code: str, value: int) -> bytes:
    data = bytearray(cubin(168, 0))
    struct.pack_into(code, data, place, value)
    return bytes(data)


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "overlapping sections": (".cubin", lambda: overlapping(16 << 20)),
    "small overlapping sections": (".cubin", lambda: overlapping(1 << 12)),
    "names without an end": (".cubin", nameless),
    "a name beyond the end": (".cubin", lambda: beyond(0)),
    "a begin of 2^64 - 1": (".cubin", lambda: beyond(1)),
    "a length of 2^64 - 1": (".cubin", lambda: beyond(2)),
    "headers at 2^64 - 1": (".cubin", lambda: with_offset(SECTIONS, "<Q", MOST)),
    "headers of no size": (".cubin", lambda: with_offset(SIZES, "<H", 0)),
    "65,535 headers": (".cubin", lambda: with_offset(SIZES + 2, "<H", 0xFFFF)),
    "records of a section": (".cubin", lambda: elf(
        b"\0.nv.info\0".ljust(64, b"\0") + b"\0" * (30 << 20), [(0, 64, 0), (1, 128, 30 << 20)]
    )),
    "empty lines": (".amdgcn", lambda: b"\n" * MAX_CODE_BYTES),
    "a line of spaces": (".amdgcn", lambda: b" " * MAX_CODE_BYTES),
    "lines of spaces": (".amdgcn", lambda: b"    \n" * (MAX_CODE_BYTES // 5)),
    "counts": (".amdgcn", lambda: b".vgpr_count: 1\n" * (MAX_CODE_BYTES // 15)),
    "digits": (".amdgcn", lambda: b"\n.vgpr_count: " + b"9" * (MAX_CODE_BYTES - 14)),
    "5000 digits": (".amdgcn", lambda: b"\n.vgpr_count: " + b"9" * 5000 + b"\n"),
    "no text": (".amdgcn", lambda: b"\xf0\x9f\x98\x80" * (MAX_CODE_BYTES // 4)),
    "too many bytes": (".cubin", lambda: b"\x7fELF\x02\x01" * (MAX_CODE_BYTES // 6 + 1)),
    "nested lists": (".json", lambda: b"[" * (1 << 20)),
    "a number": (".json", lambda: b'{"num_warps": ' + b"9" * 5000 + b"}"),
    "many keys": (".json", lambda: json.dumps({str(at): [at] for at in range(60_000)}).encode()),
}  # fmt: skip
"""What is hostile -> how the file is called, and what it has."""


@pytest.mark.parametrize("name", FILES)
def test_a_file_beside_a_dump(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending, made = FILES[name]
    monkeypatch.chdir(tmp_path)
    Path("dump.mlir").write_text(DUMP)
    Path(f"dump{ending}").write_bytes(made())
    for arguments in (
        ["audit", "dump.mlir"],
        ["audit", "dump.mlir", "--compiled", f"dump{ending}"],
    ):
        ended = server(Limits(SECONDS, MEGABYTES)).run(arguments)
        assert fault_of(ended.status, ended.out.decode(), ended.err.decode()) is None


LARGE: dict[str, bytes] = {
    ".cubin": b"\x7fELF\x02\x01",
    ".amdgcn": b".vgpr_count: 7\n",
    ".json": b'{"num_warps": 4, "x": [%s' % (b"[]," * (20 << 20)),
}
"""How a file of 4 GiB begins, whose rest takes no room on the disk."""


@pytest.mark.parametrize("ending", LARGE)
def test_a_large_file_beside_a_dump(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dump.mlir").write_text(DUMP)
    for size in (1 << 32, len(LARGE[ending]) + (400 << 20)):
        with Path(f"dump{ending}").open("wb") as file:
            file.write(LARGE[ending])
            file.truncate(size)
        ended = server(Limits(SECONDS, MEGABYTES)).run(["audit", "dump.mlir"])
        assert fault_of(ended.status, ended.out.decode(), ended.err.decode()) is None


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("name", FILES)
def test_the_code_of_a_kernel(name: str) -> None:
    ending, made = FILES[name]
    code = made() if ending == ".cubin" else made().decode()
    kernel = SimpleNamespace(asm={"ttgir": DUMP, ending[1:]: code}, metadata={})
    assert tt_layout.audit_ir(kernel).audits


def test_flipped_bytes_of_a_cubin(seed: int) -> None:
    random = Random(seed)
    whole = cubin(168, 480)
    for _ in range(5_000):
        data = bytearray(whole)
        for _ in range(random.choice([1, 1, 2, 8])):
            data[random.randrange(len(data))] = random.choice([0, 1, 0x7F, 0xFF])
        cubin_registers(bytes(data))
