"""The report of ``tt-layout audit --diff``: movements removed, added, more expensive or cheaper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow, cycles_by_kernel
from tt_layout.audit.facts import Difference, differences, is_worse
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.operations.details import GlobalDetails, SingleAtomicDetails
from tt_layout.grouping import grouped
from tt_layout.ir.data_movements import GLOBAL_KINDS, MovementKind
from tt_layout.ir.module import Module
from tt_layout.ir.operations import MovementOperation, attribute_of, layout_of
from tt_layout.ir.short_names import short_layout, short_operation
from tt_layout.records import dataclass
from tt_layout.reports.audit import ends_of, heading, or_dash
from tt_layout.reports.audit_data import JSON_VERSION, operation_data
from tt_layout.reports.fitted import Fitted, Table
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe
from tt_layout.tuples import NamedTuple

_ACCESSES = (GlobalDetails, SingleAtomicDetails)

Identity = tuple[str | int | float | None, ...]

SAME = {
    "data movements": (),
    "registers": ("registers",),
    "spills": ("spills",),
    "shared memory": ("shared_bytes",),
    "CTAs": ("ctas",),
    "bounds": ("bound_cycles",),
    "matrix instructions": (),
    "errors": (),
    "findings": (),
}
"""What is the same of two modules that do not differ -> the facts of which one has to be known."""

_ALIAS = re.compile(r"#\w+(?![\w.])")


# -- changes ---------------------------------------------------------------------------------------


class Change(NamedTuple):
    """A data movement that one of two modules lacks or has at another cost.

    Attributes:
        sign: ``-`` or ``+``.
        row: the data movement.
    """

    sign: str
    row: MovementRow

    @property
    def operation(self) -> MovementOperation:
        """The operation."""
        return self.row.operation

    @property
    def width_bytes(self) -> int | None:
        """Bytes per instruction of a global access; None for other movements, or if unknown."""
        return width_bytes(self.row)

    @property
    def cycles(self) -> float | None:
        """Cycles in one program, loops counted as in findings; None where unknown."""
        return self.row.cycles


class KernelTotal(NamedTuple):
    """Cost of a kernel's data movements in one program, before and after.

    Attributes:
        function: the kernel; None for operations outside any.
        before, after: cycles of the data movements whose cost is known.
    """

    function: str | None
    before: float
    after: float


class KernelDifference(NamedTuple):
    """Facts in which a kernel differs before and after.

    Attributes:
        function: name of the kernel; None for operations outside any.
        before, after: the kernel; None where only the other module has it.
        facts: those that differ; none where only one module has the kernel.
    """

    function: str | None
    before: Kernel | None
    after: Kernel | None
    facts: tuple[Difference, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether no fact differs."""
        return self.before is not None and self.after is not None and not self.facts


def width_bytes(row: MovementRow) -> int | None:
    """Return the bytes per instruction of a global access; None for other movements."""
    if row.cost is None or row.operation.group not in (*GLOBAL_KINDS, MovementKind.GLOBAL_ATOMIC):
        return None
    details = row.cost.details
    return details.width_bytes if isinstance(details, _ACCESSES) else None


def changes(before: Audit, after: Audit) -> list[Change]:
    """Return the data movements that only one of two modules has.

    Two are equal if function, name, type, both layouts, width of a global access and cost in one
    program are equal; their lines do not matter.  Of several equal ones, the last are those added
    or removed.  Changes of one kernel and one line of the program are kept together, and the group
    whose cost changes most comes first.
    """
    removed = _surplus("-", before.movements, after.movements)
    added = _surplus("+", after.movements, before.movements)
    return _by_cost([*removed, *added])


def totals_of(before: Audit, after: Audit) -> list[KernelTotal]:
    """Return the cycles of every kernel before and after."""
    sums = [cycles_by_kernel(audit.movements) for audit in (before, after)]
    names = dict.fromkeys([*sums[0], *sums[1]])
    return [KernelTotal(name, *(cycles.get(name, 0.0) for cycles in sums)) for name in names]


def kernels_between(before: Audit, after: Audit) -> tuple[KernelDifference, ...]:
    """Return every kernel of two modules with the facts in which it differs."""
    left, right = (
        {kernel.symbol: kernel for kernel in kernels_of(audit)} for audit in (before, after)
    )
    differing = []
    for name in dict.fromkeys([*left, *right]):
        old, new = left.get(name), right.get(name)
        facts: tuple[Difference, ...] = ()
        if old is not None and new is not None:
            facts = differences(old.facts, new.facts)
        differing.append(KernelDifference(name, old, new, facts))
    return tuple(differing)


def _identity(row: MovementRow) -> Identity:
    operation = row.operation
    moved = operation.moved or operation.target
    return (
        operation.function,
        operation.name.rpartition(".")[2],
        moved.bare if moved is not None else None,
        attribute_of(operation.source),
        attribute_of(operation.target),
        width_bytes(row),
        row.cycles,
    )


def _surplus(
    sign: str, rows: Sequence[MovementRow], counterparts: Sequence[MovementRow]
) -> Iterator[Change]:
    left = Counter(map(_identity, counterparts))
    for row in rows:
        key = _identity(row)
        left[key] -= 1
        if left[key] < 0:
            yield Change(sign, row)


def _by_cost(changes: Sequence[Change]) -> list[Change]:
    """Return changes grouped by line of the program, the largest change of cost first."""

    def place(change: Change) -> tuple[object, ...]:
        location = change.operation.location
        line = location.line if location is not None else change.operation.name
        return change.operation.function, line

    def delta(group: Sequence[Change]) -> float:
        return sum((change.cycles or 0) * (1 if change.sign == "+" else -1) for change in group)

    ranked = sorted(grouped(changes, place).values(), key=lambda group: -abs(delta(group)))
    return [change for group in ranked for change in group]


