"""Notation of bases as an attribute: linear, generic_linear or shared_linear."""

from __future__ import annotations

from tt_layout.encodings import Encoding
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.notation.checking import check_same
from tt_layout.notation.context import Context
from tt_layout.notation.functions import encoding_of_layout, over_shape
from tt_layout.notation.notation import Notation
from tt_layout.notation.refusal import Reason, refused
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.placement import alignment_of
from tt_layout.surface import argument


def read(text: str, context: Context) -> Encoding:
    """Return the encoding of an attribute."""
    return parse_layout(text, release=context.release, name=context.name)


def write(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the attribute that lists the bases over a shape, in today's spelling.

    Raises:
        RefusedError: there is no shape, or no such attribute can express the layout.
    """
    way_out = f"; {argument('to', 'cute')} can express it as strides"
    shape, layout = over_shape(encoding, tensor, way_out)
    try:
        after = encoding_of_layout(layout, alignment_of(encoding))
    except LayoutError as error:
        raise refused(Reason.NO_FORM, error.message) from None
    same = check_same(encoding, after, tensor._replace(shape=shape))
    return Translation(str(after), same)


NOTATION = Notation(
    recognises=lambda text: text.lstrip().startswith("#"), read=read, write=write, is_general=True
)
