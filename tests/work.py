"""Work counted, where a clock would tell how busy the machine is."""

from __future__ import annotations

import sys
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
