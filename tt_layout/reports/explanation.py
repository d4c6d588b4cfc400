"""Explanations of an operation for readers who do not know its layouts yet.

They give its effect, the layouts of its operands and results, the layouts that its uses require,
its cost, and what in a program changes that.  Hover texts, pages, agents and ``tt-layout
explain`` share these lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from types import MappingProxyType

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.findings import Finding
from tt_layout.audit.modules.audited_module import FullOperation
from tt_layout.audit.modules.layouts import LayoutRow
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.registers import live_by_line
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.enums import MemorySpace
from tt_layout.grouping import grouped
from tt_layout.ir.data_movements import GLOBAL_KINDS, MovementKind
from tt_layout.ir.operations import layout_of
from tt_layout.ir.ssa import Operation, Value
from tt_layout.ir.traits import Traits
from tt_layout.ir.types import IRType
from tt_layout.placement import ASSUMED_BITS, PlacedLayout
from tt_layout.reports.advice_text import (
    fix_text,
    gain_text,
    in_triton,
    note_message,
    operations_text,
    way_out,
)
from tt_layout.safe_text import safe, shortened
from tt_layout.wording import count, listed, size

MAX_USES = 6
"""Operations that are named as the uses of a value, or where it comes from."""

MAX_NAME = 60
"""Characters of a layout that stands in a type."""

MOVEMENTS: Mapping[MovementKind, str] = MappingProxyType(
    {
        MovementKind.CONVERSION: "gives a tensor another layout: the same elements, held by other"
        " threads or in other registers",
        MovementKind.LOCAL_LOAD: "reads a tensor from memory of the multiprocessor into registers",
        MovementKind.LOCAL_STORE: "writes a tensor from registers to memory of the multiprocessor",
        MovementKind.GLOBAL_LOAD: "reads elements from global memory, each thread those that it is"
        " to hold",
        MovementKind.GLOBAL_STORE: "writes elements to global memory, each thread those that it"
        " holds",
        MovementKind.GLOBAL_ATOMIC: "changes elements of global memory, each at once for all"
        " programs",
        MovementKind.COPY_IN: "copies from global to shared memory, past the registers",
        MovementKind.COPY_OUT: "copies from shared to global memory, past the registers",
        MovementKind.COPY_WITHIN: "copies within memory of the multiprocessor",
        MovementKind.ALLOCATION: "makes a buffer in memory of the multiprocessor, for all threads"
        " of a CTA",
        MovementKind.REDUCTION: "combines the elements along a dimension: within threads first,"
        " then between lanes, then between warps",
        MovementKind.SCAN: "combines each element with those before it along a dimension",
        MovementKind.GATHER: "takes elements from the places that another tensor names",
        MovementKind.HISTOGRAM: "counts how often each value is there",
    }
)
"""Data movement -> what its operations do."""

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "multiplies": "multiplies two matrices and adds a third, by matrix instructions where the"
        " layouts and types have one",
        "loop": "runs its region again and again; each value that it carries keeps its layout",
        "partitions": "runs each of its regions on warps of its own",
        "branch": "runs one of its regions",
        "constant": "is a constant: each thread has its elements at once, and no data moves",
        "pointer_sum": "adds offsets to pointers, each thread for the elements that it holds",
        "cast": "gives each element another type, in the thread that holds it",
        "elementwise": "computes each element from those at the same place, in the thread that"
        " holds them: no data moves between threads",
        "memory_view": "names a part or another shape of a buffer: no data moves",
        "initializes_barrier": "sets up a barrier that threads and copies wait at",
        "synchronizes": "lets all threads of a CTA wait for each other",
        "waits": "waits for copies, or for other threads",
        "renames": "gives a tensor another shape or order of dimensions, in the registers in which"
        " it is: no data moves",
        "repeats": "repeats elements along a dimension, in the registers of the threads that hold"
        " them",
        "same_elements": "hands the same elements on",
        "shape": "puts elements at other places of the tensor",
        "by_program": "is the number of this program or of all: one number for all threads",
        "source": "is computed from no tensor: each thread makes the elements that it is to hold",
        "terminator": "hands values on to the operation around it, or ends the function",
        "call": "calls a function of this module",
        "allocates": "makes a buffer in shared memory",
        "forwards": "hands its operands on, once they are there",
        "writes": "writes memory, or orders accesses to it",
        "reads": "waits for memory, or looks at it",
        "pure": "computes its result from its operands, and changes nothing else",
    }
)
"""Trait -> what operations of it do; the first that an operation has counts."""

COALESCED = (
    "Triton's pass that coalesces chooses the layout of an access to global memory, so that lanes"
    " side by side touch addresses side by side, as wide as they are known to be contiguous and"
    " aligned; in Gluon the program chooses it"
)
CONVERTED = "a use that wants another layout than its operand has gets a conversion before it"


class Explainer:
    """Explainer of a module's operations.

    Args:
        adviser: the adviser of the module's audit.
    """

    def __init__(self, adviser: Adviser) -> None:
        self._adviser, self._audit = adviser, adviser.audit

    def explanation(self, full: FullOperation) -> tuple[str, ...]:
        """Return the lines that explain an operation."""
        line = full.operation.line
        column = full.operation.column
        here = range(line, line + 1)
        rows = [row for row in self._audit.rows_on(here) if row.operation.column == column]
        findings, notes = self._audit.found_on(here)
        products = self._products.get(line, [])
        texts = [*_does(rows, full.operation.traits, has_product=bool(products))]
        texts += _ends(self._audit, full)
        texts += _reasons(self._adviser, full, rows)
        for row in rows:
            texts += _costs(row)
        for product in products:
            instruction = product.instruction
            name = instruction.name if instruction is not None else "no matrix instruction"
            texts.append(f"{name}, {product.flops:g} flops")
        for finding in findings:
            texts += [f"finding: {finding.message}", *_ways(self._adviser, finding)]
        texts += [f"note: {note_message(self._adviser, note)}" for note in notes]
        if not findings:
            texts += _knobs(self._audit, full)
        if (live := self._live.get(line)) is not None:
            texts.append(f"{count(live, 'live register')} per thread behind it")
        return tuple(dict.fromkeys(filter(None, texts)))

    @cached_property
    def _products(self) -> Mapping[int, list[Multiplication]]:
        return grouped(self._audit.multiplications, lambda product: product.line)

    @cached_property
    def _live(self) -> Mapping[int, int]:
        """Live registers of a thread after each line with an operation."""
        return live_by_line(self._audit.audited)


def layout_facts(placed: PlacedLayout, row: LayoutRow) -> Iterator[str]:
    """Yield facts about a layout over a type."""
    if row.registers is not None and row.contiguity is not None:
        lanes, warps = row.size("lane") or 1, row.size("warp") or 1
        threads = f"{count(lanes, 'lane')}, {count(warps, 'warp')}"
        bits = placed.element_bits or ASSUMED_BITS
        words = f" ({count(-(-row.registers * bits // 32), 'register')})"
        yield f"{count(row.registers, 'element')} per thread{words}, {threads}"
        yield f"contiguous per thread: {'x'.join(map(str, row.contiguity))}"
    elif placed.memory_space is MemorySpace.SHARED and placed.element_bits is not None:
        total = prod(placed.shape) * placed.element_bits // 8 * placed.buffers
        buffers = f" in {count(placed.buffers, 'buffer')}" if placed.buffers > 1 else ""
        yield f"{size(total)}{buffers}{', without padding' if placed.padding else ''}"
    if row.replication:
        repeated = ", ".join(f"{many} times by {dim}" for dim, many in row.replication)
        yield f"each element is there {repeated}"


# -- what it does, and in which layouts -----------------------------------------------------------


def _does(rows: Sequence[MovementRow], traits: Traits, *, has_product: bool) -> Iterator[str]:
    """Yield the effect of an operation; nothing if its traits do not determine one."""
    if rows and rows[0].operation.group in MOVEMENTS:
        yield f"it {MOVEMENTS[rows[0].operation.group]}"
        return
    names = (
        name for name in CLASSES if getattr(traits, name) or (name == "multiplies" and has_product)
    )
    yield from (f"it {CLASSES[name]}" for name in [*names][:1])


def _ends(audit: Audit, full: FullOperation) -> Iterator[str]:
    """Yield the layout of each operand and result, grouped by type."""
    layouts = audit.audited.layouts
    named: dict[tuple[str, str], tuple[IRType, list[str]]] = {}
    for values, verb in ((full.operation.operands, "takes"), (full.operation.results, "gives")):
        for value in values:
            ir_type = full.function.type_of(value)
            if ir_type is not None and ir_type.layout is not None:
                what = f"{safe(ir_type.bare)} in {_layout(ir_type)}"
                named.setdefault((verb, what), (ir_type, []))[1].append(safe(value.name))
    for (verb, what), (ir_type, names) in named.items():
        placed = layouts.of(ir_type)
        facts = ""
        if isinstance(placed, PlacedLayout):
            facts = ", ".join(layout_facts(placed, layouts.row(ir_type)))
        yield f"{verb} {', '.join(dict.fromkeys(names))}: {what}" + (f": {facts}" if facts else "")


def _layout(ir_type: IRType | None) -> str:
    return shortened(safe(layout_of(ir_type)), MAX_NAME)


# -- why it is there ------------------------------------------------------------------------------


def _reasons(adviser: Adviser, full: FullOperation, rows: Sequence[MovementRow]) -> Iterator[str]:
    """Yield where operands in registers get their layouts, and which layouts the uses require."""
    flow, operation = adviser.flow(full.function), full.operation
    groups = {row.operation.group for row in rows}
    is_conversion = MovementKind.CONVERSION in groups
    if is_conversion or not operation.results:
        yield from (_origin(flow, value) for value in operation.operands)
    yield from (_uses(flow, value) for value in operation.results)
    if is_conversion:
        yield f"why it is there: {CONVERTED}"
    elif groups & {*GLOBAL_KINDS} - {MovementKind.COPY_OUT}:
        yield f"why this layout: {COALESCED}"


def _origin(flow: Flow, value: Value) -> str:
    """Return where a tensor gets its layout; empty for other values."""
    ir_type = flow.function.type_of(value)
    if not flow.is_tensor(value) or ir_type is None or ir_type.layout is None:
        return ""
    before = _anchors(flow.producers(value))
    return f"{_layout(ir_type)} of {safe(value.name)} comes from {before}" if before else ""


def _uses(flow: Flow, value: Value) -> str:
    """Return the uses that take a value in its layout, and those that convert it."""
    ir_type = flow.function.type_of(value)
    if ir_type is None or ir_type.layout is None:
        return ""
    wanting, changing = [], []
    name = safe(value.name)
    for use in flow.consumers(value):
        if use.traits.same_elements and use.results and flow.is_tensor(use.results[0]):
            wanted = _layout(flow.function.type_of(use.results[0]))
            users = _anchors(flow.consumers(use.results[0]))
            purpose = f" for {users}" if users else ""
            changing.append(f"line {use.line} changes it to {wanted}{purpose}")
        else:
            wanting.append(use)
    verb = "wants" if len(wanting) == 1 else "want"
    texts = [f"{_anchors(wanting)} {verb} {name} in {_layout(ir_type)}"] if wanting else []
    if changing and not wanting:
        texts = [f"{name} is in {_layout(ir_type)}"]
    more = len(changing) - MAX_USES
    rest = f" and {count(more, 'more conversion')}" if more > 0 else ""
    return "; ".join(texts + changing[:MAX_USES]) + rest


def _anchors(operations: Sequence[Operation]) -> str:
    return operations_text([(operation.name, operation.line) for operation in operations], MAX_USES)


# -- what it costs, and what moves that -----------------------------------------------------------


def _costs(row: MovementRow) -> Iterator[str]:
    if row.cost is not None:
        yield f"{row.cost.text}"
    if row.refusal or row.cost_unknown:
        yield row.refusal or f"cost not known: {row.cost_unknown}"
    if row.operation.bytes:
        yield f"moves {size(row.operation.bytes)}"
    if not row.executions.is_once:
        yield f"runs {row.executions.times}"


def _ways(adviser: Adviser, finding: Finding) -> Iterator[str]:
    """Yield the cost of a finding, and its remedy."""
    yield gain_text(adviser, [finding])
    best = adviser.best(finding)
    if best is None:
        yield way_out(finding)
        return
    yield fix_text(best)
    yield in_triton(best, adviser.audit)


def _knobs(audit: Audit, full: FullOperation) -> Iterator[str]:
    """Yield the knobs of a Triton program that change the layouts of an operation."""
    knobs = audit.knobs
    if knobs is None:
        return
    for value in (*full.operation.operands, *full.operation.results):
        ir_type = full.function.type_of(value)
        encoding = ir_type.encoding if ir_type is not None else None
        moving = knobs.get(getattr(encoding, "mnemonic", ""))
        if moving:
            yield f"in Triton {_layout(ir_type)} depends on {listed(moving)}"
