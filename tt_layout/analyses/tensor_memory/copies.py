"""Copies from shared to tensor memory: the compiler's ``tcgen05.cp`` instructions.

One thread issues them.  Scales go in blocks of 32 rows by 128 bits, which all four groups of 32
rows of tensor memory receive.  Other tensors go in pieces of 128 rows by 256 bits, or 128 where
there are no more; where groups of rows hold the same, a piece has fewer rows and is multicast.

Source:
    PTX ISA, "tcgen05.cp"; Triton,
    third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/TensorMemoryToLLVM.cpp, getTMemCopyAtom and
    copyScales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.errors import LayoutError

BLOCK_BITS = 32 * 128  # of scales
GROUP_BITS = (5, 6)  # bits of the row that determine the group of 32 rows
PIECES = {
    (False, False): (128, ""),
    (True, False): (64, ".warpx2::02_13"),
    (False, True): (64, ".warpx2::01_23"),
    (True, True): (32, ".warpx4"),
}
"""Whether rows 32, and rows 64 apart hold the same -> rows of a piece, and how it is multicast."""


@dataclass(frozen=True, kw_only=True)
class TensorMemoryCopy:
    """The instructions of a copy from shared to tensor memory.

    Attributes:
        rows, column_bits: what one of them copies.
        multicast: to which groups of rows, as the assembler spells it.
        instructions: how many there are, per CTA.
    """

    rows: int
    column_bits: int
    multicast: str
    instructions: int

    def name(self, ctas: int = 1) -> str:
        """The instruction as the assembler spells it.

        Args:
            ctas: how many CTAs take part, 1 or 2.
        """
        group = f"tcgen05.cp.cta_group::{ctas}"
        return f"{group}{self.multicast}.{self.rows}x{self.column_bits}b"


def tensor_memory_copy(
    memory: LinearLayout, shared: LinearLayout, element_bits: int
) -> TensorMemoryCopy:
    """Return the instructions that copy a tensor from shared to tensor memory.

    Args:
        memory: where the tensor goes in tensor memory.
        shared: where it is in shared memory.
        element_bits: width of an element.

    Raises:
        LayoutError: the two are of different tensors, or in other memories.
    """
    if "row" not in memory.get_in_dim_names() or "offset" not in shared.get_in_dim_names():
        raise LayoutError("tcgen05.cp copies from shared memory to tensor memory")
    composed = memory.invert_and_compose(shared)
    at = composed.get_out_dim_names().index("offset")
    rows = composed.vectors("row")
    same = (rows[GROUP_BITS[0]][at] == 0, rows[GROUP_BITS[1]][at] == 0)
    height, multicast = PIECES[same]
    bits = composed.get_in_dim_size("col") * element_bits
    width = 256 if not any(same) and bits >= 256 else 128
    return TensorMemoryCopy(
        rows=height, column_bits=width, multicast=multicast, instructions=max(1, bits // width)
    )


def scales_copy(shape: Sequence[int], element_bits: int) -> TensorMemoryCopy:
    """Return the instructions that copy scales from shared to tensor memory.

    Args:
        shape: of the scales in shared memory: blocks along M or N, blocks along K, and then the
            block, whose sizes may be merged with those before; a leading 1 counts no blocks.
        element_bits: width of a scale.

    Example:
        >>> scales_copy([1, 1, 8, 2, 256], 8).instructions
        8
    """
    return TensorMemoryCopy(
        rows=32,
        column_bits=128,
        multicast=".warpx4",
        instructions=prod(_blocks(shape, element_bits)),
    )


def _blocks(shape: Sequence[int], element_bits: int) -> tuple[int, int]:
    """Count the blocks along M or N, and along K."""
    for dim in reversed(range(len(shape))):
        bits = prod(shape[dim:]) * element_bits
        if bits >= BLOCK_BITS:
            if dim == 0:
                return bits // BLOCK_BITS, 1
            if dim == 1:
                return shape[0], bits // BLOCK_BITS
            is_loaded_by_tma = shape[0] == 1 and shape[-1] == 256
            return (shape[1], shape[2]) if is_loaded_by_tma else (shape[0], shape[1])
    return 1, 1
