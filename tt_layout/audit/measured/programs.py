"""Data movements of a kernel over all programs of a launch, as ptxas compiles them.

A warp without an active lane in the last store of a program ends before it, and branches around an
atomic whose result nobody takes.  What only that instruction needs is loaded from shared memory
behind the branch.

In kernels for sm90 that have asynchronous copies, ptxas adds loads from shared memory that no lane
executes: three before the first copy behind a barrier, or the first of a block, and one before each
fence of asynchronous accesses, which has the three, too, if no copy had them since the barrier.
The compiler puts a barrier where an operation touches a buffer that was written since the last
one, or writes one that was touched, and around operations that need scratch memory or wait for all
threads.

Source:
    The assembly of ptxas for sm90 in the wheel 3.6; counters of an H100 and an H200. Of barriers:
    Triton, lib/Analysis/Membar.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import log2
from tt_layout.analyses.conversion.conversion import without_replication
from tt_layout.analyses.conversion.scratch import buffer
from tt_layout.audit.allocation.scratch import Surroundings, scratch_bytes
from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.global_memory.cost import WholeAccess, whole_access
from tt_layout.audit.measured.counters import ASKED, MeasuredLaunch
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.suggestions.flow import is_elementwise, is_free
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.executions import Executions, executions, run_count
from tt_layout.audit.values.given import GivenValues, program_counts
from tt_layout.audit.values.kinds import MAX_PARTS
from tt_layout.audit.values.paths import greatest_on_a_way
from tt_layout.audit.values.spread import SplitError, partition
from tt_layout.audit.values.structure import Structure
from tt_layout.audit.values.unknown import Unknown, UnknownError
from tt_layout.errors import LayoutError
from tt_layout.hardware import find_target
from tt_layout.ir.ssa import Block, Function, Operation, Value
from tt_layout.lazy import lazy
from tt_layout.mlir.types import element_bits
from tt_layout.tuples import NamedTuple

_ATOMICS = ("atomic_rmw", "atomic_cas")

COPY = "ttg.async_copy_global_to_local"
FENCE = "fence_async_shared"

BEHIND_BARRIER, OF_FENCE = 3, 1

NeedsScratch = Callable[[Operation], bool]

NO_LANE_TARGETS = frozenset({"sm90"})
"""GPUs whose assembler puts loads that no lane executes before copies, as far as was looked at."""

MAX_PROGRAMS = 1 << 20
"""Programs of a launch that are looked at."""

Answer = TypeVar("Answer")


# -- idle warps ------------------------------------------------------------------------------------


class IdleWarps:
    """The warps of a kernel that have nothing to store.

    Args:
        audited: the module.
        function: the kernel.
        grid: the programs of a launch; None where they are not known.
        access_of: answers with an access to global memory; None where it is not known.
        needs_scratch: tells whether threads wait for each other in an operation.
    """

    def __init__(
        self,
        audited: AuditedModule,
        function: Function,
        grid: LaunchGrid | None,
        access_of: Callable[[Operation], WholeAccess | None],
        needs_scratch: Callable[[Operation], bool],
    ) -> None:
        self._audited, self._function, self._grid = audited, function, grid
        self._access_of, self._needs_scratch = access_of, needs_scratch

    def before_store(self, store: Operation) -> int:
        """Return how many warps of all programs end before a last store; 0 of other accesses."""
        access = self._access_of(store) if store in self._last_stores else None
        if access is None or self._grid is None:
            return 0
        try:
            return sum(count * idle for count, idle in self._grid.answers(access.idle))
        except UnknownError:
            return 0

    def behind(self, full: FullOperation, result: int, loads: int, runs: float) -> float:
        """Return the number of a result's loads that are skipped by a branch of idle warps.

        Args:
            full: an operation that hands its results on in shared memory.
            result: the number of the result.
            loads: instructions that load it, of each warp.
            runs: runs of the operation in all programs.
        """
        if full.operation.name == "tt.scan":
            return 0  # whose loads are for a choice, which is before the branch
        last = self._only_user(full.operation.results[result])
        if last is None or self._waits_between(full.operation, last):
            return 0
        if last.name.rpartition(".")[2] in _ATOMICS:
            return runs * self._repeating_warps(last) * loads
        access = self._access_of(last) if full.operation.parent is None else None
        if access is None:
            return 0
        turn, rest = divmod(loads, access.placed.width.instructions)
        if rest or (turn < loads and not self._is_in_order(full.operation, loads)):
            return 0
        return self.before_store(last) * turn

    def _only_user(self, value: Value) -> Operation | None:
        """Return the one operation that needs a value, or that and constants; None if more do.

        What is computed with another value, or in several steps (a logarithm), is loaded before
        the branch.
        """
        while len(value.uses) == 1:
            [(operation, _)] = value.uses
            if not _is_behind_branch(operation):
                return operation
            operations = [v.definition for v in operation.operands if v is not value]
            if any(producer is None or not producer.traits.constant for producer in operations):
                return None
            value = operation.results[0]
        return None

    def _is_in_order(self, operation: Operation, loads: int) -> bool:
        """Tell whether each load is to adjacent registers, like those of a store."""
        if not operation.name.endswith("convert_layout"):
            return operation.name == "tt.reduce"
        audited, value = self._audited, operation.results[0]
        types = [self._function.type_of(v) for v in (operation.operands[0], value)]
        src, dst = (audited.layouts.linear(ir_type) for ir_type in types)
        bits = element_bits(value.type.element)
        if src is None or dst is None or bits is None or audited.gpu is None:
            return False
        memory = buffer(src, dst, max(8, bits), find_target(audited.gpu))
        vectors = without_replication(dst).vectors("register")
        together = log2(max(1, (1 << len(vectors)) // loads))
        places = [memory.location(dst.flatten(vector)) for vector in vectors[:together]]
        return all(
            (offset, in_round) == (1 << bit, 0) for bit, (offset, in_round, _) in enumerate(places)
        )

    def _repeating_warps(self, atomic: Operation) -> int:
        """Return the number of a program's warps that repeat elements of others in an atomic."""
        if any(value.uses for value in atomic.results) or len(atomic.operands) < 2:
            return 0
        warps = self._audited.module.number("num-warps") or 1
        ir_type = self._function.type_of(atomic.operands[1])
        layout = self._audited.layouts.linear(ir_type)
        if layout is None:
            return warps - 1  # a single number
        return warps - (1 << sum(1 for vector in layout.vectors("warp") if any(vector)))

    def _waits_between(self, first: Operation, last: Operation) -> bool:
        """Tell whether threads wait for each other between two operations, or may."""
        if first.block is None or first.block is not last.block:
            return True
        between = (o for o in first.block.operations if first.position < o.position < last.position)
        return any(o.regions or self._needs_scratch(o) for o in between)

    @lazy
    def _last_stores(self) -> frozenset[Operation]:
        """The stores after which a program does nothing more."""
        stores = (_last_store(block) for block in self._function.body)
        return frozenset(store for store in stores if store is not None)


