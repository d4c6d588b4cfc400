"""Inputs of the library's functions: layouts and types as text or objects.

Objects may be of this package, Gluon, Triton's tools or CuTe.  They are recognized by class name
and fields; nothing of Triton or CUTLASS is imported.  A Gluon object is read by the rules of the
loaded Triton release.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.arguments import integer
from tt_layout.encodings import DistributedEncoding, Encoding
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError, expect, shown
from tt_layout.hardware import Target, find_target
from tt_layout.mlir.types import TensorType, parse_type, sizes_and_width, sizes_of
from tt_layout.notation.context import Context
from tt_layout.notation.functions import encoding_of_function
from tt_layout.notation.gluon.calls import BARRIER, GluonCall
from tt_layout.notation.gluon.constructors import CONSTRUCTORS
from tt_layout.notation.gluon.signatures import own_name
from tt_layout.notation.notations.bases import bases_of
from tt_layout.notation.notations.gluon import resolve
from tt_layout.notation.registry import read_layout
from tt_layout.notation.result import Translation
from tt_layout.placement import PlacedLayout
from tt_layout.placement import place as placed_over
from tt_layout.releases import Release

if TYPE_CHECKING:
    from tt_layout.mlir.types import ShapeOrType

GLUON = {*(own_name(one.name) for _, one in CONSTRUCTORS), BARRIER, "AutoLayout", "CoalescedLayout"}
"""The classes of Gluon."""
CUTE = {"Layout", "ComposedLayout"}
"""Classes of CuTe's Python libraries, whose ``str`` is CuTe notation."""

Layout: TypeAlias = Any
"""Text in any notation, an encoding, a linear layout, its bases, or an object of Gluon or CuTe."""

UNKNOWN_ELEMENT = "index"
"""An element type without a width, for a tensor of which only the shape is known."""


def encoding_of(layout: object, context: Context) -> Encoding:
    """Return the encoding of a text or an object.

    Args:
        layout: text in any notation; an encoding; a linear layout, ours or of
            ``triton.tools``, or its bases by name or in pairs; a translation; an object of Gluon
            or CuTe.
        context: the tensor and the rules.

    Raises:
        LayoutError: it is something else, or no attribute expresses it.

    Example:
        >>> print(encoding_of(LinearLayout.identity_1d(2, "offset", "dim0"), Context()))
        #ttg.shared_linear<{offset = [[1]]}, alignment = 16>
    """
    if isinstance(layout, Encoding):
        return layout
    if isinstance(layout, str):
        return read_layout(layout, context)
    if isinstance(layout, PlacedLayout):
        return layout.encoding
    if isinstance(layout, Translation) and layout.encoding is not None:
        return layout.encoding
    try:
        return _of_object(_unwrapped(layout), context)
    except LayoutError as error:  # an object has no line or column, but a name
        raise LayoutError(f"{context.name.strip('<>')}: {error.message}") from None


def _of_object(layout: Any, context: Context) -> Encoding:
    name = _class_name(layout)
    if name in GLUON:
        release = context.release or _release_of(layout)
        return resolve(call_of(layout), context._replace(release=release))
    if name in CUTE:
        return read_layout(str(layout), context)
    if isinstance(layout, LinearLayout) or name == "LinearLayout":
        return encoding_of_function(_linear(layout))
    if isinstance(layout, Mapping) or (isinstance(layout, (list, tuple)) and layout):
        return encoding_of_function(bases_of(layout))
    expected = "a layout: text, an encoding, a LinearLayout, or an object of Gluon or CuTe"
    raise LayoutError(f"expected {expected}; got {shown(layout)}")


def _class_name(layout: object) -> str:
    """Return the name of an object's first known class, or else of its own."""
    names = [cls.__name__ for cls in type(layout).__mro__]
    return next((name for name in names if name in GLUON | CUTE), names[0])


def _unwrapped(value: Any) -> Any:
    """Return the value of a ``constexpr``; any other value unchanged."""
    return value.value if type(value).__name__ == "constexpr" else value


def call_of(layout: Any) -> GluonCall:
    """Return the call that makes a Gluon object.

    Raises:
        LayoutError: a field is not a number, a list or a layout.
    """
    names = [f.name for f in fields(layout)] if is_dataclass(layout) else list(vars(layout))
    name = type(layout).__name__
    class_name = name if name in GLUON else _class_name(layout)
    if class_name == BARRIER:
        class_name = "SwizzledSharedLayout"
    return GluonCall(class_name, (), {field: _argument(getattr(layout, field)) for field in names})


