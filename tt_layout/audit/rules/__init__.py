"""The kinds of findings: a file each, and a rule by being here.

A rule is a frozen dataclass under `tt_layout.audit.findings.Occurrence`, in a module called like
its kind.  The module's docstring is the documentation of the kind, under the headings `HEADINGS`;
the table in ``docs/audit.md`` is made from it.  Text, JSON, page, the table of kernels,
annotations, ``--fail-on`` and the order of findings follow from the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Finding, Judgement, Note, Occurrence, Urgency

if TYPE_CHECKING:
    from tt_layout.audit.suggestions.context import SuggestionContext
    from tt_layout.audit.suggestions.suggestion import Suggestion

HEADINGS = ("What:", "Cost:", "Why:", "How to fix:", "When it does not pay:")
"""The sections of a rule's documentation."""


@cache
def rules() -> tuple[type[Occurrence], ...]:
    """Return every rule, in its order.

    Example:
        >>> [rule.kind for rule in rules()][:2]
        ['refused', 'registers']
    """
    names = (f"{__name__}.{module.name}" for module in iter_modules(__path__))
    items = [(name, item) for name in names for item in vars(import_module(name)).values()]
    occurrences = [
        item
        for name, item in items
        if isinstance(item, type) and issubclass(item, Occurrence) and item.__module__ == name
    ]
    named = [rule for rule in occurrences if "kind" in vars(rule)]
    return tuple(sorted(named, key=attrgetter("order")))


def kinds() -> tuple[str, ...]:
    """Return the names that ``--fail-on`` takes, in the order of the rules."""
    return tuple(rule.kind for rule in rules())


@cache
def errors() -> frozenset[str]:
    """Return the kinds that say that a kernel is refused, or cannot be launched."""
    return frozenset(rule.kind for rule in rules() if rule.urgency == Urgency.ERROR)


def find(rows: Sequence[MovementRow], conclusions: Conclusions) -> list[Finding]:
    """Return the findings of all rules, one per data movement, in the order of the report.

    Args:
        rows: the data movements that are judged: all of the module, or those of a line.
        conclusions: conclusions about the module.
    """
    merged: dict[object, Finding] = {}
    for rule in rules():
        for number, finding in enumerate(rule.find(rows, conclusions)):
            key: object = (rule.kind, number)
            if finding.movement is not None and not finding.is_error:
                key = finding.movement.operation.position
            if key in merged:
                occurrences = merged[key].occurrences + finding.occurrences
                finding = replace(merged[key], occurrences=occurrences)
            merged[key] = finding
    return sorted(merged.values(), key=_rank)


def judged(findings: Iterable[Finding], judge: Callable[[Finding], Note | None]) -> Judgement:
    """Separate findings from notes, to which every alternative is more expensive.

    Args:
        findings: findings of all rules.
        judge: returns the note of a finding, as `note_of`; None if it has none.
    """
    pairs = [(finding, judge(finding)) for finding in findings]
    return Judgement(
        tuple(finding for finding, note in pairs if note is None),
        tuple(note for _, note in pairs if note is not None),
    )


def note_of(finding: Finding, context: SuggestionContext) -> Note | None:
    """Return the note of a finding whose alternatives all cost more; else None."""
    alternatives: list[Suggestion] = []
    for occurrence in finding.occurrences:
        costlier = occurrence.costlier(finding, context)
        if not costlier:
            return None
        alternatives.append(costlier[0])
    return Note(finding, *alternatives[0].sums)


def _rank(finding: Finding) -> tuple[int, float, int]:
    return finding.urgency, -finding.weight, 0 if finding.is_error else finding.line
