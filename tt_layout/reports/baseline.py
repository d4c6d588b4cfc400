"""Two folders of dumps, kernel by kernel: what a change made of them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from tt_layout.audit.facts import Difference, differences, in_words, is_worse
from tt_layout.audit.kernel import Kernel
from tt_layout.dumps.audits import PassedOver
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.fitted import Fitted, Paragraph, Table
from tt_layout.reports.kernel_overview import names_apart
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line, Summary
from tt_layout.safe_text import safe
from tt_layout.wording import count


class Verdict(Enum):
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
        before: None of a new one.
        after: None of one that is gone.
        tolerance: by how much it may become more expensive, as a share of what it cost.
    """

    before: Kernel | None
    after: Kernel | None
    tolerance: float = 0.0

    @property
    def kernel(self) -> Kernel:
        """The kernel as it is now, or as it was."""
        kernel = self.after if self.after is not None else self.before
        assert kernel is not None
        return kernel

    @property
    def difference(self) -> float:
        """Cycles in one program that it costs more than before; negative where it costs less."""
        before, after = (
            end.cycles if end is not None else 0.0 for end in (self.before, self.after)
        )
        return after - before

    @property
    def facts(self) -> tuple[Difference, ...]:
        """The facts in which it differs; none where it is new, or gone."""
        if self.before is None or self.after is None:
            return ()
        return differences(self.before.facts, self.after.facts, self.tolerance)

    @property
    def verdict(self) -> Verdict:
        """Verdict on the kernel, by the first fact that decides: errors, spills, then cycles."""
        if self.before is None:
            return Verdict.NEW
        if self.after is None:
            return Verdict.GONE
        worse = is_worse(self.facts)
        if worse is None:
            return Verdict.CHANGED if self.facts else Verdict.SAME
        return Verdict.MORE_EXPENSIVE if worse else Verdict.CHEAPER

    @property
    def rank(self) -> tuple[object, ...]:
        """Sort key: the worst verdict first, then the largest difference."""
        order = list(Verdict).index(self.verdict)
        return order, -abs(self.difference), self.kernel.file, self.kernel.function or ""


Folder = tuple[str, Sequence[Kernel]]
"""The name of a folder, and the kernels of the dumps in it."""


def changes_between(before: Folder, after: Folder, tolerance: float) -> tuple[KernelChange, ...]:
    """Return the verdict on each kernel, the worst first.

    Kernels of one name are the same where their dumps have one path in both folders; then where
    GPU, warps and arguments are equal, those of equal cost first.

    Args:
        before, after: the folders.
        tolerance: by how much a kernel may become more expensive, as a share.
    """
    left, right = list(before[1]), list(after[1])
    changes: list[KernelChange] = []
    for key in (_by_path(before[0], after[0]), _by_cost, _by_config, _by_kind):
        pairs = list(_paired(left, right, key))
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
    return _by_kind(kernel), sorted(kernel.config.items()).__repr__()


def _by_cost(kernel: Kernel) -> object:
    return _by_config(kernel), kernel.cycles, kernel.errors, kernel.facts.registers


def _paired(
    left: Iterable[Kernel], right: Iterable[Kernel], key: Key
) -> Iterator[tuple[Kernel, Kernel]]:
    """Yield the kernels with equal keys, of several in their order."""
    waiting: Mapping[object, list[Kernel]] = defaultdict(list)
    for kernel in right:
        waiting[key(kernel)].append(kernel)
    for kernel in left:
        partners = waiting[key(kernel)]
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
        passed_over: the files without an audit, of both folders.
    """

    changes: tuple[KernelChange, ...]
    passed_over: tuple[PassedOver, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether any kernel became more expensive."""
        return any(change.verdict is Verdict.MORE_EXPENSIVE for change in self.changes)

    @property
    def counts(self) -> dict[str, int]:
        """Number of kernels with each verdict."""
        counts = dict.fromkeys((verdict.value for verdict in Verdict), 0)
        for change in self.changes:
            counts[change.verdict.value] += 1
        return counts

    @property
    def summary(self) -> str:
        """The counts in a line."""
        counts = ", ".join(f"{number} {word}" for word, number in self.counts.items())
        return f"{count(len(self.changes), 'kernel')}: {counts}"

    @property
    def different(self) -> list[KernelChange]:
        """The kernels that are not the same."""
        return [change for change in self.changes if change.verdict is not Verdict.SAME]

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the counts, and a row for each kernel that is not the same."""
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
        """Return the cells of each kernel that is not the same."""
        names = names_apart([change.kernel for change in self.different])
        return [_cells(*pair) for pair in zip(self.different, names)]

    def title(self) -> str:
        """Return the title of the page."""
        return "kernels"

    def summarized(self) -> Summary:
        """Return the counts, and a row for each kernel that is not the same.

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
            "kernels": [_data(change) for change in self.changes],
            "passed_over": [skipped._asdict() for skipped in self.passed_over],
        }


_COLOURS = {
    Verdict.MORE_EXPENSIVE: "red",
    Verdict.NEW: "yellow",
    Verdict.CHANGED: "yellow",
    Verdict.CHEAPER: "green",
}
HEADER = ("verdict", "kernel", "GPU", "before", "after", "change", "others", "dump")
OTHERS = HEADER.index("others")


def _cells(change: KernelChange, name: str) -> list[str]:
    kernel = change.kernel
    numbers = [
        f"{end.cycles:.0f}" if end is not None else "-" for end in (change.before, change.after)
    ]
    where = f"{kernel.file}:{kernel.line}"
    said = change.verdict.value, name, kernel.target or "-", *numbers, _share(change)
    return [*said, _others(change), where]


def _others(change: KernelChange) -> str:
    """Return the facts besides cycles of data movements in which a kernel differs."""
    texts = (
        f"{fact.words} {in_words(fact.before)} -> {in_words(fact.after)}"
        for fact in change.facts
        if fact.name != "cycles"
    )
    return ", ".join(texts) or "-"


def _share(change: KernelChange) -> str:
    """Return by how much of its cost a kernel changed."""
    if change.before is None or change.after is None:
        return "-"
    if change.after.errors > change.before.errors:
        return "errors"
    if not change.before.cycles:
        return "-"
    return f"{100 * change.difference / change.before.cycles:+.1f}%"


def _data(change: KernelChange) -> dict[str, Any]:
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
