"""Work of one program of a kernel for a multiprocessor, summed over its operations.

What no analysis counts is left out, so that everything is a lower bound, but where it is not known
how often operations run: `Work.assumed` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from tt_layout.analyses.global_memory.global_access import LINE_BYTES
from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds.footprint import ProgramFootprints
from tt_layout.audit.bounds.sharing import NOBODY, Sharing
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.global_memory.cost import placed_access
from tt_layout.audit.global_memory.instructions import skips_l1
from tt_layout.audit.global_memory.operands import FORMS
from tt_layout.audit.global_memory.relative_addresses import RelativeTraffic, relative_traffic
from tt_layout.audit.measured.programs import Amount, Programs
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.values.executions import Executions, assumed_runs, assumes_trips, executions
from tt_layout.encodings import Encoding
from tt_layout.enums import MemorySpace
from tt_layout.hardware.product import Product
from tt_layout.ir.data_movements import GLOBAL_KINDS, MovementKind
from tt_layout.ir.operations import OperationPosition
from tt_layout.ir.traits import Traits
from tt_layout.tuples import NamedTuple


class Work(NamedTuple):
    """Work of one program.

    Attributes:
        lsu_cycles: wavefronts of shared and global memory.
        asked: bytes of the sectors of each data movement from or to global memory.
        l2_bytes: bytes that the second-level cache moves at least: none of loads that the
            first-level cache may serve, or that a mask by data may leave out.
        tensor_cycles: cycles of matrix instructions.
        fma: least instructions for additions and multiplications of 32-bit floats: fused pairs.
        special: number of exponentials, logarithms, roots.
        assumed: whether it includes unknown run counts: loops of unknown length count as
            `ASSUMED_TRIPS`, branches as taken.
        assumes_trips: whether there are such loops.
        assumes_nests: whether there are such loops in such loops, of which the inner ones count as
            `ASSUMED_TRIPS` in all.
    """

    lsu_cycles: float = 0
    asked: tuple[float, ...] = ()
    l2_bytes: float = 0
    tensor_cycles: float = 0
    fma: float = 0
    special: float = 0
    assumed: bool = False
    assumes_trips: bool = False
    assumes_nests: bool = False


class Runs(NamedTuple):
    """Mean number of runs of an operation in a program of the grid.

    Attributes:
        number: mean number of runs.
        is_assumed: whether it is an assumption.
        is_mean: whether programs differ.
        assumes_trips: whether it assumes the length of a loop.
        assumes_nests: whether it assumes the runs of several loops in each other.
        opened: executions whose number values of arguments would tell; None where it is known,
            or would stay unknown.
    """

    number: float
    is_assumed: bool
    is_mean: bool = False
    assumes_trips: bool = False
    assumes_nests: bool = False
    opened: Executions | None = None


class Counts:
    """Mean counts of runs and of touched bytes in a program of the grid."""

    def __init__(self, audited: AuditedModule, programs: Programs | None = None) -> None:
        self._audited, self.programs = audited, programs
        self._known: dict[object, Runs] = {}
        self._traffic: dict[OperationPosition, Mapping[str, Amount]] = {}
        self._footprints = ProgramFootprints(audited, None)

    def runs(self, row: MovementRow) -> Runs:
        """Return how often a data movement runs."""
        full = self._audited.in_full(row.operation)
        return self.runs_of(full) if full is not None else _assumed(row.executions)

    def runs_of(self, full: FullOperation) -> Runs:
        """Return how often an operation runs; those of one block run as often."""
        key = full.operation.block
        if key not in self._known:
            self._known[key] = self._runs(full)
        return self._known[key]

    @property
    def differ(self) -> bool:
        """Whether programs differ in how often something runs, of all that was asked for."""
        return any(runs.is_mean for runs in self._known.values())

    def _runs(self, full: FullOperation) -> Runs:
        total = executions(self._audited.evaluator(full.function), full.operation)
        if self.programs is not None:
            amount = self.programs.runs_of(full, total)
            mean = self._mean(amount)
            if mean is not None:
                return Runs(mean, amount.is_bound, total.first is not None)
        return _assumed(total)

    def traffic(self, row: MovementRow, unit: str) -> float | None:
        """Return the sectors or lines of all executions; None where they are not known."""
        total = None
        if self.programs is not None:
            position = row.operation.position
            if position not in self._traffic:
                self._traffic[position] = self.programs.traffic(row)
            total = self._mean(self._traffic[position][unit])
        if total is None and row.cost is not None:
            total = getattr(row.cost.details, f"total_{unit}", None)
        return total

    def sharing(self, row: MovementRow) -> Sharing:
        """Return what programs, or executions, may share of an access to global memory."""
        full = self._audited.in_full(row.operation)
        if full is None or full.operation.name not in FORMS:
            return NOBODY
        return self._audited.program_sharing(full.function).of(full.operation)

    def may_be_idle(self, row: MovementRow) -> bool:
        """Tell whether a mask by data may leave out all of an access in a launch."""
        return self.programs is not None and self.sharing(row).is_masked_by_data

    def skips_l1(self, row: MovementRow) -> bool:
        """Tell whether a load may pass the first-level cache by: it has a cache modifier."""
        full = self._audited.in_full(row.operation)
        return full is not None and skips_l1(full.operation.attributes)

    def distinct(self, row: MovementRow) -> float:
        """Return the fraction of the sectors that a load asks for which it has not asked for.

        That of the first program's execution, where its addresses are known; else of the distances
        of its elements, and 1 where these are not known.
        """
        relative = self.relative(row)
        if relative is not None:
            return relative.distinct
        full, details = self._audited.in_full(row.operation), row.cost and row.cost.details
        if full is None or not isinstance(details, GlobalDetails) or not details.sectors:
            return 1
        touched = self._footprints.traffic(full)
        asked = details.sectors * details.sector_bytes
        return min(1.0, touched.once / asked) if touched is not None else 1

    def relative(self, row: MovementRow) -> RelativeTraffic | None:
        """Return the traffic of an execution by the distances of its elements, where known."""
        full = self._audited.in_full(row.operation)
        kernel = self._audited.kernel(full.function) if full is not None else None
        if full is None or kernel is None:
            return None
        return relative_traffic(kernel, placed_access(kernel, full.operation))

    def is_masked(self, row: MovementRow) -> bool:
        """Tell whether the traffic of an access in a grid is that of a mask taken to be true."""
        amounts = self._traffic.get(row.operation.position)
        return amounts is not None and amounts["sectors"].is_bound

    def _mean(self, amount: Amount) -> float | None:
        assert self.programs is not None
        number = self.programs.number
        return amount.number / number if number and amount.number is not None else None


def _assumed(total: Executions) -> Runs:
    is_assumed = total.number is None
    trips = is_assumed and assumes_trips(total)
    return Runs(
        assumed_runs(total),
        is_assumed,
        assumes_trips=trips,
        assumes_nests=trips and total.open_loops > 1,
        opened=total if total.missing else None,
    )


def program_work(audit: Audit, function: str | None, rates: Product, counts: Counts) -> Work:
    """Return the mean work of a function's program."""
    audited = audit.audited
    rows = audit.movements_of(function)
    costed = [counts.runs(row) for row in rows if row.cost is not None]
    return Work(
        lsu_cycles=sum(lsu_cycles(row, counts) for row in rows),
        asked=tuple([asked_bytes(row, counts) for row in rows]),
        l2_bytes=sum(_l2_bytes(row, counts) for row in rows),
        tensor_cycles=sum(_tensor_cycles(audit, function, rates, counts)),
        fma=sum(_elements(audited, function, counts, lambda t: t.float_instruction)) / 2,
        special=sum(_elements(audited, function, counts, lambda t: t.special_function)),
        assumed=any(runs.is_assumed for runs in costed),
        assumes_trips=any(runs.assumes_trips for runs in costed),
        assumes_nests=any(runs.assumes_nests for runs in costed),
    )


