"""AxisInfo rules of operations, cached.

The rules are the compiler's, also where more, or less, could be said of a value: what counts
is what the compiler takes for known.  Kernels have many operations that differ in the names of
values alone: what is known of their operands is the same, and so is what follows from it.

Source:
    Triton, lib/Analysis/AxisInfo.cpp and third_party/amd/lib/Analysis/AxisInfoExt.cpp
    (August 2026).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from itertools import accumulate
from math import gcd, prod

from tt_layout.audit.axis.info import (
    MAX_DIVISOR,
    AxisInfo,
    join,
    joint_divisibility,
    power_of_two_divisor,
    product_of_divisors,
)
from tt_layout.ir.names import in_every_spelling
from tt_layout.ir.ssa import Operation, ValueType, integers, value_type
from tt_layout.ir.ssa.attributes import COMPARISONS, constant_value
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

_WIDTH = 64

_RANGE_DIVISOR = 1 << 30
"""What divides a range that begins at zero: the greatest power of two of 32 bits."""

_CONCLUSIONS: dict[Hashable, AxisInfo | None] = {}
MAX_CONCLUSIONS = 1 << 14
"""Conclusions that are remembered."""


class AxisStep(NamedTuple):
    """An operation and the AxisInfo of its operands.

    Attributes:
        operation: the operation.
        operands: AxisInfo of each operand.
        types: types of the operands.
        result: the type of the first result.
    """

    operation: Operation
    operands: tuple[AxisInfo, ...]
    types: tuple[ValueType, ...]
    result: ValueType

    @property
    def is_tensor(self) -> bool:
        """Whether the result is a tensor."""
        return self.result.is_tensor

    @property
    def whole(self) -> tuple[int, ...]:
        """The constancy of a result of which all elements are equal."""
        return self.result.shape if self.is_tensor else (1,) * self.operands[0].rank


Rule = Callable[[AxisStep], AxisInfo | None]
"""Rule that returns the AxisInfo of an operation's result; None where nothing is known."""

PerDimension = Callable[[AxisStep, AxisInfo, AxisInfo, int], int]


def _of_constant(value: int, shape: tuple[int, ...]) -> AxisInfo:
    """Return the AxisInfo of a tensor whose elements are all one number."""
    ones = (1,) * len(shape)
    return AxisInfo.of(ones, (power_of_two_divisor(value),) * len(shape), shape, value)


# -- arithmetic of two operands --------------------------------------------------------------------


