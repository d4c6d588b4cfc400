"""The values of a function, evaluated on whole arrays for given arguments.

A value is evaluated when it is asked for, and with it what it is computed from, each once.
What the dump does not determine stays unknown, with the arguments that would help and the
operations that no argument helps with: a load, floating point.

Inside a loop the values are those of its first iteration.  The results of a loop are those of
its last: it is run, as far as they depend on it.

Source:
    MLIR's language reference (``scf``, ``arith``); Triton, TritonOps.td.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.arithmetic import UndefinedError
from tt_layout.audit.values.given import PROGRAM_AXES, GivenValues
from tt_layout.audit.values.paths import Path, follow
from tt_layout.audit.values.rules import RULES, Application, apply
from tt_layout.audit.values.spread import (
    SplitError,
    Spread,
    advanced,
    agreed,
    agreed_number,
    apply_to_programs,
    gathered,
    is_true,
    numbers,
)
from tt_layout.audit.values.structure import Structure
from tt_layout.audit.values.unknown import Found, Known, Unknown, place, unknowns
from tt_layout.ir.ssa.control_flow import BOUNDS
from tt_layout.ir.ssa.model import Region, SsaFunction, SsaOperation

MAX_ITERATIONS = 1 << 12
"""Iterations of a loop that are followed to its results, and executions that are looked at."""


_BEGUN = Unknown()
"""What stands for a value that is being evaluated: where it is met, the value depends on itself."""

Steps = Generator[tuple["Scope", str], Found, Found]
"""The evaluation of a value: asks for others by scope and name, and returns it."""


@dataclass
class Scope:
    """Values as one iteration of a loop sees them; the outermost those of the function.

    Attributes:
        parent: the scope around the loop.
        loop: the loop.
        known: values evaluated so far, by name.
        paths: those through regions of several blocks, by the identity of the region.
    """

    parent: Scope | None = None
    loop: SsaOperation | None = None
    known: dict[str, Found] = field(default_factory=dict)
    paths: dict[int, Path] = field(default_factory=dict)

    def found(self, name: str) -> Found | None:
        """Return what is known of a value; None of one that is yet to be evaluated."""
        value = self.known.get(name)
        return value if value is not _BEGUN else Unknown.because(f"{name}, which depends on itself")


class Evaluator:
    """Evaluates the values of a function.

    Attributes:
        function: the function.
        given: what its arguments are.
        structure: where its values are defined.
        overflows: integer operations whose results did not fit, in the order met.

    Example:
        >>> from tt_layout.audit.values.given import GivenValues
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa.reader import SsaReader
        >>> [module] = parse_ir('''
        ... tt.func @f(%n: i32, %p: !tt.ptr<f16>) {
        ...   %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
        ...   %1 = tt.splat %n : i32 -> tensor<8xi32>
        ...   %2 = arith.muli %0, %1 : tensor<8xi32>
        ...   tt.return
        ... }''')
        >>> [function] = SsaReader().functions(module)
        >>> Evaluator(function, GivenValues({"n": 3})).value("%2").tolist()
        [0, 3, 6, 9, 12, 15, 18, 21]
        >>> Evaluator(function, GivenValues()).value("%2").names
        frozenset({'n'})
    """

    def __init__(
        self,
        function: SsaFunction,
        given: GivenValues,
        layouts: PlacedLayouts | None = None,
        programs: Ints | None = None,
        structure: Structure | None = None,
    ) -> None:
        """Begin with nothing evaluated.

        Args:
            function: the function.
            given: what its arguments are.
            layouts: those of its types, if there are some already.
            programs: the ids of several programs, of shape ``[3, programs]``; of one if None.
            structure: of the function, if it is known already.
        """
        self.function = function
        self.structure = structure or Structure(function)
        self.overflows: list[SsaOperation] = []
        self.given = given
        self._layouts = layouts or PlacedLayouts()
        self._programs = programs
        self.top = Scope()

    def value(self, name: str) -> Known:
        """Return a value: an int64 array of the tensor's shape, or why it is unknown."""
        found = self.run(self.top, name)
        return found if isinstance(found, Unknown) else agreed(found)

    def scalar(self, name: str) -> int | Unknown:
        """Return a value that is one number."""
        value = self.value(name)
        return value if isinstance(value, Unknown) else int(value.reshape(-1)[0])

    def trip_count(self, loop: SsaOperation) -> int | Unknown:
        """Return how often the body of an ``scf.for`` runs."""
        return self.trips(loop, [self.run(self.top, name) for name in loop.operands[:BOUNDS]])

    # -- machinery --------------------------------------------------------------------------

    def run(self, scope: Scope, name: str) -> Found:
        """Return a value as a scope sees it.

        Raises:
            SplitError: the programs do not agree on what it depends on.
        """
        stack: list[tuple[Scope, str, Steps]] = []
        try:
            with np.errstate(all="ignore"):
                return self._run(scope, name, stack)
        except SplitError:
            for home, unfinished, _ in stack:
                del home.known[unfinished]
            raise

    def _run(self, scope: Scope, name: str, stack: list[tuple[Scope, str, Steps]]) -> Found:
        """Evaluate a value by hand instead of by recursion: chains can be very long."""
        home = self._home(scope, name)
        answer = home.found(name)
        if answer is not None:
            return answer
        stack.append(self._begin(home, name))
        while stack:
            scope, name, steps = stack[-1]
            try:
                # A generator begins with None; later it is sent what it asked for.
                wanted_scope, wanted = steps.send(answer)  # type: ignore[arg-type]
            except StopIteration as end:
                answer = scope.known[name] = end.value
                stack.pop()
                continue
            home = self._home(wanted_scope, wanted)
            answer = home.found(wanted)
            if answer is None:
                stack.append(self._begin(home, wanted))
        assert answer is not None
        return answer

    def _begin(self, scope: Scope, name: str) -> tuple[Scope, str, Steps]:
        scope.known[name] = _BEGUN
        return scope, name, self._steps(scope, name)

    def _home(self, scope: Scope, name: str) -> Scope:
        """Return the scope that a value belongs to: that of the innermost loop around it."""
        while scope.parent is not None and scope.loop is not None:
            if name in scope.known or self.structure.is_within(name, scope.loop):
                return scope
            scope = scope.parent
        return scope

    def _steps(self, scope: Scope, name: str) -> Steps:
        operation = self.function.definitions.get(name)
        if operation is None:
            return self._argument(scope, name)
        index = [value.name for value in operation.results].index(name)
        if operation.traits.counted:
            return self._loop_result(scope, operation, index)
        if operation.traits.conditional:
            return self._branch_result(scope, operation, index)
        return self._result(scope, operation, index)

    # -- operations -------------------------------------------------------------------------

    def _result(self, scope: Scope, operation: SsaOperation, index: int) -> Steps:
        if operation.traits.by_program:
            return self._program(operation)
        if operation.name not in RULES:
            return Unknown.because(place(operation))
        operands: list[Found] = []
        for operand in operation.operands:
            operands.append((yield scope, operand))
        return unknowns(operands) or self._apply(operation, operands, index)

    def _apply(self, operation: SsaOperation, operands: list[Found], index: int) -> Found:
        values = self.function.values
        types = [values[name].type for name in operation.operands if name in values]
        shared = [value for value in operands if not isinstance(value, Unknown)]
        arrays = [value for value in shared if not isinstance(value, Spread)]

        def layout(at: int) -> LinearLayout | None:
            names = [*operation.operands, *(value.name for value in operation.results)]
            ir_type = self.function.type_of(names[at])
            return self._layouts.linear(ir_type)

        result = operation.results[index].type
        application = Application(operation, arrays, types, result, index, layout)
        found: Found
        try:
            if len(arrays) == len(shared):
                found, overflows = apply(application)
            else:
                found, overflows = apply_to_programs(application, shared)
        except UndefinedError as error:
            return Unknown.because(f"{place(operation)}: {error}")
        if overflows:
            self.overflows.append(operation)
        return found

    def _program(self, operation: SsaOperation) -> Found:
        kind, axis = operation.name.rpartition("get_")[2], (operation.integer("axis") or 0) % 3
        if self._programs is not None and kind == "program_id":
            return gathered(self._programs[axis], np.asarray(0, np.int64))
        name = f"{kind}_{PROGRAM_AXES[axis]}"
        value = self.given.program(name)
        return Unknown(frozenset([name])) if value is None else np.asarray(value, np.int64)

    def _argument(self, scope: Scope, name: str) -> Steps:
        """Evaluate an argument of the function or of a block."""
        owner = self.structure.owner(name)
        if owner is None:
            return self._parameter(name)
        operation, source = owner.operation, owner.first_value
        if source is None and owner.region:
            path = self.path(scope, owner.region)
            source = path.sources.get(name)
            if source is None and path.unknown is not None:
                return path.unknown
        if source is None:
            return Unknown.because(place(operation))
        return (yield scope, source)

    def path(self, scope: Scope, region: Region) -> Path:
        """Return the blocks of a region that control comes through."""
        paths, key = scope.paths, id(region)
        if key not in paths:
            paths[key] = Path((), {})  # as far as it is known to what decides the rest
            try:
                paths[key] = follow(region, lambda name: self.run(scope, name), paths[key].sources)
            except SplitError:
                del paths[key]
                raise
        return paths[key]

    def _parameter(self, name: str) -> Known:
        for value, attributes in zip(self.function.arguments, self.function.argument_attributes):
            if value.name == name:
                given = self.given.argument(name.removeprefix("%"), value.type, attributes)
                if given is None:
                    return Unknown(frozenset([name.removeprefix("%")]))
                return np.asarray(given, np.int64)
        return Unknown.because(f"{name}, which is not defined")

    # -- regions ----------------------------------------------------------------------------

    def _branch_result(self, scope: Scope, operation: SsaOperation, index: int) -> Steps:
        condition = yield scope, operation.operands[0]
        if isinstance(condition, Unknown):
            return condition
        passed = yielded(operation, 0 if is_true(condition) else 1)
        if index >= len(passed):
            return Unknown.because(place(operation))
        return (yield scope, passed[index])

    def _loop_result(self, scope: Scope, operation: SsaOperation, index: int) -> Steps:
        bounds: list[Found] = []
        for name in operation.operands[:BOUNDS]:
            bounds.append((yield scope, name))
        count = self.trips(operation, bounds)
        if isinstance(count, Unknown):
            return count
        passed = yielded(operation, 0)
        needed = {index, *self.structure.iterated_for(operation, [passed[index]])}
        state: dict[int, Found] = {}
        for k in needed:
            state[k] = yield scope, operation.operands[BOUNDS + k]
        for iteration in range(count):
            if isinstance(state[index], Unknown):
                return state[index]
            if iteration == MAX_ITERATIONS:
                return Unknown.because(f"{place(operation)}: {count} iterations")
            inner = iteration_of(scope, operation, bounds, iteration, state)
            following: dict[int, Found] = {}
            for k in needed:
                following[k] = yield inner, passed[k]
            state = following
        return state[index]

    def trips(self, loop: SsaOperation, bounds: Sequence[Found]) -> int | Unknown:
        """Return how often a loop with such bounds runs."""
        return trip_count(loop, bounds)


