"""Figure of a matrix instruction: A on the left, B above, D in the corner."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import takewhile

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.analyses.multiplications.instruction_operands import (
    instruction_title,
    operands_of,
)
from tt_layout.analyses.multiplications.matrix_arrangement import (
    AXES,
    NAMES,
    OF_A,
    OF_B,
    PLACES,
    PLACES_WITH_SCALES,
    STRONG_LINES,
    Place,
)
from tt_layout.analyses.multiplications.matrix_instructions import Operand
from tt_layout.encodings import DistributedEncoding
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import Colouring, DrawnLayout
from tt_layout.figures.model import PLAIN, Figure, Grid
from tt_layout.figures.tensor import element_groups, tensor_grid
from tt_layout.mlir.types import parse_type
from tt_layout.placement import PlacedLayout, place
from tt_layout.records import dataclass
from tt_layout.surface import argument
from tt_layout.views.groups import group_count
from tt_layout.views.selection import Range, Selection

COLOUR_BY = ("lane", "warp", "thread", "register")


@dataclass(frozen=True)
class MatrixPart:
    """A matrix of a multiplication, and the part of it that is drawn.

    Attributes:
        name: a key of `AXES`.
        shape: the number of drawn rows and columns.
        drawn: its layout; None if it is in shared memory and no layout is known.
    """

    name: str
    shape: tuple[int, int]
    drawn: DrawnLayout | None

    @property
    def is_turned(self) -> bool:
        """Whether its rows are drawn as columns, above the columns that they scale."""
        return self.name == OF_B

    @property
    def drawn_shape(self) -> tuple[int, int]:
        """The rows and columns of the figure."""
        rows, columns = self.shape
        return (columns, rows) if self.is_turned else (rows, columns)

    @property
    def axes(self) -> tuple[str, str]:
        """The axes of rows and columns of the figure."""
        return AXES[self.name]

    @property
    def k_axis(self) -> int | None:
        """The axis that is K; None for the result."""
        return {"A": 1, "B": 0}.get(self.name)

    @property
    def is_in_registers(self) -> bool:
        """Whether lanes hold it."""
        return self.drawn is not None and self.drawn.placed.is_distributed

    @property
    def has_rows(self) -> bool:
        """Whether lanes hold it, or warps reach its rows in tensor memory."""
        return self.drawn is not None and not self.drawn.placed.is_shared

    @property
    def title(self) -> str:
        """The title above it."""
        rows, columns = self.shape
        place = "" if self.has_rows else ", in shared memory"
        return f"{self.name} ({rows} x {columns}){place}"

    @property
    def k_step(self) -> int:
        """Number of contiguous elements along K in each lane of a row; 0 if that is all of K.

        In NVIDIA's matrices neighbouring lanes go along K, in AMD's across it.
        """
        if self.k_axis is None or not self.is_in_registers:
            return 0
        assert self.drawn is not None
        axis = len(self.drawn.placed.shape) - 2 + self.k_axis
        lanes = [vector[axis] for vector in dict(self.drawn.layout.in_bases).get("lane", ())]
        neighbours = list(takewhile(bool, lanes))
        step = 2 * max(neighbours) if neighbours else min(filter(bool, lanes), default=0)
        return step if 1 < step < self.shape[self.k_axis] else 0


@dataclass(frozen=True)
class DrawnProduct:
    """A matrix multiplication, drawn from the first element on.

    Attributes:
        operands: A, B and D; None for one in shared memory with an unknown layout.
        sizes: the drawn sizes of M, N and K.
        title: the title.
        packing: elements along K in each stored element of A, and of B.
        scales: the scales of blocks along K of A, and of B; None where there are none.
    """

    operands: tuple[Operand | None, Operand | None, Operand]
    sizes: tuple[int, int, int]
    title: tuple[str, str]
    packing: tuple[int, int] = (1, 1)
    scales: tuple[Operand, Operand] | None = None

    @cached_property
    def parts(self) -> tuple[MatrixPart, MatrixPart, MatrixPart]:
        """A, B and D."""
        m, n, k = self.sizes
        of_a, of_b = self.packing
        shapes = (m, k // of_a), (k // of_b, n), (m, n)
        a, b, d = (
            MatrixPart(name, shape, _drawn(operand, shape))
            for name, shape, operand in zip("ABD", shapes, self.operands)
        )
        return a, b, d

    @property
    def scale_parts(self) -> tuple[MatrixPart, ...]:
        """The scales of A and of B, one row of blocks per row of A and column of B."""
        if not self.block or self.scales is None:
            return ()
        m, n, k = self.sizes
        parts = []
        for name, size, operand in zip((OF_A, OF_B), (m, n), self.scales):
            shape = size, max(1, k // self.block)
            parts.append(MatrixPart(name, shape, _drawn(operand, shape)))
        return tuple(parts)

    @property
    def block(self) -> int:
        """Number of elements along K that share a scale; 0 without scales."""
        if self.scales is None or self.operands[0] is None:
            return 0
        depth = self.operands[0].shape[-1] * self.packing[0]
        return max(1, depth // self.scales[0].shape[-1])

    @property
    def placed_parts(self) -> tuple[tuple[MatrixPart, Place], ...]:
        """A, B, D and the scales, each with its place in the figure."""
        scales = self.scale_parts
        places = PLACES_WITH_SCALES if scales else PLACES
        return tuple((part, places[part.name]) for part in (*self.parts, *scales))

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes below it."""
        words = [NAMES] if any(part.is_in_registers for part in self.parts) else []
        if any(part.k_step for part in self.parts):
            words += [STRONG_LINES]
        words += [
            f"each cell of {name} has {count} elements of K"
            for name, count in zip("AB", self.packing)
            if count > 1
        ]
        if self.block:
            words += [f"each scale is of a block of {self.block} along K"]
        return ("; ".join(words),) if words else ()

    @property
    def usual_colouring(self) -> str:
        """``warp`` if several warps hold the drawn part of the result, else ``lane``."""
        warps = _groups(self.parts[2], "warp")
        return "warp" if len(np.unique(warps[warps >= 0])) > 1 else "lane"


