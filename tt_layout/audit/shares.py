"""How much of a kernel a finding is about: whether it matters.

No time is known of a dump alone.  A share is then one of the cycles of the kernel's own data
movements in one program, loops counted as findings count them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.findings import Finding, Urgency
from tt_layout.audit.values.executions import assumed_runs

LEAST_SHARE = 0.05
"""Below it a change pays by chance: of 26 that were measured, 9 were faster (docs/audit.md)."""


class Shares:
    """The shares of findings in the data movement of their kernels."""

    def __init__(self, movements: Sequence[MovementRow]) -> None:
        self._cycles: dict[str | None, float] = {}
        for row in movements:
            if row.cost is not None:
                cycles = row.cost.cycles * assumed_runs(row.executions)
                name = row.operation.function
                self._cycles[name] = self._cycles.get(name, 0.0) + cycles

    def cycles(self, function: str | None) -> float:
        """Return the cycles of the data movements of a kernel, as far as they are known."""
        return self._cycles.get(function, 0.0)

    def of(self, *findings: Finding) -> float | None:
        """Return the share of findings of one kernel, 0 to 1; None of what has no cycles."""
        weight, total = sum(one.weight for one in findings), self.cycles(findings[0].function)
        return min(1.0, weight / total) if total and weight else None

    def matters(self, *findings: Finding) -> bool:
        """Tell whether findings are more than one line about all that is small."""
        share = self.of(*findings)
        return findings[0].urgency != Urgency.CYCLES or share is None or share >= LEAST_SHARE
