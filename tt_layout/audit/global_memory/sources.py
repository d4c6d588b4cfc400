"""Where the values of a function come from, across regions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tt_layout.ir.ssa import SsaFunction, SsaOperation
from tt_layout.ir.ssa.control_flow import ControlFlow


class Sources:
    """The values that a block argument, or the result of control flow, may have.

    Attributes:
        function: the function.
    """

    def __init__(self, function: SsaFunction) -> None:
        self.function = function

    @cached_property
    def arguments(self) -> frozenset[str]:
        """The parameters of the function."""
        return frozenset(value.name for value in self.function.arguments)

    @cached_property
    def joined(self) -> Mapping[str, tuple[str, ...]]:
        """Value -> the values that it is one of."""
        found: dict[str, list[str]] = {}
        flow = ControlFlow(self.function)
        for way in flow.ways:
            if (variable := way.variable) is not None:
                found[variable.name] = [way.operation.operands[0], way.operation.operands[2]]
        for source, target, way in flow.edges:
            if not way.by_element:
                found.setdefault(target, []).append(source)
        return {name: tuple(dict.fromkeys(sources)) for name, sources in found.items()}

    @cached_property
    def undefined(self) -> frozenset[str]:
        """The operands that nothing defines: an excerpt leaves operations out."""
        used = {name for operation in self.function.walk() for name in operation.operands}
        return frozenset(name for name in used if name not in self.function.values)

    def undefined_source(self, name: str) -> str | None:
        """Return a value without definition that a value is computed from; None without one."""
        pending, seen = [name] if self.undefined else [], {""}
        while pending:
            current = pending.pop()
            if current in self.undefined:
                return current
            if current in seen:
                continue
            seen.add(current)
            operation = self.definition(current)
            pending += operation.operands if operation is not None else ()
            pending += self.joined.get(current, ())
        return None

    def definition(self, name: str) -> SsaOperation | None:
        """Return the operation that computes a value; None where control flow hands it on."""
        return None if name in self.joined else self.function.definitions.get(name)
