"""A grid makes bounds a time, and shares parts of it; a measured time goes before bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.audit.audit import audit_module
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.shares import Basis, Launched, Shares, Verdict
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.given import GivenValues
from tt_layout.ir import parse_ir
from tt_layout.reports.audit_data import audit_data

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
GRID = {"num_programs_x": 64, "num_programs_y": 64, "num_programs_z": 1}


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(KERNELS)
    return runner(capsysbinary, monkeypatch)


def test_a_grid_makes_the_bound_a_time(run: Run) -> None:
    arguments = ["audit", "softmax-sm90.ttgir", "--format", "json"]
    one, whole = (
        json.loads(run(*arguments, *more).out)["modules"][0]["summary"][0]
        for more in ([], ["--grid", "4096"])
    )
    assert (one["bounds"]["programs"], whole["bounds"]["programs"]) == (None, 4096)
    assert "for one full wave of" in one["verdict"]
    assert "for one full wave of" not in whole["verdict"]
    assert "at best by DRAM" in whole["verdict"]


@pytest.mark.parametrize("grid", ["x", "0", "1,2,3,4", "-1", "1,,2"])
def test_a_grid_has_up_to_three_sizes(run: Run, grid: str) -> None:
    outcome = run("audit", "softmax-sm90.ttgir", "--grid", grid)
    assert outcome.status == 2
    assert "--grid takes 1 to 3 numbers" in outcome.err


def test_the_rule_of_the_share() -> None:
    [module] = parse_ir((KERNELS / "softmax-sm90.ttgir").read_text(encoding="utf-8"))
    audit = audit_module(module, given=GivenValues(GRID))
    bounds = Shares(audit).bounds("softmax")
    assert bounds is not None
    floor = bounds.of("DRAM")
    assert floor is not None
    time = 2 * max(bounds.cycles, floor.cycles)
    shares = Shares(audit, {"softmax": Launched(time, None)})
    few, many = (shares.of("softmax", cycles) for cycles in (1.0, 1e9))
    assert (few.basis, many.basis) == (Basis.TIME, Basis.TIME)
    assert few.part == pytest.approx(4096 / 132 / time)
    assert many.part == pytest.approx(1 - floor.cycles / time)


def test_a_folder_is_ranked_by_all_programs() -> None:
    known = {"line": 1, "function": "f", "errors": 0}
    wastes = ("a", 100.0, 2), ("b", 10.0, 1000), ("c", 300.0, None)
    kernels = [
        Kernel.of_values({**known, "file": file, "weight": weight, "programs": programs})
        for file, weight, programs in wastes
    ]
    ranked = sorted(kernels, key=lambda kernel: kernel.rank)
    assert [kernel.file for kernel in ranked] == ["b", "c", "a"]


EITHER_WAY = """#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4],
                      order = [0]}>
