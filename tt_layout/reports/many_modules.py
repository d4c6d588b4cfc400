"""Dumps of many modules, as autotuning makes them: a line for each kernel, and the worst in full.

Screens of hundreds of kernels help nobody, and what would be cheaper takes longer to find than
what is expensive: it is looked for in the modules that are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import count
from typing import NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.reports.kernel_overview import KernelOverview

WORST = 3
"""Modules that are shown in full, of those with the worst kernels."""


class ManyModules(NamedTuple):
    """The modules of a dump, in brief.

    Attributes:
        overview: a line for each of their kernels, the worst first.
        worst: the audits of the worst modules, the worst first.
    """

    overview: KernelOverview
    worst: tuple[Audit, ...]

    @staticmethod
    def of(kernels: Sequence[Kernel], worst: tuple[Audit, ...], top: int | None) -> ManyModules:
        """Return modules by their kernels, the worst first, of which so many are listed."""
        return ManyModules(KernelOverview(kernels, (), top), worst)


def in_brief(file: str, audits: Iterable[Audit], top: int | None) -> ManyModules:
    """Return the modules of a dump in brief, each let go once it was looked at.

    Args:
        file: the name of the dump.
        audits: of its modules.
        top: how many kernels are listed; None for all.
    """
    kernels: list[Kernel] = []
    numbers = count()

    def ranked() -> Iterator[tuple[tuple[object, ...], int, Audit]]:
        for audit in audits:
            lines = brief_kernels(file, audit)
            kernels.extend(lines)
            if lines:
                yield min(line.rank for line in lines), next(numbers), audit

    worst = tuple(audit for _, _, audit in nsmallest(WORST, ranked()))
    return ManyModules.of(worst_first(kernels), worst, top)


def brief_kernels(file: str, audit: Audit) -> list[Kernel]:
    """Return the table lines of a module's kernels, each with the place of its worst finding."""
    settled = (kernel.settled(has_bounds=False) for kernel in kernels_of(audit, file=file))
    return [
        kernel.with_values(text="", signature="", finding_lines=kernel.finding_lines[:1])
        for kernel in settled
    ]


def worst_first(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return kernels, the worst first."""
    return sorted(kernels, key=lambda kernel: kernel.rank)
