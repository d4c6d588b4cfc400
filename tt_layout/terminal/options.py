"""Display options of views, and the use of colours."""

from __future__ import annotations

import os

from tt_layout.records import dataclass


@dataclass(frozen=True)
class DisplayOptions:
    """Display options of views.

    Attributes:
        color: ``auto``, ``always`` or ``never``.
        color_by: one of `tt_layout.colour.GROUPINGS`; None for what suits the layout.
        compact: whether only the numbers of threads are shown.
        header: whether coordinates stand above and in front.
        legend: whether a legend follows.

    Example:
        >>> DisplayOptions(color="always").has_colours(on_terminal=False)
        True
    """

    color: str = "auto"
    color_by: str | None = None
    compact: bool = False
    header: bool = False
    legend: bool = False

    def has_colours(self, on_terminal: bool) -> bool:
        """Return whether the text is coloured."""
        if self.color != "auto":
            return self.color == "always"
        return on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
