"""The cost of a data movement."""

from __future__ import annotations

from tt_layout.audit.operations.details import Details
from tt_layout.errors import LayoutError
from tt_layout.tuples import NamedTuple


class Cost(NamedTuple):
    """Cost of a data movement.

    Attributes:
        text: the cost in a few words.
        cycles: cycles of the load/store unit, for all warps of a CTA: wavefronts of shared and
            global memory, shuffles; for tensor memory one for 128 bytes.
        details: counts, in the class of the operation's family.
        finding: the fault of the operation, without its reason; None where there is none.
        extra: the part of `cycles` that a better layout or better addresses could save: all of a
            conversion, the cycles of bank conflicts, the wavefronts of global memory beyond those
            that its bytes need.
        requests: the least requests of an access to global memory; 0 for any other operation.
    """

    text: str
    cycles: float
    details: Details
    finding: str | None = None
    extra: float = 0
    requests: int = 0


class UnsupportedError(LayoutError):
    """An operation for whose layouts the compiler has no instructions."""
