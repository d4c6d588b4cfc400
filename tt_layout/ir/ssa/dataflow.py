"""Dataflow over the values of a function: slices along the edges of def-use and control flow.

Source:
    MLIR, SliceAnalysis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tt_layout.ir.ssa.attributes import constant_value
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


def lineage(value: Value, passes: Callable[[Operation], bool]) -> list[Value]:
    """Follow a value through operations that pass their first operand on.

    Args:
        value: the value.
        passes: whether an operation passes it on.

    Returns:
        The value and what its definition has it from, up to one that is computed anew; each once,
        as in a dump that is not a valid one a value may be computed from itself.
    """

    def passed(value: Value) -> Sequence[Value]:
        definition = value.definition
        return definition.operands[:1] if definition is not None and passes(definition) else ()

    return [*reach([value], passed)]


def repeated(value: Value) -> Value:
    """Return the value whose one number all elements of a value are, if that is one number.

    It went through casts that keep it and through operations that only move or repeat elements.
    """
    return lineage(value, _keeps_number)[-1]


def constant_of(value: Value) -> int | None:
    """Return the integer that all elements of a value are; None unless a constant states it.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa.reader import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f() {
        ...   %c = arith.constant 8 : i32
        ...   %0 = tt.splat %c : i32 -> tensor<64xi32>
        ...   %1 = arith.extsi %0 : tensor<64xi32> to tensor<64xi64>
        ...   %2 = arith.addi %1, %1 : tensor<64xi64>
        ... }''')
        >>> [function] = read_functions(module)
        >>> constant_of(function.values["%1"]), constant_of(function.values["%2"])
        (8, None)
    """
    made = repeated(value).definition
    if made is None or not made.traits.constant:
        return None
    return constant_value(made.attributes.get("value"))


def _keeps_number(operation: Operation) -> bool:
    traits = operation.traits
    if len(operation.operands) != 1:
        return False
    is_flag = operation.operands[0].type.integer_bits == 1  # -1 when it is extended
    return traits.shape or traits.same_elements or (traits.signed_cast and not is_flag)


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
