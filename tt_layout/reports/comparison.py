"""The data movements that two modules do not share: the report of ``tt-layout audit --diff``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.changes import Change, KernelTotal, changes, totals_of
from tt_layout.ir.module import Module
from tt_layout.ir.operations import layout_of
from tt_layout.ir.short_names import short_layout, short_operation
from tt_layout.reports.audit import ends_of, heading, or_dash
from tt_layout.reports.audit_data import JSON_VERSION, operation_data
from tt_layout.reports.fitted import Fitted, Table
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe

_ALIAS = re.compile(r"#\w+(?![\w.])")


class NamedModule(NamedTuple):
    """A module, and the file that it is in."""

    file: str
    module: Module


class Comparison(NamedTuple):
    """Difference between two modules.

    Attributes:
        changes: data movements of one of them only, those of which the cost changes most first.
        totals: of each kernel.
        aliases: layout aliases that mean something else in the other module, with what they
            mean before and after.
        by: the pass that made one of the other; None where no header names it.
    """

    before: NamedModule
    after: NamedModule
    changes: Sequence[Change]
    totals: Sequence[KernelTotal]
    aliases: Mapping[str, tuple[str, str]]
    by: str | None = None


def compared(
    files: tuple[str, str], audits: tuple[Audit, Audit], by: str | None = None
) -> Comparison:
    """Return the comparison of two audits, of files of these names, or around a pass."""
    before, after = audits
    difference = changes(before, after)
    meanings = [{row.layout: row.attribute for row in audit.layouts} for audit in audits]
    used = {
        text
        for change in difference
        for end in (change.operation.source, change.operation.target)
        for text in _ALIAS.findall(layout_of(end))
    }
    other = {
        alias: (meanings[0][alias], meanings[1][alias])
        for alias in sorted(used)
        if alias in meanings[0] and meanings[1].get(alias, meanings[0][alias]) != meanings[0][alias]
    }
    named = [NamedModule(file, audit.module) for file, audit in zip(files, audits)]
    return Comparison(named[0], named[1], difference, totals_of(before, after), other, by)


@dataclass(frozen=True, repr=False)
class ComparisonReport(Printed):
    """Changes between the modules of two dumps, or of one."""

    comparisons: Sequence[Comparison]

    @property
    def is_same(self) -> bool:
        """Whether nothing was added or removed."""
        return not any(comparison.changes for comparison in self.comparisons)

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the lines and tables of every comparison, an empty line between them."""
        for number, comparison in enumerate(self.comparisons):
            if number:
                yield Line()
            yield from comparison_lines(comparison)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/audit-json.md``."""
        comparisons = map(comparison_data, self.comparisons)
        return {"version": JSON_VERSION, "comparisons": comparisons}


def comparison_lines(comparison: Comparison) -> Iterator[Line | Fitted]:
    """Yield the differences between two modules."""
    both = ("---", "before", comparison.before), ("+++", "after", comparison.after)
    for sign, side, module in both:
        where = next(heading(module.module, module.file)).text
        if comparison.by is not None:
            where = safe(f"{module.file}:{module.module.line}, {side} {comparison.by}")
        yield Line(f"{sign} {where}")
    differing = comparison.changes
    if not differing:
        yield Line("the same data movements")
        return
    for total in comparison.totals:
        if total.before != total.after:
            yield _total_line(total)
    yield _change_table(differing)
    for alias, meanings in comparison.aliases.items():
        yield from (
            Line(f"{sign} {safe(alias)} = {safe(text)}") for sign, text in zip("-+", meanings)
        )
    removed = sum(1 for change in differing if change.sign == "-")
    yield Line(f"{removed} removed, {len(differing) - removed} added")


def _total_line(total: KernelTotal) -> Line:
    """Return the cost of a kernel before and after, and which is higher."""
    added = total.after - total.before
    who = f"@{safe(total.function)}" if total.function is not None else "outside of functions"
    numbers = f"{total.before:.0f} cycles before, {total.after:.0f} after"
    word, colour = ("more", "red") if added > 0 else ("fewer", "green")
    return Line(f"{who}: {numbers}: {abs(added):.0f} {word} in one program", colour)


def _change_table(differing: Sequence[Change]) -> Table:
    rows = []
    for change in differing:
        operation = change.operation
        bare, source, target = ends_of(operation)
        width = f"{change.width_bytes} bytes" if change.width_bytes is not None else "-"
        cycles = change.cycles
        rows.append(
            [
                f"{change.sign} {operation.line}",
                short_operation(operation.name),
                bare.partition("<")[2].removesuffix(">"),
                short_layout(source),
                short_layout(target),
                or_dash(operation.bytes),
                width,
                f"{cycles:.0f}" if cycles is not None else "-",
                f"@{safe(operation.function)}" if operation.function is not None else "-",
                safe(str(operation.location)) if operation.location is not None else "-",
            ]
        )
    header = ["line", "operation", "of", "from", "to", "bytes", "at a time"]
    header += ["cycles", "function", "location"]
    colours = {at: "red" if change.sign == "-" else "green" for at, change in enumerate(differing)}
    table = Table(header, rows, ["bytes", "at a time", "cycles"], colours)
    hidden = ["at a time"] * (not _is_in_width(rows))
    hidden += ["location"] * all(change.operation.location is None for change in differing)
    return table.without(*hidden)


def _is_in_width(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether something was removed and added again with another width."""
    removed, added = ([r[1:6] for r in rows if r[0].startswith(sign)] for sign in "-+")
    return any(cells in added for cells in removed)


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Return the differences between two modules as plain data."""
    data: dict[str, Any] = {
        label: {"file": file, "line": m.line, "pass": m.pass_name, "stage": m.stage}
        for label, (file, m) in (("before", comparison.before), ("after", comparison.after))
    }
    for label, sign in (("removed", "-"), ("added", "+")):
        signed = (change for change in comparison.changes if change.sign == sign)
        data[label] = [
            {
                **operation_data(change.operation),
                "width_bytes": change.width_bytes,
                "cycles": change.cycles,
                "executions": change.row.executions.number,
            }
            for change in signed
        ]
    data["totals"] = [total._asdict() for total in comparison.totals]
    data["aliases"] = {name: list(meanings) for name, meanings in comparison.aliases.items()}
    return data
