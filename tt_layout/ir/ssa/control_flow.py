"""Edges of control flow with the values that they forward, in one place.

For each point that control may leave (the start of an operation with regions, or the end of a
region), the table gives where it may go, and which operands become which arguments or results:

===============================  =============================  ==================================
operation                        from                           to
===============================  =============================  ==================================
``scf.for``                      operands behind the bounds     arguments behind the variable
\\                                operands behind the bounds     results, where it never runs
\\                                ``scf.yield``                  arguments again; or results
``scf.while``                    operands                       arguments of the first region
\\                                ``scf.condition``, behind      arguments of the second; or results
                                 the condition
\\                                ``scf.yield``                  arguments of the first region
``scf.if``, ``index_switch``,    ``scf.yield`` of any region    results
``execute_region``
``ttg.warp_specialize``          ``ttg.warp_yield``             results
\\                                operands                       arguments of each partition
``tt.reduce``, ``tt.scan``,      operands, element by element   arguments
``tt.map_elementwise``           what the region returns        arguments again, and results
``cf.br``, ``cf.cond_br``, ..    what a block is handed         its arguments
``tt.call``                      operands                       arguments of the function
\\                                ``tt.return``                  results
===============================  =============================  ==================================

Source:
    MLIR, RegionBranchOpInterface and BranchOpInterface of these operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from tt_layout.grouping import grouped
from tt_layout.ir.ssa.model import NO_BLOCKS, Block, Function, Operation, Region, Value
from tt_layout.tuples import NamedTuple

BOUNDS = 3
"""Operands of ``scf.for`` before those that it iterates: lower bound, upper bound, step."""

PARTITIONS = "ttg.warp_specialize.partitions"


class Choice(NamedTuple):
    """The condition under which control takes an edge.

    Attributes:
        value: the truth value.
        outcome: its value if the edge is taken.
    """

    value: Value
    outcome: bool


class ControlEdge(NamedTuple):
    """A control-flow edge between regions or blocks.

    Attributes:
        operation: the operation whose regions it connects, or the branch between blocks.
        begin: the region that it leaves; None at the start of the operation.
        end: the region that it enters, or the label of the block; None after the operation.
        passed: the forwarded values.
        received: the arguments or results that they become, one by one.
        by: the operation that forwards them.
        choice: its condition; None if that is not one truth value.
        by_element: whether values are forwarded element by element.
    """

    operation: Operation
    begin: int | None
    end: int | str | None
    passed: Sequence[Value]
    received: Sequence[Value]
    by: Operation
    choice: Choice | None = None
    by_element: bool = False

    @property
    def variable(self) -> Value | None:
        """The induction variable, on entry to an ``scf.for``; None on other edges."""
        if not self.operation.traits.counted or self.begin is not None or self.end is None:
            return None
        return next(iter(self.operation.regions[0][0].arguments), None)


class ValueEdge(NamedTuple):
    """A value, one that it may become, and the control-flow edge between them."""

    source: Value
    target: Value
    control: ControlEdge


def control_edges(operation: Operation) -> Iterator[ControlEdge]:
    """Yield the control-flow edges into, between and out of the regions of an operation.

    An unknown or incomplete operation has none.
    """
    rule = _RULES.get(operation.name)
    if rule is not None and operation.regions:
        yield from rule(operation)


def branches(branch: Operation, blocks: Mapping[str, Block]) -> Iterator[ControlEdge]:
    """Yield the edges of a branch, given the blocks of its region by label."""
    both = len(branch.successors) == 2 and branch.name.endswith("cond_br") and branch.operands
    for number, successor in enumerate(branch.successors):
        block = blocks.get(successor.label)
        if block is not None:
            choice = Choice(branch.operands[0], not number) if both else None
            operands, label = successor.operands, successor.label
            yield ControlEdge(branch, None, label, operands, block.arguments, branch, choice)


def last_operations(region: Region) -> Iterator[Operation]:
    """Yield the operations by which control leaves a region."""
    for block in region:
        for last in block.operations[-1:]:
            if not last.successors:
                yield last


def _arguments(region: Region) -> tuple[Value, ...]:
    return region[0].arguments if region else ()


# -- operations -----------------------------------------------------------------------------


def _for(loop: Operation) -> Iterator[ControlEdge]:
    body, initial = loop.regions[0], loop.operands[BOUNDS:]
    if len(loop.operands) < BOUNDS or not body:
        return
    iterated = _arguments(body)[1:]
    yield ControlEdge(loop, None, 0, initial, iterated, loop)
    yield ControlEdge(loop, None, None, initial, loop.results, loop)
    for last in last_operations(body):
        yield ControlEdge(loop, 0, 0, last.operands, iterated, last)
        yield ControlEdge(loop, 0, None, last.operands, loop.results, last)


def _while(loop: Operation) -> Iterator[ControlEdge]:
    if len(loop.regions) != 2 or not all(loop.regions):
        return
    before, after = loop.regions
    yield ControlEdge(loop, None, 0, loop.operands, _arguments(before), loop)
    for last in last_operations(before):
        if not last.operands:
            continue
        condition, *passed = last.operands
        for end, received in ((1, _arguments(after)), (None, loop.results)):
            yield ControlEdge(
                loop, 0, end, passed, received, last, Choice(condition, end is not None)
            )
    for last in last_operations(after):
        yield ControlEdge(loop, 1, 0, last.operands, _arguments(before), last)


def _if(choice: Operation) -> Iterator[ControlEdge]:
    for number in range(2):
        decided = Choice(choice.operands[0], not number) if choice.operands else None
        region = choice.regions[number] if number < len(choice.regions) else NO_BLOCKS
        end = number if region else None
        yield ControlEdge(choice, None, end, (), (), choice, decided)
        yield from _out_of(choice, number, region)


def _any(operation: Operation) -> Iterator[ControlEdge]:
    for number, region in enumerate(operation.regions):
        yield ControlEdge(operation, None, number, (), (), operation)
        yield from _out_of(operation, number, region)


def _out_of(operation: Operation, number: int, region: Region) -> Iterator[ControlEdge]:
    for last in last_operations(region):
        yield ControlEdge(operation, number, None, last.operands, operation.results, last)


def _specialize(operation: Operation) -> Iterator[ControlEdge]:
    yield ControlEdge(operation, None, 0, (), (), operation)
    yield from _out_of(operation, 0, operation.regions[0])
    for number, region in enumerate(operation.regions[1:], 1):
        received = _arguments(region)
        yield ControlEdge(operation, None, number, operation.operands, received, operation)
        for holder in _holders(region):
            for inner in holder.regions if not holder.operands else ():
                yield ControlEdge(
                    operation, None, number, operation.operands, _arguments(inner), operation
                )


def _holders(region: Region) -> Iterator[Operation]:
    """Yield the operations that contain the partitions in the generic form."""
    yield from (o for block in region for o in block.operations if o.name == PARTITIONS)


def _partitions(operation: Operation) -> Iterator[ControlEdge]:
    for number, region in enumerate(operation.regions):
        yield ControlEdge(
            operation, None, number, operation.operands, _arguments(region), operation
        )


def _elements(operation: Operation) -> Iterator[ControlEdge]:
    region, count = operation.regions[0], max(1, len(operation.operands))
    received = _arguments(region)
    for begin in range(0, len(received), count):
        part = received[begin : begin + count]
        yield ControlEdge(operation, None, 0, operation.operands, part, operation, by_element=True)
    for last in last_operations(region):
        returned = last.operands
        if operation.name != "tt.map_elementwise":
            yield ControlEdge(operation, 0, 0, returned, received[:count], last, by_element=True)
        yield ControlEdge(operation, 0, None, returned, operation.results, last, by_element=True)


_RULES: Mapping[str, Callable[[Operation], Iterator[ControlEdge]]] = {
    "scf.for": _for,
    "scf.while": _while,
    "scf.if": _if,
    "scf.index_switch": _any,
    "scf.execute_region": _any,
    "ttg.warp_specialize": _specialize,
    PARTITIONS: _partitions,
    "tt.reduce": _elements,
    "tt.scan": _elements,
    "tt.map_elementwise": _elements,
}


# -- functions ------------------------------------------------------------------------------


class ControlFlow:
    """The values that each value of a function may come from or become, along control flow.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f(%n: i32, %x: i32, %y: i32) {
        ...   %c = arith.constant 1 : i32
        ...   %r:2 = scf.for %i = %c to %n step %c iter_args(%a = %x, %b = %y) -> (i32, i32) : i32 {
        ...     scf.yield %b, %a : i32, i32
        ...   }
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> flow = ControlFlow(function)
        >>> a, result = function.values["%a"], function.values["%r#0"]
        >>> [[edge.source.name for edge in flow.into(value)] for value in (a, result)]
        [['%x', '%b'], ['%x', '%b']]
        >>> [edge.target.name for edge in flow.out_of(a)]
        ['%b', '%r#1']
    """

    def __init__(self, function: Function) -> None:
        self.function = function

    @cached_property
    def control_edges(self) -> tuple[ControlEdge, ...]:
        """All control-flow edges of the function, in text order."""
        return tuple(self._control_edges())

    def _control_edges(self) -> Iterator[ControlEdge]:
        yield from _between_blocks(self.function.body)
        for operation in self.function.walk():
            if operation.regions:
                yield from control_edges(operation)
                for region in operation.regions:
                    yield from _between_blocks(region)

    @cached_property
    def value_edges(self) -> tuple[ValueEdge, ...]:
        """The value edges of all control-flow edges."""
        return tuple(
            ValueEdge(source, target, edge)
            for edge in self.control_edges
            for source, target in zip(edge.passed, edge.received)
        )

    @cached_property
    def _into(self) -> Mapping[Value, list[ValueEdge]]:
        return grouped(self.value_edges, lambda edge: edge.target)

    @cached_property
    def _out_of(self) -> Mapping[Value, list[ValueEdge]]:
        return grouped(self.value_edges, lambda edge: edge.source)

    def into(self, value: Value) -> Sequence[ValueEdge]:
        """Return the edges to a value."""
        return self._into.get(value, ())

    def out_of(self, value: Value) -> Sequence[ValueEdge]:
        """Return the edges from a value."""
        return self._out_of.get(value, ())

    def first_value(self, value: Value) -> Value | None:
        """Return the initial value of a region argument; None for other values.

        For the induction variable of a loop it is the lower bound.
        """
        return self._first.get(value)

    def again(self, value: Value) -> Value | None:
        """Return the value of a loop argument on the back edge."""
        for edge in self.into(value):
            if edge.control.end == 0 and edge.control.begin is not None:
                return edge.source
        return None

    @cached_property
    def _first(self) -> Mapping[Value, Value]:
        values: dict[Value, Value] = {}
        for edge in self.value_edges:
            control = edge.control
            is_entry = isinstance(control.end, int) and control.begin != control.end
            if is_entry and not control.by_element:
                values.setdefault(edge.target, edge.source)
        for control in self.control_edges:
            if (variable := control.variable) is not None:
                values[variable] = control.operation.operands[0]
        return values


def flow_of(function: Function) -> ControlFlow:
    """Return the control flow of a function, found once for all functions of one text."""
    return function.once("control flow", ControlFlow)


def _between_blocks(region: Region) -> Iterator[ControlEdge]:
    if len(region) < 2:
        return
    for block in region:
        for last in block.operations[-1:]:
            yield from branches(last, region.labelled)


class Call(NamedTuple):
    """A call of one function of a module by another.

    Attributes:
        caller: the function with the call.
        operation: the call.
        callee: the function that is called.
    """

    caller: Function
    operation: Operation
    callee: Function

    @property
    def passed(self) -> Iterator[tuple[Value, Value]]:
        """Pairs of an operand of the call and the argument that it becomes."""
        yield from zip(self.operation.operands, self.callee.arguments)


def calls(functions: Sequence[Function]) -> Iterator[Call]:
    """Yield the calls between functions of a module, in text order."""
    by_name = {function.name: function for function in functions}
    for caller in functions:
        for operation in caller.chosen(_names_callee):
            callee = by_name.get(str(operation.attributes["callee"]))
            if callee is not None:
                yield Call(caller, operation, callee)


def _names_callee(operation: Operation) -> bool:
    return "callee" in operation.attributes
