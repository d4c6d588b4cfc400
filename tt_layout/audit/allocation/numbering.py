"""The operations of a function, numbered as the compiler numbers them, and the blocks they are in.

An operation comes after everything in its regions, the function last.  Two things that a dump
leaves out count, too: the ``scf.yield`` at the end of a loop or branch that returns nothing, and
the operation that holds the partitions of ``ttg.warp_specialize``.

Source:
    Triton, lib/Analysis/Allocation.cpp, resolveLiveness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tt_layout.ir.ssa import Block, Region, SsaFunction, SsaOperation


@dataclass(eq=False)
class NumberedBlock:
    """A block, its parents and successors.

    Attributes:
        block: as it was read.
        siblings: the blocks of its region.
        owner: the operation that has the region; None for the function's body.
        around: the block that the owner is in.
        region: a number that its region has to itself.
    """

    block: Block
    siblings: list[NumberedBlock] = field(repr=False)
    owner: SsaOperation | None
    around: NumberedBlock | None
    region: int

    @property
    def operations(self) -> tuple[SsaOperation, ...]:
        """The operations in it."""
        return self.block.operations

    @cached_property
    def successors(self) -> list[NumberedBlock]:
        """The blocks that it branches to."""
        if len(self.siblings) == 1 or not self.operations:
            return []
        labels = {successor.label for successor in self.operations[-1].successors}
        return [sibling for sibling in self.siblings if sibling.block.label in labels]


class Numbering:
    """The operations of a function with their numbers.

    Attributes:
        function: the function.
        size: how many operations there are, itself included.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f(%b: i1) {
        ...   scf.if %b {
        ...     ttg.barrier local
        ...   }
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> numbering = Numbering(function)
        >>> [(o.name, numbering.number(o)) for o in numbering.operations], numbering.size
        ([('scf.if', 2), ('ttg.barrier', 0), ('tt.return', 3)], 5)
    """

    def __init__(self, function: SsaFunction) -> None:
        self.function = function
        self.operations: list[SsaOperation] = []
        self._numbers: dict[int, int] = {}
        self._homes: dict[int, tuple[NumberedBlock, int]] = {}
        self._blocks: dict[int, NumberedBlock] = {}
        self._regions = 0
        self.size = 0
        self._enter_region(function.body, None, None)
        self.size += 1

    def _enter_region(
        self, region: Region, owner: SsaOperation | None, around: NumberedBlock | None
    ) -> None:
        siblings: list[NumberedBlock] = []
        self._regions += 1
        number = self._regions
        siblings += [NumberedBlock(block, siblings, owner, around, number) for block in region]
        for place in siblings:
            self._blocks[id(place.block)] = place
            for index, operation in enumerate(place.operations):
                self._homes[id(operation)] = place, index
                self._enter(operation, place)
        if owner is not None and owner.traits.implied_terminator and region:
            last = region[-1].operations[-1:]
            self.size += not (last and last[0].traits.terminator)

    def _enter(self, operation: SsaOperation, home: NumberedBlock) -> None:
        self.operations.append(operation)
        for region in operation.regions:
            self._enter_region(region, operation, home)
        self.size += operation.traits.partitions
        self._numbers[id(operation)] = self.size
        self.size += 1

    def number(self, operation: SsaOperation) -> int:
        """Return the number of an operation."""
        return self._numbers[id(operation)]

    def home(self, operation: SsaOperation) -> tuple[NumberedBlock, int]:
        """Return the block that an operation is in, and its place there."""
        return self._homes[id(operation)]

    def placed(self, block: Block) -> NumberedBlock:
        """Return a block with what it is in."""
        return self._blocks[id(block)]

    def blocks(self) -> Iterator[NumberedBlock]:
        """Yield every block."""
        yield from self._blocks.values()

    def ancestor(self, operation: SsaOperation, region: int) -> tuple[NumberedBlock, int] | None:
        """Return where an operation, or what it is in, stands in a region; None if elsewhere."""
        place: tuple[NumberedBlock, int] | None = self._homes[id(operation)]
        while place is not None and place[0].region != region:
            owner = place[0].owner
            place = self._homes[id(owner)] if owner is not None else None
        return place

    def around(self, operation: SsaOperation) -> Iterator[SsaOperation]:
        """Yield the operations around one, the innermost first."""
        owner = self._homes[id(operation)][0].owner
        while owner is not None:
            yield owner
            owner = self._homes[id(owner)][0].owner


def uses_of(operations: Sequence[SsaOperation]) -> dict[str, list[SsaOperation]]:
    """Return the operations that take each value, by its name."""
    found: dict[str, list[SsaOperation]] = {}
    for operation in operations:
        for name in dict.fromkeys(operation.operands):
            found.setdefault(name, []).append(operation)
        for successor in operation.successors:
            for name in successor.operands:
                found.setdefault(name, []).append(operation)
    return found
