"""The first screen of a kernel: short, within 80 columns, and no saving without an alternative."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from tiers import sampled

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.ir import parse_ir
from tt_layout.reports.audit import AuditReport
from tt_layout.reports.report import plain_text
from tt_layout.reports.terminal_text import terminal_text

EXAMPLES = Path(__file__).parent.parent / "examples"
DUMPS = sorted(EXAMPLES.glob("*/*.ttgir"))
MOST = 14
WIDTH = 80


@cache
def audits(path: Path) -> tuple[Audit, ...]:
    return tuple(audit_module(module) for module in parse_ir(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", sampled(DUMPS, 16), ids=lambda path: path.stem)
def test_a_first_screen_is_short(path: Path) -> None:
    report = AuditReport(path.name, audits(path))
    lines = terminal_text(report, has_colours=False, width=WIDTH).splitlines()
    assert len(lines) <= MOST, "\n".join(lines)
    assert max(map(len, lines)) <= WIDTH
    verdict = next(line for line in lines[1:] if not line.startswith("  "))  # below a note
    assert verdict.startswith("@")


@pytest.mark.parametrize("path", sampled(DUMPS, 12), ids=lambda path: path.stem)
def test_nothing_could_be_saved_without_an_alternative(path: Path) -> None:
    text = plain_text(AuditReport(path.name, audits(path), is_whole=True))
    findings = text.partition("\n\n")[0]
    for finding in re.split(r"^ {1,3}\d+\. ", findings, flags=re.MULTILINE)[1:]:
        assert ("could be saved" in " ".join(finding.split())) == (
            "fix (" in finding or "fixed by" in finding
        ), finding


@pytest.mark.parametrize("path", sampled(DUMPS, 12), ids=lambda path: path.stem)
def test_a_first_screen_says_how_what_could_be_saved_is(path: Path) -> None:
    text = " ".join(plain_text(AuditReport(path.name, audits(path))).split())
    for finding in re.split(r" \d+\. ", text)[1:]:
        if "could be saved" in finding:
            assert "fix (" in finding or "--all says how" in finding, finding


def test_the_first_fix_is_more_than_a_note() -> None:
    """A note once took the lines of the fix, which left a saving without an alternative."""
    path = EXAMPLES / "kernels" / "attention-gfx950.ttgir"
    text = plain_text(AuditReport(path.name, audits(path)))
    assert "fix (saves" in text
    assert "usual epilogue" not in text


def test_a_verdict_says_what_the_error_is() -> None:
    path = EXAMPLES / "kernels" / "softmax-sm90.ttgir"
    [module] = parse_ir(path.read_text("utf-8").replace('num-warps" = 4', 'num-warps" = 8'))
    text = " ".join(plain_text(AuditReport(path.name, [audit_module(module)])).split())
    assert "13 errors, the first on line 18: #blocked on tensor<4x1024xf16> is for 4 warps" in text


@pytest.mark.slow
def test_long_paths_do_not_make_a_screen_long() -> None:
    path = EXAMPLES / "workloads" / "attention_backward-gfx950.ttgir"
    folder = "/home/somebody/" + "a-folder-of-theirs/" * 8
    [module] = parse_ir(path.read_text("utf-8").replace('"make.py"', f'"{folder}make.py"'))
    report = AuditReport(path.name, [audit_module(module)])
    lines = terminal_text(report, has_colours=False, width=WIDTH).splitlines()
    assert len(lines) <= MOST, "\n".join(lines)
    assert any(" 1. make.py:78:30, make.py:80:28, lines 115" in line for line in lines)
