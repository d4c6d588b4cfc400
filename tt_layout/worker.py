"""Worker processes of a command, which end with it and print nothing about that."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import cached_property

from tt_layout.surface import begin_command_line


def begin_worker() -> None:
    """Initialize a worker process; the first call in it.

    Interrupts are left to the process that started it.  However that one ends, this one ends with
    it, rather than wait for work for ever, or fail to hand over what it has.
    """
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    begin_command_line()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parent = parent_process()
    if parent is not None:
        # It imports nothing: a process that ends meanwhile would wait for ever for its locks.
        threading.Thread(target=_end_with, args=(wait, parent.sentinel), daemon=True).start()


def start_method() -> str:
    """Return how processes that share the work of a command start: forked where that is safe."""
    from multiprocessing import get_all_start_methods

    can_fork = "fork" in get_all_start_methods() and sys.platform != "darwin"
    return "fork" if can_fork else "spawn"


def processors() -> int:
    """Return the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _end_with(wait: Callable[[list[int]], object], parent: int) -> None:
    wait([parent])
    os.kill(os.getpid(), signal.SIGTERM)


def renew_locks() -> None:
    """Renew the locks of the package in a process that was just forked.

    Only the thread that forked is in it, and a lock that another one held stays held for ever:
    Python before 3.12 has one in each `functools.cached_property`, for all objects of its class.
    """
    for name, module in tuple(sys.modules.items()):
        if name.partition(".")[0] == "tt_layout":
            classes = (kind for kind in tuple(vars(module).values()) if isinstance(kind, type))
            for member in (member for kind in classes for member in vars(kind).values()):
                if isinstance(member, cached_property):
                    vars(member)["lock"] = threading.RLock()
