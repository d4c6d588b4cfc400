"""Instructions of a matrix multiplication, their number, and the descriptors of their operands.

Each kind of result layout has its own instruction: ``mma.sync`` of a warp (nvidia_mma of version
2), ``wgmma`` of four warps together (version 3), ``tcgen05.mma`` that one thread issues for its CTA
(tensor memory), ``v_mfma`` and ``v_wmma`` of AMD, ``dpas`` of Intel.  The result is distributed
over warps in tiles of the instruction; each warp, or group of warps, repeats it over its tiles and
along K.  Those of ``tt.dot_scaled`` have one scale per block of K of A and B, in registers.

``wgmma`` and ``tcgen05.mma`` take a matrix as tiles of 8 rows of 16 bytes times the swizzle, the
*core matrices*.  A descriptor contains their swizzle, and the distances between neighbours: the
*leading* offset along the rows of a core matrix, the *stride* offset across them.
A layout of shared memory can be read when it begins with a core matrix, in one of two directions,
and repeats it evenly over what one instruction takes.

Source:
    Triton, third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/DotOpToLLVM (MMAv2.cpp, WGMMA.cpp,
    MMAv5.cpp; MMAHelpers.h, getDescriptor), getNvmmaSmemAttrs, and
    third_party/amd/lib/TritonAMDGPUToLLVM/DotOpToLLVM (MFMA.cpp, WMMA.cpp).
    PTX ISA, "mma.sync with block scaling" and "matrix descriptor"; AMD matrix cores of gfx950 and
    gfx1250; the assembly of Triton 3.9.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import prod

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.encodings import Encoding
from tt_layout.encodings.amd_mfma import AmdMfma
from tt_layout.encodings.amd_wmma import AmdWmma
from tt_layout.encodings.cga import shape_per_cta
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.dpas import CHANNEL_BITS, Dpas
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.tensor_memory import TensorMemory
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import element_bits
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

PTX_TYPES = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "tf32",
    "i8": "s8",
    "f8E5M2": "e5m2",
    "f8E4M3FN": "e4m3",
    "f64": "f64",
}
"""Element of an operand -> how PTX spells it."""

PTX_RESULTS = {"f16": "f16", "f32": "f32", "i32": "s32", "f64": "f64"}
K_BITS = 256  # that one instruction of NVIDIA's takes of each row of A
KINDS = {"f16": "f16", "bf16": "f16", "f32": "tf32", "f8E5M2": "f8f6f4", "f8E4M3FN": "f8f6f4"}
"""Element of A -> the kind of ``tcgen05.mma``; integers are of kind ``i8``."""
FP4 = "e2m1"
AMD_RESULTS = {"f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64", "i32": "i32"}
MATRIX_LANES = 64  # of a wavefront, over which MFMA spreads a tile
WAVE_32 = 32
MIXED, MIXED_BASE = "f8f6f4", 32  # what a lane has along K of instructions for all these formats
XF32_BASE = 2  # the same of those that round f32 to tf32; of others of f32 it is 1


AMD_TYPES = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "f32",
    "f64": "f64",
    "i8": "i8",
    "f8E4M3FNUZ": "fp8",
    "f8E5M2FNUZ": "bf8",
    "f8E4M3FN": "fp8",
    "f8E5M2": "bf8",
}
"""Element of an operand -> how AMD's assembler spells it."""

SWIZZLES = (0, 32, 64, 128)
CORE_BYTES = 16  # of a row that is not swizzled

Strides = Mapping[int, tuple[int, ...]]
"""Dimension -> offsets of single bits of its coordinate, in elements."""


