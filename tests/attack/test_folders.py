"""Folders, patterns, programs and packages that are none, or have no end: one message each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from forking import Ended, Limits, server
from harness import DUMP, MEGABYTES, SECONDS, TYPE, fault_of
from test_lost_files import ROOT
from test_lost_files import run as run_program

pytestmark = [
    pytest.mark.attack,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the devices of Linux"),
]

DEPTH = 1200


@pytest.fixture(params=["d", "deeper"])
def deep(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Yield a name: of folders that are each in the last, too deep for a path if it is long.

    At their end is a dump, and beside the first another.  Neither pytest nor Python can remove
    them as they are.
    """
    monkeypatch.chdir(tmp_path)
    Path("k.ttgir").write_text(DUMP)
    for _ in range(DEPTH):
        os.mkdir(request.param)
        os.chdir(request.param)
    Path("k.ttgir").write_text(DUMP)
    end = os.open(".", os.O_RDONLY)
    os.chdir(tmp_path)
    yield request.param
    os.fchdir(end)
    os.close(end)
    os.unlink("k.ttgir")
    for _ in range(DEPTH):
        os.chdir("..")
        os.rmdir(request.param)


def run(*arguments: str) -> Ended:
    """Return how a command ends in this folder: within the limits, and as it should."""
    ended = server(Limits(SECONDS, MEGABYTES)).run(arguments)
    assert fault_of(ended.status, ended.out.decode(), ended.err.decode()) is None
    return ended


def test_folders_are_read_however_deep(deep: str) -> None:
    is_path = len(deep) == 1
    for options in ((), ("--cache", "kept"), ("--format", "json")):
        ended = run("audit", ".", *options)
        assert ended.status == 0
        if "json" not in options:
            assert ended.out.count(b"@f") == 1 + is_path
            assert (b"File name too long" not in b" ".join(ended.out.split())) == is_path
    ended = run("check", ".")
    assert (ended.status, ended.err.count(b"error: ")) == (2, 1)


PATTERNS = (
    "**a", "**", "/".join(["**"] * 1300), "/".join(["*"] * 2000), "/".join(["d"] * 2000),
    "*" * 3000, "?" * 5000, "[", "[]a", "[!" * 1000, "../*", "/*", "**/../*", "**/nowhere", "\\*",
)  # fmt: skip


def test_a_pattern_of_no_file_is_one_message(deep: str) -> None:
    for pattern in PATTERNS:
        for text in (
            f"include: ['{pattern}']\n",
            f"cases:\n  - name: a\n    file: '{pattern}'\n    type: {TYPE}\n",
        ):
            Path("layouts.yaml").write_text(text)
            ended = run("check")
            assert ended.status == 2
            assert ended.err.count(b"error: ") == 1, ended.err


PROGRAMS = {
    ("missing.py",): "there is no program missing.py",
    ("no/such/program.py",): "there is no program",
    ("folder",): "the folder folder is no program",
    ("unread.py",): "cannot read unread.py: Permission denied",
    ("x\x1b[31m.py",): "there is no program x?[31m.py",
    ("program.py/below",): "there is no program",
    ("x" * 5000,): "there is no program",
    ("-m", "missing"): "there is no module missing",
    ("-m", "json"): "the package json is no program",
    ("-m", "a..b"): "there is no module a..b",
    ("-m",): "usage: ",
    (): "usage: ",
    ("--unknown",): "usage: ",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_is_none_is_one_message(program: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "program.py").write_text("print('ran')\n")
    (tmp_path / "unread.py").write_text("print('ran')\n")
    (tmp_path / "unread.py").chmod(0)
    before = () if os.geteuid() else ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    ended = run_program(tmp_path, "-m", "tt_layout.watching", *program, before=before)
    assert (ended.status, ended.out) == (2, "")
    assert PROGRAMS[program] in ended.err
    assert len(ended.err.splitlines()) == 1


PACKAGES = {
    "hangs": ("import time\ntime.sleep(1000)", "TimeoutError: its import takes more than 2 sec"),
    "spins": ("while True: pass", "TimeoutError: its import takes more than 2 seconds"),
    "is slow": ("import time\ntime.sleep(1)", "AttributeError"),
    "never ends its call": ("def __getattr__(name):\n    while True: pass", "TimeoutError"),
    "exits": ("raise SystemExit(0)", "SystemExit: 0"),
    "takes all memory": ("x = [0] * (1 << 40)", "MemoryError"),
    "recurses": ("def f(): f()\nf()", "RecursionError"),
    "interrupts": ("raise BaseException('x')", "BaseException: x"),
}


@pytest.mark.parametrize("fault", PACKAGES)
def test_a_package_without_an_end_is_one_message(fault: str, tmp_path: Path) -> None:
    code, reason = PACKAGES[fault]
    about = tmp_path / "site" / "acme-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    points = "[tt_layout.encodings]\nacme.toy = acme_layouts:Toy\n"
    (about / "entry_points.txt").write_text(points)
    (tmp_path / "site" / "acme_layouts.py").write_text(f"{code}\n")
    (tmp_path / "dump.mlir").write_text(DUMP.replace("#s = ", "#t = #acme.toy<{}>\n#s = "))
    program = (
        "import sys, tt_layout.encodings.third_parties as t; t.MAX_SECONDS = 2\n"
        "from tt_layout.__main__ import main; main()"
    )
    path = os.pathsep.join((str(ROOT), str(tmp_path / "site")))
    ended = run_program(
        tmp_path, "-c", program, "info", "#acme.toy<{}>", "-t", TYPE, PYTHONPATH=path
    )
    assert ended.status == 2, ended.err
    assert f"#acme.toy of acme 1.0 cannot be loaded, {reason}" in ended.err
    assert ended.err.count("error: ") == 1
    ended = run_program(tmp_path, "-c", program, "audit", "dump.mlir", PYTHONPATH=path)
    assert "Traceback" not in ended.err
    assert "conversion" in ended.out or "@f" in ended.out
