"""How a report shows itself: in Python as text, in short as a value, in a notebook as HTML."""

from __future__ import annotations

from typing import Any

from tt_layout.reports.report import Report, plain_pieces, plain_text
from tt_layout.safe_text import shortened

MAX_REPR = 80


class Printed:
    """A report as Python shows it: whole as text, in short as a value, as HTML in a notebook."""

    def __str__(self) -> str:
        """Return the output of the command, without its last line end."""
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