def lsu_cycles(row: MovementRow, counts: Counts) -> float:
    """Return the cycles of the load-store unit that a data movement takes in all executions."""
    cost = row.cost
    if cost is None or _is_in_tensor_memory(row) or counts.may_be_idle(row):
        return 0
    runs, details = counts.runs(row).number, cost.details
    if not isinstance(details, GlobalDetails):
        return runs * cost.cycles
    total = counts.traffic(row, "lsu_wavefronts")
    if total is None:
        first = details.lsu_wavefronts
        least = -(-(row.operation.bytes or 0) // LINE_BYTES)  # where addresses are not known
        total = runs * (first if first is not None else least)
    # A copy passes the lines that it reads on to shared memory at once.
    entering = details.entry.wavefronts if details.entry is not None else None
    return max(total, runs * (entering or 0))


def _is_in_tensor_memory(row: MovementRow) -> bool:
    ends = row.operation.source, row.operation.target
    return any(
        isinstance(end.encoding, Encoding) and end.encoding.memory_space is MemorySpace.TENSOR
        for end in ends
        if end is not None
    )


def _l2_bytes(row: MovementRow, counts: Counts) -> float:
    """Return the bytes that an access asks of the second-level cache at least.

    The first-level cache serves what an execution of a load has loaded before, and may serve all
    of a load whose addresses data decide.
    """
    if counts.may_be_idle(row):
        return 0
    asked = asked_bytes(row, counts)
    if not asked or row.operation.group != MovementKind.GLOBAL_LOAD or counts.skips_l1(row):
        return asked
    if counts.sharing(row).is_of_data:
        return 0
    return asked * counts.distinct(row)


def asked_bytes(row: MovementRow, counts: Counts) -> float:
    """Return the bytes of the sectors of an access to global memory, in all executions."""
    cost = row.cost
    if cost is None or row.operation.group not in GLOBAL_KINDS:
        return 0
    asked = (row.operation.bytes or 0) * counts.runs(row).number
    if isinstance(cost.details, GlobalDetails):
        sectors = counts.traffic(row, "sectors")
        # Under a mask that is not known, instructions may share sectors or touch none.
        if sectors is not None and not counts.is_masked(row):
            return sectors * float(cost.details.sector_bytes)
        relative = counts.relative(row)
        if relative is not None:
            return relative.least_bytes * counts.runs(row).number
    return asked


def _tensor_cycles(
    audit: Audit, function: str | None, rates: Product, counts: Counts
) -> Iterator[float]:
    for product in audit.products_of(function):
        if product.instruction is None:
            continue
        rate = rates.tensor_rate(product.instruction.name, product.a.element)
        multiplication = audit.audited.at(product.position)
        runs = (
            counts.runs_of(multiplication)
            if multiplication is not None
            else _assumed(product.executions)
        )
        if rate is not None:
            yield product.flops * runs.number / rate


def _elements(
    audited: AuditedModule,
    function: str | None,
    counts: Counts,
    is_counted: Callable[[Traits], bool],
) -> Iterator[float]:
    for full in audited.operations_of(function):
        operation = full.operation
        if is_counted(operation.traits) and operation.results:
            yield prod(operation.results[0].type.shape) * counts.runs_of(full).number
