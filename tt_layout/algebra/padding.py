"""Padding of shared memory: unused slots at regular intervals, which shift rows to other banks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from tt_layout.errors import LayoutError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Offset = TypeVar("Offset", int, npt.NDArray[np.int64])

Padding = Sequence[tuple[int, int]]
"""Pairs of an interval and the number of slots left free after every such interval."""


def check_padding(padding: Padding) -> None:
    """Raise an error if an interval is empty or its padding is negative."""
    for interval, amount in padding:
        if interval < 1 or amount < 0:
            raise LayoutError(f"cannot have a padding of {amount} after every {interval} elements")


def padded(offset: Offset, padding: Padding) -> Offset:
    """Return the padded slot of an unpadded offset, or of an array of them.

    Example:
        >>> [padded(offset, [(2, 1), (4, 2)]) for offset in range(8)]
        [0, 1, 3, 4, 8, 9, 11, 12]
    """
    slot = offset
    for interval, amount in padding:
        slot = slot + offset // interval * amount
    return slot


def padded_size(elements: int, padding: Padding) -> int:
    """Return the number of slots of a padded buffer; no padding follows the last element.

    Example:
        >>> padded_size(8, [(2, 1), (4, 2)]), padded_size(0, [(2, 1)])
        (13, 0)
    """
    return padded(elements - 1, padding) + 1 if elements else 0


def unpadded(
    slots: npt.NDArray[np.int64], elements: int, padding: Padding
) -> npt.NDArray[np.int64]:
    """Return the offset of the last element at or before each slot.

    Args:
        slots: numbers of slots.
        elements: the number of elements.
        padding: what is left free between them.

    Example:
        >>> import numpy as np
        >>> unpadded(np.arange(8), 4, [(2, 1)]).tolist()
        [0, 1, 1, 2, 3, 3, 3, 3]
    """
    offsets = slots * 0
    for bit in reversed(range(max(0, elements - 1).bit_length())):
        later = offsets | 1 << bit
        reached = (later < elements) & (padded(later, padding) <= slots)
        offsets = offsets + (reached << bit)
    return offsets


def format_padding(padding: Iterable[tuple[int, int]]) -> str:
    """Format padding as attributes write it.

    Example:
        >>> format_padding([(64, 4)])
        '[64:+4]'
    """
    return "[" + ", ".join(f"{interval}:+{amount}" for interval, amount in padding) + "]"
