"""Report of ``tt-layout rank``: configurations of a kernel by their estimated time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.time.selection import selected
from tt_layout.dumps.audits import Auditor, PassedOver, or_passed_over
from tt_layout.dumps.dump import Reading, open_dumps
from tt_layout.reports.report import GAP, Line
from tt_layout.reports.time_data import estimate_data
from tt_layout.safe_text import safe
from tt_layout.surface import argument
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count, duration, size

WAVES = 4
"""Full waves of the kernel that stores most, of which as much is stored by the others."""

HEAD = ("time", "range", "registers", "shared", "CTAs", "limit", "kernel", "file")


class Configuration(NamedTuple):
    """A kernel of a dump, with the estimate of its time.

    Attributes:
        file: the dump.
        function: the kernel; None for what is in none.
        warps: warps per CTA.
        registers: registers per thread; None where the GPU is not known.
        shared_bytes: shared memory per CTA.
        arguments: arguments of the kernels of its module.
        estimate: estimate of its launch, or the reason why there is none.
    """

    file: str
    function: str | None
    warps: int | None
    registers: int | None
    shared_bytes: int | None
    arguments: tuple[str, ...]
    estimate: Estimate | NoEstimate

    @staticmethod
    def of(kernel: Kernel) -> Configuration:
        """Return the row of a kernel."""
        registers = kernel.registers
        return Configuration(
            file=kernel.file,
            function=kernel.function,
            warps=kernel.warps,
            registers=registers.taken if registers is not None else None,
            shared_bytes=kernel.shared_bytes,
            arguments=kernel.audit.arguments,
            estimate=kernel.estimate,
        )

    @property
    def name(self) -> str:
        """The kernel."""
        return f"@{self.function}" if self.function is not None else "outside of functions"


class ReadConfigurations(NamedTuple):
    """The configurations of a file.

    Attributes:
        configurations: one for each kernel.
        unread: the file, if it has none, or kernels of a log that are left out.
    """

    configurations: tuple[Configuration, ...] = ()
    unread: tuple[PassedOver, ...] = ()


def configurations_by(reading: Reading) -> Callable[[str], ReadConfigurations]:
    """Return a function that reads the configurations of a dump, and shares work between dumps.

    In a log of tritonparse, values and grids come from the launches.

    Args:
        reading: how dumps are read.
    """
    auditor = Auditor(reading, explains=False, is_judged=False)

    def read(file: str) -> ReadConfigurations:
        found = or_passed_over(file, lambda: configurations(file))
        return ReadConfigurations(unread=(found,)) if isinstance(found, PassedOver) else found

    def configurations(file: str) -> ReadConfigurations:
        opened = open_dumps(file)
        audits = (audit for dump in opened.dumps for audit in auditor.audits(dump))
        found = [
            Configuration.of(kernel) for audit in audits for kernel in kernels_of(audit, file=file)
        ]
        unread = [PassedOver(*left_out) for left_out in opened.unread]
        if not (found or unread):
            unread.append(PassedOver(file, "it has no kernel"))
        return ReadConfigurations(tuple(found), tuple(unread))

    return read


class Ranking:
    """Kernels by their estimated time.

    Attributes:
        rows: the fastest first.
        without: kernels without an estimate, with the reasons.
        has_grid: whether the grid is known; if not, configurations are compared at numbers of
            programs that store equal numbers of bytes.
        top: how many rows are shown, those worth running; None for all.
    """

    def __init__(self, configurations: Sequence[Configuration], top: int | None = None) -> None:
        estimates = [(configuration, configuration.estimate) for configuration in configurations]
        estimated = [
            (configuration, estimate)
            for configuration, estimate in estimates
            if isinstance(estimate, Estimate)
        ]
        self.has_grid = all(estimate.is_of_grid for _, estimate in estimated)
        if not self.has_grid:
            wave_bytes = (  # those that a full wave stores
                estimate.program.stored * estimate.launch.programs or 1.0
                for _, estimate in estimated
            )
            stored = WAVES * max(wave_bytes)
            estimated = [
                (configuration, estimate.storing(stored)) for configuration, estimate in estimated
            ]
        self.rows = sorted(estimated, key=lambda row: row[1].seconds)
        self.without = [
            (configuration, estimate)
            for configuration, estimate in estimates
            if not isinstance(estimate, Estimate)
        ]
        self.top = top

    @property
    def shown(self) -> list[tuple[Configuration, Estimate]]:
        """The rows that are shown: with ``top``, those worth running."""
        return [self.rows[place] for place in self._places]

    @cached_property
    def _places(self) -> list[int]:
        if self.top is None:
            return list(range(len(self.rows)))
        return sorted(selected([estimate.candidate for _, estimate in self.rows], self.top))

    def lines(self) -> Iterator[Line]:
        """Yield the text for people."""
        rows = [HEAD, *(_cells(*row) for row in self.shown)]
        widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
        for row in rows if self.shown else ():
            cells = (cell.ljust(width) for cell, width in zip(row, widths))
            yield Line(safe(GAP.join(cells).rstrip()))
        hidden = len(self.rows) - len(self.shown)
        if hidden:
            yield Line(
                f"and {count(hidden, 'configuration')}: without {argument('top')} all are listed"
            )
        for configuration, missing in self.without:
            yield Line(safe(f"{configuration.name} of {configuration.file}: {missing.text}"))
        if self.rows and not self.has_grid:
            yield Line("without a grid each is for as many programs as store the same bytes")

    def data(self) -> dict[str, Any]:
        """Return the data for programs."""
        return {
            "version": 1,
            "has_grid": self.has_grid,
            "configurations": [
                _row(place + 1, *row) for place, row in zip(self._places, self.shown)
            ],
            "without_estimate": [
                {
                    "file": configuration.file,
                    "kernel": configuration.function,
                    "reason": missing.reason,
                }
                for configuration, missing in self.without
            ],
        }


def _cells(configuration: Configuration, estimate: Estimate) -> tuple[str, ...]:
    low, high = estimate.range
    return (
        duration(estimate.seconds),
        f"{duration(low)} to {duration(high)}",
        str(configuration.registers) if configuration.registers is not None else "-",
        size(configuration.shared_bytes) if configuration.shared_bytes else "none",
        str(estimate.launch.resident),
        estimate.limit,
        configuration.name,
        configuration.file,
    )


def _row(place: int, configuration: Configuration, estimate: Estimate) -> dict[str, Any]:
    return {
        "place": place,
        "file": configuration.file,
        "kernel": configuration.function,
        "warps": configuration.warps,
        "registers": configuration.registers,
        "shared_bytes": configuration.shared_bytes,
        "ctas": estimate.launch.resident,
        **estimate_data(estimate),
    }
