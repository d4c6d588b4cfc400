"""Layouts that the compiler would choose: the reports of ``tt-layout suggest``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tt_layout.analyses.tensor_memory.registers import RegisterLayout
from tt_layout.encodings import Encoding
from tt_layout.notation.functions import encoding_of_layout
from tt_layout.notation.gluon.text import constructor_call
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import GAP, Line
from tt_layout.wording import count

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


@dataclass(frozen=True)
class RegisterLayoutsReport:
    """The register layouts that messages of tensor memory move.

    Attributes:
        found: the layouts, the compiler's default first.
    """

    found: Sequence[RegisterLayout]

    def lines(self) -> Iterator[Line]:
        """Yield the messages, the attribute and Gluon's constructor of each layout."""
        for layout in self.found:
            encoding = _encoding(layout)
            yield Line(
                f"{layout.variant}: {layout.message.messages} x {layout.message.name}, "
                f"{count(layout.registers, 'register')}"
            )
            yield Line(f"{GAP}{encoding}")
            yield Line(f"{GAP}{constructor_call(encoding)}")

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        layouts = [
            {
                "variant": layout.variant,
                "layout": str(_encoding(layout)),
                "gluon": constructor_call(_encoding(layout)),
                "instruction": layout.message.name,
                "instructions": layout.message.messages,
                "registers": layout.registers,
            }
            for layout in self.found
        ]
        return {"version": JSON_VERSION, "kind": "tmem", "layouts": layouts}


def _encoding(layout: RegisterLayout) -> Encoding:
    return encoding_of_layout(layout.layout)
