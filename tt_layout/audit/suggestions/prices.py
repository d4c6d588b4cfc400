"""Costs of operations in the layout of a conversion's other side."""

from __future__ import annotations

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.operations.conversions import conversion_cost
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.suggestions.flow import Flow, is_elementwise
from tt_layout.audit.suggestions.suggestion import Recost
from tt_layout.audit.suggestions.trial import Exchange, Trial
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import Operation
from tt_layout.ir.ssa import SsaOperation, Value


class Prices:
    """Costs of a function's operations as they are, and in another layout.

    Args:
        conclusions: conclusions about the module.
        flow: the values of the function.
        exchange: the layouts.
    """

    def __init__(self, conclusions: Conclusions, flow: Flow, exchange: Exchange) -> None:
        self.flow, self.exchange = flow, exchange
        self.conclusions = conclusions
        self.trial = Trial(conclusions.audited, exchange)
        self._converted: dict[tuple[Value, bool], tuple[Recost, ...] | None] = {}
        self._costs: dict[tuple[str, bool], Cost | None] = {}
        self._changes: dict[SsaOperation, bool] = {}
        self._owns: dict[SsaOperation, tuple[Recost, ...] | None] = {}
        self._flipped: dict[str, bool] = {}

    def is_flipped(self, value: Value) -> bool:
        """Tell whether a value is a tensor that could have the other layout."""
        if value.text not in self._flipped:
            old = self.flow.function.type_of(value)
            is_changed = old is not None and self.exchange.type(old) is not old
            self._flipped[value.text] = is_changed and self.flow.is_tensor(value)
        return self._flipped[value.text]

    def can_change(self, operation: SsaOperation) -> bool:
        """Tell whether an operation could have the other layout, at a known cost."""
        if operation not in self._changes:
            self._changes[operation] = self._can_change(operation)
        return self._changes[operation]

    def _can_change(self, operation: SsaOperation) -> bool:
        values = [*operation.operands, *operation.results]
        changes = [self.is_flipped(value) for value in values if self.flow.is_tensor(value)]
        if operation.traits.same_elements:
            return changes.count(True) == 1 and self._row(operation) is not None
        if not all(changes) or _is_free(operation):
            return all(changes)
        return operation.traits.any_layout and self._row(operation) is not None

    def own(self, operation: SsaOperation) -> tuple[Recost, ...] | None:
        """Return the cost of an operation before and after; None if it cannot change."""
        if operation not in self._owns:
            self._owns[operation] = self._own(operation)
        return self._owns[operation]

    def _own(self, operation: SsaOperation) -> tuple[Recost, ...] | None:
        if not self.can_change(operation):
            return None
        row = self._row(operation) if not _is_free(operation) else None
        return self._recost(row) if row is not None else ()

    def _row(self, operation: SsaOperation) -> MovementRow | None:
        """Return a data movement whose cost is known as it is; None of any other."""
        row = self.conclusions.row_at(operation.line, operation.column)
        is_known = row is not None and row.cost is not None and _is_exact(row.cost)
        return row if is_known else None

    def _recost(self, row: MovementRow) -> tuple[Recost, ...] | None:
        try:
            after = self.trial.cost(row.operation)
        except LayoutError:
            return None
        if after is None or not _is_exact(after):
            return None
        return (Recost(row.operation, row.executions, row.cost, after),)

    def inward(self, value: Value) -> tuple[Recost, ...] | None:
        """Return the cost of converting a value to the other layout; None if that cannot be."""
        return self._conversion(value, is_back=False)

    def outward(self, value: Value) -> tuple[Recost, ...] | None:
        """Return the cost of converting a value back; None if that cannot be."""
        return self._conversion(value, is_back=True)

    def _conversion(self, value: Value, *, is_back: bool) -> tuple[Recost, ...] | None:
        key = value, is_back
        if key not in self._converted:
            self._converted[key] = self._added(value, is_back=is_back)
        return self._converted[key]

    def _added(self, value: Value, *, is_back: bool) -> tuple[Recost, ...] | None:
        """Return the cost of a conversion after the definition of a value."""
        old = self.flow.function.type_of(value)
        assert old is not None
        before, after = (
            (self.exchange.type(old), old) if is_back else (old, self.exchange.type(old))
        )
        place = self.flow.behind.get(value)
        if place is None:
            return None
        operation = Operation(
            "ttg.convert_layout",
            self.flow.function.name,
            place.line,
            place.column,
            None,
            (before, after),
            before,
            after,
        )
        kind = old.text, is_back
        if kind not in self._costs:
            self._costs[kind] = self._cost(operation)
        cost = self._costs[kind]
        runs = self.conclusions.audited.executions(operation)
        return (Recost(operation, runs, None, cost),) if cost is not None else None

    def _cost(self, conversion: Operation) -> Cost | None:
        """Return the cost of a conversion; None if it is not known."""
        try:
            return conversion_cost(conversion, self.conclusions.audited)
        except LayoutError:
            return None


def _is_free(operation: SsaOperation) -> bool:
    """Tell whether an operation costs the same in any layout."""
    return is_elementwise(operation) or operation.traits.repeats


def _is_exact(cost: Cost) -> bool:
    """Tell whether the sectors of an access to global memory are known, if it is one."""
    return not isinstance(cost.details, GlobalDetails) or cost.details.sectors is not None
