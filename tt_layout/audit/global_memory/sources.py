"""The values of a function that a block argument, or the result of control flow, may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from tt_layout.ir.ssa import SsaFunction, SsaOperation, Value
from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.dataflow import reach


class Sources:
    """The values that each is computed from, in one step or in all.

    Attributes:
        function: the function.
    """

    def __init__(self, function: SsaFunction) -> None:
        self.function = function

    @cached_property
    def arguments(self) -> frozenset[Value]:
        """The parameters of the function."""
        return frozenset(self.function.arguments)

    @cached_property
    def joined(self) -> Mapping[Value, tuple[Value, ...]]:
        """Value -> the values that it is one of."""
        sources: dict[Value, list[Value]] = {}
        flow = ControlFlow(self.function)
        for way in flow.ways:
            if (variable := way.variable) is not None:
                sources[variable] = [way.operation.operands[0], way.operation.operands[2]]
        for source, target, way in flow.edges:
            if not way.by_element:
                sources.setdefault(target, []).append(source)
        return {value: tuple(dict.fromkeys(values)) for value, values in sources.items()}

    def before(self, value: Value) -> Sequence[Value]:
        """Return the values that one is computed from, or is one of."""
        definition = value.definition
        operands: Sequence[Value] = definition.operands if definition is not None else ()
        return self.joined.get(value, operands)

    def undefined_source(self, value: Value) -> Value | None:
        """Return a value without definition that a value is computed from; None without one."""
        return next((v for v in reach([value], self.before) if not v.is_defined), None)

    def definition(self, value: Value) -> SsaOperation | None:
        """Return the operation that computes a value; None where control flow hands it on."""
        return None if value in self.joined else value.definition
