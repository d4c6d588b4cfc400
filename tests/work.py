"""Work counted: calls and bytes say how much is done, where a clock says how busy the machine is.

Loops that are written in Python show in the calls, arrays in the bytes.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType


def calls_of(action: Callable[[], object]) -> int:
    """Return how many functions an action calls, those of C included."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event.endswith("call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls


def bytes_of(action: Callable[[], object]) -> int:
    """Return the most bytes that an action holds at a time, arrays included."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
