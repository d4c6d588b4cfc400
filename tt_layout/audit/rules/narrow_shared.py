"""``narrow-shared``: an access to shared memory in pieces of less than a bank, without conflicts.

What: loads and stores of shared memory that move less than four bytes per thread, without bank
    conflicts, if a usual swizzle takes fewer cycles over all accesses to the buffer; and loads of
    a dot's operand of 8 bits or less whose buffer is not contiguous along the summed dimension

Cost: the cycles that this swizzle saves in this access, of all warps; for such an operand, the
    cycles beyond those of whole words

Why: a bank serves a word of four bytes per cycle, whether an instruction asks for all of it or
    not.  Two bytes per thread take as long as four, and twice as many instructions.

How to fix: a layout in which the elements of a thread are adjacent in the buffer: the order of
    the registers, a larger ``vec`` or ``interval``.  The report names the best of each family,
    over every access to the buffers of that layout.  No layout of the buffer helps such an
    operand: a matrix instruction takes neighbours along the summed dimension, and instructions
    that transpose are for 16 bits.  Store the operand so that this dimension is contiguous, or
    widen it to 16 bits before it is stored to shared memory.

When it does not pay: the gain of this access may be lost where the buffer is written, so only
    layouts that cost less over all accesses are suggested.  The cost of another order in memory,
    or of another type, is not counted elsewhere.  Pieces that take less than a twentieth of the
    kernel's data movements are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import MAY_PAY, Counted, Finding, Occurrence
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.details import SharedDetails
from tt_layout.audit.operations.turned_operands import stored_transposed
from tt_layout.audit.suggestions.context import SuggestionContext
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.audit.values.executions import assumed_runs
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.hardware import BANK_BYTES, DEFAULT_TARGET, find_target
from tt_layout.ir.operations import MovementOperation, layout_of
from tt_layout.mlir.types import element_bits
from tt_layout.records import dataclass
from tt_layout.wording import count

WIDEST_BITS = 8
"""Elements of more are transposed by loads of matrices."""


@dataclass(frozen=True)
class NarrowShared(Occurrence):
    """A narrow access to shared memory.

    Attributes:
        access: noun for the access.
        buffer: the layout of the buffer, as the dump writes it.
        width_bytes: bytes that an instruction moves per thread.
        counts: instructions and cycles, in words.
        cycles: cycles that a usual swizzle saves in it, for all warps; or whole words, without one.
        summed: the dimension of a dot's operand that is not contiguous in the buffer; None for
            accesses that another layout of the buffer makes cheaper.
    """

    kind = "narrow-shared"
    order = 21
    heading = "narrow shared"
    is_change_costed = False

    access: str
    buffer: str
    width_bytes: int
    counts: str
    cycles: float
    summed: int | None = None

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the narrow accesses of a module that a usual swizzle makes cheaper."""
        from tt_layout.audit.suggestions.buffers import usual_buffer

        audited = conclusions.audited
        suggestions: dict[object, Suggestion | None] = {}
        for row in rows:
            cost, operation = row.cost, row.operation
            if cost is None or not isinstance(cost.details, SharedDetails) or cost.extra:
                continue
            width, excess = cost.details.width_bytes, _excess(row, audited)
            least = MAY_PAY * conclusions.cycles_of(operation.function)
            may_pay = excess * assumed_runs(row.executions) >= least
            if width < BANK_BYTES and cost.details.instructions > 1 and may_pay:
                key = operation.group, operation.source, operation.target
                if key not in suggestions:
                    suggestions[key] = usual_buffer(conclusions, operation)
                better = suggestions[key]
                changes = better.changes if better is not None else ()
                saved = sum(change.saved for change in changes if change.operation is operation)
                summed = _far_dimension(operation, audited) if saved <= 0 else None
                if summed is not None:
                    saved = excess
                if saved > 0:
                    facts = row.access, layout_of(operation.memory), width, cost.text, saved, summed
                    yield Finding.of_movement(row, cls(*facts))

    @property
    def words(self) -> str:
        """The layout and the cycles of the access."""
        return f"of {self.buffer} moves {count(self.width_bytes, 'byte')} at a time: {self.counts}"

    @property
    def program_change(self) -> str:
        """How to have neighbours along the summed dimension; empty where a layout of it does it."""
        return stored_transposed(self.summed, WIDEST_BITS) if self.summed is not None else ""

    @property
    def counted(self) -> Counted:
        """Loads or stores."""
        return Counted(
            f"shared-memory {self.access}", f" of {count(self.width_bytes, 'byte')} per thread"
        )

    @property
    def cost(self) -> float:
        """The cycles that a usual swizzle saves in the access."""
        return self.cycles

    def suggestions(self, finding: Finding, context: SuggestionContext) -> Sequence[Suggestion]:
        """Return layouts that save cycles over all accesses to the buffers."""
        assert finding.movement is not None
        return context.better_buffers(finding.movement.operation)


def _excess(row: MovementRow, audited: AuditedModule) -> float:
    """Return the cycles that an access takes more than in words."""
    assert row.cost is not None
    words = (row.operation.bytes or 0) / find_target(audited.shared_gpu or DEFAULT_TARGET).row_bytes
    return row.cost.cycles - words


def _far_dimension(operation: MovementOperation, audited: AuditedModule) -> int | None:
    """Return the summed dimension of a dot's narrow operand that is not contiguous in its buffer.

    None of any other access.
    """
    memory, target = operation.source, operation.target
    if memory is None or target is None or not isinstance(target.encoding, DotOperand):
        return None
    bits, buffer = element_bits(target.element_type), audited.layouts.linear(memory)
    places = dict(buffer.bases).get("offset") if buffer is not None else None
    if bits is None or bits > WIDEST_BITS or not places:
        return None
    rank = len(target.shape)
    summed = rank - 1 - target.encoding.op_idx
    return None if places[0][-rank:][summed] else summed
