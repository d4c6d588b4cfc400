"""Order of additions in a reduction: the reports of ``tt-layout reduce`` and ``diff --reduce``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.analyses.conversion.placed_reduction import placed_reduction
from tt_layout.analyses.conversion.reduction_order import (
    WARPS,
    AddStep,
    OrderDifference,
    ReductionTree,
)
from tt_layout.encodings import Encoding
from tt_layout.enums import UNORDERED
from tt_layout.hardware import Target
from tt_layout.mlir.types import TensorType
from tt_layout.placement import place
from tt_layout.records import dataclass
from tt_layout.reports.fitted import Table
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line, lines_of_both
from tt_layout.wording import count, ranges

JSON_VERSION = 1

MAX_TERMS = 4
"""Terms of a step that are written out; more are listed by how far off they are."""

MAX_ELEMENTS = 16
"""Elements along the axis of which the whole sum is written in brackets."""

EXACT = "integers: every order gives the same bits"


@dataclass(frozen=True, repr=False)
class ReductionReport(Printed):
    """Order in which a reduction adds the elements along an axis.

    Attributes:
        encoding: the layout.
        tree: the tree of additions.
        ordering: the value of ``reduction_ordering``.
    """

    encoding: Encoding
    tree: ReductionTree
    ordering: str = UNORDERED

    def lines(self) -> Iterator[Line | Table]:
        """Yield the lines of the report."""
        tree = self.tree
        yield Line(
            f"sum of {count(tree.size, 'element')} of {tree.element} along dimension {tree.axis}, "
            f"{compiled_by(tree)}{', inner_tree' if self.ordering != UNORDERED else ''}"
        )
        if not tree.steps:
            yield Line("nothing to add")
            return
        rows = [
            [str(number), step.place, brought_by(step), sum_text(step, number)]
            for number, step in enumerate(tree.steps, 1)
        ]
        yield Table(["step", "in", "by", "adds"], rows, ["step"])
        if tree.size <= MAX_ELEMENTS:
            yield Line(f"in full: {brackets(tree.steps)}")
        if tree.is_exact:
            yield Line(EXACT)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/reductions.md``."""
        return {"version": JSON_VERSION, "layout": str(self.encoding), **tree_data(self.tree)}