class Operand(NamedTuple):
    """A matrix of a multiplication.

    Attributes:
        encoding: its layout.
        shape: its sizes; for a part of a buffer, those of the part.
        element: its element type, such as ``f16``.
    """

    encoding: Encoding
    shape: tuple[int, ...]
    element: str

    @property
    def bits(self) -> int:
        """The width of an element.

        Raises:
            LayoutError: it is not known.
        """
        bits = element_bits(self.element)
        if bits is None:
            raise LayoutError(f"elements of type {self.element} are not multiplied")
        return bits

    @property
    def where(self) -> MemorySpace:
        """The memory space that the instructions read it from."""
        return self.encoding.memory_space


@dataclass(frozen=True, kw_only=True)
class MatrixInstruction:
    """The instructions of a multiplication of matrices.

    Attributes:
        name: its name in assembly.
        shape: M, N and K of one instruction.
        instructions: number of instructions per issuer.
        issuer: ``warp``, ``warp group`` or ``CTA``.
    """

    name: str
    shape: tuple[int, int, int]
    instructions: int
    issuer: str


@lru_cache(maxsize=1024)
def matrix_instruction(a: Operand, b: Operand, d: Operand, *, ctas: int = 1) -> MatrixInstruction:
    """Return the instructions of a multiplication.

    Args:
        a, b: the operands.
        d: the result.
        ctas: number of CTAs that work on one tile of tensor memory, 1 or 2.

    Raises:
        LayoutError: there is no instruction for such types, or none is known.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> mma = ("#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
        ...     "instrShape = [16, 8]}>")
        >>> a, b = (Operand(parse_layout("#ttg.dot_op<{opIdx = %d, parent = %s, kWidth = 2}>"
        ...     % (index, mma)), (64, 64), "f16") for index in (0, 1))
        >>> found = matrix_instruction(a, b, Operand(parse_layout(mma), (64, 64), "f32"))
        >>> found.instructions, found.name
        (32, 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32')
    """
    d.encoding.check_layout()
    if isinstance(d.encoding, TensorMemory):
        return _tensor_core_5(a, b, d, d.encoding, ctas)
    if isinstance(d.encoding, NvidiaMma) and d.encoding.version_major == 3:
        return _warp_group(a, b, d, d.encoding)
    if isinstance(d.encoding, NvidiaMma) and d.encoding.version_major == 2:
        return _warp(a, b, d, d.encoding)
    if isinstance(d.encoding, AmdMfma):
        return _mfma(a, b, d, d.encoding)
    if isinstance(d.encoding, AmdWmma):
        return _wmma(a, b, d, d.encoding)
    if isinstance(d.encoding, Dpas):
        return _dpas(a, b, d, d.encoding)
    raise LayoutError(f"#{d.encoding.name} is not the result of a matrix instruction")


def _sides(instr_shape: Sequence[int]) -> tuple[int, int, int]:
    """Return M, N and K of an instruction.

    Raises:
        LayoutError: one of them is 0.
    """
    m, n, k = instr_shape
    if 0 in instr_shape:
        raise LayoutError(f"no instruction has the shape {m}x{n}x{k}")
    return m, n, k


# -- NVIDIA ---------------------------------------------------------------------------------


def _types(a: Operand, b: Operand, d: Operand) -> tuple[str, str, str]:
    """Return the types of result and operands as PTX spells them."""
    types = PTX_RESULTS.get(d.element), PTX_TYPES.get(a.element), PTX_TYPES.get(b.element)
    if types[0] is None or types[1] is None or types[2] is None:
        raise LayoutError(f"no instruction multiplies {a.element} by {b.element} to {d.element}")
    return types[0], types[1], types[2]


