"""The cost of a data movement."""

from __future__ import annotations

from typing import NamedTuple

from tt_layout.audit.operations.details import Details, GlobalDetails
from tt_layout.errors import LayoutError

CYCLE_BYTES = 64
"""What a multiprocessor receives from the second-level cache in a cycle."""


class Cost(NamedTuple):
    """What an analysis determines of a data movement.

    Attributes:
        text: in a few words.
        weight: to sort by: cycles of shared memory, shuffles, or 128 bytes of tensor memory, of all
            warps of a CTA.
        details: what is counted, of the family of the operation.
        finding: what the reader should look at; None where there is nothing.
        extra: of the weight, what a better layout or better addresses could save: all of a
            conversion, the cycles of bank conflicts, the requests and sectors of global memory
            beyond those needed, in cycles of 64 bytes.
        requests: of an access to global memory, at least; 0 of anything else.
    """

    text: str
    weight: float
    details: Details
    finding: str | None = None
    extra: float = 0
    requests: int = 0

    @property
    def cycles(self) -> float:
        """What can be compared with other costs, in cycles.

        A request of global memory takes a cycle, its sectors take those in which they arrive, and
        an asynchronous copy those in which it enters shared memory, as far as that is known.
        """
        details = self.details
        if not self.requests or not isinstance(details, GlobalDetails):
            return self.weight
        arriving = self.weight * details.sector_bytes / CYCLE_BYTES
        entering = details.entry.wavefronts if details.entry is not None else None
        return float(self.requests + arriving + (entering or 0))


class UnsupportedError(LayoutError):
    """The compiler has no instructions for an operation with such layouts."""
