"""Fixes that two estimates compare: none counts that is estimated to be in vain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.audit.audit import audit_module
from tt_layout.audit.shares import Share, TimeChange
from tt_layout.audit.suggestions import adviser
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.time.estimate import Estimate, kernel_estimate
from tt_layout.audit.values.given import parse_values
from tt_layout.ir import parse_ir

DUMP = Path(__file__).parents[2] / "examples" / "workloads" / "int8_matmul-gfx942.ttgir"
SLOWER, FASTER = TimeChange(1e-4, 1.3e-4), TimeChange(1e-4, 0.8e-4)
CUDA = Path(__file__).parents[2] / "examples" / "narrow" / "matmul.ttgir"


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def test_a_change_is_in_vain_only_by_an_estimate() -> None:
    assert Share(0.5, change=SLOWER).is_in_vain
    assert not Share(0.5, change=FASTER).is_in_vain
    assert not Share(0.01).is_in_vain


@pytest.mark.parametrize(
    ("change", "fixes", "applied"), [(FASTER, "1 fix found", True), (SLOWER, "small", False)]
)
def test_a_fix_in_vain_is_neither_found_nor_applied(
    change: TimeChange, fixes: str, applied: bool, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adviser, "time_change", lambda *_: change)
    screen = " ".join(run("audit", str(DUMP), "--grid", "2432").out.split())
    assert fixes in screen
    assert ("fix found" in screen) is applied
    output = " ".join(run("apply", str(DUMP), "--grid", "2432").out.split())
    assert ("nothing to apply" in output) is not applied
    assert ("no fix is estimated to save time" in output) is not applied
    chosen = run("apply", str(DUMP), "--grid", "2432", "--finding", "1").out
    assert "fewer in one program" in chosen  # who names it, gets it


def test_a_change_does_not_pay_by_an_end_of_the_registers_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The slowest of the possible times before may be due to spills that never are."""
    [module] = parse_ir(DUMP.read_text(encoding="utf-8"))
    audit = audit_module(module, given=parse_values(("K=4096",)))
    finding = next(one for one in audit.findings if Adviser(audit).best(one))
    suggestion = Adviser(audit).best(finding)
    assert suggestion is not None
    estimates = iterated(((1, 1, 40), (1, 1, 1)))
    monkeypatch.setattr(adviser, "kernel_estimate", lambda *_: next(estimates))
    change = adviser.time_change(audit, finding, suggestion, (1024, 1, 1))
    assert change is not None
    assert change.left == pytest.approx(1)


def iterated(possible: tuple[tuple[float, ...], ...]) -> Iterator[Estimate]:
    """Estimates with times for the middle and the ends of the range of registers."""
    [module] = parse_ir(CUDA.read_text(encoding="utf-8"))
    given = parse_values(("K=4096",))
    estimate = kernel_estimate(audit_module(module, given=given), "matmul", (1024, 1, 1))
    assert isinstance(estimate, Estimate)
    for times in possible:
        weighted = tuple(zip(times, (0.63, 0.185, 0.185)))
        seconds = sum(time * weight for time, weight in weighted)
        yield replace(estimate, launch=replace(estimate.launch, seconds=seconds, possible=weighted))