def _repeats(shape: Sequence[int], tile: Sequence[int], warps: Sequence[int]) -> list[int]:
    """Count the tiles of a warp along each dimension, at least one."""
    return [max(1, size // (step * count)) for size, step, count in zip(shape, tile, warps)]


def _warp(a: Operand, b: Operand, d: Operand, mma: NvidiaMma) -> MatrixInstruction:
    """Return ``mma.sync``; on Turing two or four instructions instead of one."""
    result, left, right = _types(a, b, d)
    m, n, k = (8, 8, 4) if left == "f64" else (16, 8, K_BITS // a.bits)
    *batch, rows, columns = shape_per_cta(mma.cga, d.shape)
    *groups, row_warps, column_warps = mma.warps_per_cta
    counts = _repeats((rows, columns), (m, n), (row_warps, column_warps))
    counts += [max(1, a.shape[-1] // k), *_repeats(batch, [1] * len(batch), groups)]
    is_turing = mma.version_minor == 1
    if is_turing:
        m, n, k, times = (8, 8, 16, 4) if left == "s8" else (16, 8, 8, 2)
        counts.append(times)
    saturated = "satfinite." if result == "s32" else ""
    types = f"{result}.{left}.{right}.{result}"
    name = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{saturated}{types}"
    return MatrixInstruction(name=name, shape=(m, n, k), instructions=prod(counts), issuer="warp")


def _warp_group(a: Operand, b: Operand, d: Operand, mma: NvidiaMma) -> MatrixInstruction:
    """Return ``wgmma``, in which four warps hold 16 rows each."""
    result, left, right = _types(a, b, d)
    m, n, k = _sides(mma.instr_shape)
    rows, columns = shape_per_cta(mma.cga, d.shape)
    warps = mma.warps_per_cta
    counts = -(-rows // (m * warps[0])), -(-columns // (n * warps[1])), -(-a.shape[-1] // k)
    name = f"wgmma.mma_async.sync.aligned.m{4 * m}n{n}k{k}.{result}.{left}.{right}"
    return MatrixInstruction(
        name=name, shape=(4 * m, n, k), instructions=prod(counts), issuer="warp group"
    )


def _tensor_core_5(
    a: Operand, b: Operand, d: Operand, memory: TensorMemory, ctas: int
) -> MatrixInstruction:
    """Return ``tcgen05.mma``."""
    kind = "i8" if d.element == "i32" else KINDS.get(a.element)
    if kind is None:
        raise LayoutError(f"no instruction multiplies {a.element} by {b.element} to {d.element}")
    return tensor_core_5(d, memory, kind, K_BITS // a.bits, a.shape[-1], ctas)


def tensor_core_5(
    d: Operand, memory: TensorMemory, kind: str, k: int, depth: int, ctas: int
) -> MatrixInstruction:
    """Return ``tcgen05.mma`` of a kind.

    Args:
        d: the result.
        memory: its layout.
        kind: its kind in assembly.
        k: elements along K per instruction.
        depth: total elements along K.
        ctas: number of CTAs that work on one tile, 1 or 2.
    """
    rows, columns = shape_per_cta(memory.cga, d.shape)
    m, n = memory.block_m, min(memory.block_n, columns)
    counts = -(-rows // m), -(-columns // n), -(-depth // k)
    return MatrixInstruction(
        name=f"tcgen05.mma.cta_group::{ctas}.kind::{kind}",
        shape=(m, n, k),
        instructions=prod(counts),
        issuer="CTA",
    )


def scaled_matrix_instruction(
    d: Operand,
    memory: TensorMemory,
    *,
    formats: tuple[str, str],
    scale: str,
    scales_along_k: int,
    depth: int,
    ctas: int,
    is_transposed: bool,
) -> MatrixInstruction:
    """Return ``tcgen05.mma`` with scales for blocks of A and B.

    Args:
        d: the result.
        memory: its layout.
        formats: formats of the elements of A and B, such as ``e4m3`` and ``e2m1``.
        scale: the element type of the scales.
        scales_along_k: number of scales along K.
        depth: elements along K.
        ctas: number of CTAs that work on one tile, 1 or 2.
        is_transposed: whether A or B has M or N along the rows of its core matrices.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> memory = parse_layout("#ttng.tensor_memory_encoding<blockM = 128, blockN = 128, "
        ...     "colStride = 1>")
        >>> found = scaled_matrix_instruction(Operand(memory, (128, 128), "f32"), memory,
        ...     formats=("e4m3", "e4m3"), scale="i8", scales_along_k=4, depth=128, ctas=1,
        ...     is_transposed=False)
        >>> found.name, found.instructions
        ('tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32', 4)
    """
    is_fp4 = formats == (FP4, FP4)
    block = depth // scales_along_k
    if is_fp4 and (scale == "f8E4M3FN" or (scale == "i8" and block == 16)):
        kind = "mxf4nvf4"
    else:
        kind = "mxf4" if is_fp4 and not is_transposed else "mxf8f6f4"
    size = 16 if kind == "mxf4nvf4" and block == 16 else 32
    k = 32 if kind == "mxf8f6f4" else 64
    return tensor_core_5(d, memory, f"{kind}.block_scale.block{size}", k, depth, ctas)


# -- AMD ------------------------------------------------------------------------------------


def _amd_types(a: Operand, b: Operand, d: Operand, is_swapped: bool) -> tuple[str, str]:
    """Return the types of result and operands as the assembler spells them, both if they differ."""
    result = AMD_RESULTS.get(d.element)
    operands = [AMD_TYPES.get(operand.element) for operand in ((b, a) if is_swapped else (a, b))]
    if result is None or operands[0] is None or operands[1] is None:
        raise LayoutError(f"no instruction multiplies {a.element} by {b.element} to {d.element}")
    is_pair = operands[0] in ("fp8", "bf8")
    return result, f"{operands[0]}_{operands[1]}" if is_pair else operands[0]


def _tiles(d: Operand, tile_registers: int) -> int:
    """Count the tiles of the result in a warp."""
    registers = d.encoding.to_linear_layout(d.shape).get_in_dim_size("register")
    return max(1, registers // tile_registers)


def k_blocks(mma: AmdMfma) -> int:
    """Return the number of blocks over which lanes spread K of an instruction.

    Raises:
        LayoutError: the instruction has less of K.
    """
    m, n, k = _sides(mma.instr_shape)
    blocks = MATRIX_LANES // min(m, n)
    if k < blocks:
        raise LayoutError(f"lanes spread K over {blocks} blocks, but instrShape has only {k} of K")
    return blocks


def _mfma(a: Operand, b: Operand, d: Operand, mma: AmdMfma) -> MatrixInstruction:
    """Return ``v_mfma``."""
    if len(mma.instr_shape) < 3 or not isinstance(a.encoding, DotOperand):
        raise LayoutError("the layouts do not determine how much of K one instruction takes")
    m, n, k = _sides(mma.instr_shape)
    blocks = k_blocks(mma)
    width, base = a.encoding.k_width, k // blocks
    along_k = max(1, a.shape[-1] // (width * blocks)) * width // base
    result, operand = _amd_types(a, b, d, mma.is_transposed)
    operand = MIXED if base == MIXED_BASE else operand
    if operand == "f32" and base == XF32_BASE:
        operand = "xf32"
    if m != n:  # sixteen products of 4 x 4 side by side
        along_k, m, n, k = 16 * along_k, 4, 4, base
    parted = "_" if mma.version >= 3 else ""
    long = "_1k" if operand == "bf16" and mma.version == 2 else ""
    return MatrixInstruction(
        name=f"v_mfma_{result}_{m}x{n}x{k}{parted}{operand}{long}",
        shape=(m, n, k),
        instructions=_tiles(d, mma.instr_shape[0] * mma.instr_shape[1] // MATRIX_LANES) * along_k,
        issuer="warp",
    )


def _wmma(a: Operand, b: Operand, d: Operand, mma: AmdWmma) -> MatrixInstruction:
    """Return ``v_wmma``."""
    m, n, k = _sides(mma.instr_shape)
    result, operand = _amd_types(a, b, d, mma.is_transpose)
    operand = {"i8": "iu8"}.get(operand, operand)
    return MatrixInstruction(
        name=f"v_wmma_{result}_{m}x{n}x{k}_{operand}",
        shape=(m, n, k),
        instructions=_tiles(d, m * n // WAVE_32) * max(1, a.shape[-1] // k),
        issuer="warp",
    )


# -- Intel ----------------------------------------------------------------------------------


def _dpas(a: Operand, b: Operand, d: Operand, dpas: Dpas) -> MatrixInstruction:
    """Return ``dpas``, named by its systolic depth and repeat count.

    Raises:
        LayoutError: the elements of A and B have another width than the layout packs.
    """
    if a.bits * dpas.ops_per_channel != CHANNEL_BITS:
        packs = f"{dpas.ops_per_channel} elements into {CHANNEL_BITS} bits"
        raise LayoutError(f"the layout packs {packs}, but {a.element} has {a.bits} bits")
    m, n, k = dpas.repeat_count, dpas.execution_size, dpas.k_size
    lanes = dpas.threads_per_warp
    return MatrixInstruction(
        name=f"dpas.{dpas.systolic_depth}x{m}.{d.element}.{a.element}.{b.element}",
        shape=(m, n, k),
        instructions=_tiles(d, max(1, m * n // lanes)) * max(1, a.shape[-1] // k),
        issuer="warp",
    )


# -- multiplications with scales -------------------------------------------------------------------


class Scaling(NamedTuple):
    """Formats of a block-scaled multiplication.

    Attributes:
        formats: formats of the elements of A and B, such as ``e4m3`` and ``e2m1``.
        scale: the element type of the scales; None if there are none.
        block: elements along K that share a scale.
    """

    formats: tuple[str, str]
    scale: str | None = None
    block: int = 32


def scaled_dot(d: Operand, scaling: Scaling, depth: int) -> MatrixInstruction:
    """Return the instructions of a multiplication with scales in registers.

    Args:
        d: the result.
        scaling: the formats.
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


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """Descriptor of a matrix in shared memory.

    Attributes:
        swizzle_bytes: 0, 32, 64 or 128.
        leading_bytes: distance from one core matrix to the next along its rows; 0 if there is one.
        stride_bytes: the same across its rows.
        transposed: whether dimension 0 is along the rows of a core matrix.
    """

    swizzle_bytes: int
    leading_bytes: int
    stride_bytes: int
    transposed: bool


@lru_cache(maxsize=1024)
def matrix_descriptor(
    shared: LinearLayout, element_bits: int, tile: tuple[int, int], *, outer_dim: int
) -> Descriptor:
    """Return the descriptor of a matrix in shared memory.

    Args:
        shared: the layout of the matrix; for a part of a buffer, of the whole buffer.
        element_bits: width of an element.
        tile: rows and columns per instruction.
        outer_dim: the dimension along M or N: 0 for A, 1 for B.

    Raises:
        LayoutError: no descriptor expresses the layout, or the tile does not fit it.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> text = ("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
        ...     "elementBitWidth = 16}>")
        >>> shared = parse_layout(text).to_linear_layout([128, 64])
        >>> matrix_descriptor(shared, 16, (64, 16), outer_dim=0)
        Descriptor(swizzle_bytes=128, leading_bytes=0, stride_bytes=1024, transposed=False)
    """
    strides = _strides(shared)
    for dim in (0, 1):
        if tile[dim] > 1 << len(strides[dim]):
            sizes = " x ".join(str(1 << len(strides[d])) for d in (0, 1))
            raise LayoutError(
                f"one instruction takes {tile[0]} x {tile[1]} elements, but the buffer has {sizes}"
            )
    for swizzle, transposed, core in _cores(element_bits):
        if _begins_with(strides, core):
            return _descriptor(strides, core, element_bits, tile, outer_dim, (swizzle, transposed))
    raise LayoutError(
        "no descriptor expresses the layout: it must begin with 8 rows of 16, 32, 64 or 128 bytes, "
        "swizzled as nvmma_shared swizzles them"
    )


def _strides(shared: LinearLayout) -> Strides:
    """Return the offsets of single bits of both coordinates.

    Raises:
        LayoutError: the layout is not that of a matrix in the memory of one CTA.
    """
    if "offset" not in shared.get_in_dim_names() or shared.num_out_dims != 2:
        raise LayoutError("a descriptor is for a matrix in shared memory")
    inverse = shared.pseudoinvert()
    at = inverse.get_out_dim_names().index("offset")
    names = inverse.get_in_dim_names()
    return {d: tuple(vector[at] for vector in inverse.vectors(names[d])) for d in (0, 1)}


def _cores(element_bits: int) -> Iterator[tuple[int, bool, Strides]]:
    """Yield the core matrices as swizzle, transposition and offsets, in the order of trying."""
    for padded, swizzle, transposed in product((False, True), SWIZZLES, (False, True)):
        rows, columns = _core(swizzle, max(8, element_bits), padded)
        if element_bits == 4:
            rows, columns = tuple(2 * r for r in rows), (1, *(2 * c for c in columns))
        yield swizzle, transposed, {0: columns, 1: rows} if transposed else {0: rows, 1: columns}


def _core(swizzle: int, bits: int, padded: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the offsets of single bits of row and column of a core matrix.

    Args:
        swizzle: bytes of a row; 0 for 16 bytes without swizzle.
        bits: width of an element.
        padded: whether 8 of every 16 columns are empty, for packed fp4; tried for all widths.
    """
    width = 8 * max(CORE_BYTES, swizzle) // bits
    vector, phase_rows = 128 // bits, 128 // max(CORE_BYTES, swizzle)
    phases = max(1, swizzle // CORE_BYTES)
    offsets = [(0, 1 << bit) for bit in range(log2(width))]
    offsets += [(row, vector * (row // phase_rows % phases)) for row in (1, 2, 4)]
    if padded:
        offsets = [(row, column // 16 * 8 + column % 8) for row, column in offsets]
    layout = LinearLayout.from_bases([("offset", offsets)], ["dim0", "dim1"])
    inverse = layout.pseudoinvert()
    rows, columns = (tuple(v[0] for v in inverse.vectors(name)) for name in ("dim0", "dim1"))
    return rows, columns


def _begins_with(strides: Strides, core: Strides) -> bool:
    """Tell whether the first bits of both coordinates match a tile that no other bit enters."""
    mask = 0
    for offset in (*core[0], *core[1]):
        mask |= offset
    return all(
        strides[d][: len(core[d])] == core[d]
        and not any(o & mask for o in strides[d][len(core[d]) :])
        for d in (0, 1)
    )


def _descriptor(
    strides: Strides,
    core: Strides,
    bits: int,
    tile: tuple[int, int],
    outer_dim: int,
    mode: tuple[int, bool],
) -> Descriptor:
    swizzle, transposed = mode
    leading = 0 if transposed else 1
    if not swizzle and (outer_dim == 0) == transposed:
        leading = 1 - leading  # as the hardware has it without a swizzle
    grown = dict(core)
    for d in (0, 1):
        steps = range(log2(tile[d]) - len(core[d]))
        grown[d] = (*core[d], *(_next(strides, core, d, tile) << step for step in steps))
    if not _begins_with(strides, grown):
        raise LayoutError(
            "no descriptor expresses the layout: core matrices must follow each other evenly over "
            f"the {tile[0]} x {tile[1]} elements of one instruction"
        )
    return Descriptor(
        swizzle_bytes=swizzle,
        leading_bytes=_next(strides, core, leading, tile) * bits // 8,
        stride_bytes=_next(strides, core, 1 - leading, tile) * bits // 8,
        transposed=transposed,
    )


def _next(strides: Strides, core: Strides, dim: int, tile: tuple[int, int]) -> int:
    """Return the offset of the next core matrix along a dimension; 0 without one."""
    bits = len(core[dim])
    return strides[dim][bits] if log2(tile[dim]) > bits else 0
