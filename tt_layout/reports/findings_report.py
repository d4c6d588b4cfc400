"""Summaries and findings of a dump's kernels: what ``tt-layout check`` keeps of an audit."""

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
                if texts:
                    yield Paragraph(f"{kernel.name}: {texts}", "  ", 4)

    def heads(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each kernel with the texts above its findings."""
        for adviser in self.advisers:
            for kernel in kernels_of(adviser):
                yield kernel.name, "; ".join([*head_texts(kernel), *bound_texts(kernel)])

    def data(self) -> dict[str, Any]:
        """Return summaries and findings as plain data."""
        modules = ({k: audit_data(a)[k] for k in ("summary", "findings")} for a in self.audits)
        return {"version": JSON_VERSION, "modules": list(modules)}


def whole_kernels(
    kernels: Sequence[Kernel],
    adviser: Adviser,
    program: ProgramSource,
    dump: DumpArgument | None = None,
) -> Iterator[Paragraph]:
    """Yield the verdict, all findings, memory and registers of each kernel; then the notes.

    Args:
        kernels: the kernels.
        adviser: the adviser of the audit.
        program: where the text of the user's program is found.
        dump: the argument of ``tt-layout apply``; None if it does not take the dump.
    """
    groups = {group.findings[0]: group for group in numbered(adviser.audit.findings)}
    for kernel in kernels:
        yield verdict_paragraph(kernel)
        yield from all_findings(adviser, program, led_by(kernel.findings, groups), dump)
        yield from state(kernel)
        yield from time_paragraphs(kernel)
    yield from notes(adviser)
