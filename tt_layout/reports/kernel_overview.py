"""Overview of many dumps: a line for each kernel, the worst first, and the files passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.rules import kinds, rules
from tt_layout.audit.shares import grid_of
from tt_layout.audit.verdict import BEFORE_LAYOUTS
from tt_layout.dumps.audits import Auditor, PassedOver
from tt_layout.dumps.dump import Reading, open_dumps
from tt_layout.dumps.many import files_of
from tt_layout.errors import LayoutError
from tt_layout.grouping import grouped
from tt_layout.records import dataclass
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.fitted import Fitted, FoldedLine, Paragraph, Table
from tt_layout.reports.report import Line
from tt_layout.reports.watched_findings import Watcher
from tt_layout.safe_text import safe
from tt_layout.surface import is_command_line
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count, size

PROMPT = 2
"""Lines of a screen in which the command and the next prompt stand."""

MAX_PASSED = 3
"""Files without an audit that a screen names."""

MAX_OPTIONS = 6
"""Options that tell kernels of one name apart, at most."""

_WATCHED = {"time": "time", "to gain": "gain", "first cure": "cure"}
"""Columns of watched kernels -> what a settled kernel holds for them."""


@dataclass(frozen=True)
class KernelOverview:
    """The kernels of many dumps, the worst first.

    Attributes:
        kernels: sorted.
        passed_over: the files without an audit.
        top: how many kernels are listed as text; None for all.
        screen: lines of a terminal, to which the text is cut after the worst kernels, with a count
            of the others; None for no limit.
    """

    kernels: Sequence[Kernel]
    passed_over: Sequence[PassedOver]
    top: int | None = None
    screen: int | None = None

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield a line for each kernel, and then one for each file without any."""
        if self.screen is not None:
            yield Screenful(self)
            return
        yield from self._listed(self.kernels[: self.top], names_apart(self.kernels))
        for passed in self.passed_over:
            yield Paragraph(f"{safe(passed.file)} skipped: {safe(passed.reason)}", indent=2)

    def _listed(self, shown: Sequence[Kernel], names: Sequence[str]) -> Iterator[Line | Fitted]:
        """Yield a line for each of some kernels, and a count of the others."""
        if shown:
            rows = [_cells(kernel, name) for kernel, name in zip(shown, names)]
            colours = {
                at: "red" if kernel.errors else "yellow" if kernel.finding_lines else "green"
                for at, kernel in enumerate(shown)
            }
            counts = [*(rule.heading for rule in rules()), "registers", "shared"]
            start = ["time", "to gain", "cycles", "programs"]
            header = [*start, "kernel", "GPU", *counts, "verdict", "first cure", "dump"]
            right = [*start, *counts]
            present = {kind for kernel in shown for kind, number in kernel.kinds.items() if number}
            empty = (rule.heading for rule in rules() if rule.kind not in present)
            spare = ("registers", "shared", *empty, "GPU")
            table = Table(header, rows, right, colours, has_tail=True, spare=spare)
            are_launched = any(kernel.programs is not None for kernel in shown)
            hidden = ["programs"] if not are_launched else []
            if not any(map(_verdict, shown)):
                hidden += ["verdict"]
            for name, key in _WATCHED.items():
                if not any(_settled(kernel, key) for kernel in shown):
                    hidden += [name]
            yield table.without(*hidden)
        if len(shown) < len(self.kernels) and self.screen is None:
            left_out = f"  and {len(self.kernels) - len(shown)} more kernels"
            yield Line(left_out + (": --top shows more" if is_command_line() else ""))

    def on_screen(self, number: int) -> Iterator[Line | Fitted]:
        """Yield lines for a number of kernels with findings, and counts of the others."""
        with_findings = [kernel for kernel in self.kernels if kernel.finding_lines]
        yield from self._listed(with_findings[:number], [*map(_name, with_findings[:number])])
        left, clean = len(with_findings) - number, len(self.kernels) - len(with_findings)
        texts = []
        if left > 0:
            texts.append(count(left, "more kernel" if number else "kernel") + " with findings")
        if clean:
            texts.append(f"{count(clean, 'kernel')} without findings")
        how = ": --top N lists more" if left > 0 and is_command_line() else ""
        if texts:
            yield Paragraph(f"{' and '.join(texts)}{how}", "  ", 2)
        for passed in self.passed_over[:MAX_PASSED]:
            yield Paragraph(f"{safe(passed.file)} skipped: {safe(passed.reason)}", indent=2)
        if len(self.passed_over) > MAX_PASSED:
            rest = len(self.passed_over) - MAX_PASSED
            yield Paragraph(f"{count(rest, 'more file')} skipped; a pipe lists them", "", 2)

    def data(self) -> dict[str, Any]:
        """Return the overview as plain data; the schema is in ``docs/audit-json.md``."""
        return {
            "version": JSON_VERSION,
            "kernels": [kernel_data(kernel) for kernel in self.kernels[: self.top]],
            "passed_over": [passed._asdict() for passed in self.passed_over],
        }


