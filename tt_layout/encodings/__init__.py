"""Every layout attribute: one class each, with all its spellings.

A new encoding is a module here, a class with its fields, rules, forms and ``layout_for``;
it is called like its attribute.  Another package has its own under the names of this module, and
registers it by an entry point (`tt_layout.encodings.third_parties`).
"""

from __future__ import annotations

from tt_layout.encodings.base import (
    DistributedEncoding,
    Encoding,
    SharedEncoding,
    TensorMemoryBase,
)
from tt_layout.encodings.forms import BASES, BOOLEAN, INTEGER, INTEGERS, LAYOUT, Form, Key, one_form
from tt_layout.encodings.reading import read_encoding
from tt_layout.encodings.registry import FORMS

__all__ = [
    "BASES",
    "BOOLEAN",
    "FORMS",
    "INTEGER",
    "INTEGERS",
    "LAYOUT",
    "DistributedEncoding",
    "Encoding",
    "Form",
    "Key",
    "SharedEncoding",
    "TensorMemoryBase",
    "one_form",
    "read_encoding",
]
