"""The layouts of a module as a table: those of tensors first, index and mask types as a count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.audit import Audit
from tt_layout.audit.modules.layouts import LayoutRow
from tt_layout.ir.operations import Operation
from tt_layout.ir.short_names import short_layout
from tt_layout.ir.types import IRType
from tt_layout.reports.fitted import Fitted, Paragraph, Table
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe
from tt_layout.surface import everything
from tt_layout.wording import count

SPARE = ("kind", "warps", "uses")
"""Columns that are left out on a narrow terminal; the layout's name and attribute tell the kind."""

_INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")


def layout_lines(audit: Audit, *, is_whole: bool) -> Iterator[Line | Fitted]:
    """Yield the table of a module's layouts."""
    if not audit.layouts:
        return
    data = {_key(ir_type) for row in audit.movements for ir_type in _values(row.operation)}
    for product in audit.multiplications:
        data |= {(str(end.encoding), end.element) for end in (product.a, product.b, product.d)}
    shown = [row for row in audit.layouts if is_whole or not _is_index(row, data)]
    yield Line()
    yield Line("layouts")
    if shown:
        yield _table(shown)
    folded = len(audit.layouts) - len(shown)
    if folded:
        types = f"{count(folded, 'type')} of indices, pointers and masks"
        yield Paragraph(
            f"and {types}: {everything()} lists {'them' if folded != 1 else 'it'}", "  ", 2
        )


def _values(operation: Operation) -> Iterator[IRType]:
    """Yield the types of the values that an operation moves."""
    yield from (end for end in (operation.source, operation.target) if end is not None)


def _key(ir_type: IRType) -> tuple[str, str]:
    return ir_type.layout or "", ir_type.bare


def _is_index(row: LayoutRow, data: set[tuple[str, str]]) -> bool:
    """Tell whether a type is of pointers, or of numbers that nothing moves."""
    if row.error is not None or "!tt.ptr<" in row.type:
        return row.error is None
    element = row.type.partition("<")[2].rpartition(">")[0].partition(" of ")[0].rpartition("x")[2]
    is_moved = (row.layout, row.type) in data or (row.attribute, element) in data
    return element in _INTEGERS and not is_moved


def _table(rows: Sequence[LayoutRow]) -> Table:
    header = ["layout", "kind", "on", "uses", "registers", "contiguous", "replication", "warps"]
    cells = [_cells(row) for row in rows]
    colours = {at: "red" for at, row in enumerate(rows) if row.error is not None}
    return Table(header, cells, ["uses", "registers", "warps"], colours, spare=SPARE)


def _cells(row: LayoutRow) -> list[str]:
    if row.kind == "" or row.error is not None:
        cells = [short_layout(row.layout), row.kind or "?", _on(row), str(row.uses)]
        return cells + ["?"] * 4
    size = row.size("warp")
    return [
        short_layout(row.layout),
        row.kind,
        _on(row),
        str(row.uses),
        "-" if row.registers is None else str(row.registers),
        "x".join(str(count) for count in row.contiguity) if row.contiguity else "-",
        " ".join(f"{dim}:{count}" for dim, count in row.replication) or "-",
        "-" if size is None else str(size),
    ]


def _on(row: LayoutRow) -> str:
    """Return the type of a row without the word for where it lives, which the layout determines."""
    return safe(row.type.removeprefix("tensor<").removeprefix("memdesc<").removesuffix(">"))
