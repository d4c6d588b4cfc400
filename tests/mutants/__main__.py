"""Break the package in many small ways, one at a time, and see whether a test fails.

    PYTHONPATH=tests python -m mutants --folder FOLDER --count 300

It changes files of the checkout that it lies in, so run it in a copy.  ``FOLDER/calls.jsonl`` gets
which functions each test calls, ``FOLDER/results.jsonl`` what became of each mutant; what these
have already is not done again, so that a run can be ended and taken up.

All is done by one process, of Python 3.11 or newer.  It collects the tests of both tiers; for each
mutant a child of it, which has the changed code in place of a function's, runs the tests that call
the function: those of the plain tier and then those of the slow tier in the same files, the
quickest first, for so many seconds.  What is not in a function needs a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mutants import children
from mutants.mutate import PACKAGE, Mutant, mutants_of, sample

ROOT = PACKAGE.parent
MOST_IN_A_PROCESS = 80
WITHOUT = ("browser", "compiler", "drills", "mutants")
"""Tests that need more than Python, or take a copy of the project."""


def rows_of(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a file, if it is there."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return list(map(json.loads, lines))


class Chooser:
    """Chooses the tests that meet a mutant.

    Args:
        calls: rows of what tests call.
        items: every test.
    """

    def __init__(self, calls: list[dict[str, Any]], items: list[pytest.Item]) -> None:
        self._items = {item.nodeid: item for item in items}
        passing = [row for row in calls if row["passed"] and row["test"] in self._items]
        self._seconds: Mapping[str, float] = {row["test"]: row["seconds"] for row in passing}
        self._tests: dict[str, list[str]] = {}
        for row in passing:
            for function in row["functions"]:
                self._tests.setdefault(function, []).append(row["test"])
        known = {row["test"] for row in calls}
        self._unrecorded: dict[str, list[str]] = {}
        for item in items:
            if item.nodeid not in known and not item.get_closest_marker("slow"):
                self._unrecorded.setdefault(str(item.path), []).append(item.nodeid)

    def tests(self, mutant: Mutant, at_most: float) -> list[pytest.Item]:
        """Return tests that call the function of a mutant, or any of its module, best first."""
        name = f"{mutant.module}:{mutant.function}"
        found = set(self._tests.get(name, ()) if mutant.function else ())
        if not found:
            own = (t for f, t in self._tests.items() if f.startswith(f"{mutant.module}:"))
            found = {test for tests in own for test in tests}
        chosen = list(self._within(_spread(found, self._seconds), at_most))
        chosen += self._within(self._mentioning(mutant), at_most / 2)
        files = {test.partition("::")[0] for test in found}
        slow = (
            name
            for name, item in self._items.items()
            if item.get_closest_marker("slow") and name.partition("::")[0] in files
        )
        return [self._items[name] for name in [*chosen, *self._within(slow, at_most / 2)]]

    def _mentioning(self, mutant: Mutant) -> Iterator[str]:
        """Yield tests of which is not known what they call, if their file names the module."""
        dotted = f"tt_layout.{mutant.module.removesuffix('.py').replace('/', '.')}"
        for file, tests in self._unrecorded.items():
            text = Path(file).read_text(encoding="utf-8")
            name = mutant.function.rpartition(".")[2]
            if dotted in text or (len(name) > 3 and name in text):
                yield from tests

    def _within(self, tests: Iterable[str], at_most: float) -> Iterator[str]:
        seconds = 0.0
        for test in tests:
            seconds += self._seconds.get(test, 0.2) + 0.01
            if seconds > at_most:
                return
            yield test


def _spread(tests: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """Return tests in order: quick ones first, but one of every function of tests soon."""
    seen: Counter[str] = Counter()
    order: list[tuple[float, str]] = []
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        function = test.partition("[")[0]
        seen[function] += 1
        order.append((seconds[test] + 0.05 * seen[function], test))
    return [test for _, test in sorted(order)]


class Plugin:
    """Takes the place of pytest's loop over the tests.

    Args:
        options: of the command line.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._folder: Path = options.folder

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for found in pkgutil.walk_packages([str(PACKAGE)], "tt_layout."):
            if not found.name.endswith("__main__"):
                import_module(found.name)
        calls = self._folder / "calls.jsonl"
        if not self._options.test and not self._options.recorded:
            self._record(session.items, calls)
        self._try(Chooser(rows_of(calls), session.items), session.items)
        return True

    def _record(self, items: list[pytest.Item], calls: Path) -> None:
        known = {row["test"] for row in rows_of(calls)}
        files: dict[str, list[pytest.Item]] = {}
        for item in items:
            if item.nodeid not in known and not item.get_closest_marker("slow"):
                files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        for own in files.values():
            children.record(own, str(calls))

    def _try(self, chooser: Chooser, items: list[pytest.Item]) -> None:
        results, seconds = self._folder / "results.jsonl", self._options.seconds
        before = {row["mutant"]: row["outcome"] for row in rows_of(results)}
        for mutant in self._mutants():
            if mutant.key in before:
                continue
            tests = items if self._options.test else chooser.tests(mutant, seconds)
            result = tried(mutant, tests, int(seconds))
            row = {"mutant": mutant.key, "function": mutant.function, "outcome": result}
            with results.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({**row, "tests": len(tests)}) + "\n")
            before[mutant.key] = result
            if not result.startswith("killed"):
                print(f"{result}: {mutant.key}", flush=True)
        killed = sum(result.startswith("killed") for result in before.values())
        print(f"{killed} of {len(before)} killed")

    def _mutants(self) -> list[Mutant]:
        options = self._options
        if options.again:
            rows = rows_of(options.again)
            wanted = {row["mutant"] for row in rows if not row["outcome"].startswith("killed")}
            everything = (m for path in PACKAGE.rglob("*.py") for m in mutants_of(path))
            return [mutant for mutant in everything if mutant.key in wanted]
        if not options.line:
            return sample(options.count, options.seed)
        places = {tuple(place.rsplit(":", 1)) for place in options.line}
        paths = (PACKAGE / module for module in sorted({module for module, _ in places}))
        found = [mutant for path in paths for mutant in mutants_of(path)]
        return [mutant for mutant in found if (mutant.module, str(mutant.line)) in places]


