"""Backward slices of a function's values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.ir.ssa import Block, Region, SsaOperation, Value
from tt_layout.ir.ssa.control_flow import ControlFlow, branches, by_label, ways


class BackwardSlice:
    """The values that one depends on, by data and by control flow.

    Whatever is concluded from operands alone is the same of a slice as of the whole function.

    Attributes:
        values: the value, and those that it depends on.
    """

    def __init__(self, flow: ControlFlow, value: Value) -> None:
        self.values: dict[Value, None] = {}
        self._operations: dict[Block, dict[SsaOperation, None]] = {}
        pending = [value]
        while pending:
            value = pending.pop()
            if value not in self.values:
                self.values[value] = None
                pending += self._before(flow, value)
        self._sorted: dict[Block, Sequence[SsaOperation]] = {}

    def of(self, block: Block) -> Sequence[SsaOperation]:
        """Return the operations of a block that the value depends on, in order."""
        if block not in self._sorted:
            found = self._operations.get(block, ())
            self._sorted[block] = sorted(found, key=lambda operation: operation.position)
        return self._sorted[block]

    def _before(self, flow: ControlFlow, value: Value) -> Iterator[Value]:
        """Yield the values that a value depends on directly."""
        yield from (edge.source for edge in flow.into(value))
        owner = value.owner
        if isinstance(owner, SsaOperation):
            yield from self._take(owner)
        elif owner is not None:
            yield from self._around(owner)

    def _take(self, operation: SsaOperation) -> Iterator[Value]:
        """Add an operation, and yield the values that its results and its execution depend on."""
        block = operation.block
        if block is None or operation in self._operations.get(block, ()):
            return
        self._operations.setdefault(block, {})[operation] = None
        yield from operation.operands
        yield from (way.choice.value for way in ways(operation) if way.choice is not None)
        yield from self._around(block)

    def _around(self, block: Block) -> Iterator[Value]:
        """Yield the values that decide whether a block is reached."""
        yield from _conditions(block.region)
        if block.owner is not None:
            yield from self._take(block.owner)


def _conditions(region: Region) -> Iterator[Value]:
    """Yield the values that decide between the blocks of a region."""
    if len(region) < 2:
        return
    blocks = by_label(region)
    for block in region:
        for last in block.operations[-1:]:
            for way in branches(last, blocks):
                if way.choice is not None:
                    yield way.choice.value
