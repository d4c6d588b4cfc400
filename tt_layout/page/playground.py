"""The playground: a page in which layouts are typed in any notation."""

from __future__ import annotations

from typing import Any

from tt_layout.page import filled, known_data
from tt_layout.tuples import NamedTuple

TITLE = "tt-layout playground"


class Example(NamedTuple):
    """Texts for the boxes of the playground.

    Attributes:
        group: heading under which it is listed.
        name: name of its button.
        layout: the layout in any notation.
        type: the type of the tensor, such as ``16x16xf16``.
        other: the layout that it is compared with; empty for none.
        view: ``mma`` for the multiplication whose result it is, ``tile`` for one instruction;
            empty for the layout.
    """

    group: str
    name: str
    layout: str
    type: str
    other: str = ""
    view: str = ""


_BLOCKED = (
    "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], "
    "order = [1, 0]}>"
)
_ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], "
    "order = [1, 0]}>"
)
_SWAPPED = (
    "#ttg.linear<{register = [[0, 1]], lane = [[0, 4], [0, 2], [1, 0], [2, 0], [4, 0]], "
    "warp = [[0, 8], [8, 0]], block = []}>"
)
_MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
    "instrShape = [16, 8]}>"
)
_DPAS = (
    "#ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, "
    "threadsPerWarp = 16, warpsPerCTA = [2, 2], repCluster = [1, 2]}>"
)
_BLOCK_LOAD = (
    "#ttig.subgroup_2d_block<{warpsPerCTA = [2, 2], instrShape = [8, 16], numBlocks=2, "
    "order=[1, 0], kWidth=2, threadsPerWarp=16}>"
)
_OPERAND = f"#ttg.dot_op<{{opIdx = 0, parent = {_MMA}, kWidth = 2}}>"
_SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
_PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"

