"""Reductions of releases until 3.7, as their wheels compile them and an H100 counts them."""

from __future__ import annotations

import pytest

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.operations.details import ExchangeDetails
from tt_layout.releases import Release

KERNEL = """
#a = #ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {threads}, warpsPerCTA = {warps},
                    order = {order}}}>
module attributes {{"ttg.num-warps" = {number} : i32, ttg.target = "cuda:90"}} {{
  tt.func public @f(%x: tensor<{shape}x{element}, #a>) {{
    %y = "tt.reduce"(%x) <{{axis = {axis} : i32}}> ({{
    ^bb0(%u: {element}, %v: {element}):
      %w = {combine} %u, %v : {element}
      tt.reduce.return %w : {element}
    }}) : (tensor<{shape}x{element}, #a>) -> {result}
    tt.return
  }}
}}
"""
ROW = KERNEL.format(
    size=[4], threads=[32], warps=[4], order=[0], number=4, shape="1024", element="f32",
    axis=0, combine="arith.addf", result="f32",
)  # fmt: skip
ROWS = KERNEL.format(
    size=[1, 4], threads=[4, 8], warps=[2, 2], order=[1, 0], number=4, shape="64x64",
    element="f32", axis=1, combine="arith.addf",
    result="tensor<64xf32, #ttg.slice<{dim = 1, parent = #a}>>",
)  # fmt: skip
LONG = KERNEL.format(
    size=[2], threads=[32], warps=[4], order=[0], number=4, shape="2048", element="i64",
    axis=0, combine="arith.addi", result="i64",
)  # fmt: skip
WIDE = KERNEL.format(
    size=[8], threads=[32], warps=[8], order=[0], number=8, shape="4096", element="f32",
    axis=0, combine="arith.addf", result="f32",
)  # fmt: skip

Steps = list[tuple[str, int, int]]


def steps(text: str, release: Release) -> tuple[Steps, Steps, int]:
    """Return stores, loads and shuffles of the reduction."""
    [module] = parse_ir(text, release=release)
    [row] = audit_module(module).movements
    assert row.cost is not None
    details = row.cost.details
    assert isinstance(details, ExchangeDetails)
    stores, loads = (
        [(step.instruction, step.instructions, step.wavefronts or 0) for step in steps]
        for steps in (details.stores, details.loads)
    )
    return stores, loads, details.shuffles_per_warp


@pytest.mark.parametrize("release", [Release.V3_4, Release.V3_6, Release.V3_7])
def test_partial_results_are_stored_for_a_thread_each(release: Release) -> None:
    """The instructions are those of the wheels 3.4, 3.6 and 3.7."""
    store, load = "st.shared.b32", "ld.shared.b32"
    assert steps(ROW, release) == ([(store, 1, 4), (store, 1, 1)], [(load, 1, 1), (load, 1, 4)], 7)
    stores, loads, shuffles = steps(ROWS, release)
    assert [count for _, count, _ in stores] == [8, 1]
    assert [count for _, count, _ in loads] == [1, 8]
    assert {name for name, _, _ in (*stores, *loads)} == {store, load}
    assert shuffles == 25


def test_since_3_8_they_are_converted() -> None:
    for release in (Release.V3_8, Release.V3_9):
        assert [step[:2] for step in steps(ROW, release)[0]] == [("st.shared.b32", 1)]
        assert [step[:2] for step in steps(ROWS, release)[0]] == [("st.shared.v4.b32", 2)]


def test_wavefronts_that_an_h100_counted() -> None:
    """Of rows of 4096 elements by 8 warps: 2048 programs, a maximum and a sum each."""
    stores, loads, _ = steps(WIDE, Release.V3_6)
    assert 2048 * 2 * sum(count for _, _, count in stores) == 36_864
    assert 2048 * 2 * sum(count for _, _, count in loads) == 36_864
    # 512 programs that each sum 2048 integers of 64 bits.
    stores, _, _ = steps(LONG, Release.V3_6)
    assert 512 * sum(count for _, _, count in stores) == 2560
