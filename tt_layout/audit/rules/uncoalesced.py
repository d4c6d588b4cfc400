"""``uncoalesced``: an access to global memory that touches more sectors than its bytes fill.

What: accesses to global memory that touch more sectors than they need

Cost: the wavefronts beyond those that the bytes fill, 128 in each

Why: memory moves whole sectors of 32 bytes (64 on AMD).  The unused bytes of a sector are moved
    for nothing, and lanes in different lines pass one after the other.

How to fix: let neighbouring lanes access neighbouring addresses: another order of the layout, or
    of the pointers' dimensions, or another arrangement of the data.

When it does not pay: the rest of a sector may be used by the next access before it leaves the
    cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.records import dataclass

SECTOR_BYTES = 32  # NVIDIA's


@dataclass(frozen=True)
class Uncoalesced(Occurrence):
    """An access that touches more sectors than it needs.

    Attributes:
        access: noun for the access.
        sectors, ideal: touched sectors, and the sectors that the bytes fill.
        sector_bytes: size of a sector.
        counts: its counts in words; empty where the finding also says why it is narrow.
        cycles: wavefronts beyond those that its bytes fill.
    """

    kind = "uncoalesced"
    order = 40
    heading = "uncoalesced"
    absence = "uncoalesced", "accesses"

    access: str
    sectors: int
    ideal: int
    sector_bytes: int
    counts: str
    cycles: float

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the accesses of a module that touch too many sectors."""
        for row in rows:
            details = row.cost.details if row.cost is not None else None
            if row.cost is None or not isinstance(details, GlobalDetails):
                continue
            sectors, ideal = details.sectors, details.ideal_sectors
            if sectors is not None and ideal is not None and sectors > ideal:
                counts = row.cost.text if row.cost.finding is None else ""
                numbers = sectors, ideal, details.sector_bytes
                yield Finding.of_movement(row, cls(row.access, *numbers, counts, row.cost.extra))

    @property
    def words(self) -> str:
        """The sectors touched, and those that would do."""
        if not self.counts:
            return ""
        is_sector = self.sector_bytes == SECTOR_BYTES
        unit = "sectors" if is_sector else f"{self.sector_bytes}-byte transactions"
        return f"touches {self.sectors} {unit}; {self.ideal} would do: {self.counts}"

    @property
    def counted(self) -> Counted:
        """Accesses of one direction."""
        return Counted(f"uncoalesced {self.access}")

    @property
    def cost(self) -> float:
        """The wavefronts beyond those that its bytes fill."""
        return self.cycles
