"""Conclusions from the text of a module, before its findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tt_layout.audit.allocation import SharedMemory
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.modules.layouts import LayoutRow
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.multiplications import Intensity, Multiplication, intensity
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.values.executions import Executions, assumed_runs
from tt_layout.grouping import grouped
from tt_layout.ir.data_movements import GLOBAL_KINDS, MovementKind
from tt_layout.ir.operations import MovementOperation, OperationPosition
from tt_layout.lazy import lazy
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

_ACCESSES = {
    MovementKind.LOCAL_LOAD: "load",
    MovementKind.LOCAL_STORE: "store",
    MovementKind.GLOBAL_LOAD: "load",
    MovementKind.GLOBAL_STORE: "store",
    MovementKind.GLOBAL_ATOMIC: "atomic",
    MovementKind.COPY_IN: "copy",
    MovementKind.COPY_OUT: "copy",
}
"""Kind of data movements -> noun for one of them."""


@dataclass(frozen=True)
class OperationTotal:
    """Number and cost of a kernel's operations of one name.

    Attributes:
        function: the kernel; None for operations outside of any.
        operation: the name, without its dialect.
        count: number of operations; those in a loop count once.
        bytes: bytes that they move, each run once; None where a type does not determine it.
        executions: executions in one program; None where that is not known.
        executed_bytes: bytes that they move in all executions; None where not known.
        cycles: cycles in one program, as far as costs are known; loops count as in findings.
    """

    function: str | None
    operation: str
    count: int
    bytes: int | None
    executions: int | None
    executed_bytes: int | None
    cycles: float = 0


class MovementRow(NamedTuple):
    """An operation, its cost, and how often it runs in one program.

    Attributes:
        operation: the operation.
        cost: None where no analysis determines it.
        executions: executions in one program.
        refusal: why the compiler would refuse the operation; None if it would not.
        cost_unknown: why its cost is not known; None if it is, or no reason is known.
    """

    operation: MovementOperation
    cost: Cost | None
    executions: Executions
    refusal: str | None = None
    cost_unknown: str | None = None

    @property
    def access(self) -> str:
        """The kind of access to memory, as a noun."""
        return _ACCESSES.get(self.operation.group, "access")

    @property
    def cycles(self) -> float | None:
        """Cycles in one program, loops counted as findings count them; None where unknown."""
        return self.cost.cycles * assumed_runs(self.executions) if self.cost is not None else None

    @property
    def has_unknown_cost(self) -> bool:
        """Whether it moves data at a cost that is not known."""
        moves = self.operation.group is not MovementKind.ALLOCATION
        return self.cost is None and moves and self.refusal is None


class Conclusions:
    """Content of a module, with costs.

    Attributes:
        audited: the module.
    """

    audited: AuditedModule

    @property
    def layouts(self) -> tuple[LayoutRow, ...]:
        """A row for each layout and type."""
        raise NotImplementedError

    @property
    def movements(self) -> tuple[MovementRow, ...]:
        """The operations that move data, in the order of the text."""
        raise NotImplementedError

    @property
    def multiplications(self) -> tuple[Multiplication, ...]:
        """The operations that multiply matrices, in the order of the text."""
        raise NotImplementedError

    @property
    def shared_memory(self) -> tuple[SharedMemory, ...]:
        """The shared memory of the functions that have any."""
        raise NotImplementedError

    @property
    def registers(self) -> tuple[RegisterPressure, ...]:
        """The registers of the functions, and of the partitions of their warps."""
        raise NotImplementedError

    @lazy
    def totals(self) -> tuple[OperationTotal, ...]:
        """The totals by function and name, in the order of first appearance."""
        rows = sorted(self.movements, key=lambda row: (row.operation.line, row.operation.column))
        return tuple(_totals(rows))

    @lazy
    def intensities(self) -> tuple[Intensity, ...]:
        """The arithmetic intensities of the kernels that multiply matrices."""
        return tuple(_intensities(self._by_function, self._products))

    @lazy
    def by_position(self) -> Mapping[OperationPosition, MovementRow]:
        """Each data movement by its position in the module."""
        return {row.operation.position: row for row in self.movements}

    @lazy
    def sums_of_loops(self) -> dict[object, Mapping[int | None, float]]:
        """Sums of costs in each loop, by function and memory, as far as asked for."""
        return {}

    def row_at(self, position: OperationPosition) -> MovementRow | None:
        """Return the data movement at a position of the module; None without one."""
        raise NotImplementedError

    @property
    def priced(self) -> Sequence[MovementRow]:
        """The data movements with costs that may lack explanations."""
        raise NotImplementedError

    def priced_of(self, function: str | None) -> Sequence[MovementRow]:
        """Return the data movements of a function with costs that may lack explanations."""
        raise NotImplementedError

    def movements_of(self, function: str | None) -> Sequence[MovementRow]:
        """Return the data movements of a function, in the order of the text."""
        return self._by_function.get(function, ())

    def products_of(self, function: str | None) -> Sequence[Multiplication]:
        """Return the multiplications of a function, in the order of the text."""
        return self._products.get(function, ())

    def cycles_of(self, function: str | None) -> float:
        """Return the cycles of a function's data movements in one program, as far as known."""
        return self._cycles.get(function, 0.0)

    def memory_of(self, function: str | None) -> SharedMemory | None:
        """Return the shared memory of a function; None where it has none."""
        return next((memory for memory in self._memories.get(function, ())), None)

    def registers_of(self, function: str | None) -> Sequence[RegisterPressure]:
        """Return the registers of a function, and of the partitions of its warps."""
        return self._registers.get(function, ())

    def totals_of(self, function: str | None) -> Sequence[OperationTotal]:
        """Return the totals of a function by operation, in the order of first appearance."""
        return self._totals.get(function, ())

    def intensity_of(self, function: str | None) -> Intensity | None:
        """Return the intensity of a function; None where it multiplies no matrices."""
        return next((intensity for intensity in self._intensities.get(function, ())), None)

    @lazy
    def _totals(self) -> Mapping[str | None, Sequence[OperationTotal]]:
        return grouped(self.totals, lambda total: total.function)

    @lazy
    def _intensities(self) -> Mapping[str | None, Sequence[Intensity]]:
        return grouped(self.intensities, lambda intensity: intensity.function)

    @lazy
    def _by_function(self) -> Mapping[str | None, Sequence[MovementRow]]:
        return grouped(self.movements, lambda row: row.operation.function)

    @lazy
    def _cycles(self) -> Mapping[str | None, float]:
        return cycles_by_kernel(self.movements)

    @lazy
    def _products(self) -> Mapping[str | None, Sequence[Multiplication]]:
        return grouped(self.multiplications, lambda product: product.function)

    @lazy
    def _memories(self) -> Mapping[str | None, Sequence[SharedMemory]]:
        return grouped(self.shared_memory, lambda memory: memory.function)

    @lazy
    def _registers(self) -> Mapping[str | None, Sequence[RegisterPressure]]:
        return grouped(self.registers, lambda pressure: pressure.function)


