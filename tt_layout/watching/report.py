"""What a watched program's kernels do badly: one table, the worst first."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from tt_layout.kernels.seen import Launch, SeenKernel
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.kernel_overview import KernelOverview, kernel_data
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line, plain_text
from tt_layout.reports.watched_findings import Limits, NamedFinding, Watcher
from tt_layout.watching.audits import WatchedKernel, audited, passed_over

if TYPE_CHECKING:
    from tt_layout.reports.junit import Case

JSON_VERSION = 1


@dataclass(frozen=True)
class WatchReport(Printed):
    """The audit of every kernel that was seen, the worst first.

    Attributes:
        seen: the kernels in the order in which they were seen.
        kernels: with their audits.
        processes: how many processes compiled or launched them.
        failure: the first failure of the watching itself; None without one.
    """

    seen: tuple[SeenKernel, ...]
    kernels: tuple[WatchedKernel, ...]
    processes: int = 1
    failure: str | None = None

    @property
    def state(self) -> tuple[tuple[SeenKernel, ...], int, str | None]:
        """What the report was made from."""
        return self.seen, self.processes, self.failure

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the table, the kernels without an audit, and what went wrong."""
        if not self.kernels:
            yield Line("no kernel was compiled or launched")
        lines = [kernel.line for kernel in self.kernels if kernel.line is not None]
        yield from KernelOverview(lines, passed_over(self.kernels)).lines()
        if self.processes > 1:
            yield Line(f"  from {self.processes} processes")
        for kernel in self.kernels:
            if kernel.line is not None and kernel.reason is not None:
                name = kernel.seen.compiled.name
                text = f"@{name}: the arguments of its launch were not used: {kernel.reason}"
                yield Paragraph(text, "  ", 4)
        if self.failure is not None:
            yield Paragraph(f"not all was seen: {self.failure}", "  ", 4, "red")

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/watch.md``."""
        return {
            "version": JSON_VERSION,
            "processes": self.processes,
            "kernels": [_data(kernel) for kernel in self.kernels],
            "failure": self.failure,
        }

    def failures(self, limits: Limits) -> list[str]:
        """Return a line for each finding that is a failure, the most expensive first."""
        watcher = Watcher(limits)
        watcher.found += [
            NamedFinding(kernel.line.file, finding)
            for kernel in self.kernels
            if kernel.line is not None
            for finding in kernel.line.findings
        ]
        return [_failure(one) for one in watcher.failures]


def _failure(one: NamedFinding) -> str:
    return f"{one.finding.kinds[0]}: {one.file}: {one.finding.message}"


def report_of(
    seen: tuple[SeenKernel, ...], processes: int = 1, failure: str | None = None
) -> WatchReport:
    """Audit kernels and report them, the worst first."""
    kernels = sorted(audited(seen), key=_rank)
    return WatchReport(seen, tuple(kernels), processes, failure)


def _rank(kernel: WatchedKernel) -> tuple[object, ...]:
    rank = kernel.line.rank if kernel.line is not None else ()
    return (kernel.line is None, *rank)


def _data(kernel: WatchedKernel) -> dict[str, Any]:
    compiled = kernel.seen.compiled
    return {
        "name": compiled.name,
        "hash": compiled.key,
        "compiled_by": compiled.place,
        "launches": [
            {**_launch(launch), "count": count} for launch, count in kernel.seen.launches.items()
        ],
        "audit": kernel_data(kernel.line) if kernel.line is not None else None,
        "reason": kernel.reason,
    }


def _launch(launch: Launch) -> dict[str, Any]:
    return {"grid": list(launch.grid), "values": dict(launch.values)}


# -- writing --------------------------------------------------------------------------------


def write_report(
    report: WatchReport, out: str | os.PathLike[str] | IO[str], limits: Limits
) -> None:
    """Write a report to a stream as text, or to a file as its name ends.

    Raises:
        OSError: it cannot be written; a file is replaced whole or not at all.
    """
    if not isinstance(out, (str, os.PathLike)):
        out.write(plain_text(report))
        return
    from tt_layout.reports.writing import replacing

    path = os.fspath(out)
    make = _FORMATS.get(os.path.splitext(path)[1].lower(), _as_text)
    text = make(report, limits)
    with replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _as_text(report: WatchReport, limits: Limits) -> str:
    return plain_text(report)


def _as_json(report: WatchReport, limits: Limits) -> str:
    return json.dumps(report.data(), indent=2) + "\n"


def _as_html(report: WatchReport, limits: Limits) -> str:
    from tt_layout.reports.html import to_page

    return to_page("kernels", report)


def _as_junit(report: WatchReport, limits: Limits) -> str:
    from tt_layout.reports.junit import to_junit

    return to_junit("tt-layout", (_case(kernel, limits) for kernel in report.kernels))


def _case(kernel: WatchedKernel, limits: Limits) -> Case:
    from tt_layout.reports.junit import Case, Problem

    compiled = kernel.seen.compiled
    file, _, line = compiled.place.rpartition(":")
    is_line = bool(file) and line.isdecimal()
    case = Case(compiled.name, *((file, int(line)) if is_line else (compiled.place, None)))
    if kernel.line is None:
        return case._replace(problem=Problem(True, "unread", kernel.reason or "", ""))
    failures = WatchReport((), (kernel,)).failures(limits)
    if not failures:
        return case
    return case._replace(problem=Problem(False, "finding", failures[0], "\n".join(failures)))


_FORMATS = {".html": _as_html, ".json": _as_json, ".xml": _as_junit}
