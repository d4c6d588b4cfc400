"""Conversion of the bases, coordinates and names that users pass to linear layouts."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from tt_layout.errors import LayoutError, shown

MAX_BITS = 64
"""Bits of an index, and dimensions of a tensor."""


def read_bases(bases: Any) -> tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]:
    """Convert bases, given as pairs or as a mapping, to tuples.

    Raises:
        TypeError: they are of another kind.
        LayoutError: an input has more bits, or a vector more numbers, than an index has bits.

    Example:
        >>> read_bases({"lane": [[1], [2]]})
        (('lane', ((1,), (2,))),)
    """
    pairs = bases.items() if isinstance(bases, Mapping) else bases
    try:
        read = tuple(
            (name, tuple(tuple(map(operator.index, vector)) for vector in vectors))
            for name, vectors in pairs
        )
    except (TypeError, ValueError):
        words = "bases must be pairs of a name and basis vectors of integers"
        raise TypeError(f"{words}, got {shown(bases)}") from None
    for name, vectors in read:
        if len(vectors) > MAX_BITS or any(len(vector) > MAX_BITS for vector in vectors):
            from tt_layout.wording import count

            longest = count(max(map(len, vectors)), "number")
            message = f"{name} has {len(vectors)} bases of up to {longest}"
            raise LayoutError(f"{message}; at most {MAX_BITS} of each are possible")
    return read


def extremes(name: str, values: Any) -> tuple[int, int]:
    """Return the smallest and the largest of an array of integers; 0 and 0 if it is empty."""
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise LayoutError(f"{name} must be an integer or an array of integers, got {values!r}")
    return (int(array.min()), int(array.max())) if array.size else (0, 0)


def require_distinct(names: Sequence[str]) -> None:
    """Raise an error if a dimension name is repeated."""
    if len(set(names)) != len(names):
        raise LayoutError(f"dimension names must differ from each other, got {list(names)}")


def merge_names(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Merge two orders of names as Triton does.

    Where they contradict each other, the name that is earlier in the other list wins.
    """
    if first == second or not second:
        return list(first)
    merged: dict[str, None] = {}
    left, right = list(first), list(second)
    while left or right:
        for names, counterpart in ((left, second), (right, first)):
            while names and (names[0] in merged or names[0] not in counterpart):
                merged[names.pop(0)] = None
        if left and right:
            is_left = second.index(left[0]) <= first.index(right[0])
            merged[(left if is_left else right).pop(0)] = None
    return list(merged)
