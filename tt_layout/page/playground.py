"""A page without a layout of its own: layouts are typed there, in any notation."""

from __future__ import annotations

from typing import Any

from tt_layout.page import filled, known_data
from tt_layout.page.examples import EXAMPLES

TITLE = "tt-layout playground"


def playground() -> str:
    """Return the page in which layouts are typed and compared, as the text of one HTML file."""
    examples = {"examples": [example._asdict() for example in EXAMPLES]}
    data: dict[str, Any] = {"layouts": [], "dump": None, "isPair": False, "playground": examples}
    return filled(data | known_data(None), TITLE)
