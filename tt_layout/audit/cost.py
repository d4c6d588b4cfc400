"""The cost of a data movement."""

from __future__ import annotations

from typing import Any, NamedTuple

from tt_layout.errors import LayoutError


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
    """

    text: str
    weight: float
    details: dict[str, Any]
    finding: str | None = None
    extra: float = 0


class UnsupportedError(LayoutError):
    """The compiler has no instructions for an operation with such layouts."""
