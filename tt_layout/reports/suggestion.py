"""A layout that the compiler would choose: the report of ``tt-layout suggest``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tt_layout.encodings import Encoding
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line

JSON_VERSION = 1


@dataclass(frozen=True, repr=False)
class SuggestionReport(Printed):
    """A layout that the compiler would choose.

    Attributes:
        kind: by which of its rules.
        encoding: the layout.
    """

    kind: str
    encoding: Encoding

    def lines(self) -> Iterator[Line]:
        """Yield the attribute."""
        yield Line(str(self.encoding))

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        return {"version": JSON_VERSION, "kind": self.kind, "layout": str(self.encoding)}
