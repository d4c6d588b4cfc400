"""The bases themselves as an attribute: linear, generic_linear or shared_linear."""

from __future__ import annotations

from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.padding import format_padding
from tt_layout.encodings import Encoding
from tt_layout.encodings.linear import GenericLinear, Linear
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.parsing import parse_layout
from tt_layout.encodings.shared_linear import SharedLinear
from tt_layout.errors import LayoutError
from tt_layout.releases import LATEST
from tt_layout.translation.checking import check_same, known_shape, padding_of
from tt_layout.translation.refusal import Reason, refused
from tt_layout.translation.result import TensorSpec, Translation

DEFAULT_ALIGNMENT = 16
_DISTRIBUTED = ("register", "lane", "warp", "block")


def to_linear(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the attribute that lists the bases over a shape, in today's spelling.

    Raises:
        RefusedError: there is no shape, or no such attribute can express the layout.
    """
    shape = known_shape(encoding, tensor, "the bases depend on the shape")
    tensor = tensor._replace(shape=shape)
    if padding := padding_of(encoding):
        message = f"{format_padding(padding)}; --to cute can express it as strides"
        raise refused(Reason.PADDING, message)
    layout = encoding.to_linear_layout(shape, element_bits=tensor.element_bits)
    try:
        after = encoding_of_layout(layout, alignment_of(encoding))
    except LayoutError as error:
        raise refused(Reason.NO_FORM, error.message) from None
    return Translation(str(after), check_same(encoding, after, tensor))


def encoding_of_layout(layout: LinearLayout, alignment: int = DEFAULT_ALIGNMENT) -> Encoding:
    """Return the attribute that lists the bases of a linear layout.

    Args:
        layout: from registers, lanes and warps, or from offsets of shared memory.
        alignment: bytes to which a buffer of shared memory is aligned.

    Raises:
        LayoutError: there is no such attribute.

    Example:
        >>> print(encoding_of_layout(LinearLayout.from_bases([("offset", [[1]])], ["dim0"])))
        #ttg.shared_linear<{offset = [[1]]}, alignment = 16>
    """
    names = set(layout.get_in_dim_names())
    other: Encoding
    if "offset" in names:
        other = _shared(layout, alignment)
    elif names <= set(_DISTRIBUTED):
        other = _distributed(layout)
    elif "row" in names:
        raise LayoutError("there is no linear attribute for tensor memory")
    else:
        shown = ", ".join(layout.get_in_dim_names())
        message = f"the inputs are {shown}, not {', '.join(_DISTRIBUTED)} or offset, block"
        raise LayoutError(f"no attribute has these bases: {message}")
    try:
        after = parse_layout(str(other), release=LATEST, name="<linear>")
        after.check_layout()
    except LayoutError as error:
        raise LayoutError(f"no attribute has these bases: {error.message}") from None
    return after


def _distributed(layout: LinearLayout) -> Encoding:
    """Return the linear encoding with these bases, the generic one where they permute nothing."""
    bases: dict[str, Any] = {name: layout.vectors(name) for name in _DISTRIBUTED}
    linear = Linear(**bases)
    is_permutation = not list(linear.violations())
    return linear if is_permutation else GenericLinear(**bases)


def _shared(layout: LinearLayout, alignment: int) -> Encoding:
    """Return the shared_linear with these bases."""
    if "partition" in layout.get_in_dim_names():
        raise LayoutError("#ttg.shared_linear has no partitions")
    offset, block = layout.vectors("offset"), layout.vectors("block")
    return SharedLinear(offset=offset, block=block, alignment=alignment)


def alignment_of(encoding: Encoding) -> int:
    """Return the bytes to which a buffer of shared memory must be aligned.

    Example:
        >>> alignment_of(NvmmaShared(swizzling_byte_width=128, element_bit_width=16))
        1024
    """
    if isinstance(encoding, (NvmmaShared, SharedLinear)):
        return encoding.alignment
    return DEFAULT_ALIGNMENT
