"""Make the gallery: ``python docs/gallery/make.py [FOLDER]``, by default into its own folder.

Each figure is what ``tt-layout plot`` writes for the arguments below; ``docs/plot.md`` and
``docs/learn.md`` show them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tt_layout.cli.main import main

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], "
    "warpsPerCTA = [1, 2], order = [1, 0]}>"
)
ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
SPREAD = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
LONG = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], "
    "warpsPerCTA = [1, 1], order = [1, 0]}>"
)
SQUARE = (
    "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [1, 1], order = [1, 0]}>"
)
COLUMNS = (
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], "
    "warpsPerCTA = [1, 4], order = [0, 1]}>"
)
MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
    "instrShape = [16, 8]}>"
)
WGMMA = (
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
    "instrShape = [16, 64, 16]}>"
)
MFMA = (
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], "
    "isTransposed = false}>"
)
MMA_ONE = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], "
    "instrShape = [16, 8]}>"
)
WGMMA_ONE = (
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
    "instrShape = [16, 8, 16]}>"
)
TMEM = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 8, colStride = 1>"
TMEM_ROWS = (
    "#ttg.linear<{register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], "
    "[16, 0]], warp = [[32, 0], [64, 0]], block = []}>"
)
MFMA_16 = (
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], "
    "isTransposed = false}>"
)
WMMA = (
    "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = []}, "
    "instrShape = [16, 16, 16]}>"
)
NVMMA = "#ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = false, elementBitWidth = 16}}>"
PHASED_4 = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
OPERAND = f"#ttg.dot_op<{{opIdx = 0, parent = {MMA}, kWidth = 2}}>"
SWIZZLE = "#ttg.swizzled_shared<{{vec = 8, perPhase = {}, maxPhase = {}, order = [1, 0]}}>"
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
SWIZZLED_4 = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
PHASED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 32, order = [1, 0]}>"
PADDED = "#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [16, 64]}>"
PADDED_ROWS = "#ttg.padded_shared<[32:+1] {order = [1, 0], shape = [16, 32]}>"
MFMA_OPERAND = f"#ttg.dot_op<{{opIdx = 0, parent = {MFMA_16}, kWidth = 4}}>"
SCALES = "#ttng.tensor_memory_scales_encoding<>"
SLICE = f"#ttg.slice<{{dim = 1, parent = {BLOCKED}}}>"

DPAS = (
    "#ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, "
    "threadsPerWarp = 16, warpsPerCTA = [1, 1], repCluster = [1, 1], A = [8, 16], B = [16, 16], "
    "C = [8, 16]}>"
)
BLOCK_LOAD = (
    "#ttig.subgroup_2d_block<{warpsPerCTA = [1, 1], instrShape = [8, 16], numBlocks = 1, "
    "order = [1, 0], kWidth = 2, threadsPerWarp = 16}>"
)

# A load of examples/workloads/int8_matmul-gfx942.ttgir, line 74.
LOADED = (
    "#ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], "
    "[4, 0], [8, 0], [16, 0], [0, 8]], warp = [[32, 0], [0, 0]], block = []}>"
)
BETTER = "#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 8, order = [1, 0]}>"
OF_LOAD = (
    "-t", "tensor<64x64xi8>", "--view", "cycles", "--target", "gfx942", "--lane", "0:16",
)  # fmt: skip

FIGURES: dict[str, tuple[str, ...]] = {
    "blocked-tensor": (BLOCKED, "-t", "tensor<16x16xf16>"),
    "blocked-hardware": (
        BLOCKED, "-t", "tensor<16x16xf16>", "--view", "hardware", "--color-by", "row",
    ),
    "blocked-matrix": (BLOCKED, "-t", "tensor<16x16xf16>", "--view", "matrix"),
    "mma-v2": (MMA_ONE, "-t", "tensor<16x8xf32>", "--view", "mma"),
    "mma-v3": (WGMMA_ONE, "-t", "tensor<64x8xf32>", "--view", "mma"),
    "mma-v5": (TMEM, "-t", "!ttg.memdesc<128x8xf32>", "--view", "mma"),
    "mfma-16": (MFMA_16, "-t", "tensor<16x16xf32>", "--view", "mma"),
    "mfma-32": (MFMA, "-t", "tensor<32x32xf32>", "--view", "mma"),
    "wmma": (WMMA, "-t", "tensor<16x16xf32>", "--view", "mma"),
    "dpas": (DPAS, "-t", "tensor<8x16xf32>", "--view", "mma"),
    "block-load": (BLOCK_LOAD, "-t", "tensor<8x16xf16>"),
    "mma-tensor": (MMA, "-t", "tensor<32x16xf16>", "--color-by", "warp"),
    "mma-lanes": (MMA, "-t", "tensor<16x8xf16>", "--color-by", "lane"),
    "operand": (OPERAND, "-t", "tensor<32x16xf16>", "--color-by", "register"),
    "mfma-tensor": (MFMA, "-t", "tensor<32x32xf32>", "--color-by", "register"),
    "slice": (SLICE, "-t", "tensor<16xf16>"),
    "part": (WGMMA, "-t", "tensor<8192x8192xf32>", "--slice", "4104:4120,508:516"),
    "compare": (LONG, SQUARE, "-t", "tensor<8x16xf16>", "--color-by", "lane"),
    "swizzled-offsets": (SWIZZLED_4, "-t", "!ttg.memdesc<8x32xf32>"),
    "swizzled-banks": (SWIZZLED_4, "-t", "!ttg.memdesc<8x32xf32>", "--view", "banks"),
    "swizzled-matrix": (SWIZZLED, "-t", "!ttg.memdesc<8x64xf16>", "--view", "matrix"),
    "padded-banks": (PADDED_ROWS, "-t", "!ttg.memdesc<16x32xf32>", "--view", "banks"),
    "conflicts": (PLAIN, COLUMNS, "-t", "!ttg.memdesc<32x32xf32>", "--view", "banks"),
    "no-conflicts": (PHASED, COLUMNS, "-t", "!ttg.memdesc<32x32xf32>", "--view", "banks"),
    "found-idle": (LOADED, PLAIN, *OF_LOAD),
    "found-busy": (LOADED, BETTER, *OF_LOAD),
    "cycles": (PHASED_4, COLUMNS, "-t", "!ttg.memdesc<32x32xf32>", "--view", "cycles"),
    "swizzle": (NVMMA.format(128), "-t", "!ttg.memdesc<16x64xf16>", "--view", "swizzle"),
    "sectors": (SPREAD, "-t", "tensor<64x64xf32>", "--view", "sectors"),
    "reduce": (ROWS, "-t", "tensor<16x64xf32>", "--view", "reduce", "--axis", "1"),
    "ldmatrix": (SWIZZLED, OPERAND, "-t", "!ttg.memdesc<16x64xf16>", "--view", "copy"),
    "padded-copy": (
        PADDED, MFMA_OPERAND, "-t", "!ttg.memdesc<16x64xf16>", "--view", "copy",
        "--target", "gfx942",
    ),
    "tcgen05-ld": (TMEM_ROWS, TMEM, "-t", "!ttg.memdesc<128x8xf32>"),
    "swizzle-32": (NVMMA.format(32), "-t", "!ttg.memdesc<16x16xf16>"),
    "swizzle-64": (NVMMA.format(64), "-t", "!ttg.memdesc<16x32xf16>"),
    "swizzle-128": (NVMMA.format(128).replace("16}", "32}"), "-t", "!ttg.memdesc<16x32xf32>"),
    "phases-32": (SWIZZLE.format(4, 2), "-t", "!ttg.memdesc<16x16xf16>", "--view", "swizzle"),
    "phases-64": (SWIZZLE.format(2, 4), "-t", "!ttg.memdesc<16x32xf16>", "--view", "swizzle"),
    "phases-128": (SWIZZLE.format(1, 8), "-t", "!ttg.memdesc<16x64xf16>", "--view", "swizzle"),
    "tensor-memory": (TMEM, "-t", "!ttg.memdesc<128x8xf32>", "--view", "hardware"),
    "scales": (SCALES, "-t", "!ttg.memdesc<64x8xi8>", "--view", "hardware", "--color-by", "row"),
    "wgmma-overview": (WGMMA, "-t", "tensor<256x256xf32>", "--color-by", "warp"),
    "blocked-overview": (ROWS, "-t", "tensor<1024x1024xf16>"),
}  # fmt: skip


def _blocked(
    size: str = "[1, 2]", threads: str = "[8, 4]", warps: str = "[2, 1]", order: str = "[1, 0]"
) -> str:
    """Return the layout of ``docs/learn.md``, or one that differs from it in one parameter."""
    return (
        f"#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {threads}, "
        f"warpsPerCTA = {warps}, order = {order}}}>"
    )


_TILE, _LANES = ("-t", "tensor<16x16xf16>"), ("--color-by", "lane")
_ROWS_OF_64 = ("-t", "!ttg.memdesc<8x64xf16>", "--view", "swizzle")


def _stored(vec: int = 8, per_phase: int = 1, max_phase: int = 8) -> str:
    """Return the swizzle of ``docs/learn.md``, or one that differs from it."""
    values = f"vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, order = [1, 0]"
    return f"#ttg.swizzled_shared<{{{values}}}>"


FIGURES |= {
    "learn-blocked": (_blocked(), *_TILE, *_LANES),
    "learn-size": (_blocked(size="[1, 4]"), *_TILE, *_LANES),
    "learn-threads": (_blocked(threads="[4, 8]"), *_TILE, *_LANES),
    "learn-warps": (_blocked(warps="[1, 2]"), *_TILE, "--color-by", "warp"),
    "learn-order": (_blocked(order="[0, 1]"), *_TILE, *_LANES),
    "learn-registers": (_blocked(), *_TILE, "--color-by", "register"),
    "learn-copies": (_blocked(), "-t", "tensor<8x8xf16>", *_LANES),
    "learn-slice": (
        f"#ttg.slice<{{dim = 1, parent = {_blocked()}}}>", "-t", "tensor<16xf16>", *_LANES,
    ),
    "learn-operand": (
        f"#ttg.dot_op<{{opIdx = 0, parent = {MMA_ONE}, kWidth = 2}}>", *_TILE, *_LANES,
    ),
    "learn-phases": (_stored(), *_ROWS_OF_64),
    "learn-vec": (_stored(vec=16, max_phase=4), *_ROWS_OF_64),
    "learn-per-phase": (_stored(per_phase=2, max_phase=4), *_ROWS_OF_64),
    "learn-max-phase": (_stored(max_phase=2), *_ROWS_OF_64),
    "learn-bits": (_blocked(), *_TILE, "--view", "matrix"),
}  # fmt: skip


def make(folder: Path, ending: str = ".svg") -> list[Path]:
    """Write every figure into a folder and return the files."""
    made = []
    for name, arguments in FIGURES.items():
        path = folder / f"{name}{ending}"
        try:
            main(["plot", *arguments, "-o", str(path)])
        except SystemExit as ended:
            if ended.code:
                raise
        made.append(path)
    return made


if __name__ == "__main__":
    make(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent)
