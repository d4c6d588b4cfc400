"""Ranges of numbers: by their types, by constants, and by what is computed of them.

An index that comes from a byte of the data is one of 256, whatever the data.  So the table that it
points into is small, though no address of a load from it is known.  So is that of a float that was
kept between two others.

Source:
    MLIR, IntegerRangeAnalysis: here of signed numbers, and only of what a value is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import ceil, floor, inf

from tt_layout.ir.names import in_every_spelling
from tt_layout.ir.ssa.attributes import constant_value, floats_as_written
from tt_layout.ir.ssa.control_flow import BOUNDS, ControlFlow
from tt_layout.ir.ssa.dataflow import backward_slice
from tt_layout.ir.ssa.model import Block, Operation, Value
from tt_layout.tuples import NamedTuple

ROUNDS = 16
"""The most passes over a value's sources until loop-carried ranges must be stable."""


class IntegerRange(NamedTuple):
    """Integers from one to another, both included."""

    low: int
    high: int


class Interval(NamedTuple):
    """Numbers from one to another, both included; of floats those that are numbers."""

    low: float
    high: float


def integer_range(value: Value, flow: ControlFlow) -> IntegerRange | None:
    """Return the range of a number, or of the elements of a tensor.

    Args:
        value: an integer, or a tensor of integers.
        flow: control flow of its function.

    Returns:
        What the value is in, whatever is loaded; None where that is no more than its type says.
    """
    slice_ = [*backward_slice([value], flow, lambda operation: _rule(operation) is not None)]
    ranges: dict[Value, Interval] = {}
    for _ in range(ROUNDS):
        before = dict(ranges)
        for source in reversed(slice_):
            known = [ranges[source]] if source in ranges else []
            joined = _hull([*_incoming(source, flow, ranges), *known])
            if joined is not None:
                widest = _of_type(source)
                ranges[source] = joined if widest == _hull([widest, joined]) else widest
        if ranges == before:
            settled = ranges.get(value)
            if settled is None or settled == _of_type(value):
                return None
            return IntegerRange(int(settled.low), int(settled.high))
    return None


def _incoming(value: Value, flow: ControlFlow, ranges: dict[Value, Interval]) -> Iterator[Interval]:
    """Yield the known ranges that control flow, or its operation, gives a value."""
    edges, made = flow.into(value), value.definition
    if edges:
        yield from (ranges[edge.source] for edge in edges if edge.source in ranges)
    elif made is None or (rule := _rule(made)) is None:
        yield _counted(value) or _of_type(value)
    elif all(operand in ranges for operand in made.operands):
        yield rule(made, [ranges[operand] for operand in made.operands]) or _of_type(value)


def _counted(value: Value) -> Interval | None:
    """Return the range of the variable of a loop whose bounds are constants."""
    owner = value.owner
    loop = owner.owner if isinstance(owner, Block) else None
    if loop is None or not loop.traits.counted or loop.regions[0][0].arguments[:1] != (value,):
        return None
    bounds = [bound.definition for bound in loop.operands[:BOUNDS]]
    numbers = [constant_value(made.attributes.get("value")) for made in bounds if made is not None]
    if len(numbers) < BOUNDS or None in numbers:
        return None
    first, end, _ = (number or 0 for number in numbers)
    return Interval(first, max(first, end - 1))


def _hull(ranges: Sequence[Interval]) -> Interval | None:
    if not ranges:
        return None
    lows, highs = zip(*ranges)
    return Interval(min(lows), max(highs))


def _of_type(value: Value) -> Interval:
    if value.type.integer_bits is None and value.type.element.startswith(("f", "bf")):
        return Interval(-inf, inf)
    half = 1 << ((value.type.integer_bits or 64) - 1)
    return Interval(-half, half - 1)


# -- operations ------------------------------------------------------------------------------------

_Rule = Callable[[Operation, Sequence[Interval]], Interval | None]
"""From an operation and the ranges of its operands to that of its result; None if not known."""


def _constant(operation: Operation, _: Sequence[Interval]) -> Interval | None:
    attribute = operation.attributes.get("value")
    number = constant_value(attribute)
    if number is not None:
        return Interval(number, number)
    texts = floats_as_written(attribute)
    if len(texts) != 1 or texts[0].startswith("0x"):
        return None
    return Interval(float(texts[0]), float(texts[0]))


def _range(operation: Operation, _: Sequence[Interval]) -> Interval | None:
    first, end = operation.integer("start"), operation.integer("end")
    return Interval(first, end - 1) if first is not None and end is not None else None


def _same(_: Operation, operands: Sequence[Interval]) -> Interval | None:
    return _hull(operands)


def _unsigned(operation: Operation, operands: Sequence[Interval]) -> Interval | None:
    bits = operation.operands[0].type.integer_bits or 64
    return operands[0] if operands[0].low >= 0 else Interval(0, (1 << bits) - 1)


def _chosen(_: Operation, operands: Sequence[Interval]) -> Interval | None:
    return _hull(operands[1:])