def product_of(placed: PlacedLayout, element: str | None = None) -> DrawnProduct:
    """Return the multiplication over one instruction's K that results in a layout.

    Args:
        placed: the layout of D, or a dot_op, over the shape of D.
        element: the element type of A and B; None for the usual one.

    Raises:
        LayoutError: it is the result of no instruction, or not of rank 2.
    """
    if len(placed.shape) != 2:
        raise LayoutError(f"{argument('view', 'mma')} needs a matrix, got rank {len(placed.shape)}")
    a, b, d, k = operands_of(placed.encoding, placed.shape, placed.tensor.element_type, element)
    m, n = placed.shape
    name = instruction_title(d, k)
    title = f"{d.encoding}", f"{name}: D = A x B + D of M = {m}, N = {n}, K = {k}"
    return DrawnProduct((a, b, d), (m, n, k), title)


def mma_figure(result: DrawnLayout, element: str | None, color_by: str | None) -> Figure:
    """Return the figure of the instruction that results in a layout.

    Args:
        result: the layout of D, or a dot_op, over the shape of D.
        element: the element type of A and B; None for the usual one.
        color_by: one of `COLOUR_BY`.

    Raises:
        LayoutError: it is the result of no instruction, or not of rank 2.
    """
    result.selection.check_options("a figure of a matrix instruction")
    return product_figure(product_of(result.placed, element), color_by)


def product_figure(product: DrawnProduct, color_by: str | None) -> Figure:
    """Return the figure of a multiplication.

    Args:
        product: the multiplication.
        color_by: one of `COLOUR_BY`; by default the warp if there are several, else the lane.

        Raises:
            LayoutError: it cannot be coloured by that.
    """
    if color_by not in (None, *COLOUR_BY):
        raise LayoutError(
            f"{argument('view', 'mma')} is coloured by {', '.join(COLOUR_BY)}, not {color_by}"
        )
    parts, places = zip(*product.placed_parts)
    name = color_by or product.usual_colouring
    groups = [_groups(part, name) for part in parts]
    colourings = [_colouring(part, name) for part in parts if part.has_rows]
    colouring = max(colourings, key=lambda colouring: group_count(colouring.placed, name))
    grids = tuple(_grid(part, numbers, colouring) for part, numbers in zip(parts, groups))
    legend = colouring.legend(np.concatenate(groups))
    return Figure(
        product.title,
        grids,
        legend,
        product.notes,
        places=places,
    )


def _drawn(operand: Operand | None, shape: tuple[int, int]) -> DrawnLayout | None:
    """Return the layout of a matrix, restricted to its first rows and columns."""
    if operand is None:
        return None
    is_register = isinstance(operand.encoding, DistributedEncoding)
    kind = "tensor" if is_register else "!ttg.memdesc"
    sizes = "".join(f"{size}x" for size in operand.shape)
    placed = place(operand.encoding, parse_type(f"{kind}<{sizes}{operand.element}>"))
    batch: list[Range] = [(0, 1)] * (len(operand.shape) - 2)
    ranges = (*batch, *((0, min(pair)) for pair in zip(shape, operand.shape[-2:])))
    return DrawnLayout(placed, Selection(ranges))


def _colouring(part: MatrixPart, name: str) -> Colouring:
    assert part.drawn is not None
    return Colouring(part.drawn.placed, name)


def _groups(part: MatrixPart, name: str) -> Ints:
    """Return the group of each element; elements without a lane are plain."""
    if not part.has_rows:
        rows, columns = part.shape
        return np.full(rows * columns, PLAIN, np.int64)
    assert part.drawn is not None
    return element_groups(part.drawn, _colouring(part, name))


def _grid(part: MatrixPart, groups: Ints, colouring: Colouring) -> Grid:
    rows, columns = part.shape
    if part.drawn is None:
        names = tuple(map(str, range(rows))), tuple(map(str, range(columns)))
        labels = [[f"{r},{c}" for c in range(columns)] for r in range(rows)]
        return _with_names(Grid(groups.reshape(part.shape), labels, part.title, *names), part)
    grid = tensor_grid(
        part.drawn, colouring.colours(groups) if part.has_rows else groups, part.title
    )
    return _with_names(_turned(grid) if part.is_turned else grid, part)


def _turned(grid: Grid) -> Grid:
    """Transpose a grid."""
    return replace(
        grid,
        colours=grid.colours.T,
        labels=[list(column) for column in zip(*grid.labels)] if grid.labels is not None else None,
        rows=grid.columns,
        columns=grid.rows,
    )


def _with_names(grid: Grid, part: MatrixPart) -> Grid:
    """Return a grid whose registers are named after the matrix, with groups along K marked."""
    labels = grid.labels
    if labels is not None and part.is_in_registers:
        letter = part.name[0].lower()
        labels = [[text.replace(":", f":{letter}") for text in row] for row in labels]
    row_title, column_title = part.axes
    return replace(
        grid,
        labels=labels,
        row_title=row_title,
        column_title=column_title,
        row_step=part.k_step if part.k_axis == 0 else 0,
        column_step=part.k_step if part.k_axis == 1 else 0,
        step_width=2,
    )
