"""When the values of a function are live, as intervals of numbered operations.

Source:
    MLIR, lib/Analysis/Liveness.cpp; Triton, lib/Analysis/Allocation.cpp, resolveLiveness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tt_layout.analyses.shared_memory.buffer_placement import Interval
from tt_layout.audit.allocation.numbering import Numbering
from tt_layout.ir.ssa import Block, Operation, Region, Value
from tt_layout.ir.ssa.graph import reach
from tt_layout.tuples import NamedTuple


class Rules(NamedTuple):
    """Rules by which a compiler extends a buffer's life beyond its last use.

    Buffers that other CTAs access are live to the end under all rules.

    Attributes:
        keeps_barriers: whether barriers are live throughout the function.
        keeps_captures: whether captures of partitions of warps are, and every buffer that is live
            where partitions begin.
    """

    keeps_barriers: bool
    keeps_captures: bool

    def are_kept(self, operation: Operation) -> bool:
        """Tell whether the buffers of an operation are needed throughout the function."""
        traits = operation.traits
        return traits.remote or (self.keeps_barriers and traits.initializes_barrier)


UPSTREAM = Rules(keeps_barriers=False, keeps_captures=False)
"""Triton 3.9."""

FORK = Rules(keeps_barriers=True, keeps_captures=True)
"""Meta's fork of August 2026."""


class Liveness:
    """When the values of a function are live.

    Args:
        numbering: the numbered operations.
        rules: rules that extend lives.
    """

    def __init__(self, numbering: Numbering, rules: Rules = UPSTREAM) -> None:
        self._numbering = numbering
        self._rules = rules
        traits = [operation.traits for operation in numbering.operations]
        self._has_waits = any(t.bulk_stores for t in traits) and any(t.bulk_waits for t in traits)
        self._has_kept = any(map(rules.are_kept, numbering.operations))

    def interval(self, value: Value) -> Interval | None:
        """Return the live interval of a value; None if it is not defined in the function."""
        definition, owner = value.definition, value.owner
        home = definition.block if definition is not None else owner
        if not isinstance(home, Block):
            return None
        first, last = self._numbering.size, 0
        for begin, end in self._spans(value, home):
            first, last = min(first, begin), max(last, end)
        if definition is None or not (self._has_kept or self._has_waits):
            return first, last
        return self._extended(definition, (first, last))

    def _spans(self, value: Value, home: Block) -> Iterator[Interval]:
        """Yield an interval for each block in which a value is live."""
        taken_by = value.users
        flows: dict[Region, set[Block]] = {}

        def leaving(block: Block) -> list[Block]:
            region = block.region
            if len(region) < 2:
                return []
            if region not in flows:
                flows[region] = self._live_in(taken_by, region, home)
            live_in = flows[region]
            return [other for other in block.successors if other in live_in]

        definition = value.definition
        for block in reach([home, *(u.block for u in taken_by if u.block is not None)], leaving):
            begin = 0
            if definition is not None and block is home:
                begin = definition_place(definition)
            end = len(block.operations) - 1
            if not leaving(block):
                end = self._last_use(taken_by, block, begin)
            if block.operations:
                yield self._span(block, begin, end)

    def _span(self, block: Block, begin: int, end: int) -> Interval:
        number = self._numbering.number
        operations = block.operations
        first = number(operations[begin])
        within = operations[begin : end + 1]
        if self._rules.keeps_captures and any(o.traits.partitions for o in within):
            first = 0
        return first, number(operations[end]) + 1

    def _last_use(self, taken_by: Iterable[Operation], block: Block, begin: int) -> int:
        ancestors = (user.ancestor_in(block.region) for user in taken_by)
        siblings = (o for o in ancestors if o is not None and o.block is block)
        last = max(siblings, key=lambda operation: operation.position, default=None)
        return definition_place(last) if last is not None else begin

    def _live_in(self, taken_by: Iterable[Operation], region: Region, home: Block) -> set[Block]:
        """Return the blocks of a region at whose beginning a value is live."""
        ancestors = (user.ancestor_in(region) for user in taken_by)
        blocks = [o.block for o in ancestors if o is not None and o.block is not None]

        def above(block: Block) -> list[Block]:
            return [other for other in block.predecessors if other is not home]

        return {*reach([block for block in blocks if block is not home], above)}

    def _extended(self, definition: Operation, live: Interval) -> Interval:
        """Return an interval, extended for asynchronous operations."""
        first, last = live
        dependent = list(reach(_users_of_results(definition), _dependent))
        if any(map(self._rules.are_kept, dependent)):
            first, last = 0, self._numbering.size
        if self._has_waits and any(o.traits.bulk_stores for o in dependent):
            waits = (o for o in dependent if o.traits.bulk_waits)
            last = max([last, *(self._numbering.number(o) + 1 for o in waits)])
        return first, last


def definition_place(operation: Operation) -> int:
    """Return the index of an operation in its block."""
    assert operation.block is not None
    return operation.block.operations.index(operation)


def _users_of_results(operation: Operation) -> list[Operation]:
    return [user for value in operation.results for user in value.users]


def _dependent(operation: Operation) -> list[Operation]:
    """Return the users of an operation's results, and the operations in its regions."""
    inner = [o for region in operation.regions for block in region for o in block.operations]
    return [*_users_of_results(operation), *inner]
