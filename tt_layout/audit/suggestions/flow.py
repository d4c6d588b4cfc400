"""Def-use chains of a function, followed through loops and branches, and what these carry."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tt_layout.ir.ssa import Function, Operation, Use, Value
from tt_layout.ir.ssa.control_flow import ControlEdge, ControlFlow, flow_of
from tt_layout.ir.ssa.graph import reach
from tt_layout.lazy import lazy

MAX_REGION = 256  # operations that take another layout, or are computed anew


def is_elementwise(operation: Operation) -> bool:
    """Tell whether an operation computes each element by itself, in one layout."""
    return operation.traits.elementwise and not operation.regions


def is_free(operation: Operation) -> bool:
    """Tell whether an operation is as cheap in any layout, and may be computed anew."""
    traits = operation.traits
    return traits.pure and (traits.source or traits.repeats)


def is_followed(operation: Operation) -> bool:
    """Tell whether the values that a loop or a branch passes on can take another layout."""
    return operation.traits.loop or operation.traits.conditional


class Flow:
    """The anchors at both ends of a function's values.

    Attributes:
        function: the function.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self._free: dict[Value, bool] = {}

    @lazy
    def _control(self) -> ControlFlow:
        return flow_of(self.function)

    @lazy
    def carried(self) -> LoopCarriedValues:
        """The values of loops and branches that are of one type together."""
        return LoopCarriedValues(self._control.control_edges)

    @lazy
    def behind(self) -> Mapping[Value, Operation]:
        """The operation after the definition of each value, in the same block."""
        blocks = [block for block in self.function.blocks() if block.operations]
        begins = [(self.function.arguments, block) for block in blocks[:1]]
        begins += [(block.arguments, block) for block in blocks]
        operations = {value: block.operations[0] for values, block in begins for value in values}
        for block in blocks:
            for before, after in pairwise(block.operations):
                operations |= dict.fromkeys(before.results, after)
        return operations

    def producers(self, value: Value) -> list[Operation]:
        """Return the operations that determine the layout of a value."""
        anchors: set[Operation] = set()

        def before(value: Value) -> list[Value]:
            sources = [e.source for e in self._control.into(value) if not e.control.by_element]
            operation = value.definition
            if operation is None or sources:
                return sources
            if is_elementwise(operation) or operation.traits.repeats:
                return [operand for operand in operation.operands if self.is_tensor(operand)]
            if operation.traits.forwards:
                at = operation.results.index(value)
                return [*operation.operands[at : at + 1]]
            if not is_free(operation):
                anchors.add(operation)
            return []

        deque(reach([value], before), maxlen=0)
        return sorted(anchors, key=lambda operation: operation.position)

    def consumers(self, value: Value) -> list[Operation]:
        """Return the operations that determine in which layout a value is wanted."""
        anchors: set[Operation] = set()

        def behind(value: Value) -> list[Value]:
            onward = [e for e in self._control.out_of(value) if not e.control.by_element]
            handed_on = {edge.control.by for edge in onward}
            targets = [edge.target for edge in onward]
            for operation, number in value.uses:
                if is_elementwise(operation) or operation.traits.repeats:
                    targets += operation.results
                elif operation.traits.forwards:
                    targets += operation.results[number : number + 1]
                elif operation not in handed_on:
                    anchors.add(operation)
            return targets

        deque(reach([value], behind), maxlen=0)
        return sorted(anchors, key=lambda operation: operation.position)

    def is_tensor(self, value: Value) -> bool:
        """Tell whether a value is a tensor in registers."""
        ir_type = self.function.type_of(value)
        return ir_type is not None and ir_type.is_tensor

    def is_free(self, value: Value) -> bool:
        """Tell whether a value can be computed anew in any layout, without a load or a loop."""
        if value not in self._free:
            needed = enumerate(reach([value], self._tensors_before))
            self._free[value] = all(count < MAX_REGION and _is_anew(v) for count, v in needed)
        return self._free[value]

    def _tensors_before(self, value: Value) -> list[Value]:
        definition = value.definition
        operands = definition.operands if definition is not None else ()
        return [operand for operand in operands if self.is_tensor(operand)]


def _is_anew(value: Value) -> bool:
    """Tell whether an operation returns a value that is as cheap to compute anew."""
    operation = value.definition
    if operation is None:
        return False
    return is_free(operation) or (is_elementwise(operation) and operation.traits.pure)


class LoopCarriedValues:
    """The arguments and results of loops and branches, in groups that share a type.

    Example: the initial value of a loop, its argument, what it yields and its result.  The argument
    and the result are one group; the initial value and what is yielded are handed to it.
    """

    def __init__(self, edges: Sequence[ControlEdge]) -> None:
        self._edges = [edge for edge in edges if is_followed(edge.operation)]

    @lazy
    def leaders(self) -> Mapping[Value, Value]:
        """Each argument and result: the first of its group by name."""
        leaders: dict[Value, Value] = {}
        for slot in self._slots.values():
            group = {leaders.get(value, value) for value in slot}
            leader = min(group, key=lambda value: value.name)
            leaders |= dict.fromkeys(slot, leader)
            leaders |= {value: leader for value, old in leaders.items() if old in group}
        return leaders

    @lazy
    def _slots(self) -> Mapping[tuple[Operation, Value], list[Value]]:
        """Operands of terminators and loops -> the arguments and results that they become."""
        slots = defaultdict[tuple[Operation, Value], list[Value]](list)
        for edge in self._edges:
            for passed, received in zip(edge.passed, edge.received):
                slots[edge.by, passed].append(received)
        return dict(slots)

    @lazy
    def _operands_before(self) -> Mapping[Operation, int]:
        """Operation -> number of operands before those that it passes on."""
        return {edge.by: len(edge.by.operands) - len(edge.passed) for edge in self._edges}

    def receiver(self, use: Use, value: Value) -> Value | None:
        """Return the group to which a use passes a value; None if it does not pass it."""
        before = self._operands_before.get(use.owner)
        if before is None or use.operand_number < before:
            return None
        received = self._slots.get((use.owner, value))
        return self.leaders[received[0]] if received else None

    def values(self, leader: Value) -> Sequence[Value]:
        """Return the members of a group, and the values passed to it."""
        return list(self._values.get(leader, ()))

    @lazy
    def _values(self) -> Mapping[Value, dict[Value, None]]:
        groups: dict[Value, dict[Value, None]] = {}
        for value, leader in self.leaders.items():
            groups.setdefault(leader, {})[value] = None
        for edge in self._edges:
            for passed, received in zip(edge.passed, edge.received):
                groups[self.leaders[received]][passed] = None
        return groups
