"""Shared layouts with the fewest cycles: the report of ``tt-layout swizzle``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tt_layout.analyses.layouts.shortest import shortest
from tt_layout.analyses.shared_memory.candidates import SwizzleCandidate
from tt_layout.analyses.shared_memory.swizzle import SwizzleSearch
from tt_layout.encodings import SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.notation.checking import own_shape
from tt_layout.notation.gluon.text import constructor_call
from tt_layout.records import dataclass
from tt_layout.reports.conflicts import access_data, evidence
from tt_layout.reports.fitted import Fitted, Table
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.wording import count, shown

JSON_VERSION = 1


@dataclass(frozen=True, repr=False)
class SwizzleReport(Printed):
    """Result of a swizzle search.

    Attributes:
        search: the best of the family, and the best linear layout.
        target: the GPU.
        has_ranking: whether the whole family is listed.
    """

    search: SwizzleSearch
    target: Target
    has_ranking: bool = False

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the lines of the report, and the ranking as a table."""
        search = self.search
        if search.best is None:
            yield Line(f"no layout of the family {search.family} fits this tensor", "red")
        else:
            yield from self._candidate(search.best)
            yield from self._conflicts()
        yield Line()
        saved = 1 if search.best is None else search.best.wavefronts - search.optimum.wavefronts
        if saved > 0:
            yield Line("best linear layout:")
            yield from self._candidate(_named(search.optimum))
            if search.best is not None:
                yield Line(f"  needs {count(saved, self.target.cycle)} per warp fewer", "yellow")
        else:
            yield Line(f"no linear layout takes fewer {self.target.cycle}s", "green")
        if self.has_ranking:
            yield Line()
            yield self._ranking()
        yield Line(evidence(self.target))

    def _candidate(self, candidate: SwizzleCandidate) -> Iterator[Line]:
        cycle = self.target.cycle
        yield Line(str(candidate.encoding), "green" if not candidate.extra_wavefronts else "yellow")
        with suppress(LayoutError):  # of families that Gluon has no class for
            yield Line(f"  {constructor_call(candidate.encoding)}")
        cycles = count(candidate.wavefronts, cycle)
        extra = shown(candidate.extra_wavefronts) if candidate.extra_wavefronts else "none"
        size = f"{candidate.memory_bytes} bytes"
        yield Line(f"  {cycles} per warp, {extra} of them due to conflicts; {size}")
        for access in candidate.accesses:
            kind = "store" if access.is_store else "load"
            cycles_each = count(access.wavefronts_per_instruction, cycle)
            yield Line(f"  {kind}: {access.instructions} x {access.name}, {cycles_each} each")

    def _conflicts(self) -> Iterator[Line]:
        """Yield a note if no layout searched is conflict-free."""
        if not self.search.free_of_conflicts:
            family = "no family is" if self.search.family == "all" else "none in this family is"
            tried = "" if self.search.is_whole else ", of the orders that were tried"
            yield Line(f"{family} conflict-free{tried}", "red")

    def _ranking(self) -> Table:
        header = [f"{self.target.cycle}s", "extra", "bytes", "layout"]
        rows = [
            [
                shown(candidate.wavefronts),
                shown(candidate.extra_wavefronts),
                str(candidate.memory_bytes),
                str(candidate.encoding),
            ]
            for candidate in self.search.ranking
        ]
        return Table(header, rows, header[:3])

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/bank-conflicts-json.md``."""
        search = self.search
        report: dict[str, Any] = {
            "version": JSON_VERSION,
            "target": self.target.name,
            "verified": self.target.verified,
            "family": search.family,
            "best": None,
            "free_of_conflicts": search.free_of_conflicts,
            "optimum": _candidate_data(_named(search.optimum)),
        }
        if search.best is not None:
            accesses = [
                {"access": "store" if access.is_store else "load", **access_data(access)}
                for access in search.best.accesses
            ]
            report["best"] = {**_candidate_data(search.best), "accesses": accesses}
        if self.has_ranking:
            report["ranking"] = [_candidate_data(candidate) for candidate in search.ranking]
        return report


def _named(candidate: SwizzleCandidate) -> SwizzleCandidate:
    """Return the best linear layout, with its parameters if it belongs to a parametrized class."""
    encoding = candidate.encoding
    named = shortest(encoding, own_shape(encoding) or ())
    return replace(candidate, encoding=named) if isinstance(named, SharedEncoding) else candidate


def _candidate_data(candidate: SwizzleCandidate) -> dict[str, Any]:
    """Return a candidate as plain data."""
    return {
        "layout": str(candidate.encoding),
        "wavefronts": candidate.wavefronts,
        "extra_wavefronts": candidate.extra_wavefronts,
        "memory_bytes": candidate.memory_bytes,
    }
