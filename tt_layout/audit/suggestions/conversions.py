"""Which operations make a conversion necessary, and whether one of their layouts does for both.

A conversion has anchors: the operations that determine the layout on either side.  It is not needed
if what is on one side of it works in the layout of the other side.  What is between the conversion
and its anchors is tried: elementwise operations, reductions, what loops and branches hand over;
loads, stores and other accesses at the ends.  What these take besides is computed anew in the other
layout where that is as cheap, and converted where it is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from tt_layout.audit.modules.audited_module import FullOperation
from tt_layout.audit.suggestions.context import SuggestionContext
from tt_layout.audit.suggestions.regions import ChangedRegion, cheapest_region, is_closed
from tt_layout.audit.suggestions.suggestion import BACKWARD, FORWARD, CostChange, Suggestion
from tt_layout.encodings import Encoding


def better_sides(context: SuggestionContext, full: FullOperation) -> list[Suggestion]:
    """Return the sides of a conversion that would be cheaper in the layout of the other side.

    The cheapest comes first.

    Args:
        context: for the module.
        full: the conversion.
    """
    return cheapest_first(side for side in tried_sides(context, full) if side.saved > 0)


def cheapest_first(sides: Iterable[Suggestion]) -> list[Suggestion]:
    """Sort sides of a conversion by what they save, then by the requests that they add."""
    return sorted(sides, key=lambda side: (-side.saved, side.extra_requests))


def tried_sides(context: SuggestionContext, full: FullOperation) -> Iterator[Suggestion]:
    """Yield the sides of a conversion that work in the layout of the other.

    Args:
        context: for the module.
        full: the conversion.
    """
    for where in (FORWARD, BACKWARD):
        side = context.audited.once(
            ("side", where, full.position), partial(_try_side, context, full, where)
        )
        if side is not None:
            yield side


def has_closed_side(context: SuggestionContext, full: FullOperation) -> bool:
    """Tell whether one side may work in the layout of the other without further conversions.

    Args:
        context, full: as in `tried_sides`, which takes far longer.
    """
    for where in (FORWARD, BACKWARD):
        ends = _ends(full, where)
        if ends is not None:
            prices = context.prices(full.function, *ends[1:])
            if is_closed(prices, prices.flow, full.operation, where):
                return True
    return False


def _ends(full: FullOperation, where: str) -> tuple[str, Encoding, Encoding] | None:
    """Return the layout that goes on a side of a conversion, as written, and the one that stays."""
    conversion, function = full.operation, full.function
    ends = conversion.operands[0], conversion.results[0]
    old, new = map(function.type_of, ends if where == BACKWARD else reversed(ends))
    if old is None or not isinstance(old.encoding, Encoding):
        return None
    if new is None or not isinstance(new.encoding, Encoding):
        return None
    return old.layout or "", old.encoding, new.encoding


def _try_side(context: SuggestionContext, full: FullOperation, where: str) -> Suggestion | None:
    """Return the savings of one side's layout on the other side; None if it cannot be."""
    ends = _ends(full, where)
    if ends is None:
        return None
    region = region_of(context, full, where, *ends[1:])
    if region is None:
        return None
    gone = context.conclusions.row_at(full.position)
    assert gone is not None
    changes = CostChange(gone.operation, gone.executions, gone.cost, None), *region.changes
    lines = tuple(sorted({operation.line for operation in region.operations}))
    values = frozenset(value.name for value in region.values)
    return Suggestion(where, *ends, changes, lines, values)


def region_of(
    context: SuggestionContext, full: FullOperation, where: str, old: Encoding, new: Encoding
) -> ChangedRegion | None:
    """Return the region that takes the layout of the other side, sought once; None if it cannot.

    Args:
        context: for the module.
        full: the conversion.
        where: `FORWARD` or `BACKWARD`.
        old, new: the layout that goes, and that of the other side.
    """
    key = full.operation, where
    if key not in context.regions:
        prices = context.prices(full.function, old, new)
        context.regions[key] = cheapest_region(prices, prices.flow, full.operation, where)
    return context.regions[key]
