"""What a suggestion takes besides: none is given that the kernel has no room for."""

# ruff: noqa: E501 - lines of dumps are long

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_suggestions import HEAD, SHARED, audit_of, pointers

from tt_layout.audit.allocation.shared_memory import SharedMemory
from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.needs import Needs, needs_with
from tt_layout.audit.suggestions.suggestion import BACKWARD, EVERYWHERE, FORWARD, Suggestion
from tt_layout.ir import parse_ir


def all_suggestions(audit: Audit) -> list[Suggestion]:
    adviser = Adviser(audit)
    return [one for finding in audit.findings for one in adviser.suggestions(finding)]


def transposed(size: int) -> str:
    """Return a kernel for gfx942 that writes a buffer by rows and reads it by columns."""
    rows, columns = (
        f"#ttg.blocked<{{sizePerThread = {per}, threadsPerWarp = {lanes}, warpsPerCTA = {warps}, order = {order}}}>"
        for per, lanes, warps, order in (
            ([1, 4], [4, 16], [4, 1], [1, 0]),
            ([4, 1], [16, 4], [1, 4], [0, 1]),
        )
    )
    held = f"{size}x64xf32"
    buffer = f"!ttg.memdesc<{held}, #s, #smem, mutable>"
    return f"""\
#a = {rows}
#t0 = {columns}
#smem = #ttg.shared_memory
{SHARED.splitlines()[0]}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func @k(%x: tensor<{held}, #a>) {{
    %m = ttg.local_alloc : () -> {buffer}
    %e = math.exp %x : tensor<{held}, #a>
    ttg.local_store %e, %m : tensor<{held}, #a> -> {buffer}
    %y = ttg.local_load %m : {buffer} -> tensor<{held}, #t0>
    tt.return
  }}
}}
"""


@pytest.mark.slow
def test_no_layout_is_larger_than_shared_memory() -> None:
    """64 KiB are all that gfx942 has: there is room for a swizzle, but not for padding."""
    for size, has_room in ((128, True), (256, False), (512, False)):
        audit = audit_of(transposed(size))
        found = {one.encoding.mnemonic for one in all_suggestions(audit)}
        assert ("padded_shared" in found) == has_room
        assert found


ONE_WARP = f"""\
#a = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}}>
#b = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}}>
{HEAD.replace('"ttg.num-warps" = 4', '"ttg.num-warps" = 1')}
{pointers("p", "a")}
{pointers("q", "b")}
    %l = tt.load %p : tensor<64x64x!tt.ptr<f16>, #a>
    %u = arith.extf %l : tensor<64x64xf16, #a> to tensor<64x64xf32, #a>
    %v = math.exp %u : tensor<64x64xf32, #a>
    %w = math.exp2 %u : tensor<64x64xf32, #a>
    %vw = arith.mulf %v, %w : tensor<64x64xf32, #a>
    %t = arith.addf %vw, %u : tensor<64x64xf32, #a>
    %h = arith.truncf %t : tensor<64x64xf32, #a> to tensor<64x64xf16, #a>
    %c = ttg.convert_layout %h : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    tt.store %q, %c : tensor<64x64x!tt.ptr<f16>, #b>
    tt.return
  }}
}}
"""


def test_no_layout_makes_registers_spill() -> None:
    """Half of the lanes of #b repeat the other half: what is computed in it takes twice as much."""
    for element, has_room in (("f16", True), ("f64", False)):
        audit = audit_of(ONE_WARP.replace("xf32", f"x{element}"))
        assert not any(one.spills for one in audit.registers)
        assert (BACKWARD in {one.where for one in all_suggestions(audit)}) == has_room


def test_needs_are_told_before_and_after() -> None:
    audit = audit_of(ONE_WARP.replace("xf32", "xf16"))
    adviser = Adviser(audit)
    [finding] = [one for one in audit.findings if one.kind == "conversions"]
    [forward, backward] = adviser.suggestions(finding)
    before, after = adviser.needs(finding, forward)
    assert before.registers is not None
    assert after.registers is not None
    assert (before.registers.line, after.registers.line) == (37, 34)
    assert after.registers.needed < before.registers.needed
    assert (forward.where, backward.where) == (FORWARD, BACKWARD)
    audit = audit_of(transposed(128))
    adviser = Adviser(audit)
    finding = next(one for one in audit.findings if one.kind == "conflicts")
    padded = next(
        one for one in adviser.suggestions(finding) if one.encoding.mnemonic == "padded_shared"
    )
    assert padded.where == EVERYWHERE
    before, after = adviser.needs(finding, padded)
    assert before.memory is not None
    assert after.memory is not None
    assert before.memory.bytes == 32768
    assert after.memory.bytes is not None
    assert after.memory.bytes > 32768


def test_what_is_replaced_everywhere_is_one_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its registers and memory are found once, however many findings it ends."""
    path = Path(__file__).parents[2] / "examples" / "narrow" / "column_major.ttgir"
    [module] = parse_ir(path.read_text(encoding="utf-8"))
    asked: list[Suggestion] = []

    def noted(suggestion: Suggestion, *rest: Any) -> Any:
        asked.append(suggestion)
        return needs_with(suggestion, *rest)

    monkeypatch.setattr("tt_layout.audit.suggestions.adviser.needs_with", noted)
    audit = audit_module(module)
    adviser = Adviser(audit)
    suggested = [adviser.best(finding) for finding in audit.findings]
    assert len(suggested) > 1
    assert len({*suggested}) == 1
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("size", "before", "exceeds"),
    [(4096, 4096, False), (4097, 4096, True), (4097, None, True), (1024, 512, False)],
)
def test_memory_that_is_too_large_is_held_against_that_of_before(
    size: int, before: int | None, exceeds: bool
) -> None:
    def needs(bytes_: int | None) -> Needs:
        if bytes_ is None:
            return Needs(None, None, None)
        return Needs(None, SharedMemory("f", (), bytes_, False, 1, limit=2048), None)

    refusal = needs(size).exceeds(needs(before))
    assert (refusal is not None) == exceeds
    assert not exceeds or f"{size}" in str(refusal)


def test_a_conversion_that_is_dropped_may_begin_a_block() -> None:
    """A buffer is live there: at the operation behind it."""
    held, buffer = "tensor<64x64xf16, {}>", "!ttg.memdesc<64x64xf16, #s, #smem, mutable>"
    sums, stored = held.format("#mma"), held.format("#b")
    pointer = "tensor<64x64x!tt.ptr<f16>, #b>"
    audit = audit_of(f"""\
#b = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>
#mma = #ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}}>
#s = #ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @k(%p: {pointer}, %n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : {sums}
    %m = ttg.local_alloc : () -> {buffer}
    %q = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> ({sums}) : i32 {{
      %v = ttg.convert_layout %acc : {sums} -> {stored}
      tt.store %p, %v : {pointer}
      %w = ttg.local_load %m : {buffer} -> {sums}
      %a = arith.addf %acc, %w : {sums}
      scf.yield %a : {sums}
    }}
    tt.return
  }}
}}
""")
    [conversion, *_] = [one for one in audit.findings if "conversions" in one.kinds]
    adviser = Adviser(audit)
    suggestion = adviser.best(conversion)
    assert suggestion is not None
    before, after = adviser.needs(conversion, suggestion)
    assert before.memory is not None
    assert after.memory is not None
    assert after.memory.bytes == 64 * 64 * 2
    assert (before.memory.bytes or 0) > 64 * 64 * 2
