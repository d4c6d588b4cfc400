"""Logs of tritonparse that grow without end, and events that are none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from forking import Ended, Limits, server
from harness import DUMP, MEGABYTES, SECONDS, fault_of

from tt_layout.kernels.trace import read_trace

pytestmark = pytest.mark.attack


def compilation(key: str = "k", text: str = DUMP, **more: Any) -> dict[str, Any]:
    """Return the event of a compiled kernel."""
    payload = {
        "metadata": {"hash": key, "name": "f", "num_warps": 4},
        "file_content": {"f.ttgir": text},
        **more,
    }
    return {"event_type": "compilation", "payload": payload}


def launch(grid: Any = (4,), key: Any = "k", **arguments: Any) -> dict[str, Any]:
    """Return the event of a launch."""
    return {
        "event_type": "launch",
        "grid": grid,
        "compilation_metadata": {"hash": key},
        "extracted_args": arguments,
    }


KERNEL = json.dumps(compilation()).encode() + b"\n"


def run(name: str, pieces: Iterator[bytes], folder: Path) -> Ended:
    """Return how the audit of a log ends."""
    path = folder / name
    is_compressed = name.endswith(".gz")
    with gzip.open(path, "wb", 1) if is_compressed else path.open("wb") as file:
        file.writelines(pieces)
    return server(Limits(SECONDS, MEGABYTES)).run(["audit", str(folder / name)])


def lines(line: bytes, megabytes: int, first: bytes = KERNEL) -> Iterator[bytes]:
    """Yield a kernel, then a line so often that it is so many megabytes."""
    yield first
    count = (1 << 20) // len(line) or 1
    yield from repeat(line * count, megabytes * (1 << 20) // (len(line) * count) or 1)


def one_line(start: bytes, part: bytes, megabytes: int, end: bytes) -> Iterator[bytes]:
    """Yield a line of so many megabytes, then a kernel."""
    yield start
    yield from repeat(part * ((1 << 20) // len(part)), megabytes)
    yield end + b"\n"
    yield KERNEL


EVENT, LAUNCH = b'{"event_type": "other"}\n', json.dumps(launch()).encode() + b"\n"
GROWING: dict[str, tuple[str, Callable[[], Iterator[bytes]], str]] = {
    "no JSON": ("a.ndjson.gz", lambda: lines(b"x\n", 1200), "1000 lines are not events"),
    "no events": ("a.ndjson.gz", lambda: lines(b"[]\n", 1200), "1000 lines are not events"),
    "empty": ("a.ndjson.gz", lambda: lines(b"\n", 1200), "524288 lines are read"),
    "spaces": ("a.ndjson.gz", lambda: lines(b" " * 3999 + b"\n", 1200), "1 GiB are read"),
    "other events": ("a.ndjson.gz", lambda: lines(EVENT, 20), "524288 lines are read"),
    "a line": ("a.ndjson", lambda: one_line(b"[", b"[],", 100, b"0]"), "more than 16 MiB"),
    "a compressed line": (
        "a.ndjson.gz", lambda: one_line(b"[", b"[],", 900, b"0]"), "more than 16 MiB",
    ),
    "lists": ("a.ndjson", lambda: one_line(b'{"a": [', b"[],", 15, b"0]}"), "1048576 brackets"),
    "launches": ("a.ndjson.gz", lambda: lines(LAUNCH, 12), ""),
    "numbers": (
        "a.ndjson", lambda: lines(b'{"a": [%s0]}\n' % (b"0," * (1 << 22)), 120), "too long to read",
    ),
    "texts": ("a.ndjson", lambda: one_line(b'{"a": [', b'"a\\u0101",', 15, b"0]}"), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", GROWING)
def test_a_log_that_grows_ends_with_what_it_has(name: str, tmp_path: Path) -> None:
    file, pieces, told = GROWING[name]
    ended = run(file, pieces(), tmp_path)
    assert fault_of(ended.status, ended.out.decode(), ended.err.decode()) is None
    assert ended.status == 0
    out = " ".join(ended.out.decode().split())
    assert "@f" in out
    assert told in out


def different(count: int, arguments: int) -> Iterator[bytes]:
    """Yield a kernel and launches of which each is another."""
    yield KERNEL
    for number in range(count):
        values = {f"a{at}": {"value": number + at} for at in range(arguments)}
        yield json.dumps(launch(**values)).encode() + b"\n"


def kernels(count: int) -> Iterator[bytes]:
    """Yield kernels without a text, and one with it."""
    yield KERNEL
    for number in range(count):
        yield json.dumps(compilation(f"k{number}", file_content={})).encode() + b"\n"


def nearly_alike(count: int, arguments: int) -> Iterator[bytes]:
    """Yield a kernel and launches that differ in one argument of many."""
    values = {f"a{at}": {"value": at + 300} for at in range(arguments)}
    start, _, end = json.dumps(launch(**values)).encode().partition(b"300")
    yield KERNEL
    yield from (start + b"%d" % (number + 1000) + end + b"\n" for number in range(count))


def programs(count: int, megabytes: int) -> Iterator[bytes]:
    """Yield a kernel, and kernels with a long program each."""
    yield KERNEL
    for number in range(count):
        code = "x" * (megabytes << 20)
        source = {"file_path": "a.py", "start_line": 1, "code": code}
        event = compilation(f"k{number}", file_content={}, python_source=source)
        yield json.dumps(event).encode() + b"\n"


@pytest.mark.parametrize(
    "pieces",
    [
        lambda: different(20_000, 4),
        lambda: different(300, 2000),
        lambda: nearly_alike(4000, 1000),
        lambda: kernels(20_000),
        lambda: programs(60, 15),
    ],
)
def test_many_that_are_all_different(pieces: Callable[[], Iterator[bytes]], tmp_path: Path) -> None:
    ended = run("a.ndjson.gz", pieces(), tmp_path)
    assert fault_of(ended.status, ended.out.decode(), ended.err.decode()) is None
    assert ended.status == 0


GRIDS: tuple[Any, ...] = (
    [0], [0, 0, 0], [-1], [1 << 40], [True], ["4"], {}, 4, [4] * 9, [2**62] * 3
)  # fmt: skip
VALUES: tuple[Any, ...] = (1 << 70, -(10**4000), 1.5, True, [], "x", None)

EVENTS: dict[str, Any] = {
    **{
        f"an address of {address!r}": launch(p={"type": "tensor", "data_ptr": address})
        for address in ("0xzz", "0x-1", "0x", "0x_1", "x", "0x 1", 7, None, "0x" + "f" * 40)
    },
    **{f"a grid of {grid!r}": launch(grid) for grid in GRIDS},
    **{
        f"a value of {str(value)[:20]!r}": launch(n={"type": "int", "value": value})
        for value in VALUES
    },
    **{
        f"a start of {start!r}": compilation(
            python_source={"file_path": "/a/b.py", "start_line": start, "code": "x = 1\n"}
        )
        for start in (-1, 0, 1 << 40, 1.5, "7", True)
    },
    "a file of control characters": compilation(
        python_source={"file_path": "/a/\x1b[31m\u202e.py", "code": "x\0\x1b[31m"}
    ),
    "a name of control characters": compilation(metadata={"hash": "z", "name": "\x1b]0;x\x07"}),
    "a hash of a list": launch(key=[]),
    "a launch of 2000 arguments": launch(**{f"a{at}": {"value": 1} for at in range(2000)}),
    "a payload in a payload": {"event_type": "launch", "payload": json.dumps(launch([0]))},
    "arguments in a text": {**launch(), "extracted_args": json.dumps({"n": "[" * 50_000})},
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_that_is_none(name: str, tmp_path: Path) -> None:
    event = json.dumps(EVENTS[name]).encode() + b"\n"
    for options in ([], ["--format", "json"]):
        (tmp_path / "a.ndjson").write_bytes(KERNEL + event + LAUNCH)
        arguments = ["audit", str(tmp_path / "a.ndjson"), *options]
        ended = server(Limits(SECONDS, MEGABYTES)).run(arguments)
        assert fault_of(ended.status, ended.out.decode(), ended.err.decode()) is None
        assert ended.status == 0
        assert "the arguments of its launch were not used" not in ended.out.decode()


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("name", EVENTS)
def test_of_an_event_that_is_none_nothing_is_kept(name: str, tmp_path: Path) -> None:
    """No number is kept that none of a launch, of an address or of a program can be."""
    event = json.dumps(EVENTS[name]).encode() + b"\n"
    (tmp_path / "a.ndjson").write_bytes(KERNEL + event)
    log = read_trace(str(tmp_path / "a.ndjson"))
    for kernel in log.kernels:
        for launched in kernel.launches:
            assert all(0 < size < 1 << 31 for size in launched.grid)
            assert len(launched.values) <= 1024
            assert all(abs(value) < 1 << 64 for _, value in launched.values)
            assert "p" not in dict(launched.values)
    assert all(program.start in (1, 7) for program in log.programs.values())
    if name in {f"a grid of {grid!r}" for grid in ([0], [0, 0, 0], [-1], [1 << 40], [2**62] * 3)}:
        assert not any(kernel.launches for kernel in log.kernels)
