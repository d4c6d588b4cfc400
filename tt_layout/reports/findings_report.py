"""Of a dump's kernels only what they do badly: what ``tt-layout check`` keeps of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.summary import summaries
from tt_layout.reports.audit_data import JSON_VERSION, audit_data
from tt_layout.reports.finding_text import all_findings
from tt_layout.reports.fitted import Fitted
from tt_layout.reports.kernel_head import head_texts, kernel_heads
from tt_layout.reports.program_source import NO_PROGRAM
from tt_layout.reports.report import Line


@dataclass(frozen=True)
class FindingsReport:
    """The summary of each kernel, and the findings.

    Attributes:
        audits: one for each module.
    """

    audits: Sequence[Audit]

    @cached_property
    def advisers(self) -> tuple[Adviser, ...]:
        """What is advised of each module."""
        return tuple(map(Adviser, self.audits))

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield a line for each kernel, then the findings of its module."""
        for number, adviser in enumerate(self.advisers):
            if number:
                yield Line()
            yield from kernel_heads(summaries(adviser.audit), adviser)
            yield from all_findings(adviser, NO_PROGRAM)

    def heads(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each kernel with what is said of it above its findings."""
        for adviser in self.advisers:
            for summary in summaries(adviser.audit):
                yield summary.name, "; ".join(head_texts(summary, adviser))

    def data(self) -> dict[str, Any]:
        """Return summaries and findings as plain data."""
        modules = ({k: audit_data(a)[k] for k in ("summary", "findings")} for a in self.audits)
        return {"version": JSON_VERSION, "modules": list(modules)}
