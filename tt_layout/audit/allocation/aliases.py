"""Which buffers of shared memory a value may stand for.

Source:
    Triton, lib/Analysis/Alias.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.allocation.numbering import Numbering
from tt_layout.ir.ssa import SsaOperation, Value
from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.dataflow import reach


def aliases(numbering: Numbering, allocations: Sequence[SsaOperation]) -> dict[Value, set[Value]]:
    """Return the allocations that each value may alias, by their results."""
    followers: dict[Value, list[Value]] = {}
    for old, new in _edges(numbering):
        followers.setdefault(old, []).append(new)
    roots: dict[Value, set[Value]] = {}
    for allocation in allocations:
        root = allocation.results[0]
        for value in reach([root], lambda value: followers.get(value, ())):
            roots.setdefault(value, set()).add(root)
    return roots


def _edges(numbering: Numbering) -> Iterator[tuple[Value, Value]]:
    """Yield each value with one that it may become."""
    for source, target, _ in ControlFlow(numbering.function).edges:
        if target.type.is_memory:
            yield source, target
    for operation in numbering.operations:
        if operation.traits.select:
            yield from ((v, result) for result in operation.results for v in operation.operands[1:])
        elif _is_view(operation):
            yield from ((operation.operands[0], result) for result in operation.results)


def _is_view(operation: SsaOperation) -> bool:
    """Tell whether an operation returns the memory, or a part of it, that it takes."""
    results = operation.results
    if operation.regions or operation.traits.allocates:
        return False
    return bool(results and operation.operands) and results[0].type.is_memory
