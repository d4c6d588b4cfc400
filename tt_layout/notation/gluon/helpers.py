"""Static methods of Gluon's classes that make layouts, expanded to constructor calls.

Source:
    Triton 3.9, triton/experimental/gluon/language/_layouts.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tt_layout.algebra.linear_layout import is_power_of_two, log2
from tt_layout.analyses.layouts.builders import default_nvmma
from tt_layout.arguments import integers
from tt_layout.encodings.cga import shape_per_cta
from tt_layout.errors import LayoutError, quoted
from tt_layout.notation.gluon.calls import GluonCall
from tt_layout.notation.gluon.signatures import own_name

_ELEMENT = re.compile(r"(?:\w+\.)*(?:bfloat|float|fp|u?int)(\d{1,2})\w*")


def expanded(call: GluonCall) -> GluonCall:
    """Return the constructor call behind a static method; a constructor call as it is.

    Raises:
        LayoutError: the function takes other arguments.

    Example:
        >>> expanded(GluonCall("gl.NVMMASharedLayout.get_default_for", ((64, 32), "gl.float16")))
        GluonCall(name='NVMMASharedLayout', positional=(64, 16, 2, False, False, ()), keywords={})
    """
    name = own_name(call.name)
    if name not in HELPERS:
        return call
    try:
        return HELPERS[name](*call.positional, **call.keywords)
    except TypeError as error:
        raise LayoutError(f"{quoted(call.name)} cannot be called so: {error}") from None


def with_identity_for(
    interval_padding_pairs: Any,
    shape: Sequence[int],
    order: Sequence[int],
    cga_layout: Sequence[Sequence[int]] = (),
) -> GluonCall:
    """Return the padded layout of a tensor in an order.

    Raises:
        LayoutError: the order is not a permutation, or a size not a power of two.

    Example:
        >>> with_identity_for(((4, 1),), (2, 2), (1, 0)).positional
        (((4, 1),), ((0, 1), (1, 0)), (), (2, 2))
    """
    sizes, dims = integers("shape", shape), integers("order", order)
    if sorted(dims) != list(range(len(sizes))):
        raise LayoutError(f"order must be a permutation of 0..{len(sizes) - 1}, got {list(dims)}")
    if not all(map(is_power_of_two, sizes)):
        raise LayoutError(f"every dimension must be a power of two, got {list(sizes)}")
    blocks = tuple(integers("cga_layout", basis) for basis in cga_layout)
    part = shape_per_cta(blocks, sizes)
    offset = tuple(
        tuple(1 << bit if at == dim else 0 for at in range(len(sizes)))
        for dim in dims
        for bit in range(log2(part[dim]))
    )
    return GluonCall("PaddedSharedLayout", (interval_padding_pairs, offset, blocks, sizes))


def default_for(
    block_shape: Sequence[int],
    dtype: str,
    transposed: bool = False,
    fp4_padded: bool = False,
    cga_layout: Sequence[Sequence[int]] | None = None,
) -> GluonCall:
    """Return the widest layout that TMA and the tensor cores can read for a block.

    Raises:
        LayoutError: the type is not that of an element.

    Example:
        >>> default_for((64, 32), "gl.float16").positional
        (64, 16, 2, False, False, ())
    """
    sizes, element = integers("block_shape", block_shape), _ELEMENT.fullmatch(str(dtype))
    if element is None:
        raise LayoutError(f"dtype must be an element type such as gl.float16, got {quoted(dtype)}")
    dims = range(len(sizes))
    blocks = tuple(integers("cga_layout", basis) for basis in cga_layout or ())
    made = default_nvmma(
        sizes,
        element_bits=int(element[1]),
        order=(0, *dims[:0:-1]) if transposed else dims[::-1],
        cga=blocks,
        fp4_padded=fp4_padded,
    )
    width, bits = made.swizzling_byte_width, made.element_bit_width
    return GluonCall(
        "NVMMASharedLayout", (width, bits, len(sizes), bool(transposed), bool(fp4_padded), blocks)
    )


HELPERS: dict[str, Callable[..., GluonCall]] = {
    "with_identity_for": with_identity_for,
    "get_default_for": default_for,
}
"""Their names, and what they are."""
