"""Processes that share work: none is left behind, however the first one ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest
from test_compile import python_with

ROOT = Path(__file__).parent.parent.parent
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
CASE = "  - {{name: c{n}, layout: '{layout}', type: tensor<2048x2048xf16>, views: [tensor]}}\n"
PROGRAM = """
import signal, sys
from functools import partial
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and whoever it starts
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's "&" does
import tt_layout.dumps.many, tt_layout.dumps.large, tt_layout.golden.runner
import tt_layout.dumps.dump as opened
from tt_layout.__main__ import main

tt_layout.dumps.many.FEW = 1
tt_layout.dumps.many.processors = tt_layout.dumps.large.processors = lambda: 2
opened.pieces_of = partial(opened.pieces_of, size=1 << 17)
tt_layout.golden.runner.TRIAL_SECONDS = tt_layout.golden.runner.SHARED_SECONDS = -1.0
sys.argv = ["tt-layout", *sys.argv[1:]]
main()
"""
COMMANDS = {
    "check": ("check", "--jobs", "2", "--max-cases", "1000"),
    "audit": ("audit", "kernels"),
    "large audit": ("audit", "large.mlir"),
}
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGINT)
ENDS = list(product(COMMANDS, SIGNALS))
SECONDS = 60  # after which a process is taken to stay for ever

pytestmark = [
    pytest.mark.attack,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux"),
]


def members(session: int) -> list[int]:
    """Return the processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(of) == session and state != "Z":
            found.append(int(path.parent.name))
    return found


def wait_for(count: int, session: int, *, at_most: bool) -> list[int]:
    """Return the processes of a session once there are so many."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = members(session)
        if len(found) <= count if at_most else len(found) >= count:
            return found
        time.sleep(0.02)
    return members(session)


def work(folder: Path, command: str) -> None:
    """Make files that keep a command busy: the cases of a process for longer than SECONDS."""
    cases = (CASE.format(n=n, layout=BLOCKED) for n in range(512))
    (folder / "layouts.yaml").write_text(f"version: 1\ncases:\n{''.join(cases)}")
    kernel = (ROOT / "examples/kernels/matmul-sm80.ttgir").read_text(encoding="utf-8")
    (folder / "kernels").mkdir()
    kernels = [kernel.replace("%cst", f"%cst{n}") for n in range(400)]
    (folder / "large.mlir").write_text("".join(kernels))
    for n, text in enumerate(kernels if command == "audit" else ()):
        (folder / f"kernels/{n}.ttgir").write_text(text)


@pytest.mark.parametrize(("command", "number"), ENDS)
def test_no_process_is_left_behind(command: str, number: signal.Signals, tmp_path: Path) -> None:
    work(tmp_path, command)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *COMMANDS[command]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CI": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert len(wait_for(3, process.pid, at_most=False)) >= 3
    time.sleep(0.3)
    process.send_signal(number)
    _, errors = process.communicate(timeout=SECONDS)
    assert wait_for(0, process.pid, at_most=True) == []
    assert "Traceback" not in errors


COMPILES = """
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    with open(os.path.join({folder!r}, "part"), "w") as file:
        file.write(f"{{os.getpid()}} {{child.pid}}")
    os.rename(os.path.join({folder!r}, "part"), os.path.join({folder!r}, "started"))
    time.sleep(300)
"""
ASKS = """
import sys
from tt_layout.kernels.chosen_compiler import CompilerTarget
from tt_layout.kernels.compiling import TritonCompiler
from tt_layout.kernels.metadata import NO_METADATA
target = CompilerTarget("cuda", "90", 32)
TritonCompiler(sys.argv[1]).metadata("module {}", target, NO_METADATA)
"""


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_compilation_is_left_behind(tmp_path: Path) -> None:
    """An agent that gives a question up has its process killed, which can end no other then."""
    python = python_with(tmp_path, COMPILES.format(folder=str(tmp_path)))
    asks = subprocess.Popen(
        [sys.executable, "-c", ASKS, python], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    end = time.monotonic() + SECONDS
    started = tmp_path / "started"
    while not started.exists():
        assert asks.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    processes = [int(number) for number in started.read_text().split()]
    assert all(map(is_running, processes))
    asks.kill()
    asks.wait()
    while any(map(is_running, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(is_running, processes))