def _at_corners(function: Callable[[float, float], float]) -> _Rule:
    """Return the rule of a function that is monotonic in each of its operands."""

    def rule(_: Operation, operands: Sequence[Interval]) -> Interval | None:
        numbers = [function(a, b) for a, b in product(*operands)]
        if any(number != number for number in numbers):
            return None  # as infinity times nothing
        return Interval(min(numbers), max(numbers))

    return rule


def _rising(function: Callable[[float], float]) -> _Rule:
    """Return the rule of a function of one operand that never falls."""

    def rule(_: Operation, operands: Sequence[Interval]) -> Interval | None:
        low, high = operands[0]
        return Interval(*(end if abs(end) == inf else function(end) for end in (low, high)))

    return rule


def _within(low: float, high: float) -> _Rule:
    """Return the rule of a function whose results are in a range, whatever its operand is."""
    return lambda _, __: Interval(low, high)


def _to_integer(operation: Operation, operands: Sequence[Interval]) -> Interval | None:
    if -inf in operands[0] or inf in operands[0]:
        return None
    low, high = operands[0]
    return Interval(int(low), int(high))


def _ratio(_: Operation, operands: Sequence[Interval]) -> Interval | None:
    number, divisor = operands
    if divisor.low <= 0 or inf in (-number.low, number.high):
        return None
    quotients = [a / b for a, b in product(number, divisor)]
    return Interval(min(quotients), max(quotients))


def _quotient(_: Operation, operands: Sequence[Interval]) -> Interval | None:
    number, divisor = operands
    if divisor.low < 1:
        return None
    quotients = [abs(a) // b * (1 if a >= 0 else -1) for a, b in product(number, divisor)]
    return Interval(min(quotients), max(quotients))


def _remainder(_: Operation, operands: Sequence[Interval]) -> Interval | None:
    number, divisor = operands
    if divisor.low < 1:
        return None
    most = divisor.high - 1
    return Interval(-most if number.low < 0 else 0, min(most, max(0, number.high)))


def _unsigned_remainder(operation: Operation, operands: Sequence[Interval]) -> Interval | None:
    _, divisor = operands
    return Interval(0, divisor.high - 1) if divisor.low >= 1 else None


def _masked(_: Operation, operands: Sequence[Interval]) -> Interval | None:
    masks = [high for low, high in operands if low >= 0]
    return Interval(0, min(masks)) if masks else None


def _combined(_: Operation, operands: Sequence[Interval]) -> Interval | None:
    lows, highs = zip(*operands)
    return None if min(lows) < 0 else Interval(0, (1 << int(max(highs)).bit_length()) - 1)


def _shifted_right(operation: Operation, operands: Sequence[Interval]) -> Interval | None:
    number, by = operands
    bits = operation.operands[0].type.integer_bits or 64
    if by.low < 0 or by.high >= bits:
        return None
    if operation.name.endswith("shrui") and number.low < 0:
        return Interval(0, ((1 << bits) - 1) >> int(by.low))
    moved = [int(end) >> int(n) for end in number for n in by]
    return Interval(min(moved), max(moved))


_RULES: dict[str, _Rule] = in_every_spelling(
    {
        "arith.constant": _constant,
        "tt.make_range": _range,
        **dict.fromkeys(("arith.extsi", "arith.trunci", "arith.index_cast"), _same),
        "arith.extui": _unsigned,
        "arith.select": _chosen,
        "arith.addi": _at_corners(lambda a, b: a + b),
        "arith.subi": _at_corners(lambda a, b: a - b),
        "arith.muli": _at_corners(lambda a, b: a * b),
        "arith.minsi": _at_corners(min),
        "arith.maxsi": _at_corners(max),
        "arith.divsi": _quotient,
        "arith.remsi": _remainder,
        "arith.remui": _unsigned_remainder,
        "arith.addf": _at_corners(lambda a, b: a + b),
        "arith.subf": _at_corners(lambda a, b: a - b),
        "arith.mulf": _at_corners(lambda a, b: a * b),
        "arith.divf": _ratio,
        **dict.fromkeys(("arith.minnumf", "arith.minimumf"), _at_corners(min)),
        **dict.fromkeys(("arith.maxnumf", "arith.maximumf"), _at_corners(max)),
        **dict.fromkeys(("arith.extf", "arith.truncf", "arith.sitofp"), _same),
        **dict.fromkeys(("arith.fptosi", "arith.fptoui"), _to_integer),
        "math.floor": _rising(floor),
        "math.ceil": _rising(ceil),
        **dict.fromkeys(("math.exp", "math.exp2", "math.sqrt", "math.absf"), _within(0, inf)),
        **dict.fromkeys(("math.sin", "math.cos", "math.tanh"), _within(-1, 1)),
        "arith.andi": _masked,
        **dict.fromkeys(("arith.ori", "arith.xori"), _combined),
        **dict.fromkeys(("arith.shrsi", "arith.shrui"), _shifted_right),
    }
)


def _rule(operation: Operation) -> _Rule | None:
    traits = operation.traits
    return _same if traits.shape or traits.same_elements else _RULES.get(operation.name)
