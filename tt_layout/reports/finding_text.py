"""Findings as text: those alike together, each with its cost, its line and the way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.audit import Audit
from tt_layout.audit.findings import Finding
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.executions import Executions, is_in_loop
from tt_layout.ir.operations import Location, attribute_of
from tt_layout.reports.advice_text import advice_lines
from tt_layout.reports.dump_text import short_operation, short_type
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe
from tt_layout.wording import count, lines

MAX_SHOWN = 12  # groups of findings that are listed, unless all are asked for
MAX_LINES = 6  # lines of the dump that are listed of one group


def finding_lines(
    audit: Audit, program: ProgramSource, *, is_whole: bool
) -> Iterator[Line | Fitted]:
    """Yield the findings of a module, the most expensive first."""
    groups = grouped(audit.findings)
    if not groups:
        return
    yield Line()
    yield Line("findings")
    shown = groups if is_whole else groups[:MAX_SHOWN]
    adviser = Adviser(audit)
    shown_before: dict[tuple[str, ...], int] = {}
    for number, group in enumerate(shown, 1):
        yield from _group_lines(number, group, program)
        advice = advice_lines(adviser, group[0], is_whole=is_whole) if number <= MAX_SHOWN else ()
        lines = tuple(advice)
        before = shown_before.setdefault(lines, number)
        if before != number and lines and lines[0].startswith("instead"):
            lines = (f"instead: what finding {before} names saves that, too",)
        for text in lines:
            yield Paragraph(text, " " * len(f"  {number}. "), len(f"  {number}. ") + 3)
    if len(shown) < len(groups):
        yield Line(f"  and {len(groups) - len(shown)} more: --all lists them")


def grouped(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return findings with those that are alike but for their line together, in order."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        groups.setdefault(_likeness(finding) or number, []).append(finding)
    return sorted(groups.values(), key=_rank)


def _likeness(finding: Finding) -> tuple[object, ...] | None:
    """Return what findings that are shown together have in common; None of errors."""
    if finding.is_error:
        return None
    own = finding.kinds, finding.function, finding.message
    if finding.movement is None:
        return own
    operation = finding.movement.operation
    return *own, attribute_of(operation.source), attribute_of(operation.target)


def _rank(group: Sequence[Finding]) -> tuple[int, float]:
    return group[0].urgency, -sum(finding.weight for finding in group)


def _group_lines(
    number: int, group: Sequence[Finding], program: ProgramSource
) -> Iterator[Line | Fitted]:
    first = group[0]
    colour = "red" if first.is_error else "yellow"
    indent = len(f"  {number}. ")
    text = f"{_places(group)}: {first.message}"
    yield Paragraph(text, f"  {number}. ", indent, colour)
    for location in dict.fromkeys(finding.location for finding in group):
        line = program.line(location)
        where = _where(location)
        if where is not None:
            text = f"{where}: {line}" if line is not None else where
            yield Paragraph(text, " " * indent + "at ", indent + 3)
    cost = _cost(group)
    if cost:
        yield Paragraph(cost, " " * indent, indent)


def _places(group: Sequence[Finding]) -> str:
    return lines([finding.line for finding in group], MAX_LINES)


def _where(location: Location | None) -> str | None:
    return safe(str(location)) if location is not None else None


def _cost(group: Sequence[Finding]) -> str:
    """Return what a group wastes, and how often."""
    first = group[0]
    if not first.cost:
        return ""
    moved = first.movement.operation.moved if first.movement is not None else None
    of = f" of {short_type(moved)}" if moved is not None else ""
    what = f"{short_operation(first.name)}{of}"
    runs = [_runs(finding.runs) for finding in group if finding.runs is not None]
    each = " each" * (len(group) > 1)
    how_often = ", ".join(dict.fromkeys(runs))
    return f"{what}: {count(round(first.cost, 1), 'cycle')}{each} that could be saved, {how_often}"


def _runs(executions: Executions) -> str:
    """Return how often the operation of a finding runs, in words."""
    number, text = executions.number, executions.text
    times = "once" if text == "1" else f"{text} times"
    if number is not None and text != str(number):
        times += f" = {number}"
    return times + " in a loop" * is_in_loop(executions)
