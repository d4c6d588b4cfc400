"""Share of a kernel's time behind a finding, and whether a change may pay.

One rule: of the time of a launch, cycles saved in one program are worth the smaller of

    saved cycles * programs / multiprocessors / time        and        1 - floor of DRAM / time

Where no time was measured it is the largest bound of the launch, without a grid that of one
program; where no rate of the GPU is known, the cycles of the program's own data movements.  What
DRAM takes at least is known with a grid only: programs may share what they read.  Where it would
be the largest bound if they share nothing, a change may pay, and no more is said.

Source:
    52 changes timed on an H200: at a share of 10 % and more 25 kernels got faster, one did not
    change, none got slower; from 5 to 10 % it was 6, 7 and 1; below that, 9 of 26 got faster.

Read next:    `tt_layout.audit.bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds import KernelBounds, kernel_bounds
from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.findings import MAY_PAY
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.values.given import PROGRAM_COUNTS
from tt_layout.enums import TextEnum
from tt_layout.tuples import NamedTuple
from tt_layout.wording import durations

PAYS = 0.10
"""Share of the time from which a change has paid."""

PAYS_IN_TIME = 0.9
"""Fraction of the time left at which a change pays beyond the error of two estimates.

Of 83 changes timed on an H100 the 50 that were estimated so got faster, 49 by more than 3 %.
"""

MAY_PAY_IN_TIME = 0.97
"""Fraction of the time left at which a change may pay."""

PAYS_OF_A_BOUND = 0.20
"""`PAYS` where no time was measured: real kernels take about twice their largest bound."""


class Verdict(TextEnum):
    """Whether a change is worth it."""

    APPLY = "apply"
    MAY_PAY = "may pay"
    SMALL = "small"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Basis(TextEnum):
    """Denominator of a share."""

    TIME = "time"
    BOUND = "bound"
    CYCLES = "data movement"


class TimeChange(NamedTuple):
    """The estimated time of a launch before and after a change.

    Attributes:
        before, after: seconds.
        most_left: the largest fraction of the time left with registers at either end of their
            range, if one of the two may spill; else 0.
    """

    before: float
    after: float
    most_left: float = 0

    @property
    def left(self) -> float:
        """Fraction of the time left after the change."""
        return self.after / self.before

    @property
    def text(self) -> str:
        """The two times in a few words.

        Example:
            >>> TimeChange(210e-6, 178e-6).text
            'about 210 to 178 us'
        """
        before, after = durations(self.before, self.after)
        number, unit = before.split()
        return f"about {number} to {after} {unit}"


class Share(NamedTuple):
    """Upper bound of the share of a kernel's time that some cycles take.

    Attributes:
        part: share, 0 to 1; None where nothing is known of the kernel's time.
        basis: denominator of the share.
        is_doubtful: whether something else may take the time: spilled registers, global memory
            of which the sectors are not known, DRAM where no grid tells what programs share, or
            more accesses to global memory by fewer programs than multiprocessors, or fewer CTAs
            on a multiprocessor.
        is_refused: whether the kernel does not compile or start with the change either.
        change: the estimated times of a launch before and after; None where the grid is not known,
            there is no estimate, or the launch was measured.
    """

    part: float | None
    basis: Basis = Basis.BOUND
    is_doubtful: bool = False
    is_refused: bool = False
    change: TimeChange | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether a change that saves it is worth it.

        Example:
            >>> str(Share(0.2).verdict), str(Share(0.12).verdict)
            ('apply', 'may pay')
            >>> str(Share(0.12, Basis.TIME).verdict), str(Share(0.2, is_doubtful=True).verdict)
            ('apply', 'may pay')
            >>> changes = [TimeChange(1e-4, left * 1e-4) for left in (0.85, 0.95, 0.99)]
            >>> [str(Share(0.5, change=change).verdict) for change in changes]
            ['apply', 'may pay', 'small']
            >>> str(Share(0.5, change=TimeChange(1e-4, 6e-5, most_left=0.95)).verdict)
            'may pay'
        """
        if self.is_refused:
            return Verdict.REFUSED
        if self.change is not None:
            left = self.change.left
            if left > MAY_PAY_IN_TIME:
                return Verdict.SMALL
            pays = max(left, self.change.most_left) <= PAYS_IN_TIME
            return Verdict.APPLY if pays else Verdict.MAY_PAY
        if self.part is None:
            return Verdict.UNKNOWN
        if self.part < MAY_PAY:
            return Verdict.SMALL
        least = PAYS if self.basis is Basis.TIME else PAYS_OF_A_BOUND
        return Verdict.APPLY if self.part >= least and not self.is_doubtful else Verdict.MAY_PAY

    @property
    def is_small(self) -> bool:
        """Whether a change pays only by chance."""
        return self.verdict is Verdict.SMALL

    @property
    def is_in_vain(self) -> bool:
        """Whether estimates before and after say that a change does not pay."""
        return self.change is not None and self.is_small

    @property
    def percent(self) -> str:
        """The share in words; empty where it is not known.

        Example:
            >>> Share(0.123).percent, Share(0.004).percent
            ('12 %', 'less than 1 %')
        """
        if self.part is None:
            return ""
        return "less than 1 %" if self.part < 0.01 else f"{100 * self.part:.0f} %"

    @property
    def of_what(self) -> str:
        """The share and its denominator.

        Example:
            >>> Share(0.12).of_what, Share(0.5, Basis.CYCLES).of_what
            ('12 % of its bound', '50 % of its data movement')
        """
        return f"{self.percent} of its {self.basis}" if self.part is not None else ""

    @property
    def text(self) -> str:
        """The share, and whether a change pays."""
        return f"{self.of_what}: {self.verdict}" if self.part is not None else ""


