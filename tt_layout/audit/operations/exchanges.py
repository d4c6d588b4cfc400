"""Exchanges between the threads of a CTA: reductions, scans, gathers and histograms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.exchange import Exchange, gather, histogram, scan
from tt_layout.analyses.conversion.reduction import Combining, reduction
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import ExchangeDetails
from tt_layout.encodings import Encoding
from tt_layout.encodings.blocked import Blocked
from tt_layout.enums import TypeKind
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target
from tt_layout.ir import data_movements
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.ir.types import IRType
from tt_layout.mlir.types import element_bits
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

REDUCED_BITS = 32
"""Widest elements, in bits, that one instruction reduces over lanes; twice as wide take several."""

INTEGER_COMBINERS = frozenset({"arith.addi", "arith.andi", "arith.ori", "arith.xori"})
INTEGER_EXTREMES = frozenset({"arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui"})
FLOAT_EXTREMES = frozenset({"arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf"})


def exchange_operations(audited: AuditedModule) -> Iterator[MovementOperation]:
    """Yield the operations of a module that combine elements of several threads."""
    for full in audited.chosen(_is_exchange):
        function, operation = full
        values = (*operation.operands, *operation.results)
        texts = [value.text for value in values if value.is_defined]
        if not operation.operands or not operation.results or not all(texts):
            continue
        source = function.type_of(operation.operands[0])
        if source is None:
            continue
        target = function.type_of(operation.results[0]) or scalar_type(texts[-1])
        yield full.moving(source, target)


def _is_exchange(operation: Operation) -> bool:
    dialect, _, name = operation.name.rpartition(".")
    return name in EXCHANGES and dialect in data_movements.DIALECTS


def scalar_type(text: str) -> IRType:
    """Return the type of a scalar, which has no layout."""
    return IRType(text, TypeKind.TENSOR, (), text, None, None)


def exchange_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of an operation that combines the elements of several threads."""
    full, gpu = audited.in_full(operation), audited.module.gpu
    if full is None or gpu is None:
        return None
    target = find_target(gpu)
    source = audited.layouts.linear(operation.types[0])
    if source is None:
        return None
    if (lanes := source.get_in_dim_size("lane")) != target.lanes:
        raise LayoutError(f"{lanes} threads per warp")
    exchange = exchange_of(full.operation, full.function, audited.layouts, target)
    if exchange is None:
        return None
    details = replace(ExchangeDetails.of(exchange), lane_reductions_per_warp=exchange.reductions)
    crossings = (exchange.shuffles + exchange.reductions) * source.get_in_dim_size("warp")
    return Cost(exchange_text(exchange, target), crossings + (exchange.wavefronts or 0), details)


def exchange_text(exchange: Exchange, target: Target) -> str:
    """Format an exchange in a few words."""
    counts = ((exchange.shuffles, "shuffle"), (exchange.reductions, "reduction over lanes"))
    texts = [f"{count(number, noun)} per warp" for number, noun in counts if number]
    if exchange.bpermutes:
        texts += [f"{exchange.bpermutes} of them ds_bpermute_b32"]
    accesses = (*exchange.stores, *exchange.loads)
    texts += [f"{step.instructions} x {step.instruction}" for step in accesses]
    if accesses and exchange.wavefronts is not None:
        texts.append(count(exchange.wavefronts, target.cycle))
    if exchange.scratch_bytes:
        texts.append(f"{exchange.scratch_bytes} bytes of scratch")
    return ", ".join(texts) or "within threads"


class Operands(NamedTuple):
    """An operation with the layouts and widths of its operands.

    Attributes:
        operation: the operation.
        function: the function that contains it.
        layouts: placed layouts of the module's types.
        target: the GPU.
    """

    operation: Operation
    function: Function
    layouts: PlacedLayouts
    target: Target

    def linear(self, value: Value) -> LinearLayout | None:
        """Return the linear layout of a value; None where it has none."""
        return self.layouts.linear(self.function.type_of(value))

    def bits(self, value: Value) -> int | None:
        """Return the width of the elements of a value; None where it is not known."""
        return element_bits(value.type.element) if value.is_defined else None

    @property
    def widths(self) -> tuple[int, ...] | None:
        """The widths of the elements of all operands; None where one is not known."""
        widths = [self.bits(operand) for operand in self.operation.operands]
        stated = tuple(bits for bits in widths if bits is not None)
        return stated if len(stated) == len(widths) else None

    @property
    def axis(self) -> int | None:
        """The dimension along which the operation goes; None if it does not name one."""
        axis = self.operation.integer("axis")
        layout = self.linear(self.operation.operands[0])
        if axis is None or layout is None or not 0 <= axis < layout.num_out_dims:
            return None
        return axis


