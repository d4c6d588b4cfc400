"""An audit as plain text: aligned columns, the same bytes for the same input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.audit import Audit, Change, MoveRow
from tt_layout.audit.layouts import LayoutRow
from tt_layout.audit.multiplications import Multiplication
from tt_layout.audit.values.executions import UNPLACED, Executions
from tt_layout.ir.data_movements import GLOBAL
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Operation, layout_of
from tt_layout.ir.types import IRType

GAP = "  "


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: str) -> Iterator[str]:
    """Yield the lines of a table; the columns named in ``right`` are flush right.

    Example:
        >>> for line in table(["name", "count"], [["a", "10"], ["bcdef", "9"]], "count"):
        ...     print(line)
          name   count
          a         10
          bcdef      9
    """
    columns = list(zip(header, *rows))
    widths = [max(len(cell) for cell in column) for column in columns]
    is_right = [name in right.split() for name in header]
    for row in (header, *rows):
        cells = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, is_right))
        yield (GAP + GAP.join(cells)).rstrip()


def heading(module: Module, name: str) -> Iterator[str]:
    """Yield the lines above the tables of a module."""
    of_pass = f", {module.stage} {module.pass_name}" if module.pass_name is not None else ""
    yield f"{name}:{module.line}{of_pass}"
    known = [f"target {module.target}"] if module.target is not None else []
    for attribute, unit in (("num-warps", "warp"), ("threads-per-warp", "thread")):
        count = module.number(attribute)
        if count is not None:
            plural = "s" if count != 1 else ""
            known.append(f"{count} {unit}{plural}{' per warp' * (unit == 'thread')}")
    ctas, shared = module.number("num-ctas"), module.number("shared")
    known += [f"{ctas} CTA{'s' if ctas != 1 else ''}"] if ctas is not None else []
    known += [f"{shared} bytes of shared memory"] if shared is not None else []
    if known:
        yield GAP + ", ".join(known)


def audit_lines(audit: Audit, name: str) -> Iterator[str]:
    """Yield the lines of the report of one module."""
    yield from heading(audit.module, name)
    yield from _section("layouts", _layout_table(audit.layouts))
    functions = list(dict.fromkeys(_functions(audit)))
    for function in functions:
        of = f" of @{clean(function)}" if function is not None else ""
        own = [move for move in audit.moves if move.operation.function == function]
        yield from _section(f"moves{of}", _move_table(own)) if own else ()
        products = [found for found in audit.multiplications if found.function == function]
        yield from _section(f"multiplications{of}", _multiplication_table(products))
        for one in audit.intensities:
            if one.function == function and one.flops_per_byte is not None:
                counts = f"{one.flops} FLOPs for {one.global_bytes} bytes of global memory"
                yield f"{GAP}{counts} in one program: {one.flops_per_byte:.1f} FLOPs per byte"
        yield from _section(f"totals{of}", _totals(audit, function))
    found = (f"{GAP}line {f.line}: {clean(f.message)}" for f in audit.findings)
    yield from _section("findings", found)


def _functions(audit: Audit) -> Iterator[str | None]:
    """Yield the kernels that have a table."""
    yield from (move.operation.function for move in audit.moves)
    yield from (found.function for found in audit.multiplications)


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield a titled section, unless it is empty."""
    first = next(lines, None)
    if first is not None:
        yield ""
        yield title
        yield first
        yield from lines


def _layout_table(rows: Sequence[LayoutRow]) -> Iterator[str]:
    if not rows:
        return
    header = ["layout", "kind", "on", "uses", "registers", "contiguous", "copies", "warps"]
    yield from table(header, [_layout_cells(row) for row in rows], "uses registers warps")


def _layout_cells(row: LayoutRow) -> list[str]:
    if row.kind == "" or row.error is not None:
        known = [clean(row.layout), row.kind or "?", clean(row.type), str(row.uses)]
        return known + ["?"] * 4
    return [
        clean(row.layout),
        row.kind,
        clean(row.type),
        str(row.uses),
        _or_dash(row.registers),
        "x".join(str(count) for count in row.contiguity) if row.contiguity else "-",
        " ".join(f"{dim}:{count}" for dim, count in row.copies) or "-",
        _or_dash(row.size("warp")),
    ]


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)


