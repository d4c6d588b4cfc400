"""The reports of ``--diff`` and ``--baseline``: differences between dumps, or folders of dumps.

``--diff`` compares the modules of two dumps or of one; for a dump of passes it lists what each
pass changed; with ``--bits``, whether reductions give the same bits.  ``--baseline`` compares two
folders kernel by kernel.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import pairwise
from typing import Any

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.facts import Difference, differences, in_words, is_worse
from tt_layout.audit.kernel import Kernel
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.passes import PassChange, PassHistory, pass_history
from tt_layout.audit.reduction_bits import Reduction, ReductionBits, ReductionPair, reduction_bits
from tt_layout.dumps.audits import PassedOver
from tt_layout.dumps.dump import Reading, open_dump
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.grouping import grouped
from tt_layout.ir import Module
from tt_layout.ir.passes import PassRun, chosen_modules, pass_runs
from tt_layout.records import dataclass
from tt_layout.reports.audit import heading
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.comparison import (
    Comparison,
    ComparisonReport,
    NamedModule,
    compared,
    comparison_data,
    comparison_lines,
)
from tt_layout.reports.fitted import Fitted, Paragraph, Table
from tt_layout.reports.kernel_overview import names_apart
from tt_layout.reports.pass_tables import change_table, history_data
from tt_layout.reports.printed import Printed
from tt_layout.reports.reduce import compiled_by, difference_text, tree_data
from tt_layout.reports.report import Line, Summary
from tt_layout.reports.watched_findings import Watcher, fresh
from tt_layout.safe_text import safe
from tt_layout.surface import is_command_line
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

ALL = "*"
"""What stands for every pass among the names of those whose details are shown."""
SUFFIX = "Pass"
"""How the names of some passes end; it may be left out."""

NOT_COMPARED = "only the order within reductions is compared: not that of loops, tt.dot and atomics"

Pair = tuple[NamedModule, NamedModule]


@dataclass(frozen=True, repr=False)
class PassesReport(Printed):
    """History of the cost of a dump's kernels over its passes.

    Attributes:
        file: the name of the dump.
        histories: one for each compilation.
        compare: function that compares the modules before and after a pass.
        shown: the name of the pass whose details are shown, `ALL`, or None for none.

    Raises:
        LayoutError: no compared pass has that name.
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
        """Yield the passes that changed the cost, then the requested details."""
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
        hint = "; --pass NAME shows one, --passes all" if is_asked else ""
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
    """Return the name of a pass for comparison: lower case, without the suffix."""
    return (name or "").removesuffix(SUFFIX).lower()


def _no_pass(name: str, histories: Sequence[PassHistory]) -> str:
    """Return the message that no compared pass has the name, and those that changed the cost."""
    changed = dict.fromkeys(str(change.name) for history in histories for change in history.of_cost)
    which = f"; these changed the cost: {', '.join(changed)}" if changed else ""
    return f"no pass {name} is compared{which}"


class ComparedBits(NamedTuple):
    """Two modules, and whether their reductions give the same bits."""

    before: NamedModule
    after: NamedModule
    bits: ReductionBits