def exchange_of(
    operation: Operation, function: Function, layouts: PlacedLayouts, target: Target
) -> Exchange | None:
    """Return the exchange of an operation; None if the text does not determine it."""
    rule = EXCHANGES.get(operation.name.rpartition(".")[2])
    if rule is None or not operation.operands or not operation.results:
        return None
    return rule(Operands(operation, function, layouts, target))


def _reduction(operands: Operands) -> Exchange | None:
    operation = operands.operation
    source, axis, widths = operands.linear(operation.operands[0]), operands.axis, operands.widths
    result = operands.linear(operation.results[0])
    is_scalar = operation.results[0].type.is_scalar
    if source is None or axis is None or widths is None or (result is None and not is_scalar):
        return None
    return reduction(
        source,
        axis,
        widths,
        operands.target,
        result,
        combining(operation, operands.target),
        by_threads=is_by_threads(operands.function.type_of(operation.operands[0])),
    )


def is_by_threads(ir_type: IRType | None) -> bool:
    """Tell whether the Triton release of a reduced tensor reduced partial results by threads."""
    encoding = ir_type.encoding if ir_type is not None else None
    return isinstance(encoding, Encoding) and encoding.release < Release.V3_8


def combining(operation: Operation, target: Target) -> Combining:
    """Return how the lanes of a warp combine their values in a reduction."""
    inner = [o for region in operation.regions for block in region for o in block.operations]
    if len(inner) != 2 or len(operation.operands) != 1:
        return Combining.SHUFFLES
    if not target.combines_lanes:
        return Combining.WHOLE_WARP
    name, element = inner[0].name, operation.results[0].type.element
    bits = element_bits(element)
    if name in FLOAT_EXTREMES and element == "f32" and target.combines_floats:
        return Combining.QUICK_INSTRUCTION
    is_integer = name in INTEGER_COMBINERS or name in INTEGER_EXTREMES
    if bits is None or bits > 2 * REDUCED_BITS or not is_integer:
        return Combining.SHUFFLES
    if bits > REDUCED_BITS:
        is_sum = name == "arith.addi"
        return Combining.THREE_OF_WHOLE_WARP if is_sum else Combining.TWO_OF_WHOLE_WARP
    if name in INTEGER_EXTREMES and target.combines_extremes:
        return Combining.QUICK_INSTRUCTION
    return Combining.INSTRUCTION


def _scan(operands: Operands) -> Exchange | None:
    operation = operands.operation
    ir_type = operands.function.type_of(operation.operands[0])
    source, axis, widths = operands.linear(operation.operands[0]), operands.axis, operands.widths
    if source is None or axis is None or widths is None or ir_type is None:
        return None
    if not isinstance(ir_type.encoding, Blocked):
        return None
    order, is_reversed = ir_type.encoding.order, operation.attributes.get("reverse") is True
    return scan(
        source,
        axis,
        widths,
        operands.target,
        tuple(order),
        is_reversed=is_reversed,
        turns_by_bits=ir_type.encoding.release < Release.V3_9,
    )


def _gather(operands: Operands) -> Exchange | None:
    source, indices = (operands.linear(value) for value in operands.operation.operands[:2])
    axis, bits = operands.axis, operands.bits(operands.operation.operands[0])
    if source is None or indices is None or axis is None or bits is None:
        return None
    return gather(source, indices, axis, bits, operands.target)


def _histogram(operands: Operands) -> Exchange | None:
    operation = operands.operation
    source, result = (
        operands.linear(value) for value in (operation.operands[0], operation.results[0])
    )
    if source is None or result is None:
        return None
    return histogram(source, result, prod(operation.results[0].type.shape), operands.target)


EXCHANGES: Mapping[str, Callable[[Operands], Exchange | None]] = {
    "reduce": _reduction,
    "scan": _scan,
    "gather": _gather,
    "histogram": _histogram,
}
"""Name of an operation without its dialect -> function that returns its exchange."""
