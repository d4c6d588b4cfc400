"""Order of additions of a reduction: a row per step, one colour per sum."""

from __future__ import annotations

import numpy as np

from tt_layout.analyses.conversion.placed_reduction import placed_reduction
from tt_layout.analyses.conversion.reduction_order import AddStep, ReductionTree
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import Figure, Grid, check_cells, has_labels, table
from tt_layout.views.groups import coloured
from tt_layout.wording import count


def reduction_figure(drawn: DrawnLayout, axis: int, target: str | None) -> Figure:
    """Return the figure of a sum along an axis.

    Args:
        drawn: the layout, in registers.
        axis: the dimension; a negative one counts from the last.
        target: the GPU; None for the usual one whose warps have as many lanes.

    Raises:
        LayoutError: the layout is not one of registers, or the order is not known.
    """
    drawn.selection.check_options("a figure of a reduction")
    tree = placed_reduction(drawn.placed, axis, target)
    shape = len(tree.steps) + 1, tree.size
    check_cells(shape[0] * shape[1])
    sums = _sums(tree)
    colours = [coloured(np.unique(row, return_inverse=True)[1], len(set(row))) for row in sums]
    grid = Grid(
        np.array(colours),
        table(map(str, sums.ravel().tolist()), shape) if has_labels(*shape) else None,
        f"sum of {count(tree.size, 'element')} of {tree.element} along dimension {tree.axis}",
        ("elements", *map(_step_name, tree.steps)),
        tuple(map(str, range(tree.size))),
        row_title="step",
        column_title=f"dimension {tree.axis}",
        marks=sums == np.arange(tree.size),
    )
    notes = (
        "each cell: the first element of the sum that it is in by then, which is outlined",
        f"as Triton {tree.release} adds on {tree.target.name}",
    )
    return Figure(drawn.title, (grid,), (), notes)


def _sums(tree: ReductionTree) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return for each step the first element of the sum that contains each element."""
    rows = [np.arange(tree.size, dtype=np.int64)]
    for step in tree.steps:
        rows.append(rows[-1] & ~step.bits)
    return np.stack(rows)


def _step_name(step: AddStep) -> str:
    """Name a step by the offsets that it adds.

    Example:
        >>> _step_name(AddStep("lanes", (0, 16))), _step_name(AddStep("registers", (0, 1, 2, 3)))
        ('lanes +16', 'registers +1 .. +3')
    """
    _, first, *rest = step.offsets
    return f"{step.place} +{first}{f' .. +{rest[-1]}' if rest else ''}"
