"""Loads from shared memory that no lane executes, which ptxas adds in kernels for sm90.

Where a kernel has asynchronous copies, three are before the first copy behind a barrier, or the
first of a block, and one before each fence of asynchronous accesses, which has the three, too, if
no copy had them since the barrier.

The compiler puts a barrier where an operation touches a buffer that was written since the last
one, or writes one that was touched, and around operations that need scratch memory or wait for all
threads.

Source:
    The assembly of ptxas for sm90 in the wheel 3.6; counters of an H100 and an H200. Of barriers:
    Triton, lib/Analysis/Membar.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tt_layout.ir.ssa import Block, SsaFunction, SsaOperation, Value

COPY = "ttg.async_copy_global_to_local"
FENCE = "fence_async_shared"

BEHIND_BARRIER, OF_FENCE = 3, 1

NeedsScratch = Callable[[SsaOperation], bool]


class NoLaneLoads(NamedTuple):
    """Loads that no lane executes.

    Attributes:
        operation: that they are before.
        number: how many each warp issues.
    """

    operation: SsaOperation
    number: int


def no_lane_loads(function: SsaFunction, needs_scratch: NeedsScratch) -> list[NoLaneLoads]:
    """Return the loads that no lane executes.

    Args:
        function: a kernel.
        needs_scratch: tells whether an operation exchanges something in shared memory.
    """
    if not any(operation.name == COPY for operation in function.walk()):
        return []
    inside = {
        block
        for operation in function.walk()
        if operation.traits.loop
        for region in operation.regions
        for block in region
    }
    loads: list[NoLaneLoads] = []
    for block in function.blocks():
        loads += _Barriers(function, needs_scratch).loads(block, again=block in inside)
    return loads


class _Barriers:
    """Which buffers were touched since the last barrier."""

    def __init__(self, function: SsaFunction, needs_scratch: NeedsScratch) -> None:
        self._function = function
        self._needs_scratch = needs_scratch
        self._read: set[Value] = set()
        self._written: set[Value] = set()

    def loads(self, block: Block, *, again: bool) -> list[NoLaneLoads]:
        """Return the loads of a block; of its second run, if it runs again and again."""
        loads: list[NoLaneLoads] = []
        for _ in range(1 + again):
            is_first, loads = True, []
            for operation in block.operations:
                is_first = self._waits(operation) or is_first
                is_fence = operation.name.rpartition(".")[2] == FENCE
                if operation.name == COPY or is_fence:
                    number = OF_FENCE * is_fence + BEHIND_BARRIER * is_first
                    loads += [NoLaneLoads(operation, number)] if number else []
                    is_first = False
        return loads

    def _waits(self, operation: SsaOperation) -> bool:
        """Note what an operation touches; tell whether there is a barrier before or behind it."""
        traits = operation.traits
        writes = traits.shared_write and bool(operation.operands)
        waits = bool(operation.regions) and operation.name != "tt.reduce"
        if waits or traits.synchronizes or self._needs_scratch(operation):
            self._read, self._written = set(), set()
            return True
        if not writes and not (traits.shared_read or traits.multiplies):
            return False
        buffers = set(self._buffers(operation))
        touches = bool(buffers & (self._written | self._read if writes else self._written))
        if touches:
            self._read, self._written = set(), set()
        (self._written if writes else self._read).update(buffers)
        return touches

    def _buffers(self, operation: SsaOperation) -> Iterator[Value]:
        """Yield the allocations that an operation touches, by the values that hold them."""
        for value in (*operation.operands, *operation.results):
            while value.type.is_memory:
                definition = value.definition
                is_whole = definition is None or definition.traits.allocates
                if definition is None or is_whole or not definition.operands:
                    if value.is_defined:
                        yield value
                    break
                value = definition.operands[0]
