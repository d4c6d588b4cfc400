"""Offsets of parts of buffers.

A part is the elements of a buffer from some coordinates on, each a multiple of the part's size
along its dimension.  The offset of an element is xored from that of its coordinates within the
part and that of where the part begins; padding is added to each by itself.

Source:
    Triton, lib/Conversion/TritonGPUToLLVM/Utility.cpp, getMaskSpanOffsetsAndBlocks.
"""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.algebra.linear_layout import LinearLayout, log2


def part_mask(buffer: LinearLayout, shape: Sequence[int]) -> int:
    """Return the bits of an offset that may be set at the beginning of a part of a buffer.

    Args:
        buffer: from the offset to the elements of the whole buffer.
        shape: sizes of the part, as many as the buffer has.

    Example:
        >>> rows = [("offset", [[0, 1], [0, 2], [1, 0], [2, 2]])]
        >>> buffer = LinearLayout.from_bases(rows, ["dim0", "dim1"])
        >>> part_mask(buffer, [2, 4]), part_mask(buffer, [4, 2]), part_mask(buffer, [4, 4])
        (10, 2, 0)
    """
    sizes = [size for _, size in buffer.out_sizes]
    if tuple(sizes) == tuple(shape):
        return 0
    offsets = buffer.pseudoinvert()
    at, mask = offsets.get_out_dim_names().index("offset"), 0
    for name, size, extent in zip(buffer.get_out_dim_names(), shape, sizes):
        for bit in range(log2(size), log2(extent)):
            mask |= offsets.vectors(name)[bit][at]
    return mask
