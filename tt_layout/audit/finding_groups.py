"""Numbered groups of similar findings: those that matter, small ones, and those cured by others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tt_layout.audit.findings import Finding, Urgency
from tt_layout.audit.suggestions.adviser import Adviser, exclusion_key
from tt_layout.ir.operations import attribute_of
from tt_layout.tuples import NamedTuple


class Group(NamedTuple):
    """Similar findings, and their number in the report."""

    number: int
    findings: Sequence[Finding]

    @property
    def function(self) -> str | None:
        """The kernel that they are in."""
        return self.findings[0].function


class SortedGroups(NamedTuple):
    """The findings of a module.

    Attributes:
        large: groups that matter, by the first finding of each.
        small: groups too small to matter.
        cured: groups that the fix of a large one removes.
        fixes: large groups with different fixes, by the first finding of each, but for those that
            estimates say to be in vain.
    """

    large: dict[Finding, Group]
    small: list[Group]
    cured: list[Group]
    fixes: dict[Finding, Group]


def similar_findings(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Group findings that differ only in their line, in order."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        groups.setdefault(_likeness(finding) or number, []).append(finding)
    return sorted(groups.values(), key=_rank)


def numbered(findings: Sequence[Finding]) -> list[Group]:
    """Return the groups of a module's findings with their numbers in the report."""
    return [Group(number, group) for number, group in enumerate(similar_findings(findings), 1)]


def _likeness(finding: Finding) -> tuple[object, ...] | None:
    """Return the key that findings shown together share; None for errors."""
    if finding.is_error:
        return None
    subject = finding.kinds, finding.function, finding.message
    if finding.movement is None:
        return subject
    operation = finding.movement.operation
    return *subject, attribute_of(operation.source), attribute_of(operation.target)


def _rank(group: Sequence[Finding]) -> tuple[int, float]:
    return group[0].urgency, -sum(finding.weight for finding in group)


def sorted_groups(adviser: Adviser) -> SortedGroups:
    """Sort the findings of a module by whether they matter, and which fix removes which.

    They are sorted once for all kernels of the module.
    """
    return adviser.once_for_all(_sorted)


def _sorted(adviser: Adviser) -> SortedGroups:
    sorted_ = SortedGroups({}, [], [], {})
    fixed = set[object]()
    for group in numbered(adviser.audit.findings):
        best = adviser.best(group.findings[0])
        key = exclusion_key(best) if best is not None else None
        if key is not None and key in fixed:
            sorted_.cured.append(group)
            continue
        first = group.findings[0]
        if first.urgency == Urgency.CYCLES and _is_small(group, adviser):
            sorted_.small.append(group)
        else:
            sorted_.large[first] = group
            if best is not None and not adviser.share(first, best).is_in_vain:
                fixed.add(key)
                sorted_.fixes[first] = group
    return sorted_


def _is_small(group: Group, adviser: Adviser) -> bool:
    """Tell whether a group takes little of the time, and its fix is not estimated to pay."""
    first, share = group.findings[0], adviser.share_of(group.findings)
    if share is None or not share.is_small:
        return False
    best = adviser.best(first)
    change = adviser.share(first, best).change if best is not None else None
    return change is None or share._replace(change=change).is_small


def led_by(findings: Iterable[Finding], groups: Mapping[Finding, Group]) -> list[Group]:
    """Return the groups whose first finding is among some findings, in the order of the report.

    Args:
        findings: findings of a kernel.
        groups: groups of a module, by the first finding of each.
    """
    led = (groups[finding] for finding in findings if finding in groups)
    return sorted(led, key=lambda group: group.number)
