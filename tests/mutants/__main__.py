"""Break the package in many small ways, one at a time, and see whether a test fails.

First the record of which test executes what (plain and slow tier, in one process), then the run::

    pip install coverage
    export PYTHONPATH=tests
    python -m pytest -n 0 -m "not attack" -p mutants.recorder --record record
    python -m mutants --record record --results results.jsonl --count 300

It changes files of the checkout that it lies in, so run it in a copy.  The results have a line for
each mutant; what they have already is not run again, so that a run can be ended and taken up.
Each mutant meets the tests that execute its line, the quickest first, for so many seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from mutants.mutate import PACKAGE, Mutant, mutants_of, sample

ROOT = PACKAGE.parent
STARTING_SECONDS = 30  # for collecting, beside the tests themselves


class Record:
    """Which tests execute what.

    Args:
        folder: what `mutants.recorder` has written, of this state of the package or another.
    """

    def __init__(self, folder: Path) -> None:
        from coverage import CoverageData

        self._data = CoverageData(str(folder / "coverage"))
        self._data.read()
        rows = (folder / "seconds.jsonl").read_text(encoding="utf-8").splitlines()
        self._seconds: Mapping[str, float] = dict(map(json.loads, rows))
        self._files = {
            name.rpartition("/tt_layout/")[2]: name for name in self._data.measured_files()
        }

    @cache  # noqa: B019 (one record lives as long as the process)
    def _contexts(self, module: str) -> Mapping[int, list[str]]:
        if module not in self._files:
            return {}
        found: Mapping[int, list[str]] = self._data.contexts_by_lineno(self._files[module])
        return found

    def tests(self, mutant: Mutant, at_most: float) -> list[str]:
        """Return tests that execute a mutant, the quickest first, up to so many seconds in all.

        Lines that run when their module is loaded are executed by all that use the module.
        """
        contexts = self._contexts(mutant.module)
        found = {test for test in contexts.get(mutant.line, ()) if mutant.function and test}
        if not found:
            found = {test for tests in contexts.values() for test in tests if test}
        chosen: list[str] = []
        seconds = 0.0
        for test in sorted(_spread(found, self._seconds)):
            seconds += self._seconds.get(test[1], 0.1) + 0.02
            if seconds > at_most and chosen:
                break
            chosen.append(test[1])
        return chosen


def _spread(tests: Iterable[str], seconds: Mapping[str, float]) -> Iterator[tuple[float, str]]:
    """Yield tests with their place in the order: quick ones first, every function of tests soon."""
    seen: dict[str, int] = {}
    for test in sorted(tests, key=lambda test: seconds.get(test, 0.1)):
        function = test.partition("[")[0]
        again = seen[function] = seen.get(function, 0) + 1
        yield seconds.get(test, 0.1) + 0.05 * again, test


def outcome(mutant: Mutant, tests: list[str], at_most: float) -> str:
    """Return what the tests make of a mutant: killed by what, survived, or by no test executed."""
    if not tests:
        return "not executed"
    path = PACKAGE / mutant.module
    text = path.read_text(encoding="utf-8")
    arguments = ["-x", "-q", "-n", "0", "-m", "", "-p", "no:cacheprovider", "--seed", "1", *tests]
    try:
        path.write_text(mutant.applied(text), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=4 * at_most + STARTING_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "killed: it does not end"
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode == 0:
        return "survived"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return f"killed: {failed[0] if failed else done.stdout.strip()[-200:]}"


def done_before(results: Path) -> dict[str, str]:
    """Return the outcomes that the file has."""
    if not results.exists():
        return {}
    rows = map(json.loads, results.read_text(encoding="utf-8").splitlines())
    return {row["mutant"]: row["outcome"] for row in rows}


def chosen(options: argparse.Namespace) -> list[Mutant]:
    """Return the mutants that are asked for: named lines, or a sample."""
    if not options.line:
        return sample(options.count, options.seed)
    wanted = {tuple(place.rsplit(":", 1)) for place in options.line}
    paths = (PACKAGE / module for module in sorted({module for module, _ in wanted}))
    found = [mutant for path in paths for mutant in mutants_of(path)]
    return [mutant for mutant in found if (mutant.module, str(mutant.line)) in wanted]


def main() -> None:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--record", type=Path, help="which tests execute what")
    parser.add_argument("--results", type=Path, required=True, help="file with a line a mutant")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=60, help="of tests for each mutant")
    parser.add_argument("--test", action="append", help="run this instead of what the record has")
    parser.add_argument("--line", action="append", help="MODULE:LINE: every mutant of this line")
    options = parser.parse_args()
    record = Record(options.record) if not options.test else None
    before = done_before(options.results)
    outcomes = list(before.values()) if not options.line else []
    for mutant in chosen(options):
        if mutant.key in before:
            continue
        began = time.monotonic()
        tests = options.test if record is None else record.tests(mutant, options.seconds)
        result = outcome(mutant, tests, options.seconds)
        row = {
            "mutant": mutant.key,
            "function": mutant.function,
            "outcome": result,
            "tests": len(tests),
            "seconds": round(time.monotonic() - began, 1),
        }
        with options.results.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
        outcomes.append(result)
        if not result.startswith("killed"):
            print(f"{result}: {mutant.key}", flush=True)
    killed = sum(each.startswith("killed") for each in outcomes)
    print(f"{killed} of {len(outcomes)} killed")


if __name__ == "__main__":
    main()
