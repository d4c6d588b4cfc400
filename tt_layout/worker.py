"""Worker processes of a command, which end with it and print nothing about that."""

from __future__ import annotations

import os
import signal
import threading


def begin_worker() -> None:
    """Initialize a worker process; the first call in it.

    Interrupts are left to the process that started it.  However that one ends, this one ends with
    it, rather than wait for work for ever, or fail to hand over what it has.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def processors() -> int:
    """Return the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
