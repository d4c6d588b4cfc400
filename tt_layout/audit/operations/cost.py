"""The cost of a data movement."""

from __future__ import annotations

from tt_layout.audit.operations.details import Details
from tt_layout.errors import LayoutError
from tt_layout.tuples import NamedTuple


class Cost(NamedTuple):
    """Cost of a data movement.

    Attributes:
        text: in a few words.
        cycles: of the load-store unit, for all warps of a CTA: wavefronts of shared memory and of
            global memory, shuffles; or 128 bytes of tensor memory.
        details: what is counted, of the family of the operation.
        finding: what the reader should look at, without its reason; None where there is nothing.
        extra: of the cycles, what a better layout or better addresses could save: all of a
            conversion, the cycles of bank conflicts, the wavefronts of global memory beyond those
            that its bytes need.
        requests: of an access to global memory, at least; 0 of anything else.
    """

    text: str
    cycles: float
    details: Details
    finding: str | None = None
    extra: float = 0
    requests: int = 0


class UnsupportedError(LayoutError):
    """The compiler has no instructions for an operation with such layouts."""
