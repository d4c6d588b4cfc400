"""Versions of values that operations take once a conversion is dropped, and the body with them.

A value that is wanted in both layouts is computed anew where that is free, else converted behind
its definition.  ``tt-layout apply`` writes the same versions as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.regions import ChangedRegion
from tt_layout.audit.suggestions.trial import LayoutExchange
from tt_layout.ir.ssa import Block, Operation, Region, Successor, Value
from tt_layout.ir.ssa.graph import reach
from tt_layout.tuples import NamedTuple


class Version(Enum):
    """Version of a value."""

    KEPT = auto()
    ANEW = auto()
    CONVERTED = auto()
    CONVERTED_BACK = auto()


class RewiredUse(NamedTuple):
    """An operand that becomes another value.

    Attributes:
        consumer: the operation.
        old: its operand.
        new: the value whose version it takes.
        version: the version.
    """

    consumer: Operation
    old: Value
    new: Value
    version: Version


def rewired_uses(
    flow: Flow, conversion: Operation, exchange: LayoutExchange, region: ChangedRegion
) -> Iterator[RewiredUse]:
    """Yield the operands that become other values where a conversion is dropped.

    Args:
        flow: the values of its function.
        conversion: the conversion.
        exchange: the layouts.
        region: the region that takes the layout of the conversion's other side.
    """
    for value in region.inward:
        version = Version.ANEW if flow.is_free(value) else Version.CONVERTED
        yield from (
            RewiredUse(consumer, value, value, version) for consumer in region.consumers[value]
        )
    for value in region.outward:
        version = Version.CONVERTED_BACK
        yield from (
            RewiredUse(consumer, value, value, version) for consumer in region.consumers[value]
        )
    source, result = conversion.operands[0], conversion.results[0]
    is_kept = source in region.values or not changes(flow, exchange, source)
    version = Version.KEPT if is_kept else Version.ANEW
    yield from (RewiredUse(use.owner, result, source, version) for use in result.uses)


def changes(flow: Flow, exchange: LayoutExchange, value: Value) -> bool:
    """Tell whether a value is of another type with the layouts exchanged."""
    old = flow.function.type_of(value)
    return old is not None and exchange.type(old) is not old


def computed_anew(flow: Flow, exchange: LayoutExchange, value: Value) -> list[Value]:
    """Return the values that are computed once more for another version of one."""

    def operands(found: Value) -> list[Value]:
        definition = found.definition
        taken = definition.operands if definition is not None else ()
        return [operand for operand in taken if changes(flow, exchange, operand)]

    return list(reach([value] if changes(flow, exchange, value) else [], operands))


class RewiredBody:
    """Body of a function in which a conversion is dropped.

    Attributes:
        body: its blocks.
        values: its values with the new layout.
        originals: the operations of the function that it has copies of.
    """

    def __init__(
        self, flow: Flow, conversion: Operation, exchange: LayoutExchange, region: ChangedRegion
    ) -> None:
        self._flow, self._exchange, self._conversion = flow, exchange, conversion
        self._before: dict[Operation, list[Operation]] = {}
        self._behind: dict[Operation, list[Operation]] = {}
        self._operands: dict[Operation, dict[Value, Value]] = {}
        self._anew: dict[Value, Value] = {}
        self._converted: dict[tuple[Value, Version], Value] = {}
        values = set(region.values)
        for use in rewired_uses(flow, conversion, exchange, region):
            new = self._version(use.new, use.version)
            self._operands.setdefault(use.consumer, {})[use.old] = new
            values |= {new} if use.version is Version.CONVERTED else set()
        self.values = frozenset(values | {*self._anew.values()})
        self.originals: dict[Operation, Operation] = {}
        self.body = self._region(flow.function.body)

    def _version(self, value: Value, version: Version) -> Value:
        if version is Version.KEPT:
            return value
        if version is Version.ANEW:
            return self._computed_anew(value)
        key = value, version
        if key not in self._converted:
            place = self._flow.behind[value]
            new = self._converted[key] = Value(value.name, value.text)
            conversion = Operation(self._conversion.name, (value,), (new,), line=place.line)
            conversion.block, new.owner = place.block, conversion
            self._before.setdefault(place, []).append(conversion)
        return self._converted[key]

    def _computed_anew(self, value: Value) -> Value:
        chain = computed_anew(self._flow, self._exchange, value)
        fresh = [found for found in chain if found not in self._anew]
        self._anew.update((found, Value(found.name, found.text)) for found in fresh)
        for operation in filter(None, dict.fromkeys(found.definition for found in fresh)):
            self._behind.setdefault(operation, []).append(self._copy(operation, self._anew))
        return self._anew.get(value, value)

    def _region(self, region: Region) -> Region:
        return Region(
            [
                Block(block.label, block.arguments, tuple(self._operations(block)))
                for block in region
            ]
        )

    def _operations(self, block: Block) -> Iterator[Operation]:
        for operation in block.operations:
            yield from self._before.get(operation, ())
            if operation is not self._conversion:
                taken = self._operands.get(operation, {})
                is_same = not taken and not operation.regions
                standing = operation if is_same else self._copy(operation, taken)
                self.originals[standing] = operation
                yield standing
            yield from self._behind.get(operation, ())

    def _copy(self, operation: Operation, new: dict[Value, Value]) -> Operation:
        """Return an operation with other operands, and results where those have new versions."""
        copy = Operation(
            operation.name,
            tuple(new.get(value, value) for value in operation.operands),
            tuple(new.get(value, value) for value in operation.results),
            operation.attributes,
            tuple(map(self._region, operation.regions)),
            tuple(
                Successor(branch.label, tuple(new.get(value, value) for value in branch.operands))
                for branch in operation.successors
            ),
            operation.line,
            operation.column,
            operation.location_text,
        )
        copy.block = operation.block
        for value in copy.results:
            value.owner = value.owner or copy  # of what is computed anew
        return copy
