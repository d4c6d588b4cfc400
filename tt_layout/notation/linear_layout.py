"""Linear layouts as the compiler prints them: ``register=1 -> (0, 1)``, a line for each basis."""

from __future__ import annotations

import re

from tt_layout.encodings import Encoding
from tt_layout.notation.context import Context
from tt_layout.translation.linear_text import encoding_of_function, read_linear_layout

_BASIS = re.compile(r"\b\w+\s*=\s*\d+\s*->\s*\(|\w is a size 1 dimension")


def recognises(text: str) -> bool:
    """Tell whether a text has a basis."""
    return _BASIS.search(text) is not None


def read(text: str, context: Context) -> Encoding:
    """Return the attribute with the bases of a text.

    Raises:
        LayoutError: no attribute has them.
    """
    return encoding_of_function(read_linear_layout(text))
