"""Multiplications of matrices that no matrix instruction carries out, and why.

Each thread multiplies and adds for the elements of the result that it holds, one pair at a time:
tensor cores are many times as fast.

Source:
    Triton 3.9, AccelerateMatmul.cpp and AccelerateAMDMatmul.cpp; PTX ISA, "Matrix fragments".
"""

from __future__ import annotations

from typing import NamedTuple

from tt_layout.analyses.multiplications.matrix_instructions import Operand
from tt_layout.encodings.blocked import Blocked

BITS_ALONG_K = 256
"""What one instruction takes of a row of A: 16 elements of 16 bits."""
LEAST_ROWS, LEAST_COLUMNS = 16, 8
MULTIPLIED = frozenset({"f16", "bf16", "f32", "f64", "i8", "ui8"})
IEEE = ("None", "ieee", "2")
"""How the precision of f32 is written that no instruction for f32 has."""


class FusedMultiplyAdds(NamedTuple):
    """Cost of a multiplication without a matrix instruction.

    Attributes:
        per_thread: multiplications with an addition of a thread.
        reason: why no instruction carries it out, and what would give it one.
    """

    per_thread: int
    reason: str

    @property
    def text(self) -> str:
        """Both in a few words."""
        return f"FMA, {self.per_thread} per thread: {self.reason}"


def fused_multiply_adds(
    a: Operand, b: Operand, d: Operand, sizes: tuple[int, int, int, int], precision: str
) -> FusedMultiplyAdds | None:
    """Return the cost of a multiplication with a blocked result; None for any other.

    Args:
        a, b, d: operands and result.
        sizes: batch, M, N and K.
        precision: of f32 operands, as the operation has it.

    Example:
        >>> from tt_layout import parse_layout
        >>> blocked = parse_layout("#ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], "
        ...                        "warpsPerCTA = [4, 1], order = [1, 0]}>")
        >>> a = b = d = Operand(blocked, (64, 64), "f32")
        >>> print(fused_multiply_adds(a, b, d, (1, 64, 64, 64), "ieee").text)
        FMA, 2048 per thread: f32 with input_precision ieee, give tf32 or operands of 16 bits
    """
    if not isinstance(d.encoding, Blocked):
        return None
    registers = d.encoding.to_linear_layout(d.shape).get_in_dim_size("register")
    return FusedMultiplyAdds(registers * sizes[3], _reason(a, b, sizes, precision))


def _reason(a: Operand, b: Operand, sizes: tuple[int, int, int, int], precision: str) -> str:
    _, rows, columns, depth = sizes
    are_supported = all(
        operand.element in MULTIPLIED or operand.element.startswith("f8") for operand in (a, b)
    )
    if not are_supported:
        return f"{a.element} x {b.element} has none, give operands of 8 or 16 bits"
    if a.element == "f32" and precision in IEEE:
        return "f32 with input_precision ieee, give tf32 or operands of 16 bits"
    if rows < LEAST_ROWS or columns < LEAST_COLUMNS:
        least = f"{LEAST_ROWS}x{LEAST_COLUMNS}"
        return f"{rows}x{columns} is less than an instruction has, give {least} or more"
    if depth * a.bits < BITS_ALONG_K:
        return f"K = {depth} is too small, give {BITS_ALONG_K // a.bits} or more"
    return "the layout of its result is that of no instruction"
