"""Values of many programs at once: a number for each program, and a pattern that all share.

The programs of a grid run the same operations at different addresses.  A value is the sum of a
number for each program and an array that all of them share::

    program_id_x * 64 + [0 .. 63]     ->     base [0, 64, 128, ..], pattern [0 .. 63]

Sums, and products with what all share, keep this form.  A comparison does not: where the programs
do not agree on its result, `SplitError` says which of them do, and each part of them is evaluated
by itself.  So as few programs are looked at as differ from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.audit.values.arithmetic import compare
from tt_layout.audit.values.rules import Application, apply, moves_elements
from tt_layout.tuples import NamedTuple


class ProgramTensor(NamedTuple):
    """A value of each of several programs.

    Attributes:
        base: a number for each program, of shape ``[programs]``.
        pattern: the common addend, of the shape of the value.
    """

    base: Ints
    pattern: Ints

    @property
    def is_flat(self) -> bool:
        """Whether all elements of a program are equal."""
        return self.pattern.size > 0 and self.pattern.min() == self.pattern.max()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.pattern.shape

    def each(self) -> Ints:
        """The number of each program, of a flat value."""
        numbers: Ints = self.base + self.pattern.reshape(-1)[0]
        return numbers

    def bounds(self) -> tuple[int, int]:
        """The least and the greatest number of any program."""
        low, high = self.pattern.min(initial=0), self.pattern.max(initial=0)
        return int(self.base.min() + low), int(self.base.max() + high)


ProgramValue = Ints | ProgramTensor
"""A value that all programs share, or one of each."""


class SplitError(Exception):
    """The programs do not agree on something that the question depends on.

    Attributes:
        keys: a key for each program; programs with equal keys agree.
    """

    def __init__(self, keys: Ints) -> None:
        super().__init__("the programs differ")
        self.keys = keys


def gathered(base: Ints, pattern: Ints) -> ProgramValue:
    """Return a value; an array where the programs do not differ."""
    if (base == base[0]).all():
        addresses: Ints = pattern + base[0]
        return addresses
    return ProgramTensor(base, pattern)


def agreed(value: ProgramValue) -> Ints:
    """Return a value that all programs share.

    Raises:
        SplitError: they do not.
    """
    if isinstance(value, ProgramTensor):
        raise SplitError(value.base)
    return value


def agreed_modulo(value: ProgramValue, unit: int) -> Ints:
    """Return a value that all programs share but for multiples of a number.

    Raises:
        SplitError: they do not.
    """
    if not isinstance(value, ProgramTensor):
        return value
    agreed_number(value.base % unit)
    first: Ints = value.pattern + value.base[0]
    return first


def numbers(value: ProgramValue) -> Ints:
    """Return a scalar: a number of each program, or of all."""
    return value.each() if isinstance(value, ProgramTensor) else value.reshape(-1)[:1]


def agreed_number(values: Ints) -> int:
    """Return the number that each program has.

    Raises:
        SplitError: they do not all have the same.
    """
    if (values != values[0]).any():
        raise SplitError(values)
    return int(values[0])


def is_true(condition: ProgramValue) -> bool:
    """Tell whether a condition is true for all programs.

    Raises:
        SplitError: it is true for some.
    """
    return bool(agreed_number((numbers(condition) != 0).astype(np.int64)))


def advanced(value: ProgramValue, times: int, step: Ints) -> ProgramValue:
    """Return a scalar with a step added so often."""
    offset = times * step.reshape(-1)[0]
    return (
        value._replace(base=value.base + offset)
        if isinstance(value, ProgramTensor)
        else value + offset
    )


def advanced_by(value: ProgramValue, times: Ints, step: ProgramValue, unit: int) -> ProgramValue:
    """Return a value of each instance with a step added as often as it says.

    Args:
        value: before the first addition.
        times: number of additions, for each instance.
        step: the addend, in units.
        unit: factor of the addend.

    Raises:
        SplitError: elements advance by different steps, of instances at different numbers.
    """
    base, pattern = _base_and_pattern(value, len(times))
    other, steps = _base_and_pattern(step, len(times))
    if steps.size and steps.min() == steps.max():
        further = times * (other + steps.reshape(-1)[0]) * unit
        return gathered(base + further, pattern)
    number = agreed_number(times)
    return gathered(base + number * unit * other, pattern + number * unit * steps)


def sum_of(value: ProgramValue, other: ProgramValue, unit: int) -> ProgramValue:
    """Return a value with another one added, in units."""
    if not isinstance(value, ProgramTensor) and not isinstance(other, ProgramTensor):
        total: Ints = value + other * unit
        return total
    (base, pattern), (offset, step) = _bases_and_patterns((value, other))
    return gathered(base + offset * unit, pattern + step * unit)


def fits(value: ProgramValue, bits: int) -> bool:
    """Tell whether all elements of a value are signed integers of a width."""
    low, high = _bounds(value)
    return -(1 << bits - 1) <= low and high < 1 << bits - 1


def _bounds(value: ProgramValue) -> tuple[int, int]:
    """Return the least and the greatest number of a value, or 0."""
    if isinstance(value, ProgramTensor):
        return value.bounds()
    return int(value.min(initial=0)), int(value.max(initial=0))


def apply_to_programs(
    a: Application, operands: Sequence[ProgramValue]
) -> tuple[ProgramValue, bool]:
    """Return the result of an operation of which some operands differ between the programs.

    Args:
        a: the operation; its operands are not looked at.
        operands: the operands.

    Returns:
        The result, and whether it did not fit its type, where that is wanted.

    Raises:
        SplitError: there is no such value for all of the programs.
        UndefinedError: there is no such result.
    """
    spread = [value for value in operands if isinstance(value, ProgramTensor)]
    if moves_elements(a.operation):
        [value] = spread
        moved, _ = apply(a._replace(operands=[value.pattern]))
        return gathered(value.base, moved), False
    if a.operation.traits.elementwise and all(map(_is_flat, operands)):
        count = len(spread[0].base)
        flat = [np.broadcast_to(numbers(value), count) for value in operands]
        result = a.result._replace(shape=(count,))
        base, overflows = apply(a._replace(operands=flat, result=result))
        return gathered(base, np.broadcast_to(np.int64(0), a.result.shape)), overflows
    rule = _RULES.get(a.operation.name)
    answer = rule(a, operands) if rule is not None else None
    if answer is None:
        raise SplitError(spread[0].base)
    return answer, False


def _is_flat(value: ProgramValue) -> bool:
    if isinstance(value, ProgramTensor):
        return value.is_flat
    return value.size > 0 and bool(value.min() == value.max())


def _base_and_pattern(value: ProgramValue, count: int) -> tuple[Ints, Ints]:
    """Return the base and the pattern of a value of some programs."""
    if isinstance(value, ProgramTensor):
        return value
    return np.zeros(count, np.int64), value


def _bases_and_patterns(values: Sequence[ProgramValue]) -> Iterator[tuple[Ints, Ints]]:
    """Yield the base and the pattern of values of which at least one is spread."""
    count = next(len(value.base) for value in values if isinstance(value, ProgramTensor))
    return (_base_and_pattern(value, count) for value in values)


def _fitting(a: Application, base: Ints, pattern: Ints) -> ProgramValue | None:
    """Return a sum of base and pattern; None where it does not fit the type of the result."""
    bits = a.result.integer_bits or 64
    if bits < 64 and base.size and pattern.size:
        limit = 1 << bits - 1
        least = int(base.min()) + int(pattern.min())
        if least < -limit or int(base.max()) + int(pattern.max()) >= limit:
            return None
    return gathered(base, pattern)


def _sum(a: Application, operands: Sequence[ProgramValue]) -> ProgramValue | None:
    (base, pattern), (other, second) = _bases_and_patterns(operands)
    sign = -1 if a.operation.name == "arith.subi" else 1
    return _fitting(a, base + sign * other, pattern + sign * second)


def _pointer(a: Application, operands: Sequence[ProgramValue]) -> ProgramValue | None:
    (base, pattern), (offset, step) = _bases_and_patterns(operands)
    size = (a.types[0].bits or 0) // 8
    return gathered(base + offset * size, pattern + step * size) if size else None


def _product(a: Application, operands: Sequence[ProgramValue]) -> ProgramValue | None:
    for value, factor in (operands, operands[::-1]):
        if (
            isinstance(value, ProgramTensor)
            and not isinstance(factor, ProgramTensor)
            and _is_flat(factor)
        ):
            number = factor.reshape(-1)[0]
            return _fitting(a, value.base * number, value.pattern * number)
    # A pattern times a number that differs: each of these numbers by itself.
    flat = [v for v in operands if isinstance(v, ProgramTensor) and v.is_flat]
    if flat:
        raise SplitError(flat[0].base)
    return None


def _cast(a: Application, operands: Sequence[ProgramValue]) -> ProgramValue | None:
    [value] = operands
    assert isinstance(value, ProgramTensor)
    is_unsigned = a.operation.name in ("arith.extui", "arith.index_castui")
    if is_unsigned and value.bounds()[0] < 0:
        return None
    return _fitting(a, value.base, value.pattern)


def _comparison(a: Application, operands: Sequence[ProgramValue]) -> ProgramValue | None:
    predicate = str(a.operation.attributes.get("predicate"))
    is_unsigned = predicate.startswith("u")
    signed = f"s{predicate[1:]}" if is_unsigned else predicate
    if signed not in _PREDICATES or a.types[0].pointee is not None:
        return None
    return None if is_unsigned and _is_negative(operands) else _compared(signed, operands)


def _compared(predicate: str, operands: Sequence[ProgramValue]) -> Ints:
    """Return a comparison of two values, which has to come out the same for all programs."""
    (left, pattern), (right, other) = _bases_and_patterns(operands)
    difference = pattern - other
    # Beyond these the result is the same for all elements.
    apart = np.clip(left - right, -int(difference.max()) - 1, -int(difference.min()) + 1)
    return compare(predicate, difference + agreed_number(apart), np.zeros_like(difference), 64)


_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")
"""Comparisons that keep the form."""


def _is_negative(operands: Sequence[ProgramValue]) -> bool:
    return any(_bounds(value)[0] < 0 for value in operands)


def remainder(a: Application, operands: Sequence[ProgramValue]) -> ProgramValue | None:
    """Return the remainders of values that are no less than zero by one number; None of others."""
    value, divisor = operands
    if (
        isinstance(divisor, ProgramTensor)
        or not isinstance(value, ProgramTensor)
        or not _is_flat(divisor)
    ):
        return None
    number = int(divisor.reshape(-1)[0])
    if number <= 0 or value.bounds()[0] < 0:
        return None
    least = int(value.pattern.min())
    base, pattern = value.base + least, value.pattern - least
    is_rest = a.operation.name.startswith("arith.rem")
    firsts = base % number
    passes = firsts + int(pattern.max()) >= number
    if not passes.any():  # no program comes to a multiple of the divisor within its pattern
        flat = np.zeros_like(pattern)
        return gathered(firsts, pattern) if is_rest else gathered(base // number, flat)
    first = agreed_number(np.where(passes, firsts, -1))
    if is_rest:
        rest: Ints = (pattern + first) % number
        return rest
    return gathered(base // number, (pattern + first) // number)


def _extreme(a: Application, operands: Sequence[ProgramValue]) -> ProgramValue | None:
    predicate = "slt" if "min" in a.operation.name else "sgt"
    if a.operation.name.endswith("ui") and _is_negative(operands):
        return None
    return selected(_compared(predicate, operands), *operands)


def _select(a: Application, operands: Sequence[ProgramValue]) -> ProgramValue | None:
    condition, yes, no = operands
    return selected(agreed(condition), yes, no)


def selected(condition: Ints, yes: ProgramValue, no: ProgramValue) -> ProgramValue | None:
    """Return one of two values where a condition is true, the other where it is not."""
    if not isinstance(yes, ProgramTensor) and not isinstance(no, ProgramTensor):
        both: Ints = np.where(condition != 0, yes, no)
        return both
    if (condition != 0).all() or not (condition != 0).any():
        return yes if (condition != 0).all() else no
    (base, pattern), (other, second) = _bases_and_patterns((yes, no))
    apart = agreed_number(other - base)
    return gathered(base, np.where(condition != 0, pattern, second + apart))


_RULES: dict[str, Callable[[Application, Sequence[ProgramValue]], ProgramValue | None]] = {
    "arith.addi": _sum,
    "arith.subi": _sum,
    "arith.muli": _product,
    "arith.cmpi": _comparison,
    "arith.select": _select,
    "tt.addptr": _pointer,
    "tt.int_to_ptr": _cast,
    **dict.fromkeys(("arith.extsi", "arith.extui", "arith.trunci"), _cast),
    **dict.fromkeys(("arith.index_cast", "arith.index_castui"), _cast),
    **dict.fromkeys(("arith.remsi", "arith.remui", "arith.divsi", "arith.divui"), remainder),
    **dict.fromkeys(("arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui"), _extreme),
}
"""Operation -> its result where it has one of this form; None where it has not."""


def partition(keys: Ints) -> list[npt.NDArray[np.intp]]:
    """Return the programs of equal keys, by their places."""
    _, numbers = np.unique(keys, return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    ends = np.flatnonzero(np.diff(numbers[order])) + 1
    return np.split(order, ends)
