"""The visit of a function's operations, or of the backward slice of one of its values."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

from tt_layout.audit.axis.info import AxisInfo, join, pessimistic
from tt_layout.audit.axis.rules import RULES, AxisStep, conclusion, rank_of
from tt_layout.grouping import grouped
from tt_layout.ir.ssa import Attribute, Block, Function, Operation, Region, Value, integers
from tt_layout.ir.ssa.attributes import HINTS
from tt_layout.ir.ssa.control_flow import (
    BOUNDS,
    ControlEdge,
    ControlFlow,
    branches,
    control_edges,
)

_HINTS = frozenset(HINTS)


def hinted(info: AxisInfo, attributes: Mapping[str, Attribute]) -> AxisInfo:
    """Replace an AxisInfo by the hints of an operation's attributes."""
    if not attributes or _HINTS.isdisjoint(attributes):
        return info
    vectors: list[Sequence[int]] = [
        integers(attributes.get(hint)) or computed for hint, computed in zip(HINTS, info.vectors)
    ]
    if any(len(vector) != info.rank for vector in vectors):
        return info
    return AxisInfo.of_vectors(vectors, info.constant)


class BackwardSlice:
    """The values that one depends on, by data and by control flow.

    Whatever is concluded from operands alone is the same of a slice as of the whole function.

    Attributes:
        values: the value, and those that it depends on.
    """

    def __init__(self, flow: ControlFlow, value: Value) -> None:
        self.values: dict[Value, None] = {}
        self._operations: dict[Block, dict[Operation, None]] = {}
        self._regions: set[Region] = set()
        pending = [value]
        while pending:
            value = pending.pop()
            if value not in self.values:
                self.values[value] = None
                pending += self._before(flow, value)
        self._sorted: dict[Block, Sequence[Operation]] = {}

    def of(self, block: Block) -> Sequence[Operation]:
        """Return the operations of a block that the value depends on, in order."""
        if block not in self._sorted:
            operations = self._operations.get(block, ())
            self._sorted[block] = sorted(operations, key=lambda operation: operation.position)
        return self._sorted[block]

    def _before(self, flow: ControlFlow, value: Value) -> Iterator[Value]:
        """Yield the values that a value depends on directly."""
        yield from (edge.source for edge in flow.into(value))
        owner = value.owner
        if isinstance(owner, Operation):
            yield from self._take(owner)
        elif owner is not None:
            yield from self._around(owner)

    def _take(self, operation: Operation) -> Iterator[Value]:
        """Add an operation, and yield the values that its results and its execution depend on."""
        block = operation.block
        if block is None or operation in self._operations.get(block, ()):
            return
        self._operations.setdefault(block, {})[operation] = None
        yield from operation.operands
        yield from (
            edge.choice.value for edge in control_edges(operation) if edge.choice is not None
        )
        yield from self._around(block)

    def _around(self, block: Block) -> Iterator[Value]:
        """Yield the values that decide whether a block is reached."""
        if block.region not in self._regions:
            self._regions.add(block.region)
            yield from _conditions(block.region)
        if block.owner is not None:
            yield from self._take(block.owner)


def _conditions(region: Region) -> Iterator[Value]:
    """Yield the values that decide between the blocks of a region."""
    if len(region) < 2:
        return
    blocks = region.labelled
    for block in region:
        for last in block.operations[-1:]:
            for edge in branches(last, blocks):
                if edge.choice is not None:
                    yield edge.choice.value


