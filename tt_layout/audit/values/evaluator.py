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

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.arithmetic import UndefinedError
from tt_layout.audit.values.given import PROGRAM_AXES, GivenValues
from tt_layout.audit.values.rules import RULES, Application, apply
from tt_layout.audit.values.structure import Enclosing, Structure
from tt_layout.ir.ssa.control_flow import BOUNDS, ONCE
from tt_layout.ir.ssa.model import SsaFunction, SsaOperation

MAX_ITERATIONS = 1 << 12
"""Iterations of a loop that are followed to its results, and executions that are looked at."""


@dataclass(frozen=True)
class Unknown:
    """Why a value is not known.

    Attributes:
        names: arguments, and program ids, whose values would help.
        reasons: what no argument helps with, such as ``tt.load on line 12``.
    """

    names: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()

    def __or__(self, other: Unknown) -> Unknown:
        return Unknown(self.names | other.names, self.reasons | other.reasons)

    @staticmethod
    def because(reason: str) -> Unknown:
        """Return an unknown value with one reason."""
        return Unknown(reasons=frozenset([reason]))


class UnknownError(Exception):
    """Something is unknown that the question depends on.

    Attributes:
        unknown: why.
    """

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown)
        self.unknown = unknown


Known = Ints | Unknown
Steps = Generator[tuple["Scope", str], Known, Known]
"""The evaluation of a value: asks for others by scope and name, and returns it."""


def unknowns(values: Sequence[Known]) -> Unknown | None:
    """Return why some of the values are unknown, all reasons together; None if all are known."""
    found = None
    for value in values:
        if isinstance(value, Unknown):
            found = value if found is None else found | value
    return found


@dataclass
class Scope:
    """Values as one iteration of a loop sees them; the outermost those of the function.

    Attributes:
        parent: the scope around the loop.
        loop: the loop.
        known: values evaluated so far, by name.
    """

    parent: Scope | None = None
    loop: SsaOperation | None = None
    known: dict[str, Known] = field(default_factory=dict)


def place(operation: SsaOperation) -> str:
    """Return how a reason names an operation."""
    return f"{operation.name} on line {operation.line}"


