"""Tests in children of one process that has collected them, and so need not begin anew."""

from __future__ import annotations

import gc
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from mutants.elsewhere import Calls, place
from mutants.mutate import PACKAGE, Mutant

PASSED, FAILED, UNFIT = 0, 1, 2
MOST_MEMORY = 4 << 30
"""Bytes that a child may write to.  Address space may be more: JavaScript engines reserve much."""


def in_child(work: Callable[[int], int], cpu_seconds: int) -> tuple[int, str]:
    """Run a function in a child; return its status, and what it has written to its descriptor.

    Of a child that takes too long or too much memory the status is that of a signal, or a failure;
    what it has started ends with it.
    """
    with tempfile.TemporaryFile() as written:
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            bound(cpu_seconds)
            status = FAILED
            try:
                status = work(written.fileno())
            except BaseException as error:
                _note(written.fileno(), repr(error)[:500])
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        written.seek(0)
        return status, written.read().decode()


def bound(cpu_seconds: int) -> None:
    """Bound processor, clock and memory of this process: a mutant may know no end."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    for ending in (signal.SIGXCPU, signal.SIGALRM):
        signal.signal(ending, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 4 * cpu_seconds)


def _note(descriptor: int, text: str) -> None:
    """Write text in place of what was written before."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)


def run(items: Sequence[pytest.Item], ended: Callable[[pytest.Item, float, bool], bool]) -> None:
    """Run tests until ``ended``, which gets item, seconds and whether it passed, says no."""
    for item, following in zip(items, [*items[1:], None]):
        began = time.process_time()
        reports = runtestprotocol(item, nextitem=following, log=False)
        passed = all(report.passed for report in reports)
        if not ended(item, time.process_time() - began, passed):
            return


def record(items: Sequence[pytest.Item], file: str) -> None:
    """Write which functions of the package each test calls, here and in processes of Python."""

    def work(_: int) -> int:
        elsewhere = _recorded_elsewhere()
        calls = Calls()
        with open(file, "a", encoding="utf-8") as stream:

            def ended(item: pytest.Item, seconds: float, passed: bool) -> bool:
                names = {_name(place(code)) for code in calls.taken()} | _taken(elsewhere)
                row = {"test": item.nodeid, "seconds": round(seconds, 3), "passed": passed}
                functions = sorted(names - {""})
                stream.write(json.dumps(row | {"functions": functions}) + "\n")
                stream.flush()
                return True

            run(items, ended)
        return PASSED

    in_child(work, 600)


def called_in_loading() -> frozenset[str]:
    """Return the functions that are called when every module of the package is loaded."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(Path(__file__).parent / "elsewhere.py", folder / "sitecustomize.py")
    called = folder / "called"
    environment = {**os.environ, "MUTANTS_CALLED": str(called), "PYTHONPATH": str(folder)}
    names = sorted(name for name in sys.modules if name.partition(".")[0] == PACKAGE.name)
    program = "".join(f"import {name}\n" for name in names if not name.endswith("__main__"))
    subprocess.run([sys.executable, "-c", program], cwd=PACKAGE.parent, env=environment, check=True)
    return frozenset(_taken(called))


def _recorded_elsewhere() -> Path:
    """Let processes of Python write what they call; return the file."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(Path(__file__).parent / "elsewhere.py", folder / "sitecustomize.py")
    os.environ["MUTANTS_CALLED"] = str(folder / "called")
    os.environ["PYTHONPATH"] = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
    return folder / "called"


def _taken(file: Path) -> set[str]:
    """Return what processes have written since the last time."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return set(map(_name, lines))


def _name(whole: str) -> str:
    """Return module and outermost function of a place in the package; else nothing."""
    path, _, function = whole.rpartition(":")
    folder, _, module = path.rpartition(f"/{PACKAGE.name}/")
    if folder != str(PACKAGE.parent):
        return ""
    return f"{module}:{function.partition('.<locals>')[0]}"


def outcome(mutant: Mutant, items: Sequence[pytest.Item], cpu_seconds: int) -> str | None:
    """Return which test fails with a mutant of a function; that it survives if none does.

    None where the function of this process cannot get the changed code.
    """

    def work(descriptor: int) -> int:
        if not apply(mutant):
            return UNFIT
        _note(descriptor, items[0].nodeid)
        following = dict(pairwise(items))
        found: list[str] = []

        def ended(item: pytest.Item, seconds: float, passed: bool) -> bool:
            if passed and item in following:
                _note(descriptor, following[item].nodeid)
            found.extend([] if passed else [item.nodeid])
            return passed

        run(items, ended)
        return FAILED if found else PASSED

    status, text = in_child(work, cpu_seconds)
    if status == UNFIT:
        return None
    if status == PASSED:
        return "survived"
    if status in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL):
        return f"timed out: {text}"
    return f"killed: {text}"


def apply(mutant: Mutant) -> bool:
    """Give the function of this process the code that it has with a mutant, which is on disk.

    Returns:
        Whether it can have it: not where the change leaves fewer variables of outer functions.
    """
    path = PACKAGE / mutant.module
    whole = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    new = {(qualified(code), code.co_firstlineno): code for code in _codes(whole)}
    for function in _functions():
        code = function.__code__
        if code.co_filename == str(path) and qualified(code) == mutant.function:
            changed = new.get((qualified(code), code.co_firstlineno), code)
            if changed.co_freevars != code.co_freevars:
                return False
            function.__code__ = changed
    return True


def qualified(code: CodeType) -> str:
    """Return the qualified name of a code object."""
    return str(getattr(code, "co_qualname", code.co_name))


def _codes(code: CodeType) -> list[CodeType]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [code, *(found for each in inner for found in _codes(each))]


def _functions() -> list[FunctionType]:
    objects: list[Any] = gc.get_objects()
    return [each for each in objects if type(each) is FunctionType]
