"""The audit of a module: its layouts, its data movements, totals and findings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from tt_layout.audit.allocation import SharedMemory, module_memory
from tt_layout.audit.conclusions import Conclusions, MovementRow, cycles_by_kernel
from tt_layout.audit.findings import Finding, Judgement, Note
from tt_layout.audit.global_memory.scalars import load_chains
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.modules.layouts import LayoutRow, layout_rows
from tt_layout.audit.operations.atomics import scalar_operations
from tt_layout.audit.operations.cost import Cost, UnsupportedError
from tt_layout.audit.operations.costs import cost_of
from tt_layout.audit.operations.exchanges import exchange_operations
from tt_layout.audit.operations.multiplications import Multiplication, multiplications
from tt_layout.audit.registers import (
    RegisterPressure,
    compiled_metadata,
    compiled_registers,
    module_registers,
)
from tt_layout.audit.rules import find, judged, note_of
from tt_layout.audit.values.given import GivenValues, checked_arguments
from tt_layout.errors import MAX_SHOWN, LayoutError
from tt_layout.grouping import grouped
from tt_layout.hardware import Target
from tt_layout.hardware.compiler import OF_OPERANDS, Knobs
from tt_layout.ir.module import Module
from tt_layout.ir.operations import MovementOperation, OperationPosition
from tt_layout.ir.ssa.reader import movements
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.lazy import lazy
from tt_layout.safe_text import shortened
from tt_layout.surface import argument
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.audit.suggestions.context import SuggestionContext
    from tt_layout.audit.suggestions.trial import Trial

T = TypeVar("T")

SORTS = ("line", "cost", "bytes")
"""Orders that data movements can be shown in."""


STEP = 32
"""Data movements, or findings, that are looked at before another question may be answered."""

FACTS = ("layouts", "movements", "multiplications", "shared_memory", "registers")
"""Attributes with the conclusions of an audit, apart from its findings."""

_UNSENT = frozenset(
    {
        "_found_by_line",
        "_judged",
        "_numbers",
        "_numbers_of",
        "_operations",
        "_prices",
        "_suspects",
        "_trial",
        "suggestion_context",
        "sums_of_loops",
    }
)


class Audit(Conclusions):
    """Audit of a module; each conclusion is computed on first use.

    Args:
        audited: the module.
        known: metadata of the compiled kernel.
        is_judged: whether findings are looked for.

    Attributes:
        audited: the module with all that was looked up, to find better layouts.
        module: the module.
        arguments: names of the kernels' arguments, where values were given for some.
        known: metadata of the compiled kernel.
    """

    def __init__(
        self,
        audited: AuditedModule,
        known: KernelMetadata = NO_METADATA,
        arguments: tuple[str, ...] = (),
        *,
        is_judged: bool = True,
    ) -> None:
        self.audited, self.module = audited, audited.module
        self.arguments, self.known = arguments, known
        self._is_judged = is_judged
        self._rows: dict[int, MovementRow] = {}
        self._prices: dict[int, MovementRow] = {}
        self._judged: dict[Finding, Note | None] = {}

    def __repr__(self) -> str:
        """Return where the module begins, and its functions."""
        names = ", ".join(f"@{function.name}" for function in self.module.functions)
        return f"<Audit: line {self.module.line}: {names or 'no function'}>"

    def __eq__(self, other: object) -> bool:
        """Tell whether both have the same conclusions about the same module."""
        if not isinstance(other, Audit):
            return NotImplemented
        names = ("module", "arguments", "known", *FACTS, "findings", "notes")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        """Return a hash by the module's line and the names of arguments."""
        return hash((self.module.line, self.arguments))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the conclusions, without the caches that they were computed with."""
        return {name: value for name, value in vars(self).items() if name not in _UNSENT}

    @lazy
    def layouts(self) -> tuple[LayoutRow, ...]:
        """A row for each layout and type."""
        found = partial(layout_rows, self.module, self.audited.layouts)
        return self.audited.once("layouts", lambda: tuple(found()), has_lines=False)

    @lazy
    def movements(self) -> tuple[MovementRow, ...]:
        """The operations that move data, in the order of the text."""
        numbers = range(len(self._operations))
        return self.audited.once("movements", lambda: tuple(map(self._row, numbers)))

    @lazy
    def multiplications(self) -> tuple[Multiplication, ...]:
        """The operations that multiply matrices, in the order of the text."""
        return self.audited.once("products", lambda: tuple(multiplications(self.audited)))

    @lazy
    def shared_memory(self) -> tuple[SharedMemory, ...]:
        """The shared memory of the functions that have any."""
        return self.audited.once("memory", lambda: tuple(module_memory(self.audited)))

    @lazy
    def registers(self) -> tuple[RegisterPressure, ...]:
        """The registers of the functions, and of the partitions of their warps."""
        return compiled_registers(self._estimated_registers, self.audited, self.known)

    @lazy
    def findings(self) -> tuple[Finding, ...]:
        """What the reader should look at, errors first, then the most expensive."""
        return self._found.findings

    @lazy
    def notes(self) -> tuple[Note, ...]:
        """Findings to which every alternative is more expensive."""
        return self._found.notes

    def findings_of(self, function: str | None) -> Sequence[Finding]:
        """Return the findings of a function, errors first, then the most expensive."""
        return self._findings.get(function, ())

    def notes_of(self, function: str | None) -> Sequence[Note]:
        """Return the findings of a function to which every alternative is more expensive."""
        return self._notes.get(function, ())

    @lazy
    def _findings(self) -> Mapping[str | None, Sequence[Finding]]:
        return grouped(self.findings, lambda finding: finding.function)

    @lazy
    def _notes(self) -> Mapping[str | None, Sequence[Note]]:
        return grouped(self.notes, lambda note: note.finding.function)

    @lazy
    def suggestion_context(self) -> SuggestionContext:
        """Answers that the suggestions for its findings share."""
        from tt_layout.audit.suggestions.context import SuggestionContext

        return SuggestionContext(self)

    @lazy
    def _estimated_registers(self) -> tuple[RegisterPressure, ...]:
        return self.audited.once("registers", lambda: tuple(module_registers(self.audited)))

    @lazy
    def _found(self) -> Judgement:
        if not self._is_judged:
            return Judgement((), ())

        def found() -> Judgement:
            return judged(self._suspects, self._judge)

        is_compiled = self.registers != self._estimated_registers
        return found() if is_compiled else self.audited.once("findings", found)

    @lazy
    def _suspects(self) -> Sequence[Finding]:
        """Findings of the rules, before alternatives are costed."""
        return find(self.movements, self)

    def _judge(self, finding: Finding) -> Note | None:
        """Return the note of a finding, cached; None if it stays a finding."""
        if finding not in self._judged:
            self._judged[finding] = note_of(finding, self.suggestion_context)
        return self._judged[finding]

    @lazy
    def _operations(self) -> Sequence[MovementOperation]:
        return movements_of(self.audited)

    def _row(self, number: int) -> MovementRow:
        """Return a data movement with its cost, cached."""
        if number not in self._rows:
            operation, audited = self._operations[number], self.audited
            self._rows[number] = _movement_row(operation, audited, lambda o: cost_of(o, audited))
        return self._rows[number]

    def row_at(self, position: OperationPosition) -> MovementRow | None:
        """Return the data movement at a position of the module, without costing any other."""
        number = self._numbers.get(position)
        return self._row(number) if number is not None else None

    @lazy
    def _numbers(self) -> Mapping[OperationPosition, int]:
        return {operation.position: number for number, operation in enumerate(self._operations)}

    @property
    def priced(self) -> Sequence[MovementRow]:
        """The data movements with costs that may lack explanations, which is faster."""
        if "movements" in vars(self):
            return self.movements
        return [self._price(number) for number in range(len(self._operations))]

    def priced_of(self, function: str | None) -> Sequence[MovementRow]:
        """Return the data movements of a function with costs that may lack explanations."""
        if "movements" in vars(self):
            return self.movements_of(function)
        return [self._price(number) for number in self._numbers_of.get(function, ())]

    def _price(self, number: int) -> MovementRow:
        row = self._rows.get(number) or self._prices.get(number)
        if row is None:
            row = _movement_row(self._operations[number], self.audited, self._trial.price)
            self._prices[number] = row
        return row

    @lazy
    def _numbers_of(self) -> Mapping[str | None, Sequence[int]]:
        numbers, operations = range(len(self._operations)), self._operations
        return grouped(numbers, lambda number: operations[number].function)

    @lazy
    def _trial(self) -> Trial:
        """The unchanged module, costed without explanations."""
        from tt_layout.audit.suggestions.trial import LayoutExchange, Trial

        return Trial(self.audited, LayoutExchange({}))

    def rows_on(self, lines: range) -> Sequence[MovementRow]:
        """Return the data movements on some lines, without costing any other."""
        first, end = (
            bisect_left(self._operations, line, key=lambda operation: operation.line)
            for line in (lines.start, lines.stop)
        )
        return [self._row(number) for number in range(first, end)]

    def found_on(self, lines: range) -> Judgement:
        """Return the findings and notes on some lines, without judging any other."""
        if "_found" not in vars(self):
            found = find(self.rows_on(lines), self)
            return judged([one for one in found if _is_on(one.line, lines)], self._judge)
        findings, notes = self._found_by_line
        return Judgement(_on(lines, findings), _on(lines, notes))

    @lazy
    def _found_by_line(
        self,
    ) -> tuple[Mapping[int, list[tuple[int, Finding]]], Mapping[int, list[tuple[int, Note]]]]:
        """Findings and notes by line, each with its number."""
        return (
            grouped(enumerate(self.findings), lambda numbered: numbered[1].line),
            grouped(enumerate(self.notes), lambda numbered: numbered[1].finding.line),
        )

    def steps(self) -> Iterator[None]:
        """Compute all conclusions in short steps, so that other work can run in between."""
        for number in range(0, len(self._operations), STEP):
            for further in range(number, min(number + STEP, len(self._operations))):
                self._row(further)
            yield
        for name in FACTS:
            getattr(self, name)
            yield
        for number in range(0, len(self._suspects) if self._is_judged else 0, STEP):
            yield
            for suspect in self._suspects[number : number + STEP]:
                self._judge(suspect)
        self.concluded()

    def concluded(self) -> Audit:
        """Compute all conclusions and return the audit."""
        for name in (*FACTS, "findings", "notes"):
            getattr(self, name)
        return self

    def with_facts(self, **facts: object) -> Audit:
        """Return a copy with other values for some of `FACTS`, findings or notes."""
        changed = Audit(self.audited, self.known, self.arguments, is_judged=self._is_judged)
        own = {name: getattr(self, name) for name in (*FACTS, "findings", "notes")}
        vars(changed).update(own, **facts)
        return changed

    @property
    def costed_for(self) -> str | None:
        """The GPU that data movements are costed for; None where none has a cost."""
        has_costs = any(row.cost is not None for row in self.movements)
        return self.audited.shared_gpu if has_costs else None

    @property
    def chip(self) -> Target | None:
        """The row of the GPU that it is costed for; None where that is not known."""
        return self.audited.target

    @lazy
    def knobs(self) -> Knobs | None:
        """Layout -> what of the module's program changes it; None where no trial was made.

        Nothing of operands does where none are multiplied.
        """
        knobs = self.chip.knobs if self.chip is not None else None
        if knobs is None or self.multiplications:
            return knobs
        return {
            name: tuple(knob for knob in changing if knob not in OF_OPERANDS)
            for name, changing in knobs.items()
        }

    @property
    def load_chains(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Each kernel with the lines of scalar loads that depend on one another."""
        for function in self.audited.functions:
            for loads in load_chains(function):
                yield function.name, tuple(load.line for load in loads)

    @property
    def notes_above(self) -> tuple[str, ...]:
        """Notes at the top of a report: an assumed GPU, a compiler that failed."""
        notes = self.target_note, self.known.compile_note
        return tuple(note for note in notes if note is not None)

    @property
    def target_note(self) -> str | None:
        """Note about an assumed or unknown GPU, in a sentence; None for a known one."""
        target, gpu = self.module.target, self.module.gpu
        if self.module.is_intel:
            return "Intel: shared memory has the banks of a document, which gives no other cost"
        if target is not None:
            unknown = "is unknown: no cost that depends on the GPU is known"
            named = shortened(target, MAX_SHOWN)
            return f"{named} {unknown}" if gpu is None else self.module.gpu_assumption
        return f"no target is named; costed for {self.costed_for}" if self.costed_for else None


