"""Sizes that an attribute states, held against what is distinct of them over a tensor.

A layout is a rule for tensors of any shape: ``threadsPerWarp = [4, 8]`` over 16 columns leaves
lanes that only repeat elements.  The needed shape is found by the layout itself, over larger
and larger tensors: what holds of every encoding that states such sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.layouts.properties import per_dimension
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import Shape
from tt_layout.encodings.blocked import Blocked
from tt_layout.errors import LayoutError
from tt_layout.placement import PlacedLayout
from tt_layout.releases import Release

INPUTS = {"threads_per_warp": "lane", "warps_per_cta": "warp"}
MOST_DOUBLINGS = 20


@dataclass(frozen=True, kw_only=True)
class TypedSize:
    """A size that an attribute states along each dimension, and what holds over one tensor.

    Attributes:
        name: ``size_per_thread``, ``threads_per_warp`` or ``warps_per_cta``.
        typed: registers of a tile, lanes or warps along each dimension, as the text has them.
        distinct: those of them that hold elements of their own.
        needed: the sizes of the smallest tensor in which all of them are distinct.
    """

    name: str
    typed: Shape
    distinct: Shape
    needed: Shape


def typed_sizes(placed: PlacedLayout) -> tuple[TypedSize, ...]:
    """Return the sizes that a layout of registers states, and what is distinct of them.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.mlir.types import parse_type
        >>> from tt_layout.placement import place
        >>> text = ("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
        ...         "warpsPerCTA = [4, 1], order = [1, 0]}>")
        >>> typed_sizes(place(parse_layout(text), parse_type("tensor<16x16xf16>")))[1]
        TypedSize(name='threads_per_warp', typed=(4, 8), distinct=(4, 4), needed=(16, 32))
    """
    encoding = placed.encoding
    sizes: list[TypedSize] = []
    if isinstance(encoding, Blocked) and encoding.release > Release.V2_0:
        sizes.append(_size_per_thread(encoding, placed.layout))
    for name, dim in INPUTS.items():
        typed = getattr(encoding, name, None)
        distinct = per_dimension(placed.layout.vectors(dim), placed.layout) if typed else None
        if typed and distinct and len(typed) == len(distinct):
            needed = _needed(placed, typed, distinct, _along(dim))
            if needed is not None:
                sizes.append(
                    TypedSize(name=name, typed=tuple(typed), distinct=distinct, needed=needed)
                )
    return tuple(sizes)


def _size_per_thread(encoding: Blocked, layout: LinearLayout) -> TypedSize:
    """Return the tile of one thread; a CTA's part of the tensor cuts it along each dimension."""
    split = per_dimension(layout.vectors("block"), layout) or (1,) * layout.num_out_dims
    parts = [size // share for (_, size), share in zip(layout.out_sizes, split)]
    typed = encoding.size_per_thread
    return TypedSize(
        name="size_per_thread",
        typed=typed,
        distinct=tuple(map(min, typed, parts)),
        needed=tuple(max(n, p) * share for n, p, share in zip(typed, parts, split)),
    )


def _along(dim: str) -> Callable[[LinearLayout], Shape | None]:
    return lambda layout: per_dimension(layout.vectors(dim), layout)


def _needed(
    placed: PlacedLayout,
    typed: Shape,
    distinct: Shape,
    measure: Callable[[LinearLayout], Shape | None],
) -> Shape | None:
    """Double the tensor along the dimensions where something repeats until nothing does.

    Returns:
        The shape; None where no tensor does, as for an attribute that broadcasts itself.
    """
    shape, found = placed.shape, distinct
    for _ in range(MOST_DOUBLINGS):
        if found == tuple(typed):
            return shape
        larger = tuple(s * 2 if f < t else s for s, f, t in zip(shape, found, typed))
        layout = _over(placed.encoding, larger, placed.element_bits)
        measured = measure(layout) if layout is not None and larger != shape else None
        if measured is None:
            return None
        shape, found = larger, measured
    return None


def _over(encoding: Encoding, shape: Shape, bits: int | None) -> LinearLayout | None:
    try:
        return encoding.to_linear_layout(shape, element_bits=bits)
    except LayoutError:
        return None
