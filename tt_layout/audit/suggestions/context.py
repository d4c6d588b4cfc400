"""Inputs of rules for the reason of a finding and for cheaper alternatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.prices import Prices
from tt_layout.audit.suggestions.regions import ChangedRegion
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.audit.suggestions.trial import LayoutExchange
from tt_layout.encodings import Encoding
from tt_layout.ir.operations import Location, MovementOperation
from tt_layout.ir.ssa import Function, Operation
from tt_layout.tuples import NamedTuple


class LayoutAnchor(NamedTuple):
    """An operation that determines a layout.

    Attributes:
        operation: its name.
        line: line in the dump.
        location: location in the user's program; None where the dump has none.
    """

    operation: str
    line: int
    location: Location | None


class ConversionReason(NamedTuple):
    """Why a conversion is there: the producers of its source layout, and users of the other."""

    producers: tuple[LayoutAnchor, ...]
    consumers: tuple[LayoutAnchor, ...]


class SuggestionContext:
    """A module, with answers that suggestions for several of its findings share.

    Attributes:
        conclusions: conclusions about the module.
        audited: the module.
        regions: cache of regions, by conversion and side.
    """

    def __init__(self, conclusions: Conclusions) -> None:
        self.conclusions, self.audited = conclusions, conclusions.audited
        self.regions: dict[tuple[Operation, str], ChangedRegion | None] = {}
        self._flows: dict[Function, Flow] = {}
        self._prices: dict[tuple[Function, Encoding, Encoding], Prices] = {}
        self._known: dict[object, tuple[Suggestion, ...]] = {}

    def flow(self, function: Function) -> Flow:
        """Return the values of a function and who uses them."""
        if function not in self._flows:
            self._flows[function] = Flow(function)
        return self._flows[function]

    def prices(self, function: Function, old: Encoding, new: Encoding) -> Prices:
        """Return the prices of a function's operations with one layout in the place of another.

        All conversions between the two share them: an operation costs the same for each of them.
        """
        key = function, old, new
        if key not in self._prices:
            exchange = LayoutExchange.between(old, new)
            self._prices[key] = Prices(self.conclusions, self.flow(function), exchange)
        return self._prices[key]

    def once(
        self, question: object, answer: Callable[[], Sequence[Suggestion]]
    ) -> tuple[Suggestion, ...]:
        """Return suggestions that several findings share, sought once."""
        if question not in self._known:
            self._known[question] = tuple(answer())
        return self._known[question]

    def better_buffers(self, operation: MovementOperation) -> tuple[Suggestion, ...]:
        """Return layouts that save cycles over all accesses to the buffers of one of them."""
        from tt_layout.audit.suggestions.buffers import better_buffers

        key = operation.group, operation.source, operation.target
        return self.once(key, lambda: better_buffers(self.conclusions, operation))