def tried(mutant: Mutant, tests: list[pytest.Item], seconds: int) -> str:
    """Return what the tests make of a mutant."""
    if not tests:
        return "not called"
    path = PACKAGE / mutant.module
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutant.applied(text), encoding="utf-8")
        if mutant.function:
            return children.outcome(mutant, tests, 2 * seconds + 10)
        return _in_a_process(tests[:MOST_IN_A_PROCESS])
    finally:
        path.write_text(text, encoding="utf-8")


def _in_a_process(tests: list[pytest.Item]) -> str:
    """Return what tests make of a mutant that changes what is done when its module is loaded."""
    arguments = ["-x", "-q", "-n", "0", "-m", "", "-p", "no:cacheprovider", "--seed", "1"]
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *arguments, *(test.nodeid for test in tests)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if not done.returncode:
        return "survived"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return f"killed: {failed[0] if failed else done.stdout.strip()[-200:]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where all is written")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=20, help="of tests for each mutant")
    parser.add_argument(
        "--recorded", action="store_true", help="record no more of what tests call than there is"
    )
    parser.add_argument("--test", action="append", help="run this, whatever it calls")
    parser.add_argument("--line", action="append", help="MODULE:LINE: every mutant of this line")
    parser.add_argument("--again", type=Path, help="results: what survived there")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    without = [f"--ignore=tests/{folder}" for folder in WITHOUT]
    arguments = ["-q", "-n", "0", "-m", "not attack", "-p", "no:cacheprovider", "--seed", "1"]
    status = pytest.main([*arguments, *without, *(options.test or [])], [Plugin(options)])
    sys.exit(int(status))


if __name__ == "__main__":
    main()
