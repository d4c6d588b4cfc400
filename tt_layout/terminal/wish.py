"""What was asked of the terminal's output, and whether colours are to be used."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

GROUPINGS = ("warp", "lane", "register", "block", "bank")
"""What ``--color-by`` takes."""


@dataclass(frozen=True)
class Wish:
    """How the views are to be shown.

    Attributes:
        color: ``auto``, ``always`` or ``never``.
        color_by: one of `GROUPINGS`; None for what suits the layout.
        compact: whether only the numbers of threads are shown.
        header: whether coordinates stand above and in front.
        legend: whether a legend follows.

    Example:
        >>> Wish(color="always").colours, Wish(color="never").colours
        (True, False)
    """

    color: str = "auto"
    color_by: str | None = None
    compact: bool = False
    header: bool = False
    legend: bool = False

    @property
    def colours(self) -> bool:
        """Whether the text is coloured."""
        if self.color != "auto":
            return self.color == "always"
        return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_terminal() -> bool:
    """Tell whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()
