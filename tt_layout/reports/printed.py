"""Base of reports: text in Python, a short repr, HTML in a notebook."""

from __future__ import annotations

from typing import Any

from tt_layout.reports.report import Report, plain_pieces, plain_text
from tt_layout.safe_text import shortened

MAX_REPR = 80


class Printed:
    """Base of reports: the whole text as ``str()``, a short repr, HTML in a notebook."""

    def __str__(self) -> str:
        """Return the output of the command, without its last newline."""
        return plain_text(self._report).removesuffix("\n")

    def __repr__(self) -> str:
        """Return the class and the first line."""
        first = next(plain_pieces(self._report), "").partition("\n")[0]
        return f"<{type(self).__name__}: {shortened(first, MAX_REPR)}>"

    def _repr_html_(self) -> str:
        from tt_layout.reports.formats.html import to_html

        return to_html(self._report)

    @property
    def _report(self) -> Report:
        report: Any = self
        assert callable(getattr(report, "lines", None))
        checked: Report = report
        return checked
