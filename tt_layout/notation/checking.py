"""Comparison of two encodings over the shapes that determine them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import Shape
from tt_layout.errors import LayoutError
from tt_layout.notation.refusal import Reason, refused
from tt_layout.notation.result import TensorSpec
from tt_layout.surface import argument

REPEATING_SIZE = 1 << 12  # a size at which every tile repeats
SIZES = (256, 512)
MAX_PRODUCT_RANK = 4  # above it, all dimensions have one size
THREADS = ("lane", "warp", "row")


def check_same(before: Encoding, after: Encoding, tensor: TensorSpec) -> tuple[Shape, ...]:
    """Return the shapes over which two encodings have equal bases and padding; raise otherwise.

    Raises:
        RefusedError: they differ over one of them.
        LayoutError: the first has no layout over the shape asked for.
    """
    shapes = (
        (tensor.shape,) if tensor.shape is not None else natural_shapes(before, tensor.element_bits)
    )
    for shape in shapes:
        check_same_over(before, after, shape, tensor.element_bits)
    if before.padding != after.padding:
        message = f"padding {before.padding} would be {after.padding}"
        raise refused(Reason.OTHER_MEANING, message)
    return shapes


def check_same_over(
    before: Encoding, after: Encoding, shape: Shape, element_bits: int | None
) -> None:
    """Raise an error unless two encodings have the same bases over a shape."""
    wanted = before.to_linear_layout(shape, element_bits=element_bits)
    try:
        layout = after.to_linear_layout(shape, element_bits=element_bits)
    except LayoutError as error:
        raise refused(Reason.NO_LAYOUT, f"Triton {after.release}: {error.message}") from None
    if difference := differing(wanted, layout):
        message = f"Triton {after.release}, over {list(shape)}: {difference}"
        raise refused(Reason.OTHER_MEANING, message)


def differing(wanted: LinearLayout, layout: LinearLayout) -> str | None:
    """Describe the first difference of two layouts; None if they are equal."""
    if wanted.get_in_dim_names() != layout.get_in_dim_names():
        return f"{wanted.get_in_dim_names()} would be {layout.get_in_dim_names()}"
    for name in wanted.get_in_dim_names():
        if wanted.vectors(name) != layout.vectors(name):
            return f"{name} {_shown(wanted, name)} would be {_shown(layout, name)}"
    if wanted.out_sizes != layout.out_sizes:
        return f"{wanted.out_dims} would be {layout.out_dims}"
    return None


def _shown(layout: LinearLayout, name: str) -> str:
    return str([list(vector) for vector in layout.vectors(name)])


def natural_shapes(encoding: Encoding, element_bits: int | None = None) -> tuple[Shape, ...]:
    """Return shapes that determine a layout: its own, or some that hold its tile.

    Example:
        >>> import tt_layout
        >>> natural_shapes(tt_layout.parse_layout(
        ...     "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"))
        ((256,), (512,))
    """
    fixed = own_shape(encoding)
    candidates = [fixed] if fixed is not None else list(_holding_tile(encoding, element_bits))
    faults: list[LayoutError] = []
    shapes: list[Shape] = []
    for shape in candidates:
        try:
            encoding.to_linear_layout(shape, element_bits=element_bits)
            shapes.append(shape)
        except LayoutError as error:
            faults.append(error)
    if not shapes:
        raise faults[0]
    return tuple(shapes)


def known_shape(encoding: Encoding, tensor: TensorSpec, use: str) -> Shape:
    """Return the tensor's shape, or the only one that fits the encoding.

    Raises:
        RefusedError: neither is known; the message says for what it is needed.
    """
    shape = tensor.shape or own_shape(encoding)
    if shape is None:
        example = argument("shape_or_type", "tensor<16x16xf16>")
        message = f"{use}; give one with {argument('shape_or_type')}, such as {example}"
        raise refused(Reason.NEEDS_TYPE, message)
    return shape


def own_shape(encoding: Encoding) -> Shape | None:
    """Return the only shape that fits an encoding; None if it repeats over any."""
    inner = getattr(encoding, "partition_layout", None)
    if isinstance(inner, Encoding):
        piece = own_shape(inner)
        parts = getattr(encoding, "num_partitions", 1) * getattr(encoding, "num_groups", 1)
        cut = getattr(encoding, "partition_dim", 0)
        return piece and tuple(n * parts if d == cut else n for d, n in enumerate(piece))
    offset = getattr(encoding, "offset", None)
    if offset is None:
        return None
    return spanned((*offset, *getattr(encoding, "block", ())), encoding.rank or 0)


def spanned(vectors: Sequence[Sequence[int]], rank: int) -> Shape:
    """Return the shape that basis vectors reach.

    Example:
        >>> spanned([(0, 1), (3, 2)], 2)
        (4, 4)
    """
    return tuple(1 << max((v[d].bit_length() for v in vectors), default=0) for d in range(rank))


def _holding_tile(encoding: Encoding, element_bits: int | None) -> list[Shape]:
    """Return the shapes of two sizes per dimension that hold the tile of all threads."""
    rank = encoding.rank or 2
    far = encoding.to_linear_layout((REPEATING_SIZE,) * rank, element_bits=element_bits)
    reached = spanned([v for name in THREADS for v in far.vectors(name)], rank)
    low = [max(SIZES[0], size) for size in reached]
    if rank > MAX_PRODUCT_RANK:
        return [tuple(low), tuple(2 * size for size in low)]
    return list(product(*((size, 2 * size) for size in low)))
