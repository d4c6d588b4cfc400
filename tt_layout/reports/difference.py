"""Difference between two layouts in words: the report of ``tt-layout diff``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tt_layout.analyses.layouts.encoding_difference import EncodingDifference
from tt_layout.records import dataclass
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line, lines_of_both

JSON_VERSION = 1

VERDICTS = {
    "text": "same text",
    "map": "same map, written differently",
    "registers": "same up to the order of registers",
    "lanes": "same up to the order of lanes",
    "warps": "same up to the order of warps",
    "different": "different",
}


@dataclass(frozen=True, repr=False)
class DifferenceReport(Printed):
    """Difference between two layouts."""

    difference: EncodingDifference

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        difference = self.difference
        yield from lines_of_both(difference.before, difference.after)
        yield Line(
            VERDICTS[difference.verdict], "red" if difference.verdict == "different" else "green"
        )
        words, moves = difference.words(), difference.comparison.first_moves
        firsts = [f"first: {move}" for move in moves[:1]]
        nexts = [f"next: {move}" for move in moves[1:]]
        told = [word for word in words if word not in firsts]
        yield from (Line(f"  {word}") for word in (*told, *firsts, *nexts))

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        return {
            "version": JSON_VERSION,
            "before": str(self.difference.before),
            "after": str(self.difference.after),
            "verdict": self.difference.verdict,
            "words": self.difference.words(),
            **asdict(self.difference.comparison),
        }
