"""Operands of dots in bytes whose buffer is contiguous along the wrong dimension."""

from __future__ import annotations

import pytest

from tt_layout.audit.audit import audit_module
from tt_layout.audit.findings import Finding
from tt_layout.audit.rules import narrow_shared
from tt_layout.audit.suggestions import buffers
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.context import SuggestionContext
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
    monkeypatch.setattr(SuggestionContext, "better_buffers", lambda *given: [])
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


@pytest.mark.parametrize(("share", "number"), [(224 / 256, 1), (225 / 256, 0)])
def test_what_costs_just_the_share_that_may_pay_is_said(
    share: float, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warps take 64 wavefronts where 8 would do: 224 of the 256 cycles of all four."""
    monkeypatch.setattr(buffers, "usual_buffer", lambda *given: None)
    monkeypatch.setattr(narrow_shared, "MAY_PAY", share)
    _, findings = found("[1, 0]", 1, "32x128")
    assert [one.kind for one in findings] == ["narrow-shared"] * number


STORED = """
#rows = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1],
                      order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4],
                         order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1],
                        instrShape = [16, 64, K]}>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = SWIZZLE, transposed = false, elementBitWidth = BITS}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = SWIZZLE, transposed = true, elementBitWidth = BITS}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%a: !ttg.memdesc<64x64xTYPE, #a, #smem>, %v: tensor<64x64xTYPE, #SOURCE>,
             %c: tensor<64x64xf32, #mma>) {
    %b = ttg.local_alloc %v
      : (tensor<64x64xTYPE, #SOURCE>) -> !ttg.memdesc<64x64xTYPE, #b, #smem>
    %d = ttng.warp_group_dot %a, %b, %c
      : !ttg.memdesc<64x64xTYPE, #a, #smem> * !ttg.memdesc<64x64xTYPE, #b, #smem>
      -> tensor<64x64xf32, #mma>
    tt.return
  }
}
"""


def stored(element: str, bits: int, source: str = "rows", *, is_multiplied: bool = True) -> str:
    """Return what is said of an operand that is stored from a layout of registers."""
    text = (
        STORED.replace("TYPE", element).replace("BITS", str(bits)).replace("K]", f"{256 // bits}]")
    )
    text = text.replace("SWIZZLE", str(min(128, 8 * bits))).replace("SOURCE", source)
    if not is_multiplied:
        lines = text.splitlines(keepends=True)
        at = next(number for number, line in enumerate(lines) if "warp_group_dot" in line)
        text = "".join(lines[:at] + lines[at + 3 :])
    [module] = parse_ir(text)
    audit = audit_module(module)
    found = [one for one in audit.findings if one.kind == "conflicts"]
    return remedy(Adviser(audit), found).ways if found else ""


@pytest.mark.parametrize(
    ("element", "bits", "width"), [("f8E4M3FN", 8, "widen"), ("f32", 32, "round")]
)
def test_an_operand_that_is_stored_along_the_other_dimension_is_to_be_turned_in_memory(
    element: str, bits: int, width: str
) -> None:
    """As Triton 3.9 compiles it: with B contiguous along K nothing of it is stored in bytes."""
    assert stored(element, bits) == (
        "in the program: have dimension 0 of the operand contiguous in memory (store it"
        f" transposed), or {width} it to 16 bits before it is stored to shared memory"
    )
    assert "dimension 0" not in stored(element, bits, "columns")
    assert "dimension 0" not in stored(element, bits, is_multiplied=False)
    assert "dimension 0" not in stored("f16", 16)


COPIED = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1],
                      order = [1, 0]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = TURNED, elementBitWidth = 32}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32},
             %b: !ttg.memdesc<32x64xf32, #b, #smem, mutable>) {
    %n = tt.make_range {end = 64 : i32, start = 0 : i32}
      : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %r = tt.expand_dims %n {axis = 0 : i32}
      : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %i = tt.broadcast %r : tensor<1x64xi32, #rows> -> tensor<32x64xi32, #rows>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>, #rows>
    %q = tt.addptr %s, %i : tensor<32x64x!tt.ptr<f32>, #rows>, tensor<32x64xi32, #rows>
    %t = ttg.async_copy_global_to_local %q, %b
      : tensor<32x64x!tt.ptr<f32>, #rows> -> <32x64xf32, #b, #smem, mutable>
    tt.return
  }
}
"""


def test_a_copy_of_an_operand_along_the_other_dimension_is_narrow_for_it() -> None:
    """A copy of one word for each element, as Triton 3.9 emits, unless B is contiguous along K."""
    [module] = parse_ir(COPIED.replace("TURNED", "true"))
    [found] = audit_module(module).findings
    assert found.problem.endswith("matrix instructions take 32 bits along dimension 0 alone")
    assert found.program_change.startswith("have dimension 0 of the operand contiguous in memory")
    [module] = parse_ir(COPIED.replace("TURNED", "false"))
    assert all("narrow-loads" not in other.kinds for other in audit_module(module).findings)
