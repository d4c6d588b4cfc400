"""The runs of an operation in one program, with its values in each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.values.evaluator import (
    MAX_ITERATIONS,
    Evaluator,
    IterationScope,
    iteration_of,
    yielded,
)
from tt_layout.audit.values.spread import is_true
from tt_layout.audit.values.unknown import Evaluated, Unknown, UnknownError, operation_text
from tt_layout.ir.ssa.control_flow import BOUNDS
from tt_layout.ir.ssa.model import Operation, Region, Value
from tt_layout.tuples import NamedTuple


def each_run(
    evaluator: Evaluator,
    operation: Operation,
    values: Sequence[Value],
    assumed: list[Unknown] | None = None,
) -> Iterator[list[Evaluated]]:
    """Yield the values at each run of an operation.

    Args:
        evaluator: evaluator of its function.
        operation: the operation.
        values: values that it may use.
        assumed: given, a branch that nothing decides is taken to lead to the operation, and why
            nothing decides it is added.

    Raises:
        UnknownError: it is not known when the operation runs, or it runs too often.
        SplitError: not all programs do the same.
    """
    around = operation.around[::-1]
    bounds = (value for outer in operation.ancestors for value in outer.operands[:BOUNDS])
    runs = _Runs(evaluator, operation, frozenset([*values, *bounds]), Branches(assumed))
    for count, scope in enumerate(runs.scopes(evaluator.top, around)):
        if count == MAX_ITERATIONS:
            raise TooManyRunsError(operation, MAX_ITERATIONS)
        yield [evaluator.run(scope, value) for value in values]


class TooManyRunsError(UnknownError):
    """An operation runs more often than is looked at.

    Attributes:
        most: the most runs that are evaluated.
    """

    def __init__(self, operation: Operation, most: int) -> None:
        reason = f"{operation_text(operation)} runs more than {most} times"
        super().__init__(Unknown.because(reason))
        self.most = most


class Branches(NamedTuple):
    """The branches on the way to an operation.

    Attributes:
        assumed: collects why nothing decides the branches that are taken to lead to it; None where
            they may not be.
    """

    assumed: list[Unknown] | None

    def reach(self, evaluator: Evaluator, scope: IterationScope, operation: Operation) -> bool:
        """Tell whether control comes to the block of an operation."""
        home = operation.block
        if home is None or len(home.region) < 2:
            return True
        path = evaluator.path(scope, home.region)
        runs = path.runs(home.label)
        return self._assume(path.unknown or Unknown()) if runs is None else runs

    def enter(self, evaluator: Evaluator, scope: IterationScope, region: Region) -> bool:
        """Tell whether a region, not of a counted loop, runs when its operation does.

        Raises:
            UnknownError: its operation is none whose control flow is known.
        """
        operation = region.owner
        assert operation is not None
        if operation.traits.conditional and operation.operands:
            condition = evaluator.run(scope, operation.operands[0])
            if isinstance(condition, Unknown):
                return self._assume(condition)
            return is_true(condition) == (region.number == 0)
        if operation.traits.once:
            return True
        raise UnknownError(Unknown.because(operation_text(operation)))

    def _assume(self, unknown: Unknown) -> bool:
        if self.assumed is None:
            raise UnknownError(unknown)
        self.assumed.append(unknown)
        return True


class _Runs(NamedTuple):
    """The runs of an operation.

    Attributes:
        evaluator: evaluator of its function.
        operation: the operation.
        wanted: the requested values.
        branches: the branches on the way to it.
    """

    evaluator: Evaluator
    operation: Operation
    wanted: frozenset[Value]
    branches: Branches

    def scopes(self, scope: IterationScope, around: Sequence[Region]) -> Iterator[IterationScope]:
        """Yield a scope for each time that the innermost of nested regions runs."""
        operation = around[0].owner if around else self.operation
        assert operation is not None
        if not self.branches.reach(self.evaluator, scope, operation):
            return
        if not around:
            yield scope
        elif operation.traits.counted:
            for iteration in self._iterations(scope, operation):
                yield from self.scopes(iteration, around[1:])
        elif self.branches.enter(self.evaluator, scope, around[0]):
            yield from self.scopes(scope, around[1:])

    def _iterations(self, scope: IterationScope, loop: Operation) -> Iterator[IterationScope]:
        evaluator = self.evaluator
        bounds = [evaluator.run(scope, bound) for bound in loop.operands[:BOUNDS]]
        count = evaluator.trips(loop, bounds)
        if isinstance(count, Unknown):
            raise UnknownError(count)
        within = [value for value in self.wanted if evaluator.structure.is_within(value, loop)]
        passed = yielded(loop, 0)
        needed = evaluator.structure.iterated_for(loop, within)
        state = {k: evaluator.run(scope, loop.operands[BOUNDS + k]) for k in needed}
        for iteration in range(count):
            inner = iteration_of(scope, loop, bounds, iteration, state)
            yield inner
            if iteration + 1 < count:
                state = {k: evaluator.run(inner, passed[k]) for k in needed}
