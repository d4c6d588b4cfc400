"""What is around the findings of a kernel: the verdict above, memory and registers below."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from tt_layout.audit.bounds import Bounds
from tt_layout.audit.findings import Finding, Urgency
from tt_layout.audit.kernel import Kernel
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.executions import ASSUMED_TRIPS
from tt_layout.reports.advice_text import NO_FIX
from tt_layout.reports.finding_groups import sorted_groups
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.report import GAP
from tt_layout.safe_text import safe
from tt_layout.wording import count, duration

NOTHING = "nothing is worth a change"
"""The verdict on a kernel whose fixes all remove too little."""

BUSY = 0.5
"""The part of a measured time from which on the busiest resource is what binds a kernel."""


def summary_colour(summary: Kernel) -> str:
    """Return the colour of a summary on a terminal."""
    if summary.errors:
        return "red"
    return "yellow" if summary.findings else "green"


def verdict_paragraph(summary: Kernel, adviser: Adviser) -> Paragraph:
    """Return a kernel with its verdict."""
    text = f"{summary.heading}: {safe(verdict(summary, adviser))}"
    return Paragraph(text, indent=4, colour=summary_colour(summary))


def state(summary: Kernel) -> list[Paragraph]:
    """Return what is below the findings of a kernel: its memory and its registers."""
    texts = [summary.memory, resources(summary)]
    if not summary.findings and not summary.needed:
        texts.insert(0, summary.absences)
    return [Paragraph(text, GAP, 2 * len(GAP)) for text in texts if text]


def head_texts(summary: Kernel, adviser: Adviser) -> Iterator[str]:
    """Yield the verdict, what was found, and what a multiprocessor holds of the kernel."""
    yield safe(verdict(summary, adviser))
    yield summary.counts
    yield from filter(None, [resources(summary)])


def resources(summary: Kernel, *, is_short: bool = False) -> str:
    """Return the registers of a kernel, and how many CTAs fit; empty where neither is known."""
    registers, occupancy = summary.registers, summary.occupancy
    texts = [_registers_text(registers)] if registers is not None else []
    if occupancy is not None:
        texts.append(occupancy.short if is_short else occupancy.text)
    texts += filter(None, [_unknown_text(summary)])
    return "; ".join(texts)


def _unknown_text(summary: Kernel) -> str:
    """Return what is not known of a kernel, because no source gives it for its GPU."""
    target = summary.chip
    if target is None or not target.unknown:
        return ""
    *first, last = target.unknown
    return f"{' and '.join(filter(None, [', '.join(first), last]))} not known for {target.name}"


def _registers_text(own: RegisterPressure) -> str:
    if own.usual_limit is not None:
        both = f"{own.usual_limit} registers per lane, of {own.limit} with the large register file"
        return f"tensors take {own.live} of {both}"
    if own.compiled is None:
        return f"about {own.needed} of {own.limit} registers per thread"
    spilled = f", {own.spilled or 'none'} spilled" if own.spilled is not None else ""
    of = f"{own.compiled.used} of {own.limit} registers per thread"
    return f"{of}{spilled} (compiled: {safe(own.compiled.source)})"


def verdict(summary: Kernel, adviser: Adviser) -> str:
    """Return whether a kernel compiles and fits, what binds it, and what there is to gain."""
    urgent = [one for one in summary.findings if one.urgency != Urgency.CYCLES]
    if urgent:
        first = urgent[0].occurrences[0]
        alike = [one for one in urgent if one.occurrences[0].counted == first.counted]
        return first.headline(len(alike), urgent[0])
    shares = adviser.shares
    bounds = shares.bounds(summary.function)
    bound = _bound_text(bounds, shares.measured(summary.function)) if bounds is not None else ""
    parts = [bound] * bool(bound) + [_gain_text(summary, adviser)]
    return "; ".join(parts)


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
    is_launch = bounds.programs is not None
    least = (
        f"about {took} if loops run {ASSUMED_TRIPS} times"
        if bounds.is_assumed
        else f"at least {took}"
    )
    return f"bound by {largest.resource}" + f": {least}" * is_launch


def _gain_text(summary: Kernel, adviser: Adviser) -> str:
    """Return how many fixes there are for a kernel, and changes of its program."""
    if not summary.findings:
        return "no findings"
    own = {id(finding) for finding in summary.findings}
    groups = sorted_groups(adviser)
    large = [group for group in groups.large if id(group.findings[0]) in own]
    fixes = sum(id(group.findings[0]) in own for group in groups.fixes.values())
    first = [group.findings[0] for group in large]
    changes = sum(bool(one.program_change) and adviser.best(one) is None for one in first)
    texts = [f"{count(fixes, 'fix')} found"] * bool(fixes)
    texts += [f"{count(changes, 'change')} of the program to try"] * bool(changes)
    if texts:
        return ", ".join(texts)
    is_small = not large and any(map(_has_way_out, repeat(adviser), summary.findings))
    return NOTHING if is_small else NO_FIX


def _has_way_out(adviser: Adviser, finding: Finding) -> bool:
    return bool(finding.program_change) or adviser.best(finding) is not None
