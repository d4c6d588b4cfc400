"""Properties of a layout: per thread, per warp, in memory.

The terms of ``blocked`` (size per thread, threads per warp, order, ..) are generalised to all
linear layouts, as in the compiler.  Everything is read off the basis vectors.  Sizes in an
attribute are compared with the distinct part of them: with ``threadsPerWarp = [4, 8]`` over 16
columns some lanes only repeat elements; the layout over larger tensors shows the size that it
needs.

Source:
    Triton, lib/Dialect/TritonGPU/IR/Dialect.cpp, LinearEncodingAttr.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tt_layout.algebra.linear_layout import Basis, LinearLayout, log2
from tt_layout.algebra.padding import check_padding, padded_size
from tt_layout.algebra.span import F2Span
from tt_layout.algebra.tiles import step_along
from tt_layout.analyses.conversion.conversion import memory_bytes, with_inputs
from tt_layout.arguments import checks_arguments
from tt_layout.encodings.base import Shape
from tt_layout.encodings.blocked import Blocked
from tt_layout.errors import LayoutError
from tt_layout.placement import PlacedLayout
from tt_layout.records import dataclass
from tt_layout.releases import Release

MAX_PHASE_ROWS = 64  # rows whose phases are listed at most


INPUTS = {"threads_per_warp": "lane", "warps_per_cta": "warp"}

MOST_DOUBLINGS = 20


@dataclass(frozen=True, kw_only=True)
class LayoutInfo:
    """Properties of a layout of a tensor in registers.

    Attributes:
        shape: shape of the tensor.
        registers: elements per thread, replication included.
        unique_registers: elements per thread without registers that only repeat an element.
        bytes_per_thread: size of the unique ones; None where the element width is not known.
        order: dimensions from the fastest varying to the slowest, by registers.
        thread_order, warp_order: the same by lanes and by warps.
        size_per_thread: elements of a thread along each dimension in one tile, before the
            tile repeats; None where a basis moves along several dimensions.
        elements_per_thread: the same over the whole tensor, replication included.
        threads_per_warp, warps_per_cta, ctas, cta_split: lanes, warps, CTAs, and CTAs
            without replication, along each dimension; None as above.
        contiguity_per_thread: adjacent elements of one thread along each dimension.
        contiguity_per_warp: adjacent elements of one warp along each dimension.
        replication: input -> number of its locations that repeat an element.
        locations_per_element: number of hardware locations of each element.

    Source:
        Triton, lib/Dialect/TritonGPU/IR/Dialect.cpp, LinearEncodingAttr.
    """

    shape: Shape
    registers: int
    unique_registers: int
    bytes_per_thread: int | None
    order: Shape
    thread_order: Shape
    warp_order: Shape
    size_per_thread: Shape | None
    elements_per_thread: Shape | None
    threads_per_warp: Shape | None
    warps_per_cta: Shape | None
    ctas: Shape | None
    cta_split: Shape | None
    contiguity_per_thread: Shape
    contiguity_per_warp: Shape
    replication: dict[str, int]
    locations_per_element: int


@checks_arguments
def layout_info(layout: LinearLayout, element_bits: int | None = None) -> LayoutInfo:
    """Return the properties of a register layout.

    Args:
        layout: a layout from ``register``, ``lane``, ``warp`` and ``block``.
        element_bits: width of an element, if it is known.

        Raises:
        LayoutError: the layout has other inputs.

    Example:
        >>> import tt_layout
        >>> blocked = tt_layout.parse_layout(
        ...     "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
        ...     "warpsPerCTA = [4, 1], order = [1, 0]}>")
        >>> info = layout_info(blocked.to_linear_layout([64, 64]), 16)
        >>> info.registers, info.size_per_thread, info.contiguity_per_warp, info.order
        (32, (1, 4), (4, 32), (1, 0))
    """
    layout = with_inputs(layout)
    order = order_of(layout)
    distinct = layout.remove_zero_bases("register").get_in_dim_size("register")
    contiguous = contiguity_per_thread(layout)
    repeats = replication(layout)
    return LayoutInfo(
        shape=tuple(size for _, size in layout.out_sizes),
        registers=layout.get_in_dim_size("register"),
        unique_registers=distinct,
        bytes_per_thread=None if element_bits is None else distinct * memory_bytes(element_bits),
        order=order,
        thread_order=order_of(layout, "lane", order),
        warp_order=order_of(layout, "warp", order),
        size_per_thread=size_per_thread(layout),
        elements_per_thread=per_dimension(layout.vectors("register"), layout, copies=True),
        threads_per_warp=per_dimension(layout.vectors("lane"), layout),
        warps_per_cta=per_dimension(layout.vectors("warp"), layout),
        ctas=per_dimension(layout.vectors("block"), layout, copies=True),
        cta_split=per_dimension(layout.vectors("block"), layout),
        contiguity_per_thread=contiguous,
        contiguity_per_warp=contiguity(layout, "lane", contiguous),
        replication=repeats,
        locations_per_element=math.prod(repeats.values()),
    )


def replication(layout: LinearLayout) -> dict[str, int]:
    """Count the locations of each input that share an element.

    Example:
        >>> replication(LinearLayout.from_bases([("lane", [[1], [0]])], ["dim0"]))
        {'lane': 2}
    """
    masks = layout.get_free_variable_masks()
    return {name: 1 << mask.bit_count() for name, mask in masks.items()}


def order_of(
    layout: LinearLayout, dim: str = "register", default: Sequence[int] | None = None
) -> Shape:
    """Return the dimensions in the order in which the bits of an input reach them.

    Args:
        layout: any layout.
        dim: the input.
        default: the order of dimensions that it does not reach; by default the last first.

    Example:
        >>> order_of(LinearLayout.from_bases([("lane", [[1, 0], [0, 1]])], ["a", "b"]), "lane")
        (0, 1)
    """
    rank = layout.num_out_dims
    reached = [d for vector in layout.vectors(dim) for d, step in enumerate(vector) if step]
    rest = range(rank - 1, -1, -1) if default is None else default
    return tuple(dict.fromkeys([*reached, *rest]))


def per_dimension(
    vectors: Sequence[Basis], layout: LinearLayout, *, copies: bool = False
) -> Shape | None:
    """Count the locations of an input along each dimension.

    Args:
        vectors: the input's bases.
        layout: the layout of these bases.
        copies: whether a basis that repeats elements counts, along the dimension of the basis
            before it.

    Returns:
        A power of two for each dimension; None where a basis moves along several.
    """
    counts = [1] * layout.num_out_dims
    last = 0
    for vector in vectors:
        moved = [d for d, step in enumerate(vector) if step]
        if len(moved) > 1:
            return None
        if moved:
            last = moved[0]
        if (moved or copies) and counts:
            counts[last] *= 2
    return tuple(counts)


def size_per_thread(layout: LinearLayout) -> Shape | None:
    """Return the elements of a thread along each dimension, before the tile repeats.

    Repeats are recognised by position: the last registers, with the highest bits.
    """
    split = per_dimension(layout.vectors("block"), layout)
    registers = list(layout.vectors("register"))
    if split is None or per_dimension(registers, layout) is None:
        return None
    extent = [size // parts for (_, size), parts in zip(layout.out_sizes, split)]
    seen: list[int] = []
    while registers and any(registers[-1]):
        dim = next(d for d, step in enumerate(registers[-1]) if step)
        if dim not in seen:
            seen.append(dim)
        if dim != seen[-1] or 2 * registers[-1][dim] != extent[dim]:
            break
        extent[dim] //= 2
        registers.pop()
    return per_dimension(registers, layout)


def contiguity_per_thread(layout: LinearLayout) -> Shape:
    """Count the adjacent elements of one thread along each dimension.

    Registers count as far as they are in the order of the elements: a thread that holds
    elements 0, 2, 1, 3 in its registers has 1.

    Example:
        >>> contiguity_per_thread(LinearLayout.from_bases([("register", [[1], [2]])], ["dim0"]))
        (4,)
        >>> contiguity_per_thread(LinearLayout.from_bases([("register", [[2], [1]])], ["dim0"]))
        (1,)

    Source:
        Triton, lib/Dialect/TritonGPU/IR/Dialect.cpp, LinearEncodingAttr::getContigPerThread.
    """
    return contiguity(layout, "register", (1,) * layout.num_out_dims)


def contiguity(layout: LinearLayout, dim: str, start: Shape) -> Shape:
    """Count the adjacent elements that the bits of an input reach along each dimension.

    Args:
        layout: any layout.
        dim: the input.
        start: number of adjacent elements so far, along each dimension.
    """
    vectors = layout.vectors(dim)
    reached, cursor = list(start), 0
    for d in order_of(layout):
        while cursor < len(vectors) and vectors[cursor] == step_along(len(start), d, reached[d]):
            reached[d] *= 2
            cursor += 1
    return tuple(reached)


# -- memory -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SwizzlePhase:
    """Rows of shared memory whose columns are xored with one number.

    Attributes:
        rows: the first and the last row, within one period.
        xor: the mask, in elements.
    """

    rows: tuple[int, int]
    xor: int

    def __str__(self) -> str:
        first, last = self.rows
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
        return f"{rows}: columns ^ {self.xor}"


@dataclass(frozen=True, kw_only=True)
class SharedInfo:
    """Properties of a layout of a tensor in shared memory.

    Attributes:
        shape: shape of one buffer.
        buffers: number of buffers of a multi-buffered memdesc.
        elements: slots of one buffer in a CTA's memory (and partition), without padding.
        partitions: number of memories over which a buffer is distributed.
        padding: pairs of an interval and the padding after it, in elements.
        padded_elements: slots of all buffers in a CTA's memory (and partition), with padding.
        bytes: the same in bytes; None where the element width is not known.
        alignment: alignment in bytes; None where no release defines one.
        order: dimensions from the fastest varying to the slowest.
        row_dim, column_dim: the dimensions of `phases`; None without any.
        phases: the xors of the columns of the first rows; they repeat after the last row.
        unused: factor by which the memory is larger than the tensor in it.
    """

    shape: Shape
    buffers: int
    elements: int
    partitions: int
    padding: tuple[tuple[int, int], ...]
    padded_elements: int
    bytes: int | None
    alignment: int | None
    order: Shape
    row_dim: int | None
    column_dim: int | None
    phases: tuple[SwizzlePhase, ...]
    unused: int


@checks_arguments
def shared_info(
    layout: LinearLayout,
    element_bits: int | None = None,
    *,
    padding: Sequence[tuple[int, int]] = (),
    alignment: int | None = None,
    buffers: int = 1,
) -> SharedInfo:
    """Return the properties of a shared layout.

    Args:
        layout: a layout from ``offset``, ``block`` and possibly ``partition``.
        element_bits: width of an element, if it is known.
        padding: pairs of an interval and the padding after it, in elements.
        alignment: alignment in bytes, if it is known.
        buffers: number of consecutive buffers.

    Example:
        >>> import tt_layout
        >>> swizzled = tt_layout.parse_layout(
        ...     "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>")
        >>> info = shared_info(swizzled.to_linear_layout([64, 32]), 16)
        >>> info.bytes, [str(phase) for phase in info.phases][:2]
        (4096, ['rows 0 to 1: columns ^ 0', 'rows 2 to 3: columns ^ 4'])
    """
    check_padding(padding)
    if "offset" not in layout.get_in_dim_names():
        raise LayoutError("this is not a shared layout: it has no input offset")
    elements = layout.get_in_dim_size("offset")
    slots = padded_size(buffers * elements, padding)
    row, column, phases = _phases(layout)
    zeros = sum(not any(vector) for vector in layout.vectors("offset"))
    return SharedInfo(
        shape=tuple(size for _, size in layout.out_sizes),
        buffers=buffers,
        elements=elements,
        partitions=layout.get_in_dim_size("partition"),
        padding=tuple(padding),
        padded_elements=slots,
        bytes=None if element_bits is None else slots * memory_bytes(element_bits),
        alignment=alignment,
        order=order_of(layout, "offset"),
        row_dim=row,
        column_dim=column,
        phases=phases,
        unused=1 << zeros,
    )


def _phases(layout: LinearLayout) -> tuple[int | None, int | None, tuple[SwizzlePhase, ...]]:
    """Return the dimensions of rows and columns, and the phases of the rows."""
    order = order_of(layout, "offset")
    mixed = [v for v in layout.vectors("offset") if sum(1 for step in v if step) > 1]
    if not mixed or len(order) < 2:
        return None, None, ()
    column = order[0]
    rows = [d for d in order[1:] if any(v[d] and v[column] for v in mixed)]
    if len(rows) != 1:
        return None, None, ()
    row = rows[0]
    xors = {v[row]: v[column] for v in mixed if v[row] & v[row] - 1 == 0 and v[column]}
    period = min(2 * max(xors, default=1), MAX_PHASE_ROWS)
    phases: list[SwizzlePhase] = []
    for r in range(period):
        xor = 0
        for bit, columns in xors.items():
            xor ^= columns if r & bit else 0
        if phases and phases[-1].xor == xor:
            phases[-1] = SwizzlePhase(rows=(phases[-1].rows[0], r), xor=xor)
        else:
            phases.append(SwizzlePhase(rows=(r, r), xor=xor))
    return row, column, tuple(phases)


@dataclass(frozen=True, kw_only=True)
class TensorMemoryInfo:
    """Properties of a layout of a tensor in tensor memory.

    Attributes:
        shape: shape of one buffer.
        buffers: number of buffers of a multi-buffered memdesc.
        rows: rows of tensor memory, 128 if all of its lanes are used.
        used_rows: rows that hold distinct elements.
        columns: columns of all buffers, one element each.
        words: the same as columns of 32 bits; None where the width is not known.
        bytes: total reserved size in bytes; None as for ``words``.
        locations_per_element: number of cells of each element.
    """

    shape: Shape
    buffers: int
    rows: int
    used_rows: int
    columns: int
    words: int | None
    bytes: int | None
    locations_per_element: int


@checks_arguments
def tensor_memory_info(
    layout: LinearLayout, element_bits: int | None, *, buffers: int = 1
) -> TensorMemoryInfo:
    """Return the properties of a tensor-memory layout.

    Args:
        layout: a layout from ``row``, ``col`` and ``block``.
        element_bits: width of an element, if it is known.
        buffers: number of consecutive buffers along the columns.
    """
    if "row" not in layout.get_in_dim_names():
        raise LayoutError("this is not a tensor-memory layout: it has no input row")
    rows, columns = layout.get_in_dim_size("row"), buffers * layout.get_in_dim_size("col")
    words = None if element_bits is None else -(-columns * element_bits // 32)
    used = F2Span([layout.flatten(v) for v in layout.vectors("row")]).rank
    return TensorMemoryInfo(
        shape=tuple(size for _, size in layout.out_sizes),
        buffers=buffers,
        rows=rows,
        used_rows=1 << used,
        columns=columns,
        words=words,
        bytes=None if words is None else rows * words * 4,
        locations_per_element=math.prod(replication(layout).values()),
    )


# -- the matrix -------------------------------------------------------------------------------


def matrix_labels(layout: LinearLayout) -> tuple[list[str], list[str]]:
    """Label the rows and the columns of the matrix over F2.

    Example:
        >>> matrix_labels(LinearLayout.from_bases([("lane", [[1], [2]])], ["dim0"]))
        (['dim0:0', 'dim0:1'], ['lane:0', 'lane:1'])
    """
    rows = [f"{name}:{bit}" for name, size in layout.out_sizes for bit in range(log2(size))]
    columns = [f"{name}:{bit}" for name, vectors in layout.in_bases for bit in range(len(vectors))]
    return rows, columns


@dataclass(frozen=True, kw_only=True)
class TypedSize:
    """A size in an attribute along each dimension, and its effective value over one tensor.

    Attributes:
        name: ``size_per_thread``, ``threads_per_warp`` or ``warps_per_cta``.
        typed: registers of a tile, lanes or warps along each dimension, as written.
        distinct: the number of them that hold distinct elements.
        needed: the sizes of the smallest tensor in which all of them are distinct.
    """

    name: str
    typed: Shape
    distinct: Shape
    needed: Shape


def typed_sizes(placed: PlacedLayout) -> tuple[TypedSize, ...]:
    """Return the sizes in the attribute of a register layout, and how much of them is distinct.

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
            needed = _needed(placed, dim, typed, distinct)
            if needed is not None:
                sizes.append(
                    TypedSize(name=name, typed=tuple(typed), distinct=distinct, needed=needed)
                )
    return tuple(sizes)