def check_product(given: GivenValues, chips: Iterable[Target | None]) -> None:
    """Raise if a product is given whose chip no module is for.

    Raises:
        LayoutError: naming the chips that there are.
    """
    asked, chips = given.product, list(chips)
    if asked is None or asked.product is None or asked in chips:
        return
    names = ", ".join(dict.fromkeys(chip.name for chip in chips if chip is not None))
    message = f"{argument('gpu', asked.product.name)} is of {asked.name}"
    raise LayoutError(f"{message}: the dump is for {names or 'no GPU that is known'}")


def audit_module(
    module: Module,
    shared: SharedWork | None = None,
    given: GivenValues | None = None,
    known: KernelMetadata = NO_METADATA,
    *,
    is_judged: bool = True,
) -> Audit:
    """Return the audit of a module.

    Args:
        module: as `tt_layout.parse_ir` returns it.
        shared: work shared with other modules of the dump.
        given: values of its kernels' arguments.
        known: metadata of its compiled kernel.
        is_judged: whether findings are looked for, which doubles the time.

    Raises:
        LayoutError: a given value does not fit its argument.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... #a = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 8 : i32} {
        ...   %0 = tt.load %p : tensor<256x!tt.ptr<f16>, #a>
        ... }''')
        >>> audit = audit_module(module)
        >>> [(total.operation, total.count, total.bytes) for total in audit.totals]
        [('load', 1, 512)]
        >>> audit.findings[0].message
        '#a on tensor<256x!tt.ptr<f16>> is for 4 warps, but the module has 8'
    """
    audited = AuditedModule(module, shared or SharedWork(), given)
    return audit_of(audited, given, known, is_judged=is_judged).concluded()


