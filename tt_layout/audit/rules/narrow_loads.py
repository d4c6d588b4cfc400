"""``narrow-loads``: an access to global memory of less than 16 bytes per thread at a time.

What: accesses to global memory of less than 16 bytes at a time, with the reason, its line, and a
    fix (`docs/global-memory.md`)

Cost: the wavefronts beyond those that the bytes fill, 128 in each

Why: the load/store unit passes 128 bytes of a line per cycle.  32 lanes that move less than 4
    bytes each fill only a part of that, and if their bytes are apart, they touch every line
    several times.  4 adjacent bytes per thread cost no more than 16, but four times the
    instructions.

How to fix: the message names what limits the width, and the hint for the compiler: the layout,
    the alignment of a pointer, a stride, or a mask.  Another register layout is a fix if every
    operation of the old one can use it.

When it does not pay: a kernel that waits for DRAM is not faster with fewer requests.  A small
    tensor does not have enough elements for all threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence
from tt_layout.audit.operations.details import GlobalDetails, SharedDetails
from tt_layout.audit.suggestions.buffers import try_layout
from tt_layout.audit.suggestions.context import SuggestionContext
from tt_layout.audit.suggestions.flow import Flow, is_elementwise, is_followed, is_free
from tt_layout.audit.suggestions.prices import Prices
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.audit.suggestions.trial import LayoutExchange
from tt_layout.encodings import Encoding
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.ssa import Operation
from tt_layout.records import dataclass
from tt_layout.wording import count


def wider_registers(
    conclusions: Conclusions, operation: MovementOperation, encoding: Encoding
) -> list[Suggestion]:
    """Return a layout for an access, costed in all operations of the old one; none if it is dearer.

    Args:
        conclusions: conclusions about the module.
        operation: the access, whose pointers have the old layout.
        encoding: the layout to try.
    """
    registers = operation.moved
    old = registers.encoding if registers is not None else None
    if registers is None or not isinstance(old, Encoding) or conclusions.audited.gpu is None:
        return []
    exchange = LayoutExchange.between(old, encoding)
    for function in conclusions.audited.functions:
        prices = Prices(conclusions, Flow(function), exchange)
        if not all(_can_change(prices, one) for one in function.walk()):
            return []
    wider = try_layout(conclusions, registers, encoding)
    return [wider] if wider is not None else []


def _can_change(prices: Prices, operation: Operation) -> bool:
    """Tell whether an operation works with the layouts exchanged."""
    values = [*operation.operands, *operation.results]
    changes = [prices.is_flipped(value) for value in values if prices.flow.is_tensor(value)]
    hands_over = is_followed(operation) or operation.traits.terminator
    if hands_over or not any(changes):
        return True
    if operation.name.endswith(".convert_layout"):
        return changes.count(True) == 1
    is_known = operation.traits.any_layout or is_free(operation) or is_elementwise(operation)
    return is_known and all(changes)


@dataclass(frozen=True)
class NarrowAccess(Occurrence):
    """An access that moves fewer bytes at a time than it could.

    Attributes:
        access: noun for the access.
        width_bytes: bytes that an instruction moves per thread.
        limit: the limit of the width, in words.
        change: the change of the program; empty where nothing helps.
        subjects: what it is made to.
        encoding: register layout in which it is wide; None where that is not enough.
        cycles: wavefronts beyond those that its bytes fill.
    """

    kind = "narrow-loads"
    order = 30
    heading = "narrow global"
    absence = "narrow", "accesses"

    access: str
    width_bytes: int
    limit: str
    change: str
    subjects: tuple[str, ...]
    encoding: Encoding | None
    cycles: float

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the narrow accesses of a module."""
        for row in rows:
            cost = row.cost
            if cost is None or cost.finding is None:
                continue
            details, fault, encoding = cost.details, cost.finding, None
            change, subjects = "", tuple[str, ...]()
            if not isinstance(details, (GlobalDetails, SharedDetails)):
                continue
            limit = details.limited_by if isinstance(details, GlobalDetails) else None
            if limit is not None:
                fault += f"; why: {limit.why(row.operation.line)}"
                change, subjects, encoding = limit.change, limit.subjects, limit.encoding
            facts = row.access, details.width_bytes, fault, change, subjects, encoding, cost.extra
            yield Finding.of_movement(row, cls(*facts))

    @property
    def words(self) -> str:
        """Its width and the limit of it."""
        return self.limit

    @property
    def program_change(self) -> str:
        """Other addresses, another mask, a hint, or another layout."""
        return self.change

    @property
    def change_subjects(self) -> tuple[str, ...]:
        """The arguments to pass otherwise, and the values to give hints about."""
        return self.subjects or super().change_subjects

    @property
    def counted(self) -> Counted:
        """Accesses of one width."""
        return Counted(self.access, f" of {count(self.width_bytes, 'byte')} per thread")

    @property
    def cost(self) -> float:
        """The wavefronts beyond those that its bytes fill."""
        return self.cycles

    def suggestions(self, finding: Finding, context: SuggestionContext) -> Sequence[Suggestion]:
        """Return the layout in which it is wide, if it saves cycles over all operations."""
        if self.encoding is None:
            return ()
        assert finding.movement is not None
        operation, encoding = finding.movement.operation, self.encoding
        key = operation.function, operation.moved, encoding
        return context.once(key, lambda: wider_registers(context.conclusions, operation, encoding))
