"""The values of a function that a block argument, or the result of control flow, may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from tt_layout.ir.ssa import SsaFunction, SsaOperation, Value
from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.dataflow import reach


class Sources:
    """The operands of each value, direct and transitive.

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
    def flow(self) -> ControlFlow:
        """The control flow of the function."""
        return ControlFlow(self.function)

    @cached_property
    def joined(self) -> Mapping[Value, tuple[Value, ...]]:
        """Value joined by control flow -> the values that it may be."""
        sources: dict[Value, list[Value]] = {}
        for way in self.flow.ways:
            if (variable := way.variable) is not None:
                sources[variable] = [way.operation.operands[0], way.operation.operands[2]]
        for source, target, way in self.flow.edges:
            if not way.by_element:
                sources.setdefault(target, []).append(source)
        return {value: tuple(dict.fromkeys(values)) for value, values in sources.items()}

    def before(self, value: Value) -> Sequence[Value]:
        """Return the direct operands of a value, or the values that it joins."""
        definition = value.definition
        operands: Sequence[Value] = definition.operands if definition is not None else ()
        return self.joined.get(value, operands)

    def undefined_source(self, value: Value) -> Value | None:
        """Return a value without definition on which a value depends; None without one."""
        return self._undefined_sources.get(value)

    @cached_property
    def _undefined_sources(self) -> Mapping[Value, Value]:
        """Value -> the first value without definition on which it depends, where there is one."""
        operations = self.function.operations
        used = dict.fromkeys(v for operation in operations for v in operation.operands)
        undefined = [value for value in used if not value.is_defined]
        if not undefined:
            return {}
        following: dict[Value, list[Value]] = {}
        for value, values in self.joined.items():
            for source in values:
                following.setdefault(source, []).append(value)
        for operation in operations:
            results = [value for value in operation.results if value not in self.joined]
            for operand in operation.operands:
                following.setdefault(operand, []).extend(results)
        sources: dict[Value, Value] = {}

        def unseen(value: Value) -> Sequence[Value]:
            return [target for target in following.get(value, ()) if target not in sources]

        for missing in undefined:
            for value in reach([missing], unseen):
                sources.setdefault(value, missing)
        return sources

    def definition(self, value: Value) -> SsaOperation | None:
        """Return the operation that computes a value; None where control flow passes it on."""
        return None if value in self.joined else value.definition
