"""The cost of a data movement."""

from __future__ import annotations

from typing import Any, NamedTuple

from tt_layout.errors import LayoutError

CYCLE_BYTES = 64
"""What a multiprocessor receives from the second-level cache in a cycle."""


class Cost(NamedTuple):
    """What an analysis determines of a data movement.

    Attributes:
        text: in a few words.
        weight: to sort by: cycles of shared memory, shuffles, or 128 bytes of tensor memory, of all
            warps of a CTA.
        details: plain data for the JSON report.
        finding: what the reader should look at; None where there is nothing.
        extra: of the weight, what a better layout or better addresses could save: all of a
            conversion, the cycles of bank conflicts, the requests and sectors of global memory
            beyond those needed, in cycles of 64 bytes.
        requests: of an access to global memory, at least; 0 of anything else.
    """

    text: str
    weight: float
    details: dict[str, Any]
    finding: str | None = None
    extra: float = 0
    requests: int = 0

    @property
    def cycles(self) -> float:
        """What can be compared with other costs, in cycles.

        A request of global memory takes a cycle, its sectors take those in which they arrive, and
        an asynchronous copy those in which it enters shared memory, as far as that is known.
        """
        if not self.requests:
            return self.weight
        arriving = self.weight * self.details["sector_bytes"] / CYCLE_BYTES
        return float(self.requests + arriving + (self.details.get("wavefronts") or 0))


class UnsupportedError(LayoutError):
    """The compiler has no instructions for an operation with such layouts."""
