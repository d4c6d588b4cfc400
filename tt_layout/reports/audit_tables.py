"""The tables of an audit: layouts, and a kernel's data movements and multiplications."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.modules.layouts import LayoutRow
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.values.executions import UNPLACED, Executions
from tt_layout.audit.values.structure import Part
from tt_layout.enums import MemorySpace
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import Location, Operation, layout_of
from tt_layout.ir.short_names import short_layout, short_operation, short_type
from tt_layout.ir.types import IRType
from tt_layout.reports.fitted import Fitted, Paragraph, Table
from tt_layout.reports.report import GAP, Line
from tt_layout.safe_text import safe
from tt_layout.surface import everything, values_of
from tt_layout.wording import count, plural

SPARE = ("kind", "warps", "uses")
"""Columns that are left out on a narrow terminal; the layout's name and attribute tell the kind."""

_INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")

_BESIDE_LOOPS = {
    Part.BODY: "loop",
    Part.PROLOGUE: "before the loop",
    Part.EPILOGUE: "after the loop",
}


# -- layouts ---------------------------------------------------------------------------------------


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


# -- data movements and multiplications ------------------------------------------------------------


def kernel_lines(audit: Audit, *, by_line: bool) -> Iterator[Line | Fitted]:
    """Yield the tables of every kernel of a module."""
    names = [row.operation.function for row in audit.movements]
    names += [product.function for product in audit.multiplications]
    for function in dict.fromkeys(names):
        of = f" of @{safe(function)}" if function is not None else ""
        rows = audit.movements_of(function)
        if rows:
            yield from _section(f"data movements{of}", _movement_table(audit, rows, by_line))
        products = audit.products_of(function)
        if products:
            yield from _section(f"multiplications{of}", _multiplication_table(products))
        yield from _intensity(audit, function)
        if rows:
            yield from _section(f"totals{of}", _totals(audit, function))


def _section(title: str, element: Fitted) -> Iterator[Line | Fitted]:
    """Yield a title and what is below it."""
    yield Line()
    yield Line(title)
    yield element


def _intensity(audit: Audit, function: str | None) -> Iterator[Fitted]:
    intensity = audit.intensity_of(function)
    if intensity is not None and intensity.flops_per_byte is not None:
        flops, size = count(intensity.flops or 0, "FLOP"), intensity.global_bytes or 0
        counts = f"{flops} for {count(size, 'byte')} of global memory"
        per_byte = f"{intensity.flops_per_byte:.1f} FLOPs per byte"
        yield Paragraph(f"{counts} in one program: {per_byte}", GAP, len(GAP))


# -- data movements ---------------------------------------------------------------------------


def _movement_table(audit: Audit, rows: Sequence[MovementRow], by_line: bool) -> Table:
    """Return the data movements; in the order of the text those of a loop stand together."""
    file, places = _places([row.operation.location for row in rows])
    header = ["line", file, "operation", "of", "from -> to", "runs", "cost"]
    wrong = {f.line: "red" if f.is_error else "yellow" for f in audit.findings}
    cells: list[Sequence[str] | str] = []
    colours: dict[int, str] = {}
    last: tuple[object, ...] | None = None
    for row, place in zip(rows, places):
        heading = _loop_heading(row.executions)
        loop = row.executions.loop
        key = (loop, row.executions.text)
        if by_line and key != last:
            last = key
            cells += [heading] if heading else []
        if row.operation.line in wrong:
            colours[len(cells)] = wrong[row.operation.line]
        mark = "| " * (by_line and loop is not None and loop.is_body)
        cells.append(
            [
                f"{mark}{row.operation.line}",
                place,
                short_operation(row.operation.name),
                short_type(row.operation.moved or row.operation.target),
                _ends(row.operation),
                runs(row.executions),
                cost_text(row),
            ]
        )
    table = Table(header, cells, ["line"], colours, has_tail=True)
    hidden = ["runs"] * (by_line or not any(map(is_repeated, rows))) + [file] * (not any(places))
    return table.without(*hidden)


def _places(locations: Sequence[Location | None]) -> tuple[str, list[str]]:
    """Return the heading of the column of locations, and the locations, without a common file.

    Of several files the names alone, while no two are called the same.
    """
    files = {location.file for location in locations if location is not None}
    if len(files) == 1:
        name = safe(os.path.basename(files.pop()))
        return name or "at", [f"{p.line}:{p.column}" if p is not None else "" for p in locations]
    names = {file: os.path.basename(file) or file for file in files}
    if len({*names.values()}) < len(files):
        names = {file: file for file in files}
    shown = (p._replace(file=names[p.file]) if p is not None else None for p in locations)
    return "location", [safe(str(place)) if place is not None else "" for place in shown]


