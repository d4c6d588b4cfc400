"""``conversions``: a change of layout that moves data between threads.

What: conversions through shared memory, across CTAs or by shuffles

Cost: all their cycles

Why: a conversion computes nothing.  One through shared memory stores and loads every element,
    waits for all warps in between, and takes scratch memory.

How to fix: let one side of it work in the layout of the other side.  The report names the
    operations that determine either layout, and counts the cost of every change.

When it does not pay: the layout of a matrix instruction is fixed, and a store or load of global
    memory in it may touch more lines than the conversion takes cycles.  A conversion that runs
    once beside a loop is seldom worth a change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.analyses.conversion.conversion import ConversionKind
from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence
from tt_layout.audit.modules.audited_module import FullOperation
from tt_layout.audit.operations.details import ConversionDetails
from tt_layout.audit.suggestions.context import ConversionReason, LayoutAnchor, SuggestionContext
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.ir.operations import layout_of
from tt_layout.records import dataclass

_ROUTES = {
    ConversionKind.SHARED_MEMORY: ("goes through shared memory", " through shared memory"),
    ConversionKind.ACROSS_CTAS: ("goes across CTAs", " across CTAs"),
    ConversionKind.SHUFFLES: ("takes shuffles", " by shuffles"),
}
"""Class of a conversion -> its route as a verb phrase, and as a suffix of a noun."""


@dataclass(frozen=True)
class CostlyConversion(Occurrence):
    """A conversion that moves data between threads.

    Attributes:
        source, target: the layouts, as the dump writes them.
        route: its class, of `_ROUTES`.
        counts: its counts in words.
        cycles: cycles of one execution.
    """

    kind = "conversions"
    order = 10
    heading = "conversions"
    absence = "", "conversions through shared memory"

    source: str
    target: str
    route: ConversionKind
    counts: str
    cycles: float

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the conversions of a module that move data between threads."""
        for row in rows:
            cost = row.cost
            if cost is None or not isinstance(cost.details, ConversionDetails):
                continue
            route = cost.details.kind
            if route in _ROUTES:
                ends = layout_of(row.operation.source), layout_of(row.operation.target)
                counts = cost.text.removeprefix(route)
                yield Finding.of_movement(row, cls(*ends, route, counts, cost.extra))

    @property
    def words(self) -> str:
        """The two layouts, the route, and the counts."""
        return f"from {self.source} to {self.target} {_ROUTES[self.route][0]}{self.counts}"

    @property
    def counted(self) -> Counted:
        """Conversions of one class."""
        return Counted("conversion", _ROUTES[self.route][1])

    @property
    def cost(self) -> float:
        """All of it."""
        return self.cycles

    def reason(self, finding: Finding, context: SuggestionContext) -> ConversionReason | None:
        """Return the producer of its source layout, and the user of the other."""
        full = _whole(finding, context)
        if full is None:
            return None
        flow, function = context.flow(full.function), full.function
        ends = (
            flow.producers(full.operation.operands[0]),
            flow.consumers(full.operation.results[0]),
        )
        return ConversionReason(
            *(
                tuple(LayoutAnchor(o.name, o.line, function.location(o)) for o in end)
                for end in ends
            )
        )

    def costlier(self, finding: Finding, context: SuggestionContext) -> Sequence[Suggestion]:
        """Return both sides in the layout of the other, where each costs more.

        One that is only reached by other conversions is no other way.
        """
        from tt_layout.audit.suggestions.conversions import (
            cheapest_first,
            has_closed_side,
            tried_sides,
        )

        full = _whole(finding, context)
        if full is None or context.audited.gpu is None:
            return ()
        if not has_closed_side(context, full):
            return ()
        costlier: list[Suggestion] = []
        for suggestion in tried_sides(context, full):
            if suggestion.saved > 0:
                return ()
            if not suggestion.conversions_added:
                costlier.append(suggestion)
        return cheapest_first(costlier)

    def suggestions(self, finding: Finding, context: SuggestionContext) -> Sequence[Suggestion]:
        """Return the sides that would be cheaper in the layout of the other side."""
        from tt_layout.audit.suggestions.conversions import better_sides

        full = _whole(finding, context)
        if full is None:
            return ()
        return better_sides(context, full)


def _whole(finding: Finding, context: SuggestionContext) -> FullOperation | None:
    """Return a conversion with its operand and its result; None where one is missing."""
    assert finding.movement is not None
    full = context.audited.in_full(finding.movement.operation)
    is_whole = full is not None and full.operation.operands and full.operation.results
    return full if is_whole else None
