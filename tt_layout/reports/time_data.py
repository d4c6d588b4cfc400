"""The estimate of a kernel's time as plain data."""

from __future__ import annotations

from typing import Any

from tt_layout.audit.kernel import Kernel
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.time.walk import Iteration, Wait

SHOWN_WAITS = 8
"""Steps on the critical path that are listed, the longest of them."""


def kernel_time(kernel: Kernel) -> dict[str, Any]:
    """Return the estimate of a kernel; documented in ``docs/time.md``."""
    return estimate_data(kernel.estimate)


def estimate_data(estimate: Estimate | NoEstimate) -> dict[str, Any]:
    """Return an estimate as plain data, or the reason why there is none."""
    if isinstance(estimate, NoEstimate):
        return {"seconds": None, "reason": estimate.reason, "needs": list(estimate.needs)}
    launch = estimate.launch
    return {
        "seconds": estimate.seconds,
        "range": list(estimate.range),
        "reason": None,
        "text": estimate.text,
        "rates_of": estimate.product,
        "is_measured": estimate.is_measured,
        "is_of_grid": estimate.is_of_grid,
        "doubts": list(estimate.doubts),
        "limit": estimate.limit,
        "terms": dict(estimate.terms),
        "programs": launch.programs,
        "resident": launch.resident,
        "waves": launch.waves,
        "tail_seconds": launch.tail,
        "latency_cycles": launch.latency,
        "spilled": launch.spilled,
        "critical": _waits(launch.walked.critical),
        "loops": [_iteration(iteration) for iteration in launch.walked.iterations],
    }


def _iteration(iteration: Iteration) -> dict[str, Any]:
    return {
        "line": iteration.loop.line,
        "source_line": iteration.loop.source,
        "trips": iteration.trips,
        "cycles": iteration.cycles,
        "critical": _waits(iteration.critical),
    }


def _waits(waits: tuple[Wait, ...]) -> list[dict[str, Any]]:
    return [
        {
            "operation": wait.step.name,
            "line": wait.step.line,
            "source_line": wait.step.source,
            "cycles": wait.cycles,
        }
        for wait in waits[:SHOWN_WAITS]
    ]
