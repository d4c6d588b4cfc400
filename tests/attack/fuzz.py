"""Mutated inputs through every command, readings, and calls of the library with wrong arguments.

    python tests/attack/fuzz.py --inputs 100000 --calls 100000 --processes 16 --seed 1
    python tests/attack/fuzz.py --readings 100000

prints a table of how they ended, and what must not happen: any exception of a command, or of the
library any but `LayoutError` and `TypeError`; a warning; another exit status than 0, 1, 2 or 130;
more than 10 seconds or 600 MB; text that a terminal or a CI run obeys.  The same seed tries the
same inputs; ``--inputs 1 --at N``, or ``--calls`` and ``--readings``, tries one of them again, and
keeps the files of an input.  Readings are dumps, entries of a cache, logs and messages to servers,
read without a command; questions are those of agents about hostile dumps, each with an answer.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent.parent)]
from click import unstyle
from harness import MEGABYTES, SECONDS, fault_of
from mutated_inputs import STDIN, Input, mutated_input
from mutated_readings import Reading, hostile_question, mutated_reading
from wrong_calls import Call, wrong_call

from tt_layout.cli.main import main as run_command
from tt_layout.errors import LayoutError

CHUNKS = {"inputs": 250, "calls": 250, "readings": 2500, "questions": 250}  # of one process
_CHECKS = ("arguments.py", "errors.py")
_CALLERS = ("<lambda>", "run_call")
SHOWN = 40  # failures that are printed
BLOCK = 1 << 20  # characters of the output that are looked at at once


class Ended(NamedTuple):
    """How one try ended: what it is counted as, and what is wrong with that, if anything."""

    counted: str
    fault: str | None = None


class TooLongError(BaseException):
    """More seconds than a command may take."""


def _stop(*_: object) -> None:
    raise TooLongError


@contextlib.contextmanager
def _limited_time() -> Iterator[None]:
    """Interrupt what takes more seconds of the processor than is allowed."""
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _is_of_ours(error: TypeError) -> bool:
    """Tell whether an error names the argument, or is that of a call with too many or few."""
    frames = traceback.extract_tb(error.__traceback__)
    return Path(frames[-1].filename).name in _CHECKS or frames[-1].name in _CALLERS


def _last_line(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return f"{type(error).__name__} at {place}: {str(error)[:200]!a}"


# -- one try ------------------------------------------------------------------------------------


class Printed:
    """The standard streams of this process, kept in files while commands run in it."""

    def __init__(self) -> None:
        for descriptor in (1, 2):
            with tempfile.TemporaryFile() as file:
                os.dup2(file.fileno(), descriptor)

    def out(self) -> Iterator[str]:
        """Yield what has been printed, some lines at a time: all of it may not fit."""
        with open("/proc/self/fd/1", encoding="utf-8", newline="\n") as file:
            yield from iter(lambda: "".join(file.readlines(BLOCK)), "")

    def err(self) -> str:
        """Return what has been printed of errors."""
        return Path("/proc/self/fd/2").read_text(encoding="utf-8")

    def forget(self) -> None:
        """Begin anew."""
        for descriptor in (1, 2):
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.ftruncate(descriptor, 0)


def run_input(given: Input, printed: Printed) -> Ended:
    """Run a command in a folder of its own; tell how it ends."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        given.write(Path(folder))
        with Path(STDIN).open() as sys.stdin:
            return _ended(given, printed)
    finally:
        printed.forget()
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


def _ended(given: Input, printed: Printed) -> Ended:
    status: object = None
    try:
        with _limited_time():
            run_command(given.arguments)
    except SystemExit as ended:
        status = ended.code
    except TooLongError:
        return Ended(given.command, "takes too long")
    except BaseException as error:
        return Ended(given.command, _last_line(error))
    number, err = status if isinstance(status, int) else -1, printed.err()
    is_coloured = "always" in given.arguments  # our own colours
    faults = [
        fault_of(number, unstyle(out) if is_coloured else out, err)
        for out in itertools.chain([""], printed.out())
    ]
    return Ended(f"{given.command}: exit status {status}", next(filter(None, faults), None))


def run_call(call: Call) -> Ended:
    """Make a call; tell how it ends."""
    try:
        with _limited_time():
            call.make()
    except LayoutError as error:
        return Ended(f"{call.name}: LayoutError", None if str(error) else "no message")
    except TypeError as error:
        own = "" if _is_of_ours(error) else " of Python's own"
        return Ended(f"{call.name}: TypeError{own}", None if str(error) else "no message")
    except TooLongError:
        return Ended(call.name, "takes too long")
    except BaseException as error:
        return Ended(call.name, _last_line(error))
    return Ended(f"{call.name}: returned")


def run_reading(reading: Reading) -> Ended:
    """Read something; tell how it ends."""
    try:
        with _limited_time():
            return Ended(reading.name, reading.read())
    except TooLongError:
        return Ended(reading.name, "takes too long")
    except BaseException as error:
        return Ended(reading.name, _last_line(error))


# -- a process of them --------------------------------------------------------------------------