def _is_behind_branch(operation: Operation) -> bool:
    """Tell whether ptxas sinks an operation, with its operands, below the branch."""
    traits = operation.traits
    is_short = operation.name == "math.sqrt" or not operation.name.startswith("math.")
    return traits.repeats or (traits.elementwise and is_short)


def _last_store(block: Block) -> Operation | None:
    """Return the store after which a block only returns; None without one."""
    *before, last = block.operations or (None,)
    if last is None or last.name.rpartition(".")[2] != "return":
        return None
    for operation in reversed(before):
        assert operation is not None
        if operation.name == "tt.store":
            return operation
        if not is_elementwise(operation) and not is_free(operation):
            return None
    return None


# -- loads of no lane ------------------------------------------------------------------------------


class NoLaneLoads(NamedTuple):
    """Loads that no lane executes.

    Attributes:
        operation: the operation after the loads.
        number: loads that each warp issues.
    """

    operation: Operation
    number: int


def no_lane_loads(function: Function, needs_scratch: NeedsScratch) -> list[NoLaneLoads]:
    """Return the loads that no lane executes.

    Args:
        function: a kernel.
        needs_scratch: tells whether an operation exchanges something in shared memory.
    """
    if not any(operation.name == COPY for operation in function.walk()):
        return []
    inside = {
        block
        for operation in function.walk()
        if operation.traits.loop
        for region in operation.regions
        for block in region
    }
    loads: list[NoLaneLoads] = []
    for block in function.blocks():
        loads += _Barriers(function, needs_scratch).loads(block, again=block in inside)
    return loads


