"""What part of a program's time a suggestion saves, and whether that is worth it.

A multiprocessor has units that work at a time: its pipe of loads and stores, which moves a
wavefront of shared memory or a line of global memory in a cycle; its part of global memory; its
tensor cores.  If all of them overlap, cycles saved on one are worth nothing where another is busy
longer; if none does, they are worth their part of the sum.  These are the ends of the share.

Source:
    Rates measured on an H100 and an H200; ``docs/apply.md`` has the kernels that were timed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.audit.values.executions import assumed_runs, is_in_loop
from tt_layout.enums import TextEnum
from tt_layout.hardware import find_target
from tt_layout.ir.operations import Operation
from tt_layout.mlir.types import element_bits

PAYS = 0.10
"""The part of the time from which on a suggestion has paid."""

MAY_PAY = 0.05
"""The part below which it was as often slower as faster."""

MEMORY_BYTES = 12.9
"""What global memory moves in a cycle for each multiprocessor of an H100: 3.0 TB/s over all."""

FLOPS = {8: 8169.0, 16: 4084.0, 32: 2042.0, 64: 127.7}
"""Bits of an element -> additions and multiplications of the tensor cores in a cycle."""

LINE_BYTES = 128

WORTH = 10
"""How many times the cycles of global accesses that it adds to a loop a suggestion has to save."""


class Verdict(TextEnum):
    """Whether a suggestion is worth it."""

    APPLY = "apply"
    MAY_PAY = "may pay"
    SMALL = "small"
    UNKNOWN = "unknown"


class Share(NamedTuple):
    """The part of a program's time that a suggestion saves.

    Attributes:
        low, high: if all units overlap, and if none does, whichever is less; None where no rate
            of the GPU is known.
        spills: whether registers are spilled, which costs more than any layout.
        is_risky: whether it adds global accesses to a loop for little.
    """

    low: float | None
    high: float | None
    spills: bool = False
    is_risky: bool = False

    @property
    def verdict(self) -> Verdict:
        """Whether it is worth it.

        Example:
            >>> str(Share(0.2, 0.4).verdict), str(Share(0.0, 0.07).verdict)
            ('apply', 'may pay')
            >>> str(Share(0.2, 0.4, spills=True).verdict), str(Share(0.01, 0.04).verdict)
            ('may pay', 'small')
        """
        if self.low is None or self.high is None:
            return Verdict.UNKNOWN
        if self.is_risky or self.high < MAY_PAY:
            return Verdict.SMALL
        if self.low >= PAYS and not self.spills:
            return Verdict.APPLY
        return Verdict.MAY_PAY

    @property
    def is_small(self) -> bool:
        """Whether it is as often slower as faster."""
        return self.verdict is Verdict.SMALL

    @property
    def text(self) -> str:
        """The share in a few words; empty where it is not known.

        Example:
            >>> Share(0.12, 0.41).text, Share(0.001, 0.004).text
            ('12 to 41 % of its time: apply', 'less than 1 % of its time: small')
        """
        if self.low is None or self.high is None:
            return ""
        low, high = (round(100 * part) for part in (self.low, self.high))
        span = f"{low} to {high} %" if low != high else f"{high} %" if high else "less than 1 %"
        return f"{span} of its time: {self.verdict}"


class Work(NamedTuple):
    """Cycles for which a program keeps the units of a multiprocessor busy.

    Attributes:
        pipe: of loads and stores.
        memory: its part of global memory.
        matrix: the tensor cores.
    """

    pipe: float
    memory: float
    matrix: float

    def share(self, saved: Work) -> tuple[float, float]:
        """Return the part of the time that is saved with some of the work, the less first.

        Example:
            >>> Work(100, 50, 0).share(Work(30, 0, 0))
            (0.2, 0.3)
        """
        busiest = max(self)
        if not busiest:
            return 0.0, 0.0
        left = max(mine - one for mine, one in zip(self, saved))
        ends = 1 - left / busiest, sum(saved) / sum(self)
        low, high = sorted(max(0.0, min(1.0, end)) for end in ends)
        return round(low, 6), round(high, 6)


def work_of(found: Conclusions, function: str | None) -> Work:
    """Return the work of one program of a kernel, as far as costs are known."""
    rows = [row for row in found.movements if row.operation.function == function]
    moved = [_of_cost(row.operation, row.cost, assumed_runs(row.executions)) for row in rows]
    products = [one for one in found.multiplications if one.function == function]
    return _sum([*moved, *map(_of_product, products), Work(0, 0, 0)])


def _of_product(one: Multiplication) -> Work:
    """Return the work of a multiplication of matrices in one program."""
    rate = FLOPS.get(element_bits(one.a.element) or 16, FLOPS[16])
    return Work(0, 0, one.flops * assumed_runs(one.executions) / rate)


def _of_cost(operation: Operation, cost: Cost | None, runs: float) -> Work:
    """Return the work of a data movement that runs so often.

    Of global memory each byte counts once: sectors that several instructions touch are cached.
    """
    if cost is None:
        return Work(0, 0, 0)
    details = cost.details
    if not cost.requests or not isinstance(details, GlobalDetails):
        return Work(cost.weight * runs, 0, 0)
    sectors = cost.weight * details.sector_bytes
    pipe = float(
        max(cost.requests, sectors / LINE_BYTES) if details.lines is None else details.lines
    )
    if details.entry is not None:
        pipe += details.entry.wavefronts or 0
    bytes_ = min(sectors, operation.bytes or sectors)
    return Work(pipe * runs, bytes_ * runs / MEMORY_BYTES, 0)


def _sum(works: Iterable[Work]) -> Work:
    return Work(*(sum(unit) for unit in zip(*works)))


def share_of(
    suggestion: Suggestion, function: str | None, found: Conclusions, audited: AuditedModule
) -> Share:
    """Return the part of a program's time that a suggestion saves.

    Args:
        suggestion: for a finding of the kernel.
        function: the kernel.
        found, audited: the module.
    """
    if audited.gpu is None or not find_target(audited.gpu).is_nvidia:
        return Share(None, None)
    saved = [
        _of_cost(one.operation, cost, sign * assumed_runs(one.executions))
        for one in suggestion.recosts
        for cost, sign in ((one.before, 1), (one.after, -1))
    ]
    low, high = work_of(found, function).share(_sum(saved))
    low = low if _knows_memory(found, function) else 0.0
    spills = any(one.spills for one in found.registers if one.function == function)
    return Share(low, high, spills, _is_risky(suggestion))


def _knows_memory(found: Conclusions, function: str | None) -> bool:
    """Tell whether the sectors of all accesses to global memory are known.

    Where they are not, global memory may be what the program waits for.
    """
    costs = (row.cost for row in found.movements if row.operation.function == function)
    known = (one.details for one in costs if one is not None)
    return all(one.sectors is not None for one in known if isinstance(one, GlobalDetails))


def _is_risky(suggestion: Suggestion) -> bool:
    """Tell whether it adds accesses to global memory in a loop for less than ten times that."""
    added = sum(
        -one.saved * assumed_runs(one.executions)
        for one in suggestion.worse
        if is_in_loop(one.executions) and one.after is not None and one.after.requests
    )
    return suggestion.saved < WORTH * added
