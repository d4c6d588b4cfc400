"""Operands of matrix products whose shared layout and registers run along different dimensions.

Matrix instructions take neighbours along the dimension that they sum over.  Instructions that
transpose while they read shared memory are for elements of 16 bits.  Other elements are stored one
by one in the needed order, if the registers or the tensor in memory run along the other dimension.

Source:
    PTX ISA, "Strides" and "Canonical Layouts" of ``wgmma`` and ``tcgen05``; "ldmatrix".
"""

from __future__ import annotations

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.global_access import fastest_dimension
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.ir.types import IRType

TURNED_BITS = 16
"""Width in bits of elements that instructions can transpose as they read."""


def turned_dimension(memory: IRType, registers: LinearLayout) -> int | None:
    """Return the dimension along which a buffer is contiguous, if registers run along another.

    None if both run along the same, and for buffers that instructions transpose.
    """
    encoding, rank = memory.encoding, registers.num_out_dims
    if not isinstance(encoding, NvmmaShared) or encoding.element_bit_width == TURNED_BITS:
        return None
    summed = rank - 1 - encoding.transposed
    return summed if fastest_dimension(registers) != summed else None


def stored_transposed(summed: int, bits: int) -> str:
    """Return advice on making an operand contiguous along the summed dimension."""
    width = "widen it to" if bits < TURNED_BITS else "round it to"
    return (
        f"have dimension {summed} of the operand contiguous in memory (store it transposed), or"
        f" {width} {TURNED_BITS} bits before it is stored to shared memory"
    )
