"""``python -m tt_layout`` and ``tt-layout``; an interrupt is reported from here on."""

from __future__ import annotations

import os
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Import the command line and run it; an interrupt meanwhile ends it without a word."""
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from tt_layout.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
