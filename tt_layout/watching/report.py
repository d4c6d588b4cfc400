"""Report of a watched program: its kernels with their time and findings, the largest gain first.

Each kernel is audited with the arguments of its launch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import IO, Any

from tt_layout import files
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.values.given import GivenValues
from tt_layout.dumps.audits import PassedOver, audit_with
from tt_layout.errors import LayoutError
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.kernels.device import device_product
from tt_layout.kernels.seen import SeenKernel
from tt_layout.mlir.source import Source
from tt_layout.records import dataclass
from tt_layout.reports.advice_text import first_cure
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.formats import format_of_file, is_own
from tt_layout.reports.kernel_overview import KernelOverview, kernel_data
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line, Problem, ReportedCase, Suite, plain_text
from tt_layout.reports.watched_findings import Limits, Watcher
from tt_layout.tuples import NamedTuple
from tt_layout.wording import durations

JSON_VERSION = 1


class WatchedKernel(NamedTuple):
    """A kernel of the program, and its audit.

    Attributes:
        seen: the kernel.
        audit: its audit; None where there is none.
        reason: why there is no audit, or why the arguments were not used; None without one.
        seconds: estimated time of all recorded launches; None without an estimate.
        gain: seconds of that time above the minimum of any configuration of the kernel.
        cure: the first remedy for its findings; empty where there is none.
        assumption: the product assumed for the time, and why, if the program did not tell it.
    """

    seen: SeenKernel
    audit: Kernel | None
    reason: str | None = None
    seconds: float | None = None
    gain: float | None = None
    cure: str = ""
    assumption: str | None = None


def audited(kernels: Iterable[SeenKernel]) -> Iterator[WatchedKernel]:
    """Yield each kernel with its audit."""
    shared = SharedWork()
    for kernel in kernels:
        try:
            yield _audited(kernel, shared)
        except LayoutError as error:
            yield WatchedKernel(kernel, None, error.message)
        except Exception as error:  # the watched program must not end because of us
            yield WatchedKernel(kernel, None, f"{type(error).__name__}: {error}")


def worst_kernels(kernels: Iterable[SeenKernel]) -> Iterator[Kernel]:
    """Yield the worst kernel of each module, where the module is audited without an error."""
    shared = SharedWork()
    for kernel in kernels:
        yield _worst(_kernels(kernel, shared)[0], kernel)


def _audited(kernel: SeenKernel, shared: SharedWork) -> WatchedKernel:
    kernels, reason = _kernels(kernel, shared)
    worst = _worst(kernels, kernel)
    seconds, gain = _seconds(worst, kernel) or (None, None)
    assumption = _assumption(worst.estimate, kernel.compiled.known.device)
    settled = worst.settled("verdict")
    return WatchedKernel(kernel, settled, reason, seconds, gain, first_cure(worst), assumption)


def _assumption(estimate: Estimate | NoEstimate, device: str | None) -> str | None:
    """Return the product assumed for a time and why, unless it is the one that runs the kernel."""
    if isinstance(estimate, NoEstimate):
        return None
    if device is None:
        return f"times are of {estimate.product}: the GPU of the program is not known"
    if device_product(device) != estimate.chip:
        return f"times are of {estimate.product}: no rates of {device} are known"
    return None


def _seconds(kernel: Kernel, seen: SeenKernel) -> tuple[float, float] | None:
    """Return the estimated time of all launches of a kernel, and the possible gain.

    All launches have the arguments of the audited one, each with its own grid.  None where the time
    is not known.
    """
    estimate = kernel.estimate
    if not seen.launches or isinstance(estimate, NoEstimate) or not estimate.is_of_grid:
        return None
    launches = [
        (number, estimate.launching(launch.programs).launch)
        for launch, number in seen.launches.items()
    ]
    seconds = sum(number * timed.seconds for number, timed in launches)
    return seconds, seconds - sum(number * timed.floor for number, timed in launches)


def _kernels(kernel: SeenKernel, shared: SharedWork) -> tuple[Sequence[Kernel], str | None]:
    """Return the kernels of a module, and why the arguments of its launch were not used.

    Raises:
        LayoutError: the module is missing, or cannot be read.
    """
    compiled = kernel.compiled
    if compiled.text is None:
        raise LayoutError("Triton's cache keeps only its binary")
    module = next(iter(whole_modules(Source(compiled.text, f"{compiled.name}.ttgir"))), None)
    if module is None:
        raise LayoutError("found no MLIR in it")
    metadata = compiled.known._replace(name=compiled.name)
    given = GivenValues(product=device_product(metadata.device))
    audit, reason = audit_with(module, shared, kernel.launch, given, known=metadata)
    place = compiled.place or f"{compiled.name}.ttgir"
    return kernels_of(audit, file=place), reason


def _worst(kernels: Sequence[Kernel], seen: SeenKernel) -> Kernel:
    if not kernels:
        raise LayoutError(f"{seen.compiled.name} moves no data")
    return min(kernels, key=lambda kernel: kernel.rank)


def passed_over(kernels: Iterable[WatchedKernel]) -> tuple[PassedOver, ...]:
    """Return the kernels without an audit, and the reasons."""
    return tuple(
        PassedOver(kernel.seen.compiled.name, kernel.reason or "")
        for kernel in kernels
        if kernel.audit is None
    )


@dataclass(frozen=True)
class WatchReport(Printed):
    """The audits of all kernels of a program, those with the largest gain first.

    Attributes:
        seen: the kernels in the order in which they were compiled or launched.
        kernels: the kernels with their audits.
        processes: number of processes that compiled or launched them.
        failure: the first failure of the watching itself; None without one.
        limits: limits above which findings are failures in a suite of tests.
    """

    seen: tuple[SeenKernel, ...]
    kernels: tuple[WatchedKernel, ...]
    processes: int = 1
    failure: str | None = None
    limits: Limits = field(default_factory=dict, compare=False)

    @property
    def state(self) -> tuple[tuple[SeenKernel, ...], int, str | None]:
        """The sources of the report."""
        return self.seen, self.processes, self.failure

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the table, the kernels without an audit, and the failures."""
        if not self.kernels:
            yield Line("no kernel was compiled or launched")
        lines = [
            kernel.audit.with_values(
                time=self._time_text(kernel),
                gain=durations(kernel.gain)[0] if kernel.gain is not None else "",
                cure=kernel.cure,
            )
            for kernel in self.kernels
            if kernel.audit is not None
        ]
        yield from KernelOverview(lines, passed_over(self.kernels)).lines()
        if self.processes > 1:
            yield Line(f"  from {self.processes} processes")
        for assumption in dict.fromkeys(kernel.assumption for kernel in self.kernels):
            if assumption is not None:
                yield Paragraph(assumption, "  ", 4)
        for kernel in self.kernels:
            if kernel.audit is not None and kernel.reason is not None:
                name = kernel.seen.compiled.name
                text = f"@{name}: the arguments of its launch were not used: {kernel.reason}"
                yield Paragraph(text, "  ", 4)
        if self.failure is not None:
            yield Paragraph(f"not all was seen: {self.failure}", "  ", 4, "red")

    def _share(self, kernel: WatchedKernel) -> float | None:
        """Return the share of a kernel in the estimated time of all kernels."""
        total = sum(kernel.seconds or 0 for kernel in self.kernels)
        return kernel.seconds / total if kernel.seconds is not None and total else None

    def _time_text(self, kernel: WatchedKernel) -> str:
        """Return the estimated time of a kernel's launches with its share; empty without one."""
        share = self._share(kernel)
        if share is None or kernel.seconds is None:
            return ""
        return f"{durations(kernel.seconds)[0]}, {100 * share:.0f} %"

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/watch.md``."""
        return {
            "version": JSON_VERSION,
            "processes": self.processes,
            "kernels": [_data(kernel, self._share(kernel)) for kernel in self.kernels],
            "failure": self.failure,
        }

    def title(self) -> str:
        """Return the title of the page."""
        return "kernels"

    def all_kernels(self) -> Iterator[Kernel]:
        """Yield the kernels that have an audit, each audited again on demand."""
        yield from worst_kernels(kernel.seen for kernel in self.kernels if kernel.audit is not None)

    def suite(self) -> Suite:
        """Return a test case for each kernel, which passes if it has no failure."""
        return Suite("tt-layout", (_case(kernel, self.limits) for kernel in self.kernels))

    def failures(self, limits: Limits) -> list[str]:
        """Return a line for each failure: findings, the most expensive first, then what is unread.

        Without limits nothing is a failure.
        """
        watcher = Watcher(limits)
        for audit in (kernel.audit for kernel in self.kernels if kernel.audit is not None):
            watcher.keep(audit.file, audit.line, audit.finding_lines)
        return [
            f"{failed.finding.kinds[0]}: {failed.file}: {failed.finding.message}"
            for failed in watcher.failures
        ] + [
            f"what was not read: {unread.file}: {unread.reason}"
            for unread in passed_over(self.kernels)
            if watcher.has_limits
        ]


def report_of(
    seen: tuple[SeenKernel, ...], processes: int = 1, failure: str | None = None
) -> WatchReport:
    """Audit kernels and report them: the largest gain first, then the worst."""
    kernels = sorted(audited(seen), key=_rank)
    return WatchReport(seen, tuple(kernels), processes, failure)


def _rank(kernel: WatchedKernel) -> tuple[object, ...]:
    rank = kernel.audit.rank if kernel.audit is not None else ()
    return (kernel.audit is None, kernel.gain is None, -(kernel.gain or 0), *rank)


def _data(kernel: WatchedKernel, share: float | None) -> dict[str, Any]:
    compiled = kernel.seen.compiled
    return {
        "name": compiled.name,
        "hash": compiled.key,
        "compiled_by": compiled.place,
        "launches": [
            {"grid": list(launch.grid), "values": dict(launch.values), "count": count}
            for launch, count in kernel.seen.launches.items()
        ],
        "audit": kernel_data(kernel.audit) if kernel.audit is not None else None,
        "reason": kernel.reason,
        "seconds": kernel.seconds,
        "share": share,
        "gain": kernel.gain,
        "cure": kernel.cure or None,
        "assumption": kernel.assumption,
    }


# -- writing --------------------------------------------------------------------------------


class ReportFile(NamedTuple):
    """The file that a report is written to.

    Attributes:
        path: the path of the file.
        force: the option that replaces files other than our reports, for messages; None if it
            was given.
    """

    path: str
    force: str | None

    def why_not(self) -> str | None:
        """Return why no report can be written there; None if it can, after making the folder."""
        try:
            files.refuse_foreign(self.path, is_own, self.force)
        except OSError as error:
            return error.strerror or str(error)
        return None

    def write(self, report: WatchReport, limits: Limits) -> str | None:
        """Write a report in the format of the file's suffix, or else to a temporary file.

        Returns:
            A message about the temporary file; None if there is none.
        """
        text = format_of_file(self.path).marked(replace(report, limits=limits))
        content = text.encode("utf-8", "backslashreplace")
        try:
            files.write_report(self.path, content, is_own, self.force)
        except OSError as error:
            aside = _aside(content, os.path.splitext(self.path)[1].lower())
            return f"cannot write {self.path}: {error.strerror or error}; {aside}"
        return None


def write_table(report: WatchReport, stream: IO[str] | None) -> str | None:
    """Write the table to a stream, or else to a temporary file.

    Returns:
        A message about the temporary file; None if there is none.
    """
    text = plain_text(report)
    try:
        put(stream, text)
    except (OSError, ValueError) as error:
        content = text.encode("utf-8", "backslashreplace")
        return f"cannot write the table: {error}; {_aside(content, '.txt')}"
    return None


def put(stream: IO[str] | None, text: str) -> None:
    """Write text to a stream at once.

    Nothing is left in the buffer of standard error, which would fail again when Python ends.

    Raises:
        OSError, ValueError: it is closed, or cannot be written.
    """
    if stream is None:
        raise ValueError("the stream is closed")
    errors = sys.__stderr__
    if errors is None or stream is not errors:
        stream.write(text)
        return
    errors.flush()
    descriptor = os.dup(errors.fileno())
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _aside(content: bytes, ending: str) -> str:
    try:
        return f"it is in {files.write_aside(content, ending)}"
    except OSError as error:
        return f"nor a temporary file: {error.strerror or error}"


def _case(kernel: WatchedKernel, limits: Limits) -> ReportedCase:
    compiled = kernel.seen.compiled
    file, _, line = compiled.place.rpartition(":")
    is_line = bool(file) and line.isdecimal()
    case = ReportedCase(compiled.name, *((file, int(line)) if is_line else (compiled.place, None)))
    if kernel.audit is None:
        return case._replace(problem=Problem(True, "unread", kernel.reason or "", ""))
    failures = WatchReport((), (kernel,)).failures(limits)
    if not failures:
        return case
    return case._replace(problem=Problem(False, "finding", failures[0], "\n".join(failures)))