# -- the report ------------------------------------------------------------------------------------


class NamedModule(NamedTuple):
    """A module, and the file that it is in."""

    file: str
    module: Module


class Comparison(NamedTuple):
    """Difference between two modules.

    Attributes:
        changes: data movements that only one of them has, the largest change of cost first.
        totals: one for each kernel.
        kernels: each kernel, with the facts in which it differs.
        aliases: layout aliases that differ, with their layouts before and after.
        by: the pass between the two modules; None where no header names it.
    """

    before: NamedModule
    after: NamedModule
    changes: Sequence[Change]
    totals: Sequence[KernelTotal]
    kernels: Sequence[KernelDifference]
    aliases: Mapping[str, tuple[str, str]]
    by: str | None = None

    @property
    def is_same(self) -> bool:
        """Whether the data movements, and all facts of each kernel, are the same."""
        return not self.changes and all(kernel.is_same for kernel in self.kernels)


def compared(
    files: tuple[str, str], audits: tuple[Audit, Audit], by: str | None = None
) -> Comparison:
    """Compare two audits: of two files, or before and after a pass."""
    before, after = audits
    difference = changes(before, after)
    attributes = [{row.layout: row.attribute for row in audit.layouts} for audit in audits]
    used = {
        text
        for change in difference
        for end in (change.operation.source, change.operation.target)
        for text in _ALIAS.findall(layout_of(end))
    }
    other = {
        alias: (attributes[0][alias], attributes[1][alias])
        for alias in sorted(used)
        if alias in attributes[0]
        and attributes[1].get(alias, attributes[0][alias]) != attributes[0][alias]
    }
    named = [NamedModule(file, audit.module) for file, audit in zip(files, audits)]
    kernels = kernels_between(before, after)
    totals = totals_of(before, after)
    return Comparison(named[0], named[1], difference, totals, kernels, other, by)


@dataclass(frozen=True, repr=False)
class ComparisonReport(Printed):
    """Changes between the modules of two dumps, or of one."""

    comparisons: Sequence[Comparison]

    @property
    def is_same(self) -> bool:
        """Whether no data movement and no fact of a kernel differs."""
        return all(comparison.is_same for comparison in self.comparisons)

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the lines and tables of every comparison, separated by empty lines."""
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
    if comparison.is_same:
        yield Line(_same_text(comparison))
        return
    for total in comparison.totals:
        if total.before != total.after:
            yield _total_line(total)
    for kernel in comparison.kernels:
        yield from _fact_lines(kernel)
    if not differing:
        yield Line("the same data movements")
        return
    yield _change_table(differing)
    for alias, attributes in comparison.aliases.items():
        yield from (
            Line(f"{sign} {safe(alias)} = {safe(text)}") for sign, text in zip("-+", attributes)
        )
    removed = sum(1 for change in differing if change.sign == "-")
    yield Line(f"{removed} removed, {len(differing) - removed} added")


def _same_text(comparison: Comparison) -> str:
    """List what is equal: the data movements, and the known facts of the kernels."""
    facts = [kernel.after.facts for kernel in comparison.kernels if kernel.after is not None]
    words = [
        word
        for word, names in SAME.items()
        if not names or any(getattr(fact, name) is not None for fact in facts for name in names)
    ]
    return f"the same {', '.join(words[:-1])} and {words[-1]}"


def _fact_lines(kernel: KernelDifference) -> Iterator[Line]:
    """Yield the facts in which a kernel differs, verdicts last."""
    before, after, who = kernel.before, kernel.after, _who(kernel.function)
    if before is None or after is None:
        yield Line(f"{who}: only {'after' if before is None else 'before'}")
        return
    for fact in kernel.facts:
        if fact.name != "cycles":  # the line of the total says it
            colour = {1: "red", -1: "green"}.get(fact.worse, "")
            yield Line(safe(f"{who}: {fact.text}"), colour)
    if before.verdict != after.verdict:
        yield Line(f"{who}, before: {safe(before.verdict)}")
        yield Line(f"{who}, after: {safe(after.verdict)}")


def _who(function: str | None) -> str:
    return f"@{safe(function)}" if function is not None else "outside of functions"


def _total_line(total: KernelTotal) -> Line:
    """Return the cost of a kernel before and after, and the change."""
    added = total.after - total.before
    numbers = f"{total.before:.0f} cycles before, {total.after:.0f} after"
    word, colour = ("more", "red") if added > 0 else ("fewer", "green")
    return Line(
        f"{_who(total.function)}: {numbers}: {abs(added):.0f} {word} in one program", colour
    )


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
    hidden = ["at a time"] if not _is_in_width(rows) else []
    if all(change.operation.location is None for change in differing):
        hidden += ["location"]
    return table.without(*hidden)


def _is_in_width(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether a movement was removed and added again with another width."""
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
    data["kernels"] = [_kernel_data(kernel) for kernel in comparison.kernels if not kernel.is_same]
    data["aliases"] = {name: list(attributes) for name, attributes in comparison.aliases.items()}
    return data


def _kernel_data(kernel: KernelDifference) -> dict[str, Any]:
    """List the facts of a kernel that differ, before and after."""
    ends = kernel.before, kernel.after
    return {
        "function": kernel.function,
        "facts": {fact.name: [fact.before, fact.after] for fact in kernel.facts},
        "is_worse": is_worse(kernel.facts),
        "verdict": [end.verdict if end is not None else None for end in ends],
    }