class _Barriers:
    """Which buffers were touched since the last barrier."""

    def __init__(self, function: Function, needs_scratch: NeedsScratch) -> None:
        self._function = function
        self._needs_scratch = needs_scratch
        self._read: set[Value] = set()
        self._written: set[Value] = set()

    def loads(self, block: Block, *, again: bool) -> list[NoLaneLoads]:
        """Return the loads of a block; of its second run, if it runs again and again."""
        loads: list[NoLaneLoads] = []
        for _ in range(1 + again):
            is_first, loads = True, []
            for operation in block.operations:
                is_first = self._waits(operation) or is_first
                is_fence = operation.name.rpartition(".")[2] == FENCE
                if operation.name == COPY or is_fence:
                    number = OF_FENCE * is_fence + BEHIND_BARRIER * is_first
                    loads += [NoLaneLoads(operation, number)] if number else []
                    is_first = False
        return loads

    def _waits(self, operation: Operation) -> bool:
        """Note the buffers of an operation; tell whether there is a barrier before or after it."""
        traits = operation.traits
        writes = traits.shared_write and bool(operation.operands)
        waits = bool(operation.regions) and operation.name != "tt.reduce"
        if waits or traits.synchronizes or self._needs_scratch(operation):
            self._read, self._written = set(), set()
            return True
        if not writes and not (traits.shared_read or traits.multiplies):
            return False
        buffers = set(self._buffers(operation))
        touches = bool(buffers & (self._written | self._read if writes else self._written))
        if touches:
            self._read, self._written = set(), set()
        (self._written if writes else self._read).update(buffers)
        return touches

    def _buffers(self, operation: Operation) -> Iterator[Value]:
        """Yield the allocations that an operation touches, by the values that hold them."""
        for value in (*operation.operands, *operation.results):
            while value.type.is_memory:
                definition = value.definition
                is_whole = definition is None or definition.traits.allocates
                if definition is None or is_whole or not definition.operands:
                    if value.is_defined:
                        yield value
                    break
                value = definition.operands[0]


# -- movements of all programs ---------------------------------------------------------------------


class Amount(NamedTuple):
    """A sum over all programs.

    Attributes:
        number: the sum; None where it is not known.
        reason: why it is not known, or uncertain.
        is_bound: whether it is an upper bound, with undecided branches and masks taken.
    """

    number: float | None
    reason: str = ""
    is_bound: bool = False

    def times(self, factor: float) -> Amount:
        """Return the product with a factor; 0 times an unknown amount is 0."""
        if not factor:
            return Amount(0)
        return self._replace(number=None if self.number is None else self.number * factor)

    def less(self, number: float) -> Amount:
        """Return the amount less a number."""
        return self._replace(number=None if self.number is None else self.number - number)


