"""Where the values of a function come from, across regions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tt_layout.ir.ssa import SsaFunction, SsaOperation


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
        found: dict[str, tuple[str, ...]] = {}
        for operation in self.function.walk():
            if operation.regions:
                found.update(_joined(operation))
        return found

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


def _joined(operation: SsaOperation) -> dict[str, tuple[str, ...]]:
    """Return what the results and the block arguments of an operation may be."""
    if operation.name == "scf.for":
        return _of_loop(operation)
    found: dict[str, list[str]] = {value.name: [] for value in operation.results}
    for region in operation.regions:
        if operation.name.startswith("ttg.warp_specialize") and region and region[0].arguments:
            names = [value.name for value in region[0].arguments]
            found.update((name, [source]) for name, source in zip(names, operation.operands))
        for block in region:
            for last in block.operations[-1:]:
                for value, source in zip(operation.results, _handed_on(last)):
                    found[value.name].append(source)
    if operation.name == "scf.while":
        _add_while(operation, found)
    return {name: tuple(sources) for name, sources in found.items() if sources}


def _handed_on(last: SsaOperation) -> tuple[str, ...]:
    """Return what the last operation of a block hands to the operation around it."""
    if last.name in ("scf.yield", "ttg.warp_yield"):
        return last.operands
    return last.operands[1:] if last.name == "scf.condition" else ()


def _of_loop(loop: SsaOperation) -> dict[str, tuple[str, ...]]:
    block = loop.regions[0][0] if loop.regions and loop.regions[0] else None
    if block is None or len(loop.operands) < 3:
        return {}
    last = block.operations[-1].operands if block.operations else ()
    variable, *iterated = [value.name for value in block.arguments] or [""]
    found: dict[str, tuple[str, ...]] = {variable: (loop.operands[0], loop.operands[2])}
    for index, first in enumerate(loop.operands[3:]):
        sources = (first, *last[index : index + 1])
        for name in (*iterated[index : index + 1], *(v.name for v in loop.results[index:][:1])):
            found[name] = sources
    return found


def _add_while(loop: SsaOperation, found: dict[str, list[str]]) -> None:
    if len(loop.regions) != 2 or not all(loop.regions):
        return
    before, after = loop.regions[0][0], loop.regions[1][0]
    again = after.operations[-1].operands if after.operations else ()
    passed = _handed_on(before.operations[-1]) if before.operations else ()
    for index, value in enumerate(before.arguments):
        found[value.name] = [*loop.operands[index : index + 1], *again[index : index + 1]]
    for value, source in zip(after.arguments, passed):
        found[value.name] = [source]
    for value, source in zip(loop.results, passed):
        found[value.name] = [source]
