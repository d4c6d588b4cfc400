"""What the page of a dump shows of each of its modules: findings and data movements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tt_layout.audit.audit import Audit, MovementRow
from tt_layout.audit.findings import Finding, is_in_loop
from tt_layout.audit.summary import summaries
from tt_layout.ir.module import Module
from tt_layout.ir.operations import layout_of
from tt_layout.ir.types import IRType
from tt_layout.reports.finding_text import grouped
from tt_layout.reports.program_source import ProgramSource

NumberOf = Callable[[IRType | None], "int | None"]
"""Which of the page's layouts a type has; None where the page has none of it."""


def module_data(audit: Audit, number: int, number_of: NumberOf) -> dict[str, Any]:
    """Return what the page gets of a module.

    Args:
        audit: what there is to say about it.
        number: its number in the dump, from 1.
        number_of: the number of the layout of a type on the page.
    """
    module = audit.module
    return {
        "number": number,
        "first": min([module.line, *_lines_of_aliases(module)]),
        "line": module.line,
        "pass": module.pass_name,
        "stage": module.stage,
        "target": module.target,
        "summary": [summary.text for summary in summaries(audit)],
        "findings": [_finding(group) for group in grouped(audit.findings)],
        "movements": [_movement(row, number_of) for row in audit.movements],
    }


def _lines_of_aliases(module: Module) -> Iterator[int]:
    """Yield where the layouts of a module are defined, as far as that is before it."""
    lines = (module.aliases[name].line for name in module.aliases.attributes())
    return (line for line in lines if line < module.line)


def _finding(group: Sequence[Finding]) -> dict[str, Any]:
    first = group[0]
    return {"lines": [one.line for one in group], "message": first.message, "kind": first.kind}


def programs(audits: Iterable[Audit], source: ProgramSource) -> dict[str, str]:
    """Return the text of each file of the program that data movements come from."""
    locations = (row.operation.location for audit in audits for row in audit.movements)
    files = dict.fromkeys(location.file for location in locations if location is not None)
    texts = ((file, source.text(file)) for file in files)
    return {file: text for file, text in texts if text is not None}


def _movement(row: MovementRow, number_of: NumberOf) -> dict[str, Any]:
    operation, cost, executions = row.operation, row.cost, row.executions
    moved, location = operation.moved or operation.target, operation.location
    is_allocation = operation.group == "allocation"
    source = None if is_allocation else operation.source
    return {
        "line": operation.line,
        "name": operation.name,
        "group": operation.group,
        "function": operation.function,
        "type": moved.bare if moved is not None else None,
        "from": layout_of(source),
        "to": layout_of(operation.target),
        "layouts": [number_of(source), number_of(operation.target)],
        "bytes": operation.bytes,
        "runs": executions.text,
        "inLoop": is_in_loop(executions),
        "cost": cost.text if cost is not None else None,
        "weight": cost.weight if cost is not None else 0,
        "facts": _facts(cost.details) if cost is not None else {},
        "location": location._asdict() if location is not None else None,
    }


def _facts(details: dict[str, Any]) -> dict[str, int | str]:
    """Return what is a number or a word among the details of a cost."""
    return {
        name: value
        for name, value in details.items()
        if isinstance(value, (int, str)) and not isinstance(value, bool)
    }
