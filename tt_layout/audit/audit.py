"""The audit of a module: its layouts, the moves of data in it, totals and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tt_layout.audit.audited_module import AuditedModule
from tt_layout.audit.cost import Cost, UnsupportedError
from tt_layout.audit.costs import cost_of
from tt_layout.audit.layouts import LayoutRow, PlacedLayouts, layout_rows, mismatches
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Operation, attribute_of


class Finding(NamedTuple):
    """Something that the reader of an audit should look at."""

    line: int
    message: str


@dataclass(frozen=True)
class Total:
    """How many operations of one name a kernel has, and what they move.

    Attributes:
        function: the kernel; None for operations outside of any.
        operation: the name, without its dialect.
        count: how many there are; a loop counts once.
        bytes: what they move in all, each run once; None where a type does not tell.
    """

    function: str | None
    operation: str
    count: int
    bytes: int | None


class MoveRow(NamedTuple):
    """An operation and its cost.

    Attributes:
        operation: the operation.
        cost: None where no analysis can tell.
        fault: why the compiler would refuse the operation; None where it would not.
    """

    operation: Operation
    cost: Cost | None
    fault: str | None = None


@dataclass(frozen=True)
class Audit:
    """What there is to say about a module.

    Attributes:
        module: the module.
        layouts: a row for each layout and type.
        moves: the operations that move data, in the order of the text.
        totals: by kernel and operation.
        findings: layouts that are refused, or do not fit the module.
    """

    module: Module
    layouts: tuple[LayoutRow, ...]
    moves: tuple[MoveRow, ...]
    totals: tuple[Total, ...]
    findings: tuple[Finding, ...]


def audit_module(module: Module, layouts: PlacedLayouts | None = None) -> Audit:
    """Return the audit of a module.

    Args:
        module: as `tt_layout.parse_ir` returns it.
        layouts: what is known of other modules of the dump, to save time.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... #a = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 8 : i32} {
        ...   %0 = tt.load %p : tensor<256x!tt.ptr<f16>, #a>
        ... }''')
        >>> audit = audit_module(module)
        >>> audit.totals
        (Total(function=None, operation='load', count=1, bytes=512),)
        >>> audit.findings[0].message
        '#a on tensor<256x!tt.ptr<f16>> is for 4 warps, but the module has 8'
    """
    layouts = layouts or PlacedLayouts()
    rows = tuple(layout_rows(module, layouts))
    audited = AuditedModule(module, layouts)
    moves = tuple(_move_row(operation, audited) for operation in module.operations)
    return Audit(
        module=module,
        layouts=rows,
        moves=moves,
        totals=tuple(totals(module.operations)),
        findings=tuple(_findings(module, rows, moves)),
    )


def _move_row(operation: Operation, audited: AuditedModule) -> MoveRow:
    try:
        return MoveRow(operation, cost_of(operation, audited))
    except UnsupportedError as error:
        return MoveRow(operation, None, error.message)


SORTS = ("line", "cost", "bytes")
"""Orders that moves can be shown in."""


def sort_moves(audit: Audit, by: str) -> Audit:
    """Return the audit with its moves in another order: the dearest or largest first."""
    if by == "line":
        return audit

    def key(move: MoveRow) -> tuple[float, int]:
        size = move.operation.bytes or 0
        return (-size if by == "bytes" else -move.cost.weight if move.cost else 1), -size

    return replace(audit, moves=tuple(sorted(audit.moves, key=key)))


def _findings(
    module: Module, rows: Sequence[LayoutRow], moves: Sequence[MoveRow]
) -> Iterator[Finding]:
    used = {row.layout for row in rows}
    for alias in module.aliases.values():
        if isinstance(alias.encoding, LayoutError) and f"#{alias.name}" not in used:
            yield Finding(alias.line, f"#{alias.name}: {alias.encoding.message}")
    for row in rows:
        if row.error is not None:
            where = f"{row.layout} on {row.type}" if row.layout else row.type
            yield Finding(row.line, f"{where}: {row.error.message}")
        for message in mismatches(row, module):
            yield Finding(row.line, message)
    for move in moves:
        if move.fault is not None:
            yield Finding(move.operation.line, f"{move.operation.name}: {move.fault}")


def totals(operations: Sequence[Operation]) -> Iterator[Total]:
    """Yield the totals by function and name, in the order of first appearance."""
    counts: Counter[tuple[str | None, str]] = Counter()
    sizes: dict[tuple[str | None, str], int | None] = {}
    for operation in operations:
        key = operation.function, operation.name.rpartition(".")[2]
        counts[key] += 1
        so_far, more = sizes.get(key, 0), operation.bytes
        sizes[key] = None if so_far is None or more is None else so_far + more
    for (function, name), count in counts.items():
        yield Total(function, name, count, sizes[function, name])


class Change(NamedTuple):
    """A move that only one of two modules has; ``sign`` is ``-`` or ``+``."""

    sign: str
    operation: Operation


def changes(before: Module, after: Module) -> list[Change]:
    """Return the moves that one module has and the other has not.

    Moves are the same if they are in one function, of one name, over one type, from one
    layout to another; where they stand does not matter.  Of several such moves those that
    come last are the ones added or removed.
    """
    was, now = (Counter(_identity(o) for o in m.operations) for m in (before, after))
    return [
        *(Change("-", o) for o in _surplus(before.operations, now)),
        *(Change("+", o) for o in _surplus(after.operations, was)),
    ]


def _identity(operation: Operation) -> tuple[str | None, ...]:
    moved = operation.moved or operation.target
    return (
        operation.function,
        operation.name.rpartition(".")[2],
        moved.bare if moved is not None else None,
        attribute_of(operation.source),
        attribute_of(operation.target),
    )


def _surplus(
    operations: Sequence[Operation], others: Counter[tuple[str | None, ...]]
) -> Iterator[Operation]:
    left = Counter(others)
    for operation in operations:
        key = _identity(operation)
        left[key] -= 1
        if left[key] < 0:
            yield operation
