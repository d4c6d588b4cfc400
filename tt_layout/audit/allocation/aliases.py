"""Which buffers of shared memory a value may stand for.

Source:
    Triton, lib/Analysis/Alias.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.allocation.numbering import Numbering
from tt_layout.ir.ssa import SsaOperation
from tt_layout.ir.ssa.control_flow import ControlFlow

Edge = tuple[str, str]
"""A value, and one that it may become."""


def aliases(numbering: Numbering, allocations: Sequence[SsaOperation]) -> dict[str, set[str]]:
    """Return the allocations that each value may alias, by their results."""
    followers: dict[str, list[str]] = {}
    for old, new in _edges(numbering):
        followers.setdefault(old, []).append(new)
    found: dict[str, set[str]] = {}
    for allocation in allocations:
        root = allocation.results[0].name
        pending, seen = [root], {root}
        while pending:
            name = pending.pop()
            found.setdefault(name, set()).add(root)
            fresh = [each for each in followers.get(name, ()) if each not in seen]
            seen.update(fresh)
            pending += fresh
    return found


def _edges(numbering: Numbering) -> Iterator[Edge]:
    values = numbering.function.values
    for source, target, _ in ControlFlow(numbering.function).edges:
        if values[target].type.is_memory:
            yield source, target
    for operation in numbering.operations:
        if operation.traits.select:
            yield from (
                (name, value.name) for value in operation.results for name in operation.operands[1:]
            )
        elif _is_view(operation):
            yield from ((operation.operands[0], value.name) for value in operation.results)


def _is_view(operation: SsaOperation) -> bool:
    """Tell whether an operation returns the memory, or a part of it, that it takes."""
    results = operation.results
    if operation.regions or operation.traits.allocates:
        return False
    return bool(results and operation.operands) and results[0].type.is_memory
