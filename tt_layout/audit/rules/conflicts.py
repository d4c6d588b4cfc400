"""``conflicts``: an access to shared memory whose lanes wait for each other.

What: loads and stores of shared memory with bank conflicts, and asynchronous copies into it whose
    addresses are known

Cost: the cycles of the conflicts, of all warps

Why: a bank serves one word per cycle.  Lanes that access other words of the same bank wait, and
    the shared memory of the multiprocessor does nothing else meanwhile.

How to fix: another swizzle, or padding.  The report tries the layouts that the compiler has, and
    the best linear one, over every access to the buffers of that layout.  No layout helps an
    operand of ``wgmma`` or ``tcgen05`` that is not of 16 bits and whose registers run along
    another dimension than the summed one: store it so that the summed dimension is contiguous.

When it does not pay: a layout without conflicts for one access may cost another access more,
    which the report counts.  Nothing is gained if tensor cores or global memory are the
    bottleneck.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails, SharedDetails
from tt_layout.audit.operations.turned_operands import stored_transposed, turned_dimension
from tt_layout.audit.suggestions.context import SuggestionContext
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.ir.operations import MovementOperation, layout_of
from tt_layout.records import dataclass


@dataclass(frozen=True)
class Conflict(Occurrence):
    """An access to shared memory with bank conflicts.

    Attributes:
        access: noun for the access.
        buffer: the layout of the buffer, as the dump writes it.
        counts: instructions and cycles, in words.
        cycles: cycles of the conflicts, for all warps.
        summed: the dimension along which the buffer of an operand has to be contiguous, but the
            stored tensor is not; None for other accesses.
        bits: width of an element.
    """

    kind = "conflicts"
    order = 20
    heading = "conflicts"
    absence = "", "bank conflicts"
    no_way_out = "no layout that was tried takes fewer cycles over all accesses to its buffers"
    is_change_costed = False

    access: str
    buffer: str
    counts: str
    cycles: float
    summed: int | None = None
    bits: int = 0

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the accesses of a module with bank conflicts."""
        for row in rows:
            cost, operation = row.cost, row.operation
            if cost is not None and _has_conflicts(cost):
                facts = row.access, layout_of(operation.memory), cost.text, cost.extra
                turned = _turned(operation, conclusions)
                yield Finding.of_movement(row, cls(*facts, *turned))

    @property
    def words(self) -> str:
        """Describe the layout and the cost of the access."""
        return f"of {self.buffer} has bank conflicts: {self.counts}"

    @property
    def program_change(self) -> str:
        """How to have neighbours along the summed dimension; empty where a layout may do it."""
        return stored_transposed(self.summed, self.bits) if self.summed is not None else ""

    @property
    def counted(self) -> Counted:
        """Loads, stores or copies."""
        return Counted(self.access, " with bank conflicts")

    @property
    def cost(self) -> float:
        """The cycles of the conflicts."""
        return self.cycles

    def suggestions(self, finding: Finding, context: SuggestionContext) -> Sequence[Suggestion]:
        """Return layouts that save cycles over all accesses to the buffers."""
        assert finding.movement is not None
        return context.better_buffers(finding.movement.operation)


def _turned(operation: MovementOperation, conclusions: Conclusions) -> tuple[int | None, int]:
    """Return the summed dimension of an operand that is stored along another, and its bits."""
    memory, source = operation.target, operation.source
    registers = conclusions.audited.layouts.linear(source) if source is not None else None
    if memory is None or not memory.is_memory or registers is None:
        return None, 0
    products = conclusions.products_of(operation.function)
    operands = {side.encoding for product in products for side in (product.a, product.b)}
    if memory.encoding not in operands:
        return None, 0
    return turned_dimension(memory, registers), memory.element_bits or 0


def _has_conflicts(cost: Cost) -> bool:
    """Whether an access, or a copy into shared memory, takes wavefronts for bank conflicts."""
    details = cost.details
    if isinstance(details, GlobalDetails):
        return details.entry is not None and details.entry.extra > 0
    return isinstance(details, SharedDetails) and cost.extra > 0