@dataclass(frozen=True, repr=False)
class ReductionBitsReport(Printed):
    """Whether the reductions of the modules of two dumps, or of one, give the same bits."""

    comparisons: Sequence[ComparedBits]

    @property
    def is_same(self) -> bool:
        """Whether all reductions are known to give the same bits."""
        return all(comparison.bits.has_same_bits for comparison in self.comparisons)

    def lines(self) -> Iterator[Line]:
        """Yield the lines of every comparison, then a note on what is not compared."""
        for comparison in self.comparisons:
            for sign, side in (("---", comparison.before), ("+++", comparison.after)):
                yield Line(f"{sign} {next(heading(side.module, side.file)).text}")
            yield from _bits_lines(comparison.bits)
        yield Line(NOT_COMPARED)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/reductions.md``."""
        return {
            "version": JSON_VERSION,
            "comparisons": [_bits_data(comparison) for comparison in self.comparisons],
        }


def _bits_lines(bits: ReductionBits) -> Iterator[Line]:
    if bits.unpaired is not None:
        before, after = bits.unpaired
        yield Line(f"{count(before, 'reduction')} before, {after} after: none is compared", "red")
        return
    other = [pair for pair in bits.pairs if not pair.has_same_bits]
    summary = f"{count(len(bits.pairs), 'reduction')}, {len(other)} with other bits"
    yield Line(summary, "red" if other else "green")
    for pair in other:
        yield Line(f"  {_reduction_place(pair)}: {_reason_of_bits(pair)}")


def _reduction_place(pair: ReductionPair) -> str:
    """Format the location of a reduction, in either dump and in the program."""
    before, after = pair.before, pair.after
    line = (
        f"line {before.line}"
        if before.line == after.line
        else f"lines {before.line} and {after.line}"
    )
    place = f", {safe(str(after.location))}" if after.location is not None else ""
    return f"{line}, @{safe(after.function)}{place}"


def _reason_of_bits(pair: ReductionPair) -> str:
    """Return why the bits differ, or may differ."""
    if pair.difference is None:
        return pair.reason
    tree = pair.after.tree
    assert tree is not None
    sums = f"sums of {count(tree.size, 'element')} of {tree.element}, {compiled_by(tree)}"
    return f"{sums}; {difference_text(pair.difference)}"


def _bits_data(comparison: ComparedBits) -> dict[str, Any]:
    sides = (("before", comparison.before), ("after", comparison.after))
    return {
        **{name: {"file": side.file, "line": side.module.line} for name, side in sides},
        "has_same_bits": comparison.bits.has_same_bits,
        "unpaired": comparison.bits.unpaired,
        "reductions": [
            {
                "before": _reduction_data(pair.before),
                "after": _reduction_data(pair.after),
                "has_same_bits": pair.has_same_bits,
                "reason": pair.reason,
                "difference": pair.difference._asdict() if pair.difference is not None else None,
            }
            for pair in comparison.bits.pairs
        ],
    }


def _reduction_data(reduction: Reduction) -> dict[str, Any]:
    return {
        "function": reduction.function,
        "line": reduction.line,
        "location": str(reduction.location) if reduction.location is not None else None,
        "is_exact": reduction.is_exact,
        "tree": tree_data(reduction.tree) if reduction.tree is not None else None,
    }


class Comparing:
    """Inputs and options of a comparison.

    Args:
        reading: how dumps are read.
        watcher: collects the new findings; None where they are not requested.
    """

    def __init__(self, reading: Reading, watcher: Watcher | None = None) -> None:
        self._reading, self._given, self._watcher = reading, reading.given, watcher
        self._shared = SharedWork()

    def report(self, files: Sequence[str], shown: str | None) -> ComparisonReport | PassesReport:
        """Compare two dumps, or the passes or modules of one.

        Args:
            files: one file or two.
            shown: the pass whose details are shown, or `tt_layout.reports.compared_dumps.ALL`.

        Raises:
            LayoutError: there are more than two files, or modules or the pass are missing.
        """
        read = self._read(files)
        if len(read) == 1:
            [modules] = read
            runs = list(pass_runs(named.module for named in modules))
            if any(len(run.modules) > 1 for run in runs):
                return self._passes_report(modules[0].file, runs, shown)
            if shown is not None:
                message = "--pass and --passes are for a dump of passes, with a header above each"
                raise LayoutError(message, FileLocation(modules[0].file))
        return ComparisonReport([self._compared(*pair) for pair in _paired(read)])

    def _read(self, files: Sequence[str]) -> list[list[NamedModule]]:
        """Return the modules of one file, or of two."""
        if len(files) > 2:
            raise LayoutError(f"audit --diff takes one file or two, got {len(files)}")
        return [
            [NamedModule(dump.source.name, module) for module in dump.modules(self._reading)]
            for dump in map(open_dump, files)
        ]

    def bits(self, files: Sequence[str]) -> ReductionBitsReport:
        """Compare the bits of the reductions of two dumps, or of the modules of one.

        Raises:
            LayoutError: there are more than two files, or one of a single module.
        """
        comparisons = [
            ComparedBits(
                *pair,
                reduction_bits(
                    *(AuditedModule(named.module, self._shared, self._given) for named in pair)
                ),
            )
            for pair in _paired(self._read(files))
        ]
        return ReductionBitsReport(comparisons)

    def _compared(self, before: NamedModule, after: NamedModule) -> Comparison:
        audits = self._audits(before.module, after.module)
        self._watch(after.file, *audits)
        return compared((before.file, after.file), audits)

    def _passes_report(self, file: str, runs: Iterable[PassRun], shown: str | None) -> PassesReport:
        """Return the report of the changes by each pass of a dump."""
        compilations = [run for run in runs if len(run.modules) > 1]
        histories = [pass_history(run, self._shared, self._given) for run in compilations]
        modules = {number: module for run in compilations for number, module in run.numbered}

        def audits(change: PassChange) -> tuple[Audit, Audit]:
            return self._audits(modules[change.before.number], modules[change.after.number])

        def compare(change: PassChange) -> Comparison:
            return compared((file, file), audits(change), change.name or "the pass")

        for history in histories if self._watcher is not None else ():
            for change in history.changes:
                self._watch(file, *audits(change))
        return PassesReport(file, histories, compare, shown)

    def _watch(self, file: str, before: Audit, after: Audit) -> None:
        """Keep the findings that are new in the later audit."""
        if self._watcher is not None:
            self._watcher.keep(file, after.module.line, fresh(before, after))

    def _audits(self, *modules: Module) -> tuple[Audit, Audit]:
        before, after = (audit_module(module, self._shared, self._given) for module in modules)
        return before, after


def _chosen(modules: Iterable[NamedModule]) -> Iterator[NamedModule]:
    """Yield the modules of a dump, one for each compilation."""
    named = {item.module.line: item for item in modules}
    for module in chosen_modules(item.module for item in named.values()):
        yield named[module.line]._replace(module=module)


def _paired(read: Sequence[list[NamedModule]]) -> Sequence[Pair]:
    """Pair the modules of two files in order, or each module of one file with the next.

    Of two files with unequally many modules, the last of each are paired.

    Raises:
        LayoutError: there is one file, with a single module.
    """
    if len(read) == 2:
        before, after = (list(_chosen(modules)) for modules in read)
        is_even = len(before) == len(after)
        return list(zip(before, after)) if is_even else [(before[-1], after[-1])]
    [modules] = read
    if len(modules) < 2:
        message = "--diff of one file compares its modules, but it has only one"
        raise LayoutError(message, FileLocation(modules[0].file))
    return list(pairwise(modules))


class BaselineVerdict(Enum):
    """Verdict on a kernel against its baseline, the worst first."""

    MORE_EXPENSIVE = "more expensive"
    NEW = "new"
    CHANGED = "changed"
    CHEAPER = "cheaper"
    GONE = "gone"
    SAME = "the same"


class KernelChange(NamedTuple):
    """A kernel before and after.

    Attributes:
        before: None if it is new.
        after: None if it is gone.
        tolerance: how much more expensive it may become, as a share of its earlier cost.
    """

    before: Kernel | None
    after: Kernel | None
    tolerance: float = 0.0

    @property
    def kernel(self) -> Kernel:
        """The kernel after the change, or before it if it is gone."""
        kernel = self.after if self.after is not None else self.before
        assert kernel is not None
        return kernel

    @property
    def difference(self) -> float:
        """Change of its cost in cycles in one program; negative where it became cheaper."""
        before, after = (
            end.cycles if end is not None else 0.0 for end in (self.before, self.after)
        )
        return after - before

    @property
    def facts(self) -> tuple[Difference, ...]:
        """The facts in which it differs; none if it is new or gone."""
        if self.before is None or self.after is None:
            return ()
        return differences(self.before.facts, self.after.facts, self.tolerance)

    @property
    def verdict(self) -> BaselineVerdict:
        """Verdict on the kernel, by the first fact that decides: errors, spills, then cycles."""
        if self.before is None:
            return BaselineVerdict.NEW
        if self.after is None:
            return BaselineVerdict.GONE
        worse = is_worse(self.facts)
        if worse is None:
            return BaselineVerdict.CHANGED if self.facts else BaselineVerdict.SAME
        return BaselineVerdict.MORE_EXPENSIVE if worse else BaselineVerdict.CHEAPER

    @property
    def rank(self) -> tuple[object, ...]:
        """Sort key: the worst verdict first, then the largest difference."""
        order = list(BaselineVerdict).index(self.verdict)
        return order, -abs(self.difference), self.kernel.file, self.kernel.function or ""


Folder = tuple[str, Sequence[Kernel]]
"""The name of a folder, and the kernels of the dumps in it."""


def changes_between(before: Folder, after: Folder, tolerance: float) -> tuple[KernelChange, ...]:
    """Return the change of each kernel, the worst first.

    Kernels of one name are paired if their dumps have the same path in both folders; the others if
    GPU, warps and arguments are equal, those of equal cost first.

    Args:
        before, after: the folders.
        tolerance: how much more expensive a kernel may become, as a share.
    """
    left, right = list(before[1]), list(after[1])
    changes: list[KernelChange] = []
    for key in (_by_path(before[0], after[0]), _by_cost, _by_config, _by_kind):
        pairs = list(_paired_kernels(left, right, key))
        changes += [KernelChange(old, new, tolerance) for old, new in pairs]
        left = _without(left, [old for old, _ in pairs])
        right = _without(right, [new for _, new in pairs])
    changes += [KernelChange(old, None) for old in left]
    changes += [KernelChange(None, old) for old in right]
    return tuple(sorted(changes, key=lambda change: change.rank))


Key = Callable[[Kernel], object]


def _by_path(*folders: str) -> Key:
    def key(kernel: Kernel) -> object:
        folder = next((parent for parent in folders if _is_below(kernel.file, parent)), None)
        path = os.path.relpath(kernel.file, folder) if folder is not None else kernel.file
        return path, kernel.function

    return key


def _is_below(path: str, folder: str) -> bool:
    return os.path.normpath(path).startswith(os.path.normpath(folder) + os.sep)


def _by_kind(kernel: Kernel) -> object:
    return kernel.function, kernel.target, kernel.warps, kernel.signature


def _by_config(kernel: Kernel) -> object:
    return _by_kind(kernel), repr(sorted(kernel.config.items()))


def _by_cost(kernel: Kernel) -> object:
    return _by_config(kernel), kernel.cycles, kernel.errors, kernel.facts.registers


def _paired_kernels(
    left: Iterable[Kernel], right: Iterable[Kernel], key: Key
) -> Iterator[tuple[Kernel, Kernel]]:
    """Yield pairs of kernels with equal keys, in order."""
    waiting = grouped(right, key)
    for kernel in left:
        partners = waiting.get(key(kernel))
        if partners:
            yield kernel, partners.pop(0)


def _without(kernels: Iterable[Kernel], matched: Iterable[Kernel]) -> list[Kernel]:
    taken = set(matched)
    return [kernel for kernel in kernels if kernel not in taken]


@dataclass(frozen=True, repr=False)
class BaselineReport(Printed):
    """Verdicts on all kernels.

    Attributes:
        changes: the worst first.
        passed_over: the files of both folders that have no audit.
    """

    changes: tuple[KernelChange, ...]
    passed_over: tuple[PassedOver, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether any kernel became more expensive."""
        return any(change.verdict is BaselineVerdict.MORE_EXPENSIVE for change in self.changes)

    @property
    def counts(self) -> dict[str, int]:
        """Number of kernels with each verdict."""
        counts = Counter(change.verdict for change in self.changes)
        return {verdict.value: counts[verdict] for verdict in BaselineVerdict}

    @property
    def summary(self) -> str:
        """The counts in a line."""
        counts = ", ".join(f"{number} {word}" for word, number in self.counts.items())
        return f"{count(len(self.changes), 'kernel')}: {counts}"

    @property
    def different(self) -> list[KernelChange]:
        """The kernels that changed, are new or are gone."""
        return [change for change in self.changes if change.verdict is not BaselineVerdict.SAME]

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the counts, and a row for each kernel that differs."""
        yield Line(self.summary, "red" if self.is_worse else "green")
        if self.different:
            rows = self.cells()
            colours = {
                at: _COLOURS.get(change.verdict, "") for at, change in enumerate(self.different)
            }
            right = ("before", "after", "change")
            table = Table(HEADER, rows, right, colours, has_tail=True)
            yield table if any(row[OTHERS] != "-" for row in rows) else table.without("others")
        for skipped in self.passed_over:
            yield Paragraph(f"{safe(skipped.file)} skipped: {safe(skipped.reason)}", indent=2)

    def cells(self) -> list[list[str]]:
        """Return the cells of each kernel that differs."""
        names = names_apart([change.kernel for change in self.different])
        return [_cells(*pair) for pair in zip(self.different, names)]

    def title(self) -> str:
        """Return the title of the page."""
        return "kernels"

    def summarized(self) -> Summary:
        """Return the counts, and a row for each kernel that differs.

        Example:
            >>> BaselineReport(()).summarized().text
            '0 kernels: 0 more expensive, 0 new, 0 changed, 0 cheaper, 0 gone, 0 the same'
        """
        return Summary("Kernels", self.summary, HEADER, self.cells())

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/baseline.md``."""
        return {
            "version": JSON_VERSION,
            "counts": self.counts,
            "kernels": [_change_data(change) for change in self.changes],
            "passed_over": [skipped._asdict() for skipped in self.passed_over],
        }


