"""Products of which constants throw elements away."""

from __future__ import annotations

import pytest

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module

KERNEL = """
#mma = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {warp = [[1, 0], [2, 0]]},
                      instrShape = [16, 16, 32]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>
#rows = #ttg.slice<{dim = 1, parent = #mma}>
#columns = #ttg.slice<{dim = 0, parent = #mma}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                   ttg.target = "TARGET", "ttg.threads-per-warp" = 32 : i32} {
tt.func public @f(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>,
                  %p: tensor<64x64x!tt.ptr<f32>, #mma>, %any: tensor<64x64xi1, #mma>) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  %half = arith.constant dense<32> : tensor<1x64xi32, #mma>
  %j0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #columns>
  %j = tt.expand_dims %j0 {axis = 0 : i32} : tensor<64xi32, #columns> -> tensor<1x64xi32, #mma>
  %few = arith.cmpi slt, %j, %half : tensor<1x64xi32, #mma>
  %mask = tt.broadcast %few : tensor<1x64xi1, #mma> -> tensor<64x64xi1, #mma>
  %d = tt.dot %a, %b, %z : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
  %e = tt.dot %a, %b, %d : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
  %n = arith.negf %e : tensor<64x64xf32, #mma>
  USE
  tt.return
}
}
"""
STORE = "tt.store %p, %n, {} : tensor<64x64x!tt.ptr<f32>, #mma>"
SELECT = "%s = arith.select %mask, %n, %z : tensor<64x64xi1, #mma>, tensor<64x64xf32, #mma>\n  "


@pytest.mark.parametrize(
    ("use", "instructions"),
    [
        (STORE.format("%any"), 8),
        (STORE.format("%mask"), 4),
        (SELECT + STORE.replace("%n", "%s").format("%any"), 4),
        (SELECT + STORE.format("%any"), 8),  # all of it is stored, too
    ],
)
def test_amd_drops_the_instructions_of_what_constants_throw_away(
    use: str, instructions: int
) -> None:
    """Of four columns of tiles two: as the wheel 3.9 compiles real kernels for gfx1250."""
    [module] = parse_ir(KERNEL.replace("USE", use).replace("TARGET", "hip:gfx1250"))
    found = [one.instruction for one in audit_module(module).multiplications]
    assert [one and one.instructions for one in found] == [instructions, instructions]
