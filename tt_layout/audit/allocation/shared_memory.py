"""The shared memory of the functions of a module: buffers, their aliases and offsets.

Read next:    `tt_layout.analyses.shared_memory.buffer_placement`.

Source:
    Triton, lib/Analysis/Alias.cpp; lib/Analysis/Allocation.cpp, getExplicitValueSize and
    addPartitionBuffers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from tt_layout.algebra.padding import padded_size
from tt_layout.analyses.shared_memory.buffer_placement import (
    FOREVER,
    Buffer,
    Interval,
    place_buffers,
)
from tt_layout.audit.allocation.liveness import UPSTREAM, Liveness, Rules
from tt_layout.audit.allocation.numbering import Numbering
from tt_layout.audit.allocation.scratch import RULES, SCRATCH_ALIGNMENT, Surroundings, scratch_bytes
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.encodings.partitioned_shared import PartitionedShared
from tt_layout.enums import TextEnum
from tt_layout.hardware import Target
from tt_layout.ir.ssa import Function, Operation, Region, Value, integers
from tt_layout.ir.ssa.control_flow import flow_of
from tt_layout.ir.ssa.graph import reach
from tt_layout.ir.types import IRType
from tt_layout.placement import PlacedLayout, alignment_of
from tt_layout.tuples import NamedTuple

CAPTURE_ALIGNMENT = 8
INDEX_ALIGNMENT = 4
WARP_GROUP = 4
"""Warps that are assigned to partitions together."""

MAX_BUFFERS = 512
"""The most buffers of one function that are placed, in quadratic time."""

MAX_BYTES = 1 << 40
"""More bytes than any machine has; sums of a few of them do not overflow."""


# -- aliases ---------------------------------------------------------------------------------------


def aliases(numbering: Numbering, allocations: Sequence[Operation]) -> dict[Value, set[Value]]:
    """Return the allocations that each value may alias, by their results."""
    followers: dict[Value, list[Value]] = {}
    for old, new in _edges(numbering):
        followers.setdefault(old, []).append(new)
    roots: dict[Value, set[Value]] = {}
    for allocation in allocations:
        root = allocation.results[0]
        for value in reach([root], lambda value: followers.get(value, ())):
            roots.setdefault(value, set()).add(root)
    return roots


def _edges(numbering: Numbering) -> Iterator[tuple[Value, Value]]:
    """Yield pairs of a value and another one that it may become."""
    for source, target, _ in flow_of(numbering.function).value_edges:
        if target.type.is_memory:
            yield source, target
    for operation in numbering.operations:
        if operation.traits.select:
            yield from ((v, result) for result in operation.results for v in operation.operands[1:])
        elif _is_view(operation):
            yield from ((operation.operands[0], result) for result in operation.results)


def _is_view(operation: Operation) -> bool:
    """Tell whether an operation returns a view of the memory that it takes."""
    results = operation.results
    if operation.regions or operation.traits.allocates:
        return False
    return bool(results and operation.operands) and results[0].type.is_memory


# -- sizes of buffers ------------------------------------------------------------------------------


class BufferSize(NamedTuple):
    """A part of shared memory that an allocation returns.

    Attributes:
        bytes: its size; None where it is not known.
        alignment: alignment of its offset, in bytes.
        partitions: number of equal pieces, each in another partition of the memory.
    """

    bytes: int | None
    alignment: int
    partitions: int = 1


def allocated(
    operation: Operation, function: Function, layouts: PlacedLayouts
) -> BufferSize | None:
    """Return the piece of an allocation; None if its type does not determine it."""
    ir_type = function.type_of(operation.results[0])
    if ir_type is None or ir_type.element_bits is None:
        return None
    encoding = ir_type.encoding
    if not isinstance(encoding, SharedEncoding):
        return None
    alignment = operation.integer("alignment") or alignment_of(encoding)
    elements = _elements(ir_type, encoding, layouts)
    size = padded_size(elements, encoding.padding) * ir_type.element_bits // 8
    if not isinstance(encoding, PartitionedShared):
        return BufferSize(size, alignment)
    pieces = encoding.num_partitions * encoding.num_groups
    return BufferSize(size // pieces * encoding.num_groups, alignment, encoding.num_partitions)


def _elements(ir_type: IRType, encoding: Encoding, layouts: PlacedLayouts) -> int:
    """Return the slots of a CTA's part of a buffer, or of several, without padding."""
    placed = layouts.of(ir_type)
    split = 1
    if isinstance(placed, PlacedLayout):
        split <<= sum(1 for vector in placed.layout.vectors("block") if any(vector))
    # Where two values of 4 bits are in a byte, memory holds each of them in a byte of its own.
    return prod(ir_type.shape) // split << bool(getattr(encoding, "fp4_padded", False))


