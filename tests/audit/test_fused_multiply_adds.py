"""Multiplications without a matrix instruction: what they are, and why."""

from __future__ import annotations

import pytest

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module

KERNEL = """
#b = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1],
                   order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
tt.func public @f(%a: tensor<MxKxELEMENT, #ttg.dot_op<{opIdx = 0, parent = #b}>>,
                  %b: tensor<KxNxELEMENT, #ttg.dot_op<{opIdx = 1, parent = #b}>>,
                  %c: tensor<MxNxf32, #b>) {
  %d = tt.dot %a, %b, %cPRECISION : \
tensor<MxKxELEMENT, #ttg.dot_op<{opIdx = 0, parent = #b}>> * \
tensor<KxNxELEMENT, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<MxNxf32, #b>
  tt.return
}
}
"""


@pytest.mark.parametrize(
    ("sizes", "element", "precision", "text"),
    [
        ((64, 64, 64), "f32", "", "FMA, 2048 per thread: f32 with input_precision ieee"),
        ((64, 64, 64), "f32", ", inputPrecision = tf32", "FMA, 2048 per thread: the layout of"),
        ((8, 64, 64), "f16", "", "FMA, 2048 per thread: 8x64 is less than an instruction has"),
        ((64, 64, 8), "f16", "", "FMA, 256 per thread: K = 8 is too small, give 16 or more"),
        ((64, 64, 64), "i16", "", "FMA, 2048 per thread: i16 x i16 has none"),
    ],
)
def test_what_it_is_and_why(
    sizes: tuple[int, int, int], element: str, precision: str, text: str
) -> None:
    m, n, k = sizes
    written = KERNEL.replace("ELEMENT", element).replace("PRECISION", precision)
    for name, size in (("Mx", m), ("Nx", n), ("Kx", k)):
        written = written.replace(name, f"{size}x")
    [module] = parse_ir(written)
    [found] = audit_module(module).multiplications
    assert found.instruction is None
    assert found.fma is not None
    assert found.fma.text.startswith(text)


def test_it_is_the_first_finding() -> None:
    text = KERNEL.replace("ELEMENT", "f32").replace("PRECISION", "")
    for name in ("Mx", "Nx", "Kx"):
        text = text.replace(name, "64x")
    [module] = parse_ir(text)
    [finding] = audit_module(module).findings
    assert finding.kind == "tensor-cores"
    assert finding.cost == 2048  # 2048 of each of 128 threads, 128 in a cycle
    assert finding.message == (
        "tt.dot uses no tensor cores, but 2048 FMA per thread: f32 with input_precision ieee, "
        "give tf32 or operands of 16 bits"
    )
