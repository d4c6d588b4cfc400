"""The rules of the axis analysis for arithmetic of two operands.

The rules are the compiler's, also where more, or less, could be said of a value: what counts
is what the compiler takes for known.

Source:
    Triton, lib/Analysis/AxisInfo.cpp (August 2026).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from tt_layout.audit.axis.info import (
    AxisInfo,
    power_of_two_divisor,
    product_of_divisors,
)
from tt_layout.audit.axis.step import Rule, Step

PerDimension = Callable[[Step, AxisInfo, AxisInfo, int], int]

_WIDTH = 64


def _one(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return 1


def _common_constancy(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return gcd(left.constancy[dim], right.constancy[dim])


def _unknown(left: AxisInfo, right: AxisInfo) -> int | None:
    return None


@dataclass(frozen=True)
class Binary:
    """The rule of an operation of two operands.

    Attributes:
        constant: the value, from those of the operands; None for an operation without one.
        contiguity, divisibility, constancy: along a dimension.
        known: the value where only one operand is known.
    """

    constant: Callable[[Step, int, int], int | None]
    contiguity: PerDimension = _one
    divisibility: PerDimension = _one
    constancy: PerDimension = _common_constancy
    known: Callable[[AxisInfo, AxisInfo], int | None] = _unknown

    def __call__(self, step: Step) -> AxisInfo | None:
        """Return the AxisInfo of the result; None if the operands do not match."""
        if len(step.operands) < 2 or step.operands[0].rank != step.operands[1].rank:
            return None
        left, right = step.operands[:2]
        dims = range(left.rank)
        constant = self._value(step, left, right)
        if constant is not None:
            ones = (1,) * left.rank
            divisor = power_of_two_divisor(constant)
            return AxisInfo.of(ones, (divisor,) * left.rank, step.whole, constant)
        return AxisInfo.of(
            [self.contiguity(step, left, right, dim) for dim in dims],
            [self.divisibility(step, left, right, dim) for dim in dims],
            [self.constancy(step, left, right, dim) for dim in dims],
        )

    def _value(self, step: Step, left: AxisInfo, right: AxisInfo) -> int | None:
        if left.constant is None or right.constant is None:
            return self.known(left, right)
        value = self.constant(step, left.constant, right.constant)
        return None if value is None else signed(value)


def signed(value: int) -> int:
    """Return a value as 64 bits hold it."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


# -- sums -----------------------------------------------------------------------------------