#thin = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4],
                      order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32},
             %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #thin>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #thin>
    %q = tt.addptr %p, %i : tensor<1024x!tt.ptr<f32>, #thin>, tensor<1024xi32, #thin>
    %v = tt.load %q : tensor<1024x!tt.ptr<f32>, #thin>
    %w = ttg.convert_layout %v : tensor<1024xf32, #thin> -> tensor<1024xf32, #wide>
    %j = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #wide>
    %r = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #wide>
    %s = tt.addptr %r, %j : tensor<1024x!tt.ptr<f32>, #wide>, tensor<1024xi32, #wide>
    tt.store %s, %w : tensor<1024x!tt.ptr<f32>, #wide>
    tt.return
  }
}
"""
"""A conversion that either of two layouts saves; one of them halves what a store writes at once."""


@pytest.mark.parametrize(
    ("programs", "verdicts"),
    [(100, [Verdict.APPLY, Verdict.MAY_PAY]), (4096, [Verdict.APPLY, Verdict.APPLY])],
)
def test_more_accesses_may_take_longer_where_multiprocessors_have_one_program(
    programs: int, verdicts: list[Verdict]
) -> None:
    [module] = parse_ir(EITHER_WAY)
    audit = audit_module(
        module, given=GivenValues({**GRID, "num_programs_x": programs, "num_programs_y": 1})
    )
    adviser = Adviser(audit)
    [finding] = [one for one in audit.findings if "conversions" in one.kinds]
    found = adviser.suggestions(finding)
    assert [one.extra_requests for one in found] == [0, 8], "the side that asks for no more first"
    assert found[0].saved == found[1].saved
    assert not any(one.worse for one in found), "as many cycles are no more"
    assert [adviser.share_of_cycles(finding, one).verdict for one in found] == verdicts


BLOCKS = """    %pid = tt.get_program_id x : i32
    %k = arith.constant 1024 : i32
    %b = arith.muli %pid, %k : i32
    %xb = tt.addptr %x, %b : !tt.ptr<f32>, i32
    %yb = tt.addptr %y, %b : !tt.ptr<f32>, i32
    %ns = tt.splat %n : i32 -> tensor<1024xi32, #thin>
    %i ="""
"""A block of its own for each program: memory bounds them."""

MASKED = """%m = arith.cmpi slt, %i, %ns : tensor<1024xi32, #thin>
    %v ="""
"""Loads of single elements, the more of a sector apart the more of them a thread holds."""


def test_a_fix_is_not_small_that_is_estimated_to_pay() -> None:
    """Memory bounds the launch, which takes longer than that."""
    text = EITHER_WAY.replace("    %i =", BLOCKS).replace("splat %x ", "splat %xb ")
    text = text.replace("splat %y ", "splat %yb ").replace("%v =", MASKED)
    text = text.replace("sizePerThread = [4]", "sizePerThread = [1]").replace("[2]", "[8]")
    text = text.replace("i32}) {", "i32}, %n: i32) {").replace("tt.load %q", "tt.load %q, %m")
    [module] = parse_ir(text)
    grid = {"num_programs_x": 16384, "num_programs_y": 1, "num_programs_z": 1}
    audit = audit_module(module, given=GivenValues({**grid, "n": 1001}))
    adviser = Adviser(audit)
    [finding] = [one for one in audit.findings if "conversions" in one.kinds]
    best = adviser.best(finding)
    share = adviser.share_of([finding])
    assert share is not None
    assert share.is_small
    assert best is not None
    assert not adviser.share(finding, best).is_small
    [kernel] = kernels_of(adviser)
    assert kernel.verdict.endswith("; 1 fix found")


def test_what_dram_bounds_is_doubtful_without_a_grid() -> None:
    """What programs share of DRAM nothing tells."""
    [module] = parse_ir((KERNELS / "softmax-sm90.ttgir").read_text(encoding="utf-8"))
    sizes = {"stride": 4096, "width": 4096}
    alone, of_a_grid = (
        Shares(audit_module(module, given=GivenValues(given))) for given in (sizes, sizes | GRID)
    )
    bounds = alone.bounds("softmax")
    assert bounds is not None
    assert bounds.largest is not None
    assert bounds.largest.resource == "DRAM"
    assert [shares.of("softmax", 10).is_doubtful for shares in (alone, of_a_grid)] == [True, False]


TRIPS = """#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4],
                   order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%x: tensor<512x!tt.ptr<f32>, #a>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c = arith.constant 1024 : i32
    %p = tt.get_program_id x : i32
    %n = arith.muli %p, %c : i32
    BEGIN {
      %v = tt.load %x : tensor<512x!tt.ptr<f32>, #a>
    }
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("begin", "text"),
    [
        ("scf.for %i = %zero to %n step %one : i32", "program_id_x * 1024"),
        ("%b = arith.cmpi sgt, %p, %one : i32\n    scf.if %b", "at most 1"),
    ],
)
def test_a_number_in_which_programs_differ_is_not_that_of_the_first(begin: str, text: str) -> None:
    [module] = parse_ir(TRIPS.replace("BEGIN", begin))
    data = audit_data(audit_module(module))
    [movement], [total] = data["data_movements"], data["totals"]
    assert (movement["executions"], movement["executions_text"]) == (None, text)
    assert (total["executions"], total["executed_bytes"]) == (None, None)
    [movement] = audit_data(audit_module(module, given=GivenValues({"program_id_x": 3})))[
        "data_movements"
    ]
    assert movement["executions"] in (3072, 1)
