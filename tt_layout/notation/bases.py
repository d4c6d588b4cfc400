"""Bases as JSON: ``{"register": [[0, 1]], "lane": [[1, 0]]}``, and what ``--to json`` writes."""

from __future__ import annotations

from tt_layout.encodings import Encoding
from tt_layout.notation.context import Context
from tt_layout.translation.as_json import is_json_of_layout, read_json
from tt_layout.translation.linear_text import encoding_of_function, read_bases


def recognises(text: str) -> bool:
    """Tell whether a text is an object."""
    return text.lstrip().startswith("{")


def read(text: str, context: Context) -> Encoding:
    """Return the attribute with the bases, or that which the JSON names.

    Raises:
        LayoutError: the text is not such JSON, or no attribute has these bases.
    """
    if is_json_of_layout(text):
        return read_json(text).encoding
    return encoding_of_function(read_bases(text))
