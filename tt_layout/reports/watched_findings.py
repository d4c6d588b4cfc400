"""Findings collected on the way to a report, and those that an audit fails on."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tt_layout.audit.audit import Audit
from tt_layout.audit.findings import Finding, FindingLine
from tt_layout.audit.kernel import kernel_names
from tt_layout.audit.rules import errors, kinds
from tt_layout.errors import LayoutError
from tt_layout.reports.program_source import ANYWHERE, ProgramSource
from tt_layout.reports.report import Annotation, Line
from tt_layout.surface import argument
from tt_layout.tuples import NamedTuple

ALL = "all"

Limits = Mapping[str, float]
"""Kind of finding -> the cycles in one program from which it is a failure."""


class NamedFinding(NamedTuple):
    """A finding with its location.

    Attributes:
        file: the dump.
        first_line: the first line of its module.
        finding: the finding.
    """

    file: str
    first_line: int
    finding: FindingLine

    @property
    def line(self) -> int:
        """The line of the dump."""
        return self.first_line + self.finding.below


def read_limits(texts: Sequence[str]) -> dict[str, float]:
    """Parse the limits that make an audit fail.

    Args:
        texts: lists of kinds, such as ``conflicts,conversions=100``.

    Raises:
        LayoutError: a kind does not exist, or a threshold is not a number.

    Example:
        >>> read_limits(["conflicts,conversions=100"])
        {'conflicts': 0.0, 'conversions': 100.0}
    """
    limits: dict[str, float] = {}
    for part in ",".join(texts).split(","):
        name, equals, cycles = part.strip().partition("=")
        if name not in (*kinds(), ALL):
            raise LayoutError(
                f"{argument('fail_on')} takes {', '.join(kinds())} or {ALL}, got {name!r}"
            )
        if equals and not (cycles.isdecimal() and len(cycles) < 16):
            message = f"the threshold of {name} is a number of cycles"
            raise LayoutError(f"{argument('fail_on')}: {message}, got {cycles!r}")
        limits |= dict.fromkeys(kinds() if name == ALL else [name], float(cycles or 0))
    return limits


def fresh(before: Audit, after: Audit) -> list[FindingLine]:
    """Return the findings that an earlier audit lacks, or has at a lower cost."""

    def key(finding: Finding) -> tuple[object, ...]:
        return finding.function, finding.message, finding.weight

    left = Counter(map(key, before.findings))
    findings = []
    for finding in after.findings:
        left[key(finding)] -= 1
        if left[key(finding)] < 0:
            findings.append(FindingLine.of(finding, after.module.line))
    return findings


class Watcher:
    """Collector of the findings of audits that pass through.

    Args:
        limits: the findings that are failures.
        program: where the lines of the user's program are found.

    Attributes:
        found: all findings so far.
        kernels: the number of kernels so far.
    """

    def __init__(self, limits: Limits, program: ProgramSource = ANYWHERE) -> None:
        self._limits, self.program = limits, program
        self.found: list[NamedFinding] = []
        self.kernels = 0

    @property
    def has_limits(self) -> bool:
        """Whether an audit fails on any findings."""
        return bool(self._limits)

    def pass_on(self, file: str, audits: Iterable[Audit]) -> Iterator[Audit]:
        """Yield audits and keep their findings."""
        for audit in audits:
            first = audit.module.line
            findings = (FindingLine.of(finding, first) for finding in audit.findings)
            self.keep(file, first, findings, len(kernel_names(audit)))
            yield audit

    def keep(
        self, file: str, first_line: int, findings: Iterable[FindingLine], kernels: int = 1
    ) -> None:
        """Keep the findings of some kernels, given the first line of their module in a dump."""
        self.kernels += kernels
        self.found += [NamedFinding(file, first_line, finding) for finding in findings]

    def is_failure(self, finding: FindingLine) -> bool:
        """Tell whether an audit fails on a finding."""
        limits = [self._limits[kind] for kind in finding.kinds if kind in self._limits]
        return any(finding.weight >= limit for limit in limits)

    @property
    def failures(self) -> list[NamedFinding]:
        """The findings that an audit fails on, the most expensive first."""
        failures = [named for named in self.found if self.is_failure(named.finding)]
        return sorted(failures, key=lambda named: -named.finding.weight)

    def annotations(self) -> Iterator[Annotation | Line]:
        """Yield an annotation for each finding, at the line of the program."""
        for named in self.found:
            finding = named.finding
            is_error = self.is_failure(finding) or not errors().isdisjoint(finding.kinds)
            level = "error" if is_error else "warning"
            yield Annotation(finding.message, *self._place(named), finding.kinds[0], level)

    def _place(self, named: NamedFinding) -> tuple[str, int]:
        """Return the file and line to annotate: in the program if it exists, else in the dump."""
        location = named.finding.location
        if location is None:
            return named.file, named.line
        path = self.program.path(location[0]) or location[0]
        relative = os.path.relpath(path) if os.path.isabs(path) else path
        return path if relative.startswith("..") else relative, location[1]
