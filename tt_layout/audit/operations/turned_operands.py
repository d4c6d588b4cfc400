"""Operands of matrix products that lie in shared memory along another dimension than in registers.

Matrix instructions take neighbours along the dimension that they sum over.  What transposes while
it reads shared memory is for elements of 16 bits: others are stored as they are needed, one by
one, from registers, or from a tensor in memory, that run along the other dimension.

Source:
    PTX ISA, "Strides" and "Canonical Layouts" of ``wgmma`` and ``tcgen05``; "ldmatrix".
"""

from __future__ import annotations

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.global_access import fastest_dimension
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.ir.types import IRType

TURNED_BITS = 16
"""Bits of the elements that are transposed as they are read."""


def turned_dimension(memory: IRType, registers: LinearLayout) -> int | None:
    """Return the dimension along which a buffer keeps elements together, and registers do not.

    None where they run along the same, and of buffers that instructions transpose.
    """
    encoding, rank = memory.encoding, registers.num_out_dims
    if not isinstance(encoding, NvmmaShared) or encoding.element_bit_width == TURNED_BITS:
        return None
    summed = rank - 1 - encoding.transposed
    return summed if fastest_dimension(registers) != summed else None


def stored_transposed(summed: int, bits: int) -> str:
    """Return how a program has an operand along the dimension that is summed over."""
    width = "widen it to" if bits < TURNED_BITS else "round it to"
    return (
        f"have dimension {summed} of the operand contiguous in memory (store it transposed), or"
        f" {width} {TURNED_BITS} bits before it is stored to shared memory"
    )
