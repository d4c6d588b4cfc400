"""Costs of operations in the layout of a conversion's other side."""

from __future__ import annotations

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.operations.conversions import conversion_cost
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.suggestions.flow import Flow, is_elementwise
from tt_layout.audit.suggestions.suggestion import CostChange
from tt_layout.audit.suggestions.trial import LayoutExchange, Trial
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import MovementOperation, OperationPosition
from tt_layout.ir.ssa import Operation, Value


class Prices:
    """Costs of a function's operations as they are, and in another layout.

    Args:
        conclusions: conclusions about the module.
        flow: the values of the function.
        exchange: the layouts.
    """

    def __init__(self, conclusions: Conclusions, flow: Flow, exchange: LayoutExchange) -> None:
        self.flow, self.exchange = flow, exchange
        self.conclusions = conclusions
        self.trial = Trial(conclusions.audited, exchange)
        self._conversions: dict[tuple[Value, bool], tuple[CostChange, ...] | None] = {}
        self._costs: dict[tuple[str, bool], Cost | None] = {}
        self._can_change: dict[Operation, bool] = {}
        self._operations: dict[Operation, tuple[CostChange, ...] | None] = {}
        self._flipped: dict[str, bool] = {}

    def is_flipped(self, value: Value) -> bool:
        """Tell whether a value is a tensor that could have the other layout."""
        if value.text not in self._flipped:
            old = self.flow.function.type_of(value)
            is_changed = old is not None and self.exchange.type(old) is not old
            self._flipped[value.text] = is_changed and self.flow.is_tensor(value)
        return self._flipped[value.text]

    def can_change(self, operation: Operation) -> bool:
        """Tell whether an operation could have the other layout, at a known cost."""
        if operation not in self._can_change:
            values = [*operation.operands, *operation.results]
            flips = [self.is_flipped(value) for value in values if self.flow.is_tensor(value)]
            if operation.traits.same_elements:
                can_change = flips.count(True) == 1 and self._row(operation) is not None
            elif not all(flips) or _is_free(operation):
                can_change = all(flips)
            else:
                can_change = operation.traits.any_layout and self._row(operation) is not None
            self._can_change[operation] = can_change
        return self._can_change[operation]

    def changes(self, operation: Operation) -> tuple[CostChange, ...] | None:
        """Return the cost of an operation before and after; None if it cannot change."""
        if operation not in self._operations:
            self._operations[operation] = self._changes(operation)
        return self._operations[operation]

    def _changes(self, operation: Operation) -> tuple[CostChange, ...] | None:
        if not self.can_change(operation):
            return None
        row = self._row(operation) if not _is_free(operation) else None
        if row is None:
            return ()
        try:
            after = self.trial.cost(row.operation)
        except LayoutError:
            return None
        if after is None or not _is_exact(after):
            return None
        return (CostChange(row.operation, row.executions, row.cost, after),)

    def _row(self, operation: Operation) -> MovementRow | None:
        """Return a data movement whose cost is known as it is; None of any other."""
        function = self.flow.function
        row = self.conclusions.row_at(OperationPosition(function.number, operation.position))
        is_known = row is not None and row.cost is not None and _is_exact(row.cost)
        return row if is_known else None

    def conversion(self, value: Value, *, is_back: bool) -> tuple[CostChange, ...] | None:
        """Return the cost of converting a value after its definition; None if that cannot be.

        Args:
            value: the value.
            is_back: whether it is converted back from the other layout, rather than to it.
        """
        key = value, is_back
        if key not in self._conversions:
            self._conversions[key] = self._conversion(value, is_back=is_back)
        return self._conversions[key]

    def _conversion(self, value: Value, *, is_back: bool) -> tuple[CostChange, ...] | None:
        old = self.flow.function.type_of(value)
        assert old is not None
        new, following = self.exchange.type(old), self.flow.behind.get(value)
        if following is None:
            return None
        before, after = (new, old) if is_back else (old, new)
        operation = MovementOperation(
            "ttg.convert_layout",
            self.flow.function.name,
            OperationPosition(self.flow.function.number, following.position),
            following.line,
            following.column,
            None,
            (before, after),
            before,
            after,
        )
        kind = old.text, is_back
        if kind not in self._costs:
            try:
                self._costs[kind] = conversion_cost(operation, self.conclusions.audited)
            except LayoutError:
                self._costs[kind] = None
        cost = self._costs[kind]
        runs = self.conclusions.audited.executions(operation)
        return (CostChange(operation, runs, None, cost),) if cost is not None else None


def _is_free(operation: Operation) -> bool:
    """Tell whether an operation costs the same in any layout."""
    return is_elementwise(operation) or operation.traits.repeats


def _is_exact(cost: Cost) -> bool:
    """Tell whether the sectors of an access to global memory are known, if it is one."""
    return not isinstance(cost.details, GlobalDetails) or cost.details.sectors is not None