def _one(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return 1


def _common_constancy(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return gcd(left.constancy[dim], right.constancy[dim])


def _unknown(left: AxisInfo, right: AxisInfo) -> int | None:
    return None


@dataclass(frozen=True)
class Binary:
    """The rule of an operation of two operands.

    Attributes:
        constant: returns the value from those of the operands; None for an operation without one.
        contiguity, divisibility, constancy: return the property along a dimension.
        known: returns the value where only one operand is known.
    """

    constant: Callable[[AxisStep, int, int], int | None]
    contiguity: PerDimension = _one
    divisibility: PerDimension = _one
    constancy: PerDimension = _common_constancy
    known: Callable[[AxisInfo, AxisInfo], int | None] = _unknown

    def __call__(self, step: AxisStep) -> AxisInfo | None:
        """Return the AxisInfo of the result; None if the operands do not match."""
        if len(step.operands) < 2 or step.operands[0].rank != step.operands[1].rank:
            return None
        left, right = step.operands[:2]
        dims = range(left.rank)
        constant = self._value(step, left, right)
        if constant is not None:
            return _of_constant(constant, step.whole)
        return AxisInfo.of(
            [self.contiguity(step, left, right, dim) for dim in dims],
            [self.divisibility(step, left, right, dim) for dim in dims],
            [self.constancy(step, left, right, dim) for dim in dims],
        )

    def _value(self, step: AxisStep, left: AxisInfo, right: AxisInfo) -> int | None:
        if left.constant is None or right.constant is None:
            return self.known(left, right)
        value = self.constant(step, left.constant, right.constant)
        return None if value is None else signed(value)


def signed(value: int) -> int:
    """Return a value as 64 bits hold it."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


# -- sums -----------------------------------------------------------------------------------


def element_bytes(step: AxisStep) -> int:
    """Return by how many bytes an offset of one moves a pointer; 1 for a sum of integers."""
    if step.operation.name != "tt.addptr":
        return 1
    return max(1, (step.types[0].bits or 8) // 8)


def _sum_contiguity(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return max(
        gcd(left.constancy[dim], right.contiguity[dim]),
        gcd(left.contiguity[dim], right.constancy[dim]),
    )


def _difference_contiguity(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return gcd(left.contiguity[dim], right.constancy[dim])


def _sum_divisibility(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
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


def _moved_pointer(step: AxisStep, pointer: int, offset: int) -> int:
    return pointer + offset * element_bytes(step)


# -- products, quotients, remainders --------------------------------------------------------


def _product_contiguity(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return max(
        left.contiguity[dim] if right.constant == 1 else 1,
        right.contiguity[dim] if left.constant == 1 else 1,
    )


def _product_divisibility(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    first = 1 if left.contiguity[dim] > 1 and right.constant != 1 else left.divisibility[dim]
    other = 1 if right.contiguity[dim] > 1 and left.constant != 1 else right.divisibility[dim]
    return product_of_divisors(first, other)


def _zero_product(left: AxisInfo, right: AxisInfo) -> int | None:
    return 0 if 0 in (left.constant, right.constant) else None


def _is_run_by_constant(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> bool:
    """Return whether one run spans a dimension of a tensor, and one value that of the other."""
    if not step.is_tensor or dim >= len(step.result.shape):
        return False
    return left.contiguity[dim] == right.constancy[dim] == step.result.shape[dim]


def _run_and_divisors(left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return gcd(left.contiguity[dim], left.divisibility[dim], right.divisibility[dim])


def _quotient_contiguity(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return left.contiguity[dim] if right.constant == 1 else 1


def _quotient_divisibility(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    if left.constant == 0 or right.constant == 1:
        return left.divisibility[dim]
    divisor = abs(right.constant or 0)
    if divisor and divisor & (divisor - 1) == 0 and left.contiguity[dim] == 1:
        return max(1, left.divisibility[dim] // divisor)
    return 1


def _quotient_constancy(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    common = _common_constancy(step, left, right, dim)
    if not _is_run_by_constant(step, left, right, dim):
        return common
    return max(common, _run_and_divisors(left, right, dim))


def _quotient(step: AxisStep, left: int, right: int) -> int | None:
    """Return the quotient, rounded towards zero."""
    if right == 0:
        return None
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(step: AxisStep, left: int, right: int) -> int | None:
    quotient = _quotient(step, left, right)
    return None if quotient is None else left - quotient * right


def _remainder_contiguity(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    if not _is_run_by_constant(step, left, right, dim):
        return 1
    return _run_and_divisors(left, right, dim)


def _remainder_divisibility(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    if right.constancy[dim] == 1:
        return 1
    return gcd(left.divisibility[dim], right.divisibility[dim])


def _zero_remainder(left: AxisInfo, right: AxisInfo) -> int | None:
    return 0 if right.constant == 1 else None


# -- shifts ---------------------------------------------------------------------------------


def _shift_contiguity(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    return left.contiguity[dim] if right.constant == 0 else 1


def _shifted_divisor(left: AxisInfo, shift: int, dim: int) -> int:
    return 1 if left.contiguity[dim] > 1 and shift else left.divisibility[dim]


def _left_shift_divisibility(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    shift = right.constant or 0
    if not 0 <= shift < _WIDTH - 1:
        return 1
    return product_of_divisors(_shifted_divisor(left, shift, dim), 1 << shift)


def _right_shift_divisibility(step: AxisStep, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    shift = right.constant
    if shift is None or not 0 <= shift < _WIDTH - 1:
        return 1
    return max(1, _shifted_divisor(left, shift, dim) >> shift)


def _shifted(by: Callable[[int, int], int]) -> Callable[[AxisStep, int, int], int | None]:
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


# -- constants, comparisons, choices, shapes, loads ------------------------------------------------


def _same(step: AxisStep) -> AxisInfo | None:
    """Return the operand's AxisInfo for a result with the same dimensions."""
    if not step.operands:
        return None
    if step.is_tensor and len(step.result.shape) != step.operands[0].rank:
        return None
    return step.operands[0]


def _range(step: AxisStep) -> AxisInfo | None:
    start, end = step.operation.integer("start"), step.operation.integer("end")
    if start is None or end is None or end <= start:
        return None
    return AxisInfo.of((end - start,), (power_of_two_divisor(start, _RANGE_DIVISOR),), (1,))


def _poison(step: AxisStep) -> AxisInfo:
    """Return the best that can be known: nothing is ever done with such a value."""
    most = (MAX_DIVISOR,) * (len(step.result.shape) if step.is_tensor else 1)
    return AxisInfo(most, most, most)


def _constant(step: AxisStep) -> AxisInfo | None:
    value = constant_value(step.operation.attributes.get("value"))
    if value is None or not step.result.is_integer:
        return None
    if step.result.integer_bits == 1:
        value = -(value & 1)  # sign-extended, as the compiler does it
    return _of_constant(value, step.result.shape if step.is_tensor else (1,))


# -- comparisons and choices ----------------------------------------------------------------


def _comparison(step: AxisStep) -> AxisInfo | None:
    if not step.is_tensor:
        return None
    left, right = step.operands
    predicate = str(step.operation.attributes.get("predicate"))
    ones = (1,) * left.rank
    if left.constant is not None and right.constant is not None:
        values = left.constant, right.constant
        if predicate.startswith("u"):
            values = values[0] % (1 << 64), values[1] % (1 << 64)
        compare = COMPARISONS.get(predicate[-2:])
        if compare is None:
            return None
        return AxisInfo.of(ones, ones, step.result.shape, int(compare(*values)))
    constancy = [_compared(step, predicate[-2:], left, right, d) for d in range(left.rank)]
    return AxisInfo.of(ones, ones, constancy)


def _compared(step: AxisStep, predicate: str, left: AxisInfo, right: AxisInfo, dim: int) -> int:
    """Return over how many elements a comparison comes out the same.

    The result of comparing a run with one value changes once, where the run reaches the value: with
    ``<`` and ``>=`` at a multiple of what divides both.
    """
    common = gcd(left.constancy[dim], right.constancy[dim])
    size, run = step.result.shape[dim], 0
    if predicate in ("gt", "le") and left.constancy[dim] == size:
        run = right.contiguity[dim]
    elif predicate in ("lt", "ge") and right.constancy[dim] == size:
        run = left.contiguity[dim]
    if not run:
        return common
    return max(common, gcd(run, left.divisibility[dim], right.divisibility[dim]))


def _choice(step: AxisStep) -> AxisInfo:
    condition, left, right = step.operands[:3]
    if condition.constant is not None:
        return right if condition.constant == 0 else left
    by_element = step.types[0].is_tensor
    dims = range(left.rank)
    most = condition.constancy if by_element else (0,) * left.rank
    contiguity = [gcd(left.contiguity[d], right.contiguity[d], most[d]) for d in dims]
    divisibility = [joint_divisibility(left, right, d) for d in dims]
    if by_element:
        divisibility = [gcd(a, b) for a, b in zip(divisibility, contiguity)]
    constancy = [gcd(left.constancy[d], right.constancy[d], most[d]) for d in dims]
    if left.constant is not None and left.constant == right.constant:
        return AxisInfo.of(contiguity, divisibility, step.whole, left.constant)
    return AxisInfo.of(contiguity, divisibility, constancy)


def _extremum(choose: Callable[[int, int], int]) -> Rule:
    """Return the rule of a minimum or maximum."""

    def rule(step: AxisStep) -> AxisInfo | None:
        left, right = step.operands
        if left.constant is None or right.constant is None:
            return join(left, right)
        return _of_constant(choose(left.constant, right.constant), step.whole)

    return rule


# -- shapes ---------------------------------------------------------------------------------


def _splat(step: AxisStep) -> AxisInfo:
    operand, shape = step.operands[0], step.result.shape
    ones = (1,) * len(shape)
    return AxisInfo.of(ones, (operand.divisibility[0],) * len(shape), shape, operand.constant)


def _expand_dims(step: AxisStep) -> AxisInfo | None:
    operand, axis = step.operands[0], step.operation.integer("axis")
    if axis is None:
        return None
    pairs = zip(operand.contiguity, operand.divisibility)
    divisor = gcd(*(1 if run > 1 else divisor for run, divisor in pairs)) or 1
    if operand.constant is not None:
        divisor = power_of_two_divisor(operand.constant)
    new = (1, divisor, 1)
    vectors = [(*v[:axis], value, *v[axis:]) for v, value in zip(operand.vectors, new)]
    return AxisInfo.of_vectors(vectors, operand.constant)


def _broadcast(step: AxisStep) -> AxisInfo:
    operand, old, new = step.operands[0], step.types[0].shape, step.result.shape
    return AxisInfo.of(
        [1 if size == 1 else run for size, run in zip(old, operand.contiguity)],
        operand.divisibility,
        [size if was == 1 else run for was, size, run in zip(old, new, operand.constancy)],
        operand.constant,
    )


def _transpose(step: AxisStep) -> AxisInfo | None:
    operand, order = step.operands[0], integers(step.operation.attributes.get("order"))
    if sorted(order) != list(range(operand.rank)):
        return None
    vectors = [[vector[dim] for dim in order] for vector in operand.vectors]
    return AxisInfo.of_vectors(vectors, operand.constant)


def _reshape(step: AxisStep) -> AxisInfo | None:
    """Return the AxisInfo of a tensor whose row-major order is reshaped; None of another size."""
    operand, old, new = step.operands[0], step.types[0].shape, step.result.shape
    if not step.types[0].is_tensor or prod(old) != prod(new):
        return None
    if operand.constant is not None:
        return _of_constant(operand.constant, new)
    dimensions = [_reshaped(operand, old, size, stride) for size, stride in zip(new, _strides(new))]
    return AxisInfo.of_vectors([dimension[i] for dimension in dimensions] for i in range(3))


def _strides(shape: tuple[int, ...]) -> list[int]:
    """Return the row-major strides of a shape, in elements."""
    products = accumulate(reversed(shape), operator.mul, initial=1)
    return list(products)[-2::-1]


def _reshaped(
    operand: AxisInfo, old: tuple[int, ...], size: int, stride: int
) -> tuple[int, int, int]:
    """Return contiguity, divisibility and constancy of one dimension of a reshaped tensor."""
    strides, everywhere = _strides(old), operand.global_divisibility
    within = (d for d, s in enumerate(strides) if s <= stride < s * old[d])
    dim = next(within, 0)  # a leading dimension of one element belongs to the outermost
    run, divisor = operand.contiguity[dim], operand.divisibility[dim]
    if run > 1:
        if stride != strides[dim]:
            return 1, everywhere, 1
        contiguity = min(run, size)
        first = divisor if contiguity == run else min(divisor, contiguity)
        return contiguity, max(everywhere, first), 1
    end = strides[dim] * operand.constancy[dim]
    if stride > end:
        return 1, everywhere, 1
    return 1, everywhere, _merged_constancy(operand, old, dim, size, min(size, end // stride))


def _merged_constancy(
    operand: AxisInfo, old: tuple[int, ...], dim: int, size: int, constancy: int
) -> int:
    """Return the constancy of a dimension that outer dimensions of equal elements are part of."""
    left = size // constancy
    if operand.constancy[dim] != old[dim]:
        return constancy
    for outer in range(dim - 1, -1, -1):
        if left <= 1:
            break
        merged = min(old[outer], left)
        equal = min(operand.constancy[outer], merged)
        constancy *= equal
        if equal < merged:
            break
        left //= merged
    return constancy


def _slice(step: AxisStep) -> AxisInfo | None:
    """Return the AxisInfo of AMD's slice of a tensor, by its offsets."""
    operand = step.operands[0]
    offsets = integers(step.operation.attributes.get("static_offsets"))
    sizes = step.result.shape
    if not len(offsets) == len(sizes) == operand.rank:
        return None
    dims = range(operand.rank)
    return AxisInfo.of(
        [min(gcd(offsets[d], operand.contiguity[d]), sizes[d]) for d in dims],
        [gcd(operand.divisibility[d], offsets[d] % operand.contiguity[d]) for d in dims],
        [min(gcd(offsets[d], operand.constancy[d]), sizes[d]) for d in dims],
        operand.constant,
    )


def _load(step: AxisStep) -> AxisInfo:
    pointer, mask = step.operands[0], step.operands[1] if len(step.operands) > 1 else None
    ones = (1,) * pointer.rank
    masks = mask.constancy if mask is not None else (0,) * pointer.rank
    return AxisInfo.of(ones, ones, [gcd(a, b) for a, b in zip(pointer.constancy, masks)])


RULES: dict[str, Rule] = ARITHMETIC | in_every_spelling(
    {
        **dict.fromkeys(
            (
                "builtin.unrealized_conversion_cast",
                "arith.extsi",
                "arith.extui",
                "arith.trunci",
                "ttg.convert_layout",
                "tt.bitcast",
                "gluon.set_auto_layout",
            ),
            _same,
        ),
        **dict.fromkeys(("arith.maxsi", "arith.maxui"), _extremum(max)),
        **dict.fromkeys(("arith.minsi", "arith.minui"), _extremum(min)),
        "tt.make_range": _range,
        "amdg.rematerialized_range": _range,
        "ub.poison": _poison,
        "arith.constant": _constant,
        "arith.cmpi": _comparison,
        "arith.select": _choice,
        "tt.splat": _splat,
        "tt.expand_dims": _expand_dims,
        "tt.broadcast": _broadcast,
        "tt.reshape": _reshape,
        "tt.trans": _transpose,
        "amdg.extract_slice": _slice,
        "tt.load": _load,
    }
)
"""Operation -> its rule."""


# -- the rule of an operation ----------------------------------------------------------------------

_SOURCES = frozenset({"arith.constant", "tt.make_range", "ub.poison", "amdg.rematerialized_range"})
_ELEMENTWISE = {*ARITHMETIC, "arith.cmpi", "arith.select"} | {
    f"arith.{name}{sign}i" for name in ("min", "max") for sign in "su"
}


def conclusion(step: AxisStep) -> AxisInfo | None:
    """Return the AxisInfo of the first result of an operation; None if there is none.

    Example:
        >>> from tt_layout.ir.ssa import Operation
        >>> attributes = {"start": 0, "end": 64}
        >>> range_ = Operation("tt.make_range", attributes=attributes)
        >>> conclusion(AxisStep(range_, (), (), value_type("tensor<64xi32>"))).contiguity
        (64,)
    """
    operation = step.operation
    if operation.name not in RULES:
        return None
    if not step.operands:
        return _concluded(step)
    attributes = tuple(operation.attributes.items())
    key = operation.name, attributes, step.operands, step.types, step.result
    try:
        return _CONCLUSIONS[key]
    except KeyError:
        if len(_CONCLUSIONS) >= MAX_CONCLUSIONS:
            _CONCLUSIONS.clear()
    info = _CONCLUSIONS[key] = _concluded(step)
    return info


def _concluded(step: AxisStep) -> AxisInfo | None:
    if not _is_sound(step):
        return None
    info = RULES[step.operation.name](step)
    return info if info is not None and _fits(info, step.result) else None


def rank_of(type_: ValueType) -> int:
    """Return the number of dimensions that the analysis sees: one of whatever is not a tensor."""
    if type_.pointee is not None and type_.is_scalar:
        type_ = value_type(type_.pointee)
    return len(type_.shape) if type_.is_tensor else 1


def _fits(info: AxisInfo, type_: ValueType) -> bool:
    """Tell whether a record has as many dimensions as a type, if that is one of a tensor."""
    rank = len(type_.shape) if type_.is_tensor else info.rank
    return len(info.contiguity) == len(info.divisibility) == len(info.constancy) == rank


def _is_sound(step: AxisStep) -> bool:
    """Tell whether an operation has as many operands and dimensions as it has in a valid dump."""
    name, operands = step.operation.name, step.operands
    if name not in _ELEMENTWISE:
        return bool(operands) or name in _SOURCES
    rank = rank_of(step.result)
    is_choice = name == "arith.select"
    values = operands[1:] if is_choice else operands
    is_even = all(info.rank == rank for info in values)
    return len(operands) == 2 + is_choice and is_even and operands[0].rank in (1, rank)