# -- memory of a function --------------------------------------------------------------------------


class AllocationKind(TextEnum):
    """Purpose of a piece of shared memory, in the order of placement of equal sizes."""

    BUFFER = "buffer"
    """Buffer of the program."""
    WARPS = "warps"
    """A byte for each warp of specialised partitions."""
    SCRATCH = "scratch"
    """Scratch of an operation."""
    CALL = "call"
    """Shared memory of a called function."""


class Allocation(NamedTuple):
    """A piece of shared memory.

    Attributes:
        kind: its purpose.
        operation: name of the operation that needs it; None for the whole function.
        value: value that holds it; None for scratch.
        line: line of the operation.
        bytes: its size; None where that is not known.
        alignment: alignment of its offset, in bytes.
        live: half-open interval of the numbers of operations during which it is live.
        first_line, last_line: lines of that interval.
        offset: its first byte; None where that is not known.
        is_everywhere: whether it is live throughout the function.
    """

    kind: AllocationKind
    operation: str | None
    value: str | None
    line: int
    bytes: int | None
    alignment: int
    live: Interval = (0, 0)
    first_line: int = 0
    last_line: int = 0
    offset: int | None = None
    is_everywhere: bool = False


class SharedMemory(NamedTuple):
    """Shared memory of a function.

    Attributes:
        function: its name.
        allocations: its allocations, in the order of the text.
        bytes: bytes up to the last one in use; None where a size is not known.
        is_called: whether another function calls it, whose shared memory includes this one's.
        line: line on which the function begins.
        stated: bytes of a CTA that the module states; None where it does not.
        limit: the most bytes of a CTA; None where that is not known.
        limit_note: note on the GPU's shared memory where the limit is not known.
    """

    function: str
    allocations: tuple[Allocation, ...]
    bytes: int | None
    is_called: bool
    line: int
    stated: int | None = None
    limit: int | None = None
    limit_note: str = ""

    @property
    def refusal(self) -> str | None:
        """Why the kernel cannot be launched; None where it can."""
        needed = self.stated if self.stated is not None else self.bytes
        if needed is None or self.limit is None or needed <= self.limit:
            return None
        return f"takes {needed} bytes of shared memory, but a CTA may have {self.limit}"


def shared_memory(
    functions: Sequence[Function],
    layouts: PlacedLayouts,
    target: Target,
    *,
    warps: int = 4,
    rules: Rules = UPSTREAM,
    dispatches_by_warp: bool = False,
) -> list[SharedMemory]:
    """Return the shared memory of the functions that have any.

    Args:
        functions: all functions of a module.
        layouts: placed layouts of its types.
        target: the GPU.
        warps: warps of a CTA.
        rules: rules that extend lives beyond the last use.
        dispatches_by_warp: whether specialised warps are dispatched without shared memory.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... #s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
        ... tt.func @f() {
        ...   %0 = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>
        ...   tt.return
        ... }''')
        >>> [found] = shared_memory(read_functions(module), PlacedLayouts(), find_target("sm90"))
        >>> found.bytes, [(a.value, a.bytes, a.offset, a.live) for a in found.allocations]
        (256, [('%0', 256, 0, (0, 1))])
    """
    allocator = _Allocator(functions, layouts, target, warps, rules, dispatches_by_warp)
    memories = [allocator.of(function) for function in functions]
    return [memory for memory in memories if memory.allocations]