def iteration_of(
    scope: Scope,
    loop: SsaOperation,
    bounds: Sequence[Found],
    iteration: int,
    state: Mapping[int, Found],
) -> Scope:
    """Return what an iteration of a loop sees, given what it iterates."""
    variable, *iterated = loop.regions[0][0].arguments
    known: dict[str, Found] = {iterated[k].name: value for k, value in state.items()}
    lower, _, step = (bound for bound in bounds if not isinstance(bound, Unknown))
    known[variable.name] = advanced(lower, iteration, agreed(step))
    return Scope(scope, loop, known)


def yielded(operation: SsaOperation, region: int) -> tuple[str, ...]:
    """Return what the last operation of a region hands over."""
    if region >= len(operation.regions) or not operation.regions[region]:
        return ()
    operations = operation.regions[region][-1].operations
    return operations[-1].operands if operations else ()


def trip_count(loop: SsaOperation, bounds: Sequence[Found]) -> int | Unknown:
    """Return how often a loop runs, given its bounds and its step."""
    if len(bounds) < BOUNDS:
        return Unknown.because(f"{place(loop)}: {len(bounds)} of its {BOUNDS} bounds")
    unknown = unknowns(bounds)
    if unknown is not None:
        return unknown
    lower, upper, step = (numbers(bound) for bound in bounds if not isinstance(bound, Unknown))
    if (step <= 0).any():
        return Unknown.because(f"{place(loop)}: a step of {int(step.min())}")
    return agreed_number(np.maximum(0, -((lower - upper) // step)))
