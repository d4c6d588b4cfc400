"""The audits of all dumps in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tt_layout.reports.audit import AuditReport
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.fitted import Fitted
from tt_layout.reports.report import Line, Table
from tt_layout.safe_text import safe


class PassedOver(NamedTuple):
    """A file that has no audit, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class AuditedFolder:
    """The audits of a folder's dumps, and the files that are none.

    Attributes:
        folder: its name.
        found: of each file, perhaps made as they are asked for.
    """

    folder: str
    found: Iterable[AuditReport | PassedOver]

    def lines(self) -> Iterator[Line | Table | Fitted]:
        """Yield the lines and tables of every dump, then the files that were passed over."""
        passed: list[PassedOver] = []
        for one in self.found:
            if isinstance(one, PassedOver):
                passed.append(one)
                continue
            yield from one.lines()
            yield Line()
        yield from (Line(safe(f"{one.file} was passed over: {one.reason}")) for one in passed)

    def data(self) -> dict[str, Any]:
        """Return the reports as plain data; the schema is in ``docs/audit.md``."""
        files: list[dict[str, Any]] = []
        passed: list[dict[str, str]] = []
        for one in self.found:
            if isinstance(one, PassedOver):
                passed.append(one._asdict())
            else:
                files.append({"file": one.file, "modules": list(one.data()["modules"])})
        return {
            "version": JSON_VERSION,
            "folder": self.folder,
            "files": files,
            "passed_over": passed,
        }