def _loop_heading(executions: Executions) -> str:
    """Return the heading of data movements that run equally often; empty for once."""
    loop = executions.loop
    if loop is None:
        return _times(executions) if _is_repeated(executions) else ""
    times = f", {_times(executions)}" if not executions.is_once else ""
    return f"{_BESIDE_LOOPS[loop.part]} of line {loop.line}{times}"


def _times(executions: Executions) -> str:
    """Return how often an operation runs, and where that is so."""
    text, number = executions.text, executions.number
    number = executions.first if number is None else number
    if executions.is_unknown:
        return executions.times
    equals = f" = {number}" if number is not None and text != str(number) else ""
    times = f"{text}{equals} {plural('time', text in ('1', 'at most 1'))}"
    if number is None or not executions.programs:
        return times
    options = values_of(executions.programs)
    return f"{times} in program 0; another with {options}"


def is_repeated(row: MovementRow) -> bool:
    """Return whether an operation is inside, before or after a loop, or may not run."""
    return row.executions.loop is not None or _is_repeated(row.executions)


def _is_repeated(executions: Executions) -> bool:
    return not executions.is_once and executions != UNPLACED


def runs(executions: Executions) -> str:
    """Return how often an operation runs, and whether that is before or after the loop."""
    text, number, loop = executions.text, executions.number, executions.loop
    if number is not None and text != str(number):
        text += f" = {number}"
    return f"{text}, {loop.part}" if loop is not None and not loop.is_body else text


def cost_text(row: MovementRow) -> str:
    """Format the cost of a data movement, or the reason why it is not known."""
    if row.cost is not None:
        return row.cost.text
    return f"n/a ({safe(row.cost_unknown)})" if row.cost_unknown is not None else "-"


def _ends(operation: Operation) -> str:
    """Return from where to where something is moved."""
    target = short_layout(layout_of(operation.target)).replace(MemorySpace.GLOBAL, "global")
    if operation.group is MovementKind.ALLOCATION:
        return target
    source = short_layout(layout_of(operation.source)).replace(MemorySpace.GLOBAL, "global")
    if operation.group is MovementKind.COPY_IN and operation.source is not None:
        source = f"global by {source}"
    return f"{source} -> {target}"


# -- multiplications and totals ---------------------------------------------------------------


def _multiplication_table(products: Sequence[Multiplication]) -> Table:
    file, places = _places([product.location for product in products])
    header = ["line", file, "operation", "of", "A", "B", "FLOPs", "runs", "instructions"]
    rows = [_multiplication_cells(product, place) for product, place in zip(products, places)]
    table = Table(header, rows, ["line", "FLOPs"], has_tail=True)
    is_once = all(
        product.executions.is_once and product.executions.loop is None for product in products
    )
    return table.without(*["runs"] * is_once, *[file] * (not any(places)))


def _multiplication_cells(product: Multiplication, place: str) -> list[str]:
    instruction, fma = product.instruction, product.fma
    without = fma.text if fma is not None else "-"
    return [
        str(product.line),
        place,
        short_operation(product.name),
        safe(product.text),
        product.a.where.removesuffix(" memory"),
        product.b.where.removesuffix(" memory"),
        str(product.flops),
        runs(product.executions),
        f"{instruction.instructions} x {instruction.name} per {instruction.issuer}"
        if instruction is not None
        else without,
    ]


def _totals(audit: Audit, function: str | None) -> Table:
    """Return the cycles of one program by operation, the most first, and their share of all."""
    totals = audit.totals_of(function)
    cycles = sum(total.cycles for total in totals)
    movements = audit.movements_of(function)
    costed = {row.operation.name.rpartition(".")[2] for row in movements if row.cost is not None}
    rows = [
        [
            total.operation,
            str(total.count),
            f"{total.cycles:.0f}" if total.operation in costed else "n/a",
            f"{100 * total.cycles / cycles:.0f} %" if cycles and total.operation in costed else "-",
        ]
        for total in sorted(totals, key=lambda total: -total.cycles)
    ]
    header = ["operation", "count", "cycles", "share"]
    return Table(header, rows, header[1:])