def audit_of(
    audited: AuditedModule,
    given: GivenValues | None = None,
    known: KernelMetadata = NO_METADATA,
    *,
    is_judged: bool = True,
) -> Audit:
    """Return the audit of an opened module; nothing is computed yet.

    Args:
        audited: the module.
        given, known, is_judged: as in `audit_module`.

    Raises:
        LayoutError: a given value does not fit its argument.
    """
    arguments = tuple(checked_arguments(given, audited.functions)) if given is not None else ()
    known = compiled_metadata(audited, known)
    return Audit(audited, known, arguments, is_judged=is_judged)


def explained(audit: Audit) -> Audit:
    """Return an audit whose costs are explained: anew if they were computed without."""
    audited = audit.audited
    if audited.shared.explains:
        return audit
    return audit_module(audit.module, SharedWork(), audited.given, audit.known)


class MovementTotal(NamedTuple):
    """Number and cost of all data movements of a module.

    Attributes:
        number: count of data movements.
        cycles: sum in one program over those whose cost is known.
    """

    number: int
    cycles: float


def movement_total(
    module: Module, shared: SharedWork, given: GivenValues | None = None
) -> MovementTotal:
    """Return number and cost of a module's data movements, as in its audit.

    Args:
        module: the module.
        shared: work shared with other modules of the dump.
        given: values of its kernels' arguments.
    """
    audit = Audit(AuditedModule(module, shared, given))

    def total() -> MovementTotal:
        rows = audit.movements
        return MovementTotal(len(rows), sum(cycles_by_kernel(rows).values()))

    return audit.audited.once("total", total, has_lines=False)


