"""Tests in children of one process that has collected them, and so need not begin anew."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from mutants.mutate import PACKAGE, Mutant

PASSED, FAILED = 0, 1


def in_child(work: Callable[[int], int], cpu_seconds: int) -> tuple[int, str]:
    """Run a function in a child; return its status, and what it has written to its descriptor.

    Of a child that takes more than so many seconds of the processor the status is that of a signal.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        status = FAILED
        try:
            status = work(theirs)
        except BaseException as error:
            os.write(theirs, repr(error)[:500].encode())
        finally:
            os._exit(status)
    os.close(theirs)
    with os.fdopen(ours) as stream:
        text = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def run(items: Sequence[pytest.Item], ended: Callable[[pytest.Item, float, bool], bool]) -> None:
    """Run tests until ``ended``, which gets item, seconds and whether it passed, says no."""
    for item, following in zip(items, [*items[1:], None]):
        began = time.process_time()
        reports = runtestprotocol(item, nextitem=following, log=False)
        passed = all(report.passed for report in reports)
        if not ended(item, time.process_time() - began, passed):
            return


def record(items: Sequence[pytest.Item], file: str) -> None:
    """Write which functions of the package each test calls: a line for each that passes."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            called.add(frame.f_code)

    def work(_: int) -> int:
        with open(file, "a", encoding="utf-8") as stream:

            def ended(item: pytest.Item, seconds: float, passed: bool) -> bool:
                sys.setprofile(None)
                names = sorted({name for code in called if (name := _name(code))})
                row = {"test": item.nodeid, "seconds": round(seconds, 3), "passed": passed}
                stream.write(json.dumps(row | {"functions": names}) + "\n")
                stream.flush()
                called.clear()
                sys.setprofile(note)
                return True

            sys.setprofile(note)
            run(items, ended)
            sys.setprofile(None)
        return PASSED

    in_child(work, 600)


def _name(code: CodeType) -> str:
    """Return module and outermost function of a code object of the package; else nothing."""
    folder, _, module = code.co_filename.rpartition(f"/{PACKAGE.name}/")
    if folder != str(PACKAGE.parent):
        return ""
    return f"{module}:{qualified(code).partition('.<locals>')[0]}"


def outcome(mutant: Mutant, items: Sequence[pytest.Item], cpu_seconds: int) -> str:
    """Return which test fails with a mutant of a function; that it survives if none does."""

    def work(descriptor: int) -> int:
        apply(mutant)
        found: list[str] = []

        def ended(item: pytest.Item, seconds: float, passed: bool) -> bool:
            found.extend([] if passed else [item.nodeid])
            return passed

        run(items, ended)
        os.write(descriptor, "".join(found).encode())
        return FAILED if found else PASSED

    status, text = in_child(work, cpu_seconds)
    if status == PASSED:
        return "survived"
    return f"killed: {text or 'it does not end' if status == FAILED else f'status {status}'}"


def apply(mutant: Mutant) -> None:
    """Give the function of this process the code that it has with a mutant, which is on disk."""
    path = PACKAGE / mutant.module
    whole = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    new = {(qualified(code), code.co_firstlineno): code for code in _codes(whole)}
    for function in _functions():
        code = function.__code__
        if code.co_filename == str(path) and qualified(code) == mutant.function:
            function.__code__ = new.get((qualified(code), code.co_firstlineno), code)


def qualified(code: CodeType) -> str:
    """Return the qualified name of a code object."""
    return str(getattr(code, "co_qualname", code.co_name))


def _codes(code: CodeType) -> list[CodeType]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [code, *(found for each in inner for found in _codes(each))]


def _functions() -> list[FunctionType]:
    objects: list[Any] = gc.get_objects()
    return [each for each in objects if type(each) is FunctionType]