def _argument(value: Any) -> Any:
    value = _unwrapped(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Iterable):
        return tuple(map(_argument, value))
    return call_of(value) if _class_name(value) in GLUON else str(value)


def _release_of(layout: object) -> Release | None:
    """Return the Triton release of an object, if it is loaded and known."""
    root = type(layout).__module__.partition(".")[0]
    version = getattr(sys.modules.get(root), "__version__", None) if root == "triton" else None
    try:
        return Release.parse(version) if isinstance(version, str) else None
    except LayoutError:
        return None


def _linear(layout: Any) -> LinearLayout:
    """Convert a linear layout of Triton's tools."""
    if isinstance(layout, LinearLayout):
        return layout
    try:
        bases = [
            (str(name), [tuple(map(int, v)) for v in vectors]) for name, vectors in layout.bases
        ]
        outs = [(str(name), int(size)) for name, size in layout.out_dims]
    except (AttributeError, TypeError, ValueError) as error:
        raise LayoutError(f"this LinearLayout has no bases and out_dims: {error}") from None
    names, sizes = [name for name, _ in outs], [size for _, size in outs]
    return LinearLayout.from_bases(bases, names, sizes, require_surjective=False)


def type_of(over: ShapeOrType, *, is_memory: bool = False) -> TensorType:
    """Convert a shape to a type; return a type unchanged.

    Args:
        over: a shape or a type.
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
        layout: the layout in any form.
        over: the shape or type of the tensor, which some notations need.
        name: name of the argument in messages.
        memory_space: the memory space in which the layout must live.
        release: the release whose rules hold for text.
        threads_per_warp: lanes of a warp, for notations that only count threads.

        Raises:
            LayoutError: it is not a layout, or does not fit the tensor.
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
    """Return one layout or several as a sequence; bases in pairs are one layout.

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
    """Place a layout over a tensor: ``.layout`` has its bases, and a notebook draws it.

    Args:
        layout: text in any notation, or an object.
        shape_or_type: the tensor.
        name: name of the argument in messages.
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
    """Return the lanes of a warp: the given number, or that of the GPU."""
    if threads_per_warp is not None or target is None:
        return threads_per_warp
    return gpu(target).lanes


def gpu(target: Target | str) -> Target:
    """Return the GPU of a name; return a GPU unchanged."""
    expect("target", target, str, Target)
    return find_target(target)


def parse_layout(
    layout: Layout,
    shape_or_type: ShapeOrType | None = None,
    *,
    release: str | Release | None = None,
    name: str = "<layout>",
    threads_per_warp: int | None = None,
) -> Encoding:
    """Return the layout attribute of a text or an object.

    Args:
        layout: an attribute such as ``#ttg.blocked<{...}>`` in the spelling of any release since
            2022, or any other notation of ``docs/notations.md``; an object of Gluon, of
            ``triton.tools.LinearLayout``, or of CuTe.
        shape_or_type: the tensor, which CuTe notation and some others need.
        release: the release whose rules hold, such as ``"3.5"``.  By default the newest release
            that knows every key of the text; then a missing key is an error even if that
            release would read its absence as 0.
        name: name of the text in messages.
        threads_per_warp: lanes of a warp, for notations that only count threads; 32 by default.

        Raises:
            LayoutError: it is not a layout, or breaks a rule; ``str`` of the error points at it.

    Example:
        >>> print(parse_layout("#ttg.swizzled_shared<{order=[0], vec=8, perPhase=1, maxPhase=8}>"))
        #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0]}>
        >>> print(parse_layout("(2,2):(1,2)", "4xf16"))
        #ttg.linear<{register = [[2]], lane = [[1]], warp = [], block = []}>
    """
    return read(
        layout, shape_or_type, name=name, release=release, threads_per_warp=threads_per_warp
    )


def to_linear_layout(
    layout: Layout,
    shape_or_type: ShapeOrType,
    *,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> LinearLayout:
    """Return the linear layout of a layout over a tensor.

    Args:
        layout: text in any notation, or an object.
        shape_or_type: the tensor; for a multi-buffered memdesc, one buffer.
        release, threads_per_warp: as for `parse_layout`.

    Returns:
        From ``register, lane, warp, block``, or ``offset, block``, or ``row, col, block``, to
        ``dim0, dim1, ...``.

    Raises:
        LayoutError: it is not a layout, or does not fit the tensor.

    Example:
        >>> to_linear_layout("gl.SwizzledSharedLayout(1, 1, 2, [1, 0])", [2, 2]).bases[0]
        ('offset', [[0, 1], [1, 1]])
    """
    return place(layout, shape_or_type, release=release, threads_per_warp=threads_per_warp).layout
