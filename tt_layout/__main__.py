"""``python -m tt_layout`` and ``tt-layout``; an interrupt is reported from here on."""

from __future__ import annotations

import gc
import os
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Import the command line and run it; an interrupt meanwhile ends it without a word."""
    gc.disable()  # from the first import on: a run is short, and what it makes ends with it
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from tt_layout.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    try:
        run()
    finally:
        gc.freeze()  # or Python would look once more for garbage in all of it before it ends


if __name__ == "__main__":
    main()
