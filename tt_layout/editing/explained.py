"""Explanation of a line of a dump, for agents and terminals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tt_layout.editing.dump import EditedDump
from tt_layout.editing.hover import Section, corner, hover
from tt_layout.errors import LayoutError
from tt_layout.mlir.languages import refuse_file, refuse_other_mlir
from tt_layout.mlir.source import Source
from tt_layout.records import dataclass
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe

JSON_VERSION = 1


@dataclass(frozen=True, repr=False)
class ExplainedLine(Printed):
    """Explanation of a line: the hover texts of its operations, values and layouts.

    Attributes:
        file: the name of the dump.
        line: the line, from 1.
        text: the text of the line.
        sections: the sections of the hover texts, those of the operation first.
        diagnoses: the faults of the line.
    """

    file: str
    line: int
    text: str
    sections: tuple[Section, ...]
    diagnoses: tuple[str, ...]

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the line and its explanation."""
        yield Line(safe(f"{self.file}:{self.line}"))
        yield Line(safe(f"  {self.text.strip()}"))
        for section in self.sections:
            yield Line()
            yield Paragraph(safe(section.title.replace("`", "")))
            yield from (Line(safe(f"  {line}")) for line in section.code.splitlines())
            yield from (Paragraph(safe(fact), "  ", 4) for fact in section.facts)
            if section.placed is not None:
                yield from (Line(f"  {line}") for line in corner(section.placed).splitlines())
        told = [fact for section in self.sections for fact in section.facts]
        for message in self.diagnoses:
            if not any(message in fact for fact in told):
                yield Paragraph(safe(message))
        if not self.sections and not self.diagnoses:
            yield Line("nothing is known of it")

    def data(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return {
            "version": JSON_VERSION,
            "file": self.file,
            "line": self.line,
            "text": self.text,
            "parts": [
                {
                    "title": section.title.replace("`", ""),
                    "code": section.code or None,
                    "facts": list(section.facts),
                }
                for section in self.sections
            ],
            "diagnoses": list(self.diagnoses),
        }


def explained_line(file: str, text: str, line: int) -> ExplainedLine:
    """Explain a line of a dump.

    Args:
        file: the name of the dump.
        text: the text of the dump.
        line: the line, from 1.

        Raises:
            LayoutError: the dump has no such line.
    """
    source = Source(text, file)
    refuse_other_mlir(source)
    dump = EditedDump(text)
    placed = dump.at(line)
    most = text.count("\n") + 1
    if placed is None or line > most:
        raise LayoutError(f"the dump has no line {line}: it has {most}")
    at = line - placed.down
    written = placed.piece.line(at)
    starts = [column for column, mark in enumerate(written) if mark in "#.%"]
    starts.sort(key=lambda column: written[column] != ".")  # the operation comes first
    found = (hover(placed.piece, at, column) for column in starts)
    sections = tuple(
        section.in_file(placed.down) for one in found if one is not None for section in one.sections
    )
    if not sections:
        refuse_file(source)
    wrong = (one.message for one in placed.piece.diagnoses(placed.down) if one.line == line)
    return ExplainedLine(
        file, line, written, tuple(dict.fromkeys(sections)), tuple(dict.fromkeys(wrong))
    )
