"""The runs of an operation in one program, with its values in each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.values.evaluator import (
    MAX_ITERATIONS,
    Evaluator,
    Scope,
    iteration_of,
    yielded,
)
from tt_layout.audit.values.spread import is_true
from tt_layout.audit.values.unknown import Found, Unknown, UnknownError, place
from tt_layout.ir.ssa.control_flow import BOUNDS
from tt_layout.ir.ssa.model import Region, SsaOperation, Value
from tt_layout.tuples import NamedTuple


def each_run(
    evaluator: Evaluator,
    operation: SsaOperation,
    values: Sequence[Value],
    assumed: list[Unknown] | None = None,
) -> Iterator[list[Found]]:
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
    bounds = (v for r in around if r.owner is not None for v in r.owner.operands[:BOUNDS])
    wanted = {*values, *bounds}
    runs = _Runs(evaluator, operation, frozenset(wanted), assumed)
    for count, scope in enumerate(runs.scopes(evaluator.top, around)):
        if count == MAX_ITERATIONS:
            raise TooManyRunsError(operation, MAX_ITERATIONS)
        yield [evaluator.run(scope, value) for value in values]


class TooManyRunsError(UnknownError):
    """An operation runs more often than is looked at.

    Attributes:
        most: the most runs that are evaluated.
    """

    def __init__(self, operation: SsaOperation, most: int) -> None:
        super().__init__(Unknown.because(f"{place(operation)} runs more than {most} times"))
        self.most = most


class _Runs(NamedTuple):
    """The runs of an operation.

    Attributes:
        evaluator: evaluator of its function.
        operation: the operation.
        wanted: the requested values.
        assumed: collects assumptions; None where none may be made.
    """

    evaluator: Evaluator
    operation: SsaOperation
    wanted: frozenset[Value]
    assumed: list[Unknown] | None

    def scopes(self, scope: Scope, around: Sequence[Region]) -> Iterator[Scope]:
        """Yield a scope for each time that the innermost of nested regions runs."""
        operation = around[0].owner if around else self.operation
        assert operation is not None
        if not self._is_reached(scope, operation):
            return
        if not around:
            yield scope
            return
        region, inner = around[0].number, around[1:]
        if operation.traits.counted:
            for iteration in self._iterations(scope, operation):
                yield from self.scopes(iteration, inner)
        elif operation.traits.conditional and operation.operands:
            condition = self.evaluator.run(scope, operation.operands[0])
            if isinstance(condition, Unknown):
                is_taken = self._assume(condition)
            else:
                is_taken = is_true(condition) == (region == 0)
            if is_taken:
                yield from self.scopes(scope, inner)
        elif operation.traits.once:
            yield from self.scopes(scope, inner)
        else:
            raise UnknownError(Unknown.because(place(operation)))

    def _is_reached(self, scope: Scope, operation: SsaOperation) -> bool:
        """Tell whether control comes to the block of an operation."""
        home = operation.block
        if home is None or len(home.region) < 2:
            return True
        path = self.evaluator.path(scope, home.region)
        runs = path.runs(home.label)
        return self._assume(path.unknown or Unknown()) if runs is None else runs

    def _assume(self, unknown: Unknown) -> bool:
        if self.assumed is None:
            raise UnknownError(unknown)
        self.assumed.append(unknown)
        return True

    def _iterations(self, scope: Scope, loop: SsaOperation) -> Iterator[Scope]:
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
