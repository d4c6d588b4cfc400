"""The runs of an operation in all programs of a launch, each kind of them looked at once.

A loop over tiles is for a program what a grid is for a launch: its iterations do the same at other
places.  So the iterations of the loops around an operation stand beside each other, as programs
do, and a question is asked once of all runs that agree on what it depends on.

Where a loop hands on more than sums, its runs are followed one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.audit.values.evaluator import MAX_ITERATIONS, Evaluator, Scope
from tt_layout.audit.values.instances import Instances
from tt_layout.audit.values.runs import TooManyRunsError, each_run
from tt_layout.audit.values.spread import SplitError, is_true, numbers, partition
from tt_layout.audit.values.unknown import Found, Unknown, UnknownError, place
from tt_layout.ir.ssa.control_flow import BOUNDS
from tt_layout.ir.ssa.model import Region, SsaOperation, Value
from tt_layout.tuples import NamedTuple

MAX_PARTS = 1 << 10
"""Kinds of programs that are evaluated for one question."""

MAX_KINDS = 1 << 13
"""Kinds of runs of programs with loops, for the same reason."""

MAX_AT_ONCE = 1 << 18
"""The most runs that are evaluated together: each of their values is an array of that length."""

MAX_RUNS = 1 << 22
"""The most runs of all programs that are evaluated together, in several turns."""

Answer = TypeVar("Answer")
Question = Callable[[Sequence[Found]], Answer]


def kinds_of_runs(
    evaluator: Evaluator,
    operation: SsaOperation,
    values: Sequence[Value],
    question: Question[Answer],
    assumed: list[Unknown] | None = None,
    most: int | None = None,
) -> list[tuple[int, Answer]]:
    """Return the answers to a question about the runs of an operation, and how many have each.

    Args:
        evaluator: evaluator of one program, or of several.
        operation: the operation.
        values: values that the question is about.
        question: computes an answer from these values, for a number of runs.
        assumed: as in `each_run`.
        most: the most runs of a program that are evaluated, up to `MAX_ITERATIONS`.

    Raises:
        UnknownError: it is not known when the operation runs, it runs too often, or its runs
            differ in too many ways.
        SplitError: not all programs do the same.
    """
    around = operation.around[::-1]
    limit = MAX_ITERATIONS if most is None else min(most, MAX_ITERATIONS)
    if _stand_beside(evaluator, around, values):
        kinds = _Kinds(evaluator, operation, values, question, assumed, limit)
        noted = len(assumed) if assumed is not None else 0
        try:
            return list(kinds.answers(Instances.of(evaluator.programs), around))
        except _TooManyError:
            if assumed is not None:
                del assumed[noted:]
    answers = []
    for count, answer in enumerate(each_run(evaluator, operation, values, assumed)):
        if count == limit:
            raise TooManyRunsError(operation, limit)
        answers.append((evaluator.count, question(answer)))
    return answers


class _TooManyError(Exception):
    """More runs than can be evaluated together."""


def _stand_beside(evaluator: Evaluator, around: Sequence[Region], values: Sequence[Value]) -> bool:
    """Tell whether the required loop-carried values around an operation are all sums."""
    structure = evaluator.structure
    owners = [region.owner for region in around if region.owner is not None]
    wanted = {*values, *(v for owner in owners for v in owner.operands[:BOUNDS])}
    for owner in owners:
        if any(len(region) > 1 for region in owner.regions):
            return False
        if owner.traits.counted and len(owner.operands) >= BOUNDS:
            within = [value for value in wanted if structure.is_within(value, owner)]
            needed = structure.iterated_for(owner, within)
            if any(structure.advance(owner, index) is None for index in needed):
                return False
    return True


class _Kinds(Generic[Answer]):
    """The kinds of the runs of an operation."""

    def __init__(
        self,
        evaluator: Evaluator,
        operation: SsaOperation,
        values: Sequence[Value],
        question: Question[Answer],
        assumed: list[Unknown] | None,
        limit: int,
    ) -> None:
        self._evaluator, self._operation, self._values = evaluator, operation, values
        self._question, self._assumed, self._limit = question, assumed, limit
        self._parts = 0
        self._runs = np.zeros(evaluator.count, np.int64)  # of each program

    def answers(
        self, instances: Instances, around: Sequence[Region]
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the answers of the runs within instances of the regions around them."""
        pending = [instances]
        while pending:
            part = pending.pop()
            evaluator, scope = self._evaluator.at(part)
            try:
                if not self._is_reached(evaluator, scope, around):
                    continue
                if not around:
                    ran = [evaluator.run(scope, value) for value in self._values]
                    self._check(self._runs + self._per_program(part.program))
                    answer = self._question(ran)  # may split the part: then nothing is noted
                    yield self._noted(part.program), answer
                    continue
                if not self._values and len(around) == 1 and _is_loop(around[0]):
                    yield self._iterations_of(evaluator, scope, part, around[0]), self._question(())
                    continue
                within = list(self._within(evaluator, scope, part, around[0]))
            except SplitError as split:
                places = partition(split.keys)
                self._count_parts(len(places))
                pending += [part.take(at) for at in reversed(places)]
                continue
            for inner in within:
                yield from self.answers(inner, around[1:])

    def _noted(self, program: Ints, runs: Ints | None = None) -> int:
        """Return the number of runs of instances, one each by default, noted for each program."""
        counted = self._per_program(program, runs)
        self._runs += counted
        self._check(self._runs)
        return int(counted.sum())

    def _per_program(self, program: Ints, runs: Ints | None = None) -> Ints:
        """Return the runs of instances, one each by default, summed for each program."""
        counted: Ints = np.bincount(program, runs, len(self._runs)).astype(np.int64)
        return counted

    def _check(self, runs: Ints) -> None:
        """Raise if a program has more runs than are looked at."""
        if int(runs.max()) > self._limit:
            raise TooManyRunsError(self._operation, self._limit)

    def _count_parts(self, added: int) -> None:
        self._parts += added
        if self._parts > (MAX_KINDS if self._operation.parent is not None else MAX_PARTS):
            raise UnknownError(Unknown.because(f"more than {MAX_PARTS} kinds of programs"))

    def _is_reached(self, evaluator: Evaluator, scope: Scope, around: Sequence[Region]) -> bool:
        operation = around[0].owner if around else self._operation
        home = operation.block if operation is not None else None
        if home is None or len(home.region) < 2:
            return True
        path = evaluator.path(scope, home.region)
        runs = path.runs(home.label)
        return self._assume(path.unknown or Unknown()) if runs is None else runs

    def _assume(self, unknown: Unknown) -> bool:
        if self._assumed is None:
            raise UnknownError(unknown)
        self._assumed.append(unknown)
        return True

    def _within(
        self, evaluator: Evaluator, scope: Scope, part: Instances, region: Region
    ) -> Iterator[Instances]:
        """Yield the running instances of a region, given those around it."""
        operation = region.owner
        assert operation is not None
        if operation.traits.counted:
            yield from self._iterations(evaluator, scope, part, operation)
        elif operation.traits.conditional and operation.operands:
            condition = evaluator.run(scope, operation.operands[0])
            if isinstance(condition, Unknown):
                is_taken = self._assume(condition)
            else:
                is_taken = is_true(condition) == (region.number == 0)
            if is_taken:
                yield part
        elif operation.traits.once:
            yield part
        else:
            raise UnknownError(Unknown.because(place(operation)))

    def _iterations_of(
        self, evaluator: Evaluator, scope: Scope, part: Instances, region: Region
    ) -> int:
        """Return the number of iterations of a loop, noted for each program."""
        assert region.owner is not None
        trips = self._counts(evaluator, scope, part, region.owner).trips
        return self._noted(part.program, trips)

    def _iterations(
        self, evaluator: Evaluator, scope: Scope, part: Instances, loop: SsaOperation
    ) -> Iterator[Instances]:
        """Yield the iterations of a loop, as many at once as can be evaluated together."""
        lower, step, trips = self._counts(evaluator, scope, part, loop)
        ends = np.cumsum(trips)
        if int(ends[-1]) > MAX_RUNS:
            raise _TooManyError
        begin = 0
        while begin < len(ends):
            before = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + MAX_AT_ONCE, "right")))
            places = np.arange(begin, end)
            if trips[begin:end].any():
                iterated = part.take(places) if end - begin < len(ends) else part
                yield iterated.within(loop, trips[places], lower[places], step[places])
            begin = end

    def _counts(
        self, evaluator: Evaluator, scope: Scope, part: Instances, loop: SsaOperation
    ) -> _Counts:
        """Return the bounds of a loop in each instance."""
        bounds = [evaluator.run(scope, bound) for bound in loop.operands[:BOUNDS]]
        arrays = [
            np.broadcast_to(numbers(bound), part.program.shape)
            for bound in bounds
            if not isinstance(bound, Unknown)
        ]
        if len(arrays) < BOUNDS or (arrays[-1] <= 0).any():
            count = evaluator.trips(loop, bounds)
            raise UnknownError(count if isinstance(count, Unknown) else Unknown())
        lower, upper, step = arrays
        trips: Ints = np.maximum(0, -((lower - upper) // step))
        if int(np.bincount(part.program, trips, 1).max()) > self._limit:
            raise TooManyRunsError(self._operation, self._limit)
        return _Counts(lower, step, trips)


class _Counts(NamedTuple):
    """The first value of a loop's variable, its step and the iterations, in each instance."""

    lower: Ints
    step: Ints
    trips: Ints


def _is_loop(region: Region) -> bool:
    return region.owner is not None and region.owner.traits.counted
