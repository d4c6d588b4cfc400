"""Facts of a value for any arguments: strides from its operations, the rest from trials.

A hint to the compiler must never be false.  So the value that it would be about is evaluated for
several arguments that the kernel allows, and for those that are given: odd and even multiples,
large and small, of what they are known to be a multiple of.  What a kernel loads, or computes in
floating point, is made up.

Addresses are mostly sums of ranges times numbers or arguments.  Of these the distance is known
without a value: of ``a + rows[:, None] * stride_am + inner[None, :] * stride_ak`` it is, along the
second dimension, ``stride_ak`` elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import prod
from zlib import crc32

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.evaluator import Evaluator, IterationScope, Steps, yielded
from tt_layout.audit.values.given import PROGRAM_COUNTS, PROGRAM_IDS, GivenValues, plain_name
from tt_layout.audit.values.runs import each_run
from tt_layout.audit.values.spread import agreed
from tt_layout.audit.values.structure import Structure
from tt_layout.audit.values.unknown import (
    Evaluated,
    SingleValue,
    Unknown,
    UnknownError,
    unknowns,
)
from tt_layout.ir.ssa import Attribute, Block, Function, Operation, Value, ValueType, integers
from tt_layout.ir.ssa.attributes import DIVISIBILITY, constant_value
from tt_layout.ir.ssa.control_flow import BOUNDS
from tt_layout.ir.ssa.dataflow import constant_of, repeated
from tt_layout.lazy import lazy
from tt_layout.tuples import NamedTuple

MAX_DEPTH = 100
"""Operations from a value back to where it begins."""

MULTIPLIERS = (3, 68, 1021, 6)
"""What arguments are multiples of, odd and even: smaller than a block, about as large, larger."""

DISTINCT = 8
"""What is added to them for every four arguments, so that no two are alike: the powers of two in
them stay as they are."""

PROGRAMS = (0, 0, 0, 0, 5, 1023, 1)
"""The number of the first program in each trial: in the first one, bounds fall into every block.

