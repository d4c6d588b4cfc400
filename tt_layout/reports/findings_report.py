"""The faults of a dump's kernels alone: what ``tt-layout check`` keeps of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.finding_groups import led_by, numbered
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.records import dataclass
from tt_layout.reports.advice_text import DumpArgument
from tt_layout.reports.audit_data import JSON_VERSION, audit_data
from tt_layout.reports.finding_text import all_findings, notes
from tt_layout.reports.first_screen import (
    bound_texts,
    head_texts,
    state,
    time_paragraphs,
    verdict_paragraph,
)
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.program_source import NO_PROGRAM, ProgramSource
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
        """The advice on each module."""
        return tuple(map(Adviser, self.audits))

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield a line for each kernel, then the findings of its module."""
        for number, adviser in enumerate(self.advisers):
            if number:
                yield Line()
            kernels = kernels_of(adviser)
            yield from whole_kernels(kernels, adviser, NO_PROGRAM)
            for kernel in kernels:
                texts = "; ".join(bound_texts(kernel))
                yield from [Paragraph(f"{kernel.name}: {texts}", "  ", 4)] * bool(texts)

    def heads(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each kernel with what is said of it above its findings."""
        for adviser in self.advisers:
            for summary in kernels_of(adviser):
                yield summary.name, "; ".join([*head_texts(summary), *bound_texts(summary)])

    def data(self) -> dict[str, Any]:
        """Return summaries and findings as plain data."""
        modules = ({k: audit_data(a)[k] for k in ("summary", "findings")} for a in self.audits)
        return {"version": JSON_VERSION, "modules": list(modules)}


def whole_kernels(
    found: Sequence[Kernel],
    adviser: Adviser,
    program: ProgramSource,
    dump: DumpArgument | None = None,
) -> Iterator[Paragraph]:
    """Yield each kernel of a module: the verdict, all findings, memory and registers; then notes.

    Args:
        found: the kernels.
        adviser: answers for the audit.
        program: where the text of the user's program is found.
        dump: as ``tt-layout apply`` takes it; None where it takes none.
    """
    groups = {group.findings[0]: group for group in numbered(adviser.audit.findings)}
    for summary in found:
        yield verdict_paragraph(summary)
        yield from all_findings(adviser, program, led_by(summary.findings, groups), dump)
        yield from state(summary)
        yield from time_paragraphs(summary)
    yield from notes(adviser)
