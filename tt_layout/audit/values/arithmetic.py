"""Integer arithmetic of MLIR on whole arrays, in the widths of the types.

A value of an integer type of n bits is an int64 array of the numbers from -2^(n-1) to
2^(n-1) - 1, so ``true`` of ``i1`` is -1.  Results wrap around as they do on the GPU.  What MLIR
leaves undefined (a division by zero, a shift by the width or more) raises `UndefinedError`.

Source:
    MLIR, ``include/mlir/Dialect/Arith/IR/ArithOps.td`` and ``Math/IR/MathOps.td``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.ir.ssa.attributes import COMPARISONS

Unsigned = npt.NDArray[np.uint64]
Binary = Callable[[Ints, Ints, int], Any]
Unary = Callable[[Ints, int], Any]


class UndefinedError(Exception):
    """An operation has no result for these numbers; the text is the reason."""


def wrap(values: Any, bits: int) -> Ints:
    """Return numbers as an integer of ``bits`` bits holds them.

    Example:
        >>> wrap(np.array([127, 128, 255]), 8).tolist()
        [127, -128, -1]
    """
    wide = np.asarray(values).astype(np.int64, copy=False)
    if bits >= 64:
        return wide
    shift = 64 - bits
    wrapped: Ints = wide << shift >> shift
    return wrapped


def unsigned(values: Ints, bits: int) -> Unsigned:
    """Return the numbers that the same bits stand for without a sign.

    Example:
        >>> unsigned(np.array([-1, 1]), 8).tolist()
        [255, 1]
    """
    wide = values.astype(np.uint64)
    return wide if bits >= 64 else wide & np.uint64((1 << bits) - 1)


def _of_unsigned(function: Callable[[Unsigned, Unsigned], Any]) -> Binary:
    """Return an operation on numbers without a sign."""
    return lambda a, b, bits: function(unsigned(a, bits), unsigned(b, bits))


def _division(function: Binary) -> Binary:
    """Return a division that is undefined by zero."""

    def divided(a: Ints, b: Ints, bits: int) -> Any:
        if (b == 0).any():
            raise UndefinedError("division by zero")
        return function(a, b, bits)

    return divided


def _rounded_up(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Any:
    return a // b + (a % b != 0).astype(a.dtype)


def _shift(function: Binary) -> Binary:
    """Return a shift that is undefined by the width or more."""

    def shifted(a: Ints, b: Ints, bits: int) -> Any:
        if ((b < 0) | (b >= bits)).any():
            raise UndefinedError(f"a shift of i{bits} by {bits} or more")
        return function(a, b, bits)

    return shifted


def high_product(a: Ints, b: Ints, bits: int) -> Any:
    """Return the upper half of the product of numbers without a sign."""
    left, right = unsigned(a, bits), unsigned(b, bits)
    if bits <= 32:
        return left * right >> np.uint64(bits)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low, b_high, b_low = left >> half, left & low, right >> half, right & low
    middle = (a_low * b_low >> half) + (a_high * b_low & low) + (a_low * b_high & low)
    return a_high * b_high + (a_high * b_low >> half) + (a_low * b_high >> half) + (middle >> half)


BINARY: dict[str, Binary] = {
    "arith.addi": lambda a, b, bits: a + b,
    "arith.subi": lambda a, b, bits: a - b,
    "arith.muli": lambda a, b, bits: a * b,
    "arith.divsi": _division(lambda a, b, bits: (a - np.fmod(a, b)) // b),
    "arith.remsi": _division(lambda a, b, bits: np.fmod(a, b)),
    "arith.floordivsi": _division(lambda a, b, bits: a // b),
    "arith.ceildivsi": _division(lambda a, b, bits: _rounded_up(a, b)),
    "arith.divui": _division(_of_unsigned(operator.floordiv)),
    "arith.remui": _division(_of_unsigned(operator.mod)),
    "arith.ceildivui": _division(_of_unsigned(_rounded_up)),
    "arith.andi": lambda a, b, bits: a & b,
    "arith.ori": lambda a, b, bits: a | b,
    "arith.xori": lambda a, b, bits: a ^ b,
    "arith.shli": _shift(lambda a, b, bits: a << b),
    "arith.shrsi": _shift(lambda a, b, bits: a >> b),
    "arith.shrui": _shift(lambda a, b, bits: unsigned(a, bits) >> b.astype(np.uint64)),
    "arith.maxsi": lambda a, b, bits: np.maximum(a, b),
    "arith.minsi": lambda a, b, bits: np.minimum(a, b),
    "arith.maxui": _of_unsigned(np.maximum),
    "arith.minui": _of_unsigned(np.minimum),
    "tt.mulhiui": high_product,
}
"""Operation -> its result from two operands and their width, before it is wrapped."""

MAY_OVERFLOW = frozenset({"arith.addi", "arith.subi", "arith.muli"})
"""Operations whose result, wrapped, is hardly ever meant in an address."""


def compare(predicate: str, a: Ints, b: Ints, bits: int) -> Ints:
    """Return the truth values of a comparison such as ``slt``.

    Example:
        >>> compare("slt", np.array([-1]), np.array([0]), 32).tolist()
        [-1]
        >>> compare("ult", np.array([-1]), np.array([0]), 32).tolist()
        [0]
    """
    if predicate[0] == "u":
        truth = COMPARISONS[predicate[1:]](unsigned(a, bits), unsigned(b, bits))
    else:
        truth = COMPARISONS[predicate.removeprefix("s")](a, b)
    return -np.asarray(truth).astype(np.int64)


def _bit_count(values: Ints, bits: int) -> Any:
    left, count = unsigned(values, bits), np.zeros(values.shape, np.int64)
    for bit in range(bits):
        count += (left >> np.uint64(bit) & np.uint64(1)).astype(np.int64)
    return count


def _leading_zeros(values: Ints, bits: int) -> Any:
    filled = unsigned(values, bits)
    for shift in (1, 2, 4, 8, 16, 32):
        filled = filled | filled >> np.uint64(shift)
    return bits - _bit_count(filled.astype(np.int64), bits)


UNARY: dict[str, Unary] = {
    "math.absi": lambda a, bits: np.abs(a),
    "math.ctpop": _bit_count,
    "math.ctlz": _leading_zeros,
    "math.cttz": lambda a, bits: _bit_count(wrap(~a & a - 1, bits), bits),
}
"""Operation -> its result from an operand and its width, before it is wrapped."""

CASTS: dict[str, Unary] = {
    "arith.extsi": lambda a, bits: a,
    "arith.extui": unsigned,
    "arith.trunci": lambda a, bits: a,
    "arith.index_cast": lambda a, bits: a,
    "arith.index_castui": unsigned,
    "arith.bitcast": lambda a, bits: a,
    "tt.bitcast": lambda a, bits: a,
}
"""Operation -> its result from an operand and the operand's width, before it is wrapped."""
