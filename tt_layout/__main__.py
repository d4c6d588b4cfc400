"""``python -m tt_layout``."""

from tt_layout.cli.main import main

main()
