"""Break the package in many small ways, one at a time, and see whether a test fails.

    PYTHONPATH=tests python -m mutants --folder FOLDER --count 300

It changes files of the checkout that it lies in, so run it in a copy.  ``FOLDER/calls.jsonl`` gets
which functions each test calls, ``FOLDER/results.jsonl`` what became of each mutant; what these
have already is not done again, so that a run can be ended and taken up.

A process, of Python 3.11 or newer, collects the tests of both tiers.  For each mutant a child of
it, which has the changed code in place of a function's, runs the tests that call the function, the
quickest first, for so many seconds.  What is not in a function needs a process of its own.  Several
processes, each in a copy of the checkout, may share ``FOLDER``, and the work with ``--share``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pkgutil
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mutants import children
from mutants.mutate import PACKAGE, Mutant, mutants_of, sample

ROOT = PACKAGE.parent
MOST_IN_A_PROCESS = 800
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
        self._files: dict[str, list[str]] = {}
        for name in sorted(self._seconds, key=self._seconds.__getitem__):
            self._files.setdefault(str(self._items[name].path), []).append(name)

    def tests(self, mutant: Mutant, at_most: float) -> list[pytest.Item]:
        """Return tests that call the function of a mutant, its module or its folder; best first."""
        places = [f"{mutant.module}:{mutant.function}"] if mutant.function else []
        places += [f"{mutant.module}:", f"{mutant.module.rpartition('/')[0]}/"]
        for place in places:
            if found := self._calling(place):
                break
        chosen = dict.fromkeys(self._within(_spread(found, self._seconds), at_most))
        chosen |= dict.fromkeys(self._within(self._about(mutant), at_most / 2))
        chosen |= dict.fromkeys(self._within(self._beside(found), at_most / 2))
        return [self._items[name] for name in chosen]

    def _about(self, mutant: Mutant) -> Iterator[str]:
        """Yield tests in files that are called like a module or name it: its processes may end
        without a word of what they called."""
        dotted = f"tt_layout.{mutant.module.removesuffix('.py').replace('/', '.')}"
        stem = dotted.rpartition(".")[2]
        for file, tests in self._files.items():
            if Path(file).stem.startswith(f"test_{stem}") or dotted in _text(file):
                yield from tests

    def _beside(self, found: set[str]) -> Iterator[str]:
        """Yield the other tests of the files of some: they were recorded in the same process, so
        what these had called may have answered them from a cache."""
        files = {str(self._items[test].path) for test in found}
        others = [test for file in files for test in self._files[file] if test not in found]
        yield from _spread(others, self._seconds)

    def _calling(self, place: str) -> set[str]:
        """Return tests that call a function, or any that begins so."""
        if not place.endswith((":", "/")):
            return set(self._tests.get(place, ()))
        own = (tests for name, tests in self._tests.items() if name.startswith(place))
        return {test for tests in own for test in tests}

    def _within(self, tests: Iterable[str], at_most: float) -> Iterator[str]:
        seconds = 0.0
        for test in tests:
            seconds += self._seconds[test] + 0.01
            if seconds > at_most:
                return
            yield test


@cache
def _text(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")


def _spread(tests: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """Return tests in order: quick ones first, but one of every function of tests soon."""
    seen: Counter[str] = Counter()
    order: list[tuple[float, str]] = []
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        function = test.partition("[")[0]
        seen[function] += 1
        order.append((seconds[test] + 0.05 * seen[function], test))
    return [test for _, test in sorted(order)]


class Work:
    """What processes in several copies of the checkout share.

    Args:
        folder: an empty one, in which each says what it has taken; None: there is one process.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def is_mine(self, name: str) -> bool:
        """Take a piece of work, if no other has it."""
        if self._folder is None:
            return True
        try:
            self._file(self._folder, name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def is_done(self, name: str) -> None:
        """Say that a piece of work is done."""
        if self._folder is not None:
            self._file(self._folder, name).write_text("done", encoding="utf-8")

    def wait(self) -> None:
        """Wait until all that was taken is done."""
        while self._folder and any(not file.stat().st_size for file in self._folder.iterdir()):
            time.sleep(0.5)

    @staticmethod
    def _file(folder: Path, name: str) -> Path:
        return folder / hashlib.sha256(name.encode()).hexdigest()


class Plugin:
    """Takes the place of pytest's loop over the tests.

    Args:
        options: of the command line.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._folder: Path = options.folder
        self._loading: frozenset[str] = frozenset()
        self._work = Work(options.share)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for found in pkgutil.walk_packages([str(PACKAGE)], "tt_layout."):
            if not found.name.endswith("__main__"):
                with suppress(ModuleNotFoundError):  # what needs an extra that is not there
                    import_module(found.name)
        self._loading = children.called_in_loading()
        calls = self._folder / "calls.jsonl"
        if not self._options.test and not self._options.recorded:
            self._record(session.items, calls)
        self._try(Chooser(rows_of(calls), session.items), session.items)
        return True

    def _record(self, items: list[pytest.Item], calls: Path) -> None:
        known = {row["test"] for row in rows_of(calls)}
        parts: dict[str, list[pytest.Item]] = {}
        for item in items:
            if item.nodeid not in known:
                tier = "slow" if item.get_closest_marker("slow") else ""
                parts.setdefault(f"{tier} {item.nodeid.partition('::')[0]}", []).append(item)
        for name in sorted(parts, reverse=True):
            if self._work.is_mine(name):
                children.record(parts[name], str(calls))
                self._work.is_done(name)
        self._work.wait()

    def _try(self, chooser: Chooser, items: list[pytest.Item]) -> None:
        results, seconds = self._folder / "results.jsonl", self._options.seconds
        before = {row["mutant"]: row["outcome"] for row in rows_of(results)}
        for mutant in self._mutants():
            if mutant.key in before or not self._work.is_mine(mutant.key):
                continue
            tests = items if self._options.test else chooser.tests(mutant, seconds)
            result = tried(mutant, tests, int(seconds), self._loading)
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
            keys = [row["mutant"] for row in rows if not row["outcome"].startswith("killed")]
            return [mutant for key in keys if (mutant := _nearest(key)) is not None]
        if not options.line:
            found = sample(options.count, options.seed)
            random.Random(options.seed).shuffle(found)
            return found
        places = {tuple(place.rsplit(":", 1)) for place in options.line}
        paths = (PACKAGE / module for module in sorted({module for module, _ in places}))
        own = [mutant for path in paths for mutant in mutants_of(path)]
        return [mutant for mutant in own if (mutant.module, str(mutant.line)) in places]


def _nearest(key: str) -> Mutant | None:
    """Return the mutant of a key, whose line may have moved since; None where the code is gone."""
    module, line, change = key.split(":", 2)
    path = PACKAGE / module
    own = mutants_of(path) if path.exists() else []
    same = [mutant for mutant in own if mutant.key.split(":", 2)[2] == change]
    return min(same, key=lambda mutant: abs(mutant.line - int(line)), default=None)


def tried(mutant: Mutant, tests: list[pytest.Item], seconds: int, loading: frozenset[str]) -> str:
    """Return what the tests make of a mutant.

    Args:
        loading: functions that are called when modules are loaded, so before one is changed: what
            is made of their mutants, a process of its own shows.
    """
    if not tests:
        return "not called"
    path = PACKAGE / mutant.module
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutant.applied(text), encoding="utf-8")
        result = None
        if mutant.function:
            result = children.outcome(mutant, tests, 3 * seconds + 20)
        is_loading = f"{mutant.module}:{mutant.function}" in loading
        if result is not None and not (result == "survived" and is_loading):
            return result
        return _in_a_process(tests[:MOST_IN_A_PROCESS], 3 * seconds + 60)
    finally:
        path.write_text(text, encoding="utf-8")


def _in_a_process(tests: list[pytest.Item], seconds: int) -> str:
    """Return what tests make of a mutant that changes what is done when its module is loaded."""
    arguments = ["-x", "-q", "-n", "0", "-m", "", "-p", "no:cacheprovider", "--seed", "1"]
    command = [sys.executable, "-B", "-m", "pytest", *arguments, *(test.nodeid for test in tests)]

    def work(descriptor: int) -> int:
        return subprocess.run(command, cwd=ROOT, stdout=descriptor, stderr=descriptor).returncode

    status, text = children.in_child(work, seconds)
    if not status:
        return "survived"
    if status < 0:
        return "timed out: tests in a process"
    failed = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return f"killed: {failed[0] if failed else text.strip()[-200:]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where all is written")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=20, help="of tests for each mutant")
    parser.add_argument(
        "--recorded", action="store_true", help="record no more of what tests call than there is"
    )
    parser.add_argument(
        "--share", type=Path, help="an empty folder: with whom works beside this in another copy"
    )
    parser.add_argument(
        "--marked", default="not attack", help="which tests, as -m of pytest: those of both tiers"
    )
    parser.add_argument("--test", action="append", help="run this, whatever it calls")
    parser.add_argument("--line", action="append", help="MODULE:LINE: every mutant of this line")
    parser.add_argument(
        "--again", type=Path, help="results: what survived there, where it lies now"
    )
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    without = [f"--ignore=tests/{folder}" for folder in WITHOUT]
    arguments = ["-q", "-n", "0", "-m", options.marked, "-p", "no:cacheprovider", "--seed", "1"]
    status = pytest.main([*arguments, *without, *(options.test or [])], [Plugin(options)])
    sys.exit(int(status))


if __name__ == "__main__":
    main()
