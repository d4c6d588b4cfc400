"""Definitions of a function's values: regions, and the blocks of arguments."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from tt_layout.audit.values.paths import cycles
from tt_layout.enums import TextEnum
from tt_layout.grouping import grouped
from tt_layout.ir.ssa.control_flow import (
    BOUNDS,
    ControlEdge,
    branches,
    control_edges,
    flow_of,
)
from tt_layout.ir.ssa.dataflow import BackwardUnion
from tt_layout.ir.ssa.graph import reach
from tt_layout.ir.ssa.model import Block, Function, Operation, Value
from tt_layout.lazy import lazy
from tt_layout.tuples import NamedTuple


class LoopStage(TextEnum):
    """Position relative to a loop."""

    BODY = "body"
    PROLOGUE = "prologue"
    EPILOGUE = "epilogue"


class LoopPart(NamedTuple):
    """Whether an operation is inside, before or after a loop.

    Attributes:
        line: line of the loop.
        part: the body of the innermost loop; or the prologue of the next one, or else the
            epilogue of the last one.
    """

    line: int
    part: LoopStage

    @property
    def is_body(self) -> bool:
        """Whether it is inside the loop."""
        return self.part is LoopStage.BODY


class Advance(NamedTuple):
    """The addition that advances a loop-carried value to the next iteration.

    Attributes:
        step: the value that is added, the same in all iterations; None for no addition.
        unit: factor of the step: the bytes of a pointer's element.
    """

    step: Value | None
    unit: int


class RepeatedPart(NamedTuple):
    """Operations that run again and again until a condition ends them.

    Attributes:
        first: the loop, or the first operation of a loop of branches.
        operations: what is in it.
        ends: the conditions.
        changes: tells whether a value in it differs from one round to the next.
    """

    first: Operation
    operations: tuple[Operation, ...]
    ends: tuple[Value, ...]
    changes: Callable[[Value], bool]


class Structure:
    """The nesting of a function's operations.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa.reader import SsaReader
        >>> [module] = parse_ir('''
        ... tt.func @f(%n: i32, %p: !tt.ptr<f16>) {
        ...   %c = arith.constant 1 : i32
        ...   %r = scf.for %i = %c to %n step %c iter_args(%a = %p) -> (!tt.ptr<f16>) : i32 {
        ...     %b = tt.addptr %a, %i : !tt.ptr<f16>, i32
        ...     scf.yield %b : !tt.ptr<f16>
        ...   }
        ...   tt.return
        ... }''')
        >>> [function] = SsaReader().functions(module)
        >>> structure, values = Structure(function), function.values
        >>> [structure.first_value(values[name]).name for name in ("%i", "%a")]
        ['%c', '%p']
        >>> [loop] = [o for o in function.walk() if o.traits.loop]
        >>> structure.is_within(values["%b"], loop), structure.is_within(values["%r"], loop)
        (True, False)
    """

    def __init__(self, function: Function) -> None:
        self._function, self._control = function, flow_of(function)
        self._count = function.body.end
        self._loops = [(o.position, o.end, o.line) for o in function.walk() if o.traits.loop]
        self._begins = [begin for begin, _, _ in self._loops]
        self._numbers: dict[Operation, Mapping[Value, int]] = {}
        self._iterated: dict[Operation, BackwardUnion] = {}
        self._within: dict[tuple[Operation | Block | None, Operation], tuple[Value, ...]] = {}

    @lazy
    def wait(self) -> Operation | None:
        """Where the first loop begins that waits for what others write; None without any.

        It reads numbers at addresses that it does not change, until they are as it wants, and
        touches nothing else: a flag or a lock.
        """
        repeated = (loop for loop in self._repeated() if self._waits(loop))
        return min(
            (loop.first for loop in repeated), key=lambda first: first.position, default=None
        )

    def _repeated(self) -> Iterator[RepeatedPart]:
        """Yield the loops whose end a condition decides, and the loops of branches."""
        regions = [self._function.body]
        for operation in self._function.walk():
            regions += operation.regions
            if operation.traits.loop and not operation.traits.counted:
                inner = tuple(inner for inner in operation.walk() if inner is not operation)
                ends = tuple(edge.choice.value for edge in control_edges(operation) if edge.choice)
                yield RepeatedPart(operation, inner, ends, partial(self.depends_on, loop=operation))
        for region in regions:
            if len(region) > 1:
                by_name = region.labelled
                for blocks in cycles(region):
                    yield self._loop_of_branches(by_name, blocks)

    def _loop_of_branches(
        self, by_name: Mapping[str, Block], blocks: Sequence[Block]
    ) -> RepeatedPart:
        labels = {block.label for block in blocks}
        operations = [operation for block in blocks for operation in block.operations]
        every = tuple(inner for operation in operations for inner in operation.walk())
        handed = {
            target
            for inner in every
            for edge in self._edges_of.get(inner, ())
            if edge.end in labels
            for target in edge.received
        }
        ends = tuple(
            edge.choice.value
            for block in blocks
            for last in block.operations[-1:]
            for edge in branches(last, by_name)
            if edge.choice is not None and edge.end not in labels
        )

        computed: dict[Value, list[Value]] = {}  # with each value, by an operation in the loop
        for value in dict.fromkeys(value for inner in every for value in inner.results):
            for operand in _operands(value):
                computed.setdefault(operand, []).append(value)
        changing = frozenset(reach(handed, lambda value: computed.get(value, ())))

        return RepeatedPart(blocks[0].operations[0], every, ends, changing.__contains__)

    @lazy
    def _edges_of(self) -> Mapping[Operation, Sequence[ControlEdge]]:
        """The control-flow edges of each operation with regions, and of each branch."""
        return grouped(self._control.control_edges, lambda edge: edge.operation)

    def _waits(self, loop: RepeatedPart) -> bool:
        touching = [inner for inner in loop.operations if inner.traits.reads or inner.traits.writes]
        polls = {value for inner in touching if _polls(inner) for value in inner.results}
        operands = (value for inner in touching for value in inner.operands)
        if not polls or not all(map(_polls, touching)) or any(map(loop.changes, operands)):
            return False
        behind = reach(loop.ends, self._sources_of_all_runs)
        return not polls.isdisjoint(behind)

    def _sources_of_all_runs(self, value: Value) -> Iterator[Value]:
        """Yield the values that a value is computed from, in any iteration."""
        yield from (edge.source for edge in self._control.into(value))
        if value.definition is not None:
            yield from value.definition.operands

    def first_value(self, value: Value) -> Value | None:
        """Return the initial value of a region argument; None for other values."""
        return self._control.first_value(value)

    def again(self, value: Value) -> Value | None:
        """Return the value of a loop argument on the back edge; None for other values."""
        return self._control.again(value)

    def loop_part(self, operation: Operation) -> LoopPart | None:
        """Return how an operation relates to the loops; None outside of any.

        What is in one branch or partition is not before or after a loop in another.
        """
        loop = next((outer for outer in operation.ancestors if outer.traits.loop), None)
        if loop is not None:
            return LoopPart(loop.line, LoopStage.BODY)
        before: list[int] = []
        current = operation
        for region in (*operation.around, None):
            begin, end = (region.begin, region.end) if region is not None else (0, self._count)
            behind = self._between(current.end, end)
            if behind:
                return LoopPart(behind[0], LoopStage.PROLOGUE)
            before = before or self._between(begin, current.position)[-1:]
            if region is None or region.owner is None or region.owner.traits.partitions:
                break
            current = region.owner
        return LoopPart(before[0], LoopStage.EPILOGUE) if before else None

    def _between(self, begin: int, end: int) -> list[int]:
        """Return the lines of the loops that begin and end within a stretch of operations."""
        first, last = bisect_left(self._begins, begin), bisect_right(self._begins, end - 1)
        return [line for _, stop, line in self._loops[first:last] if stop <= end]

    @staticmethod
    def is_within(value: Value, operation: Operation) -> bool:
        """Tell whether a value is defined in a region of an operation."""
        owner = value.owner
        if owner is None:
            return False
        if isinstance(owner, Block):
            around = owner.region.owner
            return around is not None and operation.is_ancestor(around)
        return owner is not operation and operation.is_ancestor(owner)

    def iterated_for(self, loop: Operation, values: Iterable[Value]) -> list[int]:
        """Return which iterated values of an ``scf.for`` some values depend on.

        Args:
            loop: the loop.
            values: within it.
        """
        if loop not in self._numbers:
            iterated = zip(loop.regions[0][0].arguments[1:], loop.operands[BOUNDS:])
            self._numbers[loop] = {value: k for k, (value, _) in enumerate(iterated)}
        numbers = self._numbers[loop]

        def sources(value: Value) -> Iterable[Value]:
            if value in numbers:
                again = self._control.again(value)
                return (again,) if again is not None and self.is_within(again, loop) else ()
            return self._sources_within(value, loop)

        roots = [value for value in values if self.is_within(value, loop)]
        reached = (value for value in reach(roots, sources) if value in numbers)
        return sorted(numbers[v] for v in reached if self._control.again(v) is not None)

    def advance(self, loop: Operation, index: int) -> Advance | None:
        """Return the addition that makes an iterated value of an ``scf.for`` the next one.

        Args:
            loop: the loop.
            index: index of the value among the loop-carried ones.

        Returns:
            The addition; None where the value changes in any other way.
        """
        argument = loop.regions[0][0].arguments[1 + index]
        again = self._control.again(argument)
        if again is argument:
            return Advance(None, 0)
        addition = again.definition if again is not None else None
        if addition is None or argument not in addition.operands[:2]:
            return None
        step = 1 - addition.operands.index(argument)
        if addition.traits.pointer_sum:
            is_regular = step == 1 and argument.type.bits is not None
        else:
            is_regular = addition.traits.integer_sum and len(addition.operands) == 2
        if not is_regular or self.depends_on(addition.operands[step], loop):
            return None
        unit = (argument.type.bits or 0) // 8 if addition.traits.pointer_sum else 1
        return Advance(addition.operands[step], max(1, unit))

    def sources(self, values: Iterable[Value]) -> Iterator[Operation]:
        """Yield the operations that values are computed with, each once, loops by their start."""
        for value in self.values(*values):
            if value.definition is not None:
                yield value.definition

    def values(self, *roots: Value) -> Iterator[Value]:
        """Yield the values that some are computed from, each once, loops by their start."""
        return reach(roots, self._before)

    def arguments_behind(self, values: Iterable[Value]) -> list[Value]:
        """Return the arguments of the function that values are computed from, as `values` does."""
        behind = 0
        for value in values:
            behind |= self._arguments_behind.of(value)
        return [v for at, v in enumerate(self._function.arguments) if behind >> at & 1]

    @lazy
    def _arguments_behind(self) -> BackwardUnion:
        bits = {value: 1 << at for at, value in enumerate(self._function.arguments)}
        return BackwardUnion(self._before, lambda value: bits.get(value, 0))

    def _before(self, value: Value) -> Sequence[Value]:
        """Return what a value is computed from directly; of a loop's, its start."""
        if value.definition is not None:
            return value.definition.operands
        first = self.first_value(value)
        return () if first is None else (first,)

    def depends_on(self, value: Value, loop: Operation) -> bool:
        """Tell whether a value differs from one iteration of a loop to the next."""
        if not self.is_within(value, loop):
            return False
        if loop not in self._iterated:
            iterated = {v for region in loop.regions for block in region for v in block.arguments}
            self._iterated[loop] = BackwardUnion(
                partial(self._sources_within, loop=loop), iterated.__contains__
            )
        return bool(self._iterated[loop].of(value))

    def _sources_within(self, value: Value, loop: Operation) -> Sequence[Value]:
        """Return the values within a loop that a value of it is computed from, in one step."""
        key = value.owner, loop
        if key not in self._within:
            found = self._operands_within(value.owner, loop)
            self._within[key] = tuple(dict.fromkeys(found))
        return self._within[key]

    def _operands_within(self, owner: Operation | Block | None, loop: Operation) -> Iterator[Value]:
        if isinstance(owner, Operation):
            sources: Iterable[Value] = (v for inner in owner.walk() for v in inner.operands)
        else:
            assert owner is not None  # the value is within the loop
            assert owner.owner is not None
            sources = owner.owner.operands if owner is owner.region[0] else ()
        return (source for source in sources if self.is_within(source, loop))


def _operands(value: Value) -> Sequence[Value]:
    """Return the operands of the operation that computes a value."""
    return value.definition.operands if value.definition is not None else ()


def _polls(operation: Operation) -> bool:
    """Tell whether an operation reads one number of memory, and has no effect that it chooses."""
    is_read = operation.traits.reads and (operation.traits.atomic or not operation.traits.writes)
    return is_read and any(value.type.is_scalar for value in operation.results)
