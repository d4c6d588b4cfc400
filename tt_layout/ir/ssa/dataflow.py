"""Dataflow over the values of a function: closures along the edges of def-use and control flow.

Each visits every node once, even in cycles, and without recursion, since chains can be very long.

Source:
    MLIR, SliceAnalysis (backward and forward slices); SparseForwardDataFlowAnalysis for values
    that control flow forwards.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.model import SsaOperation, Value

Node = TypeVar("Node", bound=Hashable)


def reach(roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Yield each node reachable from the roots once, the roots included.

    Args:
        roots: the start nodes.
        successors: the successors of a node; called when the walk continues after it.

    Example:
        >>> sorted(reach([1], lambda number: [2 * number] if number < 8 else [1]))
        [1, 2, 4, 8]
    """
    pending = list(dict.fromkeys(roots))
    seen = set(pending)
    while pending:
        node = pending.pop()
        yield node
        for successor in successors(node):
            if successor not in seen:
                seen.add(successor)
                pending.append(successor)


def backward_slice(
    roots: Iterable[Value],
    flow: ControlFlow,
    through: Callable[[SsaOperation], bool] = lambda operation: True,
) -> Iterator[Value]:
    """Yield the values that the roots are computed from, the roots included.

    Args:
        roots: the values.
        flow: the control flow of their function.
        through: whether to continue to the operands of an operation.
    """

    def sources(value: Value) -> Iterator[Value]:
        for edge in flow.into(value):
            yield edge.source
        definition = value.definition
        if definition is not None and through(definition):
            yield from definition.operands

    return reach(roots, sources)
