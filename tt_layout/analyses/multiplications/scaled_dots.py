"""Instructions of ``tt.dot_scaled``: one scale per block of K of A and B, in registers.

Source:
    PTX ISA, "mma.sync with block scaling"; AMD matrix cores of gfx950 and gfx1250; the assembly
    of Triton 3.9.0.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from tt_layout.analyses.multiplications.matrix_instructions import (
    FP4,
    MATRIX_LANES,
    WAVE_32,
    MatrixInstruction,
    Operand,
)
from tt_layout.encodings.amd_mfma import AmdMfma
from tt_layout.encodings.amd_wmma import AmdWmma
from tt_layout.encodings.cga import shape_per_cta
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.errors import LayoutError


class Scaling(NamedTuple):
    """Formats of a block-scaled multiplication.

    Attributes:
        formats: of the elements of A and B, such as ``e4m3`` and ``e2m1``.
        scale: the element type of the scales; None where there are none.
        block: elements along K that share a scale.
    """

    formats: tuple[str, str]
    scale: str | None = None
    block: int = 32


def scaled_dot(d: Operand, scaling: Scaling, depth: int) -> MatrixInstruction:
    """Return the instructions of a multiplication with scales in registers.

    Args:
        d: the result.
        scaling: what is multiplied.
        depth: elements along K.

    Raises:
        LayoutError: there is no such instruction.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> mfma = parse_layout("#ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 2], "
        ...     "instrShape = [16, 16, 128], isTransposed = true}>")
        >>> found = scaled_dot(Operand(mfma, (32, 32), "f32"),
        ...     Scaling(("e4m3", "e2m1"), "i8"), 256)
        >>> found.name, found.instructions
        ('v_mfma_scale_f32_16x16x128_f8f6f4', 4)
    """
    layout = d.encoding
    if isinstance(layout, NvidiaMma) and layout.version_major == 2 and scaling.scale is not None:
        return _mma_sync(d, layout, scaling, depth)
    if isinstance(layout, AmdMfma) and layout.version == 4 and len(layout.instr_shape) > 2:
        return _amd(d, layout.instr_shape, scaling, depth, "mfma", MATRIX_LANES)
    if isinstance(layout, AmdWmma) and layout.version == 3:
        return _amd(d, layout.instr_shape, scaling, depth, "wmma", WAVE_32)
    raise LayoutError(f"no instruction of #{layout.name} multiplies with scales")


def _amd(
    d: Operand, shape: tuple[int, ...], scaling: Scaling, depth: int, kind: str, lanes: int
) -> MatrixInstruction:
    m, n, k = shape
    width = "" if scaling.block == 32 else str(scaling.block)
    scaled = "" if scaling.scale is None else f"_scale{width}"
    operands = "f8f6f4" if m == n else "f4"
    registers = d.encoding.to_linear_layout(d.shape).get_in_dim_size("register")
    tiles = max(1, registers * lanes // (m * n))
    return MatrixInstruction(
        name=f"v_{kind}{scaled}_f32_{m}x{n}x{k}_{operands}",
        shape=(m, n, k),
        instructions=tiles * max(1, depth // k),
        issuer="warp",
    )


def _mma_sync(d: Operand, mma: NvidiaMma, scaling: Scaling, depth: int) -> MatrixInstruction:
    is_fp4 = scaling.formats == (FP4, FP4)
    m, n, k = 16, 8, 64 if is_fp4 else 32
    kind = f"mxf4nvf4.block_scale.scale_vec::{k // scaling.block}X"
    kind = kind if is_fp4 else "mxf8f6f4.block_scale.scale_vec::1X"
    scale = "ue4m3" if scaling.scale == "f8E4M3FN" else "ue8m0"
    types = ".".join(("f32", *scaling.formats, "f32", scale))
    sides = zip(shape_per_cta(mma.cga, d.shape)[-2:], (m, n), mma.warps_per_cta[-2:])
    counts = [max(1, size // (step * warps)) for size, step, warps in sides]
    return MatrixInstruction(
        name=f"mma.sync.aligned.m{m}n{n}k{k}.row.col.kind::{kind}.{types}",
        shape=(m, n, k),
        instructions=prod(counts) * max(1, depth // k),
        issuer="warp",
    )
