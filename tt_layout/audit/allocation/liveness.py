"""When the values of a function are live, as intervals of numbered operations.

Source:
    MLIR, lib/Analysis/Liveness.cpp; Triton, lib/Analysis/Allocation.cpp, resolveLiveness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tt_layout.analyses.shared_memory.buffer_placement import Interval
from tt_layout.audit.allocation.numbering import NumberedBlock, Numbering
from tt_layout.ir.ssa import SsaOperation


class Rules(NamedTuple):
    """What a compiler keeps in place for longer than its last use.

    What is written to the memory of other CTAs stays theirs to the end.

    Attributes:
        keeps_barriers: whether barriers are needed throughout the function.
        keeps_captures: whether that holds for what partitions of warps are given, and for every
            buffer that is live where they begin.
    """

    keeps_barriers: bool
    keeps_captures: bool

    def are_kept(self, operation: SsaOperation) -> bool:
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
        numbering: the operations.
        uses: value -> the operations that take it.
        rules: what stays in place for longer.
    """

    def __init__(
        self,
        numbering: Numbering,
        uses: Mapping[str, Sequence[SsaOperation]],
        rules: Rules = UPSTREAM,
    ) -> None:
        self._numbering = numbering
        self._uses = uses
        self._definitions = numbering.function.definitions
        self._arguments = {
            argument.name: block
            for block in numbering.blocks()
            for argument in block.block.arguments
        }
        self._rules = rules
        traits = [operation.traits for operation in numbering.operations]
        self._has_waits = any(t.bulk_stores for t in traits) and any(t.bulk_waits for t in traits)
        self._has_kept = any(map(rules.are_kept, numbering.operations))

    def interval(self, name: str) -> Interval | None:
        """Return when a value is live; None for one that is not defined in the function."""
        definition = self._definitions.get(name)
        block = self._arguments.get(name)
        if definition is not None:
            block = self._numbering.home(definition)[0]
        if block is None:
            return None
        first, last = self._numbering.size, 0
        for begin, end in self._spans(name, definition, block):
            first, last = min(first, begin), max(last, end)
        if definition is None or not (self._has_kept or self._has_waits):
            return first, last
        return self._extended(definition, (first, last))

    def _spans(
        self, name: str, definition: SsaOperation | None, home: NumberedBlock
    ) -> Iterator[Interval]:
        """Yield an interval for each block in which a value is live."""
        users = self._uses.get(name, ())
        blocks = {id(b): b for b in (home, *(self._numbering.home(user)[0] for user in users))}
        flows: dict[int, set[int]] = {}
        pending = list(blocks.values())
        while pending:
            block = pending.pop()
            live_in: set[int] = set()
            if len(block.siblings) > 1:
                live_in = flows.setdefault(block.region, self._live_in(users, block, home))
            leaving = [each for each in block.successors if id(each) in live_in]
            fresh = [each for each in leaving if id(each) not in blocks]
            blocks.update((id(each), each) for each in fresh)
            pending += fresh
            begin = 0
            if definition is not None and block is home:
                begin = self._numbering.home(definition)[1]
            end = len(block.operations) - 1 if leaving else self._last_use(users, block, begin)
            if block.operations:
                yield self._span(block, begin, end)

    def _span(self, block: NumberedBlock, begin: int, end: int) -> Interval:
        number = self._numbering.number
        operations = block.operations
        first = number(operations[begin])
        if self._rules.keeps_captures and any(
            o.traits.partitions for o in operations[begin : end + 1]
        ):
            first = 0
        return first, number(operations[end]) + 1

    def _last_use(self, users: Iterable[SsaOperation], block: NumberedBlock, begin: int) -> int:
        places = (self._numbering.ancestor(user, block.region) for user in users)
        return max((p[1] for p in places if p is not None and p[0] is block), default=begin)

    def _live_in(
        self, users: Iterable[SsaOperation], block: NumberedBlock, home: NumberedBlock
    ) -> set[int]:
        """Return the blocks of a region at whose beginning a value is live."""
        places = [self._numbering.ancestor(user, block.region) for user in users]
        pending = [p[0] for p in places if p is not None and p[0] is not home]
        found = {id(each) for each in pending}
        while pending:
            reached = pending.pop()
            for before in block.siblings:
                if reached in before.successors and before is not home and id(before) not in found:
                    found.add(id(before))
                    pending.append(before)
        return found

    def _extended(self, definition: SsaOperation, live: Interval) -> Interval:
        """Return an interval made longer for what goes on in the background."""
        first, last = live
        reached = self._slice(definition)
        if any(map(self._rules.are_kept, reached)):
            first, last = 0, self._numbering.size
        if self._has_waits and any(o.traits.bulk_stores for o in reached):
            waits = (o for o in reached if o.traits.bulk_waits)
            last = max([last, *(self._numbering.number(o) + 1 for o in waits)])
        return first, last

    def _slice(self, definition: SsaOperation) -> list[SsaOperation]:
        """Return the operations that depend on one."""
        found: dict[int, SsaOperation] = {}
        pending = self._users(definition)
        while pending:
            operation = pending.pop()
            if id(operation) not in found:
                found[id(operation)] = operation
                pending += self._users(operation)
                pending += [o for r in operation.regions for block in r for o in block.operations]
        return list(found.values())

    def _users(self, operation: SsaOperation) -> list[SsaOperation]:
        return [user for value in operation.results for user in self._uses.get(value.name, ())]
