"""A module with some layouts exchanged, to cost its operations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from tt_layout.audit.global_memory.cost import names_no_line
from tt_layout.audit.global_memory.width import AccessAnalysis
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.costs import cost_of
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.executions import Executions
from tt_layout.encodings import Encoding
from tt_layout.encodings.slice import Slice
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import MovementOperation, OperationPosition
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.ir.types import IRType
from tt_layout.lazy import lazy
from tt_layout.records import dataclass

ACCESSES = frozenset({MovementKind.GLOBAL_LOAD, MovementKind.GLOBAL_STORE})
"""Data movements whose cost depends on the backward slices of their operands."""


class LayoutExchange:
    """Layouts that take the place of others, also as their parents.

    Attributes:
        pairs: the layouts, each with its replacement.

    Example:
        >>> import tt_layout
        >>> rows, columns = (tt_layout.parse_layout(
        ...     "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], "
        ...     f"warpsPerCTA = [4, 1], order = {order}}}>") for order in ([1, 0], [0, 1]))
        >>> part = tt_layout.parse_layout(f"#ttg.slice<{{dim = 1, parent = {rows}}}>")
        >>> print(LayoutExchange({rows: columns}).encoding(part).parent.order)
        (0, 1)
    """

    def __init__(self, layouts: Mapping[Encoding, Encoding]) -> None:
        self.pairs = tuple(layouts.items())
        self._layouts = dict(layouts)
        self._types: dict[IRType, IRType] = {}
        self._texts: dict[Encoding, str] = {}

    @classmethod
    def between(cls, old: Encoding, new: Encoding) -> LayoutExchange:
        """Exchange a layout for another; of slices along one dimension, their parents.

        Then what becomes of a slice by ``tt.expand_dims`` is exchanged, too.
        """
        while isinstance(old, Slice) and isinstance(new, Slice) and old.dim == new.dim:
            old, new = old.parent, new.parent
        return cls({new: new, old: new})

    def encoding(self, old: Encoding) -> Encoding:
        """Return the replacement of a layout: itself, if nothing replaces it."""
        new = self._layouts.get(old)
        if new is None:
            parents: dict[str, Any] = {
                item.name: self.encoding(value)
                for item in (fields(old) if any(True for _ in old.parents()) else ())
                if isinstance(value := getattr(old, item.name), Encoding)
            }
            changed = any(getattr(old, name) is not parent for name, parent in parents.items())
            new = self._layouts[old] = replace(old, spelling=None, **parents) if changed else old
        return new

    def type(self, old: IRType) -> IRType:
        """Return a type with its layout exchanged; itself, where that stays."""
        if not isinstance(old.encoding, Encoding):
            return old
        exchanged = self._types.get(old)
        if exchanged is None:
            new = self.encoding(old.encoding)
            is_same = new == old.encoding
            if not is_same and new not in self._texts:
                self._texts[new] = str(new)
            exchanged = old if is_same else old._replace(encoding=new, layout=self._texts[new])
            self._types[old] = exchanged
        return exchanged

    def operation(self, old: MovementOperation) -> MovementOperation:
        """Return an operation with its types exchanged; itself, where they stay."""
        types = tuple(map(self.type, old.types))
        if types == old.types:
            return old
        ends = (self.type(end) if end is not None else None for end in (old.source, old.target))
        source, target = ends
        return old._replace(types=types, source=source, target=target)


@dataclass(frozen=True, eq=False)
class ExchangedFunction(Function):
    """A function with layouts exchanged in the types of its values, or of some."""

    exchange: LayoutExchange | None = None
    values_changed: frozenset[Value] | None = None

    @property
    def has_uniform_types(self) -> bool:
        """Whether the types of all values are exchanged alike."""
        return self.values_changed is None

    def type_of(self, value: Value) -> IRType | None:
        """Return the type of a value; None for a scalar or an unknown value."""
        old = super().type_of(value)
        if old is None or self.exchange is None:
            return old
        is_kept = self.values_changed is not None and value not in self.values_changed
        return old if is_kept else self.exchange.type(old)


def exchanged(
    function: Function, exchange: LayoutExchange, changed: frozenset[Value] | None = None
) -> ExchangedFunction:
    """Return a function with layouts exchanged.

    Args:
        function: the function.
        exchange: the layouts.
        changed: the values whose types change; None for all.
    """
    values = {item.name: getattr(function, item.name) for item in fields(Function)}
    return ExchangedFunction(**values, exchange=exchange, values_changed=changed)


class Trial(AuditedModule):
    """A module as if its layouts were exchanged, with the same facts about its values."""

    def __init__(self, audited: AuditedModule, exchange: LayoutExchange) -> None:
        super().__init__(audited.module, audited.shared, audited.given)
        self._audited = audited
        self.exchange = exchange
        self._functions: dict[Function, ExchangedFunction] = {}
        self._originals: dict[Function, Function] = {}

    def at(self, position: OperationPosition) -> FullOperation | None:
        """Return the operation at a position, in a function whose layouts are exchanged."""
        full = self._audited.at(position)
        return self._exchanged(full) if full is not None else None

    @property
    def operations(self) -> Iterator[FullOperation]:
        """Every operation, in functions whose layouts are exchanged."""
        return map(self._exchanged, self._audited.operations)

    def operations_of(self, function: str | None) -> Iterator[FullOperation]:
        """Yield the operations of a name's functions, whose layouts are exchanged."""
        return map(self._exchanged, self._audited.operations_of(function))

    def chosen(
        self, is_chosen: Callable[[Operation], bool], function: str | None = None
    ) -> Iterator[FullOperation]:
        """Yield the operations of one kind, in functions whose layouts are exchanged."""
        return map(self._exchanged, self._audited.chosen(is_chosen, function))

    def kernel(self, function: Function) -> AccessAnalysis | None:
        """Return the global-memory facts of a function, independent of its layouts."""
        if function not in self._kernels:
            kernel = self._audited.kernel(self._original(function))
            if kernel is None:
                return None
            self._kernels[function] = kernel.laid_out(function)
        return self._kernels[function]

    def evaluator(self, function: Function) -> Evaluator:
        """Return the evaluator of a function, which shares the values of the original's."""
        if function not in self._evaluators:
            original = self._audited.evaluator(self._original(function))
            self._evaluators[function] = original.laid_out(function)
        return self._evaluators[function]

    def runs(self, full: FullOperation) -> Executions:
        """Return how often an operation runs: as often, whatever the layouts."""
        return self._audited.runs(full._replace(function=self._original(full.function)))

    def identity(self, function: Function) -> Hashable:
        """Return a key that functions share which are equal but for exchanged layouts."""
        return self._audited.identity(self._original(function))

    def cost(self, operation: MovementOperation) -> Cost | None:
        """Return the cost of an operation in the trial.

        Raises:
            UnsupportedError: the compiler would refuse it.
            LayoutError: it cannot be determined.
        """
        return cost_of(self.exchange.operation(operation), self)

    def price(self, operation: MovementOperation) -> Cost | None:
        """Return the cost of an operation; raises as `cost` does.

        Accesses to global memory that are computed alike are costed once, also of edited texts.
        """
        full = self._audited.in_full(operation) if operation.group in ACCESSES else None
        number = self._audited.alike.get(full.operation) if full is not None else None
        kernel = self._audited.kernel(full.function) if full is not None else None
        if full is None or number is None or kernel is None:
            return self.cost(operation)
        joined = kernel.joined_scalars.get(full.operation.position)
        key = number, joined, kernel.is_narrowed(full.operation)
        if key in self._prices:
            return self._prices[key]
        cost = self.cost(operation)
        if cost is None or names_no_line(cost, full.function):
            self._prices[key] = cost
        return cost

    @lazy
    def _prices(self) -> dict[Hashable, Cost | None]:
        context = self._audited.surroundings, self.exchange.pairs
        return self.shared.prices.within(context)

    def _original(self, function: Function) -> Function:
        return self._originals[function]

    def _exchanged(self, full: FullOperation) -> FullOperation:
        function = full.function
        if function not in self._functions:
            self._functions[function] = exchanged(function, self.exchange)
            self._originals[self._functions[function]] = function
        return full._replace(function=self._functions[function])