def _move_table(moves: Sequence[MoveRow]) -> Iterator[str]:
    header = ["line", "operation", "of", "from", "to", "bytes", "runs", "cost", "location"]
    rows = [_move_cells(move) for move in moves]
    if not any(_is_repeated(move) for move in moves):
        header, rows = _without("runs", header, rows)
    yield from table(header, rows, "line bytes")


def _without(
    name: str, header: list[str], rows: list[list[str]]
) -> tuple[list[str], list[list[str]]]:
    """Return a table without one of its columns."""
    at = header.index(name)
    return [*header[:at], *header[at + 1 :]], [[*row[:at], *row[at + 1 :]] for row in rows]


def _is_repeated(move: MoveRow) -> bool:
    """Tell whether an operation stands to a loop, or may not run."""
    return move.executions.loop is not None or move.executions.text not in ("1", UNPLACED.text)


def _move_cells(move: MoveRow) -> list[str]:
    operation = move.operation
    return [
        str(operation.line),
        operation.name,
        *_ends(operation),
        _or_dash(operation.bytes),
        _runs(move.executions),
        move.cost.text if move.cost is not None else "-",
        clean(str(operation.location)) if operation.location is not None else "-",
    ]


def _multiplication_table(found: Sequence[Multiplication]) -> Iterator[str]:
    if not found:
        return
    header = ["line", "operation", "of", "A", "B", "FLOPs", "runs", "instructions", "location"]
    rows = [_multiplication_cells(one) for one in found]
    if all(one.executions.text == "1" and one.executions.loop is None for one in found):
        header, rows = _without("runs", header, rows)
    yield from table(header, rows, "line FLOPs")


def _multiplication_cells(found: Multiplication) -> list[str]:
    instruction = found.instruction
    return [
        str(found.line),
        found.name,
        clean(found.text),
        found.a.where,
        found.b.where,
        str(found.flops),
        _runs(found.executions),
        f"{instruction.instructions} x {instruction.name} per {instruction.issuer}"
        if instruction is not None
        else "-",
        clean(str(found.location)) if found.location is not None else "-",
    ]


def _runs(executions: Executions) -> str:
    """Return how often an operation runs, and whether that is before or after the loop."""
    text, number, loop = executions.text, executions.number, executions.loop
    if number is not None and text != str(number):
        text += f" = {number}"
    return f"{text}, {loop.part}" if loop is not None and loop.part != "body" else text


def _ends(operation: Operation) -> list[str]:
    """Return what is moved, from where and to where."""
    if operation.group == "allocation":
        return [_bare(operation.target), "-", clean(layout_of(operation.target))]
    source = layout_of(operation.source)
    if operation.move.source == GLOBAL and operation.source is not None:
        source = f"{GLOBAL} by {source}"
    return [_bare(operation.moved), clean(source), clean(layout_of(operation.target))]


def _bare(ir_type: IRType | None) -> str:
    return clean(ir_type.bare) if ir_type is not None else "-"


def _totals(audit: Audit, function: str | None) -> Iterator[str]:
    header = ["operation", "count", "bytes", "runs", "moved"]
    own = [total for total in audit.totals if total.function == function]
    rows = [
        [
            total.operation,
            str(total.count),
            _or_dash(total.bytes),
            _or_dash(total.executions),
            _or_dash(total.executed_bytes),
        ]
        for total in own
    ]
    if not any(_is_repeated(m) for m in audit.moves if m.operation.function == function):
        header, rows = header[:3], [row[:3] for row in rows]
    return table(header, rows, " ".join(header[1:]))


def change_lines(found: Sequence[Change]) -> Iterator[str]:
    """Yield the lines of a comparison: the moves removed, then those added."""
    rows = []
    for change in found:
        operation = change.operation
        function = f"@{clean(operation.function)}" if operation.function is not None else "-"
        cells = [operation.name, *_ends(operation), _or_dash(operation.bytes), function]
        rows.append([f"{change.sign} {operation.line}", *cells])
    header = ["line", "operation", "of", "from", "to", "bytes", "function"]
    for line in table(header, rows, "bytes") if rows else ():
        yield line.removeprefix(GAP)


def clean(text: str) -> str:
    """Return a text of the dump without anything that a terminal would act on."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)
