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
from tt_layout.audit.values.evaluator import MAX_ITERATIONS, Evaluator, IterationScope
from tt_layout.audit.values.instances import Instances
from tt_layout.audit.values.runs import Branches, TooManyRunsError, each_run
from tt_layout.audit.values.spread import SplitError, numbers, partition
from tt_layout.audit.values.unknown import Evaluated, Unknown, UnknownError
from tt_layout.ir.ssa.control_flow import BOUNDS
from tt_layout.ir.ssa.model import Operation, Region, Value
from tt_layout.tuples import NamedTuple

MAX_PARTS = 1 << 10
"""Kinds of programs that are evaluated for one question."""

MAX_KINDS = 1 << 13
"""Kinds of runs of programs with loops that are evaluated for one question."""

MAX_AT_ONCE = 1 << 18
"""The most runs that are evaluated together: each of their values is an array of that length."""

MAX_RUNS = 1 << 22
"""The most runs of all programs that are evaluated together, in several turns."""

Answer = TypeVar("Answer")
Question = Callable[[Sequence[Evaluated]], Answer]


def kinds_of_runs(
    evaluator: Evaluator,
    operation: Operation,
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
    if _are_sums(evaluator, around, values):
        kinds = _Kinds(evaluator, operation, values, question, assumed, limit)
        before = len(assumed) if assumed is not None else 0
        try:
            return list(kinds.answers(Instances.of(evaluator.programs), around))
        except _TooManyError:
            if assumed is not None:
                del assumed[before:]
    answers = []
    for count, answer in enumerate(each_run(evaluator, operation, values, assumed)):
        if count == limit:
            raise TooManyRunsError(operation, limit)
        answers.append((evaluator.count, question(answer)))
    return answers


class _TooManyError(Exception):
    """More runs than can be evaluated together."""


def _are_sums(evaluator: Evaluator, around: Sequence[Region], values: Sequence[Value]) -> bool:
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
        operation: Operation,
        values: Sequence[Value],
        question: Question[Answer],
        assumed: list[Unknown] | None,
        limit: int,
    ) -> None:
        self._evaluator, self._operation, self._values = evaluator, operation, values
        self._question, self._branches, self._limit = question, Branches(assumed), limit
        self._kinds = 0
        self._runs = np.zeros(evaluator.count, np.int64)  # of each program

    def answers(
        self, instances: Instances, around: Sequence[Region]
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the answers of the runs within instances of the regions around them."""
        pending = [instances]
        operation = around[0].owner if around else self._operation
        assert operation is not None
        while pending:
            kind = pending.pop()
            evaluator, scope = self._evaluator.at(kind)
            try:
                if not self._branches.reach(evaluator, scope, operation):
                    continue
                if not around:
                    values = [evaluator.run(scope, value) for value in self._values]
                    self._check(self._runs + self._per_program(kind.program))
                    answer = self._question(values)  # may split the kind: then nothing is noted
                    yield self._noted(kind.program), answer
                    continue
                if not operation.traits.counted:
                    within = [kind] if self._branches.enter(evaluator, scope, around[0]) else []
                elif self._values or len(around) > 1:
                    within = list(self._iterations(evaluator, scope, kind, operation))
                else:
                    trips = self._counts(evaluator, scope, kind, operation).trips
                    yield self._noted(kind.program, trips), self._question(())
                    continue
            except SplitError as split:
                places = partition(split.keys)
                self._kinds += len(places)
                if self._kinds > (MAX_KINDS if self._operation.parent is not None else MAX_PARTS):
                    reason = Unknown.because(f"more than {MAX_PARTS} kinds of programs")
                    raise UnknownError(reason) from None
                pending += [kind.take(at) for at in reversed(places)]
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

    def _iterations(
        self, evaluator: Evaluator, scope: IterationScope, instances: Instances, loop: Operation
    ) -> Iterator[Instances]:
        """Yield the iterations of a loop, as many at once as can be evaluated together."""
        lower, step, trips = self._counts(evaluator, scope, instances, loop)
        ends = np.cumsum(trips)
        if int(ends[-1]) > MAX_RUNS:
            raise _TooManyError
        begin = 0
        while begin < len(ends):
            before = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + MAX_AT_ONCE, "right")))
            places = np.arange(begin, end)
            if trips[begin:end].any():
                iterated = instances.take(places) if end - begin < len(ends) else instances
                yield iterated.within(loop, trips[places], lower[places], step[places])
            begin = end

    def _counts(
        self, evaluator: Evaluator, scope: IterationScope, instances: Instances, loop: Operation
    ) -> _Counts:
        """Return the bounds of a loop in each instance."""
        bounds = [evaluator.run(scope, bound) for bound in loop.operands[:BOUNDS]]
        arrays = [
            np.broadcast_to(numbers(bound), instances.program.shape)
            for bound in bounds
            if not isinstance(bound, Unknown)
        ]
        if len(arrays) < BOUNDS or (arrays[-1] <= 0).any():
            count = evaluator.trips(loop, bounds)
            raise UnknownError(count if isinstance(count, Unknown) else Unknown())
        lower, upper, step = arrays
        trips: Ints = np.maximum(0, -((lower - upper) // step))
        if int(np.bincount(instances.program, trips, 1).max()) > self._limit:
            raise TooManyRunsError(self._operation, self._limit)
        return _Counts(lower, step, trips)


class _Counts(NamedTuple):
    """The first value of a loop's variable, its step and the iterations, in each instance."""

    lower: Ints
    step: Ints
    trips: Ints