def element_bytes(step: Step) -> int:
    """Return by how many bytes an offset of one moves a pointer; 1 for a sum of integers."""
    if step.operation.name != "tt.addptr":
        return 1
    return max(1, (step.types[0].bits or 8) // 8)


def _sum_contiguity(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return max(
        gcd(left.constancy[dim], right.contiguity[dim]),
        gcd(left.contiguity[dim], right.constancy[dim]),
    )


def _difference_contiguity(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return gcd(left.contiguity[dim], right.constancy[dim])


def _sum_divisibility(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    """Return the divisibility of the first elements of the runs of a sum or difference.

    Two runs add up to a sequence in steps of two.  Where one operand has runs, those of the
    result may begin within them.
    """
    size = element_bytes(step)
    first, second = left.divisibility[dim], product_of_divisors(right.divisibility[dim], size)
    runs = left.contiguity[dim], right.contiguity[dim]
    is_difference = step.operation.name == "arith.subi"
    if min(runs) > 1:
        if is_difference and runs[0] == runs[1]:
            return gcd(first, second)
        return 2 if first % 2 == second % 2 == 0 else 1
    if max(runs) == 1:
        return gcd(first, second)
    contiguity = _difference_contiguity if is_difference else _sum_contiguity
    run = contiguity(step, left, right, dim)
    return gcd(first, second, product_of_divisors(run, size))


def _moved_pointer(step: Step, pointer: int, offset: int) -> int:
    return pointer + offset * element_bytes(step)


# -- products, quotients, remainders --------------------------------------------------------


def _product_contiguity(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return max(
        left.contiguity[dim] if right.constant == 1 else 1,
        right.contiguity[dim] if left.constant == 1 else 1,
    )


def _product_divisibility(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    first = 1 if left.contiguity[dim] > 1 and right.constant != 1 else left.divisibility[dim]
    other = 1 if right.contiguity[dim] > 1 and left.constant != 1 else right.divisibility[dim]
    return product_of_divisors(first, other)


def _zero_product(left: AxisInfo, right: AxisInfo) -> int | None:
    return 0 if 0 in (left.constant, right.constant) else None


def _is_run_by_constant(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> bool:
    """Return whether one run spans a dimension of a tensor, and one value that of the other."""
    if not step.is_tensor or dim >= len(step.result.shape):
        return False
    return left.contiguity[dim] == right.constancy[dim] == step.result.shape[dim]


def _run_and_divisors(left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return gcd(left.contiguity[dim], left.divisibility[dim], right.divisibility[dim])


def _quotient_contiguity(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return left.contiguity[dim] if right.constant == 1 else 1


def _quotient_divisibility(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    if left.constant == 0 or right.constant == 1:
        return left.divisibility[dim]
    divisor = abs(right.constant or 0)
    if divisor and divisor & (divisor - 1) == 0 and left.contiguity[dim] == 1:
        return max(1, left.divisibility[dim] // divisor)
    return 1


def _quotient_constancy(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    common = _common_constancy(step, left, right, dim)
    if not _is_run_by_constant(step, left, right, dim):
        return common
    return max(common, _run_and_divisors(left, right, dim))


def _quotient(step: Step, left: int, right: int) -> int | None:
    """Return the quotient, rounded towards zero."""
    if right == 0:
        return None
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(step: Step, left: int, right: int) -> int | None:
    quotient = _quotient(step, left, right)
    return None if quotient is None else left - quotient * right


def _remainder_contiguity(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    if not _is_run_by_constant(step, left, right, dim):
        return 1
    return _run_and_divisors(left, right, dim)


def _remainder_divisibility(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    if right.constancy[dim] == 1:
        return 1
    return gcd(left.divisibility[dim], right.divisibility[dim])


def _zero_remainder(left: AxisInfo, right: AxisInfo) -> int | None:
    return 0 if right.constant == 1 else None


# -- shifts ---------------------------------------------------------------------------------


def _shift_contiguity(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return left.contiguity[dim] if right.constant == 0 else 1


def _shifted_divisor(left: AxisInfo, shift: int, dim: int) -> int:
    return 1 if left.contiguity[dim] > 1 and shift else left.divisibility[dim]


def _left_shift_divisibility(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    shift = right.constant or 0
    if not 0 <= shift < _WIDTH - 1:
        return 1
    return product_of_divisors(_shifted_divisor(left, shift, dim), 1 << shift)


def _right_shift_divisibility(step: Step, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    shift = right.constant
    if shift is None or not 0 <= shift < _WIDTH - 1:
        return 1
    return max(1, _shifted_divisor(left, shift, dim) >> shift)


def _shifted(by: Callable[[int, int], int]) -> Callable[[Step, int, int], int | None]:
    return lambda step, left, right: by(left, right) if 0 <= right < _WIDTH else None


def _bitwise(by: Callable[[int, int], int]) -> Binary:
    return Binary(lambda step, left, right: by(left, right))


_QUOTIENT = Binary(_quotient, _quotient_contiguity, _quotient_divisibility, _quotient_constancy)
_REMAINDER = Binary(
    _remainder, _remainder_contiguity, _remainder_divisibility, _common_constancy, _zero_remainder
)
_RIGHT_SHIFT = Binary(_shifted(operator.rshift), _shift_contiguity, _right_shift_divisibility)

ARITHMETIC: dict[str, Rule] = {
    "tt.addptr": Binary(_moved_pointer, _sum_contiguity, _sum_divisibility),
    "arith.addi": Binary(lambda _, a, b: a + b, _sum_contiguity, _sum_divisibility),
    "arith.subi": Binary(lambda _, a, b: a - b, _difference_contiguity, _sum_divisibility),
    "arith.muli": Binary(
        lambda _, a, b: a * b, _product_contiguity, _product_divisibility, known=_zero_product
    ),
    "arith.divsi": _QUOTIENT,
    "arith.divui": _QUOTIENT,
    "arith.remsi": _REMAINDER,
    "arith.remui": _REMAINDER,
    "arith.andi": _bitwise(operator.and_),
    "arith.ori": _bitwise(operator.or_),
    "arith.xori": _bitwise(operator.xor),
    "arith.shli": Binary(_shifted(operator.lshift), _shift_contiguity, _left_shift_divisibility),
    "arith.shrsi": _RIGHT_SHIFT,
    "arith.shrui": _RIGHT_SHIFT,
}
"""Operation -> its rule."""
