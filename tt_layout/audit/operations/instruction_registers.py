"""Whether a matrix instruction finds the registers that it needs.

The assembler does not spill what ``wgmma`` works on: without the registers for the result of one
instruction, and 32 more, it ends with C7602, "insufficient registers".

Source:
    Matmuls compiled by Triton 3.9 for sm90: with 32, 64 and 128 registers of a thread for the
    result it refuses limits of 56, 88 and 152 and takes 64, 96 and 160.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tt_layout.analyses.multiplications.matrix_instructions import MatrixInstruction

WARP_GROUP = "warp group"
THREADS = 128
SPARE = 32
"""Registers of a thread that the instruction needs beside its result."""

WORD_BITS = 32


def register_refusal(
    instruction: MatrixInstruction | None, result_bits: int | None, limit: int | None
) -> str | None:
    """Return why an instruction is refused for want of registers; None where it is not.

    Args:
        instruction: that multiplies.
        result_bits: of an element of the result.
        limit: the most registers of a thread.

    Example:
        >>> from tt_layout.analyses.multiplications.matrix_instructions import MatrixInstruction
        >>> wide = MatrixInstruction(
        ...     name="wgmma", shape=(64, 256, 16), instructions=4, issuer="warp group")
        >>> register_refusal(wide, 32, 160)
        >>> register_refusal(wide, 32, 128).partition(";")[0]
        'does not compile: wgmma of N = 256 needs 160 registers per thread, and there are 128'
    """
    if instruction is None or instruction.issuer != WARP_GROUP or not result_bits or not limit:
        return None
    rows, columns, _ = instruction.shape
    needed = rows * columns * result_bits // WORD_BITS // THREADS + SPARE
    if needed <= limit:
        return None
    return (
        f"does not compile: wgmma of N = {columns} needs {needed} registers per thread, "
        f"and there are {limit}; use fewer warps, a higher maxnreg, or a smaller N"
    )
