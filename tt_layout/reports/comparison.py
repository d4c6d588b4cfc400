"""The data movements that two modules do not share: the report of ``tt-layout audit --diff``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tt_layout.audit.audit import Change
from tt_layout.ir.module import Module
from tt_layout.reports.audit import ends_of, heading, or_dash
from tt_layout.reports.audit_data import JSON_VERSION, operation_data
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line, Table
from tt_layout.safe_text import safe


class NamedModule(NamedTuple):
    """A module, and the file that it is in."""

    file: str
    module: Module


class Comparison(NamedTuple):
    """The data movements that two modules do not share."""

    before: NamedModule
    after: NamedModule
    changes: Sequence[Change]


@dataclass(frozen=True, repr=False)
class ComparisonReport(Printed):
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
        function = f"@{safe(operation.function)}" if operation.function is not None else "-"
        cells = [operation.name, *ends_of(operation), or_dash(operation.bytes)]
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
