"""Findings of a dump by their numbers, so many at once: for readers who ask for the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tt_layout.audit.finding_groups import numbered
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.reports.audit import AuditReport, heading
from tt_layout.reports.finding_text import all_findings
from tt_layout.reports.fitted import Fitted
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.surface import argument
from tt_layout.wording import count


@dataclass(frozen=True, repr=False)
class FindingsPage(Printed):
    """Part of all findings of a dump, those alike together, as the whole report has them.

    Attributes:
        report: of the dump.
        first: the place of the first group of findings, from 1; modules follow one another.
        most: how many groups are shown.
    """

    report: AuditReport
    first: int = 1
    most: int = 20

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the groups below the heading of their module, and where the next begin."""
        passed = found = 0
        end = self.first + self.most
        for audit in self.report.audits:
            groups = numbered(audit.findings)
            begin = max(0, self.first - 1 - passed)
            shown = groups[begin : max(begin, end - 1 - passed)]
            if shown:
                yield from heading(audit.module, self.report.file)
                yield from all_findings(Adviser(audit), self.report.program, shown)
            passed += len(groups)
            found += len(audit.findings)
        yield Line(self._position(passed, found))

    def _position(self, groups: int, findings: int) -> str:
        """Return which part this is, and how to ask for the next."""
        if not groups:
            return "no findings"
        total = count(findings, "finding")
        if groups != findings:
            total += f", {groups} with those alike together"
        last = min(groups, self.first + self.most - 1)
        if self.first > groups:
            return f"none from {self.first} on, of {total}"
        shown = f"{self.first} to {last} of {total}"
        return shown if last == groups else f"{shown}; the next: {argument('first', last + 1)}"
