"""Dataflow over the values of a function: slices along the edges of def-use and control flow.

Source:
    MLIR, SliceAnalysis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.graph import reach
from tt_layout.ir.ssa.model import Operation, Value


def backward_slice(
    roots: Iterable[Value],
    flow: ControlFlow,
    through: Callable[[Operation], bool] = lambda operation: True,
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
