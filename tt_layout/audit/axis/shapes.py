"""The rules of the axis analysis for constants, comparisons, choices, shapes and loads.

Source:
    Triton, lib/Analysis/AxisInfo.cpp and third_party/amd/lib/Analysis/AxisInfoExt.cpp
    (August 2026).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import accumulate
from math import gcd

from tt_layout.audit.axis.info import (
    MAX_DIVISOR,
    AxisInfo,
    joint_divisibility,
    power_of_two_divisor,
)
from tt_layout.audit.axis.step import Rule, Step
from tt_layout.ir.names import in_every_spelling
from tt_layout.ir.ssa import integers
from tt_layout.ir.ssa.attributes import COMPARISONS, constant_value

_RANGE_DIVISOR = 1 << 30
"""What divides a range that begins at zero: the greatest power of two of 32 bits."""


def _same(step: Step) -> AxisInfo | None:
    """Return the operand's AxisInfo for a result with the same dimensions."""
    if not step.operands:
        return None
    if step.is_tensor and len(step.result.shape) != step.operands[0].rank:
        return None
    return step.operands[0]


def _range(step: Step) -> AxisInfo | None:
    start, end = step.operation.integer("start"), step.operation.integer("end")
    if start is None or end is None or end <= start:
        return None
    return AxisInfo.of((end - start,), (power_of_two_divisor(start, _RANGE_DIVISOR),), (1,))


def _poison(step: Step) -> AxisInfo:
    """Return the best that can be known: nothing is ever done with such a value."""
    most = (MAX_DIVISOR,) * (len(step.result.shape) if step.is_tensor else 1)
    return AxisInfo(most, most, most)


def _constant(step: Step) -> AxisInfo | None:
    value = constant_value(step.operation.attributes.get("value"))
    if value is None or not step.result.is_integer:
        return None
    if step.result.integer_bits == 1:
        value = -(value & 1)  # sign-extended, as the compiler does it
    shape = step.result.shape if step.is_tensor else (1,)
    divisor = power_of_two_divisor(value)
    return AxisInfo.of((1,) * len(shape), (divisor,) * len(shape), shape, value)


# -- comparisons and choices ----------------------------------------------------------------


def _comparison(step: Step) -> AxisInfo | None:
    if not step.is_tensor:
        return None
    left, right = step.operands[0], step.operands[1]
    predicate = str(step.operation.attributes.get("predicate"))
    ones = (1,) * left.rank
    if left.constant is not None and right.constant is not None:
        values = left.constant, right.constant
        if predicate.startswith("u"):
            values = values[0] % (1 << 64), values[1] % (1 << 64)
        compare = COMPARISONS.get(predicate[-2:])
        if compare is None:
            return None
        holds = compare(*values)
        return AxisInfo.of(ones, ones, step.result.shape, int(holds))
    constancy = [_compared(step, predicate[-2:], left, right, d) for d in range(left.rank)]
    return AxisInfo.of(ones, ones, constancy)


def _compared(step: Step, predicate: str, left: AxisInfo, right: AxisInfo, dim: int) -> int:
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


def _choice(step: Step) -> AxisInfo:
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

    def rule(step: Step) -> AxisInfo:
        left, right = step.operands[0], step.operands[1]
        dims = range(left.rank)
        if left.constant is not None and right.constant is not None:
            value = choose(left.constant, right.constant)
            divisor = power_of_two_divisor(value)
            return AxisInfo.of((1,) * left.rank, (divisor,) * left.rank, step.whole, value)
        return AxisInfo.of(
            [gcd(left.contiguity[d], right.contiguity[d]) for d in dims],
            [joint_divisibility(left, right, d) for d in dims],
            [gcd(left.constancy[d], right.constancy[d]) for d in dims],
        )

    return rule


# -- shapes ---------------------------------------------------------------------------------


def _splat(step: Step) -> AxisInfo:
    operand, shape = step.operands[0], step.result.shape
    ones = (1,) * len(shape)
    return AxisInfo.of(ones, (operand.divisibility[0],) * len(shape), shape, operand.constant)


def _expand_dims(step: Step) -> AxisInfo | None:
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


def _broadcast(step: Step) -> AxisInfo:
    operand, old, new = step.operands[0], step.types[0].shape, step.result.shape
    return AxisInfo.of(
        [1 if size == 1 else run for size, run in zip(old, operand.contiguity)],
        operand.divisibility,
        [size if was == 1 else run for was, size, run in zip(old, new, operand.constancy)],
        operand.constant,
    )


def _transpose(step: Step) -> AxisInfo | None:
    operand, order = step.operands[0], integers(step.operation.attributes.get("order"))
    if sorted(order) != list(range(operand.rank)):
        return None
    vectors = [[vector[dim] for dim in order] for vector in operand.vectors]
    return AxisInfo.of_vectors(vectors, operand.constant)


def _reshape(step: Step) -> AxisInfo:
    """Return the AxisInfo of a tensor whose row-major order is reshaped."""
    operand, old, new = step.operands[0], step.types[0].shape, step.result.shape
    if operand.constant is not None:
        divisor = power_of_two_divisor(operand.constant)
        return AxisInfo.of((1,) * len(new), (divisor,) * len(new), new, operand.constant)
    everywhere = operand.global_divisibility
    pieces = [
        _reshaped(operand, old, size, stride, everywhere)
        for size, stride in zip(new, _strides(new))
    ]
    return AxisInfo.of_vectors([piece[i] for piece in pieces] for i in range(3))


def _strides(shape: tuple[int, ...]) -> list[int]:
    """Return how many elements lie between two that differ by one in a dimension."""
    products = accumulate(reversed(shape), operator.mul, initial=1)
    return list(products)[-2::-1]


def _reshaped(
    operand: AxisInfo, old: tuple[int, ...], size: int, stride: int, everywhere: int
) -> tuple[int, int, int]:
    """Return contiguity, divisibility and constancy of one dimension of a reshaped tensor."""
    strides = _strides(old)
    within = (d for d, s in enumerate(strides) if s <= stride < s * old[d])
    dim = next(within, 0)  # a leading dimension of one element belongs to the outermost
    run, divisor = operand.contiguity[dim], operand.divisibility[dim]
    if run > 1:
        if stride != strides[dim]:
            return 1, everywhere, 1
        kept = min(run, size)
        return kept, max(everywhere, divisor if kept == run else min(divisor, kept)), 1
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
        piece = min(old[outer], left)
        equal = min(operand.constancy[outer], piece)
        constancy *= equal
        if equal < piece:
            break
        left //= piece
    return constancy


def _slice(step: Step) -> AxisInfo | None:
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


def _load(step: Step) -> AxisInfo:
    pointer, mask = step.operands[0], step.operands[1] if len(step.operands) > 1 else None
    ones = (1,) * pointer.rank
    masks = mask.constancy if mask is not None else (0,) * pointer.rank
    return AxisInfo.of(ones, ones, [gcd(a, b) for a, b in zip(pointer.constancy, masks)])


RULES: dict[str, Rule] = in_every_spelling(
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
