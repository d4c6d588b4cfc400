"""What ``--tt-audit`` costs a project's tests, and whether it misses a kernel among processes.

    python benchmarks/audited_tests.py --triton PYTHON [--runs N] [--processes N] FOLDER...

Each FOLDER has a project's kernels as ``.ttgir``.  They become a test each, which compiles one with
the compiler of PYTHON, for sm90 and into an empty cache; no GPU is needed.  The tests run in one
process and in several, with ``--tt-audit`` and without, in turn: how many kernels it saw, what
recording them added to the tests' processor time, and what the audits at the end took.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TESTS = """\
from pathlib import Path

import pytest
import triton
from triton.backends.compiler import GPUTarget

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.ttgir"))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.stem)
def test_it_compiles(kernel):
    assert triton.compile(str(kernel), target=GPUTarget("cuda", 90, 32)).asm["cubin"]
"""
CLOCK = """\
import json
import os
import resource
from pathlib import Path

import pytest
import triton

taken = {"tests": 0.0, "recording": 0.0}


def seconds():
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def timed(what, call, *positional, **named):
    start = seconds()
    try:
        return call(*positional, **named)
    finally:
        taken[what] += seconds() - start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    listener = triton.knobs.compilation.listener
    if listener is not None:
        triton.knobs.compilation.listener = lambda **named: timed("recording", listener, **named)
    start = seconds()
    try:
        return (yield)
    finally:
        taken["tests"] += seconds() - start
        triton.knobs.compilation.listener = listener
        Path(os.environ["CLOCK"], str(os.getpid())).write_text(json.dumps(taken))
"""
"""Adds up the processor time of the tests of each process, what they start included.

The listener of ``--tt-audit``, which records what Triton compiles, is a part of it.
"""


class Run(NamedTuple):
    """A run of a project's tests.

    Attributes:
        kernels: that ``--tt-audit`` saw; 0 without it.
        tests: seconds of the processor that the tests took.
        recording: those of them in which what was compiled was recorded.
        whole: seconds that pytest took with all that it started.
    """

    kernels: int
    tests: float
    recording: float
    whole: float


def write_tests(folder: Path, dumps: Path) -> int:
    """Write the tests of a project; return how many."""
    (folder / "kernels").mkdir(parents=True)
    paths = sorted(dumps.glob("*.ttgir"))
    for path in paths:
        text = path.read_text(encoding="utf-8")
        (folder / "kernels" / path.name).write_text(text, encoding="utf-8")
    (folder / "test_kernels.py").write_text(TESTS, encoding="utf-8")
    (folder / "conftest.py").write_text(CLOCK, encoding="utf-8")
    return len(paths)


def run(python: str, folder: Path, processes: int, *, is_audited: bool) -> Run:
    """Run the tests of a folder once."""
    packages = {
        str(Path(str(import_module(name).__file__)).parents[1]) for name in ("pytest", "xdist")
    }
    with tempfile.TemporaryDirectory() as place:
        clock, report = Path(place, "clock"), Path(place, "kernels.json")
        clock.mkdir()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sorted(packages)]),
            "TRITON_CACHE_DIR": str(Path(place, "cache")),
            "CLOCK": str(clock),
        }
        command = [python, "-m", "pytest", "-q", "-n", str(processes), "-p", "no:cacheprovider"]
        command += [f"--rootdir={folder}", "-p", "tt_layout.pytest_plugin"]
        command += ["--tt-audit", f"--tt-audit-report={report}"] if is_audited else []
        start = os.times()
        done = subprocess.run(
            [*command, str(folder)], cwd=folder, env=environment, capture_output=True, text=True
        )
        end = os.times()
        if not re.search(r"\d+ passed", done.stdout) or "failed" in done.stdout:
            raise SystemExit(done.stdout + done.stderr)
        whole = sum(end[2:4]) - sum(start[2:4])
        taken = [json.loads(path.read_text()) for path in clock.iterdir()]
        tests, recording = (sum(part[name] for part in taken) for name in ("tests", "recording"))
        kernels = len(json.loads(report.read_text())["kernels"]) if is_audited else 0
    return Run(kernels, tests, recording, whole)


def row(python: str, dumps: Path, runs: int, processes: int) -> str:
    """Return what is measured of a project, as a line of a table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "tests"
        number = write_tests(folder, dumps)
        alone = run(python, folder, 0, is_audited=True)
        plain, audited = [], []
        for _ in range(runs):
            plain.append(run(python, folder, processes, is_audited=False))
            audited.append(run(python, folder, processes, is_audited=True))
    recording = statistics.median(a.recording / (a.tests - a.recording) for a in audited)
    ending = statistics.median(
        (a.whole - a.tests) - (p.whole - p.tests) for a, p in zip(audited, plain)
    )
    seen = sorted({a.kernels for a in audited})
    cells = [dumps.name, str(number), str(alone.kernels), ", ".join(map(str, seen))]
    cells += [f"{statistics.median(p.tests for p in plain):.1f} s"]
    cells += [f"{recording:.2%}", f"{ending:.1f} s"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure each project and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triton", metavar="PYTHON", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("folders", nargs="+", type=Path)
    chosen = parser.parse_args()
    several = f"seen with -n {chosen.processes}"
    print(f"| kernels of | tests | seen with -n 0 | {several} | tests | recording | audits |")
    print("|---|---|---|---|---|---|---|")
    for folder in chosen.folders:
        print(row(chosen.triton, folder.resolve(), chosen.runs, chosen.processes), flush=True)


if __name__ == "__main__":
    main()
