"""The compiler's numbering of a function's operations, and the blocks that contain them.

An operation comes after everything in its regions, the function last.  Two things that a dump
leaves out count, too: the ``scf.yield`` at the end of a loop or branch that returns nothing, and
the operation that holds the partitions of ``ttg.warp_specialize``.

Source:
    Triton, lib/Analysis/Allocation.cpp, resolveLiveness.
"""

from __future__ import annotations

from tt_layout.ir.ssa import Function, Operation, Region


class Numbering:
    """The operations of a function with their numbers.

    Attributes:
        function: the function.
        size: number of operations, the function included.

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

    def __init__(self, function: Function) -> None:
        self.function = function
        self.operations: list[Operation] = []
        self._numbers: dict[Operation, int] = {}
        self.size = 0
        self._enter_region(function.body)
        self.size += 1

    def _enter_region(self, region: Region) -> None:
        for block in region:
            for operation in block.operations:
                self._enter(operation)
        owner = region.owner
        if owner is not None and owner.traits.implied_terminator and region:
            last = region[-1].operations[-1:]
            self.size += not (last and last[0].traits.terminator)

    def _enter(self, operation: Operation) -> None:
        self.operations.append(operation)
        for region in operation.regions:
            self._enter_region(region)
        self.size += operation.traits.partitions
        self._numbers[operation] = self.size
        self._numbers[self.function.originals.get(operation, operation)] = self.size
        self.size += 1

    def number(self, operation: Operation) -> int:
        """Return the number of an operation; of a dropped one, that of what stands in its place.

        A value that is live in a block is live at its first operation as written, which may be a
        conversion that a suggestion drops.
        """
        known = self._numbers.get(operation)
        return known if known is not None else self._number_of_dropped(operation)

    def _number_of_dropped(self, operation: Operation) -> int:
        block = operation.block
        assert block is not None
        at = block.operations.index(operation)
        beside = *block.operations[at + 1 :], *reversed(block.operations[:at])
        numbers = (self._numbers[other] for other in beside if other in self._numbers)
        around = block.region.owner
        last = self._numbers.get(around, 0) if around is not None else 0
        return next(numbers, last)
