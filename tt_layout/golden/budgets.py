"""The kind ``budget``: upper limits of numbers, kept in the manifest itself.

What becomes cheaper passes, where a golden file would ask to be updated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tt_layout.encodings import SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.golden.case import Case
from tt_layout.golden.inputs import moved_on_line
from tt_layout.golden.yaml_nodes import MappingNode, ScalarNode

KEY = "at_most"


CONFLICTS = "conflicts"
"""The kind of findings whose weight is that of bank conflicts."""


def exceeded(case: Case) -> tuple[str, ...]:
    """Return the exceeded limits of a case, each in words.

    Raises:
        LayoutError: a case of its kind has no such number, or a limit is not one.
    """
    numbers = numbers_of(case)
    return tuple(_exceeded(case, numbers))


def _exceeded(case: Case, numbers: Mapping[str, float | None]) -> Iterator[str]:
    node = case.get(KEY)
    assert isinstance(node, MappingNode)
    for key, limit in node.entries:
        if key.text not in numbers:
            message = f"{KEY} has no number {key.text!r} here; choose from {', '.join(numbers)}"
            raise LayoutError(message, key.span)
        if not isinstance(limit, ScalarNode) or not limit.text.isdecimal():
            raise LayoutError(f"the limit of {key.text} must be a whole number", limit.span)
        value = numbers[key.text]
        if value is None:
            yield f"{key.text}: at most {limit.text}, but it is not known"
        elif value > int(limit.text):
            yield f"{key.text}: at most {limit.text}, is {value:g}"


def numbers_of(case: Case) -> dict[str, float | None]:
    """Return the numbers of a case: of its dump, access or conversion."""
    if case.get("line") is not None:
        moved = moved_on_line(case)
        is_conversion = not any(isinstance(e, SharedEncoding) for e in (moved.before, moved.after))
        return _of_conversion(case) if is_conversion else _of_conflicts(case)
    if case.get("with") is not None:
        return _of_conflicts(case)
    if case.get("to") is not None:
        return _of_conversion(case)
    return _of_dump(case)


def _of_dump(case: Case) -> dict[str, float | None]:
    """Return the maximum over the kernels of a dump; the sum of errors and conflicts."""
    from tt_layout.audit.facts import SPILLS
    from tt_layout.audit.kernel import kernels_of
    from tt_layout.golden.costs import findings_of

    audits = findings_of(case).audits
    kernels = [kernel for audit in audits for kernel in kernels_of(audit)]
    if not kernels:
        raise LayoutError("the file has no kernel that moves data", case.span("file"))
    findings = [finding for kernel in kernels for finding in kernel.findings]
    facts = [kernel.facts for kernel in kernels]
    return {
        "bound_cycles": _largest(fact.bound_cycles for fact in facts),
        "cost": max(fact.finding_cycles for fact in facts),
        "cycles": max(fact.cycles for fact in facts),
        "empty_warps": _largest(kernel.empty_warps for kernel in kernels),
        "errors": sum(fact.errors for fact in facts),
        "estimate_us": _largest(fact.estimate_us for fact in facts),
        "extra_wavefronts": sum(line.weight for line in findings if CONFLICTS in line.kinds),
        "findings": len(findings),
        "registers": _largest(fact.registers for fact in facts),
        "shared_bytes": _largest(fact.shared_bytes for fact in facts),
        "spilled": _largest(fact.spilled for fact in facts),
        "spills": _sum(fact.spills and int(SPILLS[fact.spills] > 1) for fact in facts),
        "without_instruction": sum(fact.without_instruction for fact in facts),
    }


def _sum(numbers: Iterable[int | str | None]) -> int | None:
    """Return the sum; None if a number is unknown."""
    values = list(numbers)
    present = [number for number in values if isinstance(number, int)]
    return sum(present) if len(present) == len(values) else None


def _largest(numbers: Iterable[float | None]) -> float | None:
    """Return the maximum; None if one is unknown, or there is none."""
    values = list(numbers)
    present = [number for number in values if number is not None]
    return max(present) if present and len(present) == len(values) else None


def _of_conflicts(case: Case) -> dict[str, float | None]:
    """Return the numbers of a warp's store and load."""
    from tt_layout.golden.costs import conflicts_of

    accesses = conflicts_of(case).accesses
    return {
        "wavefronts": sum(access.wavefronts for access in accesses),
        "extra_wavefronts": sum(access.extra_wavefronts for access in accesses),
    }


def _of_conversion(case: Case) -> dict[str, float | None]:
    """Return the numbers of a CTA's conversion; those of shared memory as compiled."""
    from tt_layout.golden.costs import conversion_of

    report = conversion_of(case)
    compiled = report.compiled
    steps = [step for step in (compiled.store, compiled.load) if step] if compiled else []
    return {
        "extra_wavefronts": sum(step.extra_wavefronts or 0 for step in steps),
        "moved_bytes": report.cost.moved_bytes if report.cost else None,
        "scratch_bytes": report.scratch.bytes if report.scratch else 0,
        "shuffles": compiled.shuffles if compiled else 0,
        "wavefronts": sum(step.wavefronts or 0 for step in steps),
    }
