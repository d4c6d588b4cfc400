"""Operands of dots in bytes whose buffer is contiguous along the wrong dimension."""

from __future__ import annotations

import pytest

from tt_layout.audit.audit import audit_module
from tt_layout.audit.findings import Finding
from tt_layout.audit.suggestions import buffers
from tt_layout.audit.suggestions.advice import Advice
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.ir import parse_ir
from tt_layout.reports.advice_text import remedy

LOAD = """
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2],
                        instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 16, order = ORDER}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  tt.func @f(%b: !ttg.memdesc<SHAPExi8, #shared, #smem>) {
    %v = ttg.local_load %b : !ttg.memdesc<SHAPExi8, #shared, #smem>
      -> tensor<SHAPExi8, #ttg.dot_op<{opIdx = OPERAND, parent = #mma, kWidth = 4}>>
    tt.return
  }
}
"""


def found(order: str, operand: int, shape: str) -> tuple[Adviser, tuple[Finding, ...]]:
    text = LOAD.replace("ORDER", order).replace("OPERAND", str(operand)).replace("SHAPE", shape)
    [module] = parse_ir(text)
    audit = audit_module(module)
    return Adviser(audit), audit.findings


@pytest.mark.parametrize(
    ("order", "operand", "shape", "summed"),
    [("[1, 0]", 1, "32x128", 0), ("[0, 1]", 0, "128x32", 1)],
)
def test_the_way_out_is_outside_of_the_layouts(
    order: str, operand: int, shape: str, summed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No layout of the buffer does it: advice, without a number that it would save."""
    monkeypatch.setattr(buffers, "usual_buffer", lambda *given: None)
    monkeypatch.setattr(Advice, "better_buffers", lambda *given: [])
    adviser, findings = found(order, operand, shape)
    [finding] = findings
    assert (finding.kind, adviser.suggestions(finding)) == ("narrow-shared", [])
    said = remedy(adviser, [finding])
    assert said.ways == (
        f"in the program: have dimension {summed} of the operand contiguous in memory (store it"
        " transposed), or widen it to 16 bits before it is stored to shared memory"
    )
    assert said.gain.startswith("costs ")
    assert "no fix" not in said.gain


@pytest.mark.parametrize(
    ("order", "operand", "shape"), [("[0, 1]", 1, "32x128"), ("[1, 0]", 0, "128x32")]
)
def test_nothing_is_said_of_one_that_is_contiguous(order: str, operand: int, shape: str) -> None:
    _, findings = found(order, operand, shape)
    assert not [one for one in findings if one.kind == "narrow-shared"]
