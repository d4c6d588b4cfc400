"""Operands of one matrix instruction, from the layout of its result."""

from __future__ import annotations

from tt_layout.analyses.multiplications.matrix_instructions import K_BITS, Operand, k_blocks
from tt_layout.encodings import Encoding
from tt_layout.encodings.amd_mfma import AmdMfma
from tt_layout.encodings.amd_wmma import AmdWmma
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.dpas import Dpas
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.tensor_memory import TensorMemory
from tt_layout.errors import LayoutError

ELEMENTS = {"f32": "f16", "f16": "f16", "bf16": "bf16", "i32": "i8", "f64": "f64"}
"""Element of a result -> that of the operands where none is named."""

REGISTER_BITS = 32
WIDEST_BITS = 128
"""What a lane of MFMA, and of version 2 of WMMA, holds of a row without a gap, at most."""
UNSCALED_WIDTH, SCALED_WIDTH = 8, 16
"""The same of version 3, in elements; only with scales has it instructions of 32 rows."""


def operands_of(
    result: Encoding, shape: tuple[int, ...], element: str, of: str | None = None
) -> tuple[Operand | None, Operand | None, Operand, int]:
    """Return A, B and D of a multiplication over one instruction's K, and that K.

    Args:
        result: the layout of D, or of an operand, which gives the width of reads along K.
        shape: M and N.
        element: the element type of D.
        of: the element type of A and B; None for the usual one.

        Returns:
            A, B, D and K; None for an operand read from shared memory, whose layout D does not
            determine.

    Raises:
        LayoutError: there is no such instruction, or the layout does not determine its K.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> mma = parse_layout("#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
        ...     "warpsPerCTA = [1, 1], instrShape = [16, 8]}>")
        >>> a, b, d, k = operands_of(mma, (16, 8), "f32")
        >>> k, a.shape, b.shape, a.encoding.k_width
        (16, (16, 16), (16, 8), 2)
    """
    width = result.k_width if isinstance(result, DotOperand) else 0
    parent = result.parent if isinstance(result, DotOperand) else result
    of = of or ELEMENTS.get(element, element)
    d = Operand(parent, shape, element)
    k, usual = _depth(parent, Operand(parent, shape, of).bits)
    width = width or usual
    *batch, m, n = shape
    a = Operand(_operand(parent, 0, width), (*batch, m, k), of) if width else None
    is_in_memory = not width or (isinstance(parent, NvidiaMma) and parent.version_major == 3)
    b = None if is_in_memory else Operand(_operand(parent, 1, width), (*batch, k, n), of)
    return a, b, d, k


def instruction_title(d: Operand, k: int) -> str:
    """Return the name of the instruction of a result, up to its shape.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> mma = parse_layout("#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
        ...     "warpsPerCTA = [1, 1], instrShape = [16, 8]}>")
        >>> instruction_title(Operand(mma, (16, 8), "f32"), 16)
        'mma.sync.m16n8k16'
    """
    parent = d.encoding
    if isinstance(parent, NvidiaMma):
        if parent.version_major == 3:
            m, n = parent.instr_shape[:2]
            return f"wgmma.mma_async.m{4 * m}n{n}k{k}"
        m, n = parent.instr_shape[-2:] or (16, 8)
        return f"mma.sync.m{m}n{n}k{k}"
    if isinstance(parent, (AmdMfma, AmdWmma)):
        m, n = parent.instr_shape[:2]
        name = "v_mfma" if isinstance(parent, AmdMfma) else "v_wmma"
        return f"{name}_{d.element}_{m}x{n}x{k}"
    if isinstance(parent, Dpas):
        return (
            f"dpas.{parent.systolic_depth}x{parent.repeat_count}, {parent.execution_size} columns"
        )
    return "tcgen05.mma"


def _operand(parent: Encoding, index: int, width: int) -> DotOperand:
    operand = DotOperand(op_idx=index, parent=parent, k_width=width)
    operand.check_layout()
    return operand


def _depth(parent: Encoding, bits: int) -> tuple[int, int]:
    """Return K of an instruction, and its contiguous part in a lane; 0 for none."""
    if isinstance(parent, NvidiaMma) and parent.version_major == 2:
        return K_BITS // bits, max(1, REGISTER_BITS // bits)
    if isinstance(parent, NvidiaMma) and parent.version_major == 3:
        return parent.instr_shape[2], max(1, REGISTER_BITS // bits)
    if isinstance(parent, TensorMemory):
        return K_BITS // bits, 0
    if isinstance(parent, AmdMfma) and len(parent.instr_shape) > 2:
        k = parent.instr_shape[2]
        return k, min(k // k_blocks(parent), WIDEST_BITS // bits)
    if isinstance(parent, AmdWmma):
        return parent.instr_shape[2], _wmma_width(parent, bits)
    if isinstance(parent, Dpas):
        return parent.k_size, parent.ops_per_channel
    if isinstance(parent, NvidiaMma) and parent.version_major == 1:
        raise LayoutError("the operands of Volta's mma have no linear layout")
    what = f"#{parent.name} does not determine the K of a matrix instruction"
    raise LayoutError(
        f"{what}; give nvidia_mma, amd_mfma with three sizes, amd_wmma, dpas or a dot_op"
    )


def _wmma_width(parent: AmdWmma, bits: int) -> int:
    """Return the contiguous elements of a row in a lane; in version 3 as the compiler does."""
    m, _, k = parent.instr_shape
    if parent.version == 1:
        return k
    if parent.version == 3:
        return min(k // 2, SCALED_WIDTH if m == 32 else UNSCALED_WIDTH)
    return min(k // 2, WIDEST_BITS // bits)
