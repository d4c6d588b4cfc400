"""``python -m tt_layout`` and ``tt-layout``; an interrupt is reported from here on."""

from __future__ import annotations

import gc
import os
import signal
from typing import NoReturn

GARBAGE = 100_000
"""Objects that are made before garbage is collected: most runs end before, and of a large dump the
modules that have been reported are freed."""

THREADS = "OPENBLAS_NUM_THREADS"
"""How many threads the linear algebra of numpy starts when it is imported. Nothing here uses it,
and each spins for a tenth of a second before it sleeps."""


def main() -> NoReturn:
    """Import the command line and run it; an interrupt meanwhile ends it without a word."""
    gc.disable()  # what is imported stays
    if THREADS not in os.environ:
        os.putenv(THREADS, "1")  # not into `os.environ`, which the commands that are run inherit
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from tt_layout.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    gc.freeze()
    gc.set_threshold(GARBAGE)
    gc.enable()
    try:
        run()
    finally:
        gc.freeze()  # or Python would look once more for garbage in all of it before it ends


if __name__ == "__main__":
    main()