class Programs:
    """The programs of a launch.

    Attributes:
        audited: the module.
        kernel: the name of the kernel.
        number: number of programs; None where it is not known.
        reason: why the number is not known.
        grid: the grid; None where its axes are not known.
    """

    def __init__(self, audit: Audit, launch: MeasuredLaunch, kernel: str) -> None:
        self.audited = audit.audited
        self.kernel = kernel
        self.number, self.reason = _number(audit, launch)
        sizes = self._sizes(launch) if self.number is not None else None
        self.grid: LaunchGrid | None = None
        if sizes is not None and self.function is not None:
            self.grid = LaunchGrid(self.function, self.audited.given, sizes, self.audited.layouts)

    @lazy
    def function(self) -> Function | None:
        """The kernel."""
        return self.audited.functions_by_name.get(self.kernel)

    def _sizes(self, launch: MeasuredLaunch) -> tuple[int, int, int] | None:
        """Return the grid; one of x alone where nothing but its size is known, nor asked for."""
        if launch.grid is not None or self.function is None or self.number is None:
            return launch.grid
        asked = (o.integer("axis") for o in self.function.walk() if o.traits.by_program)
        return None if any(asked) else (self.number, 1, 1)

    def block_of(self, full: FullOperation | None) -> str:
        """Return the label of the kernel's block that an operation is in; empty if it has one."""
        if full is None or full.function is not self.function:
            return ""
        outermost = full.operation.ancestor_in(self.function.body)
        block = outermost.block if outermost is not None else None
        return block.label if block is not None and len(block.region) > 1 else ""

    def greatest(self, numbers: Mapping[str, float]) -> float:
        """Return the greatest sum of numbers of blocks that some way through the kernel has."""
        if self.function is None or len(self.function.body) < 2:
            return sum(numbers.values())
        return greatest_on_a_way(self.function.body, numbers)

    @lazy
    def _idle_warps(self) -> IdleWarps | None:
        if self.function is None:
            return None
        return IdleWarps(
            self.audited, self.function, self.grid, self._access_of, self._needs_scratch
        )

    def _needs_scratch(self, operation: Operation) -> bool:
        """Tell whether an operation exchanges something in shared memory, or may."""
        around = self._surroundings
        return around is None or scratch_bytes(operation, around) != 0

    @lazy
    def _surroundings(self) -> Surroundings | None:
        audited, function = self.audited, self.function
        if function is None or audited.gpu is None:
            return None
        warps = audited.module.number("num-warps") or 1
        target = find_target(audited.gpu)
        return Surroundings(function, audited.layouts, target, warps)

    def idle(self, row: MovementRow) -> int:
        """Return how many warps of all programs end before a last store; 0 of other accesses."""
        full = self.full(row)
        if full is None or self._idle_warps is None:
            return 0
        return self._idle_warps.before_store(full.operation)

    def idle_behind(self, row: MovementRow, result: int, loads: int, runs: Amount) -> float:
        """Return the number of a result's loads that are skipped by a branch of idle warps."""
        full = self.full(row)
        if (
            full is None
            or self._idle_warps is None
            or not 0 <= result < len(full.operation.results)
        ):
            return 0
        return self._idle_warps.behind(full, result, loads, runs.number or 0)

    def no_lane_loads(self) -> Iterator[tuple[FullOperation, Amount]]:
        """Yield operations with the number of shared loads before each that no lane executes."""
        if self.function is None or self.audited.gpu not in NO_LANE_TARGETS:
            return
        warps = self.audited.module.number("num-warps") or 1
        without_lane = no_lane_loads(self.function, self._needs_scratch)
        numbers = {loads.operation: loads.number for loads in without_lane}
        for full in self.audited.operations if numbers else ():
            if (number := numbers.get(full.operation)) is not None:
                once = executions(self.audited.evaluator(self.function), full.operation)
                yield full, self.runs_of(full, once).times(number * warps)

    def runs(self, row: MovementRow) -> Amount:
        """Return how often a data movement runs, in all programs."""
        return self.runs_of(self.full(row), row.executions)

    def runs_of(self, full: FullOperation | None, runs: Executions) -> Amount:
        """Return how often an operation runs, in all programs.

        Args:
            full: the operation; None where it is in no function.
            runs: its executions in the first program.
        """
        if self.number is None:
            return Amount(None, self.reason)
        if self.grid is None or full is None:
            if runs.number is None:
                return Amount(None, f"it runs {runs.times}")
            return Amount(runs.number * self.number)
        try:
            answers = list(self.grid.answers(lambda e: run_count(e, full.operation)))
        except UnknownError as error:
            return Amount(None, _dependence(error.unknown))
        numbers = [answer.number for _, answer in answers]
        if None in numbers:
            return Amount(None, f"it runs {runs.times}")
        assumed = [unknown for _, answer in answers for unknown in answer.assumed]
        total = sum(number or 0 for number in numbers)
        return Amount(total, _joint_dependence(assumed), bool(assumed))

    def traffic(self, row: MovementRow) -> Mapping[str, Amount]:
        """Return the traffic of an access to global memory in all programs, by unit."""
        access = self._access(row)
        if self.number is None:
            return dict.fromkeys(ASKED, Amount(None, self.reason))
        if self.grid is None or access is None:
            return self._traffic_of_first_program(row, self.number)
        try:
            answers = list(self.grid.answers(access.traffic))
        except UnknownError as error:
            return dict.fromkeys(ASKED, Amount(None, _dependence(error.unknown)))
        amounts = {}
        for at, unit in enumerate(ASKED):
            numbers = [answer.counts[at] for _, answer in answers]
            unknown = [answer.unknown for _, answer in answers if answer.unknown is not None]
            assumed = [argument for _, answer in answers for argument in answer.assumed]
            if None in numbers:
                amounts[unit] = Amount(None, _joint_dependence(unknown))
            else:
                total = sum(number or 0 for number in numbers)
                amounts[unit] = Amount(total, _joint_dependence(assumed), bool(assumed))
        return amounts

    def written(self, row: MovementRow) -> Amount:
        """Return the wavefronts in which a copy enters shared memory, in all programs."""
        access = self._access(row)
        if self.number is None:
            return Amount(None, self.reason)
        details = _details(row)
        if self.grid is None or access is None:
            entry, runs = details.entry if details is not None else None, row.executions.number
            if entry is None or entry.wavefronts is None or runs is None:
                return Amount(None, _dependence_of_access(details))
            return Amount(entry.wavefronts * runs * self.number)
        try:
            answers = list(self.grid.answers(access.written))
        except UnknownError as error:
            return Amount(None, _dependence(error.unknown))
        if any(answer is None for _, answer in answers):
            return Amount(None, _dependence_of_access(details))
        return Amount(sum(answer or 0 for _, answer in answers))

    def _traffic_of_first_program(self, row: MovementRow, programs: int) -> Mapping[str, Amount]:
        details = _details(row)
        amounts = {}
        for unit in ASKED:
            number = getattr(details, f"total_{unit}", None)
            amount = Amount(number * programs) if number is not None else None
            amounts[unit] = amount or Amount(None, _dependence_of_access(details))
        return amounts

    def full(self, row: MovementRow) -> FullOperation | None:
        """Return a data movement with its attributes; None where it is in no function."""
        return self.audited.in_full(row.operation)

    def _access(self, row: MovementRow) -> WholeAccess | None:
        full = self.full(row)
        return self._access_of(full.operation) if full is not None else None

    def _access_of(self, operation: Operation) -> WholeAccess | None:
        if self.function is None:
            return None
        try:
            return whole_access(self.audited, FullOperation(self.function, operation))
        except LayoutError:
            return None


