"""``audit --diff`` by cost: totals, dearer and cheaper lines, aliases, findings that are new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Run, runner

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
BEFORE = "matmul-sm80.ttgir"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(KERNELS)
    return runner(capfdbinary, monkeypatch)


@pytest.fixture
def after(tmp_path: Path) -> str:
    """Return a dump in which an alias means a layout with half the swizzle."""
    text = (KERNELS / BEFORE).read_text(encoding="utf-8")
    path = tmp_path / "after.ttgir"
    path.write_text(text.replace("perPhase = 2, maxPhase = 4", "perPhase = 2, maxPhase = 2"))
    return str(path)


def test_costs_are_compared(run: Run, after: str) -> None:
    outcome = run("audit", "--diff", BEFORE, after)
    assert outcome.status == 1
    lines = outcome.out.splitlines()
    assert lines[2] == "@matmul: 12064 cycles before, 16224 after: 4160 more in one program"
    assert lines[-3].startswith(
        "- #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4"
    )
    assert lines[-2].startswith(
        "+ #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 2"
    )
    back = run("audit", "--diff", after, BEFORE).out.splitlines()[2]
    assert back == "@matmul: 16224 cycles before, 12064 after: 4160 fewer in one program"


def test_the_same_as_data(run: Run, after: str) -> None:
    outcome = run("audit", "--diff", BEFORE, after, "--value", "K=4096", "--format", "json")
    [comparison] = json.loads(outcome.out)["comparisons"]
    [total] = comparison["totals"]
    assert total["function"] == "matmul"
    loads = [
        [one["cycles"] for one in comparison[side] if one["operation"] == "ttg.local_load"]
        for side in ("removed", "added")
    ]
    assert [2 * cycles for cycles in loads[0]] == loads[1]
    assert list(comparison["aliases"]) == ["#shared"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "status"), [("conflicts", 1), ("conversions", 0), ("conflicts=1000000", 0)]
)
def test_only_new_findings_fail(kinds: str, status: int, run: Run, after: str) -> None:
    assert run("audit", "--diff", BEFORE, after, "--fail-on", kinds).status == status
    assert run("audit", "--diff", after, BEFORE, "--fail-on", kinds).status == 0


def limited(text: str, registers: int) -> str:
    """Return a dump whose compiler may give a thread so many registers."""
    return text.replace(
        "module attributes {", f'module attributes {{"ttg.maxnreg" = {registers} : i32, '
    )


def test_the_same_means_all_that_the_verdict_rests_on(run: Run, tmp_path: Path) -> None:
    text = (KERNELS / "softmax-sm90.ttgir").read_text()
    before, after = tmp_path / "before.ttgir", tmp_path / "after.ttgir"
    before.write_text(text)
    after.write_text(limited(text, 8))
    same = run("audit", "--diff", str(before), str(before))
    words = (
        "registers, spills, shared memory, CTAs, bounds, matrix instructions, errors and findings"
    )
    assert (same.status, same.out.splitlines()[-1]) == (0, f"the same data movements, {words}")
    differs = run("audit", "--diff", str(before), str(after))
    assert differs.status == 1
    assert "spills: unlikely before, likely after" in differs.out
    assert "findings of registers: 0 before, 1 after" in differs.out
    [one] = json.loads(run("audit", "--diff", str(before), str(after), "--format", "json").out)[
        "comparisons"
    ]
    assert (one["removed"], one["added"]) == ([], [])
    assert one["kernels"][0]["facts"]["spills"] == ["unlikely", "likely"]
    assert one["kernels"][0]["is_worse"] is True
    worse = run("audit", "--baseline", str(before), str(after))
    assert worse.status == 1
    assert worse.out.startswith("1 kernel: 1 more expensive")
    assert "spills unlikely -> likely" in " ".join(worse.out.split())
    better = run("audit", "--baseline", str(after), str(before))
    assert better.status == 0
    assert "1 cheaper" in better.out