class _Allocator:
    """The functions of a module, each allocated after those that it calls."""

    def __init__(
        self,
        functions: Sequence[Function],
        layouts: PlacedLayouts,
        target: Target,
        warps: int,
        rules: Rules,
        dispatches_by_warp: bool,
    ) -> None:
        self._functions = {function.name: function for function in functions}
        self._layouts, self._target = layouts, target
        self._warps, self._rules = warps, rules
        self._dispatches_by_warp = dispatches_by_warp
        self._known: dict[str, SharedMemory] = {}
        self._callees = {
            function.name: [_callee(o) for o in function.chosen(_is_call)] for function in functions
        }
        self._called = {name for callees in self._callees.values() for name in callees}

    def of(self, function: Function) -> SharedMemory:
        for name in self._callees_first(function.name):
            needed = self._functions[name]
            placed = self._placed(list(self._needs(needed)))
            is_called = name in self._called
            self._known[name] = SharedMemory(name, placed, _extent(placed), is_called, needed.line)
        return self._known[function.name]

    def _callees_first(self, name: str) -> Iterator[str]:
        """Yield functions that are not placed yet, callees first, the function itself last."""
        pending = [] if name in self._known else [(name, iter(self._callees[name]))]
        seen = {name}
        while pending:
            name, callees = pending[-1]
            known = self._known
            new = (c for c in callees if c in self._callees and c not in seen and c not in known)
            callee = next(new, None)
            if callee is None:
                yield name
                pending.pop()
            else:
                seen.add(callee)
                pending.append((callee, iter(self._callees[callee])))

    def _placed(self, needs: list[_Need]) -> tuple[Allocation, ...]:
        """Return the allocations with their offsets, in the order of the text."""
        allocations = [need.allocation for need in needs]
        sizes = [allocation.bytes for allocation in allocations]
        stated = [size for size in sizes if size is not None and size < MAX_BYTES]
        if len(stated) == len(sizes) <= MAX_BUFFERS:
            kinds = list(AllocationKind)
            order = sorted(range(len(needs)), key=lambda k: kinds.index(allocations[k].kind))
            buffers = tuple(needs[k].buffer() for k in order)
            offsets = place_buffers(buffers, self._target.shared_partition_bytes)
            for k, offset in zip(order, offsets):
                allocations[k] = allocations[k]._replace(offset=offset)
        return tuple(allocations)

    def _needs(self, function: Function) -> Iterator[_Need]:
        """Yield the needs of a function, in the compiler's order."""
        if not any(map(self._may_need, function.chosen(_may_need_memory))):
            return
        numbering = function.once("numbering", Numbering)
        lines = OperationLines(numbering)
        regions: dict[Region, int] = {}
        yield from self._warp_indices(function, numbering, lines)
        needing = [o for o in function.chosen(_may_need_memory) if self._may_need(o)]
        allocating = [o for o in needing if o.traits.allocates and o.results]
        live = _known_lives(numbering, allocating, self._rules)
        around = Surroundings(function, self._layouts, self._target, self._warps)
        for operation in needing:
            region = _concurrent(operation, numbering, regions)
            if operation.traits.allocates:
                if operation.results and operation.results[0] in live:
                    interval = live[operation.results[0]]
                    pieces = self._pieces(operation, function)
                    yield from (need.at(interval, lines, region) for need in pieces)
                continue
            need = self._own_need(operation, around)
            if need is not None:
                number = numbering.number(operation)
                interval = (number, number + 1)
                if operation.traits.partitions and self._rules.keeps_captures:
                    interval = (0, numbering.size)
                yield need.at(interval, lines, region)

    def _may_need(self, operation: Operation) -> bool:
        """Tell whether an operation of a kind that may need shared memory does."""
        return not operation.traits.call or self._size_of(_callee(operation)) != 0

    def _warp_indices(
        self, function: Function, numbering: Numbering, lines: OperationLines
    ) -> Iterator[_Need]:
        """Yield the bytes by which the warps of partitions are dispatched."""
        if self._dispatches_by_warp:
            return
        counts = [
            sum(integers(operation.attributes.get("partitionNumWarps")))
            for operation in function.chosen(_has_partitions)
        ]
        if any(counts):
            size = -(-max(counts) // WARP_GROUP) * WARP_GROUP
            indices = Allocation(
                AllocationKind.WARPS, None, None, function.line, size, INDEX_ALIGNMENT
            )
            yield _Need(indices).at((0, numbering.size), lines, None)

    def _pieces(self, operation: Operation, function: Function) -> list[_Need]:
        """Return a need for each memory partition of an allocation."""
        piece = allocated(operation, function, self._layouts) or BufferSize(None, 1)
        name, value = operation.name, operation.results[0].name
        kind, line = AllocationKind.BUFFER, operation.line
        allocation = Allocation(kind, name, value, line, piece.bytes, piece.alignment)
        return [_Need(allocation, tensor=operation.position)] * piece.partitions

    def _own_need(self, operation: Operation, around: Surroundings) -> _Need | None:
        """Return the need of an operation while it runs."""
        name, line = operation.name, operation.line
        if operation.traits.call:
            size = self._size_of(_callee(operation))
            kind, alignment = AllocationKind.CALL, SCRATCH_ALIGNMENT
        else:
            size = scratch_bytes(operation, around)
            kind = AllocationKind.SCRATCH
            alignment = CAPTURE_ALIGNMENT if operation.traits.partitions else SCRATCH_ALIGNMENT
        return _Need(Allocation(kind, name, None, line, size, alignment)) if size != 0 else None

    def _size_of(self, callee: str) -> int | None:
        """Return the bytes of a callee; None if it is not placed, as in a recursion."""
        if callee not in self._functions:
            return 0
        return self._known[callee].bytes if callee in self._known else None


class _Need(NamedTuple):
    """An allocation without its offset, and the inputs of its placement."""

    allocation: Allocation
    concurrent: tuple[int, int] | None = None
    tensor: int | None = None

    def at(self, live: Interval, lines: OperationLines, region: tuple[int, int] | None) -> _Need:
        """Return the need with a live interval."""
        allocation = self.allocation._replace(
            live=live,
            first_line=lines.first(live),
            last_line=lines.last(live),
            is_everywhere=lines.are_all(live),
        )
        return self._replace(allocation=allocation, concurrent=region)

    def buffer(self) -> Buffer:
        allocation = self.allocation
        assert allocation.bytes is not None, "only known sizes are placed"
        live = (0, FOREVER) if allocation.kind is AllocationKind.WARPS else allocation.live
        return Buffer(allocation.bytes, allocation.alignment, live, self.concurrent, self.tensor)


def _extent(allocations: Sequence[Allocation]) -> int | None:
    """Return the end of the last allocation; None where one has no offset."""
    ends = [a.offset + a.bytes for a in allocations if a.offset is not None and a.bytes is not None]
    return max(ends, default=0) if len(ends) == len(allocations) else None


class OperationLines:
    """The lines of numbered operations."""

    def __init__(self, numbering: Numbering) -> None:
        line = numbering.function.line
        self._lines = [line] * numbering.size
        for operation in numbering.operations:
            self._lines[numbering.number(operation)] = operation.line

    def first(self, live: Interval) -> int:
        """Return the first line of the operations of an interval."""
        return min(self._lines[slice(*live)])

    def last(self, live: Interval) -> int:
        """Return the last line of the operations of an interval."""
        return max(self._lines[slice(*live)])

    def are_all(self, live: Interval) -> bool:
        """Tell whether an interval includes all operations."""
        return live == (0, len(self._lines))


def _known_lives(
    numbering: Numbering, allocating: Sequence[Operation], rules: Rules
) -> Mapping[Value, Interval]:
    """Return `_lives`, computed once for functions that differ only in names and constants."""
    alike = numbering.function.alike
    if alike is None:
        return _lives(numbering, allocating, rules)
    key, values = ("lives of buffers", rules), [*numbering.function.values.values()]
    numbered: Sequence[tuple[int, Interval]] | None = alike.structure.get(key)
    if numbered is None:
        numbers = {value: number for number, value in enumerate(values)}
        lives = _lives(numbering, allocating, rules)
        numbered = alike.structure[key] = [(numbers[value], live) for value, live in lives.items()]
    return {values[number]: live for number, live in numbered}


def _lives(
    numbering: Numbering, allocating: Sequence[Operation], rules: Rules
) -> dict[Value, Interval]:
    """Return the live interval of each buffer, by the allocation's result."""
    liveness = Liveness(numbering, rules)
    lives: dict[Value, Interval] = {}
    for value, roots in aliases(numbering, allocating).items():
        interval = liveness.interval(value)
        if interval is None:
            continue
        for root in roots:
            old = lives.get(root, interval)
            lives[root] = min(old[0], interval[0]), max(old[1], interval[1])
    return lives


def _concurrent(
    operation: Operation, numbering: Numbering, regions: dict[Region, int]
) -> tuple[int, int] | None:
    """Return the numbers of the warp-specialising operation around one, and of its region."""
    around = operation.around
    for region in around:
        if region.owner is not None and region.owner.traits.partitions:
            number = regions.setdefault(around[0], len(regions))
            return numbering.number(region.owner), number
    return None


def _is_call(operation: Operation) -> bool:
    return operation.traits.call


def _has_partitions(operation: Operation) -> bool:
    return operation.traits.partitions


def _may_need_memory(operation: Operation) -> bool:
    """Tell whether an operation is of a kind that may need shared memory."""
    traits = operation.traits
    return traits.call or traits.allocates or operation.name.rpartition(".")[2] in RULES


def _callee(operation: Operation) -> str:
    return str(operation.attributes.get("callee"))
