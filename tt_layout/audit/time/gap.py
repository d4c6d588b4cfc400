"""The gap between a kernel's estimated time and its largest bound, and what takes it.

Read next:    `tt_layout.audit.verdict`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tt_layout.audit.bounds import Bound, Bounds
from tt_layout.audit.bounds.bounds import DRAM, L2
from tt_layout.audit.time import launch
from tt_layout.audit.time.estimate import Estimate
from tt_layout.wording import count, duration

NEAR = 1.25
"""An estimate within this factor of a bound leaves nothing to explain."""

FLOORS = (DRAM, "tensor cores")
"""Resources of which every configuration of a kernel asks as much."""

UNEVEN = 1.2
"""Factor from which on the multiprocessors that the last wave leaves idle are said."""

_SUBJECTS = {
    launch.LATENCY: "exposed latency",
    launch.SPILLS: "spilled registers",
    launch.CONTENDED: "atomics on the same addresses",
    launch.PROGRAMS: "the start of programs",
    launch.LAUNCH: "the launch itself",
    "issue": "the issue of instructions",
}
"""Term of an estimate -> what it is called in a sentence; the others by their names."""

_PLURALS = (launch.SPILLS, launch.CONTENDED, "special functions", "tensor cores", "atomics")

_TERMS = {"FMA": "issue"}
"""Resource of a bound -> the term of an estimate, where their names differ."""


@dataclass(frozen=True)
class Gap:
    """An estimate beside the largest bound of the same programs.

    Attributes:
        estimate: the estimate.
        bounds: lower bounds; None where no rates are known.
    """

    estimate: Estimate
    bounds: Bounds | None

    @property
    def bound(self) -> Bound | None:
        """The largest bound; None where none is known, or loops run an unknown number of times.

        Without a grid it is one within a multiprocessor where DRAM depends on the grid.  That of L2
        counts what L1 holds, too: where the estimate is below it, it is none.
        """
        bounds = self.bounds
        if bounds is None or bounds.is_assumed:
            return None
        bound = bounds.binding or bounds.within
        if bound is None or bound.resource != L2 or self.least(bound) <= self.estimate.seconds:
            return bound
        return next((one for one in bounds.bounds if one.resource != L2 and one.cycles), None)

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
        return bound.resource in FLOORS and self._is_near(bound)

    def _is_near(self, bound: Bound) -> bool:
        return self.estimate.seconds <= NEAR * self.least(bound)

    @property
    def text(self) -> str:
        """The time, the bound, and what takes the rest."""
        bound = self.bound
        texts = [self.estimate.text]
        if bound is not None:
            at_best = f"{duration(self.least(bound))} at best by {bound.resource}"
            depends = self.bounds is not None and self.bounds.binding is None
            texts.append(at_best + " (DRAM depends on the grid)" * depends)
        if bound is None or not self._is_near(bound):
            texts.append(self._rest(bound))
        return "; ".join(texts)

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
        return f"{subject} {does} {what}" + f": {facts}" * bool(facts)

    def _facts(self, name: str) -> Iterator[str]:
        """Yield what a term rests on."""
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
        yield f"{count(timed.resident, 'CTA')} on a multiprocessor"
        if -(-timed.waves // 1) >= UNEVEN * timed.waves and timed.waves > 1:
            yield f"{timed.waves:.2g} waves"
