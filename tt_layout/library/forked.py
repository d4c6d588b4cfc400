"""Calls beside each other, each in a process that is a copy of this one.

A copy has everything that this process has at hand, Triton and its caches among them, and needs no
argument to be sent to it.  It must not use the GPU: CUDA does not outlive a fork.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from tt_layout.worker import processors, renew_locks, start_method

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SECONDS = 60.0
"""Without any answer, after which the copies are ended."""


def can_fork() -> bool:
    """Tell whether this process may be copied, and more than one processor would be busy.

    Python refuses copies of a process that is a daemon's.
    """
    from multiprocessing import current_process

    return start_method() == "fork" and processors() > 1 and not current_process().daemon


def answers_of(
    call: Callable[[int], float | None],
    number: int,
    *,
    workers: int | None = None,
    seconds: float = SECONDS,
) -> dict[int, float]:
    """Return what a function says of 0 .. number - 1, asked in copies of this process.

    What is None there, raises, ends its process or takes too long is missing: the caller asks
    again, in this process, and sees why.

    Args:
        call: the function.
        number: of calls.
        workers: processes at most; by default one for each processor.
        seconds: without any answer, after which the copies are ended.

    Example:
        >>> sorted(answers_of(lambda n: n / (n - 2), 4, workers=2).items())
        [(0, -0.0), (1, -1.0), (3, 3.0)]
    """
    from multiprocessing import get_context
    from multiprocessing.connection import wait

    context = get_context("fork")
    workers = min(number, workers or processors())
    answers: dict[int, float] = {}
    copies = []
    reading: list[Connection[Any, Any]] = []
    try:
        for first in range(workers):
            here, there = context.Pipe(duplex=False)
            copy = context.Process(
                target=_answer, args=(call, range(first, number, workers), there), daemon=True
            )
            with _no_warning_of_threads():
                copy.start()
            there.close()
            copies.append(copy)
            reading.append(here)
        last = monotonic()
        while reading and monotonic() < last + seconds:
            for ready in wait(reading, seconds):
                last = monotonic()
                end = cast("Connection[Any, Any]", ready)
                try:
                    asked, answer = end.recv()
                    answers[asked] = answer
                except (EOFError, OSError):
                    reading.remove(end)
    finally:
        for end in reading:
            end.close()
        for copy in copies:
            copy.kill()
            copy.join()
    return answers


def _answer(
    call: Callable[[int], float | None], numbers: Sequence[int], there: Connection[Any, Any]
) -> None:
    """Answer some calls in a copy, which says nothing else."""
    import os

    gc.freeze()
    renew_locks()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    for number in numbers:
        try:
            answer = call(number)
        except Exception:  # the process that asked finds out
            continue
        if answer is not None:
            there.send((number, answer))


@contextmanager
def _no_warning_of_threads() -> Iterator[None]:
    """Let a process with threads be copied without Python's warning of it.

    The copy has one thread; a lock that another holds stays held there, for which `answers_of` does
    not wait for ever.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
