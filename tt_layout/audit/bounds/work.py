"""What one program of a kernel asks of a multiprocessor, summed over its operations.

Everything is a lower bound: what no analysis counts is left out and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple

from tt_layout.analyses.global_memory.global_access import LINE_BYTES
from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.measured.programs import Amount, Programs
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.values.executions import assumed_runs, executions
from tt_layout.encodings import Encoding
from tt_layout.enums import MemorySpace
from tt_layout.ir.data_movements import GLOBAL_KINDS, MovementKind
from tt_layout.rates import Rates

SPECIAL = frozenset(
    {"math.exp", "math.exp2", "math.log", "math.log2", "math.rsqrt", "math.sqrt", "math.sin"}
) | frozenset({"math.cos", "math.tanh", "arith.divf"})
"""Operations that take an instruction of the special function unit for each element, at least."""

FLOATS = frozenset(
    {"arith.addf", "arith.subf", "arith.mulf", "math.fma", "arith.maxnumf", "arith.maximumf"}
)
"""Operations that take an instruction on floats for each element, but for contractions."""


class Work(NamedTuple):
    """What one program asks for.

    Attributes:
        lsu_cycles: wavefronts of shared memory, and lines of 128 bytes of global memory.
        l2_bytes: sectors of global memory, each access by itself.
        dram_bytes: the same; what programs share is counted for each.
        tensor_cycles: of matrix instructions.
        fma: additions and multiplications of 32-bit floats that may not be one instruction less.
        special: exponentials, logarithms, roots.
        unknown: what is not counted, each with its line.
        assumed: lines of loops whose trip count is assumed.
    """

    lsu_cycles: float = 0
    l2_bytes: float = 0
    dram_bytes: float = 0
    tensor_cycles: float = 0
    fma: float = 0
    special: float = 0
    unknown: tuple[str, ...] = ()
    assumed: bool = False


class Counts:
    """How often operations run, and what accesses touch, in one program: the mean of a grid."""

    def __init__(self, programs: Programs | None = None) -> None:
        self._programs = programs

    def runs(self, row: MovementRow) -> float:
        """Return how often a data movement runs; what nothing determines is assumed."""
        found = self._mean(self._programs.runs(row)) if self._programs is not None else None
        return found if found is not None else assumed_runs(row.executions)

    def traffic(self, row: MovementRow, unit: str) -> float | None:
        """Return the sectors or lines of all executions; None where they are not known."""
        found = None
        if self._programs is not None:
            found = self._mean(self._programs.traffic(row)[unit])
        if found is None and row.cost is not None:
            found = getattr(row.cost.details, f"total_{unit}", None)
        return found

    def _mean(self, amount: Amount) -> float | None:
        assert self._programs is not None
        number = self._programs.number
        return amount.number / number if number and amount.number is not None else None


def program_work(
    audit: Audit, function: str | None, rates: Rates, programs: Programs | None = None
) -> Work:
    """Return what one program of a function asks for, in the mean of those of a launch."""
    assert audit.audited is not None
    own = [row for row in audit.movements if row.operation.function == function]
    counts = Counts(programs)
    asked = sum(l2_bytes(row, counts) for row in own)
    return Work(
        lsu_cycles=sum(lsu_cycles(row, counts) for row in own),
        l2_bytes=asked,
        dram_bytes=asked,
        tensor_cycles=sum(_tensor_cycles(audit, function, rates)),
        fma=sum(_elements(audit.audited, function, FLOATS)) / 2,
        special=sum(_elements(audit.audited, function, SPECIAL)),
        unknown=tuple(_unknown(own)),
        assumed=any(row.executions.number is None for row in own),
    )


def lsu_cycles(row: MovementRow, counts: Counts) -> float:
    """Return the cycles of the load-store unit that a data movement takes in all executions."""
    cost = row.cost
    if cost is None or _is_in_tensor_memory(row):
        return 0
    runs, details = counts.runs(row), cost.details
    if not isinstance(details, GlobalDetails):
        return runs * cost.weight
    lines = counts.traffic(row, "lines")
    if lines is None:
        lines = runs * (details.lines if details.lines is not None else _least_lines(row))
    # A copy passes the lines that it reads on to shared memory at once.
    entering = details.entry.wavefronts if details.entry is not None else None
    return max(lines, runs * (entering or 0))


def _least_lines(row: MovementRow) -> int:
    """Return the lines of an access whose addresses are not known: those of its bytes."""
    return -(-(row.operation.bytes or 0) // LINE_BYTES)


def _is_in_tensor_memory(row: MovementRow) -> bool:
    ends = row.operation.source, row.operation.target
    return any(
        isinstance(end.encoding, Encoding) and end.encoding.memory_space is MemorySpace.TENSOR
        for end in ends
        if end is not None
    )


def l2_bytes(row: MovementRow, counts: Counts) -> float:
    """Return the bytes that an access to global memory asks of the second-level cache."""
    cost = row.cost
    if cost is None or row.operation.group not in GLOBAL_KINDS:
        return 0
    if isinstance(cost.details, GlobalDetails):
        sectors = counts.traffic(row, "sectors")
        if sectors is not None:
            return sectors * float(cost.details.sector_bytes)
    return (row.operation.bytes or 0) * counts.runs(row)


def _tensor_cycles(audit: Audit, function: str | None, rates: Rates) -> Iterator[float]:
    for product in audit.multiplications:
        if product.function != function or product.instruction is None:
            continue
        rate = rates.tensor_rate(product.instruction.name, product.a.element)
        if rate is not None:
            yield product.flops * assumed_runs(product.executions) / rate


def _elements(
    audited: AuditedModule, function: str | None, names: frozenset[str]
) -> Iterator[float]:
    for full in audited.operations:
        operation = full.operation
        if operation.name in names and full.function.name == function and operation.results:
            yield prod(operation.results[0].type.shape) * _runs(full, audited)


def _runs(full: FullOperation, audited: AuditedModule) -> int:
    return assumed_runs(executions(audited.evaluator(full.function), full.operation))


def _unknown(rows: Iterable[MovementRow]) -> Iterator[str]:
    for row in rows:
        if row.cost is None and row.cost_unknown is not None:
            yield f"line {row.operation.line}: {row.cost_unknown}"
        elif row.executions.number is None and row.operation.group is not MovementKind.ALLOCATION:
            yield f"line {row.operation.line}: it runs {row.executions.text} times"
