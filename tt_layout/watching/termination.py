"""SIGTERM inside a block: an exception first, so that the block ends in order, then the signal."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Terminated(BaseException):
    """SIGTERM reached the process inside the block."""


@contextmanager
def raised_termination() -> Iterator[None]:
    """Let SIGTERM raise in the block; behind it the process ends by the signal as without it.

    A handler of the program's own stays, and so does the signal outside of the main thread and in
    processes that are forked inside the block.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    owner = os.getpid()

    def terminate(number: int, frame: Any) -> None:
        if os.getpid() != owner:
            _end_by(number)
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except _Terminated:
        _end_by(signal.SIGTERM)
    finally:
        if signal.getsignal(signal.SIGTERM) is terminate:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end_by(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
