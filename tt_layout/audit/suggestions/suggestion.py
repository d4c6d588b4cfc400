"""A better layout for a finding, and what it saves."""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.suggestions.trial import LayoutExchange
from tt_layout.audit.values.executions import AT_MOST, Executions, assumed_runs
from tt_layout.audit.values.expressions import PRODUCT, Expression
from tt_layout.encodings import Encoding
from tt_layout.ir.operations import MovementOperation
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

EVERYWHERE = "everywhere"
FORWARD = "after the conversion"
BACKWARD = "before the conversion"


class CostChange(NamedTuple):
    """Cost of a data movement before and after a change.

    Attributes:
        operation: the operation; an added conversion has the line before which it is inserted.
        executions: its executions.
        before, after: its cost; None where the operation does not exist.
    """

    operation: MovementOperation
    executions: Executions
    before: Cost | None
    after: Cost | None

    @property
    def saved(self) -> float:
        """Cycles saved in one execution; negative where it gets more expensive."""
        before, after = (
            cost.cycles if cost is not None else 0 for cost in (self.before, self.after)
        )
        return before - after

    @property
    def saved_in_program(self) -> float:
        """Cycles saved in one program, loops counted as findings count them."""
        return self.saved * assumed_runs(self.executions)

    @property
    def extra_requests(self) -> float:
        """The cycles or requests that an access to global memory takes more, each time."""
        if self.after is None or not self.after.requests:
            return 0
        before = self.before.requests if self.before is not None else 0
        return max(-self.saved, self.after.requests - before, 0)


@dataclass(frozen=True)
class Suggestion:
    """A better layout, found by costing every data movement that it touches.

    Attributes:
        where: `EVERYWHERE` that the old layout is used, or on one side of the conversion only.
        old: the replaced layout, as the dump writes it.
        replaced: the replaced layout.
        encoding: the layout to use.
        changes: the data movements whose cost it changes.
        lines: lines of the operations that take the new layout, if not all do.
        values: values that take the new layout, if not all of the old one do.
    """

    where: str
    old: str
    replaced: Encoding
    encoding: Encoding
    changes: tuple[CostChange, ...]
    lines: tuple[int, ...] = ()
    values: frozenset[str] | None = None

    def __hash__(self) -> int:
        return hash((self.where, self.old, self.lines))

    @property
    def exchange(self) -> LayoutExchange:
        """The layouts that take the place of others."""
        return LayoutExchange.between(self.replaced, self.encoding)

    @property
    def saved(self) -> float:
        """Cycles saved in one program, loops counted as findings count them."""
        return sum(change.saved_in_program for change in self.changes)

    @property
    def extra_requests(self) -> float:
        """The cycles or requests that it adds to accesses to global memory, in one program."""
        return sum(
            change.extra_requests * assumed_runs(change.executions) for change in self.changes
        )

    @property
    def worse(self) -> tuple[CostChange, ...]:
        """The data movements that get more expensive."""
        return tuple(change for change in self.changes if change.saved < 0)

    @property
    def conversions_added(self) -> tuple[CostChange, ...]:
        """The conversions that it adds."""
        return tuple(change for change in self.changes if change.before is None)

    @property
    def unknown(self) -> tuple[CostChange, ...]:
        """The copies to shared memory with unknown shared-memory cycles."""
        return tuple(change for change in self.changes if _enters_unknown(change.after))

    @property
    def sums(self) -> tuple[float, float]:
        """The cycles in one program of all changed data movements, before and after."""
        before = after = 0.0
        for change in self.changes:
            runs = assumed_runs(change.executions)
            before += change.before.cycles * runs if change.before is not None else 0
            after += change.after.cycles * runs if change.after is not None else 0
        return before, after

    @property
    def saved_text(self) -> str:
        """The cycles saved in one program, as an expression where loops are not known."""
        return in_all([(change.saved, change.executions) for change in self.changes])


def _enters_unknown(cost: Cost | None) -> bool:
    """Tell whether the shared-memory wavefronts of a copy are unknown."""
    details = cost.details if cost is not None else None
    if not isinstance(details, GlobalDetails) or details.entry is None:
        return False
    return details.entry.wavefronts is None


def in_all(terms: Sequence[tuple[float, Executions]]) -> str:
    """Write the sum of cycles times executions.

    Example:
        >>> loop = Executions(None, "ceildiv(%K, 32) - 2", None, binding=1)
        >>> in_all([(64, loop), (8, Executions(1, "1", None))])
        '64 * (ceildiv(%K, 32) - 2) + 8'
        >>> in_all([(64, Executions(None, "at most %n", None))])
        'at most 64 * %n'
    """
    certain = sum(cycles * e.number for cycles, e in terms if e.number is not None)
    uncertain: dict[str, float] = {}
    is_bound = False
    for cycles, executions in terms:
        if executions.number is None and cycles:
            text = "executions" if executions.is_unknown else executions.text
            is_bound |= text.startswith(AT_MOST)
            runs = Expression(text.removeprefix(AT_MOST), executions.binding).within(PRODUCT)
            uncertain[runs] = uncertain.get(runs, 0) + cycles
    products = [f"{cycles:g} * {runs}" for runs, cycles in uncertain.items() if cycles]
    total = " + ".join(products + ([f"{certain:g}"] if certain != 0 or not products else []))
    return f"{AT_MOST}{total}" if is_bound else total
