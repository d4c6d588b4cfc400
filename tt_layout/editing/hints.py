"""Inlay hints: costs beside their operations."""

from __future__ import annotations

from tt_layout.editing.piece import EditedPiece
from tt_layout.tuples import NamedTuple


class Hint(NamedTuple):
    """A short text at the end of a line.

    Attributes:
        line: the line, from 1.
        text: the text of the hint.
        facts: its tooltip.
    """

    line: int
    text: str
    facts: tuple[str, ...]


def hints(piece: EditedPiece, first: int, last: int) -> list[Hint]:
    """Return the hints of a range of lines, both ends included."""
    lines = range(first, last + 1)
    shown: list[Hint] = []
    for audit in piece.audits if piece.is_read else ():
        for row in audit.rows_on(lines):
            if row.cost is not None:
                text, _, remark = row.cost.text.partition("; ")
                runs = f"runs {row.executions.times}" if not row.executions.is_once else ""
                facts = tuple(fact for fact in (remark, runs) if fact)
                shown.append(Hint(row.operation.line, text, facts))
        for product in audit.multiplications:
            if product.instruction is not None and lines.start <= product.line < lines.stop:
                shown.append(Hint(product.line, product.instruction.name, ()))
    return shown