class EachKernel:
    """Kernels of dumps, audited one by one in this process; none is kept.

    Args:
        names: names of dumps, and of folders with dumps.
        reading: how dumps are read.
        watcher: collects the findings.
        tell: takes sentences on dumps that are skipped, or have no layouts yet.

    Attributes:
        passed_over: the dumps skipped so far.
    """

    def __init__(
        self,
        names: Sequence[str],
        reading: Reading,
        watcher: Watcher,
        tell: Callable[[str], None],
    ) -> None:
        self._files = files_of(names)
        self._reading, self._watcher, self._tell = reading, watcher, tell
        self.passed_over: list[PassedOver] = []

    def all_kernels(self) -> Iterator[Kernel]:
        """Yield the kernels of every dump; one that cannot be read is skipped.

        Raises:
            LayoutError: none can be read, or no kernel has an argument that a value is given for.
        """
        auditor, unread = Auditor(self._reading), 0
        for file in self._files:
            try:
                opened = open_dumps(file)
                for left_out in opened.unread:
                    self._pass_over(*left_out)
                for dump in opened.dumps:
                    for audit in self._watcher.pass_on(file, auditor.audits(dump)):
                        kernels = kernels_of(audit, grid_of(audit), dump.source.name)
                        if any(kernel.is_before_layouts for kernel in kernels):
                            self._tell(f"{file}: {BEFORE_LAYOUTS}")
                        yield from kernels
            except LayoutError as error:
                unread += 1
                if unread == len(self._files):
                    raise
                self._pass_over(file, error.message)
        auditor.check_given()

    def _pass_over(self, name: str, reason: str) -> None:
        self.passed_over.append(PassedOver(name, reason))
        self._tell(f"{name} skipped: {reason}")


class Screenful(NamedTuple):
    """An overview cut to the worst kernels that a screen has room for.

    Attributes:
        overview: overview of all kernels, with the number of lines of the screen.
    """

    overview: KernelOverview

    def fold(self, width: int) -> Iterator[FoldedLine]:
        """Yield the lines of the largest number of kernels that fits."""
        most = (self.overview.screen or 0) - PROMPT
        number = min(len(self.overview.kernels), max(1, most))
        while len(lines := [*self._folded(number, width)]) > most and number > 1:
            number -= 1
        yield from lines

    def _folded(self, number: int, width: int) -> Iterator[FoldedLine]:
        for element in self.overview.on_screen(number):
            if isinstance(element, Line):
                yield FoldedLine(element.text, element.colour)
            else:
                yield from element.fold(width)


def _name(kernel: Kernel) -> str:
    return f"@{kernel.function}" if kernel.function is not None else "-"


def names_apart(kernels: Sequence[Kernel]) -> list[str]:
    """Return the names of kernels; equal names get what differs between the kernels.

    That is their options, then registers and shared memory where the options are equal.
    """
    names = [*map(_name, kernels)]
    for options in (lambda kernel: kernel.config, _resource_options):
        for group in grouped(range(len(names)), names.__getitem__).values():
            values = [options(kernels[at]) for at in group]
            differing = _differing(values)
            for at, own in zip(group, values):
                names[at] = " ".join([names[at], *(f"{k}={own.get(k, '-')}" for k in differing)])
    return names


def _resource_options(kernel: Kernel) -> dict[str, str]:
    facts = kernel.facts
    return {"registers": str(facts.registers), "shared": str(facts.shared_bytes)}


def _differing(values: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the first options whose values differ between kernels."""
    names = dict.fromkeys(name for options in values for name in options)
    differing = (name for name in names if len({options.get(name) for options in values}) > 1)
    return [*islice(differing, MAX_OPTIONS)]


def _cells(kernel: Kernel, name: str) -> list[str]:
    counts = [str(kernel.kinds.get(kind) or "-") for kind in kinds()]
    shared = size(kernel.shared_bytes) if kernel.shared_bytes is not None else "-"
    registers = kernel.facts.registers
    findings = kernel.finding_lines
    below = findings[0].below if findings else 0
    where = f"{kernel.file}:{kernel.line + below}"
    programs = str(kernel.programs) if kernel.programs is not None else "-"
    time, gain, cure = (_settled(kernel, key) or "-" for key in _WATCHED.values())
    start = time, gain, f"{kernel.weight:.0f}", programs, name, kernel.target or "-"
    taken = str(registers) if registers is not None else "-"
    return [*start, *counts, taken, shared, _verdict(kernel) or "-", safe(cure), where]


def _verdict(kernel: Kernel) -> str | None:
    """Return the verdict on a kernel; None if it was not computed, which would take long."""
    return _settled(kernel, "verdict")


def _settled(kernel: Kernel, name: str) -> str | None:
    """Return a stored text of a settled kernel; None if it was not computed."""
    return vars(kernel).get(name)


def kernel_data(kernel: Kernel) -> dict[str, Any]:
    """Return a kernel as plain data."""
    findings = [
        {
            "kind": finding.kinds[0],
            "kinds": list(finding.kinds),
            "line": kernel.line + finding.below,
            "message": finding.message,
            "cost_in_all": finding.weight,
            "location": dict(zip(("file", "line", "column"), finding.location))
            if finding.location is not None
            else None,
        }
        for finding in kernel.finding_lines
    ]
    return {
        "file": kernel.file,
        "line": kernel.line,
        "function": kernel.function,
        "target": kernel.target,
        "warps": kernel.warps,
        "shared_bytes": kernel.shared_bytes,
        "text": kernel.text,
        "errors": kernel.errors,
        "counts": kernel.kinds,
        "findings": findings,
        "cycles": kernel.cycles,
        "signature": kernel.signature,
        "programs": kernel.programs,
        "cost": kernel.weight,
        "config": kernel.config,
        "facts": kernel.facts._asdict(),
        "verdict": _verdict(kernel),
    }