class Visitor:
    """Forward dataflow over the operations of a function.

    Args:
        function: the function.
        supposed: supposed AxisInfo of some of its values, which is not changed.
        within: the requested values; None for all.
        takes_hints: whether hints count.

    Attributes:
        values: AxisInfo so far; a value that is not in it has not been reached.
        changed: the value of each change of AxisInfo, in their order.
    """

    def __init__(
        self,
        function: Function,
        supposed: Mapping[Value, AxisInfo] | None = None,
        within: BackwardSlice | None = None,
        *,
        takes_hints: bool = True,
    ) -> None:
        self.function = function
        self.supposed = supposed or {}
        self.within = within
        self.takes_hints = takes_hints
        self.values: dict[Value, AxisInfo] = {}
        self.changed: list[Value] = []
        self._takers: dict[Region, Mapping[Value, Sequence[int]]] = {}
        self._taken: dict[Operation, list[AxisInfo]] = {}

    def run(self, arguments: Iterable[AxisInfo]) -> Mapping[Value, AxisInfo]:
        """Return the AxisInfo of every value, given those of the arguments."""
        for value, info in zip(self.function.arguments, arguments):
            self.values[value] = self.supposed.get(value, info)
        if self.function.body:
            self._region(self.function.body)
        asked = self.function.values.values() if self.within is None else self.within.values
        for value in asked:
            if value not in self.values:  # in code that is never run
                self.values[value] = pessimistic(rank_of(value.type))
        return self.values

    # -- values -----------------------------------------------------------------------------

    def _update(self, value: Value, info: AxisInfo | None) -> None:
        old = self.values.get(value)
        new = join(old, info)
        if new is not None and new != old:
            self.values[value] = new
            self.changed.append(value)

    def _join(self, values: Sequence[Value], passed: Sequence[Value]) -> None:
        """Join the AxisInfo of passed values into others, one by one."""
        for value, source in zip(values, passed):
            self._update(value, self._known(source))

    def _known(self, value: Value) -> AxisInfo | None:
        """Return the AxisInfo of a value; None if it has not been reached."""
        info = self.values.get(value)
        return info if info is not None or value.is_defined else pessimistic(1)

    def _forget(self, values: Sequence[Value]) -> None:
        for value in values:
            self._update(value, pessimistic(rank_of(value.type)))

    # -- operations -------------------------------------------------------------------------

    def _operation(self, operation: Operation) -> None:
        if operation.regions:
            edges = [edge for edge in control_edges(operation) if not edge.by_element]
            if edges:
                self._follow(operation, edges)
                return
            for region in operation.regions:
                if region:
                    self._forget(region[0].arguments)
                    self._region(region)
            if operation.traits.loop:  # one that is not whole
                self._forget(operation.results)
                return
        if not operation.results:
            return
        operands, values = [], self.values
        for operand in operation.operands:
            info = values.get(operand) or self._known(operand)
            if info is None or not info.contiguity:
                return
            operands.append(info)
        before = self._taken.get(operation)
        self._taken[operation] = operands
        if before != operands:  # else nothing new follows
            self._conclude(operation, tuple(operands))

    def _conclude(self, operation: Operation, operands: tuple[AxisInfo, ...]) -> None:
        """Join the AxisInfo of an operation's results, given that of its operands."""
        info = None
        if operation.name in RULES:  # most operations of a kernel have none
            types = tuple([operand.type for operand in operation.operands])
            result = operation.results[0].type
            info = conclusion(AxisStep(operation, operands, types, result))
        attributes = operation.attributes if self.takes_hints else {}
        for value in operation.results:
            concluded = pessimistic(rank_of(value.type)) if info is None else info
            self._update(value, self.supposed.get(value, hinted(concluded, attributes)))

    # -- blocks -----------------------------------------------------------------------------

    def _region(self, region: Region) -> list[Operation]:
        """Visit the reachable operations of a region; return those that leave it.

        Its blocks are visited in the order of the text, again and again, but those alone that take
        a value that has changed: nothing new follows in others.
        """
        if len(region) == 1:
            return self._block(region[0])
        blocks = {"": region[0], **region.labelled}
        named = grouped(range(len(region)), lambda number: region[number].label)
        takers = self._takers_in(region)
        reached = {region[0].label}
        pending = [(0, number) for number in named[region[0].label]]  # rounds, and blocks in them
        queued = set(named[region[0].label])
        while pending:
            turn, number = heappop(pending)
            queued.remove(number)
            before = len(self.changed)
            taken = [b for last in self._block(region[number]) for b in self._branch(last, blocks)]
            fresh = {label for label in taken if label not in reached}
            reached |= fresh
            again = {other for label in fresh for other in named[label]}
            again.update(
                other for value in self.changed[before:] for other in takers.get(value, ())
            )
            for other in again - queued:
                if region[other].label in reached:
                    queued.add(other)
                    heappush(pending, (turn + (other <= number), other))
        return [
            last
            for block in region
            if block.label in reached
            for last in block.operations[-1:]
            if not last.successors
        ]

    def _block(self, block: Block) -> list[Operation]:
        for operation in block.operations if self.within is None else self.within.of(block):
            self._operation(operation)
        return list(block.operations[-1:])

    def _branch(self, branch: Operation, blocks: Mapping[str, Block]) -> list[str]:
        """Pass the operands of a branch to where it may go; return the labels of these blocks."""
        labels: list[str] = []
        for edge in branches(branch, blocks):
            if self._may_be_taken(edge):
                labels.append(blocks[str(edge.end)].label)
                self._join(edge.received, edge.passed)
        return labels

    def _takers_in(self, region: Region) -> Mapping[Value, Sequence[int]]:
        """Return which blocks of a region take a value, but for what they compute themselves."""
        if region not in self._takers:
            takers: dict[Value, list[int]] = {}
            for number, block in enumerate(region):
                made: set[Value] = set()
                for operation in block.operations:
                    taken = {value for inner in operation.walk() for value in _taken(inner)}
                    for value in taken - made:
                        takers.setdefault(value, []).append(number)
                    made.update(operation.results)
            self._takers[region] = takers
        return self._takers[region]

    def _may_be_taken(self, edge: ControlEdge) -> bool:
        if edge.choice is None:
            return True
        condition = self._known(edge.choice.value)
        if condition is None or condition.constant is None:
            return True
        return bool(condition.constant) == edge.choice.outcome

    # -- structured control flow ------------------------------------------------------------

    def _follow(self, operation: Operation, edges: Sequence[ControlEdge]) -> None:
        """Follow control through the regions of an operation until nothing changes any more."""
        if operation.traits.counted:
            edges = self._counted(operation, edges)
        left_by: dict[int, list[Operation]] = {}  # of each region that has been visited
        pending = self._taken_to([edge for edge in edges if edge.begin is None], left_by)
        while pending:
            number = next(iter(pending))
            del pending[number]
            left_by[number] = self._region(operation.regions[number])
            onward = [edge for edge in edges if edge.begin == number and edge.by in left_by[number]]
            pending |= self._taken_to(onward, left_by)
        for edge in edges:
            is_reached = edge.begin is None or edge.by in left_by.get(edge.begin, ())
            if edge.end is None and is_reached and self._may_be_taken(edge):
                self._join(edge.received, edge.passed)

    def _taken_to(self, edges: Iterable[ControlEdge], visited: Container[int]) -> dict[int, None]:
        """Pass values along edges; return the regions to visit because of changes."""
        regions: dict[int, None] = {}
        for edge in edges:
            if isinstance(edge.end, int) and self._may_be_taken(edge):
                before = len(self.changed)
                self._join(edge.received, edge.passed)
                if edge.end not in visited or len(self.changed) != before:
                    regions[edge.end] = None
        return regions

    def _counted(self, loop: Operation, edges: Sequence[ControlEdge]) -> Sequence[ControlEdge]:
        """Return the edges that are taken, given the known trip count."""
        begin, end, step = loop.operands[:BOUNDS]
        low, stride = self._known(begin), self._known(step)
        if low is None or stride is None:
            return ()
        trips = _trips(low, self._known(end), stride)
        if trips == 0:
            return [edge for edge in edges if edge.begin is None and edge.end is None]
        divisor = join(low, stride)
        assert divisor is not None
        variable = AxisInfo.of((1,), divisor.divisibility[:1], (1,))
        self._update(loop.regions[0][0].arguments[0], variable)
        return [
            edge
            for edge in edges
            if not (edge.begin is None and edge.end is None and trips is not None)
            and not (edge.begin == edge.end == 0 and trips == 1)
        ]


def _taken(operation: Operation) -> Iterator[Value]:
    """Yield the values that an operation takes, and those that it hands to blocks."""
    yield from operation.operands
    for successor in operation.successors:
        yield from successor.operands


def _trips(low: AxisInfo, high: AxisInfo | None, step: AxisInfo) -> int | None:
    """Return how often a loop runs; None where that is not known."""
    if high is None or low.constant is None or high.constant is None or not step.constant:
        return None
    return max(0, -(-(high.constant - low.constant) // step.constant))
