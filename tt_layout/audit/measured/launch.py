"""Counters of Nsight Compute for one launch of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tt_layout.audit.measured.counters import (
    COUNTERS,
    GLOBAL_WAVEFRONTS,
    LSU_METRICS,
    METRICS,
    PLAIN_METRICS,
    Counter,
)

Counts = dict[Counter, float]


class Place(NamedTuple):
    """A line of the program; the file as it is named there."""

    file: str
    line: int


@dataclass
class Launch:
    """Counters of one launch of a kernel.

    Attributes:
        kernel: its name.
        number: that of the launch, as the file has it.
        ctas: of the grid; None where the page does not say it.
        grid: along each axis; None where the page does not say it.
        warps: that executed the first instruction; None on pages without instructions.
        cycles: of a multiprocessor, for which it ran; None where that was not measured.
        counts: of the whole launch.
        lines: of each line of the program; empty on pages that have none.
        lsu: what was counted as `LSU_METRICS`.
        plain: accesses to shared memory whose wavefronts are those of `PLAIN_METRICS`.
    """

    kernel: str
    number: str
    ctas: int | None = None
    grid: tuple[int, int, int] | None = None
    warps: float | None = None
    cycles: float | None = None
    counts: Counts = field(default_factory=dict)
    lines: dict[Place, Counts] = field(default_factory=dict)
    lsu: dict[str, float] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)

    def add(self, metric: str, number: float) -> None:
        """Add what a metric that is compared counted."""
        if metric in LSU_METRICS:
            self.lsu[metric] = number
            if len(self.lsu) == len(LSU_METRICS):
                of_all, of_shared = (self.lsu[name] for name in LSU_METRICS)
                self.counts[GLOBAL_WAVEFRONTS] = max(0, of_all - of_shared)
        elif (counter := PLAIN_METRICS.get(metric)) is not None:
            self.plain.add(counter.access)
            self.counts[counter] = number
        else:
            counter = METRICS[metric]
            if counter.unit != "wavefronts" or counter.access not in self.plain:
                self.counts[counter] = number

    def whole(self, counts: Counts) -> Counts:
        """Return counts of the launch with 0 for what no instruction of it was counted as."""
        if self.warps is None:
            return counts
        units = {counter.unit for counter in self.counts}
        asked = [one for one in COUNTERS if one.unit in units and one != GLOBAL_WAVEFRONTS]
        return {counter: counts.get(counter, 0) for counter in asked}
