"""What the page of a dump shows of each of its modules: findings and data movements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tt_layout.audit.audit import Audit, MovementRow
from tt_layout.ir.module import Module
from tt_layout.ir.operations import layout_of
from tt_layout.ir.types import IRType

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
        "functions": list(dict.fromkeys(row.operation.function for row in audit.movements)),
        "findings": [finding._asdict() for finding in audit.findings],
        "movements": [_movement(row, number_of) for row in audit.movements],
    }


def _lines_of_aliases(module: Module) -> Iterator[int]:
    """Yield where the layouts of a module are defined, as far as that is before it."""
    lines = (module.aliases[name].line for name in module.aliases.attributes())
    return (line for line in lines if line < module.line)


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
        "inLoop": executions.loop is not None and executions.loop.part == "body",
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
