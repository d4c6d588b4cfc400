"""Where the values of a function are defined: in which regions, as arguments of which blocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tt_layout.enums import TextEnum
from tt_layout.ir.ssa.control_flow import ControlFlow
from tt_layout.ir.ssa.model import Region, SsaFunction, SsaOperation


class Owner(NamedTuple):
    """The operation that a block argument belongs to.

    Attributes:
        operation: the operation.
        first_value: what the argument is when the region is first entered; None where the
            operation has none.
        region: that of a block that is branched to; empty for an argument of a region.
    """

    operation: SsaOperation
    first_value: str | None
    region: Region = ()


class Home(NamedTuple):
    """The block of a region of several that an operation is in."""

    region: Region
    label: str


class Enclosing(NamedTuple):
    """An operation around another, and in which of its regions that is.

    Attributes:
        span: where that region begins and ends, in the count of the function's operations.
    """

    operation: SsaOperation
    region: int
    span: tuple[int, int]


class Part(TextEnum):
    """Where something is beside a loop."""

    BODY = "body"
    PROLOGUE = "prologue"
    EPILOGUE = "epilogue"


class LoopPart(NamedTuple):
    """Whether an operation is inside, before or after a loop.

    Attributes:
        line: of the loop.
        part: the body of the innermost loop; or the prologue of the next one, or else the
            epilogue of the last one.
    """

    line: int
    part: Part

    @property
    def is_body(self) -> bool:
        """Whether it is inside the loop."""
        return self.part is Part.BODY


class Structure:
    """The nesting of a function's operations.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa.reader import SsaReader
        >>> [module] = parse_ir('''
        ... tt.func @f(%n: i32, %p: !tt.ptr<f16>) {
        ...   %c = arith.constant 1 : i32
        ...   %r = scf.for %i = %c to %n step %c iter_args(%a = %p) -> (!tt.ptr<f16>) : i32 {
        ...     %b = tt.addptr %a, %i : !tt.ptr<f16>, i32
        ...     scf.yield %b : !tt.ptr<f16>
        ...   }
        ...   tt.return
        ... }''')
        >>> [function] = SsaReader().functions(module)
        >>> structure = Structure(function)
        >>> structure.owner("%i").first_value, structure.owner("%a").first_value
        ('%c', '%p')
        >>> [e.operation.name for e in structure.around(function.definitions["%b"])]
        ['scf.for']
    """

    def __init__(self, function: SsaFunction) -> None:
        self._function = function
        self._control = ControlFlow(function)
        self._owners: dict[str, Owner] = {}
        self._spans: dict[int, tuple[int, int]] = {}
        self._parents: dict[int, Enclosing] = {}
        self._homes: dict[int, Home] = {}
        self._loops: list[tuple[int, int, int]] = []
        self._count = 0
        self._own_blocks(function.body, function.line)
        for block in function.body:
            self._enter(block.operations)
        self._loops.sort()
        self._begins = [begin for begin, _, _ in self._loops]

    def _enter(self, operations: Sequence[SsaOperation]) -> None:
        for operation in operations:
            begin = self._count
            self._count += 1
            for number, region in enumerate(operation.regions):
                first = self._count
                for argument in region[0].arguments if region else ():
                    first_value = self._control.first_value(argument.name)
                    self._owners[argument.name] = Owner(operation, first_value)
                self._own_blocks(region, operation.line)
                for block in region:
                    self._enter(block.operations)
                parent = Enclosing(operation, number, (first, self._count))
                for block in region:
                    self._parents.update((id(inner), parent) for inner in block.operations)
            self._spans[id(operation)] = begin, self._count
            if operation.traits.loop:
                self._loops.append((begin, self._count, operation.line))

    def _own_blocks(self, region: Region, line: int) -> None:
        if len(region) < 2:
            return
        for block in region[1:]:
            label = _label(block.label, line)
            self._spans[id(label)] = self._count, self._count
            for argument in block.arguments:
                self._owners[argument.name] = Owner(label, None, region)
        for block in region:
            home = Home(region, block.label)
            self._homes.update((id(operation), home) for operation in block.operations)

    def home(self, operation: SsaOperation) -> Home | None:
        """Return the block that an operation is in; None where its region has only one."""
        return self._homes.get(id(operation))

    def block(self, operation: SsaOperation) -> tuple[int, int, str]:
        """Return what the operations of one block have in common, and no others."""
        parent, home = self._parents.get(id(operation)), self._homes.get(id(operation))
        around = (id(parent.operation), parent.region) if parent is not None else (0, 0)
        return *around, home.label if home is not None else ""

    def owner(self, name: str) -> Owner | None:
        """Return what a block argument belongs to; None for any other value."""
        return self._owners.get(name)

    def around(self, operation: SsaOperation) -> list[Enclosing]:
        """Return the operations around one, the innermost first."""
        found = []
        parent = self._parents.get(id(operation))
        while parent is not None:
            found.append(parent)
            parent = self._parents.get(id(parent.operation))
        return found

    def loop_part(self, operation: SsaOperation) -> LoopPart | None:
        """Return how an operation relates to the loops; None outside of any.

        What is in one branch or partition is not before or after a loop in another.
        """
        around = self.around(operation)
        loop = next((e.operation for e in around if e.operation.traits.loop), None)
        if loop is not None:
            return LoopPart(loop.line, Part.BODY)
        before = None
        current = operation
        for enclosing in (*around, None):
            span = enclosing.span if enclosing is not None else (0, self._count)
            begin, end = self._spans[id(current)]
            after = self._between(end, span[1])
            if after:
                return LoopPart(after[0], Part.PROLOGUE)
            before = before or self._between(span[0], begin)[-1:]
            if enclosing is None or enclosing.operation.traits.partitions:
                break
            current = enclosing.operation
        return LoopPart(before[0], Part.EPILOGUE) if before else None

    def _between(self, begin: int, end: int) -> list[int]:
        """Return the lines of the loops that begin and end within a stretch of operations."""
        first, last = bisect_left(self._begins, begin), bisect_right(self._begins, end - 1)
        return [line for _, stop, line in self._loops[first:last] if stop <= end]

    def is_within(self, name: str, operation: SsaOperation) -> bool:
        """Tell whether a value is defined in a region of an operation."""
        owner = self._owners.get(name)
        home = owner.operation if owner is not None else self._function.definitions.get(name)
        span, outer = self._spans.get(id(home)), self._spans[id(operation)]
        if span is None:
            return False
        return outer[0] < span[0] < outer[1] or (owner is not None and home is operation)

    def iterated_for(self, loop: SsaOperation, names: Iterable[str]) -> list[int]:
        """Return which iterated values of an ``scf.for`` some values depend on.

        Args:
            loop: the loop.
            names: values within it.
        """
        numbers = {value.name: k for k, value in enumerate(loop.regions[0][0].arguments[1:])}
        needed: set[int] = set()
        seen: set[str] = set()
        pending = [*names]
        while pending:
            for leaf in self._leaves(pending.pop(), loop, seen):
                number = numbers.get(leaf)
                again = self._control.again(leaf) if number is not None else None
                if number is not None and number not in needed and again is not None:
                    needed.add(number)
                    pending.append(again)
        return sorted(needed)

    def sources(self, names: Iterable[str]) -> Iterator[SsaOperation]:
        """Yield the operations that values are computed with, each once, loops by their start."""
        seen: set[str] = set()
        pending = [*names]
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            definition, owner = self._function.definitions.get(name), self._owners.get(name)
            if definition is not None:
                yield definition
                pending += definition.operands
            elif owner is not None and owner.first_value is not None:
                pending.append(owner.first_value)

    def depends_on(self, name: str, loop: SsaOperation) -> bool:
        """Tell whether a value differs from one iteration of a loop to the next."""
        iterated = {v.name for region in loop.regions for block in region for v in block.arguments}
        return not iterated.isdisjoint(self._leaves(name, loop, set()))

    def _leaves(self, name: str, loop: SsaOperation, seen: set[str]) -> list[str]:
        """Return the values within a loop that a value of it is computed from."""
        found, pending = [], [name]
        while pending:
            current = pending.pop()
            if current in seen or not self.is_within(current, loop):
                continue
            seen.add(current)
            found.append(current)
            definition = self._function.definitions.get(current)
            if definition is not None:
                pending += [used for inner in definition.walk() for used in inner.operands]
            elif (owner := self._owners[current]).operation is not loop:
                pending += owner.operation.operands
        return found


def _label(label: str, line: int) -> SsaOperation:
    """Return what stands for the branches to a block."""
    return SsaOperation(f"cf.br to {label}", (), (), {}, (), (), line, 1, "")
