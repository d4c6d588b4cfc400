"""The layouts and data movements of a dump: the report of ``tt-layout audit``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tt_layout.audit.audit import Audit, Change, MovementRow
from tt_layout.audit.layouts import LayoutRow
from tt_layout.audit.multiplications import Multiplication
from tt_layout.audit.values.executions import UNPLACED, Executions
from tt_layout.ir.data_movements import GLOBAL
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Operation, layout_of
from tt_layout.ir.types import IRType
from tt_layout.reports.audit_data import JSON_VERSION, audit_data, operation_data
from tt_layout.reports.report import GAP, Line, Table
from tt_layout.safe_text import safe


@dataclass(frozen=True)
class AuditReport:
    """The audits of a dump's modules.

    Attributes:
        file: the name of the dump.
        audits: one for each module, perhaps made as they are asked for.
    """

    file: str
    audits: Iterable[Audit]

    def lines(self) -> Iterator[Line | Table]:
        """Yield the lines and tables of every module, an empty line between them."""
        for number, audit in enumerate(self.audits):
            if number:
                yield Line()
            yield from module_lines(audit, self.file)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/audit.md``."""
        modules = (audit_data(audit) for audit in self.audits)
        return {"version": JSON_VERSION, "file": self.file, "modules": modules}


class NamedModule(NamedTuple):
    """A module, and the file that it is in."""

    file: str
    module: Module


class Comparison(NamedTuple):
    """The data movements that two modules do not share."""

    before: NamedModule
    after: NamedModule
    changes: Sequence[Change]


