"""A layout of every kind, small enough to be seen whole."""

from __future__ import annotations

from typing import Any

from tt_layout.encodings.parsing import parse_layout
from tt_layout.mlir.types import parse_type
from tt_layout.page import PageLayout
from tt_layout.placement import place

_PARENT = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], "
    "order = [1, 0]}>"
)
_MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
    "instrShape = [16, 8]}>"
)

KINDS = {
    "blocked": (
        "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], "
        "order = [1, 0]}>",
        "tensor<16x16xf16>",
    ),
    "clusters": (
        "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], "
        "order = [1, 0], CGALayout = [[1, 0], [0, 1]]}>",
        "tensor<16x16xf16>",
    ),
    "linear": (
        "#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], "
        "[2, 0]], warp = [[4, 0], [0, 0]], block = []}>",
        "tensor<16x16xf16>",
    ),
    "generic_linear": (
        "#ttg.generic_linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], "
        "[4, 0]], warp = [[0, 8], [8, 8]], block = []}>",
        "tensor<16x16xf16>",
    ),
    "slice": (f"#ttg.slice<{{dim = 1, parent = {_PARENT}}}>", "tensor<64xf32>"),
    "nvidia_mma_v1": (
        "#ttg.nvidia_mma<{versionMajor = 1, versionMinor = 1, warpsPerCTA = [2, 1], "
        "instrShape = [16, 16]}>",
        "tensor<32x16xf32>",
    ),
    "nvidia_mma_v2": (_MMA, "tensor<64x64xf32>"),
    "nvidia_mma_v3": (
        "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
        "instrShape = [16, 64, 16]}>",
        "tensor<64x64xf32>",
    ),
    "amd_mfma": (
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], "
        "isTransposed = true}>",
        "tensor<32x32xf32>",
    ),
    "amd_wmma": (
        "#ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>",
        "tensor<32x32xf32>",
    ),
    "dot_op": (f"#ttg.dot_op<{{opIdx = 0, parent = {_MMA}, kWidth = 2}}>", "tensor<32x32xf16>"),
    "swizzled_shared": (
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
        "!ttg.memdesc<64x64xf16>",
    ),
    "padded_shared": (
        "#ttg.padded_shared<[128:+8] {order = [1, 0], shape = [16, 128]}>",
        "!ttg.memdesc<16x128xf16>",
    ),
    "nvmma_shared": (
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>",
        "!ttg.memdesc<32x64xf16>",
    ),
    "amd_rotating_shared": (
        "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
        "!ttg.memdesc<32x32xf32>",
    ),
    "shared_linear": (
        "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [1, 1], [2, 2], [4, 4]]}, "
        "alignment = 16>",
        "!ttg.memdesc<8x8xf16>",
    ),
    "partitioned_shared": (
        "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, "
        "partitionLayout = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
        "order = [1, 0]}>}>",
        "!ttg.memdesc<16x16xf16>",
    ),
    "tensor_memory": (
        "#ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 2>",
        "!ttg.memdesc<128x32xf16>",
    ),
    "tensor_memory_scales": ("#ttng.tensor_memory_scales_encoding<>", "!ttg.memdesc<128x8xi8>"),
    "rank3": (
        "#ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [2, 4, 4], "
        "warpsPerCTA = [1, 2, 2], order = [2, 0, 1]}>",
        "tensor<8x4x8xf16>",
    ),
    "fp4_padded": (
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, "
        "fp4Padded = true}>",
        "!ttg.memdesc<8x64xi8>",
    ),
    "doubles": (
        "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>",
        "!ttg.memdesc<16x16xf64>",
    ),
}


def laid(
    attribute: str, type_text: str, name: str = "it", release: str | None = None, **more: Any
) -> PageLayout:
    """Return an attribute over a type as the page shows it."""
    placed = place(parse_layout(attribute, release=release), parse_type(type_text))
    return PageLayout(placed, name, **more)


def kind(name: str, **more: Any) -> PageLayout:
    """Return the layout of a kind."""
    return laid(*KINDS[name], name=name, **more)
