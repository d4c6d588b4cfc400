"""Which operations make a conversion necessary, and whether one of their layouts does for both.

Behind a conversion stand its anchors: the operations that determine the layout on either side.  A
conversion is not needed if what stands on one side of it works in the layout of the other side.
Tried is what lies between the conversion and its anchors in one block: elementwise operations, and
loads, stores and other accesses at the ends.  What these take besides is computed anew in the other
layout where that is as cheap, and converted where it is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.conversions import conversion_cost
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.suggestions.flow import MAX_REGION, Flow, is_elementwise
from tt_layout.audit.suggestions.suggestion import BACKWARD, FORWARD, Recost, Suggestion
from tt_layout.audit.suggestions.trial import Exchange, Trial
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import Operation
from tt_layout.ir.ssa import SsaOperation

STORES = frozenset({"tt.store", "ttg.local_store", "ttg.local_alloc", "tt.atomic_rmw"})
"""Operations at the end that can take another layout, besides conversions."""

LOADS = frozenset({"tt.load", "ttg.local_load"})
"""Operations at the beginning that can."""


@dataclass
class Side:
    """What takes another layout.

    Attributes:
        inner: elementwise operations, by their line and column.
        ends: accesses and conversions at the ends of it.
        values: in it, which all take the layout.
        inputs: values from outside that would have to take it, too, and what takes each.
    """

    inner: list[SsaOperation] = field(default_factory=list)
    ends: list[SsaOperation] = field(default_factory=list)
    values: set[str] = field(default_factory=set)
    inputs: dict[str, list[SsaOperation]] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        """Whether the value is computed anew instead."""
        return not (self.inner or self.ends)


def better_sides(
    concluded: Conclusions, audited: AuditedModule, full: FullOperation, flow: Flow
) -> list[Suggestion]:
    """Return the sides of a conversion that would be cheaper in the layout of the other side."""
    return [one for one in tried_sides(concluded, audited, full, flow) if one.saved > 0]


def tried_sides(
    concluded: Conclusions, audited: AuditedModule, full: FullOperation, flow: Flow
) -> list[Suggestion]:
    """Return the sides of a conversion that work in the layout of the other, the cheapest first.

    Args:
        concluded: what is concluded from the module.
        audited: the module.
        full: the conversion.
        flow: the values of its function.
    """
    found = []
    for where in (FORWARD, BACKWARD):
        one = _try_side(concluded, audited, full, where, flow)
        if one is not None:
            found.append(one)
    return sorted(found, key=lambda one: -one.saved)


def _try_side(
    concluded: Conclusions, audited: AuditedModule, full: FullOperation, where: str, flow: Flow
) -> Suggestion | None:
    """Return what it saves to use the layout of one side on the other; None where it cannot be."""
    conversion, function = full.operation, full.function
    names = conversion.operands[0], conversion.results[0].name
    old, new = map(function.type_of, names if where == BACKWARD else reversed(names))
    if old is None or not isinstance(old.encoding, Encoding):
        return None
    if new is None or not isinstance(new.encoding, Encoding):
        return None
    region = side_of(flow, conversion, where)
    if region is None:
        return None
    exchange = Exchange({old.encoding: new.encoding})
    try:
        recosts = [*_recosts(concluded, audited, region, conversion, exchange, flow)]
    except LayoutError:
        return None
    lines = tuple(sorted({one.line for one in (*region.inner, *region.ends)}))
    return Suggestion(where, old.layout or "", old.encoding, new.encoding, tuple(recosts), lines)


def side_of(flow: Flow, conversion: SsaOperation, where: str) -> Side | None:
    """Return what would take the layout of the other side of a conversion; None where it cannot.

    Args:
        flow: the values of its function.
        conversion: the conversion.
        where: `FORWARD` or `BACKWARD`.
    """
    if where == FORWARD:
        return _forward(flow, conversion.results[0].name)
    return _backward(flow, conversion.operands[0], conversion)


def _forward(flow: Flow, name: str) -> Side | None:
    """Return all that a value goes into; None where that leaves the block or cannot change."""
    region, waiting = Side(), [name]
    while waiting:
        value = waiting.pop()
        region.values.add(value)
        for use in flow.uses.get(value, ()):
            operation = use.operation
            if any(operation is known for known in (*region.inner, *region.ends)):
                continue
            if is_elementwise(operation):
                region.inner.append(operation)
                waiting += [result.name for result in operation.results]
            elif operation.name in STORES or operation.name.endswith(".convert_layout"):
                region.ends.append(operation)
            else:
                return None
            if len(region.inner) > MAX_REGION:
                return None
    return _with_inputs(flow, region)


def _backward(flow: Flow, name: str, conversion: SsaOperation) -> Side | None:
    """Return all that a value is computed from; None where others use it, or it cannot change."""
    if flow.is_free(name):
        return Side(values={name})
    region, waiting = Side(), [name]
    while waiting:
        value = waiting.pop()
        if value in region.values:
            continue
        region.values.add(value)
        operation = flow.function.definitions.get(value)
        if operation is None or len(region.inner) > MAX_REGION:
            return None
        if is_elementwise(operation):
            region.inner.append(operation)
            # What is cheap in any layout is computed anew, and may be used elsewhere, too.
            tensors = [one for one in operation.operands if flow.is_tensor(one)]
            waiting += [one for one in tensors if not flow.is_free(one)]
        elif operation.name in LOADS:
            region.ends.append(operation)
        else:
            return None
    inside = {id(one) for one in (*region.inner, conversion)}
    uses = (use for value in region.values for use in flow.uses.get(value, ()))
    return _with_inputs(flow, region) if all(id(u.operation) in inside for u in uses) else None


def _with_inputs(flow: Flow, region: Side) -> Side | None:
    """Add the values that a region takes from outside."""
    for operation in (*region.inner, *region.ends):
        if operation.name.endswith(".convert_layout"):
            continue
        for name in operation.operands:
            if name not in region.values and flow.is_tensor(name):
                region.inputs.setdefault(name, []).append(operation)
    return region


def _recosts(
    concluded: Conclusions,
    audited: AuditedModule,
    region: Side,
    conversion: SsaOperation,
    exchange: Exchange,
    flow: Flow,
) -> Iterator[Recost]:
    """Yield what the change does to the data movements that it touches.

    Raises:
        LayoutError: the compiler would refuse one, or its cost cannot be determined.
    """
    rows = {(row.operation.line, row.operation.column): row for row in concluded.movements}
    trial = Trial(audited, exchange)
    gone = rows[conversion.line, conversion.column]
    yield Recost(gone.operation, gone.executions, gone.cost, None)
    for operation in region.ends:
        row = rows.get((operation.line, operation.column))
        if row is None or row.cost is None:
            raise LayoutError(f"no cost is known of {operation.name}")
        after = _cost_at_end(row.operation, trial)
        if after is None or not (_is_exact(row.cost) and _is_exact(after)):
            raise LayoutError(f"no cost is known of {operation.name}")
        yield Recost(row.operation, row.executions, row.cost, after)
    for name, takers in region.inputs.items():
        if not flow.is_free(name):
            first = min(takers, key=lambda taker: taker.line)
            yield _added(audited, flow, name, first, exchange)


def _is_exact(cost: Cost) -> bool:
    """Tell whether the sectors of an access to global memory are known, if it is one."""
    return not isinstance(cost.details, GlobalDetails) or cost.details.sectors is not None


def _cost_at_end(operation: Operation, trial: Trial) -> Cost | None:
    """Return what an operation at the end costs: of a conversion only the source changes."""
    if operation.group is not MovementKind.CONVERSION or operation.source is None:
        return trial.cost(operation)
    return conversion_cost(operation._replace(source=trial.exchange.type(operation.source)), trial)


def _added(
    audited: AuditedModule, flow: Flow, name: str, taker: SsaOperation, exchange: Exchange
) -> Recost:
    """Return the conversion of a value that is not cheap to compute anew."""
    before = flow.function.type_of(name)
    assert before is not None
    after = exchange.type(before)
    operation = Operation(
        "ttg.convert_layout",
        flow.function.name,
        taker.line,
        taker.column,
        None,
        (before, after),
        before,
        after,
    )
    cost = conversion_cost(operation, audited)
    return Recost(operation, audited.executions(operation), None, cost)