def movements_of(audited: AuditedModule) -> list[MovementOperation]:
    """Return the operations of a module that move data, in the order of the text."""
    unwritten = exchange_operations(audited), scalar_operations(audited)
    operations = chain(movements(audited.module, audited.functions), *unwritten)
    return sorted(operations, key=lambda operation: (operation.line, operation.column))


def _on(lines: range, by_line: Mapping[int, list[tuple[int, T]]]) -> tuple[T, ...]:
    """Return what is on some lines, in the order of the numbers."""
    if len(lines) > len(by_line):
        lines_there: Iterable[int] = (line for line in by_line if _is_on(line, lines))
    else:
        lines_there = lines
    numbered = chain.from_iterable(by_line.get(line, ()) for line in lines_there)
    return tuple([found for _, found in sorted(numbered, key=lambda pair: pair[0])])


def _is_on(line: int, lines: range) -> bool:
    """Tell whether a line is in a range; for an `int` subclass, ``in`` would search it."""
    return lines.start <= line < lines.stop


def _movement_row(
    operation: MovementOperation,
    audited: AuditedModule,
    cost: Callable[[MovementOperation], Cost | None],
) -> MovementRow:
    runs = audited.executions(operation)
    try:
        return MovementRow(operation, cost(operation), runs)
    except UnsupportedError as error:
        return MovementRow(operation, None, runs, refusal=error.message)
    except LayoutError as error:
        return MovementRow(operation, None, runs, cost_unknown=error.message)


def sort_movements(audit: Audit, by: str) -> Audit:
    """Return the audit with the most expensive, or the largest, data movements first."""
    if by == "line":
        return audit

    def key(row: MovementRow) -> tuple[float, int]:
        size = row.operation.bytes or 0
        return (-size if by == "bytes" else -row.cost.cycles if row.cost else 1), -size

    return audit.with_facts(movements=tuple(sorted(audit.movements, key=key)))
