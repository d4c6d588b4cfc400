"""A grid makes bounds a time, and shares parts of it; a measured time goes before bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.audit.audit import audit_module
from tt_layout.audit.shares import Basis, Launched, Shares
from tt_layout.audit.values.given import GivenValues
from tt_layout.ir import parse_ir
from tt_layout.reports.kernel_overview import KernelLine

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
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
    assert "at least" in whole["verdict"]
    assert "at least" not in one["verdict"]


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
    few = KernelLine("a", 1, "f", None, 4, None, "", 100.0, 0, {}, (), programs=2)
    many = KernelLine("b", 1, "g", None, 4, None, "", 10.0, 0, {}, (), programs=1000)
    unknown = KernelLine("c", 1, "h", None, 4, None, "", 300.0, 0, {}, ())
    ranked = sorted([few, many, unknown], key=lambda one: one.rank)
    assert [one.file for one in ranked] == ["b", "c", "a"]
