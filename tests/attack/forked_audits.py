"""Forks of a process whose other threads audit dumps: whether each child can audit, too.

    python tests/attack/forked_audits.py [TIMES]

prints how many of so many children hung; on any Python that has the package's dependencies.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))
warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads

from forking import Idle

import tt_layout

SECONDS = 20
KERNELS = ("matmul-sm90", "softmax-sm90", "attention-gfx942")
THREADS = 4


def audit_for_ever(texts: list[str], ends: threading.Event) -> None:
    """Audit dumps that are different each time."""
    for number in range(1 << 30):
        for text in texts:
            if ends.is_set():
                return
            str(tt_layout.audit_ir(text + "\n" * number))


def child_hangs(texts: list[str]) -> bool:
    """Fork; tell whether the child does not end its audits."""
    child = os.fork()
    if not child:
        try:
            for text in texts:
                str(tt_layout.audit_ir(text))
        finally:
            os._exit(0)
    idle = Idle(child)
    while idle.seconds() < SECONDS:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def hung(times: int) -> int:
    """Return how many of so many children hang."""
    folder = ROOT / "examples" / "kernels"
    texts = [(folder / f"{name}.ttgir").read_text(encoding="utf-8") for name in KERNELS]
    for text in texts:
        str(tt_layout.audit_ir(text))  # what is imported late is there before any fork
    ends = threading.Event()
    threads = [threading.Thread(target=audit_for_ever, args=(texts, ends)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        return sum(child_hangs(texts) for _ in range(times))
    finally:
        ends.set()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    print(f"{hung(times)} of {times} children hung, Python {sys.version.split()[0]}")
