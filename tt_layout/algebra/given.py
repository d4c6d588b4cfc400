"""Bases and coordinates as users give them to linear layouts, made plain ints."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from tt_layout.errors import LayoutError, shown


def read_bases(bases: Any) -> tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]:
    """Return bases, given as pairs or as a mapping, as tuples.

    Raises:
        TypeError: they are of another kind.

    Example:
        >>> read_bases({"lane": [[1], [2]]})
        (('lane', ((1,), (2,))),)
    """
    pairs = bases.items() if isinstance(bases, Mapping) else bases
    try:
        return tuple(
            (name, tuple(tuple(map(operator.index, vector)) for vector in vectors))
            for name, vectors in pairs
        )
    except (TypeError, ValueError):
        words = "bases must be pairs of a name and basis vectors of integers"
        raise TypeError(f"{words}, got {shown(bases)}") from None


def extremes(name: str, values: Any) -> tuple[int, int]:
    """Return the smallest and the largest of an array of integers; 0 and 0 if it is empty."""
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise LayoutError(f"{name} must be an integer or an array of integers, got {values!r}")
    return (int(array.min()), int(array.max())) if array.size else (0, 0)


def require_distinct(names: Sequence[str]) -> None:
    """Raise where a name of a dimension stands twice."""
    if len(set(names)) != len(names):
        raise LayoutError(f"dimension names must differ from each other, got {list(names)}")