@dataclass(frozen=True)
class ComparisonReport:
    """What changed between the modules of two dumps, or of one."""

    comparisons: Sequence[Comparison]

    @property
    def is_same(self) -> bool:
        """Whether nothing was added or removed."""
        return not any(comparison.changes for comparison in self.comparisons)

    def lines(self) -> Iterator[Line | Table]:
        """Yield the lines and tables of every comparison, an empty line between them."""
        for number, comparison in enumerate(self.comparisons):
            if number:
                yield Line()
            yield from _comparison_lines(comparison)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/audit.md``."""
        comparisons = map(_comparison_data, self.comparisons)
        return {"version": JSON_VERSION, "comparisons": comparisons}


# -- one module -------------------------------------------------------------------------------


def heading(module: Module, file: str) -> Iterator[Line]:
    """Yield the lines above the tables of a module."""
    of_pass = f", {module.stage} {module.pass_name}" if module.pass_name is not None else ""
    yield Line(clean(f"{file}:{module.line}{of_pass}"))
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
        yield Line(GAP + ", ".join(known))


def module_lines(audit: Audit, file: str) -> Iterator[Line | Table]:
    """Yield the lines and tables of one module."""
    yield from heading(audit.module, file)
    if audit.layouts:
        yield from _section("layouts", _layout_table(audit.layouts))
    for function in dict.fromkeys(_functions(audit)):
        yield from _function_lines(audit, function)
    if audit.findings:
        found = (Line(f"{GAP}line {f.line}: {clean(f.message)}") for f in audit.findings)
        yield from _section("findings", *found)


def _functions(audit: Audit) -> Iterator[str | None]:
    """Yield the kernels that have a table."""
    yield from (row.operation.function for row in audit.movements)
    yield from (found.function for found in audit.multiplications)


def _function_lines(audit: Audit, function: str | None) -> Iterator[Line | Table]:
    """Yield the lines and tables of one kernel."""
    of = f" of @{clean(function)}" if function is not None else ""
    own = [row for row in audit.movements if row.operation.function == function]
    if own:
        yield from _section(f"data movements{of}", _movement_table(own))
    products = [found for found in audit.multiplications if found.function == function]
    if products:
        yield from _section(f"multiplications{of}", _multiplication_table(products))
    for intensity in audit.intensities:
        if intensity.function == function and intensity.flops_per_byte is not None:
            counts = f"{intensity.flops} FLOPs for {intensity.global_bytes} bytes of global memory"
            per_byte = f"{intensity.flops_per_byte:.1f} FLOPs per byte"
            yield Line(f"{GAP}{counts} in one program: {per_byte}")
    if own:
        yield from _section(f"totals{of}", _totals(audit, function))


def _section(title: str, *elements: Line | Table) -> Iterator[Line | Table]:
    """Yield a title and what is below it."""
    yield Line()
    yield Line(title)
    yield from elements


def _layout_table(rows: Sequence[LayoutRow]) -> Table:
    header = ["layout", "kind", "on", "uses", "registers", "contiguous", "replication", "warps"]
    return Table(header, [_layout_cells(row) for row in rows], ["uses", "registers", "warps"])


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
        " ".join(f"{dim}:{count}" for dim, count in row.replication) or "-",
        _or_dash(row.size("warp")),
    ]


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)


def _movement_table(rows: Sequence[MovementRow]) -> Table:
    header = ["line", "operation", "of", "from", "to", "bytes", "runs", "cost", "location"]
    table = Table(header, [_movement_cells(row) for row in rows], ["line", "bytes"])
    return table if any(map(_is_repeated, rows)) else table.without("runs")


def _is_repeated(row: MovementRow) -> bool:
    """Tell whether an operation stands to a loop, or may not run."""
    return row.executions.loop is not None or row.executions.text not in ("1", UNPLACED.text)


def _movement_cells(row: MovementRow) -> list[str]:
    operation = row.operation
    return [
        str(operation.line),
        operation.name,
        *_ends(operation),
        _or_dash(operation.bytes),
        _runs(row.executions),
        _cost(row),
        clean(str(operation.location)) if operation.location is not None else "-",
    ]


def _cost(row: MovementRow) -> str:
    """Return what a data movement costs, or why that is not known."""
    if row.cost is not None:
        return row.cost.text
    return f"-: {clean(row.cost_unknown)}" if row.cost_unknown is not None else "-"


def _multiplication_table(found: Sequence[Multiplication]) -> Table:
    header = ["line", "operation", "of", "A", "B", "FLOPs", "runs", "instructions", "location"]
    table = Table(header, [_multiplication_cells(one) for one in found], ["line", "FLOPs"])
    is_once = all(one.executions.text == "1" and one.executions.loop is None for one in found)
    return table.without("runs") if is_once else table


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
    if operation.group == "copy to local" and operation.source is not None:
        source = f"{GLOBAL} by {source}"
    return [_bare(operation.moved), clean(source), clean(layout_of(operation.target))]


def _bare(ir_type: IRType | None) -> str:
    return clean(ir_type.bare) if ir_type is not None else "-"


def _totals(audit: Audit, function: str | None) -> Table:
    header = ["operation", "count", "bytes", "runs", "moved"]
    rows = [
        [
            total.operation,
            str(total.count),
            _or_dash(total.bytes),
            _or_dash(total.executions),
            _or_dash(total.executed_bytes),
        ]
        for total in audit.totals
        if total.function == function
    ]
    table = Table(header, rows, header[1:])
    own = (row for row in audit.movements if row.operation.function == function)
    return table if any(map(_is_repeated, own)) else table.without("runs", "moved")


def clean(text: str) -> str:
    """Return a text of the dump without anything that a terminal would act on."""
    return safe(text)


# -- two modules ------------------------------------------------------------------------------


def _comparison_lines(comparison: Comparison) -> Iterator[Line | Table]:
    for sign, one in (("---", comparison.before), ("+++", comparison.after)):
        yield Line(f"{sign} {next(heading(one.module, one.file)).text}")
    changes = comparison.changes
    if not changes:
        yield Line("the same data movements")
        return
    yield _change_table(changes)
    removed = sum(1 for change in changes if change.sign == "-")
    yield Line(f"{removed} removed, {len(changes) - removed} added")


def _change_table(changes: Sequence[Change]) -> Table:
    rows = []
    for change in changes:
        operation = change.operation
        function = f"@{clean(operation.function)}" if operation.function is not None else "-"
        cells = [operation.name, *_ends(operation), _or_dash(operation.bytes)]
        width = f"{change.width_bytes} bytes" if change.width_bytes is not None else "-"
        rows.append([f"{change.sign} {operation.line}", *cells, width, function])
    header = ["line", "operation", "of", "from", "to", "bytes", "at a time", "function"]
    table = Table(header, rows, ["bytes", "at a time"], indent="")
    return table if _is_in_width(rows) else table.without("at a time")


def _is_in_width(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether something was removed and added again with another width."""
    removed, added = ([r[1:6] for r in rows if r[0].startswith(sign)] for sign in "-+")
    return any(cells in added for cells in removed)


def _comparison_data(comparison: Comparison) -> dict[str, Any]:
    data: dict[str, Any] = {
        label: {"file": file, "line": m.line, "pass": m.pass_name, "stage": m.stage}
        for label, (file, m) in (("before", comparison.before), ("after", comparison.after))
    }
    for label, sign in (("removed", "-"), ("added", "+")):
        own = (change for change in comparison.changes if change.sign == sign)
        data[label] = [
            {**operation_data(change.operation), "width_bytes": change.width_bytes}
            for change in own
        ]
    return data
