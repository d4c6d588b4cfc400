"""The changes applied to a dump, their effect, and the way to run the result."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from tt_layout.audit.findings import IN_PROGRAM
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.records import dataclass
from tt_layout.reports.advice_text import (
    change_text,
    fewer_ctas,
    fix_text,
    refused_text,
    suggestion_data,
)
from tt_layout.reports.comparison import Comparison, ComparisonReport, compared
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import GAP, Line
from tt_layout.rewriting.apply import Cured
from tt_layout.safe_text import safe

JSON_VERSION = 1

NEW = "new.ttgir"
"""What a text is called that was not written."""

_HASH = re.compile(r"[A-Z2-7]{52}|[0-9a-f]{64}")
"""What Triton calls the folder of a kernel in ``TRITON_DUMP_DIR``: the hash of its source."""


@dataclass(frozen=True, repr=False)
class AppliedReport(Printed):
    """A dump with suggestions applied.

    Attributes:
        cured: the module before and after.
        file: the name of the dump.
        output: the file that the new text was written to; None where it was not written.
        override: the folder that Triton is to take the new text from; None without one.
    """

    cured: Cured
    file: str
    output: str | None = None
    override: str | None = None

    @property
    def text(self) -> str:
        """The text of the new module."""
        return self.cured.text

    @property
    def saved(self) -> float:
        """Cycles that it saves in one program, loops counted as findings count them."""
        return sum(step.suggestion.saved for step in self.cured.steps)

    @property
    def refusals(self) -> list[str]:
        """Why the new module does not compile or start; empty where it does."""
        return [finding.problem for finding in self.cured.after.findings if finding.is_error]

    @property
    def comparison(self) -> Comparison:
        """The changes."""
        names = self.file, self.output or NEW
        return compared(names, (self.cured.before, self.cured.after))

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the changes, the changed lines if they were not written, and how to run them."""
        if not self.cured.steps:
            yield from self._nothing()
            return
        for step in self.cured.steps:
            label = f"finding {step.number}, line {step.finding.line}"
            yield Paragraph(safe(fix_text(step.suggestion, label)), "", len(GAP))
            yield Paragraph(safe(step.gain.text()), GAP, len(GAP))
            if step.share.change is not None:
                yield Paragraph(change_text(step.share), GAP, len(GAP))
            for text in fewer_ctas(*step.needs):
                yield Paragraph(text, GAP, len(GAP), "red")
        for refusal in self.refusals:
            yield Paragraph(safe(refused_text(refusal)), "", len(GAP), "red")
        yield Line()
        if self.output is None:
            yield from map(Line, self.difference)
            yield Line()
        yield from ComparisonReport([self.comparison]).lines()
        for text in self._ways():
            yield Paragraph(safe(text), "", len(GAP))

    def _nothing(self) -> Iterator[Line | Fitted]:
        """Yield that there is no fix, what may help instead, and whether the dump was written."""
        findings = self.cured.before.findings
        adviser = Adviser(self.cured.before)
        reason = "no finding has a fix" if findings else "there are no findings"
        if any(adviser.best(finding) for finding in findings):
            reason = "no fix is estimated to save time (--finding applies one all the same)"
        yield Paragraph(f"nothing to apply: {safe(self.file)}: {reason}", "", len(GAP))
        changes = dict.fromkeys(
            finding.program_change for finding in findings if finding.program_change
        )
        for change in changes:
            yield Paragraph(f"{IN_PROGRAM}: {safe(change)}", GAP, 2 * len(GAP))
        if self.output is not None:
            yield Paragraph(f"{safe(self.output)} is the dump as it was", "", len(GAP))

    @property
    def difference(self) -> list[str]:
        """The lines of the dump that changed, as a unified diff."""
        old, new = (audit.module.source.text for audit in (self.cured.before, self.cured.after))
        names = self.file, self.output or NEW
        return [*unified_diff(old.split("\n"), new.split("\n"), *names, lineterm="", n=1)]

    def _ways(self) -> Iterator[str]:
        """Yield how Triton is made to run the new text."""
        if self.override is not None:
            yield ""
            yield (
                "run it: TRITON_ALWAYS_COMPILE=1 TRITON_KERNEL_OVERRIDE=1 "
                f"TRITON_OVERRIDE_DIR={self.override} python ..."
            )
        elif self.output is not None:
            path = os.path.abspath(self.output)
            yield ""
            yield (
                f'run it: kernel[grid](..., ir_override="{path}"), or '
                f'triton.Config({{...}}, ir_override="{path}"), with TRITON_ALWAYS_COMPILE=1 set: '
                "a kernel in Triton's cache would be taken instead"
            )

    def data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        steps = [
            {
                "number": step.number,
                "line": step.finding.line,
                "message": step.finding.message,
                **suggestion_data(step.suggestion, step.share, step.needs, self.cured.before),
            }
            for step in self.cured.steps
        ]
        comparison = next(iter(ComparisonReport([self.comparison]).data()["comparisons"]))
        return {
            "version": JSON_VERSION,
            "file": self.file,
            "output": self.output,
            "override": self.override,
            "saved": self.saved,
            "refusals": self.refusals,
            "applied": steps,
            "comparison": comparison,
        }


def override_path(dump: str, folder: str) -> str:
    """Return the path in Triton's override folder of the text that takes a dump's place.

    Args:
        dump: a file as ``TRITON_KERNEL_DUMP=1`` writes it, in a folder whose name is the hash of
            the kernel's source.
        folder: the value of ``TRITON_OVERRIDE_DIR``.

    Raises:
        LayoutError: the dump is not in such a folder.
    """
    path = Path(dump).absolute()
    if _HASH.fullmatch(path.parent.name) is None:
        message = (
            "its folder is not the hash of a kernel: --override takes a file that Triton wrote "
            "with TRITON_KERNEL_DUMP=1"
        )
        raise LayoutError(message, FileLocation(dump))
    return os.path.join(folder, path.parent.name, path.name)
