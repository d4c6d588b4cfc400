"""AxisInfo: contiguity, divisibility and constancy of a tensor's values along each dimension.

Source:
    Triton, include/triton/Analysis/AxisInfo.h and lib/Analysis/AxisInfo.cpp (August 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import gcd

from tt_layout.tuples import NamedTuple

MAX_DIVISOR = 1 << 62
"""The greatest power of two that a divisibility can be; that of zero."""


class AxisInfo(NamedTuple):
    """Contiguity, divisibility and constancy of an integer or pointer; scalars have one dimension.

    Attributes:
        contiguity: per dimension, the length of the runs in which each element is one more than
            the one before (of pointers, one element further).
        divisibility: per dimension, a power of two that divides the first element of each of
            these runs; for pointers, the address in bytes.
        constancy: per dimension, the length of the runs of equal elements.
        constant: the value that all elements have, if it is known.

    Example:
        The offsets ``[[10, 11, 12, 13, 18, 19, 20, 21], [20, 21, 22, 23, 28, 29, 30, 31]]``:

        >>> print(AxisInfo((1, 4), (1, 2), (1, 1)))
        contiguity = [1, 4], divisibility = [1, 2], constancy = [1, 1], constant = none
    """

    contiguity: tuple[int, ...]
    divisibility: tuple[int, ...]
    constancy: tuple[int, ...]
    constant: int | None = None

    @classmethod
    def of(
        cls,
        contiguity: Sequence[int],
        divisibility: Sequence[int],
        constancy: Sequence[int],
        constant: int | None = None,
    ) -> AxisInfo:
        """Return an AxisInfo, each divisibility raised to a divisor of every element.

        Example:
            >>> AxisInfo.of([1, 4], [16, 2], [1, 1]).divisibility
            (16, 16)
        """
        everywhere = max((d for c, d in zip(contiguity, divisibility) if c == 1), default=1)
        raised = tuple([d if d > everywhere else everywhere for d in divisibility])
        return cls(tuple(contiguity), raised, tuple(constancy), constant)

    @classmethod
    def of_vectors(cls, vectors: Iterable[Sequence[int]], constant: int | None = None) -> AxisInfo:
        """Return an AxisInfo from contiguity, divisibility and constancy in a row."""
        contiguity, divisibility, constancy = vectors
        return cls.of(contiguity, divisibility, constancy, constant)

    @property
    def vectors(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Contiguity, divisibility and constancy."""
        return self.contiguity, self.divisibility, self.constancy

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.contiguity)

    @property
    def global_divisibility(self) -> int:
        """Divisor of every element: with runs of one element, each is the first of its run."""
        return max((d for c, d in zip(self.contiguity, self.divisibility) if c == 1), default=1)

    def __str__(self) -> str:
        """Return the record on one line."""
        contiguity, divisibility, constancy = map(list, self.vectors)
        constant = "none" if self.constant is None else self.constant
        return (
            f"contiguity = {contiguity}, divisibility = {divisibility}, "
            f"constancy = {constancy}, constant = {constant}"
        )


@lru_cache(maxsize=64)
def pessimistic(rank: int) -> AxisInfo:
    """Return the pessimistic AxisInfo, the bottom of the lattice."""
    ones = (1,) * rank
    return AxisInfo(ones, ones, ones)


def power_of_two_divisor(number: int, greatest: int = MAX_DIVISOR) -> int:
    """Return the greatest power of two that divides a number.

    Example:
        >>> power_of_two_divisor(48), power_of_two_divisor(-1), power_of_two_divisor(0) == 1 << 62
        (16, 1, True)
    """
    return min(number & -number or greatest, greatest)


def product_of_divisors(left: int, right: int) -> int:
    """Return the product of two divisors, at most `MAX_DIVISOR`."""
    return min(left * right, MAX_DIVISOR)


def joint_divisibility(left: AxisInfo, right: AxisInfo, dim: int) -> int:
    """Join the divisibility of two lattice values.

    Where the runs become shorter, some begin at elements that neither divisibility is about.

    Example:
        Of ``[0, 1], [4, 5]`` and ``[16, 17, 18, 19]``, in runs of two, 18 may be first:

        >>> joint_divisibility(AxisInfo((2,), (4,), (1,)), AxisInfo((4,), (16,), (1,)), 0)
        2
    """
    divisor = gcd(left.divisibility[dim], right.divisibility[dim])
    runs = left.contiguity[dim], right.contiguity[dim]
    if runs[0] == runs[1] or MAX_DIVISOR in runs:
        return divisor
    return gcd(divisor, *runs)


def join(left: AxisInfo | None, right: AxisInfo | None) -> AxisInfo | None:
    """Join two lattice values; None is the uninitialized one.

    Example:
        >>> join(AxisInfo((8,), (16,), (1,)), AxisInfo((4,), (8,), (1,)))
        AxisInfo(contiguity=(4,), divisibility=(4,), constancy=(1,), constant=None)
    """
    if left is None or right is None or left == right:
        return right if left is None else left
    if left.rank != right.rank:
        return pessimistic(left.rank)
    dims = range(left.rank)
    return AxisInfo.of(
        [gcd(a, b) for a, b in zip(left.contiguity, right.contiguity)],
        [joint_divisibility(left, right, dim) for dim in dims],
        [gcd(a, b) for a, b in zip(left.constancy, right.constancy)],
        left.constant if left.constant == right.constant else None,
    )
