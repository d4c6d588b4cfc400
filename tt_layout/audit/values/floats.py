"""Arithmetic of floats on whole arrays of the bits that hold them.

A value of a float type of n bits is an int64 array of the numbers from -2^(n-1) to 2^(n-1) - 1
that its bits stand for, so that what moves or chooses elements is the same for all types.  Each
operation is rounded by itself: a GPU that fuses a product and a sum may differ in the last bit.

Source:
    MLIR, ``include/mlir/Dialect/Arith/IR/ArithOps.td`` and ``Math/IR/MathOps.td``; IEEE 754.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.audit.values.arithmetic import UndefinedError

Floats = npt.NDArray[np.floating[Any]]

_NUMPY_TYPES = {"f16": "f2", "bf16": "f4", "f32": "f4", "f64": "f8"}
"""Float type -> the type of numpy that holds its numbers."""

_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
_DROPPED_BITS = 16
"""Bits of an f32 that a bf16 has not."""

_ORDERED: dict[str, Callable[[Floats, Floats], Any]] = {
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "rd": lambda a, b: np.full(np.broadcast(a, b).shape, True),
}
"""Predicate without its ``o`` -> comparison of two numbers that are not NaN."""


def float_bits(element: str) -> int | None:
    """Return the width of a float type that is evaluated; None of any other type.

    Example:
        >>> float_bits("bf16"), float_bits("i32")
        (16, None)
    """
    return _BITS.get(element)


def _numpy_type(element: str) -> str:
    if element not in _NUMPY_TYPES:
        raise UndefinedError(f"{element} is no type whose numbers are evaluated")
    return _NUMPY_TYPES[element]


def decoded(bits: Ints, element: str) -> Floats:
    """Return the floats that bits stand for.

    Raises:
        UndefinedError: floats of such a type are not evaluated.

    Example:
        >>> decoded(np.array([0x3F80, 0x4000]), "bf16").tolist()
        [1.0, 2.0]
    """
    numpy_type = _numpy_type(element)
    if element == "bf16":
        bits = bits << _DROPPED_BITS
    floats: Floats = bits.astype(f"i{numpy_type[1:]}").view(numpy_type)
    return floats


def encoded(floats: npt.ArrayLike, element: str) -> Ints:
    """Return the bits of numbers, rounded to a type.

    Raises:
        UndefinedError: floats of such a type are not evaluated.

    Example:
        >>> [hex(bits) for bits in encoded([1.0, 1.0 + 2**-8, 1.0 + 3 * 2**-8], "bf16").tolist()]
        ['0x3f80', '0x3f80', '0x3f82']
        >>> decoded(encoded([0.1], "f32"), "f32").tolist() == [float(np.float32(0.1))]
        True
    """
    numpy_type = _numpy_type(element)
    rounded = np.asarray(floats).astype(numpy_type)
    bits: Ints = rounded.view(f"i{numpy_type[1:]}").astype(np.int64)
    if element == "bf16":
        to_even = (1 << _DROPPED_BITS - 1) - 1 + (bits >> _DROPPED_BITS & 1)
        bits = bits + np.where(np.isfinite(rounded), to_even, 0) >> _DROPPED_BITS
    return bits


def compare_floats(predicate: str, a: Floats, b: Floats) -> Ints:
    """Return the truth values of a comparison such as ``olt``, where true is -1.

    Raises:
        UndefinedError: there is no such predicate.

    Example:
        >>> numbers = np.array([1.0, np.nan])
        >>> [compare_floats(name, numbers, numbers).tolist() for name in ("oeq", "une", "uno")]
        [[-1, 0], [0, -1], [0, -1]]
    """
    are_ordered = ~(np.isnan(a) | np.isnan(b))
    if predicate == "uno":
        truth: Any = ~are_ordered
    elif predicate[:1] in ("o", "u") and predicate[1:] in _ORDERED:
        holds = _ORDERED[predicate[1:]](a, b)
        truth = holds & are_ordered if predicate[0] == "o" else holds | ~are_ordered
    else:
        raise UndefinedError(f"{predicate} is no comparison of floats")
    return -np.asarray(truth).astype(np.int64)


def to_integers(floats: Floats, bits: int, *, is_signed: bool) -> Ints:
    """Return floats cut to integers of a width.

    Raises:
        UndefinedError: one does not fit.

    Example:
        >>> to_integers(np.array([-1.5, 2.9]), 8, is_signed=True).tolist()
        [-1, 2]
    """
    integers = np.trunc(floats.astype(np.float64))
    low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if is_signed else (0.0, 2.0**bits)
    if not ((integers >= low) & (integers < high)).all():
        raise UndefinedError(f"a float that does not fit into i{bits}")
    return integers.astype(np.int64 if is_signed else np.uint64).astype(np.int64)
