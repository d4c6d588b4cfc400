"""Work counted: calls and bytes say how much is done, where a clock says how busy the machine is.

Loops that are written in Python show in the calls, arrays in the bytes.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType


def calls_of(action: Callable[[], object]) -> int:
    """Return how many functions an action calls, those of C included.

    What tests before it left to the collector of garbage is not collected meanwhile.
    """
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event.endswith("call")

    before = sys.getprofile()
    gc.disable()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls


def bytes_of(action: Callable[[], object]) -> int:
    """Return the most bytes that an action holds at a time, arrays included."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
