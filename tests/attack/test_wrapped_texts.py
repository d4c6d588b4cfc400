"""Hostile texts around a dump, and archives in logs in archives: one message, bounded work."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from forking import Limits, server
from harness import DUMP, fault_of

SECONDS, MEGABYTES = 60, 300 + 150  # libraries take 150 MB of the address space
LINE = b"V1126 10:00:00.1 7 torch/_x.py:12] [0/0] "
MILLION = 1 << 20

pytestmark = pytest.mark.attack


def archive(data: bytes) -> bytes:
    """Return a tar archive of one log."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        member = tarfile.TarInfo("a.log")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def log_of(data: bytes) -> bytes:
    return LINE + b"reading\n" + data + b"\n" + LINE + b"done\n"


INNER = gzip.compress(DUMP.encode())
FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "an archive in a log in an archive": (
        lambda: gzip.compress(archive(log_of(archive(DUMP.encode())))), "it is a tar archive"
    ),
    "compressed data in a log in compressed data": (
        lambda: gzip.compress(log_of(INNER)), "not text: byte"
    ),
    "compressed twice": (lambda: gzip.compress(gzip.compress(log_of(INNER))), "compressed twice"),
    "600 MiB of blanks": (
        lambda: gzip.compress(b" " * MILLION) * 600, "longer than 128 MiB"
    ),
    "127 MiB of lines": (
        lambda: gzip.compress(b"\\n" + b"\n" * MILLION) * 127, "found no MLIR in it"
    ),
    "backslashes": (lambda: b"\\5C" * MILLION + b"\n", "found no MLIR in it"),
    "backslashes twice": (lambda: b"\\\\" * 8 * MILLION + b"\\n\n", "found no MLIR in it"),
    "quotation marks": (lambda: b'"\\n' * 8 * MILLION, "found no MLIR in it"),
    "entities": (lambda: b"\\n&amp;" * 4 * MILLION, "found no MLIR in it"),
    "codes": (lambda: b'"' + b"\\u0041\\n" * 3 * MILLION + b'"', "found no MLIR in it"),
    "prefixes": (
        lambda: b"[rank0]: " * MILLION + b"\n2026-11-26T10:00:00Z module" * MILLION,
        "found no MLIR in it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_text_is_one_message(name: str, tmp_path: Path) -> None:
    content, message = FILES[name]
    path = tmp_path / "k.log"
    path.write_bytes(content())
    ended = server(Limits(SECONDS, MEGABYTES)).run(["audit", str(path)])
    err = ended.err.decode()
    assert fault_of(ended.status, ended.out.decode(), err) is None
    assert (ended.status, ended.out) == (2, b"")
    assert message in " ".join(err.split())
    assert len(err.splitlines()) == 1
