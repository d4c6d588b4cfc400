"""Linear functions over F2 for whole arrays, and the distinct values of an array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from tt_layout.algebra.linear_layout import log2
from tt_layout.algebra.span import F2Span
from tt_layout.records import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]
    Indices = npt.NDArray[np.intp]
else:  # numpy.typing costs more to import than most modules of this package
    Ints = Indices = np.ndarray

LOOKUP_BITS = 11  # a table of 2**11 values of 8 bytes stays in the first-level cache


@dataclass(frozen=True)
class F2Map:
    """A linear function from ints to ints, given by its values on single bits.

    Example:
        >>> swap = F2Map((2, 1))
        >>> swap(np.arange(4)).tolist()
        [0, 2, 1, 3]
    """

    basis: tuple[int, ...]

    @cached_property
    def _tables(self) -> list[Ints]:
        """The values on each group of bits."""
        groups = range(0, len(self.basis), LOOKUP_BITS)
        return [all_values(self.basis[at : at + LOOKUP_BITS]) for at in groups]

    def __call__(self, inputs: Ints) -> Ints:
        """Return the value at every input."""
        if not any(self.basis):
            return np.zeros(inputs.shape, np.int64)
        mask = (1 << LOOKUP_BITS) - 1
        values: Ints = self._tables[0][inputs & mask]
        for group, table in enumerate(self._tables[1:], 1):
            values ^= table[inputs >> group * LOOKUP_BITS & mask]
        return values

    @property
    def is_zero(self) -> bool:
        """Whether every value is 0."""
        return not any(self.basis)


@dataclass(frozen=True)
class Preimages:
    """The locations that a linear function takes to each value, in ascending order.

    Attributes:
        first: the first location of a value, as a function of the value.
        kernel: a basis of what leads nowhere: the other locations of a value are the first one
            xor each combination of these; they ascend, too.
        misses: not 0 where no location leads to the value.

    Example:
        Bits 0 and 1 of a location lead to value 2, bit 2 to nothing new, and no bit to value 1:

        >>> found = Preimages.of([(2, 1), (2, 2), (0, 4)], [1, 2])
        >>> found.first(np.arange(4)).tolist(), found.kernel, found.misses(np.arange(4)).tolist()
        ([0, 0, 1, 1], (3, 4), [0, 1, 0, 1])
    """

    first: F2Map
    kernel: tuple[int, ...]
    misses: F2Map

    @staticmethod
    def of(places: Sequence[tuple[int, int]], units: Sequence[int]) -> Preimages:
        """Map every value to the locations that lead to it.

        A location bit is free when earlier bits already reach what it adds.  The solution takes
        free bits as 0; a free bit with the earlier bits that undo it is in the kernel.  So the
        locations ascend with the free bits.  Units added behind them express what no location
        leads to.

        Args:
            places: for each bit of a location where it leads to, and its weight in the location's
                number, ascending.
            units: the value on each bit of a value's number.
        """
        span = F2Span([column for column, _ in places] + list(units))

        def solve(value: int) -> tuple[int, int]:
            mask = span.express(value) or 0
            place = sum(weight for bit, (_, weight) in enumerate(places) if mask >> bit & 1)
            return place, mask >> len(places)

        kernel = (
            solve(column)[0] ^ weight
            for bit, (column, weight) in enumerate(places)
            if not span.pivots >> bit & 1
        )
        solved = [solve(unit) for unit in units]
        return Preimages(
            F2Map(tuple(place for place, _ in solved)),
            tuple(kernel),
            F2Map(tuple(missed for _, missed in solved)),
        )


def all_values(basis: Sequence[int]) -> Ints:
    """Return the values of the linear function with this basis on 0, 1, 2, ...

    Example:
        >>> all_values([2, 5]).tolist()
        [0, 2, 5, 7]
    """
    values = np.zeros(1, np.int64)
    for vector in basis:
        values = np.concatenate([values, values ^ vector])
    return values


def distinct(values: Ints) -> tuple[Ints, Indices]:
    """Return the distinct values in ascending order, and the index of each value among them.

    Example:
        >>> values, place = distinct(np.array([7, 3, 7]))
        >>> values.tolist(), place.tolist()
        ([3, 7], [1, 0, 1])
    """
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * values.size + 1024:
        first, place = _first_occurrences(values.ravel())
        return values.ravel()[first], place.reshape(values.shape)
    shifted = values - low
    seen = np.zeros(high - low + 1, np.bool_)
    seen[shifted] = True
    present = np.flatnonzero(seen)
    places = np.empty(len(seen), np.intp)
    places[present] = np.arange(len(present))
    return present + low, places[shifted]


def ascending_superset(values: Ints) -> tuple[Ints, Indices]:
    """Return an ascending array that contains all values, and the index of each value in it.

    Unlike `distinct` this is quick rather than exact: a range where that is not longer.
    """
    low, high = int(values.min()), int(values.max())
    if high - low < values.size:
        return np.arange(low, high + 1), values - low
    return distinct(values)


def distinct_rows(rows: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], Indices]:
    """Return the distinct rows of a matrix, and the index of each row among them."""
    records = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1])))[:, 0]
    first, place = _first_occurrences(records)
    return rows[first], place


def _first_occurrences(items: npt.NDArray[Any]) -> tuple[Indices, Indices]:
    """Return the first index of each distinct item, and the rank of each item among them.

    Done by hand, because numpy's own function first imports all of its masked arrays.
    """
    order = np.argsort(items, kind="stable")
    ordered = items[order]
    is_first = np.ones(len(items), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    place = np.empty(len(items), np.intp)
    place[order] = np.cumsum(is_first) - 1
    return order[is_first], place


def count_zeros(map_: F2Map, ranges: Sequence[tuple[int, int]], sizes: Sequence[int]) -> int:
    """Count the points of a box at which a linear function is 0.

    The box is given by a range per axis; a point's number is row-major in ``sizes``.
    Every axis is split into aligned ranges, on whose products the function is affine.

    Example:
        >>> count_zeros(F2Map((1, 1, 0)), [(0, 2), (1, 4)], [2, 4])
        2
    """
    total = 0
    for pieces in product(*(list(_aligned(*bounds)) for bounds in ranges)):
        offset, bit = 0, 0
        free: list[int] = []
        for (start, length), size in zip(reversed(pieces), reversed(list(sizes))):
            bits = map_.basis[bit : bit + log2(size)]
            free += bits[: log2(length)]
            for place, vector in enumerate(bits):
                offset ^= vector if start >> place & 1 else 0
            bit += log2(size)
        reached = F2Span(free)
        if reached.express(offset) is not None:
            total += 1 << len(free) - reached.rank
    return total


def _aligned(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Split a range into starts and lengths, each length a power of two dividing its start."""
    while start < stop:
        length = 1 << (stop - start).bit_length() - 1
        if start:
            length = min(length, start & -start)
        yield start, length
        start += length