def _size_per_thread(encoding: Blocked, layout: LinearLayout) -> TypedSize:
    """Return the tile of one thread, at most a CTA's part of the tensor along each dimension."""
    split = per_dimension(layout.vectors("block"), layout) or (1,) * layout.num_out_dims
    parts = [size // share for (_, size), share in zip(layout.out_sizes, split)]
    typed = encoding.size_per_thread
    return TypedSize(
        name="size_per_thread",
        typed=typed,
        distinct=tuple(map(min, typed, parts)),
        needed=tuple(max(n, p) * share for n, p, share in zip(typed, parts, split)),
    )


def _needed(placed: PlacedLayout, dim: str, typed: Shape, distinct: Shape) -> Shape | None:
    """Double the tensor along dimensions with repetition until nothing repeats.

    Returns:
        The shape; None if there is none, as for an attribute that itself broadcasts.
    """
    shape, count_found = placed.shape, distinct
    for _ in range(MOST_DOUBLINGS):
        if count_found == tuple(typed):
            return shape
        larger = tuple(s * 2 if f < t else s for s, f, t in zip(shape, count_found, typed))
        try:
            layout = placed.encoding.to_linear_layout(larger, element_bits=placed.element_bits)
        except LayoutError:
            return None
        measured = per_dimension(layout.vectors(dim), layout)
        if measured is None:
            return None
        shape, count_found = larger, measured
    return None
