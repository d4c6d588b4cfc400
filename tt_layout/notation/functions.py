"""Attributes of linear layouts: linear, generic_linear or shared_linear.

What the notations of bases have in common: `notations.linear`, `notations.linear_layout` and
`notations.bases` write them, CuTe and TLX lead to them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.padding import format_padding
from tt_layout.algebra.tiles import dim_names
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import Shape
from tt_layout.encodings.linear import GenericLinear, Linear
from tt_layout.encodings.parsing import parse_layout
from tt_layout.encodings.shared_linear import SharedLinear
from tt_layout.errors import LayoutError
from tt_layout.notation.checking import check_same, known_shape
from tt_layout.notation.refusal import Reason, refused
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.placement import DEFAULT_ALIGNMENT
from tt_layout.releases import LATEST

_DISTRIBUTED = ("register", "lane", "warp", "block")
_DIM = re.compile(r"dim(\d{1,2})")


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
        if "partition" in layout.get_in_dim_names():
            raise LayoutError("#ttg.shared_linear has no partitions")
        offset, block = layout.vectors("offset"), layout.vectors("block")
        other = SharedLinear(offset=offset, block=block, alignment=alignment)
    elif names <= set(_DISTRIBUTED):
        bases: dict[str, Any] = {name: layout.vectors(name) for name in _DISTRIBUTED}
        linear = Linear(**bases)
        is_permutation = not list(linear.violations())
        other = linear if is_permutation else GenericLinear(**bases)
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


def encoding_of_function(layout: LinearLayout) -> Encoding:
    """Return the attribute of a linear layout in either direction, its dimensions in order.

    Raises:
        LayoutError: its outputs are not the dimensions of a tensor, or no attribute has its bases.

    Example:
        >>> identity = LinearLayout.identity_1d(4, "dim0", "offset")
        >>> print(encoding_of_function(identity))
        #ttg.shared_linear<{offset = [[1], [2]]}, alignment = 16>
    """
    if layout.in_bases and all(_DIM.fullmatch(name) for name in layout.get_in_dim_names()):
        if not layout.is_invertible():
            raise LayoutError("this layout leads from a tensor to its locations and has no inverse")
        layout = layout.invert()
    rank = layout.num_out_dims
    if sorted(layout.get_out_dim_names()) != sorted(dim_names(rank)):
        shown = ", ".join(layout.get_out_dim_names())
        raise LayoutError(f"the outputs must be dim0, dim1, ..., got {shown}")
    return encoding_of_layout(layout.transpose_outs(dim_names(rank)))


def layout_of(
    bases: Mapping[str, Sequence[Sequence[int]]], names: Sequence[str], sizes: Sequence[int]
) -> LinearLayout:
    """Return the linear layout of bases; without names its outputs are dim0, dim1, ..."""
    if not names:
        rank = next((len(vector) for vectors in bases.values() for vector in vectors), 0)
        return LinearLayout.from_bases(bases, dim_names(rank), require_surjective=False)
    return LinearLayout.from_bases(bases, names, sizes, require_surjective=False)


def over_shape(
    encoding: Encoding, tensor: TensorSpec, remark: str = ""
) -> tuple[Shape, LinearLayout]:
    """Return the shape that is given, and the linear layout over it.

    Args:
        encoding: the layout.
        tensor: the tensor.
        remark: what else to say of a layout that is padded.

    Raises:
        RefusedError: there is no shape, or the layout is padded.
    """
    shape = known_shape(encoding, tensor, "the bases depend on the shape")
    if padding := encoding.padding:
        raise refused(Reason.PADDING, f"{format_padding(padding)}{remark}")
    return shape, encoding.to_linear_layout(shape, element_bits=tensor.element_bits)


def read_back(
    encoding: Encoding, text: str, layout: LinearLayout, shape: Shape, tensor: TensorSpec
) -> Translation:
    """Return a text that was read back as the same layout.

    Raises:
        RefusedError: no attribute has these bases, or one that means something else.
    """
    try:
        after = encoding_of_function(layout)
    except LayoutError as error:
        raise refused(Reason.NO_FORM, error.message) from None
    return Translation(text, check_same(encoding, after, tensor._replace(shape=shape)))
