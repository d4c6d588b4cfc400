"""``audit --diff``: what dumps do not share, what passes changed, and the bits of reductions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.passes import PassChange, pass_history
from tt_layout.audit.reduction_bits import reduction_bits
from tt_layout.dumps.dump import Reading, open_dump
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir import Module
from tt_layout.ir.passes import PassRun, chosen_modules, pass_runs
from tt_layout.reports.comparison import Comparison, ComparisonReport, NamedModule, compared
from tt_layout.reports.passes import PassesReport
from tt_layout.reports.reduction_bits import ComparedBits, ReductionBitsReport
from tt_layout.reports.watched_findings import NamedFinding, Watcher, fresh

Pair = tuple[NamedModule, NamedModule]


class Comparing:
    """Inputs and options of a comparison.

    Args:
        reading: how dumps are read.
        watcher: is given the findings that are new; None where they are not asked for.
    """

    def __init__(self, reading: Reading, watcher: Watcher | None = None) -> None:
        self._reading, self._given, self._watcher = reading, reading.given, watcher
        self._shared = SharedWork()

    def report(self, files: Sequence[str], shown: str | None) -> ComparisonReport | PassesReport:
        """Compare two dumps, or the passes or modules of one.

        Args:
            files: one or two.
            shown: the pass whose details are shown, or `tt_layout.reports.passes.ALL`.

        Raises:
            LayoutError: there are more than two files, or modules or the pass are missing.
        """
        read = self._read(files)
        if len(read) == 1:
            [modules] = read
            runs = list(pass_runs(named.module for named in modules))
            if any(len(run.modules) > 1 for run in runs):
                return self._of_passes(modules[0].file, runs, shown)
            if shown is not None:
                message = "--pass and --passes are for a dump of passes, with a header above each"
                raise LayoutError(message, FileLocation(modules[0].file))
        return self._of_pairs(_paired(read))

    def _read(self, files: Sequence[str]) -> list[list[NamedModule]]:
        """Return the modules of one file, or of two."""
        if len(files) > 2:
            raise LayoutError(f"audit --diff takes one file or two, got {len(files)}")
        return [
            [NamedModule(dump.source.name, module) for module in dump.modules(self._reading)]
            for dump in map(open_dump, files)
        ]

    def _of_pairs(self, pairs: Sequence[Pair]) -> ComparisonReport:
        return ComparisonReport([self._compared(before, after) for before, after in pairs])

    def bits(self, files: Sequence[str]) -> ReductionBitsReport:
        """Return whether the reductions of two dumps, or of the modules of one, give the same bits.

        Raises:
            LayoutError: there are more than two files, or one of a single module.
        """
        comparisons = [
            ComparedBits(*pair, reduction_bits(*(self._audited(named) for named in pair)))
            for pair in _paired(self._read(files))
        ]
        return ReductionBitsReport(comparisons)

    def _audited(self, named: NamedModule) -> AuditedModule:
        return AuditedModule(named.module, self._shared, self._given)

    def _compared(
        self, before: NamedModule, after: NamedModule, by: str | None = None
    ) -> Comparison:
        audits = self._audits(before.module, after.module)
        self._watch(after.file, *audits)
        return compared((before.file, after.file), audits, by)

    def _of_passes(self, file: str, runs: Iterable[PassRun], shown: str | None) -> PassesReport:
        """Return the changes by the passes of a dump."""
        of_passes = [run for run in runs if len(run.modules) > 1]
        histories = [pass_history(run, self._shared, self._given) for run in of_passes]
        modules = {number: module for run in of_passes for number, module in run.numbered}

        def audits(change: PassChange) -> tuple[Audit, Audit]:
            return self._audits(modules[change.before.number], modules[change.after.number])

        def compare(change: PassChange) -> Comparison:
            return compared((file, file), audits(change), change.name or "the pass")

        for history in histories if self._watcher is not None else ():
            for change in history.changes:
                self._watch(file, *audits(change))
        return PassesReport(file, histories, compare, shown)

    def _watch(self, file: str, before: Audit, after: Audit) -> None:
        """Keep the findings that an audit has and the one before has not."""
        if self._watcher is not None:
            self._watcher.found += [NamedFinding(file, finding) for finding in fresh(before, after)]

    def _audits(self, *modules: Module) -> tuple[Audit, Audit]:
        before, after = (audit_module(module, self._shared, self._given) for module in modules)
        return before, after


def _chosen(modules: Iterable[NamedModule]) -> Iterator[NamedModule]:
    """Yield the modules of a dump; of each compilation the one that is meant."""
    named = {item.module.line: item for item in modules}
    for module in chosen_modules(item.module for item in named.values()):
        yield named[module.line]._replace(module=module)


def _paired(read: Sequence[list[NamedModule]]) -> Sequence[Pair]:
    """Return the modules of two files one by one, or each of one file with the next.

    Raises:
        LayoutError: there is one file of one module.
    """
    if len(read) == 2:
        return _pairs(*(list(_chosen(modules)) for modules in read))
    [modules] = read
    if len(modules) < 2:
        message = "--diff of one file compares its modules, but it has only one"
        raise LayoutError(message, FileLocation(modules[0].file))
    return list(pairwise(modules))


def _pairs(before: list[NamedModule], after: list[NamedModule]) -> list[Pair]:
    """Return the modules one by one where there are equally many, otherwise the last of each."""
    return list(zip(before, after)) if len(before) == len(after) else [(before[-1], after[-1])]