def _number(audit: Audit, launch: MeasuredLaunch) -> tuple[int | None, str]:
    """Return how many programs were launched, or why that is not known."""
    ctas = audit.module.number("num-ctas") or 1
    if ctas > 1:
        return None, f"programs of {ctas} CTAs were not measured"
    if launch.ctas is not None:
        return launch.ctas, ""
    if launch.warps is None:
        return None, "the number of programs is not known without launch__grid_size"
    warps = audit.module.number("total-num-warps") or audit.module.number("num-warps") or 1
    if launch.warps % warps:
        return None, f"{launch.warps:g} warps are no number of programs of {warps}"
    return round(launch.warps / warps), ""


def _dependence_of_access(details: GlobalDetails | None) -> str:
    """Return the inputs on which an access depends."""
    unknown = details.unknown if details is not None else ()
    return f"it depends on {', '.join(unknown[:3] or ('its addresses',))}"


def _details(row: MovementRow) -> GlobalDetails | None:
    """Return the details of an access to global memory; None for any other row."""
    details = row.cost.details if row.cost is not None else None
    return details if isinstance(details, GlobalDetails) else None


def _dependence(unknown: Unknown) -> str:
    names = [*sorted(unknown.names), *sorted(unknown.reasons)] or ["its addresses"]
    return f"it depends on {', '.join(names[:3])}"