class Evaluator:
    """Evaluates the values of a function.

    Attributes:
        function: the function.
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
    ) -> None:
        self.function = function
        self.structure = Structure(function)
        self.overflows: list[SsaOperation] = []
        self._given = given
        self._layouts = layouts or PlacedLayouts()
        self._top = Scope()

    def value(self, name: str) -> Known:
        """Return a value: an int64 array of the tensor's shape, or why it is unknown."""
        return self._run(self._top, name)

    def scalar(self, name: str) -> int | Unknown:
        """Return a value that is one number."""
        value = self.value(name)
        return value if isinstance(value, Unknown) else int(value.reshape(-1)[0])

    def trip_count(self, loop: SsaOperation) -> int | Unknown:
        """Return how often the body of an ``scf.for`` runs."""
        return _trip_count(loop, [self.value(name) for name in loop.operands[:BOUNDS]])

    # -- machinery --------------------------------------------------------------------------

    def _run(self, scope: Scope, name: str) -> Known:
        """Evaluate a value by hand instead of by recursion: chains can be very long."""
        home = self._home(scope, name)
        if name in home.known:
            return home.known[name]
        stack = [self._begin(home, name)]
        answer: Known | None = None
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
            answer = home.known.get(wanted)
            if answer is None:
                stack.append(self._begin(home, wanted))
        assert answer is not None
        return answer

    def _begin(self, scope: Scope, name: str) -> tuple[Scope, str, Steps]:
        scope.known[name] = Unknown.because(f"{name}, which depends on itself")
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
        if operation.name == "scf.for":
            return self._loop_result(scope, operation, index)
        if operation.name == "scf.if":
            return self._branch_result(scope, operation, index)
        return self._result(scope, operation, index)

    # -- operations -------------------------------------------------------------------------

    def _result(self, scope: Scope, operation: SsaOperation, index: int) -> Steps:
        if operation.name in ("tt.get_program_id", "tt.get_num_programs"):
            return self._program(operation)
        if operation.name not in RULES:
            return Unknown.because(place(operation))
        operands = []
        for operand in operation.operands:
            operands.append((yield scope, operand))
        return unknowns(operands) or self._apply(operation, operands, index)

    def _apply(self, operation: SsaOperation, operands: list[Known], index: int) -> Known:
        values = self.function.values
        types = [values[name].type for name in operation.operands if name in values]
        arrays = [value for value in operands if not isinstance(value, Unknown)]

        def layout(at: int) -> LinearLayout | None:
            names = [*operation.operands, *(value.name for value in operation.results)]
            ir_type = self.function.type_of(names[at])
            return self._layouts.linear(ir_type) if ir_type is not None else None

        result = operation.results[index].type
        try:
            found, overflows = apply(Application(operation, arrays, types, result, index, layout))
        except UndefinedError as error:
            return Unknown.because(f"{place(operation)}: {error}")
        if overflows:
            self.overflows.append(operation)
        return found

    def _program(self, operation: SsaOperation) -> Known:
        kind = operation.name.removeprefix("tt.get_")
        name = f"{kind}_{PROGRAM_AXES[(operation.integer('axis') or 0) % 3]}"
        value = self._given.program(name)
        return Unknown(frozenset([name])) if value is None else np.asarray(value, np.int64)

    def _argument(self, scope: Scope, name: str) -> Steps:
        """Evaluate an argument of the function or of a block."""
        owner = self.structure.owner(name)
        if owner is None:
            return self._parameter(name)
        operation, source = owner.operation, owner.first_value
        if source is None:
            return Unknown.because(place(operation))
        return (yield scope, source)

    def _parameter(self, name: str) -> Known:
        for value, attributes in zip(self.function.arguments, self.function.argument_attributes):
            if value.name == name:
                given = self._given.argument(name.removeprefix("%"), value.type, attributes)
                if given is None:
                    return Unknown(frozenset([name.removeprefix("%")]))
                return np.asarray(given, np.int64)
        return Unknown.because(f"{name}, which is not defined")

    # -- regions ----------------------------------------------------------------------------

    def _branch_result(self, scope: Scope, operation: SsaOperation, index: int) -> Steps:
        condition = yield scope, operation.operands[0]
        if isinstance(condition, Unknown):
            return condition
        taken = 0 if condition.any() else 1
        yielded = _yielded(operation, taken)
        if index >= len(yielded):
            return Unknown.because(place(operation))
        return (yield scope, yielded[index])

    def _loop_result(self, scope: Scope, operation: SsaOperation, index: int) -> Steps:
        bounds = []
        for name in operation.operands[:BOUNDS]:
            bounds.append((yield scope, name))
        count = self._trips(operation, bounds)
        if isinstance(count, Unknown):
            return count
        yielded = _yielded(operation, 0)
        needed = {index, *self.structure.iterated_for(operation, [yielded[index]])}
        state = {}
        for k in needed:
            state[k] = yield scope, operation.operands[BOUNDS + k]
        for iteration in range(count):
            if isinstance(state[index], Unknown):
                return state[index]
            if iteration == MAX_ITERATIONS:
                return Unknown.because(f"{place(operation)}: {count} iterations")
            inner = _iteration(scope, operation, bounds, iteration, state)
            following = {}
            for k in needed:
                following[k] = yield inner, yielded[k]
            state = following
        return state[index]

    def _trips(self, loop: SsaOperation, bounds: list[Known]) -> int | Unknown:
        """Return how often a loop with such bounds runs."""
        return _trip_count(loop, bounds)

    # -- every execution --------------------------------------------------------------------

    def each_execution(
        self, operation: SsaOperation, names: Sequence[str]
    ) -> Iterator[list[Known]]:
        """Yield what values are each time that an operation runs.

        Args:
            operation: an operation of the function.
            names: values that it may use.

        Raises:
            UnknownError: it is not known when the operation runs, or it runs too often.
        """
        around = self.structure.around(operation)[::-1]
        wanted = {*names, *(n for e in around for n in e.operation.operands[:BOUNDS])}
        for count, scope in enumerate(self._scopes(self._top, around, wanted)):
            if count == MAX_ITERATIONS:
                reason = f"{place(operation)} runs more than {MAX_ITERATIONS} times"
                raise UnknownError(Unknown.because(reason))
            yield [self._run(scope, name) for name in names]

    def _scopes(
        self, scope: Scope, around: Sequence[Enclosing], wanted: set[str]
    ) -> Iterator[Scope]:
        """Yield a scope for each time that the innermost of nested regions runs."""
        if not around:
            yield scope
            return
        (operation, region, _), inner = around[0], around[1:]
        if operation.name == "scf.for":
            for iteration in self._iterations(scope, operation, wanted):
                yield from self._scopes(iteration, inner, wanted)
        elif operation.name == "scf.if" and operation.operands:
            condition = self._run(scope, operation.operands[0])
            if isinstance(condition, Unknown):
                raise UnknownError(condition)
            if bool(condition.any()) == (region == 0):
                yield from self._scopes(scope, inner, wanted)
        elif operation.name in ONCE:
            yield from self._scopes(scope, inner, wanted)
        else:
            raise UnknownError(Unknown.because(place(operation)))

    def _iterations(self, scope: Scope, loop: SsaOperation, wanted: set[str]) -> Iterator[Scope]:
        bounds = [self._run(scope, name) for name in loop.operands[:BOUNDS]]
        count = self._trips(loop, bounds)
        if isinstance(count, Unknown):
            raise UnknownError(count)
        within = [name for name in wanted if self.structure.is_within(name, loop)]
        yielded = _yielded(loop, 0)
        needed = self.structure.iterated_for(loop, within)
        state = {k: self._run(scope, loop.operands[BOUNDS + k]) for k in needed}
        for iteration in range(count):
            inner = _iteration(scope, loop, bounds, iteration, state)
            yield inner
            if iteration + 1 < count:
                state = {k: self._run(inner, yielded[k]) for k in needed}


def _iteration(
    scope: Scope,
    loop: SsaOperation,
    bounds: Sequence[Known],
    iteration: int,
    state: Mapping[int, Known],
) -> Scope:
    """Return what an iteration of a loop sees, given what it iterates."""
    variable, *iterated = loop.regions[0][0].arguments
    known: dict[str, Known] = {iterated[k].name: value for k, value in state.items()}
    known[variable.name] = np.asarray(bounds[0]) + iteration * np.asarray(bounds[2])
    return Scope(scope, loop, known)


def _yielded(operation: SsaOperation, region: int) -> tuple[str, ...]:
    """Return what the last operation of a region hands over."""
    if region >= len(operation.regions) or not operation.regions[region]:
        return ()
    operations = operation.regions[region][-1].operations
    return operations[-1].operands if operations else ()


def _trip_count(loop: SsaOperation, bounds: Sequence[Known]) -> int | Unknown:
    if len(bounds) < BOUNDS:
        return Unknown.because(f"{place(loop)}: {len(bounds)} of its {BOUNDS} bounds")
    unknown = unknowns(bounds)
    if unknown is not None:
        return unknown
    lower, upper, step = (int(np.asarray(bound)) for bound in bounds)
    if step <= 0:
        return Unknown.because(f"{place(loop)}: a step of {step}")
    return max(0, -((lower - upper) // step))
