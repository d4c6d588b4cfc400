"""The audit of a module: its layouts, its data movements, totals and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import NamedTuple

from tt_layout.audit.allocation import module_memory
from tt_layout.audit.conclusions import Conclusions, MovementRow, cycles_by_kernel
from tt_layout.audit.findings import Finding, Found, Note
from tt_layout.audit.global_memory.scalars import load_chains
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.modules.layouts import layout_rows
from tt_layout.audit.operations.atomics import scalar_operations
from tt_layout.audit.operations.cost import UnsupportedError
from tt_layout.audit.operations.costs import cost_of
from tt_layout.audit.operations.exchanges import exchange_operations
from tt_layout.audit.operations.multiplications import multiplications
from tt_layout.audit.registers import compiled_metadata, compiled_registers, module_registers
from tt_layout.audit.rules import find
from tt_layout.audit.values.given import GivenValues, checked_arguments
from tt_layout.errors import MAX_SHOWN, LayoutError
from tt_layout.hardware import Target
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Operation
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.safe_text import shortened
from tt_layout.surface import argument

SORTS = ("line", "cost", "bytes")
"""Orders that data movements can be shown in."""


@dataclass(frozen=True, kw_only=True)
class Audit(Conclusions):
    """Audit of a module.

    Attributes:
        module: the module.
        findings: what the reader should look at, errors first, then the most expensive.
        notes: what would be findings, were not every other way more expensive.
        arguments: names of the kernels' arguments, where values were given for some.
        known: what is known of the compiled kernel.
        audited: the module with all that was looked up, to find better layouts.
    """

    module: Module
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...] = ()
    arguments: tuple[str, ...] = ()
    known: KernelMetadata = NO_METADATA
    audited: AuditedModule | None = field(default=None, repr=False, compare=False)

    @property
    def costed_for(self) -> str | None:
        """The GPU that data movements are costed for; None where none has a cost."""
        has_costs = any(row.cost is not None for row in self.movements)
        return self.audited.shared_gpu if self.audited is not None and has_costs else None

    @property
    def chip(self) -> Target | None:
        """The row of the GPU that it is costed for; None where that is not known."""
        return self.audited.target if self.audited is not None else None

    @property
    def load_chains(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The lines of loads of single numbers each of which waits for the last, by kernel."""
        for function in self.audited.functions if self.audited is not None else ():
            for loads in load_chains(function):
                yield function.name, tuple(load.line for load in loads)

    @property
    def notes_above(self) -> tuple[str, ...]:
        """Notes that come before all else: an assumed GPU, a compiler that had no answer."""
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
        shared: what is known of other modules of the dump, to save time.
        given: what the arguments of its kernels are.
        known: what is known of its kernel, as compiled.
        is_judged: whether findings are looked for, which takes as long as all the rest.

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
    return audit_of(audited, given, known, is_judged=is_judged)


def audit_of(
    audited: AuditedModule,
    given: GivenValues | None = None,
    known: KernelMetadata = NO_METADATA,
    *,
    is_judged: bool = True,
) -> Audit:
    """Return the audit of a module of which something was looked up before.

    Args:
        audited: the module.
        given, known, is_judged: as in `audit_module`.

    Raises:
        LayoutError: a given value does not fit its argument.
    """
    module, shared = audited.module, audited.shared
    shared.modules.give(audited.given)
    arguments = tuple(checked_arguments(given, audited.functions)) if given is not None else ()
    conclusions = shared.modules.once(module, "conclusions", lambda: _conclusions(audited))
    known = compiled_metadata(audited, known)
    registers = compiled_registers(conclusions.registers, audited, known)
    if not is_judged:
        conclusions = replace(conclusions, registers=registers)
        judged = Found((), ())
    elif registers != conclusions.registers:
        conclusions = replace(conclusions, registers=registers)
        judged = find(conclusions, audited)
    else:
        judged = shared.modules.once(module, "findings", lambda: find(conclusions, audited))
    return Audit(
        **{field.name: getattr(conclusions, field.name) for field in fields(conclusions)},
        module=module,
        findings=judged.findings,
        notes=judged.notes,
        arguments=arguments,
        known=known,
        audited=audited,
    )


def explained(audit: Audit) -> Audit:
    """Return an audit with what would make accesses wider, if that was not looked for."""
    audited = audit.audited
    if audited is None or audited.shared.explains:
        return audit
    return audit_module(audit.module, SharedWork(), audited.given, audit.known)


class MovementTotal(NamedTuple):
    """Data movements of a module together.

    Attributes:
        number: of the data movements.
        cycles: of those whose cost is known, in one program.
    """

    number: int
    cycles: float


def movement_total(
    module: Module, shared: SharedWork, given: GivenValues | None = None
) -> MovementTotal:
    """Return what the data movements of a module cost together, as its audit has them.

    Args:
        module: the module.
        shared: what is known of other modules of the dump.
        given: what the arguments of its kernels are.
    """
    audited = AuditedModule(module, shared, given)
    shared.modules.give(audited.given)

    def total() -> MovementTotal:
        rows = _rows(audited)
        return MovementTotal(len(rows), sum(cycles_by_kernel(rows).values()))

    return shared.modules.once(module, "total", total, has_lines=False)


def _rows(audited: AuditedModule) -> tuple[MovementRow, ...]:
    """Return the data movements of a module, found once for its audit and its history."""

    def find() -> tuple[MovementRow, ...]:
        return tuple(_movement_row(operation, audited) for operation in movements_of(audited))

    return audited.shared.modules.once(audited.module, "movements", find)


def movements_of(audited: AuditedModule) -> list[Operation]:
    """Return the operations of a module that move data, in the order of the text."""
    unwritten = exchange_operations(audited), scalar_operations(audited)
    operations = chain(audited.module.operations, *unwritten)
    return sorted(operations, key=lambda operation: (operation.line, operation.column))


def _conclusions(audited: AuditedModule) -> Conclusions:
    """Return the conclusions about a module that is new in the dump."""
    module = audited.module
    rows = tuple(layout_rows(module, audited.layouts))
    return Conclusions(
        layouts=rows,
        movements=_rows(audited),
        multiplications=tuple(multiplications(audited)),
        shared_memory=tuple(module_memory(audited)),
        registers=tuple(module_registers(audited)),
    )


def _movement_row(operation: Operation, audited: AuditedModule) -> MovementRow:
    row = MovementRow(operation, None, audited.executions(operation))
    try:
        return row._replace(cost=cost_of(operation, audited))
    except UnsupportedError as error:
        return row._replace(refusal=error.message)
    except LayoutError as error:
        return row._replace(cost_unknown=error.message)


def sort_movements(audit: Audit, by: str) -> Audit:
    """Return the audit with the most expensive, or the largest, data movements first."""
    if by == "line":
        return audit

    def key(row: MovementRow) -> tuple[float, int]:
        size = row.operation.bytes or 0
        return (-size if by == "bytes" else -row.cost.cycles if row.cost else 1), -size

    return replace(audit, movements=tuple(sorted(audit.movements, key=key)))