@dataclass(frozen=True, repr=False)
class ReductionDifferenceReport(Printed):
    """Whether sums along an axis have the same bits under two layouts.

    Attributes:
        before, after: the layouts.
        trees: the tree of additions under each.
        difference: the first additions that differ; None if none do.
    """

    before: Encoding
    after: Encoding
    trees: tuple[ReductionTree, ReductionTree]
    difference: OrderDifference | None

    @property
    def has_same_bits(self) -> bool:
        """Whether every sum has the same bits under both."""
        return self.difference is None or self.trees[0].is_exact

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        yield from lines_of_both(self.before, self.after)
        yield Line(*bits_line(self.trees[0], self.difference))
        if self.difference is not None:
            yield Line(f"  {difference_text(self.difference)}")

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/reductions.md``."""
        return {
            "version": JSON_VERSION,
            "before": {"layout": str(self.before), **tree_data(self.trees[0])},
            "after": {"layout": str(self.after), **tree_data(self.trees[1])},
            "has_same_bits": self.has_same_bits,
            "difference": self.difference._asdict() if self.difference is not None else None,
        }


def reduction_report(
    encoding: Encoding,
    tensor: TensorType,
    axis: int,
    target: Target | str | None = None,
    ordering: str = UNORDERED,
) -> ReductionReport:
    """Return the report of the order in which a reduction of a tensor adds.

    Args:
        encoding: its register layout, whose Triton release compiles the reduction.
        tensor: the type.
        axis: the dimension; a negative one counts from the last.
        target: the GPU; by default the usual one with warps of that many lanes.
        ordering: ``inner_tree`` for the ordering of Meta's Triton.

    Raises:
        LayoutError: the layout is not a register layout, or there is no such axis.
    """
    tree = placed_reduction(place(encoding, tensor), axis, target, ordering)
    return ReductionReport(encoding, tree, ordering)


def reduction_difference(
    before: Encoding,
    after: Encoding,
    tensor: TensorType,
    axis: int,
    target: Target | str | None = None,
) -> ReductionDifferenceReport:
    """Return the report of whether sums along an axis have the same bits under two layouts.

    Args:
        before, after: the layouts; each is reduced as its Triton release does it.
        tensor, axis, target: as for `reduction_report`.

    Raises:
        LayoutError: a layout is not a register layout, or there is no such axis.
    """
    trees = (
        reduction_report(before, tensor, axis, target).tree,
        reduction_report(after, tensor, axis, target).tree,
    )
    return ReductionDifferenceReport(before, after, trees, trees[0].difference(trees[1]))


def compiled_by(tree: ReductionTree) -> str:
    """Return the GPU and the release that compile a reduction, in words."""
    return f"{tree.target.name}, Triton {tree.release}"


def brought_by(step: AddStep) -> str:
    """Return the instruction that combines the terms of a step."""
    if step.place == WARPS:
        return f"shared memory, {step.instruction}"
    return step.instruction or ("packed pairs" if step.is_packed else "")


def sum_text(step: AddStep, number: int) -> str:
    """Format the sums after a step in terms of those before it.

    Example:
        >>> sum_text(AddStep("lanes", (0, 16)), 3)
        's3(i) = s2(i) + s2(i+16)'
        >>> sum_text(AddStep("registers", tuple(range(8))), 1)
        's1(i) = x(i) + x(i+1) + .. + x(i+7), one after the other: +0-7'
    """
    name = f"s{number - 1}" if number > 1 else "x"
    terms = [f"{name}(i+{offset})" if offset else f"{name}(i)" for offset in step.offsets]
    if len(terms) > MAX_TERMS:
        added = f"{terms[0]} + {terms[1]} + .. + {terms[-1]}"
        return f"s{number}(i) = {added}, one after the other: +{ranges(step.offsets)}"
    return f"s{number}(i) = {' + '.join(terms)}"


def brackets(steps: Sequence[AddStep], first: int = 0) -> str:
    """Return a sum with brackets in the order of its additions.

    Example:
        >>> brackets([AddStep("registers", (0, 1, 2)), AddStep("lanes", (0, 4))])
        '(0 + 1 + 2) + (4 + 5 + 6)'
    """
    if not steps:
        return str(first)
    parts = [brackets(steps[:-1], first ^ offset) for offset in steps[-1].offsets]
    return " + ".join(f"({part})" if len(steps) > 1 else part for part in parts)


def bits_line(tree: ReductionTree, difference: OrderDifference | None) -> tuple[str, str]:
    """Return the line on whether sums have the same bits, coloured."""
    where = f"{tree.element} along dimension {tree.axis}"
    if difference is None:
        return f"same bits: sums of {where} are added in one order", "green"
    if tree.is_exact:
        return f"same bits: sums of {where} are added in another order, of {EXACT}", "green"
    return f"other bits: sums of {where} are added in another order", "red"


def difference_text(difference: OrderDifference) -> str:
    """Return the first additions that differ, in words.

    Example:
        >>> difference_text(OrderDifference(2, (0, 1), (2, 3), (16, 17)))
        'step 2: the first adds 2, 3 to 0, 1; the second adds 16, 17'
    """
    terms, first, second = (ranges(part) for part in difference[1:])
    return f"step {difference.step}: the first adds {first} to {terms}; the second adds {second}"


def tree_data(tree: ReductionTree) -> dict[str, Any]:
    """Return a tree as plain data."""
    return {
        "axis": tree.axis,
        "size": tree.size,
        "element": tree.element,
        "target": tree.target.name,
        "release": str(tree.release),
        "is_exact": tree.is_exact,
        "steps": [step._asdict() for step in tree.steps],
    }
