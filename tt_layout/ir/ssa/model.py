"""A function of a dump as values and operations.  All of it immutable, and of one function.

MLIR uses a name again once the region that it was defined in has ended.  Here every value of
a function has a name of its own: the first keeps the name as written, a later one has its line
behind it, such as ``%weight@57``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tt_layout.ir.data_movements import OPERATIONS, DataMovement
from tt_layout.ir.operations import Location
from tt_layout.ir.ssa.attributes import Attribute
from tt_layout.ir.ssa.types import ValueType, value_type
from tt_layout.ir.traits import Traits, traits_of
from tt_layout.ir.types import IRType


class Value(NamedTuple):
    """What an operation returns, or an argument of a block.

    Attributes:
        name: such as ``%12``, ``%5#1``, ``%arg0``; of a second value that is so named ``%12@57``.
        text: the type as written, aliases in it; empty where the dump does not contain it.
    """

    name: str
    text: str

    @property
    def type(self) -> ValueType:
        """Its type, but for the layout."""
        return value_type(self.text)


class Successor(NamedTuple):
    """A block that a branch goes to, and the values that it hands over."""

    label: str
    operands: tuple[str, ...]


class Block(NamedTuple):
    """Operations in a row.

    Attributes:
        label: such as ``^bb1``; empty for the first block of a region, unless written.
        arguments: of the first block of a loop the induction variable and what is iterated.
    """

    label: str
    arguments: tuple[Value, ...]
    operations: tuple[SsaOperation, ...]


Region = tuple[Block, ...]


class SsaOperation(NamedTuple):
    """An operation of a function.

    Attributes:
        name: with its dialect, such as ``arith.addi``.
        operands: names of the values that it takes, in the order written.
        results: the values that it returns.
        attributes: what stands in its dictionaries, ``key = value`` outside of them, and under
            a word that stands before an operand the name of that operand (``mask``, ``step``).
            Words of the assembly format have the name of the attribute that they stand for.
        regions: of the operation, each the blocks in it.
        successors: of a branch.
        line, column: where the name stands, from 1.
        location_text: what stands within ``loc(...)``; see `SsaFunction.location`.
    """

    name: str
    operands: tuple[str, ...]
    results: tuple[Value, ...]
    attributes: Mapping[str, Attribute]
    regions: tuple[Region, ...]
    successors: tuple[Successor, ...]
    line: int
    column: int
    location_text: str

    def walk(self) -> Iterator[SsaOperation]:
        """Yield the operation and all within it, in the order of the text."""
        yield self
        for region in self.regions:
            for block in region:
                for operation in block.operations:
                    yield from operation.walk()

    @property
    def traits(self) -> Traits:
        """The class of the operation."""
        return traits_of(self.name)

    @property
    def movement(self) -> DataMovement | None:
        """What it moves between layouts or memories; None where that is nothing."""
        row = OPERATIONS.get(self.name.rpartition(".")[2])
        return row.movement if row is not None else None

    def integer(self, key: str) -> int | None:
        """Return an attribute that is a number; None where it is absent or something else."""
        value = self.attributes.get(key)
        return int(value) if isinstance(value, int) else None


@dataclass(frozen=True)
class SsaFunction:
    """A function of a module.

    Attributes:
        name: without ``@``.
        arguments: its parameters; those of a declaration have no names.
        argument_attributes: the dictionary of each parameter, such as ``tt.divisibility``.
        body: its blocks; none for a declaration.
        line, column: where it begins, from 1.
        resolve_type: from the text of a type to the type; None where it is unknown.
        resolve_location: from what stands within ``loc(...)`` to the location in the program.
    """

    name: str
    arguments: tuple[Value, ...]
    argument_attributes: tuple[Mapping[str, Attribute], ...]
    body: Region
    line: int
    column: int
    resolve_type: Callable[[str], IRType | None]
    resolve_location: Callable[[str], Location | None]

    def walk(self) -> Iterator[SsaOperation]:
        """Yield every operation, in the order of the text; what contains others first."""
        return iter(self._operations)

    @cached_property
    def _operations(self) -> tuple[SsaOperation, ...]:
        return tuple(
            [inner for block in self.body for each in block.operations for inner in each.walk()]
        )

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """Every value by its name: parameters, arguments of blocks, results."""
        found = {value.name: value for value in self.arguments}
        for block in self.blocks():
            found.update((value.name, value) for value in block.arguments)
            for operation in block.operations:
                found.update((value.name, value) for value in operation.results)
        return found

    @cached_property
    def definitions(self) -> Mapping[str, SsaOperation]:
        """The operation that returns each value; arguments are not in it."""
        return {value.name: o for o in self.walk() for value in o.results}

    def blocks(self) -> Iterator[Block]:
        """Yield every block, in the order of the text."""
        yield from self.body
        for operation in self.walk():
            for region in operation.regions:
                yield from region

    def type_of(self, name: str) -> IRType | None:
        """Return the type of a value with its layout; None for a scalar or an unknown value."""
        known = self._types
        if name not in known:
            value = self.values.get(name)
            known[name] = self.resolve_type(value.text) if value is not None else None
        return known[name]

    @cached_property
    def _types(self) -> dict[str, IRType | None]:
        return {}

    def location(self, operation: SsaOperation) -> Location | None:
        """Return the location in the user's program; None where the dump has none."""
        return self.resolve_location(operation.location_text) if operation.location_text else None
