"""Dataflow over the values of a function: closures along the edges of def-use and control flow.

Each walks a graph once, whatever its circles, and without recursion: chains can be very long.

Source:
    MLIR, SliceAnalysis (backward and forward slices); SparseForwardDataFlowAnalysis for what
    control flow hands on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.model import SsaOperation, Value

Node = TypeVar("Node", bound=Hashable)


def reach(roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Yield each node that the roots lead to, once, themselves included.

    Args:
        roots: where to begin.
        successors: the nodes that one leads to; asked for when the walk goes on behind it.

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
    """Yield the values that some are computed from, themselves included.

    Args:
        roots: the values.
        flow: of their function.
        through: whether to go on to the operands of an operation.
    """

    def sources(value: Value) -> Iterator[Value]:
        for edge in flow.into(value):
            yield edge.source
        definition = value.definition
        if definition is not None and through(definition):
            yield from definition.operands

    return reach(roots, sources)