One is large, and odd however often it is halved: what divides it by a constant is not always 0.
"""

MAX_EXECUTIONS = 3
"""Executions of an operation that are looked at in each trial, and iterations of other loops."""

Supposed = Mapping[str, tuple[int, bool]]
"""Argument -> a number, and whether it is exactly that, or a multiple of it."""


# -- strides ---------------------------------------------------------------------------------------


class Stride(NamedTuple):
    """A number, or a number times an argument.

    Attributes:
        number: elements, or bytes for pointers.
        argument: argument of the function that it is multiplied by; empty for none.
    """

    number: int
    argument: str = ""

    def plus(self, other: Stride, sign: int = 1) -> Stride | None:
        """Return a sum or a difference; None where it is neither of the two."""
        if not other.number or not self.number or other.argument == self.argument:
            name = self.argument or other.argument
            number = self.number + sign * other.number
            return Stride(number, name if number else "")
        return None

    def times(self, other: Stride) -> Stride | None:
        """Return a product; None where it has two arguments."""
        if self.argument and other.argument:
            return None
        number = self.number * other.number
        return Stride(number, (self.argument or other.argument) if number else "")


SAME = Stride(0)
"""The distance of equal elements."""


class Strides:
    """The distances between the elements of a function's tensors.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f(%n: i32) {
        ...   %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        ...   %s = tt.splat %n : i32 -> tensor<64xi32>
        ...   %x = arith.muli %r, %s : tensor<64xi32>
        ...   %y = arith.remsi %r, %s : tensor<64xi32>
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> strides, values = Strides(function, Structure(function)), function.values
        >>> strides.along(values["%x"], 0), strides.along(values["%y"], 0)
        (Stride(number=1, argument='%n'), None)
    """

    def __init__(self, function: Function, structure: Structure) -> None:
        self._structure = structure
        self._arguments = frozenset(function.arguments)
        self._known: dict[tuple[Value, int], Stride | None] = {}
        self._depth = 0

    def along(self, value: Value, dim: int) -> Stride | None:
        """Return the distance of a value's elements along a dimension.

        None where it differs, or cannot be derived.  Overflow is ignored.
        """
        key = value, dim
        if key not in self._known:
            self._depth += 1
            self._known[key] = self._find(value, dim) if self._depth < MAX_DEPTH else None
            self._depth -= 1
        return self._known[key]

    def _find(self, value: Value, dim: int) -> Stride | None:
        shape = value.type.shape
        if dim >= len(shape):
            return None
        if shape[dim] == 1:
            return SAME
        operation = value.definition
        if operation is None:
            return self._iterated(value, dim)
        if operation.name in ("tt.splat", "tt.make_range"):
            return SAME if operation.name == "tt.splat" else Stride(1)
        if operation.name == "arith.constant":
            return SAME if constant_value(operation.attributes.get("value")) is not None else None
        stride = self._moved(operation, dim) if len(operation.operands) == 1 else None
        return stride or self._computed(operation, dim)

    def _moved(self, operation: Operation, dim: int) -> Stride | None:
        """Return the distance in the result of an operation that rearranges elements."""
        source = operation.operands[0]
        if operation.name == "tt.expand_dims":
            return self.along(source, dim - (dim > (operation.integer("axis") or 0)))
        if operation.name == "tt.trans":
            order = integers(operation.attributes.get("order"))
            return self.along(source, order[dim]) if dim < len(order) else None
        is_kept = _keeps(operation) or operation.name == "tt.broadcast"
        return self.along(source, dim) if is_kept else None

    def _computed(self, operation: Operation, dim: int) -> Stride | None:
        """Return the distance in the result of an elementwise operation."""
        if not operation.traits.elementwise:
            return None
        strides = [self.along(operand, dim) for operand in operation.operands]
        present = [stride for stride in strides if stride is not None]
        if len(present) < len(strides):
            return None
        if all(stride == SAME for stride in present):
            return SAME
        if len(present) < 2:
            return None
        if operation.name == "arith.muli":
            return self._product(operation, present)
        if operation.name in ("arith.addi", "arith.subi"):
            return present[0].plus(present[1], -1 if operation.name == "arith.subi" else 1)
        if operation.name == "tt.addptr":
            bits = operation.operands[0].type.bits
            size = Stride(max(1, (bits or 0) // 8)) if bits is not None else None
            scaled = present[1].times(size) if size is not None else None
            return present[0].plus(scaled) if scaled is not None else None
        return None

    def _product(self, operation: Operation, strides: list[Stride]) -> Stride | None:
        """Return the distance of elements that are all multiplied by one number."""
        for stride, factor in zip(strides, operation.operands[::-1]):
            scale = self._everywhere(factor)
            if scale is not None:
                return stride.times(scale)
        return None

    def _everywhere(self, value: Value) -> Stride | None:
        """Return the constant of all elements of a value; None if they differ or are not known."""
        number, source = constant_of(value), repeated(value)
        if number is not None:
            return Stride(number)
        is_number = source.type.is_scalar and (source.type.integer_bits or 0) >= 16
        return Stride(1, source.name) if source in self._arguments and is_number else None

    def _iterated(self, value: Value, dim: int) -> Stride | None:
        """Return the distance in a loop-carried value, if iterations do not change it."""
        loop = value.owner.owner if isinstance(value.owner, Block) else None
        initial = self._structure.first_value(value)
        if loop is None or initial is None or not loop.traits.counted:
            return None
        first = self.along(initial, dim)
        arguments = loop.regions[0][0].arguments[1:]
        passed = yielded(loop, 0)
        if first is None or value not in arguments or len(passed) != len(arguments):
            return None
        before = dict(self._known)
        self._known[value, dim] = first
        if self.along(passed[arguments.index(value)], dim) == first:
            return first
        self._known = before  # what was concluded from it does not hold
        return None


def _keeps(operation: Operation) -> bool:
    """Tell whether the elements of a result are those of the operand, in their places."""
    return operation.traits.signed_cast or operation.traits.same_elements


# -- trials ----------------------------------------------------------------------------------------


class ElementFacts(NamedTuple):
    """Facts of a value along a dimension that hold in every trial.

    Attributes:
        contiguity: the longest groups of elements, a power of two, of which each is one more than
            the one before, and the first is a multiple of their number.
        constancy: the longest groups of equal elements, a power of two.
        apart: distance of neighbours, where it is always the same.
        factor: the argument that neighbours are apart by; empty where they are not.
        is_even: whether all neighbours are equally far apart, perhaps not the same in each trial.
    """

    contiguity: int
    constancy: int
    apart: int | None
    factor: str
    is_even: bool = True


NO_FACTS = ElementFacts(1, 1, None, "", is_even=False)


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
        ElementFacts(contiguity=4, constancy=1, apart=None, factor='', is_even=False)
        ElementFacts(contiguity=1, constancy=4, apart=None, factor='', is_even=False)
        ElementFacts(contiguity=1, constancy=1, apart=None, factor='%n', is_even=True)
    """

    def __init__(self, function: Function, given: GivenValues, layouts: PlacedLayouts) -> None:
        self.function = function
        self._given = given
        self._layouts = layouts
        self._structure = function.once("structure", Structure)
        self._evaluators: dict[object, list[_Trial]] = {}
        self._facts: dict[tuple[Value, int, int], ElementFacts] = {}

    def facts(
        self, value: Value, dim: int, supposed: Supposed | None = None, unit: int = 1
    ) -> ElementFacts:
        """Return the facts of a value along a dimension.

        Args:
            value: the value.
            dim: the dimension.
            supposed: supposed values of arguments.
            unit: bytes of an element, for addresses.
        """
        if supposed:
            return self.facts_by_trials(value, dim, supposed, unit)
        key = value, dim, unit
        if key not in self._facts:
            by_strides = self.facts_by_strides(value, dim, unit)
            self._facts[key] = by_strides or self.facts_by_trials(value, dim, {}, unit)
        return self._facts[key]

    @lazy
    def _strides(self) -> Strides:
        return Strides(self.function, self._structure)

    def strides(self, value: Value) -> tuple[Stride | None, ...]:
        """Return the distance of a value's elements along each dimension; None where it differs."""
        strides = (self._strides.along(value, dim) for dim in range(len(value.type.shape)))
        return tuple(stride and self._told(stride) for stride in strides)

    def _told(self, stride: Stride) -> Stride:
        """Return a distance by the value that its argument is given."""
        given = self._given.values.get(plain_name(stride.argument)) if stride.argument else None
        return stride if given is None else Stride(stride.number * given)

    def facts_by_strides(self, value: Value, dim: int, unit: int) -> ElementFacts | None:
        """Return the facts of a value that its operations show; None if that takes trials."""
        stride = self._strides.along(value, dim)
        shape = value.type.shape if stride is not None else ()
        if stride is None or stride.number % unit or shape[dim] % 2 or prod(shape) > MAX_MADE_UP:
            return None
        apart = stride.number // unit
        if stride.argument:
            return ElementFacts(1, 1, None, stride.argument if apart == 1 else "")
        if apart == 1:
            return None
        return ElementFacts(1, 1 if apart else shape[dim] & -shape[dim], apart, "")

    def facts_by_trials(
        self, value: Value, dim: int, supposed: Supposed, unit: int
    ) -> ElementFacts:
        """Return the facts of a value that every trial shows."""
        trials, steps = self.trials_of(supposed), list[int | None]()
        longest: tuple[int, int] | None = None
        for trial in trials:
            arrays = [array // unit for array in self.values_in(trial, value)]
            if any(array.ndim <= dim for array in arrays):
                return NO_FACTS
            steps.append(common_step(arrays, dim))
            for array in arrays:
                run, same = longest or array.shape[dim : dim + 1] * 2
                longest = _longest(array, dim, _is_run, run), _longest(array, dim, _is_same, same)
            if longest == (1, 1) and None in steps:
                return NO_FACTS  # whatever the other trials would show
        if longest is None:
            return NO_FACTS
        apart = steps[0] if len(set(steps)) == 1 else None
        return ElementFacts(*longest, apart, self._factor(trials, steps), None not in steps)

    def always_divides(
        self, divisor: int, value: Value, dim: int, run: int = 1, supposed: Supposed | None = None
    ) -> bool:
        """Tell whether the first of each ``run`` elements is a multiple of a number in all trials.

        Args:
            divisor: the number.
            value: the value.
            dim: the dimension of the runs.
            run: elements of a run.
            supposed: supposed values of arguments.
        """
        is_known = False
        for array in (a for t in self.trials_of(supposed or {}) for a in self.values_in(t, value)):
            firsts = array
            if array.ndim > dim and array.shape[dim] % run == 0:
                firsts = _groups(array, dim, run)[:, 0]
            if (firsts % divisor).any():
                return False
            is_known = True
        return is_known

    def trials_of(self, supposed: Supposed) -> list[_Trial]:
        """Return evaluators of the trials in which some arguments are supposed to be numbers."""
        key = tuple(sorted(supposed.items()))
        if key not in self._evaluators:
            arguments = [self._arguments(number, supposed) for number in range(len(PROGRAMS))]
            given = {n: v for n, v in self._given.values.items() if f"%{n}" not in supposed}
            if given:
                arguments.append(GivenValues({**arguments[0].values, **given}))
            self._evaluators[key] = [
                _Trial(self.function, values, self._layouts, self._structure, number)
                for number, values in enumerate(arguments)
            ]
        return self._evaluators[key]

    def _arguments(self, trial: int, supposed: Supposed) -> GivenValues:
        first = PROGRAMS[trial]
        values = {name: first and first + axis for axis, name in enumerate(PROGRAM_IDS)}
        counted = first + 64 + MULTIPLIERS[trial % len(MULTIPLIERS)]
        values |= dict.fromkeys(PROGRAM_COUNTS, counted)
        function = self.function
        for index, (value, attributes) in enumerate(
            zip(function.arguments, function.argument_attributes)
        ):
            type_, name = value.type, plain_name(value.name)
            number, is_exact = supposed.get(value.name, (_divisor(type_, attributes), False))
            round_, turn = divmod(index, len(MULTIPLIERS))
            multiplier = MULTIPLIERS[(trial + turn) % len(MULTIPLIERS)] + DISTINCT * round_
            if not type_.is_scalar:
                continue
            if type_.pointee is not None or (type_.integer_bits or 0) >= 16:
                values[name] = number if is_exact else number * multiplier
            elif type_.integer_bits == 1:
                values[name] = (trial + index) % 2
        return GivenValues(values)

    @staticmethod
    def values_in(trial: _Trial, value: Value) -> Iterator[Ints]:
        """Yield a value as the first executions of its operation, or its block, have it."""
        operation = value.definition
        if isinstance(value.owner, Block):
            operation = next(iter(value.owner.operations), None)
        answers: list[Evaluated] = []
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
        for value in self.function.arguments:
            if value.type.integer_bits is not None and value.type.is_scalar:
                values = [trial.scalar(value) for trial in trials[: len(steps)]]
                if values == steps and len(set(steps)) > 1:
                    return value.name
        return ""


def _divisor(type_: ValueType, attributes: Mapping[str, Attribute]) -> int:
    """Return the known divisor of an argument's values."""
    stated = attributes.get(DIVISIBILITY)
    if isinstance(stated, int) and stated > 0:
        return stated
    return max(1, (type_.bits or 8) // 8) if type_.pointee is not None else 1


MAX_MADE_UP = 1 << 20
"""Elements of a tensor whose numbers are made up: no more than Triton lets a tensor have."""


MAX_TRIED = 1 << 12
"""The most iterations of all loops in a trial."""


class _Trial(Evaluator):
    """Evaluator for the arguments of one trial, with made-up numbers for data."""

    def __init__(
        self,
        function: Function,
        given: GivenValues,
        layouts: PlacedLayouts,
        structure: Structure,
        number: int,
    ) -> None:
        super().__init__(function, given, layouts, structure=structure)
        self._number = number
        self._iterations_left = MAX_TRIED

    def _steps(self, scope: IterationScope, value: Value) -> Steps:
        answer = yield from super()._steps(scope, value)
        return self._made_up(value) if isinstance(answer, Unknown) else answer

    def trips(self, loop: Operation, bounds: Sequence[Evaluated]) -> int | Unknown:
        count = super().trips(loop, bounds)
        if isinstance(count, Unknown):
            are_known = len(bounds) == BOUNDS and unknowns(bounds) is None
            return self._most if are_known else count
        return count if count <= MAX_EXECUTIONS else self._most

    @property
    def _most(self) -> int:
        """Iterations of longer loops, not always as many: their results depend on the number."""
        return MAX_EXECUTIONS - self._number % 2

    def _made_up(self, value: Value) -> SingleValue:
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


def common_step(arrays: list[Ints], dim: int) -> int | None:
    """Return how far all neighbours are from each other; None where that differs."""
    extremes: set[int] = set()
    for array in arrays:
        if array.shape[dim] > 1:
            steps = np.diff(array, axis=dim)
            extremes |= {int(steps.min()), int(steps.max())}
    return extremes.pop() if len(extremes) == 1 else None