def tries(kind: str, seed: int, numbers: range) -> Iterator[tuple[int, str, Ended]]:
    """Make the tries of these numbers; yield for each its number, what it was, and how it ended."""
    warnings.simplefilter("error")
    run = _runner(kind)
    for number in numbers:
        shown, ended = run(_random(seed, kind, number))
        yield number, shown, ended
        if kind != "readings" or number % 100 == 0:  # of which each takes less than collecting does
            gc.collect()


def _random(seed: int, kind: str, number: int) -> Random:
    return Random(f"{seed}/{kind}/{number}")


def _runner(kind: str) -> Callable[[Random], tuple[str, Ended]]:
    if kind == "calls":

        def try_call(r: Random) -> tuple[str, Ended]:
            call = wrong_call(r)
            return call.shown, run_call(call)

        return try_call
    if kind in ("readings", "questions"):
        make = mutated_reading if kind == "readings" else hostile_question

        def try_reading(r: Random) -> tuple[str, Ended]:
            reading = make(r)
            return f"{reading.name}: {reading.shown}", run_reading(reading)

        return try_reading
    printed = Printed()

    def try_input(r: Random) -> tuple[str, Ended]:
        given = mutated_input(r)
        return f"{given.arguments!a}", run_input(given, printed)

    return try_input


def work(kind: str, seed: int, numbers: range) -> None:
    """Make tries, and print how they ended as JSON: a process of its own does this."""
    report = os.fdopen(os.dup(1), "w")
    resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
    counts: Counter[str] = Counter()
    failures = []
    gc.freeze()
    for number, shown, ended in tries(kind, seed, numbers):
        counts[ended.counted] += 1
        if ended.fault is not None:
            failures.append([number, ended.fault, shown[:300]])
    json.dump({"counts": counts, "failures": failures}, report)
    report.close()


# -- all of them --------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """How the tries of one kind ended."""

    counts: Counter[str]
    failures: list[tuple[int, str, str]]


def run_all(kind: str, count: int, seed: int, processes: int, seconds: float = 1e9) -> Outcome:
    """Make so many tries, in processes of their own; begin no new ones after so many seconds."""
    ends, size = time.monotonic() + seconds, CHUNKS[kind]
    outcome = Outcome(Counter(), [])

    def chunk(start: int) -> None:
        if time.monotonic() > ends:
            return
        numbers = range(start, min(start + size, count))
        found = _process(kind, seed, numbers)
        outcome.counts.update(found["counts"])
        outcome.failures.extend(tuple(failure) for failure in found["failures"])

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(chunk, range(0, count, size)))
    outcome.failures.sort()
    return outcome


def _process(kind: str, seed: int, numbers: range) -> dict[str, Any]:
    command = [sys.executable, __file__, "--work", kind, str(numbers.start), str(numbers.stop)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("CI", None)
    done = subprocess.run(
        [*command, "--seed", str(seed)],
        capture_output=True,
        check=False,
        text=True,
        env=environment,
        timeout=SECONDS * CHUNKS[kind],
    )
    if done.returncode == 0:
        report: dict[str, Any] = json.loads(done.stdout)
        return report
    fault = f"a process ended with {done.returncode}: {done.stderr[-200:]!a}"
    return {"counts": {}, "failures": [[numbers.start, fault, f"{kind} {numbers}"]]}


def _show(kind: str, outcome: Outcome) -> None:
    tried, failed = outcome.counts.total(), len(outcome.failures)
    print(f"{tried:7d} tried {failed:6d} failed  {kind}")
    for counted, count in sorted(outcome.counts.items()):
        print(f"    {count:7d}  {counted}")
    for number, fault, shown in outcome.failures[:SHOWN]:
        print(f"    --{kind} --at {number}: {fault}\n        {shown}")


def _again(kind: str, seed: int, number: int) -> None:
    """Make one try again, and keep the files of an input in a folder."""
    report = os.fdopen(os.dup(1), "w")
    if kind == "inputs":
        folder = Path(f"fuzz-{number}").absolute()
        folder.mkdir(exist_ok=True)
        mutated_input(_random(seed, kind, number)).write(folder)
        print(f"files: {folder}", file=report)
    for _, shown, ended in tries(kind, seed, range(number, number + 1)):
        print(f"{shown}\n{ended}", file=report)
    report.close()


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=0, metavar="N", help="through commands")
    parser.add_argument("--readings", type=int, default=0, metavar="N", help="in this process")
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="of hostile dumps")
    parser.add_argument("--calls", type=int, default=0, metavar="N", help="of the library")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=1e9, help="for each kind")
    parser.add_argument("--at", type=int, help="only this one, whose files are kept")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    return parser


def main() -> int:
    asked = _options().parse_args()
    if asked.work is not None:
        kind, start, stop = asked.work
        work(kind, asked.seed, range(int(start), int(stop)))
        return 0
    counts = {kind: getattr(asked, kind) for kind in CHUNKS}
    if asked.at is not None:
        _again(next(filter(counts.get, counts)), asked.seed, asked.at)
        return 0
    failed = 0
    for kind, count in counts.items():
        if count:
            outcome = run_all(kind, count, asked.seed, asked.processes, asked.seconds)
            _show(kind, outcome)
            failed += len(outcome.failures)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
