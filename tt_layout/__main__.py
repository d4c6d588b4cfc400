"""``python -m tt_layout``."""

from tt_layout.cli import main

main()
