"""Notation of Gluon: ``gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])``."""

from __future__ import annotations

import re

from tt_layout.analyses.layouts.builders import coalesced_blocked
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.notation.context import Context
from tt_layout.notation.gluon.calls import GluonCall, encoding_of_call
from tt_layout.notation.gluon.page_data import gluon_classes
from tt_layout.notation.gluon.signatures import own_name
from tt_layout.notation.gluon.text import read_call, to_gluon
from tt_layout.notation.notation import Notation

_HEAD = re.compile(
    r"\s*(?:[A-Za-z_]\w*\.)*(?:_?[A-Z]\w*(?:\.with_identity_for|\.get_default_for)?|constexpr)\s*\("
)
VECTOR_BITS = 128


def recognises(text: str) -> bool:
    """Return whether a text begins like a constructor call."""
    return _HEAD.match(text) is not None


def read(text: str, context: Context) -> Encoding:
    """Return the encoding of a constructor.

    Raises:
        LayoutError: Gluon has no such constructor, or the layout depends on what is not known.
    """
    return resolve(read_call(text), context)


def resolve(call: GluonCall, context: Context) -> Encoding:
    """Return the encoding of a call; for a placeholder the one that the compiler puts there.

    Raises:
        LayoutError: the compiler would look at more than the tensor.

    Example:
        >>> context = Context(shape=(64, 64), element_bits=16)
        >>> print(resolve(GluonCall("gl.CoalescedLayout"), context))
        #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], \
order = [1, 0]}>
    """
    name = own_name(call.name)
    if name == "AutoLayout":
        message = "an AutoLayout is inferred from the layouts of the operations around it"
        raise LayoutError(f"{message}; tt-layout suggest blocked shows the compiler's default")
    if name == "CoalescedLayout":
        return _coalesced(context)
    return encoding_of_call(call, context.release)


def _coalesced(context: Context) -> Encoding:
    """Return the layout of an access whose pointers are known to follow each other in rows."""
    shape = context.tensor_shape("a CoalescedLayout")
    if context.element_bits is None:
        raise LayoutError("a CoalescedLayout depends on the width of an element: give the type")
    return coalesced_blocked(
        shape,
        max(1, min(shape[-1], VECTOR_BITS // max(8, context.element_bits))),
        element_bits=context.element_bits,
        num_warps=context.num_warps,
        threads_per_warp=context.threads_per_warp,
    )


NOTATION = Notation(recognises, read, write=to_gluon, page=gluon_classes, is_general=True)