def cycles_by_kernel(rows: Iterable[MovementRow]) -> dict[str | None, float]:
    """Return the cycles of each kernel in one program, of the data movements with a known cost."""
    cycles: dict[str | None, float] = {}
    for row in rows:
        function = row.operation.function
        cycles[function] = cycles.get(function, 0.0) + (row.cycles or 0)
    return cycles


def _totals(movements: Sequence[MovementRow]) -> Iterator[OperationTotal]:
    """Yield the totals by function and name, in the order of first appearance."""
    groups = grouped(
        movements, lambda row: (row.operation.function, row.operation.name.rpartition(".")[2])
    )
    for (function, name), group in groups.items():
        sizes = [row.operation.bytes for row in group]
        times = [row.executions.number for row in group]
        yield OperationTotal(
            function=function,
            operation=name,
            count=len(group),
            bytes=_sum(sizes),
            executions=_sum(times),
            executed_bytes=_sum(map(_times, sizes, times)),
            cycles=sum(row.cycles or 0 for row in group),
        )


def _intensities(
    rows: Mapping[str | None, Sequence[MovementRow]],
    products: Mapping[str | None, Sequence[Multiplication]],
) -> Iterator[Intensity]:
    """Yield the intensities of the functions that multiply."""
    for function, multiplied in products.items():
        moved = [
            _times(row.operation.bytes, row.executions.number)
            for row in rows.get(function, ())
            if row.operation.group in GLOBAL_KINDS
        ]
        yield intensity(multiplied[0].function, multiplied, moved)


def _times(size: int | None, number: int | None) -> int | None:
    return None if size is None or number is None else size * number


def _sum(numbers: Iterable[int | None]) -> int | None:
    """Return the sum of numbers; None where one is not known."""
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total
