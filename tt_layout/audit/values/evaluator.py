"""The values of a function, evaluated on whole arrays for given arguments.

A value is evaluated when it is asked for, and with it what it is computed from, each once.
What the dump does not determine stays unknown, with the arguments that would help and the
operations that no argument helps with, such as a load.

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
from tt_layout.audit.values.arithmetic import UndefinedError, wrap
from tt_layout.audit.values.floats import float_bits
from tt_layout.audit.values.given import PROGRAM_IDS, GivenValues, plain_name, program_value
from tt_layout.audit.values.instances import Instances, Iterations
from tt_layout.audit.values.paths import Path, follow
from tt_layout.audit.values.rules import RULES, Application, apply, depends_on_layouts
from tt_layout.audit.values.spread import (
    ProgramTensor,
    SplitError,
    advanced,
    advanced_by,
    agreed,
    agreed_number,
    apply_to_programs,
    fits,
    gathered,
    is_true,
    numbers,
)
from tt_layout.audit.values.structure import Structure
from tt_layout.audit.values.unknown import (
    Evaluated,
    SingleValue,
    Unknown,
    operation_text,
    unknowns,
)
from tt_layout.ir.ssa.control_flow import BOUNDS
from tt_layout.ir.ssa.model import Block, Function, Operation, Region, Value
from tt_layout.lazy import lazy

MAX_ITERATIONS = 1 << 12
"""The most iterations of a loop that are evaluated for its results, and the most executions."""

MAX_NESTED = 1 << 16
"""The most iterations of all loops together: those of loops in loops multiply."""

MAX_SHARED = 1 << 10
"""Elements of an array that is kept: larger ones are soon found from those they come from."""

INTEGER_BITS = 64
"""Width of the integers that values are evaluated in."""

_BEGUN = Unknown()
"""Marker of a value under evaluation: a value that meets it depends on itself."""

Steps = Generator[tuple["IterationScope", Value], Evaluated, Evaluated]
"""The evaluation of a value: asks for others of a scope, and returns it."""


@dataclass
class IterationScope:
    """Values as one iteration of a loop sees them; the outermost those of the function.

    Attributes:
        parent: the scope around the loop.
        loop: the loop.
        known: values evaluated so far.
        paths: paths through regions of several blocks.
        iterations: iteration of each of several instances; None where all are in one.
    """

    parent: IterationScope | None = None
    loop: Operation | None = None
    known: dict[Value, Evaluated] = field(default_factory=dict)
    paths: dict[Region, Path] = field(default_factory=dict)
    iterations: Iterations | None = None

    def answer(self, value: Value) -> Evaluated | None:
        """Return the answer for a value; None if it is yet to be evaluated."""
        answer = self.known.get(value)
        if answer is _BEGUN:
            return Unknown.because(f"{value.name}, which depends on itself")
        return answer


class Evaluator:
    """Evaluator of the values of a function.

    Attributes:
        function: the function.
        given: values of its arguments.
        structure: definitions of its values.
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
        >>> product = function.values["%2"]
        >>> Evaluator(function, GivenValues({"n": 3})).value(product).tolist()
        [0, 3, 6, 9, 12, 15, 18, 21]
        >>> Evaluator(function, GivenValues()).value(product).names
        frozenset({'n'})
    """

    def __init__(
        self,
        function: Function,
        given: GivenValues,
        layouts: PlacedLayouts | None = None,
        programs: Ints | None = None,
        structure: Structure | None = None,
    ) -> None:
        """Begin with nothing evaluated.

        Args:
            function: the function.
            given: values of its arguments.
            layouts: placed layouts of its types; new ones if None.
            programs: the ids of several programs, of shape ``[3, programs]``; of one if None.
            structure: structure of the function; a new one if None.
        """
        self.function = function
        self.structure = structure or function.once("structure", Structure)
        self.overflows: list[Operation] = []
        self.given = given
        self._layouts = layouts or PlacedLayouts()
        self.programs = programs
        self.top = IterationScope()
        self._iterations_left = MAX_NESTED

    def laid_out(self, function: Function) -> Evaluator:
        """Return the evaluator of the function with other layouts.

        They share the values, unless these are in an order that layouts determine.
        """
        evaluator = Evaluator(function, self.given, self._layouts, self.programs, self.structure)
        if not self._depends_on_layouts:
            evaluator.top, evaluator.overflows = self.top, self.overflows
        return evaluator

    @lazy
    def _depends_on_layouts(self) -> bool:
        """Whether elements of some value are in an order that layouts determine."""
        return self.function.once(
            "is in the order of layouts",
            lambda function: any(map(depends_on_layouts, function.walk())),
        )

    @property
    def count(self) -> int:
        """Number of programs."""
        return 1 if self.programs is None else self.programs.shape[1]

    def at(self, instances: Instances) -> tuple[Evaluator, IterationScope]:
        """Return the evaluator of instances of loops' bodies, and the scope of the innermost."""
        if not instances.loops and len(instances.program) == self.count:
            return self, self.top
        evaluator = Evaluator(
            self.function, self.given, self._layouts, instances.ids, self.structure
        )
        evaluator.overflows = self.overflows
        scope = evaluator.top
        for iterations in instances.loops:
            variable = iterations.loop.regions[0][0].arguments[0]
            first_values: dict[Value, Evaluated] = {
                variable: gathered(iterations.variables, np.asarray(0, np.int64))
            }
            scope = IterationScope(scope, iterations.loop, first_values, iterations=iterations)
        return evaluator, scope

    def value(self, value: Value) -> SingleValue:
        """Return a value: an int64 array of the tensor's shape, or why it is unknown."""
        answer = self.run(self.top, value)
        return answer if isinstance(answer, Unknown) else agreed(answer)

    def scalar(self, value: Value) -> int | Unknown:
        """Return a value that is one number."""
        answer = self.value(value)
        return answer if isinstance(answer, Unknown) else int(answer.reshape(-1)[0])

    def trip_count(self, loop: Operation) -> int | Unknown:
        """Return how often the body of an ``scf.for`` runs."""
        return self.trips(loop, [self.run(self.top, bound) for bound in loop.operands[:BOUNDS]])

    # -- machinery --------------------------------------------------------------------------

    def run(self, scope: IterationScope, value: Value) -> Evaluated:
        """Return a value as a scope sees it.

        Raises:
            SplitError: the programs do not agree on what it depends on.
        """
        answer = self._answer(self._home(scope, value), value)
        if answer is not None:
            return answer
        stack: list[tuple[IterationScope, Value, Steps]] = []
        try:
            with np.errstate(all="ignore"):
                return self._run(scope, value, stack)
        except SplitError:
            for home, unfinished, _ in stack:
                del home.known[unfinished]
            raise

    def _run(
        self, scope: IterationScope, value: Value, stack: list[tuple[IterationScope, Value, Steps]]
    ) -> Evaluated:
        """Evaluate a value on a trampoline instead of by recursion: chains can be very long."""
        answer: Evaluated | None = None
        stack.append(self._begin(self._home(scope, value), value))
        while stack:
            scope, value, steps = stack[-1]
            try:
                # A generator begins with None; later it is sent what it asked for.
                wanted_scope, wanted = steps.send(answer)  # type: ignore[arg-type]
            except StopIteration as end:
                answer = scope.known[value] = end.value
                if scope is self.top:
                    self._share(value, end.value)
                stack.pop()
                continue
            home = self._home(wanted_scope, wanted)
            answer = self._answer(home, wanted)
            if answer is None:
                stack.append(self._begin(home, wanted))
        assert answer is not None
        return answer

    @lazy
    def _shared(self) -> dict[Value, Evaluated] | None:
        """The values that functions of one text have in common; None where it has its own."""
        if self.programs is not None or not self.depends_on_text_alone:
            return None
        return self.function.once("values of constants", lambda function: {})

    @lazy
    def depends_on_text_alone(self) -> bool:
        """Whether neither arguments that are given nor layouts determine any value."""
        return not self.given.values and not self._depends_on_layouts

    def _answer(self, home: IterationScope, value: Value) -> Evaluated | None:
        """Return the answer for a value of a scope; None if it is yet to be evaluated."""
        answer = home.answer(value)
        if answer is None and home is self.top and self._shared is not None:
            answer = self._shared.get(value)
            if answer is not None:
                home.known[value] = answer
        return answer

    def _share(self, value: Value, answer: Evaluated) -> None:
        """Keep a value for other functions of the text, if it is small, and nothing overflowed."""
        if self._shared is None or self.overflows or isinstance(answer, ProgramTensor):
            return
        is_kept = not answer.reasons if isinstance(answer, Unknown) else answer.size <= MAX_SHARED
        if is_kept:
            self._shared[value] = answer

    def _begin(self, scope: IterationScope, value: Value) -> tuple[IterationScope, Value, Steps]:
        scope.known[value] = _BEGUN
        return scope, value, self._steps(scope, value)

    def _home(self, scope: IterationScope, value: Value) -> IterationScope:
        """Return the scope that a value belongs to: that of the innermost loop around it."""
        while scope.parent is not None and scope.loop is not None:
            if value in scope.known or self.structure.is_within(value, scope.loop):
                return scope
            scope = scope.parent
        return scope

    def _steps(self, scope: IterationScope, value: Value) -> Steps:
        operation = value.definition
        if operation is None:
            return self._argument(scope, value)
        index = operation.results.index(value)
        if operation.traits.counted:
            return self._loop_result(scope, operation, index)
        if operation.traits.conditional:
            return self._branch_result(scope, operation, index)
        return self._result(scope, operation, index)

    # -- operations -------------------------------------------------------------------------

    def _result(self, scope: IterationScope, operation: Operation, index: int) -> Steps:
        if operation.traits.by_program:
            return self._program(operation)
        if operation.name not in RULES:
            return Unknown.because(operation_text(operation))
        operands: list[Evaluated] = []
        for operand in operation.operands:
            known = self._answer(self._home(scope, operand), operand)
            operands.append((yield scope, operand) if known is None else known)
        return unknowns(operands) or self._apply(operation, operands, index)

    def _apply(self, operation: Operation, operands: list[Evaluated], index: int) -> Evaluated:
        types = [operand.type for operand in operation.operands]
        shared = [value for value in operands if not isinstance(value, Unknown)]
        arrays = [value for value in shared if not isinstance(value, ProgramTensor)]

        def layout(at: int) -> LinearLayout | None:
            ir_type = self.function.type_of([*operation.operands, *operation.results][at])
            return self._layouts.linear(ir_type)

        result = operation.results[index].type
        application = Application(operation, arrays, types, result, index, layout)
        answer: Evaluated
        try:
            if len(arrays) == len(shared):
                answer, overflows = apply(application)
            else:
                answer, overflows = apply_to_programs(application, shared)
        except UndefinedError as error:
            return Unknown.because(f"{operation_text(operation)}: {error}")
        if overflows:
            self.overflows.append(operation)
        return answer

    def _program(self, operation: Operation) -> Evaluated:
        name = program_value(operation)
        if self.programs is not None and name in PROGRAM_IDS:
            return gathered(self.programs[PROGRAM_IDS.index(name)], np.asarray(0, np.int64))
        value = self.given.program(name)
        return Unknown(frozenset([name])) if value is None else np.asarray(value, np.int64)

    def _argument(self, scope: IterationScope, value: Value) -> Steps:
        """Evaluate an argument of the function or of a block."""
        block = value.owner
        if not isinstance(block, Block) or block is next(iter(self.function.body), None):
            return self._parameter(value)
        region = block.region
        if scope.iterations is not None and region.owner is scope.loop:
            return (yield from self._iterated(scope, scope.iterations, value))
        if block is region[0]:
            source = self.structure.first_value(value)
            if source is None:
                assert region.owner is not None
                return Unknown.because(operation_text(region.owner))
            return (yield scope, source)
        path = self.path(scope, region)
        source = path.sources.get(value)
        if source is None and path.unknown is not None:
            return path.unknown
        if source is None:
            line = region.owner.line if region.owner is not None else self.function.line
            return Unknown.because(f"cf.br to {block.label} on line {line}")
        return (yield scope, source)

    def path(self, scope: IterationScope, region: Region) -> Path:
        """Return the blocks of a region that control comes through."""
        paths = scope.paths
        if region not in paths:
            paths[region] = Path(frozenset(), {})  # as far as it is known to what decides the rest
            try:
                sources = paths[region].sources
                paths[region] = follow(region, lambda value: self.run(scope, value), sources)
            except SplitError:
                del paths[region]
                raise
        return paths[region]

    def _parameter(self, value: Value) -> SingleValue:
        for argument, attributes in zip(self.function.arguments, self.function.argument_attributes):
            if argument is value:
                name = plain_name(value.name)
                number = self.given.argument(name, value.type, attributes)
                if number is not None:
                    return np.asarray(number, np.int64)
                if float_bits(value.type.element) is not None:
                    return Unknown.because(f"{value.name}, a float, which cannot be given")
                return Unknown(frozenset([name]))
        return Unknown.because(f"{value.name}, which is not defined")

    # -- regions ----------------------------------------------------------------------------

    def _branch_result(self, scope: IterationScope, operation: Operation, index: int) -> Steps:
        condition = yield scope, operation.operands[0]
        if isinstance(condition, Unknown):
            return condition
        passed = yielded(operation, 0 if is_true(condition) else 1)
        if index >= len(passed):
            return Unknown.because(operation_text(operation))
        return (yield scope, passed[index])

    def _loop_result(self, scope: IterationScope, operation: Operation, index: int) -> Steps:
        bounds: list[Evaluated] = []
        for bound in operation.operands[:BOUNDS]:
            bounds.append((yield scope, bound))
        count = self.trips(operation, bounds)
        if isinstance(count, Unknown):
            return count
        passed = yielded(operation, 0)
        if len(passed) != len(operation.operands[BOUNDS:]):  # a damaged loop, or nested too deeply
            return Unknown.because(operation_text(operation))
        needed = {index, *self.structure.iterated_for(operation, [passed[index]])}
        state: dict[int, Evaluated] = {}
        for k in needed:
            state[k] = yield scope, operation.operands[BOUNDS + k]
        for iteration in range(count):
            if isinstance(state[index], Unknown):
                return state[index]
            self._iterations_left -= 1
            if iteration == MAX_ITERATIONS or self._iterations_left < 0:
                return Unknown.because(f"{operation_text(operation)}: {count} iterations")
            inner = iteration_of(scope, operation, bounds, iteration, state)
            following: dict[int, Evaluated] = {}
            for k in needed:
                following[k] = yield inner, passed[k]
            state = following
        return state[index]

    def _iterated(self, scope: IterationScope, iterations: Iterations, value: Value) -> Steps:
        """Evaluate a running sum of a loop at the iterations of several instances."""
        loop, at, _ = iterations
        index = loop.regions[0][0].arguments.index(value) - 1
        advance = self.structure.advance(loop, index)
        assert scope.parent is not None
        first = yield scope.parent, loop.operands[BOUNDS + index]
        if advance is None or advance.step is None or not at.any():
            return first
        step = yield scope, advance.step
        unknown = unknowns([first, step])
        if unknown is not None:
            if not isinstance(first, Unknown):
                agreed_number((at > 0).astype(np.int64))  # the first iteration is known
            return unknown
        assert not isinstance(first, Unknown)
        assert not isinstance(step, Unknown)
        total = advanced_by(first, at, step, advance.unit)
        bits = value.type.integer_bits
        if bits is None or bits >= INTEGER_BITS or fits(total, bits):
            return total
        wrapped = wrap(agreed(total), bits)
        addition = self.structure.again(value)
        if addition is not None and addition.definition is not None:
            self.overflows.append(addition.definition)
        return wrapped

    def trips(self, loop: Operation, bounds: Sequence[Evaluated]) -> int | Unknown:
        """Return how often a loop runs, given its bounds and its step."""
        if len(bounds) < BOUNDS:
            return Unknown.because(f"{operation_text(loop)}: {len(bounds)} of its {BOUNDS} bounds")
        unknown = unknowns(bounds)
        if unknown is not None:
            return unknown
        lower, upper, step = (numbers(bound) for bound in bounds if not isinstance(bound, Unknown))
        if (step <= 0).any():
            return Unknown.because(f"{operation_text(loop)}: a step of {int(step.min())}")
        return agreed_number(np.maximum(0, -((lower - upper) // step)))


def iteration_of(
    scope: IterationScope,
    loop: Operation,
    bounds: Sequence[Evaluated],
    iteration: int,
    state: Mapping[int, Evaluated],
) -> IterationScope:
    """Return the scope of an iteration of a loop, given its iterated values."""
    variable, *iterated = loop.regions[0][0].arguments
    answers: dict[Value, Evaluated] = {iterated[k]: answer for k, answer in state.items()}
    lower, _, step = (bound for bound in bounds if not isinstance(bound, Unknown))
    answers[variable] = advanced(lower, iteration, agreed(step))
    return IterationScope(scope, loop, answers)


def yielded(operation: Operation, region: int) -> tuple[Value, ...]:
    """Return the operands of the last operation of a region."""
    if region >= len(operation.regions) or not operation.regions[region]:
        return ()
    operations = operation.regions[region][-1].operations
    return operations[-1].operands if operations else ()
