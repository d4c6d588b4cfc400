"""From where to where each value of a function takes registers, and how many.

Operations are counted in the order of the text, an operation with regions at its beginning and at
its end.  A value takes registers from behind the operation that defines it up to its last use, so
that what dies in an operation gives its registers to the results: the accumulator of a dot to the
sum, a tensor to what it is converted to.  What comes from outside of a loop is live to the loop's
end.

No registers are counted for

- constants and what is computed from ranges, program ids and arguments alone: addresses and
  indices, which the compilers keep as a base and constant offsets;
- masks (``i1``), which are in predicates or scalar registers;
- what only renames registers: broadcasts, transpositions, reshapes.

Source:
    The rules were fitted to what ptxas and LLVM report of kernels compiled by Triton 3.9; see
    docs/registers.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tt_layout.ir.ssa import Region, SsaOperation, Value
from tt_layout.ir.ssa.control_flow import LOOPS, ways

SPECIALIZED = "ttg.warp_specialize"

_RENAMING = frozenset({"tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans"})
"""Operations whose result is in the registers of their operand."""

_ELEMENTWISE = (
    *("arith.", "math.", "tt.addptr", "tt.bitcast", "tt.broadcast", "tt.clampf", "tt.expand_dims"),
    *("tt.extern_elementwise", "tt.fp_to_fp", "tt.int_to_ptr", "tt.join", "tt.make_range"),
    *("tt.mulhiui", "tt.precise", "tt.ptr_to_int", "tt.reshape", "tt.splat", "tt.split"),
    *("tt.trans", "tt.elementwise_inline_asm", "tt.get_", "tt.cat", "tt.unsplat"),
)
"""How operations begin whose results are computed element by element."""

_PASSING = (
    *("tt.load", "tt.store", "amdg.buffer_load", "amdg.buffer_store", "scf.yield"),
    *("ttg.memdesc", "ttg.async_commit"),
)
"""How other operations begin that elements flow through one by one."""

_FROM_INDICES = ("arith.sitofp", "arith.uitofp")
"""How indices become numbers that are kept."""

_LOADS = frozenset({"tt.load", "amdg.buffer_load"})


class LiveRange(NamedTuple):
    """A value that takes registers.

    Attributes:
        name: of the value.
        begin: the number of the operation that defines it.
        end: the number of the operation that uses it last.
        words: registers of 32 bits that each thread needs for it.
        is_passing: whether its elements may be used up one after the other, as they come: of an
            elementwise operation whose result goes into others of the kind before anything
            needs the whole tensor.
    """

    name: str
    begin: int
    end: int
    words: int
    is_passing: bool


class LiveRanges(NamedTuple):
    """What is live in a body: that of a function, or of a partition of warps.

    Attributes:
        ranges: of the values that take registers.
        lines: the line of each number.
        partitions: the operations that specialise warps, in the order of the text.
    """

    ranges: tuple[LiveRange, ...]
    lines: tuple[int, ...]
    partitions: tuple[SsaOperation, ...]


def live_ranges(
    body: Region,
    words_of: Callable[[Value], int],
    *,
    keeps_scanned: bool,
    sinking: frozenset[str] = frozenset(),
) -> LiveRanges:
    """Return what takes registers in a body.

    Args:
        body: the blocks of a function or of a partition.
        words_of: the registers of a value, if it takes any.
        keeps_scanned: whether what is scanned is needed beside the result, as it is if several
            warps are.
        sinking: operations without operands in registers that the compiler moves down to the
            first use of their result.
    """
    walk = _Walk(keeps_scanned, sinking)
    walk.enter(body)
    return LiveRanges(tuple(walk.ranges(words_of)), tuple(walk.lines), tuple(walk.partitions))


class _Walk:
    """The operations of a body, counted."""

    def __init__(self, keeps_scanned: bool, sinking: frozenset[str]) -> None:
        self.lines: list[int] = [0]
        self._sinking = sinking
        self.partitions: list[SsaOperation] = []
        self._keeps_scanned = keeps_scanned
        self._values: dict[str, Value] = {}
        self._begins: dict[str, int] = {}
        self._homes: dict[str, tuple[int, ...]] = {}
        self._makers: dict[str, tuple[str, int]] = {}
        self._uses: list[tuple[str, int, tuple[int, ...]]] = []
        self._renamed: dict[str, str] = {}
        self._loops: tuple[int, ...] = ()
        self._loop_ends: dict[int, int] = {}
        self._stretch = 0
        self._stretches: dict[int, int] = {}
        self._edges: dict[str, list[str]] = {}
        self._kept: list[str] = []
        self._sinkable: list[tuple[SsaOperation, int]] = []

    def enter(self, region: Region) -> None:
        for block in region:
            for operation in block.operations:
                self._visit(operation)

    def _visit(self, operation: SsaOperation) -> None:
        name = operation.name
        is_elementwise = name.startswith(_ELEMENTWISE)
        is_barrier = not is_elementwise and not name.startswith(_PASSING)
        self._stretch += is_barrier
        number = self._count(operation.line)
        self._stretches[number] = self._stretch
        last = number + (self._keeps_scanned and name == "tt.scan")
        used = operation.operands if not self._renames(operation) else operation.operands[1:]
        self._uses += [(name, last, self._loops) for name in used]
        if name == SPECIALIZED:
            self.partitions.append(operation)
        if operation.regions and (name.startswith("scf.") or name == SPECIALIZED):
            self._enter_regions(operation)
        self._define_results(operation, number, is_elementwise)
        self._stretch += is_barrier

    def _renames(self, operation: SsaOperation) -> bool:
        """Tell whether an operation needs nothing: its users need its operand."""
        is_renaming = operation.name in _RENAMING and operation.results and operation.operands
        # What is defined before: names form no circle.
        return bool(is_renaming) and operation.operands[0] in self._begins

    def _define_results(self, operation: SsaOperation, number: int, is_elementwise: bool) -> None:
        name = operation.name
        if self._renames(operation):
            self._renamed[operation.results[0].name] = self._root(operation.operands[0])
        for value in operation.results:
            self._define(value, name)
        if is_elementwise and not name.startswith(_FROM_INDICES):
            if name != "tt.splat":
                self._relate(operation.operands, operation.results)
        elif not name.startswith("scf.") and name != SPECIALIZED:
            self._kept += [value.name for value in operation.results]
        if operation.results and (name in self._sinking or is_elementwise):
            self._sinkable.append((operation, number))

    def _enter_regions(self, operation: SsaOperation) -> None:
        outer = self._loops
        if operation.name in LOOPS:
            self._loops = (*outer, id(operation))
        regions = operation.regions[:1] if operation.name == SPECIALIZED else operation.regions
        for region in regions:
            for block in region:
                for argument in block.arguments:
                    self._define(argument, operation.name)
            self.enter(region)
        end = self._count(operation.line)
        self._loop_ends[id(operation)] = end
        self._loops = outer
        self._stretch += 1
        for way in ways(operation):
            for passed, received in zip(way.passed, way.received):
                self._relate((passed,), (received,))

    def _count(self, line: int) -> int:
        self.lines.append(line)
        return len(self.lines) - 1

    def _define(self, value: Value, maker: str) -> None:
        self._values[value.name] = value
        self._begins[value.name] = len(self.lines) - 1
        self._homes[value.name] = self._loops
        self._makers[value.name] = maker, self._stretch

    def _relate(self, passed: Sequence[str], received: Sequence[Value]) -> None:
        """Note that values are as much data as what they are computed from."""
        names = [value.name for value in received]
        for name in passed:
            self._edges.setdefault(name, []).extend(names)

    def ranges(self, words_of: Callable[[Value], int]) -> Iterator[LiveRange]:
        """Yield the live ranges of the values that take registers."""
        ends, data = self._ends(), self._data()
        begins = self._sunk(ends, data, words_of)
        for name, value in self._values.items():
            begin, end = begins[name], ends.get(name, 0)
            if end <= begin or name not in data or name in self._renamed:
                continue
            words = words_of(value)
            if words:
                yield LiveRange(name, begin, end, words, self._is_passing(name, end))

    def _data(self) -> set[str]:
        """Return the values that depend on more than indices."""
        found, pending = set(self._kept), [*self._kept]
        while pending:
            for name in self._edges.get(pending.pop(), ()):
                if name not in found:
                    found.add(name)
                    pending.append(name)
        return found

    def _ends(self) -> dict[str, int]:
        """Return the number of the last operation that needs each value."""
        ends: dict[str, int] = {}
        for used, number, loops in self._uses:
            name = self._root(used)
            home = self._homes.get(name, ())
            # Beyond the loops that both are in, the value is needed in every iteration.
            for loop in loops[len(home) :][:1]:
                number = self._loop_ends[loop]
            if number > ends.get(name, 0):
                ends[name] = number
        return ends

    def _sunk(
        self, ends: dict[str, int], data: set[str], words_of: Callable[[Value], int]
    ) -> dict[str, int]:
        """Return where each value begins, moved down to its first use where that saves registers.

        It does where one operand at most has to live longer for it, and takes no more registers.
        """
        begins = dict(self._begins)
        first = self._first_uses()
        for operation, number in reversed(self._sinkable):
            name = operation.results[0].name
            use = first.get(name)
            if use is None or use <= number or name in self._renamed:
                continue
            operands = {self._root(used) for used in operation.operands} & data
            if operation.name in self._sinking:
                operands = set()  # they are in memory by then
            if len(operands) > 1 or not words_of(operation.results[0]):
                continue
            for used in operands:
                value = self._values.get(used)
                if value is None or words_of(value) > words_of(operation.results[0]):
                    break
                ends[used] = max(ends.get(used, 0), use)
                first[used] = min(first.get(used, use), use) if first.get(used) != number else use
            else:
                begins[name] = use - (operation.name in self._sinking)
        return begins

    def _first_uses(self) -> dict[str, int]:
        """Return the number of the first operation that needs each value, in its own loop."""
        found: dict[str, int] = {}
        for used, number, loops in self._uses:
            name = self._root(used)
            if loops != self._homes.get(name):
                number = 0
            found[name] = min(found.get(name, number), number)
        return found

    def _root(self, name: str) -> str:
        return self._renamed.get(name, name)

    def _is_passing(self, name: str, end: int) -> bool:
        maker, stretch = self._makers[name]
        last = self._stretches.get(end)
        return maker.startswith(_ELEMENTWISE) and last is not None and last - stretch in (0, 1)