REGISTERS = (
    Example("Registers", "blocked", _BLOCKED, "16x16xf16"),
    Example(
        "Registers",
        "blocked, with copies",
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
        "order = [1, 0]}>",
        "16x16xf16",
    ),
    Example("Registers", "linear", _SWAPPED, "16x16xf16"),
    Example(
        "Registers",
        "generic_linear",
        "#ttg.generic_linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], "
        "[4, 0]], warp = [[0, 8], [8, 8]], block = []}>",
        "16x16xf16",
    ),
    Example("Registers", "slice", f"#ttg.slice<{{dim = 1, parent = {_ROWS}}}>", "16xf32"),
    Example("Registers", "nvidia_mma", _MMA, "32x32xf32", view="tile"),
    Example(
        "Registers",
        "wgmma",
        "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
        "instrShape = [16, 64, 16]}>",
        "64x64xf32",
    ),
    Example("Registers", "dot_op", _OPERAND, "32x32xf16"),
    Example(
        "Registers",
        "amd_mfma",
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], "
        "isTransposed = true}>",
        "32x32xf32",
    ),
    Example(
        "Registers",
        "amd_wmma",
        "#ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>",
        "32x32xf32",
    ),
    Example("Registers", "dpas", _DPAS, "16x64xf32"),
    Example("Registers", "2D block load", _BLOCK_LOAD, "16x32xf16"),
)
MEMORY = (
    Example("Shared memory", "swizzled_shared", _SWIZZLED, "16x64xf16"),
    Example(
        "Shared memory",
        "amd_rotating_shared",
        "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
        "32x32xf32",
    ),
    Example(
        "Shared memory",
        "padded_shared",
        "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [16, 64]}>",
        "16x64xf16",
    ),
    Example(
        "Shared memory",
        "nvmma_shared",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>",
        "16x64xf16",
    ),
    Example(
        "Shared memory",
        "shared_linear",
        "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [1, 1], [2, 2], [4, 4]]}, "
        "alignment = 16>",
        "8x8xf16",
    ),
    Example(
        "Shared memory",
        "partitioned_shared",
        "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, "
        f"partitionLayout = {_PLAIN}}}>",
        "16x16xf16",
    ),
    Example(
        "Tensor memory",
        "tensor_memory",
        "#ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>",
        "128x32xf32",
    ),
    Example("Tensor memory", "scales", "#ttng.tensor_memory_scales_encoding<>", "128x8xi8"),
)
NOTATIONS = (
    Example("Notations", "Gluon", "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])", "16x32xf16"),
    Example(
        "Notations",
        "Gluon, nested",
        "gl.DotOperandLayout(operand_index=1, parent=gl.NVMMADistributedLayout(version=[2, 0], "
        "warps_per_cta=[2, 2], instr_shape=[16, 8]), k_width=2)",
        "32x32xf16",
    ),
    Example("Notations", "CuTe swizzle", "Swizzle<3,3,3> o (16,64):(64,1)", "16x64xf16"),
    Example("Notations", "CuTe thread-value", "((4,8),(2,2)):((32,1),(16,8))", "16x8xf32"),
    Example("Notations", "TLX", "tlx.swizzled_layout(3, 3, 3, order=[1, 0])", "16x64xf16"),
    Example(
        "Notations",
        "LinearLayout",
        " - register=1 -> (0, 1)\n - lane=1 -> (0, 2)\n   lane=2 -> (0, 4)\n   lane=4 -> (1, 0)\n"
        "   lane=8 -> (2, 0)\n   lane=16 -> (4, 0)\n - warp=1 -> (0, 8)\n   warp=2 -> (8, 0)\n"
        " - block is a size 1 dimension\n"
        "where out dims are: [dim0 (size 16), dim1 (size 16)]",
        "16x16xf16",
    ),
    Example("Notations", "bases", '{"offset": [[0, 1], [0, 2], [1, 1], [2, 2]]}', "4x4xf32"),
)
PAIRS = (
    Example(
        "Compared",
        "an accumulator through a swizzle",
        "gl.SwizzledSharedLayout(8, 1, 8, [1, 0])",
        "16x64xf16",
        "gl.NVMMADistributedLayout([2, 0], [1, 4], [16, 8])",
    ),
    Example(
        "Compared",
        "a bank conflict",
        "gl.BlockedLayout([1, 1], [32, 1], [1, 1], [0, 1])",
        "32x32xf32",
        "(32,32):(32,1)",
    ),
    Example(
        "Compared",
        "padding against it",
        "gl.BlockedLayout([1, 1], [32, 1], [1, 1], [0, 1])",
        "32x32xf32",
        "(32,32):(33,1)",
    ),
    Example("Compared", "lane bits swapped", _ROWS, "16x16xf16", _SWAPPED),
    Example("Compared", "ldmatrix of an operand", _OPERAND, "32x64xf16", _SWIZZLED),
    Example("Compared", "ldmatrix without a swizzle", _OPERAND, "32x64xf16", _PLAIN),
)
INSTRUCTIONS = tuple(
    Example("Instructions", name, layout, type_text, view="mma")
    for name, layout, type_text in (
        ("mma.sync", "gl.NVMMADistributedLayout([2, 0], [1, 1], [16, 8])", "16x8xf32"),
        ("wgmma.mma_async", "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 8, 16])", "64x8xf32"),
        ("v_mfma", "gl.amd.AMDMFMALayout(3, [16, 16, 16], True, [1, 1])", "16x16xf32"),
        ("v_wmma", "gl.amd.AMDWMMALayout(1, False, [])", "16x16xf32"),
    )
)
EXAMPLES = (*REGISTERS, *MEMORY, *PAIRS, *INSTRUCTIONS, *NOTATIONS)
"""All of them; the playground starts with the first."""


def playground() -> str:
    """Return the page in which layouts are typed and compared, as the text of one HTML file."""
    examples = {"examples": [example._asdict() for example in EXAMPLES]}
    data: dict[str, Any] = {"layouts": [], "dump": None, "isPair": False, "playground": examples}
    return filled(data | known_data(None), TITLE)