_COLOURS = {
    BaselineVerdict.MORE_EXPENSIVE: "red",
    BaselineVerdict.NEW: "yellow",
    BaselineVerdict.CHANGED: "yellow",
    BaselineVerdict.CHEAPER: "green",
}
HEADER = ("verdict", "kernel", "GPU", "before", "after", "change", "others", "dump")
OTHERS = HEADER.index("others")


def _cells(change: KernelChange, name: str) -> list[str]:
    kernel = change.kernel
    numbers = [
        f"{end.cycles:.0f}" if end is not None else "-" for end in (change.before, change.after)
    ]
    where = f"{kernel.file}:{kernel.line}"
    said = change.verdict.value, name, kernel.target or "-", *numbers, _share_text(change)
    return [*said, _others(change), where]


def _others(change: KernelChange) -> str:
    """Return the facts in which a kernel differs, other than cycles of data movements."""
    texts = (
        f"{fact.words} {in_words(fact.before)} -> {in_words(fact.after)}"
        for fact in change.facts
        if fact.name != "cycles"
    )
    return ", ".join(texts) or "-"


def _share_text(change: KernelChange) -> str:
    """Return the change of a kernel's cost as a share of it."""
    if change.before is None or change.after is None:
        return "-"
    if change.after.errors > change.before.errors:
        return "errors"
    if not change.before.cycles:
        return "-"
    return f"{100 * change.difference / change.before.cycles:+.1f}%"


def _change_data(change: KernelChange) -> dict[str, Any]:
    kernel, ends = change.kernel, (change.before, change.after)
    files, cycles, errors = (
        [getattr(end, name) if end is not None else None for end in ends]
        for name in ("file", "cycles", "errors")
    )
    return {
        "verdict": change.verdict.value,
        "function": kernel.function,
        "target": kernel.target,
        "files": files,
        "cycles": cycles,
        "errors": errors,
        "facts": {fact.name: [fact.before, fact.after] for fact in change.facts},
    }
