"""The data movements and multiplications of a kernel as tables, loops marked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.values.executions import UNPLACED, Executions
from tt_layout.audit.values.structure import Part
from tt_layout.enums import MemorySpace
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import Location, Operation, layout_of
from tt_layout.ir.short_names import short_layout, short_operation, short_type
from tt_layout.reports.fitted import Fitted, Paragraph, Table
from tt_layout.reports.report import GAP, Line
from tt_layout.safe_text import safe
from tt_layout.surface import values_of
from tt_layout.wording import count, plural

_BESIDE_LOOPS = {
    Part.BODY: "loop",
    Part.PROLOGUE: "before the loop",
    Part.EPILOGUE: "after the loop",
}


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
    rows = [
        [
            total.operation,
            str(total.count),
            f"{total.cycles:.0f}",
            f"{100 * total.cycles / cycles:.0f} %" if cycles else "-",
        ]
        for total in sorted(totals, key=lambda total: -total.cycles)
    ]
    header = ["operation", "count", "cycles", "share"]
    return Table(header, rows, header[1:])
