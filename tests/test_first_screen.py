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


@pytest.mark.parametrize("path", sampled(DUMPS, 8), ids=lambda path: path.stem)
def test_a_first_screen_is_short(path: Path) -> None:
    report = AuditReport(path.name, audits(path))
    lines = terminal_text(report, has_colours=False, width=WIDTH).splitlines()
    assert len(lines) <= MOST, "\n".join(lines)
    assert max(map(len, lines)) <= WIDTH
    verdict = next(line for line in lines[1:] if not line.startswith("  "))  # below a note
    assert verdict.startswith("@")


@pytest.mark.parametrize("path", sampled(DUMPS, 4), ids=lambda path: path.stem)
def test_nothing_could_be_saved_without_an_alternative(path: Path) -> None:
    text = plain_text(AuditReport(path.name, audits(path), is_whole=True))
    findings = text.partition("\n\n")[0]
    for finding in re.split(r"^ {1,3}\d+\. ", findings, flags=re.MULTILINE)[1:]:
        assert ("could be saved" in " ".join(finding.split())) == (
            "fix (" in finding or "fixed by" in finding
        ), finding
