"""The verdict on a kernel: whether it runs at all, what binds it, and what there is to gain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

from tt_layout.audit.bounds import Bounds
from tt_layout.audit.finding_groups import led_by, sorted_groups
from tt_layout.audit.findings import Finding, Urgency
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.time.gap import Gap
from tt_layout.audit.values.executions import ASSUMED_TRIPS
from tt_layout.wording import count, duration

NOTHING = "nothing is worth a change"
"""The verdict on a kernel whose fixes all remove too little."""

EMPTY = "nothing in it moves or multiplies tensors"
"""The verdict on a kernel without tensors."""

BEFORE_LAYOUTS = (
    "this is TTIR, before layouts are chosen: give the .ttgir of the same compilation, which is in"
    " Triton's cache, and which TRITON_KERNEL_DUMP=1 writes"
)
"""The verdict on a kernel without layouts."""

NO_FIX = "no fix was found"

AT_ITS_BOUND = "nothing to gain"
"""The verdict on a kernel whose estimate is near what every configuration needs."""

SMALL = "its findings are small"
"""The verdict on a kernel far above its bounds, which its findings do not cause."""

BUSY = 0.5
"""The part of a measured time from which on the busiest resource is what binds a kernel."""


def verdict_text(
    findings: Sequence[Finding],
    bounds: Bounds | None,
    measured: float | None,
    adviser: Adviser,
    estimate: Callable[[], Estimate | NoEstimate],
) -> str:
    """Return whether a kernel compiles and fits, its time, what takes it, and what to gain.

    Args:
        findings: of the kernel, those to act on first.
        bounds: lower bounds of its time; None where no rates are known.
        measured: cycles of a launch; None where none was measured.
        adviser: answers for the findings.
        estimate: finds its time.
    """
    urgent = [finding for finding in findings if finding.urgency != Urgency.CYCLES]
    if urgent:
        first = urgent[0].occurrences[0]
        alike = [finding for finding in urgent if finding.occurrences[0].counted == first.counted]
        return first.headline(len(alike), urgent[0])
    bound = _bound_text(bounds, measured) if bounds is not None else ""
    if measured is not None:
        return "; ".join(filter(None, [bound, _gain_text(findings, adviser)]))
    time = estimate()
    if isinstance(time, NoEstimate):
        return "; ".join(filter(None, [bound, _gain_text(findings, adviser)]))
    gap = Gap(time, bounds)
    return f"{gap.text}; {_gain_text(findings, adviser, gap)}"


def _bound_text(bounds: Bounds, measured: float | None) -> str:
    """Return the resource that binds, and its time where one is known; empty without any."""
    largest = bounds.largest
    if largest is None:
        return ""
    took = duration(bounds.seconds(largest))
    if measured is not None:
        of = f"{took} of {duration(measured / bounds.rates.clock_hz)}"
        if largest.cycles < BUSY * measured:
            return f"{largest.resource}, the busiest that is counted, takes {of}"
        return f"bound by {largest.resource}: {of}"
    if bounds.programs is None:
        return _wave_text(bounds)
    least = (
        f"about {took} if loops run {ASSUMED_TRIPS} times"
        if bounds.is_assumed
        else f"at least {took}"
    )
    return f"bound by {largest.resource}: {least}"


def _wave_text(bounds: Bounds) -> str:
    """Return the resource that binds without a grid, and what is assumed of one."""
    binding, within = bounds.binding, bounds.within
    if binding is not None:
        return f"bound by {binding.resource}" + f" ({bounds.assumption})" * bool(bounds.assumption)
    if within is None:
        return "whether DRAM binds it depends on the grid"
    return f"bound by {within.resource} within a multiprocessor (DRAM depends on the grid)"


def _gain_text(findings: Sequence[Finding], adviser: Adviser, gap: Gap | None = None) -> str:
    """Return the number of fixes for a kernel, and of changes of its program."""
    is_closed = gap is not None and gap.is_closed
    if not findings:
        return AT_ITS_BOUND if is_closed else "no findings"
    groups = sorted_groups(adviser)
    large = led_by(findings, groups.large)
    fixes = len(led_by(findings, groups.fixes.values()))
    first = [group.findings[0] for group in large]
    changes = sum(
        bool(finding.program_change) and adviser.best(finding) is None for finding in first
    )
    texts = [f"{count(fixes, 'fix')} found"] * bool(fixes)
    texts += [f"{count(changes, 'change')} of the program to try"] * bool(changes)
    if texts:
        return ", ".join(texts)
    if gap is not None and not large:
        return AT_ITS_BOUND if is_closed else SMALL
    is_small = not large and any(map(_has_way_out, repeat(adviser), findings))
    return NOTHING if is_small else NO_FIX


def _has_way_out(adviser: Adviser, finding: Finding) -> bool:
    return bool(finding.program_change) or adviser.best(finding) is not None
