"""``registers``: a kernel whose threads need more registers than there are.

What: kernels, and partitions of warps, that are likely to spill registers; compiled kernels that do

Cost: not counted: registers are spilled to local memory, not to shared memory

Why: the compiler keeps in local memory what has no register.  If a loop does so, nothing else
    that it does matters: on an H200 the launches that spilled 100 registers or more took 14 times
    as long, in the median, as what they move and compute needs at least.

How to fix: smaller blocks, so that the largest tensors have 8 to 32 elements per thread.  Over
    four kernels in 136 variants, those with 16 to 32 took 1.1 times the best time in the median,
    those with 256 and more 11 times.  Try a smaller block before more warps, which lower the
    limit.  If each tensor is that small, keep fewer of them live at the line: compute values
    again instead of keeping them, and load behind a multiplication that does not need what is
    loaded.

When it does not pay: the number is an estimate from the dump (docs/registers.md).  A few spills
    outside of loops cost nothing that can be measured.  The spills of the compiled kernel replace
    the estimate if it is available: beside the dump, given, or loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence, Urgency
from tt_layout.audit.registers import RegisterPressure
from tt_layout.ir.short_names import short_layout
from tt_layout.records import dataclass
from tt_layout.wording import count

NAMED = 3
"""Values at the peak that are named."""

MOST_EACH = 32
"""Registers of a value in a block that is small enough."""

SMALLER = "use a smaller block, so that each has 8 to 32 elements per thread, before more warps"
FEWER = "keep fewer of these at once: load each where it is used, or compute it again"


@dataclass(frozen=True)
class Spills(Occurrence):
    """A kernel that is likely to spill.

    Attributes:
        pressure: its registers.
    """

    kind = "registers"
    order = 5
    heading = "spills"
    urgency = Urgency.SPILLS

    pressure: RegisterPressure

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the kernels of a module that are likely to spill."""
        for pressure in conclusions.registers:
            if pressure.spills:
                name = f"@{pressure.function}"
                if pressure.partition is not None:
                    name += f", partition {pressure.partition}"
                locations = (
                    full.function.location(full.operation)
                    for full in conclusions.audited.operations
                    if full.operation.line == pressure.line
                )
                facts = name, pressure.function, (cls(pressure),), next(locations, None)
                yield Finding(pressure.line, *facts)

    @property
    def words(self) -> str:
        """The live registers and their limit."""
        pressure = self.pressure
        large = ", ".join(
            f"{value.name} ({value.type.removeprefix('tensor<').removesuffix('>')}, "
            f"{short_layout(value.layout)}) {value.registers}"
            for value in pressure.values[:NAMED]
        )
        text = f"spills are likely: {pressure.amount.replace('registers', 'registers per thread')}"
        if pressure.compiled is not None and pressure.spilled:
            spilled = count(pressure.spilled, "register")
            text = f"the compiled kernel ({pressure.compiled.source}) spills {spilled} per thread"
            text += f", beside {pressure.compiled.used} of {pressure.limit}"
        if large:
            text += f"; live here: {large}"
        alone = next(
            (value for value in pressure.values if value.registers >= pressure.limit), None
        )
        if alone is not None:
            text += f"; {alone.name} alone takes all"
        return text

    @property
    def program_change(self) -> str:
        """Smaller tensors, or fewer of them at once where each is small."""
        largest = max((value.registers for value in self.pressure.values), default=0)
        if not largest:
            return ""
        return SMALLER if largest > MOST_EACH else FEWER

    @property
    def link(self) -> str:
        """The separator between the name and the words."""
        return ": "

    @property
    def counted(self) -> Counted:
        """Its noun in the line of a kernel."""
        return Counted("", "spills likely" if self.pressure.spilled is None else "spills")

    def headline(self, number: int, first: Finding) -> str:
        """Return how many registers are needed, and where."""
        return self.pressure.text
