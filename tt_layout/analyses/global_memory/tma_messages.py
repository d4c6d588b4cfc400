"""Messages of the tensor memory accelerator, as the compiler cuts a tensor into them.

A message moves one box between global and shared memory; the CTA's part of the tensor takes as
many as fit into it, and the warps issue them in turn.  A gather or scatter names four rows in each
message, and moves the columns of a box.

Source:
    PTX ISA, "cp.async.bulk.tensor"; Triton, lib/Dialect/TritonGPU/IR/Dialect.cpp,
    getTMABlockShape, and third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/LoadStoreOpToLLVM.cpp,
    getMsgToPackedOffsetLayout and iterateGatherScatterIndices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings.cga import shape_per_cta
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.errors import LayoutError

MAX_PIXELS = 1024  # of a box in im2col mode
ROWS = 4  # that a message of a gather or scatter names


@dataclass(frozen=True, kw_only=True)
class TmaMessages:
    """The messages that move a tensor.

    Attributes:
        box: the elements that one of them moves, along each dimension.
        messages: how many one CTA issues.
    """

    box: tuple[int, ...]
    messages: int


def tma_messages(
    shared: NvmmaShared, shape: Sequence[int], *, is_im2col: bool = False
) -> TmaMessages:
    """Return the messages that move a tensor between global and shared memory.

    Args:
        shared: the layout in shared memory.
        shape: the sizes of the tensor; of one buffer of several.
        is_im2col: whether rows are pixels of a convolution, which go in one message.

    Raises:
        LayoutError: the swizzle does not fit into the shape, or there are too many pixels.

    Example:
        >>> shared = NvmmaShared(swizzling_byte_width=128, element_bit_width=16)
        >>> tma_messages(shared, [512, 128])
        TmaMessages(box=(256, 64), messages=4)
        >>> tma_messages(shared, [512, 128], is_im2col=True)
        TmaMessages(box=(512, 64), messages=2)
    """
    sizes = shared.checked_shape(shape)
    per_cta = shape_per_cta(shared.cga, sizes)
    box = list(shared.box(sizes))
    if is_im2col:
        if len(sizes) != 2:
            raise LayoutError(f"im2col needs a matrix of pixels and channels, got {list(sizes)}")
        pixels = 1 if shared.transposed else 0
        box[pixels] = per_cta[pixels]
        if box[pixels] > MAX_PIXELS:
            raise LayoutError(f"im2col takes up to {MAX_PIXELS} pixels per CTA, got {box[pixels]}")
    messages = prod(size // part for size, part in zip(per_cta, box))
    return TmaMessages(box=tuple(box), messages=messages)


def gather_messages(
    shared: NvmmaShared, shape: Sequence[int], indices: LinearLayout
) -> TmaMessages:
    """Return the messages that gather rows into shared memory, or scatter them from there.

    Args:
        shared: the layout in shared memory.
        shape: rows and columns there.
        indices: which register of which warp has the index of a row.

    Raises:
        LayoutError: the swizzle does not fit, or no thread holds the indices of four rows.

    Example:
        >>> shared = NvmmaShared(swizzling_byte_width=128, element_bit_width=16)
        >>> indices = LinearLayout.from_bases(
        ...     [("register", [[1], [2], [16]]), ("lane", [[0]] * 5), ("warp", [[4], [8]])],
        ...     ["dim0"])
        >>> gather_messages(shared, [32, 128], indices)
        TmaMessages(box=(4, 64), messages=16)
    """
    sizes = shared.checked_shape(shape)
    columns = shared.box(sizes)[-1]
    registers = indices.vectors("register")
    if [vector[0] for vector in registers[:2]] != [1, 2]:
        raise LayoutError(f"a thread must hold the indices of {ROWS} rows in its first registers")
    masks = indices.get_free_variable_masks()
    if masks["lane"] != indices.get_in_dim_size("lane") - 1:
        raise LayoutError("all lanes of a warp must hold the same indices")
    distinct = prod(
        indices.get_in_dim_size(name) >> masks[name].bit_count() for name in ("register", "warp")
    )
    per_row = shape_per_cta(shared.cga, sizes)[-1] // columns
    return TmaMessages(box=(ROWS, columns), messages=distinct // ROWS * per_row)
