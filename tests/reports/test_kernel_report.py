"""The report of a kernel: a line, findings, then the rest; it fits every width."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from tiers import sampled

from tt_layout.audit.audit import audit_module
from tt_layout.cli.output import terminal_text
from tt_layout.ir import parse_ir
from tt_layout.reports.audit import AuditReport
from tt_layout.reports.audit_ir import audit_ir
from tt_layout.reports.fitted import Table
from tt_layout.reports.report import plain_text

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
DUMPS = sorted(KERNELS.glob("attention-*.ttgir")) + sorted(
    (ROOT / "examples" / "narrow").glob("*.ttgir")
)


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(KERNELS)
    return runner(capsysbinary, monkeypatch)


def report_of(path: Path) -> AuditReport:
    audits = [audit_module(module) for module in parse_ir(path.read_text(encoding="utf-8"))]
    return AuditReport(path.name, audits, has_tables=True)


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(DUMPS, 4), ids=lambda path: path.stem)
def test_it_fits_and_has_its_findings_on_the_first_screen(path: Path) -> None:
    report = report_of(path)
    for width in (80, 120):
        lines = terminal_text(report, has_colours=False, width=width).splitlines()
        folded = [line for line in lines if not line.startswith(("  target", path.name))]
        assert max(map(len, folded)) <= width
    head = plain_text(report).partition("\ndata movements")[0]
    assert head.count("\n") < 50
    assert re.search(r"^@\w+, \w+( \([\w ]+\))?, \d warps: ", head, re.MULTILINE)


def test_loops_are_marked() -> None:
    text = plain_text(report_of(KERNELS / "matmul-sm80.ttgir"))
    table = text.partition("data movements")[2].partition("\nmultiplications")[0]
    body = table.partition("  loop of line 89, ceildiv(%K, 32) times\n")[2]
    body, _, after = body.partition("  after the loop of line 89\n")
    rows = re.findall(r"^ +(\| +)?\d+ ", body, re.MULTILINE)
    assert rows
    assert all(rows)
    assert "|" not in after


def test_index_types_are_counted_unless_all_are_asked_for(run: Run) -> None:
    short, whole = (
        run("audit", "softmax-sm90.ttgir", *more).out for more in (["--tables"], ["--all"])
    )
    assert "types of indices, pointers and masks: --all lists them" in short
    assert "!tt.ptr" not in short.partition("\nlayouts\n")[2]
    assert "!tt.ptr" in whole.partition("\nlayouts\n")[2]


def test_lines_of_the_program_are_shown(run: Run, tmp_path: Path) -> None:
    outcome = run("audit", "matmul-sm80.ttgir", "--all", "--source", ".")
    assert re.search(r"\d\. make.py:39:5, line \d+: tl.store\(c \+ rows", outcome.out)
    outcome = run("audit", "matmul-sm80.ttgir", "--all", "--source", str(tmp_path))
    assert re.search(r"\d\. make.py:39:5, line \d+: ttg.convert_layout", outcome.out)


@pytest.mark.slow
def test_findings_as_data(run: Run) -> None:
    outcome = run("audit", "attention-gfx942.ttgir", "--format", "json", "--value", "length=1024")
    module: dict[str, Any] = json.loads(outcome.out)["modules"][0]
    [summary] = module["summary"]
    assert summary["text"].startswith("@attention, gfx942, 4 warps: 3 conversions through shared")
    assert summary["findings"]["conflicts"] == 2
    weights = [one["cost"] * one["executions"] for one in module["findings"]]
    assert weights == sorted(weights, reverse=True)
    first = module["findings"][0]
    assert (first["kind"], first["line"], first["cost"], first["executions"]) == (
        "narrow-shared",
        143,
        128,
        15,
    )


def test_a_table_is_folded_at_spaces() -> None:
    table = Table(["n", "text"], [["1", "some words that are long"], "alone"], ["n"])
    for width in (12, 20, 80):
        lines = [line.text for line in table.fold(width)]
        assert max(map(len, lines)) <= max(width, 2 + 8 + 2 + 8)
        words = sorted(" ".join(lines).split())
        assert words == sorted(["n", "text", "1", "some", "words", "that", "are", "long", "alone"])


CAUSAL = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
tt.func public @causal(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %id = tt.get_program_id x : i32
  %o = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
  %ps = tt.splat %x : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>, #b>
  %q = tt.addptr %ps, %o : tensor<128x!tt.ptr<f16>, #b>, tensor<128xi32, #b>
  %first = tt.load %q : tensor<128x!tt.ptr<f16>, #b>
  scf.for %i = %c0 to %id step %c1 : i32 {
    %v = tt.load %q : tensor<128x!tt.ptr<f16>, #b>
    "test.use"(%v) : (tensor<128xf16, #b>) -> ()
  }
  tt.return
}
}
"""


def test_a_loop_of_the_first_program_alone_is_ranked_as_one_of_unknown_length() -> None:
    report = replace(audit_ir(CAUSAL), has_tables=True)
    lines = [finding.line for finding in next(iter(report.audits)).findings]
    assert lines == [13, 11]  # though it runs 0 times in program 0
    assert "= 0 times in program 0; another with values={'program_id_x': ...}" in str(report)
    given = replace(audit_ir(CAUSAL, {"program_id_x": 7}), has_tables=True)
    assert "= 7 times\n" in str(given)


def test_of_a_loop_of_the_first_program_alone_no_total_is_said() -> None:
    totals = []
    for values in ({}, {"program_id_x": 7}):
        [audit] = audit_ir(CAUSAL, values).audits
        [inner] = [row for row in audit.movements if row.operation.line == 13]
        assert inner.cost is not None
        details = inner.cost.details.data(1)
        totals.append((details["total_sectors"], details["sectors"]))
    assert totals == [(None, 8), (7 * 8, 8)]
