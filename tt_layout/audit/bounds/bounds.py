"""Times that a launch cannot beat: the demands of its programs, over the peak rates of the GPU.

A resource of a multiprocessor is busy for what the programs on it ask for.  The busiest has at
least ``ceil(programs / multiprocessors)`` of them.  Memory and the second-level cache serve all
together.  Without a number of programs a bound is that of one program of a full wave, in cycles
of a multiprocessor that has its share of memory to itself.  What the programs of a wave share is
in the addresses; where they do not say, or another grid would share more, memory may bind or not.
Known addresses tell which bytes programs touch, each once; of others it is known how many bytes a
program asks for, and on which axes of the grid they depend.

Read next:    `tt_layout.audit.bounds.work`, `tt_layout.hardware.product`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds.footprint import (
    Footprint,
    PointerTraffic,
    footprint,
    pointer_of,
)
from tt_layout.audit.bounds.sharing import NOBODY, ProgramSharing, Sharing, Wave
from tt_layout.audit.bounds.work import Counts, Work, program_work
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.global_memory.operands import FORMS, in_todays_form, operands
from tt_layout.audit.measured.counters import MeasuredLaunch
from tt_layout.audit.measured.programs import Programs
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.resources import occupancy_of
from tt_layout.audit.values.unknown import Unknown
from tt_layout.hardware.product import Product
from tt_layout.hardware.timing import Timing
from tt_layout.ir.data_movements import GLOBAL_CHANGES
from tt_layout.ir.ssa import Operation, Value, ValueType
from tt_layout.lazy import lazy
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

Grid = tuple[int, ...]

DRAM, L2, CONTENDED = "DRAM", "L2", "contended atomics"
"""Resources that all multiprocessors share."""


ADDITIONS = ("add", "fadd")
"""Kinds of atomics whose price was measured for tensors."""

EXCHANGES = ("exch", "max", "umax", "min", "umin")
"""Kinds that were measured for single integers: as many to an address in a cycle as additions."""


class Bound(NamedTuple):
    """A time that a launch, or a program, cannot beat.

    Attributes:
        resource: the busy resource: ``DRAM``, ``L2``, ``LSU``, ``tensor cores``, ``FMA``,
            ``special functions``, ``contended atomics``.
        cycles: cycles of a multiprocessor's clock.
        reason: the inputs of its computation.
    """

    resource: str
    cycles: float
    reason: str


@dataclass(frozen=True)
class KernelBounds:
    """Lower bounds of a kernel's launch.

    Attributes:
        rates: peak rates of the GPU, a product.
        programs: programs of the grid; None where it is not known.
        bounds: the bounds, the largest first.
        work: demand of one program.
        memory: DRAM traffic of all programs of the grid, or of the wave.
        wave: the programs assumed without a grid.
    """

    rates: Product
    programs: int | None
    bounds: tuple[Bound, ...]
    work: Work
    memory: DramTraffic
    wave: Wave | None = None

    @property
    def largest(self) -> Bound | None:
        """The resource that binds; None where the kernel asks for nothing that has a rate."""
        return self.bounds[0] if self.bounds and self.bounds[0].cycles > 0 else None

    @property
    def cycles(self) -> float:
        """The largest bound, in cycles; 0 where there is none."""
        return self.largest.cycles if self.largest is not None else 0

    @lazy
    def binding(self) -> Bound | None:
        """The resource that binds, whatever the grid is; None where that depends on the grid."""
        largest = self.largest
        if largest is None or self.wave is None or largest.resource != DRAM:
            return largest
        besides = (bound.cycles for bound in self.bounds if bound.resource != DRAM)
        if self._dram(self.memory.fewest) <= max(besides, default=0):
            return None
        certain = self.memory.certain / self.wave.ctas
        return _of_dram(certain, self.rates)

    def _dram(self, moved: float) -> float:
        """Return the cycles in which DRAM moves bytes of all programs; in a wave those of one."""
        share = self.wave.ctas if self.wave is not None else 1
        return moved / share / self.rates.dram_per_cycle

    @property
    def needed(self) -> float:
        """Cycles in which DRAM moves the bytes that lanes ask for, which no change reduces."""
        return self._dram(self.memory.used)

    @lazy
    def within(self) -> Bound | None:
        """The resource of a multiprocessor that binds a program; None where none is counted."""
        inside = (bound for bound in self.bounds if bound.resource not in (DRAM, L2, CONTENDED))
        return next((bound for bound in inside if bound.cycles > 0), None)

    @lazy
    def assumption(self) -> str:
        """The wave in words, where another number of programs may bind otherwise; else empty."""
        binding = self.binding
        if self.wave is None or binding is None:
            return ""
        return self.wave.text if self._dram(self.memory.unshared) >= binding.cycles else ""

    @property
    def programs_per_multiprocessor(self) -> float:
        """The mean over all multiprocessors; 1 without a grid."""
        return self.programs / self.rates.multiprocessors if self.programs is not None else 1

    @property
    def is_assumed(self) -> bool:
        """Whether it assumes trip counts or branches, so that it is an estimate and not a bound."""
        return self.work.assumed

    @property
    def assumes_trips(self) -> bool:
        """Whether loops of unknown length are among that, and not branches alone."""
        return self.work.assumes_trips

    def seconds(self, bound: Bound) -> float:
        """Return a bound in seconds, at the boost clock."""
        return bound.cycles / self.rates.clock_hz

    def of(self, resource: str) -> Bound | None:
        """Return the bound of a resource; None where it has no rate."""
        return next((bound for bound in self.bounds if bound.resource == resource), None)


def kernel_bounds(
    audit: Audit, function: str | None, grid: Grid | None = None
) -> KernelBounds | None:
    """Return the lower bounds of a kernel's launch.

    None if the GPU has no rates, or the kernel waits for others: no resource binds it then.

    Args:
        audit: audit of its module, with the values of its arguments where they are known.
        function: the kernel.
        grid: programs along x, y and z; None where it is not known.

    Example:
        >>> from tt_layout.audit.audit import audit_module
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... #a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
        ...   tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
        ...     %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #a>
        ...     %s = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #a>
        ...     %q = tt.addptr %s, %i : tensor<512x!tt.ptr<f32>, #a>, tensor<512xi32, #a>
        ...     %x = tt.load %q : tensor<512x!tt.ptr<f32>, #a>
        ...     tt.store %q, %x : tensor<512x!tt.ptr<f32>, #a>
        ...     tt.return
        ...   }
        ... }''')
        >>> found = kernel_bounds(audit_module(module), "f")
        >>> [(bound.resource, round(bound.cycles)) for bound in found.bounds if bound.cycles]
        [('L2', 60), ('LSU', 32), ('DRAM', 0)]
    """
    audited = audit.audited
    if audited.target is None or audited.target.product is None:
        return None
    if audited.wait_of(function):
        return None
    rates = audited.target.product
    if grid is not None:
        return _launch_bounds(audit, function, rates, grid)
    called = audited.target.backend.multiprocessor
    held = occupancy_of(audit, function)
    wave = Wave(rates.multiprocessors, max(1, held.ctas) if held is not None else 1, called)
    return audited.once_for_equal(
        audited.functions_by_name.get(function),
        ("bounds", wave),
        lambda: _wave_bounds(audit, function, rates, wave),
    )


def _launch_bounds(audit: Audit, function: str | None, rates: Product, grid: Grid) -> KernelBounds:
    """Return the lower bounds of a launch of a grid."""
    counts = Counts(audit.audited, programs_of(audit, function, grid))
    work = program_work(audit, function, rates, counts)
    placed = footprint(audit, function, grid)
    memory = launch_memory(audit, function, work, placed, grid)
    bounds = [
        *_bounds(work, memory, prod(grid), rates, None),
        *_contended(audit, function, counts, placed, rates),
    ]
    return KernelBounds(rates, prod(grid), _sorted(bounds), work, memory)


def _wave_bounds(audit: Audit, function: str | None, rates: Product, wave: Wave) -> KernelBounds:
    """Return the lower bounds of a program of a wave, which name neither lines nor functions."""
    work = program_work(audit, function, rates, Counts(audit.audited))
    memory = wave_memory(audit, function, work, wave)
    bounds = _sorted(_bounds(work, memory, None, rates, wave))
    return KernelBounds(rates, None, bounds, work, memory, wave)


def _sorted(bounds: Iterable[Bound]) -> tuple[Bound, ...]:
    """Return bounds with the largest first."""
    return tuple(sorted(bounds, key=lambda bound: -bound.cycles))


def programs_of(audit: Audit, function: str | None, grid: Grid | None) -> Programs | None:
    """Return the programs of a launch; None without a grid."""
    if grid is None or function is None:
        return None
    x, y, z = (*grid, 1, 1, 1)[:3]
    return Programs(audit, MeasuredLaunch(function, "", ctas=x * y * z, grid=(x, y, z)), function)


def _bounds(
    work: Work, memory: DramTraffic, programs: int | None, rates: Product, wave: Wave | None
) -> Iterator[Bound]:
    sms = rates.multiprocessors
    count = programs if programs is not None else sms
    rounds = -(-count // sms)
    moved = memory.bytes / (wave.ctas if wave is not None else 1)
    yield _of_dram(moved, rates)
    if rates.l2_bytes is not None:
        asked = work.l2_bytes * count
        speed = f"{rates.l2_bytes:.3g} bytes a cycle and SM"
        yield Bound(L2, asked / (rates.l2_bytes * sms), f"{asked:.3g} bytes at {speed}")
    for resource, cycles, unit in (
        ("LSU", work.lsu_cycles / rates.lsu_cycles, "wavefronts"),
        ("tensor cores", work.tensor_cycles, "cycles of matrix instructions"),
        ("FMA", work.fma / rates.fma, "cycles of additions and multiplications"),
        ("special functions", work.special / rates.special if rates.special else 0, "cycles"),
    ):
        reason = f"{cycles:.3g} {unit} of a program, {rounds} on an SM"
        yield Bound(resource, cycles * rounds, reason)


def _of_dram(moved: float, rates: Product) -> Bound:
    """Return the bound by the bytes that memory moves."""
    reason = f"{moved:.3g} bytes at {rates.dram_bytes / 1e12:.3g} TB/s"
    return Bound(DRAM, moved / rates.dram_per_cycle, reason)


def _contended(
    audit: Audit, function: str | None, counts: Counts, placed: Footprint, rates: Product
) -> Iterator[Bound]:
    """Yield the time of the atomics that add most to one address, where a grid is known."""
    contended = contentions(audit, function, counts, placed, rates)
    worst = max(contended, key=lambda contention: contention.cycles, default=None)
    if worst is not None:
        reason = f"{worst.additions:.3g} additions to an address on line {worst.line}"
        yield Bound(CONTENDED, worst.cycles, reason)


class DramTraffic(NamedTuple):
    """Bytes that DRAM moves for all programs.

    Attributes:
        bytes: bytes with the sharing that addresses show; for a launch a lower bound.
        certain: those of them that no loaded numbers decide.
        fewest: the least bytes over all grids.
        unshared: bytes if programs share nothing.
        used: bytes that some lane asks for.
        decided_by: ``data`` if loaded numbers tell which bytes programs share, else ``grid``.
    """

    bytes: float
    certain: float
    fewest: float
    unshared: float
    used: float
    decided_by: str = "grid"


def launch_memory(
    audit: Audit, function: str | None, work: Work, placed: Footprint, grid: Sequence[int]
) -> DramTraffic:
    """Return the bytes that DRAM moves for a launch.

    Args:
        audit, function: the kernel.
        work: work of the mean program.
        placed: footprint of the accesses with known addresses.
        grid: programs along x, y and z.
    """
    sizes = (*grid, 1, 1, 1)[:3]
    unplaced = _unplaced(audit, function, work, placed)
    shared = [(traffic, traffic.sharing.least_in_grid(sizes)) for traffic in unplaced]
    moved = placed.bytes + sum(traffic.fewest * programs for traffic, programs in shared)
    used = placed.used + sum(traffic.used * programs for traffic, programs in shared)
    return DramTraffic(moved, moved, moved, moved, used)


def wave_memory(audit: Audit, function: str | None, work: Work, wave: Wave) -> DramTraffic:
    """Return the bytes that DRAM moves for a wave of programs.

    Args:
        audit, function: the kernel.
        work: work of one program.
        wave: the wave of programs.
    """
    kernel = audit.audited.functions_by_name.get(function)
    sharing = audit.audited.program_sharing(kernel) if kernel is not None else None
    axes = sharing.axes if sharing is not None else 0
    placed = footprint(audit, function, None, sharing.of if sharing is not None else None)
    pointers = [*placed.pointers, *_unplaced(audit, function, work, placed, sharing)]
    most = [traffic.sharing.most(wave.programs, axes) for traffic in pointers]
    fewest = [traffic.sharing.fewest(wave.programs, axes) for traffic in pointers]
    moved = [
        (traffic.sharing.is_of_data, traffic.most * programs)
        for traffic, programs in zip(pointers, most)
    ]
    return DramTraffic(
        sum(size for _, size in moved),
        sum(size for is_of_data, size in moved if not is_of_data),
        sum(traffic.fewest * programs for traffic, programs in zip(pointers, fewest)),
        sum(traffic.most for traffic in pointers) * wave.programs,
        sum(traffic.used * programs for traffic, programs in zip(pointers, most)),
        "data" if any(traffic.sharing.is_of_data for traffic in pointers) else "grid",
    )


def _unplaced(
    audit: Audit,
    function: str | None,
    work: Work,
    placed: Footprint,
    sharing: ProgramSharing | None = None,
) -> Iterator[PointerTraffic]:
    """Yield the bytes of one program whose addresses are not known, by pointer."""
    audited = audit.audited
    groups: dict[object, tuple[Sharing, list[float]]] = {}
    for row, size in zip(audit.movements_of(function), work.asked):
        full = audited.in_full(row.operation)
        if not size or row.operation.position in placed.accesses:
            continue
        if full is not None and sharing is None:
            sharing = audited.program_sharing(full.function)
        shared = sharing.of(full.operation) if sharing is not None and full is not None else NOBODY
        pointer = pointer_of(audited, full) if full is not None else None
        key = pointer or row.operation.position, row.operation.group in GLOBAL_CHANGES, shared
        groups.setdefault(key, (shared, []))[1].append(size)
    for shared, sizes in groups.values():
        yield PointerTraffic(sum(sizes), max(sizes), max(sizes), shared)


class Contention(NamedTuple):
    """Additions of a launch to one address.

    Attributes:
        line: line of the atomic.
        additions: mean additions to an address that it touches.
        cycles: cycles in which the GPU executes them, one after the other.
    """

    line: int
    additions: float
    cycles: float


def contentions(
    audit: Audit, function: str | None, counts: Counts, placed: Footprint, rates: Product
) -> Iterator[Contention]:
    """Yield the atomics of a launch by which many programs add to the same addresses.

    What is not known to be added, under masks or in loops, is left out, and so are atomics of
    other kinds than those that were measured: each is a lower bound.

    Args:
        audit, function: the kernel.
        counts: mean counts over the programs of the launch; without them nothing is yielded.
        placed: footprint of each access.
        rates: rates of the product; nothing is yielded for one without measurements.
    """
    audited, timing, programs = audit.audited, rates.timing, counts.programs
    if timing is None or not timing.is_measured:
        return
    if programs is None or not programs.number:
        return
    for row in audit.movements_of(function):
        full = audited.in_full(row.operation)
        price = _price(audited, full, timing) if full is not None else None
        if full is None or price is None or counts.runs(row).is_assumed:
            continue
        additions = _additions(full, row, counts.runs(row).number, programs, placed, audited)
        if additions > 1:
            yield Contention(row.operation.line, additions, additions * price)


def _additions(
    full: FullOperation,
    row: MovementRow,
    runs: float,
    programs: Programs,
    placed: Footprint,
    audited: AuditedModule,
) -> float:
    """Return the least number of additions to an address; 0 where it is not known."""
    number = programs.number or 0
    touched = placed.accesses.get(row.operation.position)
    if touched is not None and touched.used:
        return (row.operation.bytes or 0) * runs * number / touched.used
    if full.operation.operands[0].type.is_tensor:
        return 0
    axes = audited.program_sharing(full.function).of(full.operation).axes
    if programs.grid is None:
        return 0
    addresses = prod(programs.grid.sizes[axis] for axis in axes)
    return number * min(runs, 1) / addresses


def _price(audited: AuditedModule, full: FullOperation, timing: Timing) -> float | None:
    """Return the cycles between two atomics on an address; None if they were not measured.

    With a known mask only its active lanes count.
    """
    operation = full.operation
    if not operation.traits.atomic or operation.name not in FORMS:
        return None
    roles, target = operands(in_todays_form(operation)), audited.target
    if "value" not in roles or target is None:
        return None
    value_type = roles["value"].type
    rate = timing.added(value_type.element, target.lanes if value_type.is_tensor else 1)
    if rate is None or not _is_priced(operation, value_type):
        return None
    part = _true_part(audited, full, roles["mask"]) if "mask" in roles else 1
    return part / rate if part else None


def _is_priced(operation: Operation, value_type: ValueType) -> bool:
    """Tell whether an atomic is of a kind that was measured."""
    kind = operation.attributes.get("atomic_rmw_op")
    if kind in ADDITIONS:
        return True
    is_exchange = kind in EXCHANGES or operation.name.endswith("atomic_cas")
    return is_exchange and not value_type.is_tensor and value_type.integer_bits is not None


def _true_part(audited: AuditedModule, full: FullOperation, mask: Value) -> float:
    """Return the fraction of a mask that is true in every program; 0 where not known."""
    if audited.program_sharing(full.function).depends(mask):
        return 0
    value = audited.evaluator(full.function).value(mask)
    return 0 if isinstance(value, Unknown) else float(np.mean(np.asarray(value) != 0))
