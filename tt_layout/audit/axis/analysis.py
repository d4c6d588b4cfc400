"""The axis analysis of a function: what is known of each of its values.

The values are visited in the order of the text, loops until nothing changes any more.  What is
known of a value only ever becomes less, as the joins of the values that it may have.

Source:
    Triton, lib/Analysis/AxisInfo.cpp (August 2026); MLIR, SparseForwardDataFlowAnalysis and
    DeadCodeAnalysis for what control flow makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import gcd

from tt_layout.arguments import checks_arguments
from tt_layout.audit.axis.conclusions import conclusion, rank_of
from tt_layout.audit.axis.info import MAX_DIVISOR, AxisInfo, join, pessimistic
from tt_layout.audit.axis.step import Step
from tt_layout.ir.ssa import (
    Attribute,
    Block,
    Region,
    SsaFunction,
    SsaOperation,
    Value,
    integers,
    value_type,
)

HINTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")
"""Attributes by which a program states what it knows, in the order of `AxisInfo`."""

_HINTS = frozenset(HINTS)


@checks_arguments
def axis_info(
    function: SsaFunction, functions: Sequence[SsaFunction] = ()
) -> Mapping[str, AxisInfo]:
    """Return what the compiler knows of every value of a function, by its name.

    Args:
        function: as `tt_layout.read_functions` returns it.
        functions: all functions of the module, where some of them call the function: what they
            know of what they pass is known of the arguments.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
        ...   %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        ...   %1 = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
        ...   %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> print(axis_info(function)["%2"])
        contiguity = [64], divisibility = [16], constancy = [1], constant = none
    """
    attributes: dict[str, list[dict[str, Attribute]]] = {
        f.name: [dict(own) for own in f.argument_attributes] for f in (*functions, function)
    }
    for caller in _callers_first(functions or (function,)):
        arguments = [
            hinted(pessimistic(rank_of(value.type)), own)
            for value, own in zip(caller.arguments, attributes[caller.name])
        ]
        known = _Visitor(caller).run(arguments)
        if caller is function:
            return known
        _pass_on(caller, known, attributes)
    return axis_info(function)  # one of several of its name, or none of the functions


def unhinted_axis_info(function: SsaFunction) -> Mapping[str, AxisInfo]:
    """Return what follows from the operations of a function alone, all hints left out.

    That is what LLVM, which sees none of them, can know.
    """
    arguments = [pessimistic(rank_of(value.type)) for value in function.arguments]
    return _Visitor(function, takes_hints=False).run(arguments)


def _callers_first(functions: Sequence[SsaFunction]) -> list[SsaFunction]:
    """Return the functions, each behind those that call it."""
    if len(functions) == 1:
        return [*functions]
    by_name = {function.name: function for function in functions}
    order: list[SsaFunction] = []
    seen: set[str] = set()

    def visit(function: SsaFunction) -> None:
        if function.name in seen:
            return
        seen.add(function.name)
        for operation in function.walk():
            callee = by_name.get(str(operation.attributes.get("callee")))
            if callee is not None:
                visit(callee)
        order.append(function)

    for function in functions:
        visit(function)
    return order[::-1]


def _pass_on(
    caller: SsaFunction,
    known: Mapping[str, AxisInfo],
    attributes: Mapping[str, Sequence[dict[str, Attribute]]],
) -> None:
    """Make hints of what a function knows of one-dimensional values that it passes to others."""
    for operation in caller.walk():
        for name, own in zip(
            operation.operands, attributes.get(str(operation.attributes.get("callee")), ())
        ):
            info = known.get(name)
            if info is None or info.rank != 1:
                continue
            for hint, vector in zip(HINTS, info.vectors):
                before = integers(own.get(hint)) or [MAX_DIVISOR]
                own[hint] = gcd(vector[0], before[0])


def hinted(info: AxisInfo, attributes: Mapping[str, Attribute]) -> AxisInfo:
    """Return what is known with what the attributes state about it in its place."""
    if _HINTS.isdisjoint(attributes):
        return info
    vectors: list[Sequence[int]] = [
        integers(attributes.get(hint)) or own for hint, own in zip(HINTS, info.vectors)
    ]
    if any(len(vector) != info.rank for vector in vectors):
        return info
    return AxisInfo.of_vectors(vectors, info.constant)


_UNKNOWN = value_type("")


class _Visitor:
    """Visits the operations of a function.

    Attributes:
        values: what is known so far; a value that is not in it has not been reached.
        changes: how often something known has changed.
    """

    def __init__(self, function: SsaFunction, *, takes_hints: bool = True) -> None:
        self.function = function
        self.takes_hints = takes_hints
        self.types = {name: value.type for name, value in function.values.items()}
        self.values: dict[str, AxisInfo] = {}
        self.changes = 0
        self._taken: dict[int, list[AxisInfo]] = {}
        self._structured: dict[str, Callable[[SsaOperation], None]] = {
            "scf.for": self._for,
            "scf.while": self._while,
            "scf.if": self._if,
            "scf.execute_region": self._regions,
            "scf.index_switch": self._regions,
            "ttg.warp_specialize": self._specialize,
            "ttg.warp_specialize.partitions": self._partitions,
        }

    def run(self, arguments: Iterable[AxisInfo]) -> Mapping[str, AxisInfo]:
        """Return what is known of every value, the arguments being known."""
        for value, info in zip(self.function.arguments, arguments):
            self.values[value.name] = info
        if self.function.body:
            self._region(self.function.body)
        for name, type_ in self.types.items():
            if name not in self.values:  # in code that is never run
                self.values[name] = pessimistic(rank_of(type_))
        return self.values

    # -- values -----------------------------------------------------------------------------

    def _update(self, value: Value, info: AxisInfo | None) -> None:
        old = self.values.get(value.name)
        new = join(old, info)
        if new is not None and new != old:
            self.values[value.name] = new
            self.changes += 1

    def _join(self, values: Sequence[Value], names: Sequence[str]) -> None:
        """Join into values what is known of others, one by one."""
        for value, name in zip(values, names):
            self._update(value, self._known(name))

    def _known(self, name: str) -> AxisInfo | None:
        """Return what is known of a value; None if it has not been reached."""
        info = self.values.get(name)
        return info if info is not None or name in self.types else pessimistic(1)

    def _forget(self, values: Sequence[Value]) -> None:
        for value in values:
            self._update(value, pessimistic(rank_of(value.type)))

    # -- operations -------------------------------------------------------------------------

    def _operation(self, operation: SsaOperation) -> None:
        structured = self._structured.get(operation.name)
        if structured is not None:
            structured(operation)
            return
        for region in operation.regions:
            if region:
                self._forget(region[0].arguments)
                self._region(region)
        if not operation.results:
            return
        operands = []
        for name in operation.operands:
            info = self._known(name)
            if info is None or not info.contiguity:
                return
            operands.append(info)
        before = self._taken.get(id(operation))
        self._taken[id(operation)] = operands
        if before != operands:  # else nothing new follows
            self._conclude(operation, tuple(operands))

    def _conclude(self, operation: SsaOperation, operands: tuple[AxisInfo, ...]) -> None:
        """Note what follows from what is known of the operands."""
        types = tuple([self.types.get(name, _UNKNOWN) for name in operation.operands])
        result = self.types[operation.results[0].name]
        info = conclusion(Step(operation, operands, types, result))
        attributes = operation.attributes if self.takes_hints else {}
        for value in operation.results:
            found = pessimistic(rank_of(value.type)) if info is None else info
            self._update(value, hinted(found, attributes))

    # -- blocks -----------------------------------------------------------------------------

    def _region(self, region: Region) -> list[SsaOperation]:
        """Visit what can be reached of a region; return the operations that leave it."""
        if len(region) == 1:
            return self._block(region[0])
        blocks = {block.label: block for block in region}
        blocks[""] = region[0]
        reached = {region[0].label}
        while True:
            before, exits = (self.changes, len(reached)), []
            for block in region:
                if block.label in reached:
                    for last in self._block(block):
                        self._branch(last, blocks, reached)
                        exits += [last] * (not last.successors)
            if before == (self.changes, len(reached)):
                return exits

    def _block(self, block: Block) -> list[SsaOperation]:
        for operation in block.operations:
            self._operation(operation)
        return list(block.operations[-1:])

    def _branch(self, branch: SsaOperation, blocks: Mapping[str, Block], reached: set[str]) -> None:
        """Hand over what a branch passes to the blocks that it goes to."""
        taken = branch.successors
        if len(taken) == 2 and branch.operands:
            condition = self._known(branch.operands[0])
            if condition is not None and condition.constant is not None:
                taken = taken[:1] if condition.constant else taken[1:]
        for successor in taken:
            block = blocks.get(successor.label)
            if block is not None:
                reached.add(block.label)
                self._join(block.arguments, successor.operands)

    # -- structured control flow ------------------------------------------------------------

    def _for(self, loop: SsaOperation) -> None:
        if len(loop.operands) < 3 or not (loop.regions and loop.regions[0]):
            self._forget(loop.results)
            return
        (begin, end, step), initial = loop.operands[:3], loop.operands[3:]
        low, stride = self._known(begin), self._known(step)
        if low is None or stride is None:
            return
        variable, *iterated = loop.regions[0][0].arguments
        trips = _trips(low, self._known(end), stride)
        if trips != 0:
            divisor = join(low, stride)
            assert divisor is not None
            self._update(variable, AxisInfo.of((1,), divisor.divisibility[:1], (1,)))
            self._join(iterated, initial)
            for last in self._repeat(loop.regions[0], iterated if trips != 1 else ()):
                self._join(loop.results, last.operands)
        if trips is None or trips == 0:
            self._join(loop.results, initial)

    def _repeat(self, region: Region, iterated: Sequence[Value]) -> list[SsaOperation]:
        """Visit the body of a loop until nothing changes; return what leaves it."""
        while True:
            exits = self._region(region)
            before = self.changes
            for last in exits:
                self._join(iterated, last.operands)
            if before == self.changes:
                return exits

    def _while(self, loop: SsaOperation) -> None:
        if len(loop.regions) != 2 or not all(loop.regions):
            self._forget(loop.results)
            return
        before, after = loop.regions
        self._join(before[0].arguments, loop.operands)
        while True:
            changes = self.changes
            for condition in self._region(before):
                self._join(after[0].arguments, condition.operands[1:])
                self._join(loop.results, condition.operands[1:])
            for last in self._region(after):
                self._join(before[0].arguments, last.operands)
            if changes == self.changes:
                return

    def _if(self, choice: SsaOperation) -> None:
        condition = self._known(choice.operands[0]) if choice.operands else None
        regions = choice.regions
        if condition is not None and condition.constant is not None:
            regions = regions[:1] if condition.constant else regions[1:2]
        self._join_regions(choice, regions)

    def _regions(self, operation: SsaOperation) -> None:
        self._join_regions(operation, operation.regions)

    def _join_regions(self, operation: SsaOperation, regions: Sequence[Region]) -> None:
        for region in regions:
            for last in self._region(region) if region else ():
                self._join(operation.results, last.operands)

    def _specialize(self, operation: SsaOperation) -> None:
        """Visit what each group of warps does; partitions see the values that are captured."""
        self._join_regions(operation, operation.regions[:1])
        self._capture(operation.regions[1:], operation.operands)

    def _partitions(self, operation: SsaOperation) -> None:
        self._capture(operation.regions, operation.operands)

    def _capture(self, regions: Sequence[Region], captured: Sequence[str]) -> None:
        for region in regions:
            if region:
                self._join(region[0].arguments, captured)
                self._region(region)


def _trips(low: AxisInfo, high: AxisInfo | None, step: AxisInfo) -> int | None:
    """Return how often a loop runs; None where that is not known."""
    if high is None or low.constant is None or high.constant is None or not step.constant:
        return None
    return max(0, -(-(high.constant - low.constant) // step.constant))
