"""Commands that write, killed, on a full disk, and two at a time: no file is ever torn.

    python tests/attack/torn.py [TIMES]

prints a table of tried and failed.  After each run every file is whole, as it was before or as the
command writes it, and nothing else lies beside it but where the run was killed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from forking import Limits, Server, server
from harness import BLOCKED, DUMP, MEGABYTES, ROWS, SECONDS, fault_of

Files = dict[str, bytes]


class Writing(NamedTuple):
    """A command that writes files: its arguments for either of two contents."""

    one: tuple[str, ...]
    other: tuple[str, ...]


TYPE = ("-t", "tensor<256x256xf16>")
WRITING = {
    "check --update": Writing(
        ("check", "one.yaml", "--update"), ("check", "other.yaml", "--update")
    ),
    "-o": Writing(("-l", BLOCKED, *TYPE, "-o", "out"), ("-l", ROWS, *TYPE, "-o", "out")),
    "init": Writing(
        ("init", "dump.mlir", "-o", "out", "--force"),
        ("init", "dump.mlir", "-o", "out", "--force", "--view", "info"),
    ),
    "plot": Writing(
        ("plot", BLOCKED, "-t", "tensor<32x32xf16>", "-o", "out.svg"),
        ("plot", ROWS, "-t", "tensor<32x32xf16>", "-o", "out.svg"),
    ),
}  # fmt: skip


def manifest(layout: str) -> str:
    cases = (
        f"  - {{name: c{n}, layout: '{layout}', slice: '0:{n + 1},0:64'}}\n" for n in range(30)
    )
    return f"defaults: {{type: 'tensor<64x64xf16>'}}\ncases:\n{''.join(cases)}"


@contextmanager
def folder() -> Iterator[Path]:
    """Work in a folder with what the commands read."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            Path("dump.mlir").write_text(DUMP)
            Path("one.yaml").write_text(manifest(BLOCKED))
            Path("other.yaml").write_text(manifest(ROWS))
            yield Path(name)
        finally:
            os.chdir(before)


def files() -> Files:
    """Return the files that commands have written."""
    given = ("dump.mlir", "one.yaml", "other.yaml")
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.name not in given}


def torn(found: Files, *whole: Files, may_leave: bool = False) -> str | None:
    """Return what is wrong with the files found, each of which is to be as in one of others."""
    for name, content in found.items():
        if name.startswith("."):
            if not may_leave:
                return f"leaves {name}"
        elif content not in [files[name] for files in whole if name in files]:
            return f"tears {name}"
    return None


class Whole(NamedTuple):
    """What either command writes, and the seconds that the other takes."""

    one: Files
    other: Files
    seconds: float


def whole(server: Server, writing: Writing) -> Whole:
    """Run both once."""
    contents, began = [], 0.0
    for arguments in writing:
        began = time.monotonic()
        ended = server.run(arguments)
        assert ended.status == 0, ended.err
        contents.append(files())
    return Whole(contents[0], contents[1], time.monotonic() - began)


def restore(before: Files) -> None:
    """Let the files be as before, and no others."""
    for name in files():
        Path(name).unlink()
    for name, content in before.items():
        Path(name).write_bytes(content)


def _killed(server: Server, writing: Writing, known: Whole, r: Random) -> str | None:
    ended = server.run(writing.other, kill_after=r.uniform(0.05, 0.8) * known.seconds)
    if ended.status not in (0, -9):
        return f"status {ended.status}"
    return torn(files(), known.one, known.other, may_leave=ended.status == -9)


def _full(server: Server, writing: Writing, known: Whole, r: Random) -> str | None:
    largest = max(map(len, known.other.values()))
    limit = r.choice([0, 1, r.randrange(largest), largest - 1])
    ended = server.run(writing.other, file_bytes=limit)
    fault = fault_of(ended.status, ended.out.decode(), ended.err.decode())
    if fault is None and ended.status != 2:
        fault = f"status {ended.status} with files of {limit} bytes"
    return fault or torn(files(), known.one, known.other)


def _two(server: Server, writing: Writing, known: Whole, r: Random) -> str | None:
    pair = r.sample(writing, 2)
    ended = server.run(pair[0], beside=pair[1])
    fault = None if ended.status == 0 else f"status {ended.status}: {ended.err[-200:]!a}"
    return fault or torn(files(), known.one, known.other)


WAYS: dict[str, Callable[[Server, Writing, Whole, Random], str | None]] = {
    "killed": _killed,
    "full disk": _full,
    "two writers": _two,
}


def run(way: str, command: str, times: int, seed: int = 1) -> list[str]:
    """Try so many times; return what failed."""
    started = server(Limits(SECONDS, MEGABYTES))
    r = Random(f"{seed}/{way}/{command}")
    failed = []
    with folder():
        known = whole(started, WRITING[command])
        for _ in range(times):
            restore(known.one)
            if (fault := WAYS[way](started, WRITING[command], known, r)) is not None:
                failed.append(f"{command}, {way}: {fault}")
    return failed


def main() -> int:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    status = 0
    for way in WAYS:
        for command in WRITING:
            failed = run(way, command, times)
            print(f"{times:6d} tried {len(failed):6d} failed  {command}, {way}", flush=True)
            for line in failed[:5]:
                print(f"        {line}")
            status |= bool(failed)
    return status


if __name__ == "__main__":
    sys.exit(main())
