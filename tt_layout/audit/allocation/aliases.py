"""Which buffers of shared memory a value may stand for.

Source:
    Triton, lib/Analysis/Alias.cpp; MLIR, SparseForwardDataFlowAnalysis for control flow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.allocation.numbering import SPECIALIZED, NumberedBlock, Numbering
from tt_layout.ir.ssa import Region, SsaOperation, Value

ALLOCATIONS = frozenset({"ttg.local_alloc", "triton_gpu.local_alloc"})
"""Operations that return a new buffer of shared memory."""

Edge = tuple[str, str]
"""A value, and one that it may become."""

_LOOP_BOUNDS = 3  # operands of scf.for before what it iterates


def aliases(numbering: Numbering, allocations: Sequence[SsaOperation]) -> dict[str, set[str]]:
    """Return of each value in shared memory the results of allocations that it may be."""
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
    for operation in numbering.operations:
        if operation.regions:
            yield from _through_regions(operation)
        elif operation.name == "arith.select":
            yield from (
                (name, value.name) for value in operation.results for name in operation.operands[1:]
            )
        elif operation.successors:
            yield from _through_branch(operation, numbering.home(operation)[0])
        elif operation.name not in ALLOCATIONS and _returns_memory(operation):
            yield from ((operation.operands[0], value.name) for value in operation.results)


def _returns_memory(operation: SsaOperation) -> bool:
    results = operation.results
    return bool(results and operation.operands) and results[0].type.kind == "memdesc"


def _through_branch(operation: SsaOperation, home: NumberedBlock) -> Iterator[Edge]:
    targets = {sibling.block.label: sibling.block for sibling in home.siblings}
    for successor in operation.successors:
        block = targets.get(successor.label)
        if block is not None:
            yield from _named(successor.operands, block.arguments)


def _through_regions(operation: SsaOperation) -> Iterator[Edge]:
    operands, results, regions = operation.operands, operation.results, operation.regions
    if operation.name == "scf.for":
        carried = regions[0][0].arguments[1:] if regions[0] else ()
        for passed in (operands[_LOOP_BOUNDS:], _yielded(regions[0])):
            yield from _named(passed, carried)
            yield from _named(passed, results)
    elif operation.name == "scf.while" and len(regions) > 1 and all(regions):
        before, after = regions[0], regions[1]
        for passed in (operands, _yielded(after)):
            yield from _named(passed, before[0].arguments)
        for received in (after[0].arguments, results):
            yield from _named(_yielded(before)[1:], received)
    elif operation.name == SPECIALIZED:
        yield from _named(_yielded(regions[0]), results)
        for partition in regions[1:]:
            yield from _named(operands, partition[0].arguments if partition else ())
    else:
        for region in regions:
            yield from _named(_yielded(region), results)


def _yielded(region: Region) -> tuple[str, ...]:
    """Return what the last operation of a region hands on."""
    last = region[-1].operations[-1:] if region else ()
    return last[0].operands if last else ()


def _named(passed: Sequence[str], received: Sequence[Value]) -> Iterator[Edge]:
    yield from ((old, new.name) for old, new in zip(passed, received) if new.type.kind == "memdesc")
