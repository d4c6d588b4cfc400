"""Asynchronous copies that are the first behind a barrier, where ptxas puts more instructions.

The compiler puts a barrier where an operation touches a buffer that was written since the last
one, or writes one that was touched, and around operations that wait for all threads.

Source:
    Triton, lib/Analysis/Membar.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.ir.ssa import Block, SsaFunction, SsaOperation
from tt_layout.ir.ssa.control_flow import LOOPS

COPY = "ttg.async_copy_global_to_local"

_WAITING = frozenset(
    {
        "gpu.barrier",
        "tt.gather",
        "tt.reduce",
        "tt.scan",
        "ttg.async_wait",
        "ttg.barrier",
        "ttg.convert_layout",
    }
)
"""Operations in or behind which the threads of a CTA wait for each other."""

_READING = frozenset({"ttg.local_load", "ttng.warp_group_dot", "tt.dot"})
_WRITING = frozenset({"ttg.local_alloc", "ttg.local_store", COPY})


def first_copies(function: SsaFunction) -> list[SsaOperation]:
    """Return the asynchronous copies that are the first behind a barrier, or of a block."""
    inside = {
        id(block)
        for operation in function.walk()
        if operation.name in LOOPS
        for region in operation.regions
        for block in region
    }
    found: list[SsaOperation] = []
    for block in function.blocks():
        if any(operation.name == COPY for operation in block.operations):
            found += _Barriers(function).first_copies(block, again=id(block) in inside)
    return found


class _Barriers:
    """Which buffers were touched since the last barrier."""

    def __init__(self, function: SsaFunction) -> None:
        self._function = function
        self._read: set[str] = set()
        self._written: set[str] = set()

    def first_copies(self, block: Block, *, again: bool) -> list[SsaOperation]:
        """Return the first copies of a block; of its second run, if it runs again and again."""
        found: list[SsaOperation] = []
        for _ in range(1 + again):
            is_first, found = True, []
            for operation in block.operations:
                is_first = self._waits(operation) or is_first
                if operation.name == COPY:
                    found += [operation] * is_first
                    is_first = False
        return found

    def _waits(self, operation: SsaOperation) -> bool:
        """Note what an operation touches; tell whether there is a barrier before or behind it."""
        writes = operation.name in _WRITING and bool(operation.operands)
        if operation.regions or operation.name in _WAITING:
            self._read, self._written = set(), set()
            return True
        if not writes and operation.name not in _READING:
            return False
        buffers = set(self._buffers(operation))
        waits = bool(buffers & (self._written | self._read if writes else self._written))
        if waits:
            self._read, self._written = set(), set()
        (self._written if writes else self._read).update(buffers)
        return waits

    def _buffers(self, operation: SsaOperation) -> Iterator[str]:
        """Yield the allocations that an operation touches, by their names."""
        values = self._function.values
        names = [*operation.operands, *(value.name for value in operation.results)]
        for name in names:
            while name in values and values[name].type.kind == "memdesc":
                definition = self._function.definitions.get(name)
                views = definition is not None and definition.name != "ttg.local_alloc"
                if definition is None or not views or not definition.operands:
                    yield name
                    break
                name = definition.operands[0]
