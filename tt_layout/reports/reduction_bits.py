"""Whether the reductions of two dumps give the same bits: ``audit --diff --bits``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tt_layout.audit.reduction_bits import Reduction, ReductionBits, ReductionPair
from tt_layout.reports.audit import heading
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.comparison import NamedModule
from tt_layout.reports.printed import Printed
from tt_layout.reports.reduce import compiled_by, difference_text, tree_data
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe
from tt_layout.wording import count

NOT_COMPARED = "only the order within reductions is compared: not that of loops, tt.dot and atomics"


class ComparedBits(NamedTuple):
    """Two modules, and what is known of the bits of their reductions."""

    before: NamedModule
    after: NamedModule
    bits: ReductionBits


@dataclass(frozen=True, repr=False)
class ReductionBitsReport(Printed):
    """Whether the reductions of the modules of two dumps, or of one, give the same bits."""

    comparisons: Sequence[ComparedBits]

    @property
    def is_same(self) -> bool:
        """Whether all reductions give the same bits, for certain."""
        return all(comparison.bits.has_same_bits for comparison in self.comparisons)

    def lines(self) -> Iterator[Line]:
        """Yield the lines of every comparison, then what is not compared."""
        for comparison in self.comparisons:
            for sign, side in (("---", comparison.before), ("+++", comparison.after)):
                yield Line(f"{sign} {next(heading(side.module, side.file)).text}")
            yield from _lines(comparison.bits)
        yield Line(NOT_COMPARED)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/reductions.md``."""
        return {
            "version": JSON_VERSION,
            "comparisons": [_data(comparison) for comparison in self.comparisons],
        }


def _lines(bits: ReductionBits) -> Iterator[Line]:
    if bits.unpaired is not None:
        before, after = bits.unpaired
        yield Line(f"{count(before, 'reduction')} before, {after} after: none is compared", "red")
        return
    other = [pair for pair in bits.pairs if not pair.has_same_bits]
    summary = f"{count(len(bits.pairs), 'reduction')}, {len(other)} with other bits"
    yield Line(summary, "red" if other else "green")
    for pair in other:
        yield Line(f"  {_where(pair)}: {_why(pair)}")


def _where(pair: ReductionPair) -> str:
    """Format the location of a reduction, in either dump and in the program."""
    before, after = pair.before, pair.after
    line = (
        f"line {before.line}"
        if before.line == after.line
        else f"lines {before.line} and {after.line}"
    )
    place = f", {safe(str(after.location))}" if after.location is not None else ""
    return f"{line}, @{safe(after.function)}{place}"


def _why(pair: ReductionPair) -> str:
    """Return why the bits are others, or may be."""
    if pair.difference is None:
        return pair.reason
    tree = pair.after.tree
    assert tree is not None
    sums = f"sums of {count(tree.size, 'element')} of {tree.element}, {compiled_by(tree)}"
    return f"{sums}; {difference_text(pair.difference)}"


def _data(comparison: ComparedBits) -> dict[str, Any]:
    sides = (("before", comparison.before), ("after", comparison.after))
    return {
        **{name: {"file": side.file, "line": side.module.line} for name, side in sides},
        "has_same_bits": comparison.bits.has_same_bits,
        "unpaired": comparison.bits.unpaired,
        "reductions": [
            {
                "before": _reduction_data(pair.before),
                "after": _reduction_data(pair.after),
                "has_same_bits": pair.has_same_bits,
                "reason": pair.reason,
                "difference": pair.difference._asdict() if pair.difference is not None else None,
            }
            for pair in comparison.bits.pairs
        ],
    }


def _reduction_data(reduction: Reduction) -> dict[str, Any]:
    return {
        "function": reduction.function,
        "line": reduction.line,
        "location": str(reduction.location) if reduction.location is not None else None,
        "is_exact": reduction.is_exact,
        "tree": tree_data(reduction.tree) if reduction.tree is not None else None,
    }
