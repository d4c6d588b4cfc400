"""Dumps of many modules: a line for each kernel, the worst in full, suggestions for these alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

from tt_layout.audit import passes
from tt_layout.audit.global_memory import limits
from tt_layout.audit.global_memory.limits import LimitedAccess, cured
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.dumps import large
from tt_layout.dumps.large import FEW, WORST
from tt_layout.ir.passes import PassRun

LAYOUT = "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], {}}}>"
ROWS = LAYOUT.format("[1, 4]", "order = [1, 0]")
COLUMNS = LAYOUT.format("[4, 1]", "order = [0, 1]")
MODULE = """\
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f{0}(%x: tensor<{1}x64xf32, {2}>) {{
    %y = ttg.convert_layout %x : tensor<{1}x64xf32, {2}> -> tensor<{1}x64xf32, {3}>
    tt.return
  }}
}}
"""


ALIASED = f"#row = {ROWS}\n#column = {COLUMNS}\n" + MODULE.format("", 64, "#row", "#column")


def dump(count: int) -> str:
    """Write modules whose costs differ, the most expensive in the middle; return their file."""
    path = Path("tuned.mlir")
    sizes = [16 << min(n, count - n) for n in range(count)]
    path.write_text("".join(MODULE.format(n, size, ROWS, COLUMNS) for n, size in enumerate(sizes)))
    return str(path)


@pytest.fixture
def run(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capsysbinary, monkeypatch)


@pytest.fixture
def advised(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The lines of the modules for whose findings suggestions were looked for."""
    lines: set[int] = set()
    best = Adviser.best

    def noted(adviser: Adviser, finding: object) -> object:
        lines.add(adviser.audit.module.line)
        return best(adviser, finding)  # type: ignore[arg-type]

    monkeypatch.setattr(Adviser, "best", noted)
    return lines


@pytest.fixture
def explained(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The narrow accesses for which a way out was looked for."""
    accesses: list[object] = []

    def noted(access: LimitedAccess) -> object:
        accesses.append(access)
        return cured(access)

    monkeypatch.setattr(limits, "cured", noted)
    return accesses


def rows(out: str) -> list[list[str]]:
    """Return the words of each row of the table."""
    table = out.partition("\n\n")[0]
    return [line.split() for line in table.splitlines() if "@" in line]


def test_each_kernel_has_a_line_and_the_worst_are_shown(run: Run, advised: set[int]) -> None:
    out = run("audit", dump(FEW + 1)).out
    kernels = [row[1] for row in rows(out)]
    assert sorted(kernels) == sorted(f"@f{n}" for n in range(FEW + 1))
    costs = [int(row[0]) for row in rows(out)]
    assert costs == sorted(costs, reverse=True)
    reports = out.split("\n\n")[1:]
    assert [report.splitlines()[1].split(",")[0] for report in reports] == kernels[:3]
    assert len(advised) == large.WORST == 3


def test_a_value_for_no_argument_of_any_kernel_is_refused(run: Run) -> None:
    outcome = run("audit", dump(FEW + 1), "--value", "nobody=1")
    assert outcome.status == 2
    assert "nobody" in outcome.err


def test_kernels_that_differ_in_their_names_have_lines_of_their_own(run: Run) -> None:
    names = [f"@k{number}" for number in range(FEW + 1)]
    path = Path("named.mlir")
    path.write_text("".join(f"{ALIASED.replace('@f', name)}\n" for name in names))
    table = rows(run("audit", str(path)).out)
    assert [row[1] for row in table] == names
    assert len({(row[0], *row[2:-1]) for row in table}) == 1
    assert len({row[-1] for row in table}) == len(names)


def test_top_lists_the_worst_only(run: Run) -> None:
    out = run("audit", "--top", "2", dump(FEW + 1)).out
    assert [row[1] for row in rows(out)] == ["@f6", "@f7"]
    assert "and 11 more kernels" in out


def test_tables_are_of_each(run: Run) -> None:
    out = run("audit", "--tables", dump(FEW + 1)).out
    assert out.count(", sm90 (H200), 4 warps: ") == FEW + 1


def test_few_modules_have_a_screen_each(run: Run) -> None:
    assert run("audit", dump(FEW)).out.count(", sm90 (H200), 4 warps: ") == FEW


def test_data_and_exit_status_are_of_all(run: Run) -> None:
    file = dump(FEW + 1)
    found = json.loads(run("audit", file, "--format", "json").out)
    assert len(found["modules"]) == FEW + 1
    assert run("audit", file, "--fail-on", "conversions").status == 1
    assert run("audit", file, "--fail-on", "conversions=1e9").status == 2  # no number of cycles


NARROW = Path(__file__).parents[2] / "examples" / "narrow"
MATMUL = (NARROW / "matmul.ttgir").read_text(encoding="utf-8")


@pytest.mark.slow
def test_only_what_is_shown_is_explained(run: Run, explained: list[object]) -> None:
    more = 6
    path = Path("narrow.mlir")
    texts = (f"{MATMUL}\n".replace("@matmul(", f"@matmul{n}(") for n in range(FEW + more))
    path.write_text("".join(texts), encoding="utf-8")
    run("audit", str(path), "--format", "json")
    of_each, rest = divmod(len(explained), FEW + more)
    assert of_each
    assert not rest
    explained.clear()
    out = run("audit", str(path)).out
    assert len(explained) == of_each * WORST
    assert len([row for row in rows(out) if row[4] == "1"]) == FEW + more


def test_the_worst_are_explained_wherever_they_are(run: Run, explained: list[object]) -> None:
    path = Path(dump(FEW + 1))
    path.write_text(path.read_text(encoding="utf-8") + MATMUL, encoding="utf-8")
    out = run("audit", str(path)).out
    assert len(explained) == 1
    assert "pass inner_a as 1" in " ".join(out.split())


def test_a_folder_explains_what_is_asked_for(run: Run, explained: list[object]) -> None:
    folder = Path("dumps")
    folder.mkdir()
    (folder / "matmul.ttgir").write_text(MATMUL, encoding="utf-8")
    table = run("audit", str(folder)).out
    assert len(rows(table)) == 1
    assert not explained
    [kernel] = json.loads(run("audit", str(folder), "--format", "json").out)["kernels"]
    assert any("pass inner_a as 1" in one["message"] for one in kernel["findings"])
    assert "pass inner_a as 1" in run("audit", str(folder), "--fail-on", "narrow-loads").err


def test_no_history_is_worked_out_that_is_not_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[object] = []
    history = passes.pass_history

    def noted(run: PassRun, *others: Any) -> passes.PassHistory:
        runs.append(run)
        return history(run, *others)

    monkeypatch.setattr(passes, "pass_history", noted)
    header = "// -----// IR Dump After Pass (pass) ('builtin.module' operation) //----- //\n"
    texts = [MODULE.format(n, 16, ROWS, COLUMNS) for n in range(FEW + 10)]
    path = Path("passes.mlir")
    path.write_text("".join(f"{header}{text}" * 2 for text in texts), encoding="utf-8")
    assert len(rows(run("audit", str(path)).out)) == FEW + 10
    assert len(runs) == FEW
    run("audit", str(path), "--passes")
    assert len(runs) == FEW + FEW + 10
