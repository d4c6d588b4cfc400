"""What Nsight Compute counted of one launch of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tt_layout.audit.measured.counters import COUNTERS, Counter

Counts = dict[Counter, float]


class Place(NamedTuple):
    """A line of the program; the file as it is named there."""

    file: str
    line: int


@dataclass
class Launch:
    """What was counted of one launch of a kernel.

    Attributes:
        kernel: its name.
        number: that of the launch, as the file has it.
        ctas: of the grid; None where the page does not say it.
        grid: along each axis; None where the page does not say it.
        warps: that executed the first instruction; None on pages without instructions.
        counts: of the whole launch.
        lines: of each line of the program; empty on pages that have none.
    """

    kernel: str
    number: str
    ctas: int | None = None
    grid: tuple[int, int, int] | None = None
    warps: float | None = None
    counts: Counts = field(default_factory=dict)
    lines: dict[Place, Counts] = field(default_factory=dict)

    def whole(self, counts: Counts) -> Counts:
        """Return counts of the launch with 0 for what no instruction of it was counted as."""
        if self.warps is None:
            return counts
        units = {counter.unit for counter in self.counts}
        return {counter: counts.get(counter, 0) for counter in COUNTERS if counter.unit in units}