class Launched(NamedTuple):
    """Measurements of a launch.

    Attributes:
        cycles: duration in cycles of a multiprocessor.
        grid: programs along x, y and z; None where that is not known.
    """

    cycles: float
    grid: tuple[int, int, int] | None


class Shares:
    """Shares of cycles in the time of a module's kernels.

    Args:
        audit: audit of the module.
        launches: kernel -> measurements of a launch.
        grid: programs of a launch along x, y and z; by default those given to the audit.
    """

    def __init__(
        self,
        audit: Audit,
        launches: Mapping[str, Launched] | None = None,
        grid: Grid | None = None,
    ) -> None:
        self._audit, self._launches = audit, launches or {}
        self._grid = grid if grid is not None else grid_of(audit)
        self._bounds: dict[str | None, KernelBounds | None] = {}
        self._known: dict[str | None, bool] = {}

    def bounds(self, function: str | None) -> KernelBounds | None:
        """Return the lower bounds of a kernel's launch; None if no rates are known."""
        if function not in self._bounds:
            self._bounds[function] = self._find_bounds(function)
        return self._bounds[function]

    def _find_bounds(self, function: str | None) -> KernelBounds | None:
        audited = self._audit.audited
        grid = self.grid(function)
        return audited.once(
            ("bounds", function, grid),
            lambda: kernel_bounds(self._audit, function, grid),
        )

    def grid(self, function: str | None) -> Grid | None:
        """Return the programs of a kernel's launch along x, y and z; None where not known."""
        launched = self._launches.get(function or "")
        return (launched.grid if launched is not None else None) or self._grid

    def measured(self, function: str | None) -> float | None:
        """Return the cycles that a launch of a kernel took; None where that was not measured."""
        launched = self._launches.get(function or "")
        return launched.cycles if launched is not None else None

    def cycles(self, function: str | None) -> float:
        """Return the cycles of the data movements of a kernel, as far as they are known."""
        return self._audit.cycles_of(function)

    def of(self, function: str | None, saved: float) -> Share:
        """Return the share of cycles saved in one program of a kernel."""
        spills = any(pressure.spills for pressure in self._audit.registers_of(function))
        bounds, time = self.bounds(function), self.measured(function)
        if bounds is None or not (time or bounds.cycles):
            total = self.cycles(function)
            part = min(1.0, saved / total) if total else None
            return Share(part, Basis.CYCLES, spills)
        basis = Basis.TIME if time else Basis.BOUND
        programs = bounds.programs_per_multiprocessor
        # Accesses at unknown addresses have a price that is more than what bounds count of them.
        whole = time or max(bounds.cycles, self.cycles(function) * programs)
        part = saved * programs / whole
        if bounds.programs is not None:
            part = min(part, 1 - bounds.needed / whole)
        largest = bounds.largest
        is_alone = bounds.programs is None and largest is not None and largest.resource == "DRAM"
        is_open = not time and not self._knows_memory(function)
        return Share(max(0.0, min(1.0, part)), basis, spills or is_alone or is_open)

    def leaves_some_idle(self, function: str | None) -> bool:
        """Return whether a launch is known to have fewer programs than multiprocessors."""
        bounds = self.bounds(function)
        if bounds is None or bounds.programs is None:
            return False
        return bounds.programs_per_multiprocessor < 1

    def _knows_memory(self, function: str | None) -> bool:
        """Return whether the sectors of all accesses of a kernel to global memory are known."""
        if function not in self._known:
            costs = (row.cost for row in self._audit.movements_of(function))
            details = (cost.details for cost in costs if cost is not None)
            self._known[function] = all(
                detail.sectors is not None
                for detail in details
                if isinstance(detail, GlobalDetails)
            )
        return self._known[function]


def grid_of(audit: Audit) -> tuple[int, int, int] | None:
    """Return the programs of a launch along x, y and z, as far as they are given."""
    values = audit.audited.given.values
    counts = [values.get(name) for name in PROGRAM_COUNTS]
    if counts[0] is None:
        return None
    x, y, z = (count if count is not None else 1 for count in counts)
    return x, y, z
