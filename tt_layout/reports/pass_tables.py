"""Tables of a dump of passes: its modules, and the passes that changed the cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tt_layout.audit.passes import PassChange, PassCost, PassHistory
from tt_layout.reports.fitted import Fitted, Table
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe


def module_lines(history: PassHistory, *, is_whole: bool = False) -> Iterator[Line | Fitted]:
    """Yield a line for each module; neighbours with the same cost share one.

    Args:
        history: the history of a compilation.
        is_whole: whether every module has a line of its own.
    """
    rows = []
    for _, group in groupby(history.costs, key=lambda cost: (cost.movements, cost.cycles)):
        alike = list(group)
        rows += [_row([cost]) for cost in alike] if is_whole else [_row(alike)]
    header = ["module", "line", "printed", "movements", "cycles"]
    yield Line("passes")
    yield Table(header, rows, ["module", "line", "movements", "cycles"])


def _row(alike: Sequence[PassCost]) -> list[str]:
    first, last = alike[0], alike[-1]
    numbers = str(first.number) if first is last else f"{first.number}-{last.number}"
    return [numbers, str(first.line), safe(first.header), str(first.movements), cycles(first)]


def cycles(cost: PassCost) -> str:
    """Format the cost of a module's data movements; a dash if it is not known."""
    return f"{cost.cycles:.0f}" if cost.cycles is not None else "-"


def change_table(changes: Sequence[PassChange]) -> Table:
    """Return a table with a row for each pass that changed the cost."""
    rows = [
        [
            str(change.before.line),
            safe(change.name or "-"),
            f"{cycles(change.before)} -> {cycles(change.after)}",
            f"{change.more:+.0f}" if change.more is not None else "",
        ]
        for change in changes
    ]
    return Table(["line", "pass", "cycles", "more"], rows, ["line", "more"])


def history_data(history: PassHistory) -> dict[str, Any]:
    """Return the passes of a compilation as plain data; the schema is in ``docs/audit-json.md``."""
    end = history.end
    return {
        "modules": [_cost_data(cost) for cost in history.costs],
        "changes": list(_changes(history)),
        "end": {"pass": end.name, "loops": history.ends_loops} if end is not None else None,
    }


def _changes(history: PassHistory) -> Iterator[dict[str, Any]]:
    for change in history.of_cost:
        yield {
            "pass": change.name,
            "before": _cost_data(change.before),
            "after": _cost_data(change.after),
        }


def _cost_data(cost: PassCost) -> dict[str, Any]:
    return cost._asdict()
