"""What ``--tt-audit`` costs a project's tests, and whether it misses a kernel among processes.

    python benchmarks/audited_tests.py --triton PYTHON [--runs N] [--processes N] FOLDER...
    python benchmarks/audited_tests.py --triton PYTHON --own 'FOLDER tests/test_norms.py -k bf16'

Each FOLDER has a project's kernels as ``.ttgir``.  They become a test each, which compiles one with
the compiler of PYTHON, for sm90 and into an empty cache; no GPU is needed.  ``--own`` runs the
tests that a project has itself: the words after its folder go to pytest, and most such tests need a
GPU.  The tests run in one process and in several, with ``--tt-audit`` and without, in turn, each
time with empty caches: how many kernels Triton kept and how many were seen, what recording them
added to the tests' processor time, and what the audits at the end took.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
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

from tt_layout.watching.triton_hooks import TritonHooks

taken = {"tests": 0.0, "recording": 0.0}


def seconds():
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def timed(self, call, guard=TritonHooks.guard):
    start = seconds()
    try:
        return guard(self, call)
    finally:
        taken["recording"] += seconds() - start


TritonHooks.guard = timed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    start = seconds()
    try:
        return (yield)
    finally:
        taken["tests"] += seconds() - start
        Path(os.environ["CLOCK"], str(os.getpid())).write_text(json.dumps(taken))
"""
"""Adds up the processor time of the tests of each process, what they start included.

The hooks of ``--tt-audit``, which record what Triton compiles and launches, are a part of it.
"""


class Tests(NamedTuple):
    """Tests that compile kernels.

    Attributes:
        name: of the project.
        folder: that pytest runs in.
        arguments: of pytest.
        is_own: whether they are a project's own, some of which may fail with a release.
    """

    name: str
    folder: Path
    arguments: tuple[str, ...] = ()
    is_own: bool = False


class Run(NamedTuple):
    """A run of a project's tests.

    Attributes:
        kept: files of kernels in Triton's cache afterwards.
        kernels: hashes of those that ``--tt-audit`` saw; none without it.
        outcome: how many tests ended how, as pytest says it.
        tests: seconds of the processor that the tests took.
        recording: those of them in which what was compiled and launched was recorded.
        whole: seconds that pytest took with all that it started.
    """

    kept: int
    kernels: frozenset[str]
    outcome: str
    tests: float
    recording: float
    whole: float


def written_tests(folder: Path, dumps: Path) -> Tests:
    """Write the tests of a project's kernels, one for each."""
    (folder / "kernels").mkdir(parents=True)
    for path in sorted(dumps.glob("*.ttgir")):
        text = path.read_text(encoding="utf-8")
        (folder / "kernels" / path.name).write_text(text, encoding="utf-8")
    (folder / "test_kernels.py").write_text(TESTS, encoding="utf-8")
    return Tests(dumps.name, folder)


def own_tests(words: str) -> Tests:
    """Return the tests of a project's own that ``--own`` names."""
    folder, *arguments = shlex.split(words)
    path = Path(folder).resolve()
    return Tests(path.name, path, tuple(arguments), is_own=True)


def run(python: str, tests: Tests, processes: int, *, is_audited: bool) -> Run:
    """Run tests once, with empty caches."""
    packages = {
        str(Path(str(import_module(name).__file__)).parents[1])
        for name in ("pytest", "xdist", "click", "rich", "yaml", "pygments")
    }
    with tempfile.TemporaryDirectory() as place:
        clock, report, cache = (Path(place, name) for name in ("clock", "kernels.json", "cache"))
        clock.mkdir()
        Path(place, "clock_plugin.py").write_text(CLOCK, encoding="utf-8")
        folder = tests.folder
        paths = [str(ROOT), place, str(folder), str(folder / "src"), *sorted(packages)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "TRITON_CACHE_DIR": str(cache),
            "TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"),
            "HOME": place,
            "CLOCK": str(clock),
        }
        command = [python, "-m", "pytest", "-q", "-n", str(processes), "-p", "no:cacheprovider"]
        command += ["-p", "tt_layout.pytest_plugin", "-p", "clock_plugin"]
        command += ["--tt-audit=", f"--tt-audit-report={report}"] if is_audited else []
        command += [f"--rootdir={folder}"]
        command += tests.arguments if tests.is_own else [str(folder)]
        start = os.times()
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        end = os.times()
        ends = re.findall(r"^.*\b\d+ (?:passed|failed).*$", done.stdout, re.M)
        if not ends or ("failed" in ends[-1] and not tests.is_own):
            raise SystemExit(done.stdout + done.stderr)
        whole = sum(end[2:4]) - sum(start[2:4])
        taken = [json.loads(path.read_text()) for path in clock.iterdir()]
        spent, recording = (sum(part[name] for part in taken) for name in ("tests", "recording"))
        kernels = json.loads(report.read_text())["kernels"] if is_audited else []
        seen = frozenset(kernel["hash"] for kernel in kernels)
        outcome = re.sub(r"[=\s]*(.*?)(?:,? \d+ warnings?)? in .*", r"\1", ends[-1])
        kept = sum(1 for _ in cache.rglob("*.ttgir"))
    result = Run(kept, seen, outcome, spent, recording, whole)
    print(f"{tests.name} -n {processes}: {result._replace(kernels=frozenset())}", file=sys.stderr)
    return result


def row(python: str, tests: Tests, runs: int, processes: int) -> str:
    """Return what is measured of a project, as a line of a table."""
    alone = run(python, tests, 0, is_audited=True)
    plain, audited = [], []
    for _ in range(runs):
        plain.append(run(python, tests, processes, is_audited=False))
        audited.append(run(python, tests, processes, is_audited=True))
    recording = statistics.median(a.recording / (a.tests - a.recording) for a in audited)
    ending = statistics.median(
        (a.whole - a.tests) - (p.whole - p.tests) for a, p in zip(audited, plain)
    )
    cells = [tests.name, "; ".join(dict.fromkeys(one.outcome for one in (alone, *plain, *audited)))]
    cells += [f"{len(alone.kernels)} of {alone.kept}"]
    cells += [", ".join(sorted({f"{len(a.kernels)} of {a.kept}" for a in audited}))]
    cells += [str(max(len(a.kernels ^ alone.kernels) for a in audited))]
    cells += [f"{statistics.median(p.tests for p in plain):.1f} s"]
    cells += [f"{recording:.2%}", f"{ending:.1f} s"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure each project and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triton", metavar="PYTHON", default=sys.executable)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--own", metavar="TESTS", action="append", default=[], type=own_tests)
    parser.add_argument("folders", nargs="*", type=Path)
    chosen = parser.parse_args()
    several = f"seen with -n {chosen.processes}"
    print(f"| kernels of | tests | seen with -n 0 | {several} | in one alone | tests |", end="")
    print(" recording | audits |")
    print("|---|---|---|---|---|---|---|---|")
    for tests in chosen.own:
        print(row(chosen.triton, tests, chosen.runs, chosen.processes), flush=True)
    for dumps in chosen.folders:
        with tempfile.TemporaryDirectory() as place:
            tests = written_tests(Path(place) / "tests", dumps.resolve())
            print(row(chosen.triton, tests, chosen.runs, chosen.processes), flush=True)


if __name__ == "__main__":
    main()
