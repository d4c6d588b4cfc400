"""``narrow-loads``: an access to global memory of less than 16 bytes of a thread at a time.

What: accesses to global memory of less than 16 bytes at a time, with the reason, its line,
    and a fix (`docs/global-memory.md`)

Cost: the wavefronts beyond those that the bytes fill, 128 in each

Why: the load-store unit passes 128 bytes of a line in a cycle; 32 lanes that move less than 4
    bytes each fill a part of that, and where their bytes are apart they touch every line several
    times.  4 bytes of a thread in a row cost no more than 16, but four times the instructions.

How to fix: the message names what limits the width: the layout, the alignment of a pointer, a
    stride or a mask that the compiler knows too little of, and the hint that tells it.

When it does not pay: a kernel that waits for DRAM is not faster with fewer requests; a small
    tensor has not enough elements for all threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.findings import Counted, Finding, Occurrence
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.details import GlobalDetails, SharedDetails
from tt_layout.wording import count


@dataclass(frozen=True)
class NarrowAccess(Occurrence):
    """An access that moves fewer bytes at a time than it could.

    Attributes:
        access: what the access is, as a noun.
        width_bytes: that a thread moves at a time.
        limit: what limits it, and the way out.
        has_fix: whether there is one.
        cycles: the wavefronts beyond those that its bytes fill.
    """

    kind: ClassVar[str] = "narrow-loads"
    order: ClassVar[int] = 30
    heading: ClassVar[str] = "narrow"
    absence: ClassVar[tuple[str, str] | None] = "narrow", "accesses"

    access: str
    width_bytes: int
    limit: str
    has_fix: bool
    cycles: float

    @classmethod
    def find(cls, found: Conclusions, audited: AuditedModule) -> Iterator[Finding]:
        """Yield the narrow accesses of a module."""
        for row in found.movements:
            cost = row.cost
            if cost is None or cost.finding is None:
                continue
            if isinstance(cost.details, (GlobalDetails, SharedDetails)):
                facts = row.access, cost.details.width_bytes, cost.finding
                yield Finding.of_movement(row, cls(*facts, _has_fix(cost.details), cost.extra))

    @property
    def words(self) -> str:
        """How wide it is, what limits it, and the way out."""
        return self.limit

    @property
    def is_avoidable(self) -> bool:
        """Whether there is a way out, which its words name."""
        return self.has_fix

    @property
    def counted(self) -> Counted:
        """Accesses of one width."""
        return Counted(self.access, f" of {count(self.width_bytes, 'byte')} per thread")

    @property
    def cost(self) -> float:
        """The wavefronts beyond those that its bytes fill."""
        return self.cycles


def _has_fix(details: GlobalDetails | SharedDetails) -> bool:
    """Tell whether the finding about an access names a way out."""
    limit = details.limited_by if isinstance(details, GlobalDetails) else None
    return limit is None or limit.has_fix
