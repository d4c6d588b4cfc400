"""A layout in another spelling: the report of ``tt-layout translate``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tt_layout.encodings import Encoding
from tt_layout.notation.result import Translation
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.surface import argument

JSON_VERSION = 1


@dataclass(frozen=True, repr=False)
class TranslationReport(Printed):
    """A layout in another spelling.

    Attributes:
        encoding: the layout.
        to: the spelling's name.
        translation: the outcome.
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
