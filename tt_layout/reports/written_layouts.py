"""Layouts as text: the reports of ``tt-layout translate`` and ``tt-layout suggest``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.analyses.tensor_memory.registers import RegisterLayout
from tt_layout.encodings import Encoding
from tt_layout.notation.functions import encoding_of_layout
from tt_layout.notation.gluon.text import constructor_call
from tt_layout.notation.result import Translation
from tt_layout.records import dataclass
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import GAP, Line
from tt_layout.surface import argument
from tt_layout.wording import count

JSON_VERSION = 1

SUGGESTION_VERSION = 1


@dataclass(frozen=True, repr=False)
class TranslationReport(Printed):
    """A layout in another spelling.

    Attributes:
        encoding: the layout.
        to: name of the spelling.
        translation: the translated text and notes.
    """

    encoding: Encoding
    to: str
    translation: Translation

    def lines(self) -> Iterator[Line]:
        """Yield the text."""
        yield Line(self.translation.text)

    def notes(self, has_shape: bool) -> list[str]:
        """Return the notes beside the text.

        Args:
            has_shape: whether the tensor's shape was given.
        """
        notes = list(self.translation.notes)
        if not has_shape:
            shapes = ", ".join("x".join(map(str, shape)) for shape in self.translation.shapes)
            notes.append(
                f"checked over {shapes}; {argument('shape_or_type')} checks it over one tensor"
            )
        return notes

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/translate.md``."""
        return {
            "version": JSON_VERSION,
            "from": str(self.encoding),
            "release": str(self.encoding.release),
            "to": self.to,
            "text": self.translation.text,
            "shapes": [list(shape) for shape in self.translation.shapes],
            "notes": list(self.translation.notes),
        }


@dataclass(frozen=True, repr=False)
class SuggestionReport(Printed):
    """A layout that the compiler would choose.

    Attributes:
        kind: the rule of the compiler.
        encoding: the layout.
    """

    kind: str
    encoding: Encoding

    def lines(self) -> Iterator[Line]:
        """Yield the attribute."""
        yield Line(str(self.encoding))

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        return {"version": SUGGESTION_VERSION, "kind": self.kind, "layout": str(self.encoding)}


@dataclass(frozen=True)
class RegisterLayoutsReport:
    """The register layouts of the tensor-memory messages that can move a buffer.

    Attributes:
        layouts: the layouts, the compiler's default first.
    """

    layouts: Sequence[RegisterLayout]

    def lines(self) -> Iterator[Line]:
        """Yield the messages, the attribute and Gluon's constructor of each layout."""
        for layout in self.layouts:
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
            for layout in self.layouts
        ]
        return {"version": SUGGESTION_VERSION, "kind": "tmem", "layouts": layouts}


def _encoding(layout: RegisterLayout) -> Encoding:
    return encoding_of_layout(layout.layout)
