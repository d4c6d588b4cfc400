"""A page without a layout of its own: layouts are typed there, in any notation."""

from __future__ import annotations

from typing import Any

from tt_layout.page import filled, known_data
from tt_layout.page.examples import EXAMPLES
from tt_layout.page.notation_data import attribute_keys
from tt_layout.releases import Release

TITLE = "tt-layout playground"


def playground() -> str:
    """Return the page in which layouts are typed and compared, as the text of one HTML file."""
    given = {
        "examples": [example._asdict() for example in EXAMPLES],
        "attributes": attribute_keys(),
    }
    data: dict[str, Any] = {"layouts": [], "dump": None, "isPair": False, "playground": given}
    return filled(data | known_data(None, Release), TITLE)
