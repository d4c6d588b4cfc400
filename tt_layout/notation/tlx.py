"""Constructors of TLX: ``tlx.swizzled_layout(3, 3, 3, order=[1, 0])``."""

from __future__ import annotations

from tt_layout.encodings import Encoding
from tt_layout.notation.context import Context
from tt_layout.translation.tlx import HEAD, read_tlx


def recognises(text: str) -> bool:
    """Tell whether a text begins like a constructor of TLX."""
    return HEAD.match(text) is not None


def read(text: str, context: Context) -> Encoding:
    """Return the layout of a constructor over the tensor.

    Raises:
        LayoutError: it is not such a constructor, or depends on a shape that is not known.
    """
    return read_tlx(text, context.shape and context.tensor_shape("TLX"))
