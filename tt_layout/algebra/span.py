"""Vectors over F2, the field of 0 and 1, packed into ints: addition is xor."""

from __future__ import annotations

from collections.abc import Sequence


class F2Span:
    """The span of a list of F2 vectors, each a column packed into an int.

    A column is a pivot when it is not in the span of the columns before it.  Every vector
    of the span is the xor of exactly one set of pivot columns.

    Example:
        >>> span = F2Span([0b01, 0b01, 0b11])
        >>> span.rank, bin(span.pivots), bin(span.express(0b10))
        (2, '0b101', '0b101')
        >>> span.express(0b100) is None
        True
    """

    def __init__(self, columns: Sequence[int]) -> None:
        self.pivots = 0
        self._rows: dict[int, tuple[int, int]] = {}
        for index, column in enumerate(columns):
            rest, combination = self._reduce(column)
            if rest:
                self._rows[rest.bit_length()] = rest, combination | 1 << index
                self.pivots |= 1 << index

    @property
    def rank(self) -> int:
        """The number of independent columns."""
        return len(self._rows)

    def _reduce(self, vector: int) -> tuple[int, int]:
        """Reduce a vector by the span: return the remainder and the mask of the pivots it used."""
        combination = rest = 0
        while vector:
            top = vector.bit_length()
            if top in self._rows:
                row, pivots = self._rows[top]
                vector ^= row
                combination ^= pivots
            else:
                rest |= 1 << top - 1
                vector ^= 1 << top - 1
        return rest, combination

    def express(self, vector: int) -> int | None:
        """Return the mask of the pivot columns whose xor is ``vector``, or None."""
        rest, combination = self._reduce(vector)
        return None if rest else combination