def _joint_dependence(unknown: Iterable[Unknown]) -> str:
    merged = Unknown()
    for name in unknown:
        merged |= name
    return _dependence(merged) if merged != Unknown() else ""


# -- parts of a grid -------------------------------------------------------------------------------


class LaunchGrid:
    """The programs of a launch.

    Attributes:
        function: the function that they run.
        sizes: number of programs along each axis.

    Example:
        Of 64 programs with a causal loop, each has another number of iterations:

        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f() {
        ...   %c = arith.constant 0 : i32
        ...   %one = arith.constant 1 : i32
        ...   %x = tt.get_program_id x : i32
        ...   scf.for %i = %c to %x step %one : i32 {
        ...     ttg.barrier local
        ...   }
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> [loop] = [o for o in function.walk() if o.name == "scf.for"]
        >>> grid = LaunchGrid(function, GivenValues(), (64, 2, 1))
        >>> sum(count * trips for count, trips in grid.answers(lambda e: e.trip_count(loop)))
        4032
    """

    def __init__(
        self,
        function: Function,
        given: GivenValues,
        sizes: tuple[int, int, int],
        layouts: PlacedLayouts | None = None,
    ) -> None:
        self.function = function
        self.sizes = sizes
        self._given = GivenValues({**program_counts(sizes), **given.values})
        self._layouts = layouts or PlacedLayouts()
        self._evaluators: dict[bytes, Evaluator] = {}

    @property
    def programs(self) -> int:
        """Number of programs."""
        x, y, z = self.sizes
        return x * y * z

    @lazy
    def _structure(self) -> Structure:
        return Structure(self.function)

    def answers(self, question: Callable[[Evaluator], Answer]) -> Iterator[tuple[int, Answer]]:
        """Yield the answers to a question, and the number of programs of each.

        Raises:
            UnknownError: there are too many programs, or they differ in too many ways.
        """
        if self.programs > MAX_PROGRAMS:
            reason = f"{self.programs} programs, more than the {MAX_PROGRAMS} looked at"
            raise UnknownError(Unknown.because(reason))
        pending = [np.indices(self.sizes, np.int64).reshape(3, -1)]
        parts = 0
        while pending:
            ids = pending.pop()
            try:
                yield ids.shape[1], question(self._evaluator(ids))
            except SplitError as split:
                places = partition(split.keys)
                parts += len(places)
                if parts > MAX_PARTS:
                    reason = f"more than {MAX_PARTS} kinds of programs"
                    raise UnknownError(Unknown.because(reason)) from None
                pending += [ids[:, place] for place in reversed(places)]

    def _evaluator(self, ids: Ints) -> Evaluator:
        key = ids.tobytes()
        if key not in self._evaluators:
            evaluator = Evaluator(self.function, self._given, self._layouts, ids, self._structure)
            self._evaluators[key] = evaluator
        return self._evaluators[key]
