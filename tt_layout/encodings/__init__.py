"""Every layout attribute: one class each, with all its spellings.

A new encoding is a module here, a class with its fields, rules, forms and ``layout_for``;
it is called like its attribute.
"""

from __future__ import annotations

from tt_layout.encodings.base import (
    DistributedEncoding,
    Encoding,
    SharedEncoding,
    TensorMemoryBase,
)
from tt_layout.encodings.reading import read_encoding
from tt_layout.encodings.registry import FORMS

__all__ = [
    "FORMS",
    "DistributedEncoding",
    "Encoding",
    "SharedEncoding",
    "TensorMemoryBase",
    "read_encoding",
]
