"""Every layout attribute: one class each, with all its spellings.

A new encoding is a module here: a class with its fields, rules, forms and ``layout_for``;
importing the module registers its forms.
"""

from __future__ import annotations

from tt_layout.encodings import (  # noqa: F401 - importing registers the encodings
    amd_mfma,
    amd_wmma,
    blocked,
    dot_op,
    linear,
    nvidia_mma,
    nvmma_shared,
    padded_shared,
    partitioned_shared,
    shared_linear,
    slice,
    swizzled_shared,
    tensor_memory,
)
from tt_layout.encodings.base import (
    FORMS,
    DistributedEncoding,
    Encoding,
    SharedEncoding,
    TensorMemoryBase,
)
from tt_layout.encodings.reading import read_encoding

__all__ = [
    "FORMS",
    "DistributedEncoding",
    "Encoding",
    "SharedEncoding",
    "TensorMemoryBase",
    "read_encoding",
]
