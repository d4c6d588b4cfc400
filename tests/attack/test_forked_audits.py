"""Forks while other threads audit: ``python tests/attack/forked_audits.py`` on each Python."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from threading import Thread

import pytest

from tt_layout.mlir.source import Source
from tt_layout.worker import renew_locks

pytestmark = [
    pytest.mark.attack,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks"),
]

PROGRAM = Path(__file__).parent / "forked_audits.py"


def test_no_child_hangs() -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "8"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("0 of 8 children hung")


def test_a_lock_that_another_thread_holds_is_renewed() -> None:
    """Before Python 3.12 a property that keeps its value has a lock."""
    kept = vars(Source)["_blocks"]
    assert isinstance(kept, cached_property)
    if not hasattr(kept, "lock"):
        pytest.skip("this Python has no such locks")
    thread = Thread(target=kept.lock.acquire)
    thread.start()
    thread.join()
    renew_locks()
    assert Source("a").line_column(0) == (1, 1)
