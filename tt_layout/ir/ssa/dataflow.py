"""Dataflow over the values of a function: slices along the edges of def-use and control flow.

Source:
    MLIR, SliceAnalysis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.graph import components, reach
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


class BackwardUnion:
    """Union of the bits of the values that one is computed from, its own included.

    Each value is visited once, however many are asked for.

    Args:
        sources: the values from which one is computed directly.
        own: the bits of a value itself.

    Example:
        >>> behind = BackwardUnion({1: [2, 3], 2: [1], 3: []}.__getitem__, lambda value: 1 << value)
        >>> behind.of(3), behind.of(1)
        (8, 14)
    """

    def __init__(self, sources: Callable[[Any], Iterable[Any]], own: Callable[[Any], int]) -> None:
        self._sources, self._own = sources, own
        self._known: dict[Any, int] = {}

    def of(self, root: Any) -> int:
        """Return the bits of a value and of all that it is computed from."""
        known = self._known
        if root in known:
            return known[root]

        def unseen(value: Any) -> Iterable[Any]:
            return [source for source in self._sources(value) if source not in known]

        for cycle in components([root], unseen):
            bits = 0
            for value in cycle:
                bits |= self._own(value)
                for source in self._sources(value):
                    bits |= known.get(source, 0)  # the others are of the cycle itself
            known.update(dict.fromkeys(cycle, bits))
        return known[root]
