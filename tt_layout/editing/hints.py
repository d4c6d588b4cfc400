"""Costs beside the operations that have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tt_layout.editing.piece import Piece


class Hint(NamedTuple):
    """A short text behind a line.

    Attributes:
        line: from 1.
        text: what is shown.
        facts: what is shown when it is pointed at.
    """

    line: int
    text: str
    facts: tuple[str, ...]


def hints(piece: Piece, first: int, last: int) -> list[Hint]:
    """Return the hints of the lines from one to another, both included."""
    return [hint for hint in _hints(piece) if first <= hint.line <= last]


def _hints(piece: Piece) -> Iterator[Hint]:
    for audit in piece.audits if piece.is_read else ():
        for row in audit.movements:
            if row.cost is not None:
                text, _, more = row.cost.text.partition("; ")
                runs = f"runs {row.executions.times}" * (not row.executions.is_once)
                yield Hint(row.operation.line, text, tuple(fact for fact in (more, runs) if fact))
        for product in audit.multiplications:
            if product.instruction is not None:
                yield Hint(product.line, product.instruction.name, ())
