"""Changes by each pass of a dump: the report of ``tt-layout audit --diff`` of one dump."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tt_layout.audit.passes import PassChange, PassHistory
from tt_layout.errors import LayoutError
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.comparison import Comparison, comparison_data, comparison_lines
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.pass_tables import change_table, history_data
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe
from tt_layout.surface import is_command_line
from tt_layout.wording import count

ALL = "*"
"""What stands for every pass among the names of those whose details are shown."""
SUFFIX = "Pass"
"""How the names of some passes end; it may be left out."""


@dataclass(frozen=True, repr=False)
class PassesReport(Printed):
    """History of the cost of a dump's kernels over its passes.

    Attributes:
        file: the name of the dump.
        histories: of each compilation.
        compare: compares the modules before and after a pass.
        shown: the name of the pass whose details are shown, `ALL`, or None for none.

    Raises:
        LayoutError: no pass of that name is compared.
    """

    file: str
    histories: Sequence[PassHistory]
    compare: Callable[[PassChange], Comparison]
    shown: str | None = None

    def __post_init__(self) -> None:
        if self.shown not in (None, ALL) and not any(self._details()):
            raise LayoutError(_no_pass(self.shown or "", self.histories))

    @property
    def is_same(self) -> bool:
        """Whether no pass changed the cost."""
        return not any(True for history in self.histories for _ in history.of_cost)

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the passes that changed the cost, then the details that are shown."""
        for history in self.histories:
            yield from self._history_lines(history)
        for comparison in map(self.compare, self._details()):
            if not comparison.is_same or self.shown != ALL:
                yield Line()
                yield from comparison_lines(comparison)

    def _history_lines(self, history: PassHistory) -> Iterator[Line | Fitted]:
        """Yield the table of one compilation."""
        first, changed = history.costs[0], list(history.of_cost)
        what = f"{count(len(history.costs), 'module')}; cycles of the data movements in one program"
        yield Line(safe(f"{self.file}:{first.line}, {what}"))
        if changed:
            yield change_table(changed)
        end = history.end
        if end is not None:
            why = "turns loops into branches" if history.ends_loops else "makes LLVM's IR"
            yield Line(safe(f"  {end.before.line}  {end.name} {why} and ends the table"))
        passes = count(len(history.changes), "pass")
        text = f"{len(changed)} of {passes} changed the cost"
        is_asked = self.shown is None and is_command_line()
        hint = "; --pass NAME shows one, --passes all" * is_asked
        yield Paragraph(text + hint)

    def _details(self) -> Iterator[PassChange]:
        """Yield the passes whose details are shown."""
        for history in self.histories if self.shown is not None else ():
            for change in history.changes:
                if self.shown == ALL or _plain(change.name) == _plain(self.shown):
                    yield change

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/audit-json.md``."""
        every = (change for history in self.histories for change in history.changes)
        comparisons = (comparison_data(self.compare(change)) for change in every)
        passes = [history_data(history) for history in self.histories]
        return {"version": JSON_VERSION, "passes": passes, "comparisons": comparisons}


def _plain(name: str | None) -> str:
    """Return the name of a pass as it is compared."""
    return (name or "").removesuffix(SUFFIX).lower()


def _no_pass(name: str, histories: Sequence[PassHistory]) -> str:
    """Return why there are no details of a pass, and which passes changed the cost."""
    changed = dict.fromkeys(str(change.name) for history in histories for change in history.of_cost)
    which = f"; these changed the cost: {', '.join(changed)}" if changed else ""
    return f"no pass {name} is compared{which}"
