"""The verdict on a kernel: whether it runs at all, what binds it, and what can be gained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from tt_layout.audit.bounds import Bound, KernelBounds
from tt_layout.audit.bounds.bounds import L2
from tt_layout.audit.finding_groups import Group, led_by, sorted_groups
from tt_layout.audit.findings import Finding, Urgency
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.time import launch
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.values.executions import ASSUMED_TRIPS
from tt_layout.records import dataclass
from tt_layout.wording import count, duration

EMPTY = "nothing in it moves or multiplies tensors"
"""The verdict on a kernel without tensors."""

BEFORE_LAYOUTS = (
    "this is TTIR, before layouts are chosen: give the .ttgir of the same compilation, which is in"
    " Triton's cache, and which TRITON_KERNEL_DUMP=1 writes"
)
"""The verdict on a kernel without layouts."""

NO_FIX = "no fix was found"

SMALL_GAINS = "only small gains were found"
"""The verdict on a kernel whose large findings nothing helps, but small ones something does."""

AT_ITS_BOUND = "nothing to gain"
"""The verdict on a kernel whose estimate is near the bound of every configuration."""

SMALL = "its findings are small"
"""The verdict on a kernel whose findings are not known to take much of its time."""

BUSY = 0.5
"""Share of a measured time from which the busiest resource is said to bind a kernel."""

_IF_ASSUMED = f" if loops run {ASSUMED_TRIPS} times"
_IF_NESTED = f" if all that loops repeat runs {ASSUMED_TRIPS} times"
"""Condition of a bound that assumes unknown trip counts."""

_IF_TAKEN = " if every branch is taken"
"""Condition of a bound that assumes branches alone."""

NEAR = 1.25
"""Factor over a bound up to which an estimate needs no further explanation."""

BELOW = 1.1
"""Factor by which an estimate may be below a valid bound."""

UNEVEN = 1.2
"""Factor from which the verdict mentions multiprocessors that the last wave leaves idle."""

_SUBJECTS = {
    launch.LATENCY: "exposed latency",
    launch.SPILLS: "spilled registers",
    launch.CONTENDED: "atomics on the same addresses",
    launch.PROGRAMS: "the start of programs",
    launch.LAUNCH: "the launch itself",
    "issue": "the issue of instructions",
    launch.FETCH: "instructions that no cache holds",
}
"""Term of an estimate -> its name in a sentence, where that differs."""

_PLURALS = (
    launch.SPILLS,
    launch.CONTENDED,
    launch.FETCH,
    "special functions",
    "tensor cores",
    "atomics",
)

_TERMS = {"FMA": "issue"}
"""Resource of a bound -> the term of an estimate, where their names differ."""


def verdict_clauses(
    findings: Sequence[Finding],
    bounds: KernelBounds | None,
    measured: float | None,
    adviser: Adviser,
    estimate: Callable[[], Estimate | NoEstimate],
) -> tuple[str, ...]:
    """Return whether a kernel compiles and fits, its time, what takes it, and possible gains.

    Args:
        findings: findings of the kernel, the most urgent first.
        bounds: lower bounds of its time; None where none are known.
        measured: cycles of a launch; None where none was measured.
        adviser: causes and alternatives of the findings.
        estimate: returns its estimated time.
    """
    urgent = [finding for finding in findings if finding.urgency != Urgency.CYCLES]
    if urgent:
        first = urgent[0].occurrences[0]
        alike = [finding for finding in urgent if finding.occurrences[0].counted == first.counted]
        return (first.headline(len(alike), urgent[0]),)
    bound = _bound_text(bounds, measured) if bounds is not None else ""
    time = estimate() if measured is None else None
    if not isinstance(time, Estimate):
        return *filter(None, [bound]), _gain_text(findings, adviser)
    gap = BoundGap(time, bounds)
    return *gap.clauses, _gain_text(findings, adviser, gap)


def _bound_text(bounds: KernelBounds, measured: float | None) -> str:
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
    if bounds.assumes_trips:
        return f"bound by {largest.resource}{_condition(bounds)}"
    return f"bound by {largest.resource}: at least {took}{_condition(bounds)}"


def _condition(bounds: KernelBounds) -> str:
    """Return what a bound assumes of loops and branches; empty for a valid one."""
    if bounds.assumes_trips:
        return _IF_NESTED if bounds.work.assumes_nests else _IF_ASSUMED
    return _IF_TAKEN if bounds.is_assumed else ""


def _wave_text(bounds: KernelBounds) -> str:
    """Return the resource that binds without a grid, and the assumed wave."""
    binding, within = bounds.binding, bounds.within
    trips = _condition(bounds)
    if binding is not None:
        wave = f" ({bounds.assumption})" if bounds.assumption else ""
        return f"bound by {binding.resource}{trips}{wave}"
    if within is None:
        return f"whether DRAM binds it depends on the {bounds.memory.decided_by}"
    where = bounds.wave.called if bounds.wave is not None else "multiprocessor"
    depends = f"DRAM depends on the {bounds.memory.decided_by}"
    return f"bound by {within.resource} within a {where}{trips} ({depends})"


def _gain_text(findings: Sequence[Finding], adviser: Adviser, gap: BoundGap | None = None) -> str:
    """Return the number of fixes for a kernel, and of changes of its program."""
    is_closed = gap is not None and gap.is_closed
    if not findings:
        return AT_ITS_BOUND if is_closed else "no findings"
    groups = sorted_groups(adviser)
    large = led_by(findings, groups.large)
    fixes = len(led_by(findings, groups.fixes))
    changes = changes_of(large, adviser)
    texts = [f"{count(fixes, 'fix')} found"] if fixes else []
    if changes:
        texts += [f"{count(len(changes), 'change')} of the program to try"]
    if texts:
        return ", ".join(texts)
    are_helped = any(finding.program_change or adviser.best(finding) for finding in findings)
    if large:
        return SMALL_GAINS if are_helped else NO_FIX
    if gap is None and not are_helped:
        return NO_FIX
    return AT_ITS_BOUND if is_closed else SMALL


def changes_of(groups: Iterable[Group], adviser: Adviser) -> frozenset[str]:
    """Return what changes of the program are made to, for groups of findings without a fix."""
    first = (group.findings[0] for group in groups)
    subjects = (finding.change_subjects for finding in first if adviser.best(finding) is None)
    return frozenset(chain.from_iterable(subjects))


@dataclass(frozen=True)
class BoundGap:
    """An estimate and the largest bound of the same programs.

    Attributes:
        estimate: the estimate.
        bounds: lower bounds; None where no rates are known.
    """

    estimate: Estimate
    bounds: KernelBounds | None

    @property
    def bound(self) -> Bound | None:
        """The largest bound; None where none is known, or loops run an unknown number of times.

        Without a grid it is one within a multiprocessor where DRAM depends on the grid.  One that
        the estimate is below counts more than there is, as lanes of a mask that is not known, or
        what L1 holds: it is none.
        """
        bounds = self.bounds
        if bounds is None or bounds.is_assumed:
            return None
        bound = bounds.binding or bounds.within
        if bound is None or self._is_kept(bound):
            return bound
        others = (one for one in bounds.bounds if one.cycles and one.resource != L2)
        return next(filter(self._is_kept, others), None)

    def _is_kept(self, bound: Bound) -> bool:
        """Tell whether the estimate, within its error, is not below a bound."""
        error = 1 if bound.resource == L2 else BELOW
        return self.least(bound) <= error * self.estimate.seconds

    def least(self, bound: Bound) -> float:
        """Return the seconds of a bound: of the launch, or of the wave that is estimated."""
        assert self.bounds is not None
        seconds = self.bounds.seconds(bound)
        if self.bounds.programs is not None:
            return seconds
        return seconds * self.estimate.launch.programs / self.bounds.rates.multiprocessors

    @property
    def is_closed(self) -> bool:
        """Whether the estimate is near a bound of every configuration, and no spill is in doubt."""
        bound = self.bound
        if bound is None or self.estimate.program.may_spill:
            return False
        return bound.resource in launch.FLOORS and self._is_near(bound)

    def _is_near(self, bound: Bound) -> bool:
        return self.estimate.seconds <= NEAR * self.least(bound)

    @property
    def clauses(self) -> tuple[str, ...]:
        """The time, the bound, and what takes the rest."""
        bound = self.bound
        texts = [self.estimate.text]
        if bound is not None:
            at_best = f"{duration(self.least(bound))} at best by {bound.resource}"
            bounds = self.bounds
            if bounds is not None and bounds.binding is None:
                at_best += f" (DRAM depends on the {bounds.memory.decided_by})"
            texts.append(at_best)
        if bound is None or not self._is_near(bound):
            texts.append(self._rest(bound))
        return tuple(texts)

    def _rest(self, bound: Bound | None) -> str:
        """Return the term that takes most of what the bound does not explain."""
        own = _TERMS.get(bound.resource, bound.resource) if bound is not None else None
        terms = self.estimate.terms
        name = max((one for one in terms if one != own), key=lambda one: terms[one])
        subject = _SUBJECTS.get(name, name)
        main = self.estimate.launch.walked.main
        if name == launch.LATENCY and main is not None:
            subject += f" of the loop at line {main.loop.line}"
        does = "take" if name in _PLURALS else "takes"
        what = "the rest" if bound is not None else "most of it"
        facts = ", ".join(self._facts(name))
        return f"{subject} {does} {what}" + (f": {facts}" if facts else "")

    def _facts(self, name: str) -> Iterator[str]:
        """Yield the facts behind a term."""
        timed = self.estimate.launch
        if name == launch.SPILLS:
            yield f"about {timed.spilled:.0f} of a thread"
        if name == launch.PROGRAMS:
            yield count(timed.programs, "program")
        if name != launch.LATENCY:
            return
        stages = self.estimate.program.stages
        if stages > 1:
            yield f"{stages} stages"
        yield f"{count(timed.resident, 'CTA')} on a {self.estimate.chip.backend.multiprocessor}"
        if -(-timed.waves // 1) >= UNEVEN * timed.waves and timed.waves > 1:
            yield f"{timed.waves:.2g} waves"
