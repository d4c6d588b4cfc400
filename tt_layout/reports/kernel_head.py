"""What stands above the findings of a kernel: the verdict first, then what was counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tt_layout.audit.bounds import Bounds
from tt_layout.audit.findings import Urgency
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.shares import Basis
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.summary import Summary
from tt_layout.audit.values.executions import ASSUMED_TRIPS
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.report import GAP
from tt_layout.safe_text import safe
from tt_layout.wording import duration

BUSY = 0.5
"""The part of a measured time from which on the busiest resource is what binds a kernel."""


def kernel_heads(found: Iterable[Summary], adviser: Adviser) -> Iterator[Paragraph]:
    """Yield what stands above the findings of each kernel of a module."""
    for summary in found:
        first, *others = head_texts(summary, adviser)
        yield Paragraph(f"{summary.heading}: {first}", indent=4, colour=summary_colour(summary))
        yield from (Paragraph(text, GAP, 4) for text in others)


def summary_colour(summary: Summary) -> str:
    """Return the colour of a summary on a terminal."""
    if summary.errors:
        return "red"
    return "yellow" if summary.findings else "green"


def head_texts(summary: Summary, adviser: Adviser) -> Iterator[str]:
    """Yield the verdict, what was found, and what a multiprocessor holds of the kernel."""
    yield safe(verdict(summary, adviser))
    yield summary.counts
    yield from filter(None, [resources(summary)])


def resources(summary: Summary, *, is_short: bool = False) -> str:
    """Return the registers of a kernel, and how many CTAs fit; empty where neither is known."""
    registers, occupancy = summary.registers, summary.occupancy
    texts = [_registers_text(registers)] if registers is not None else []
    if occupancy is not None:
        texts.append(occupancy.short if is_short else occupancy.text)
    texts += filter(None, [_unknown_text(summary)])
    return "; ".join(texts)


def _unknown_text(summary: Summary) -> str:
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


def verdict(summary: Summary, adviser: Adviser) -> str:
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


def _gain_text(summary: Summary, adviser: Adviser) -> str:
    """Return how much of a kernel is avoidable, and whether that matters."""
    if not summary.findings:
        return "no findings"
    cycles = adviser.avoidable(summary.findings)
    share = adviser.shares.of(summary.function, cycles)
    if share.part is None:
        return f"{cycles:g} cycles avoidable"
    of_what = " of its data movement" * (share.basis is Basis.CYCLES)
    if not cycles:
        return "no cheaper way was found"
    least = "" if share.percent.startswith("less") else "at most "
    large = f"{least}{share.percent}{of_what} avoidable"
    return f"{large}, nothing to gain here" if share.is_small else large
