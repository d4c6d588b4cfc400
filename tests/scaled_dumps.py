"""Dumps with one multiplication with scales each, of every place that scales are in."""

from __future__ import annotations

LINE = 7
"""Where the multiplication stands."""

_LINEAR = "#ttg.linear<{{register = {}, lane = {}, warp = [], block = []}}>"
_ROWS = "[1, 0], [2, 0], [4, 0], [8, 0]"
_MFMA = (
    "#ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16, 128], "
    "isTransposed = true}>"
)
_WMMA = (
    "#ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {warp = []}, "
    "instrShape = [16, 16, 128]}>"
)
MFMA_SCALES = _LINEAR.format("[[0, 4], [16, 0]]", f"[{_ROWS}, [0, 1], [0, 2]]")
"""As Triton 3.9.0 lays out 32x8 scales of either operand of that instruction."""
_WMMA_SCALES = _LINEAR.format("[[0, 1], [0, 2], [0, 4]]", f"[{_ROWS}, [0, 0]]")
"""16x8 scales, a block for each 16 of K."""


def _in_registers(
    mma: str, scales: str, lanes: int, a: str, b: str, scale: str, d: str, formats: str
) -> str:
    types = f"tensor<{a}, #a>, tensor<{scale}, #s> * tensor<{b}, #b>, tensor<{scale}, #s>"
    return f"""\
#mma = {mma}
#a = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 16}}>
#b = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 16}}>
#s = {scales}
module attributes {{"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = {lanes} : i32}} {{
  tt.func @f(%a: tensor<{a}, #a>, %b: tensor<{b}, #b>, %d: tensor<{d}, #mma>, \
%s: tensor<{scale}, #s>, %e: tensor<{scale}, #s>) {{
    %0 = tt.dot_scaled %a scale %s, %b scale %e, %d {formats} {{fastMath = false}} : {types} \
-> tensor<{d}, #mma>
    tt.return
  }}
}}
"""


TCGEN05 = """\
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#d = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
#s = #ttng.tensor_memory_scales_encoding<>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%a: !ttg.memdesc<64x128xf8E4M3FN, #a, #ttg.shared_memory>, \
%b: !ttg.memdesc<128x64xf8E4M3FN, #b, #ttg.shared_memory>, \
%d: !ttg.memdesc<64x64xf32, #d, #ttng.tensor_memory, mutable>, \
%s: !ttg.memdesc<64x4xi8, #s, #ttng.tensor_memory>, \
%e: !ttg.memdesc<64x4xi8, #s, #ttng.tensor_memory>, %t: i1) {
    ttng.tc_gen5_mma_scaled %a, %b, %d, %s, %e, %t, %t lhs = e4m3 rhs = e4m3 : \
!ttg.memdesc<64x128xf8E4M3FN, #a, #ttg.shared_memory>, \
!ttg.memdesc<128x64xf8E4M3FN, #b, #ttg.shared_memory>, \
!ttg.memdesc<64x64xf32, #d, #ttng.tensor_memory, mutable>, \
!ttg.memdesc<64x4xi8, #s, #ttng.tensor_memory>, !ttg.memdesc<64x4xi8, #s, #ttng.tensor_memory>
    tt.return
  }
}
"""

DUMPS = {
    "mfma": _in_registers(
        _MFMA,
        MFMA_SCALES,
        64,
        *("32x256xf8E4M3FN", "128x32xi8", "32x8xi8", "32x32xf32"),
        "lhs = e4m3 rhs = e2m1",
    ),
    "wmma": _in_registers(
        _WMMA,
        _WMMA_SCALES,
        32,
        *("16x64xi8", "64x16xi8", "16x8xi8", "16x16xf32"),
        "lhs = e2m1 rhs = e2m1",
    ),
    "tcgen05": TCGEN05,
}
