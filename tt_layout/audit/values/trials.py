"""Facts of a value for any arguments, as far as trials of arguments show.

A hint to the compiler must never be false.  So the value that it would be about is evaluated for
several arguments that the kernel allows, and for those that are given: odd and even multiples,
large and small, of what they are known to be a multiple of.  What a kernel loads, or computes in
floating point, is made up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import prod
from typing import NamedTuple
from zlib import crc32

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.evaluator import Evaluator, Scope, Steps
from tt_layout.audit.values.given import PROGRAM_COUNTS, PROGRAM_IDS, GivenValues
from tt_layout.audit.values.runs import each_run
from tt_layout.audit.values.spread import agreed
from tt_layout.audit.values.strides import Strides
from tt_layout.audit.values.structure import Structure
from tt_layout.audit.values.unknown import Found, Known, Unknown, UnknownError, unknowns
from tt_layout.ir.ssa import Attribute, SsaFunction, SsaOperation, Value, ValueType
from tt_layout.ir.ssa.attributes import DIVISIBILITY
from tt_layout.ir.ssa.control_flow import BOUNDS

MULTIPLIERS = (3, 68, 1021, 6)
"""What arguments are multiples of, odd and even: smaller than a block, about as large, larger."""

DISTINCT = 8
"""What is added to them for every four arguments, so that no two are alike: the powers of two in
them stay as they are."""

PROGRAMS = (0, 0, 0, 0, 5, 3, 1)
"""The number of the first program in each trial: in the first one, bounds fall into every block."""

MAX_EXECUTIONS = 3
"""Executions of an operation that are looked at in each trial, and iterations of other loops."""

Supposed = Mapping[str, tuple[int, bool]]
"""Argument -> a number, and whether it is exactly that, or a multiple of it."""


class Facts(NamedTuple):
    """Facts of a value along a dimension that hold in every trial.

    Attributes:
        contiguity: the longest groups of elements, a power of two, of which each is one more than
            the one before, and the first is a multiple of their number.
        constancy: the longest groups of equal elements, a power of two.
        apart: how far neighbours are from each other, where that is always the same.
        factor: the argument that neighbours are apart by; empty where they are not.
    """

    contiguity: int
    constancy: int
    apart: int | None
    factor: str


NO_FACTS = Facts(1, 1, None, "")


class Trials:
    """Trials of the arguments of a function.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f(%n: i32) {
        ...   %c = arith.constant dense<4> : tensor<64xi32>
        ...   %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        ...   %s = tt.splat %n : i32 -> tensor<64xi32>
        ...   %x = arith.xori %r, %c : tensor<64xi32>
        ...   %d = arith.divsi %r, %c : tensor<64xi32>
        ...   %p = arith.muli %r, %s : tensor<64xi32>
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> trials = Trials(function, GivenValues(), PlacedLayouts())
        >>> for name in ("%x", "%d", "%p"):
        ...     print(trials.facts(function.values[name], 0))
        Facts(contiguity=4, constancy=1, apart=None, factor='')
        Facts(contiguity=1, constancy=4, apart=None, factor='')
        Facts(contiguity=1, constancy=1, apart=None, factor='%n')
    """

    def __init__(self, function: SsaFunction, given: GivenValues, layouts: PlacedLayouts) -> None:
        self._function = function
        self._given = given
        self._layouts = layouts
        self._structure = Structure(function)
        self._evaluators: dict[object, list[_Trial]] = {}
        self._facts: dict[tuple[Value, int, int], Facts] = {}

    def facts(
        self, value: Value, dim: int, supposed: Supposed | None = None, unit: int = 1
    ) -> Facts:
        """Return the facts of a value along a dimension.

        Args:
            value: the value.
            dim: the dimension.
            supposed: what arguments are taken to be.
            unit: bytes of an element, of addresses.
        """
        if supposed:
            return self._tried(value, dim, supposed, unit)
        key = value, dim, unit
        if key not in self._facts:
            self._facts[key] = self._seen(value, dim, unit) or self._tried(value, dim, {}, unit)
        return self._facts[key]

    @cached_property
    def _strides(self) -> Strides:
        return Strides(self._function, self._structure)

    def _seen(self, value: Value, dim: int, unit: int) -> Facts | None:
        """Return the facts of a value that its operations show; None if that takes trials."""
        stride = self._strides.along(value, dim)
        shape = value.type.shape if stride is not None else ()
        if stride is None or stride.number % unit or shape[dim] % 2 or prod(shape) > MAX_MADE_UP:
            return None
        apart = stride.number // unit
        if stride.argument:
            return Facts(1, 1, None, stride.argument) if apart == 1 else NO_FACTS
        if apart == 1:
            return None
        return Facts(1, 1 if apart else shape[dim] & -shape[dim], apart, "")

    def _tried(self, value: Value, dim: int, supposed: Supposed, unit: int) -> Facts:
        """Return the facts of a value that every trial shows."""
        trials, steps = self._trials(supposed), list[int | None]()
        longest: tuple[int, int] | None = None
        for trial in trials:
            arrays = [array // unit for array in self._values(trial, value)]
            if any(array.ndim <= dim for array in arrays):
                return NO_FACTS
            steps.append(_step(arrays, dim))
            for array in arrays:
                run, same = longest or array.shape[dim : dim + 1] * 2
                longest = _longest(array, dim, _is_run, run), _longest(array, dim, _is_same, same)
            is_even = None not in steps and (len(set(steps)) == 1 or self._factor(trials, steps))
            if longest == (1, 1) and not is_even:
                return NO_FACTS  # whatever the other trials would show
        apart = steps[0] if len(set(steps)) == 1 else None
        return Facts(*longest, apart, self._factor(trials, steps)) if longest else NO_FACTS

    def always_divides(
        self, divisor: int, value: Value, dim: int, run: int = 1, supposed: Supposed | None = None
    ) -> bool:
        """Tell whether the first of each ``run`` elements is a multiple of a number in all trials.

        Args:
            divisor: the number.
            value: the value.
            dim: the dimension of the runs.
            run: how many elements they have.
            supposed: what arguments are taken to be.
        """
        is_known = False
        for array in (a for t in self._trials(supposed or {}) for a in self._values(t, value)):
            first = _firsts(array, dim, run) if array.ndim > dim else array
            if (first % divisor).any():
                return False
            is_known = True
        return is_known

    def _trials(self, supposed: Supposed) -> list[_Trial]:
        key = tuple(sorted(supposed.items()))
        if key not in self._evaluators:
            tried = [self._arguments(number, supposed) for number in range(len(PROGRAMS))]
            arguments = {n: v for n, v in self._given.values.items() if f"%{n}" not in supposed}
            tried += [GivenValues({**tried[0].values, **arguments})] * bool(arguments)
            self._evaluators[key] = [
                _Trial(self._function, values, self._layouts, self._structure, number)
                for number, values in enumerate(tried)
            ]
        return self._evaluators[key]

    def _arguments(self, trial: int, supposed: Supposed) -> GivenValues:
        first = PROGRAMS[trial]
        values = {name: first and first + at for at, name in enumerate(PROGRAM_IDS)}
        values |= dict.fromkeys(PROGRAM_COUNTS, 64 + MULTIPLIERS[trial % len(MULTIPLIERS)])
        function = self._function
        for at, (value, attributes) in enumerate(
            zip(function.arguments, function.argument_attributes)
        ):
            number, is_exact = supposed.get(value.name, (_divisor(value.type, attributes), False))
            turn, round_ = (trial + at) % len(MULTIPLIERS), at // len(MULTIPLIERS)
            multiplier = MULTIPLIERS[turn] + DISTINCT * round_
            if value.type.is_scalar and _is_address(value.type):
                values[value.name[1:]] = number if is_exact else number * multiplier
            elif value.type.is_scalar and value.type.integer_bits == 1:
                values[value.name[1:]] = (trial + at) % 2
        return GivenValues(values)

    @staticmethod
    def _values(trial: _Trial, value: Value) -> Iterator[Ints]:
        """Yield a value as the first executions of its operation have it."""
        operation = value.definition
        answers: list[Found] = []
        if operation is not None:
            try:
                runs = each_run(trial, operation, [value])
                answers = [answer for [answer] in islice(runs, MAX_EXECUTIONS)]
            except UnknownError:
                pass
        for answer in answers or [trial.value(value)]:
            if not isinstance(answer, Unknown):
                yield np.asarray(agreed(answer))

    def _factor(self, trials: list[_Trial], steps: list[int | None]) -> str:
        """Return the argument whose value neighbours are apart by in every trial so far."""
        for value in self._function.arguments:
            if value.type.integer_bits is not None and value.type.is_scalar:
                values = [trial.scalar(value) for trial in trials[: len(steps)]]
                if values == steps and len(set(steps)) > 1:
                    return value.name
        return ""


def _is_address(type_: ValueType) -> bool:
    """Tell whether a type is one of pointers, or of integers that offsets are computed of."""
    return type_.pointee is not None or (type_.integer_bits or 0) >= 16


def _divisor(type_: ValueType, attributes: Mapping[str, Attribute]) -> int:
    """Return the known divisor of an argument's values."""
    stated = attributes.get(DIVISIBILITY)
    if isinstance(stated, int) and stated > 0:
        return stated
    return max(1, (type_.bits or 8) // 8) if type_.pointee is not None else 1


MAX_MADE_UP = 1 << 20
"""Elements of a tensor whose numbers are made up: no more than Triton lets a tensor have."""


class _Trial(Evaluator):
    """Evaluates values for the arguments of one trial, and makes up what they do not determine."""

    def __init__(
        self,
        function: SsaFunction,
        given: GivenValues,
        layouts: PlacedLayouts,
        structure: Structure,
        number: int,
    ) -> None:
        super().__init__(function, given, layouts, structure=structure)
        self._number = number

    def _steps(self, scope: Scope, value: Value) -> Steps:
        answer = yield from super()._steps(scope, value)
        return self._made_up(value) if isinstance(answer, Unknown) else answer

    def trips(self, loop: SsaOperation, bounds: Sequence[Found]) -> int | Unknown:
        count = super().trips(loop, bounds)
        if not isinstance(count, Unknown):
            return min(count, MAX_EXECUTIONS)
        are_known = len(bounds) == BOUNDS and unknowns(bounds) is None
        return MAX_EXECUTIONS if are_known else count

    def _made_up(self, value: Value) -> Known:
        """Return numbers for a value that only the data determine."""
        type_ = value.type
        if not value.text or (type_.integer_bits is None and type_.pointee is None):
            return Unknown()
        if prod(type_.shape) > MAX_MADE_UP:
            return Unknown()
        random = np.random.default_rng([self._number, crc32(value.name.encode())])
        bits = min(20, type_.integer_bits or 20)
        return random.integers(0, 1 << max(1, bits - 1), type_.shape, dtype=np.int64)


def _groups(array: Ints, dim: int, size: int) -> Ints:
    """Return the groups of neighbours along a dimension, a row each."""
    return np.moveaxis(array, dim, -1).reshape(-1, size)


def _firsts(array: Ints, dim: int, run: int) -> Ints:
    """Return the first element of each run; all where there are no such runs."""
    return _groups(array, dim, run if array.shape[dim] % run == 0 else 1)[:, 0]


def _is_run(groups: Ints) -> bool:
    first = groups[:, :1]
    size = groups.shape[1]
    return not (first % size).any() and bool((groups == first + np.arange(size)).all())


def _is_same(groups: Ints) -> bool:
    return bool((groups == groups[:, :1]).all())


def _longest(array: Ints, dim: int, holds: Callable[[Ints], bool], most: int) -> int:
    """Return how many neighbours have a property, a power of two, ``most`` of them at most."""
    size = 1
    while 2 * size <= most and array.shape[dim] % (2 * size) == 0:
        if not holds(_groups(array, dim, 2 * size)):
            break
        size *= 2
    return size


def _step(arrays: list[Ints], dim: int) -> int | None:
    """Return how far all neighbours are from each other; None where that differs."""
    steps_seen: set[int] = set()
    for array in arrays:
        if array.shape[dim] > 1:
            steps = np.diff(array, axis=dim)
            steps_seen |= {int(steps.min()), int(steps.max())}
    return steps_seen.pop() if len(steps_seen) == 1 else None
