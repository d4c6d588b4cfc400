"""Inputs of the library's functions: layouts and types in every form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tt_layout.arguments import integer
from tt_layout.encodings import DistributedEncoding, Encoding
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError, expect
from tt_layout.hardware import Target, find_target
from tt_layout.mlir.types import TensorType, parse_type, sizes_and_width, sizes_of
from tt_layout.notation.context import Context
from tt_layout.notation.objects import encoding_of
from tt_layout.placement import PlacedLayout
from tt_layout.placement import place as placed_over
from tt_layout.releases import Release

if TYPE_CHECKING:
    from tt_layout.mlir.types import ShapeOrType

Layout: TypeAlias = Any
"""Text in any notation, an encoding, a linear layout, its bases, or an object of Gluon or CuTe."""

UNKNOWN_ELEMENT = "index"
"""An element type without a width, for a tensor of which only the shape is known."""


def type_of(over: ShapeOrType, *, is_memory: bool = False) -> TensorType:
    """Return the type of a shape, or a type as it is.

    Args:
        over: what was given.
        is_memory: whether a shape is that of a buffer in memory.

    Raises:
        LayoutError: it is neither.

    Example:
        >>> type_of([4, 4]).shape, type_of("4x4xf16").element_bits
        ((4, 4), 16)
    """
    if isinstance(over, TensorType):
        return over
    message = "expected a shape such as [64, 64] or a type such as '64x64xf16'"
    try:
        sizes, bits = sizes_of(over)
    except TypeError as error:
        raise LayoutError(f"{message}; {error}") from None
    if isinstance(over, str) and bits is not None:
        return parse_type(over)
    if not sizes:
        raise LayoutError(f"{message}; the shape is empty")
    text = "x".join(map(str, (*sizes, UNKNOWN_ELEMENT)))
    return parse_type(f"!ttg.memdesc<{text}>" if is_memory else f"tensor<{text}>", name="<shape>")


def read(
    layout: Layout,
    over: ShapeOrType | None = None,
    *,
    name: str = "<layout>",
    memory_space: MemorySpace | None = None,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> Encoding:
    """Return the encoding of a layout.

    Args:
        layout: in any form.
        over: the shape or type of the tensor, which some notations need.
        name: of the argument, for messages.
        memory_space: in which the layout must live.
        release: whose rules hold, for a text.
        threads_per_warp: lanes of a warp, for notations that only count threads.

    Raises:
        LayoutError: it is not a layout, or not one of this tensor.
    """
    expect("name", name, str)
    context = Context(name=name, memory_space=memory_space)
    if release is not None:
        rules = release if isinstance(release, Release) else Release.parse(release)
        context = context._replace(release=rules)
    if threads_per_warp is not None:
        lanes = integer("threads_per_warp", threads_per_warp)
        context = context._replace(threads_per_warp=lanes)
    tensor = type_of(over) if over is not None else None
    if tensor is not None and tensor.element_type == UNKNOWN_ELEMENT:
        context = context._replace(shape=tensor.shape)
    return encoding_of(layout, context if context.shape is not None else context.over(tensor))


def several(layouts: Layout | Sequence[Layout]) -> Sequence[Layout]:
    """Return one layout or several as several; bases in pairs are one layout.

    Example:
        >>> several("(2,2):(1,2)"), several(["(2,2):(1,2)"]), several([("lane", [[1]])])
        (('(2,2):(1,2)',), ['(2,2):(1,2)'], ([('lane', [[1]])],))
    """
    if not isinstance(layouts, (list, tuple)) or hasattr(layouts, "_fields"):
        return (layouts,)
    is_one = bool(layouts) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in layouts
    )
    return (layouts,) if is_one else layouts


def place(
    layout: Layout,
    shape_or_type: ShapeOrType,
    *,
    name: str = "<layout>",
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> PlacedLayout:
    """Return a layout over a tensor: ``.layout`` has its bases, and a notebook draws it.

    Args:
        layout: text in any notation, or an object.
        shape_or_type: the tensor.
        name: of the argument, for messages.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        LayoutError: it is not a layout, or does not fit.

    Example:
        >>> place("(2,2):(2,1)", "!ttg.memdesc<2x2xf16>").layout.bases[0]
        ('offset', [[0, 1], [1, 0]])
    """
    encoding = read(
        layout, shape_or_type, name=name, release=release, threads_per_warp=threads_per_warp
    )
    is_memory = not isinstance(encoding, DistributedEncoding)
    return placed_over(encoding, type_of(shape_or_type, is_memory=is_memory))


def with_width(over: ShapeOrType) -> TensorType:
    """Return a type whose element width is known.

    Raises:
        LayoutError: only a shape was given.
    """
    tensor = type_of(over)
    sizes_and_width(tensor)
    return tensor


def lanes_of(target: Target | str | None, threads_per_warp: int | None) -> int | None:
    """Return the lanes of a warp: as passed, or of the GPU."""
    if threads_per_warp is not None or target is None:
        return threads_per_warp
    return gpu(target).lanes


def gpu(target: Target | str) -> Target:
    """Return a GPU by its name; a GPU as it is."""
    expect("target", target, str, Target)
    return find_target(target)
