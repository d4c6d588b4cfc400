"""Figures of layouts by the name of the view."""

from __future__ import annotations

from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import Figure
from tt_layout.hardware import DEFAULT_TARGET
from tt_layout.surface import argument
from tt_layout.views.kinds import HARDWARE, KINDS, TENSOR

OF_ONE = (*KINDS, "matrix", "mma", "swizzle", "sectors", "reduce")
"""Views of one layout."""
OF_AN_ACCESS = ("banks", "cycles", "copy")
"""Views of a layout of registers and one of shared memory; ``banks`` is of memory alone, too."""
VIEWS = (*OF_ONE, *OF_AN_ACCESS, "compare")


def draw(
    drawn: DrawnLayout,
    other: DrawnLayout | None = None,
    *,
    view: str | None = None,
    color_by: str | None = None,
    target: str = "nvidia",
    access: str = "load",
    operand: str | None = None,
    axis: int | None = None,
) -> Figure:
    """Return the figure of one layout, or of two.

    Args:
        drawn: the layout.
        other: another one: for ``compare`` of the same tensor, for ``banks`` the registers.
        view: one of `VIEWS`; by default ``compare`` for two layouts in one memory space, ``banks``
            for one of registers and one of shared memory, ``copy`` for one of registers and one
            of tensor memory, else ``tensor``.
        color_by: what has a colour of its own.
        target: for the access of ``banks``, the GPU.
        access: ``load`` or ``store``, for the access of ``banks``.
        operand: for ``mma`` the element type of A and B; None for the usual one.
        axis: for ``reduce`` the dimension that is reduced.

    Raises:
        LayoutError: the view does not suit the layouts.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.figures.drawn import DrawnLayout
        >>> from tt_layout.mlir.types import parse_type
        >>> from tt_layout.placement import place
        >>> layout = parse_layout("#ttg.linear<{register = [[1]], lane = [[2]], "
        ...                       "warp = [], block = []}>")
        >>> draw(DrawnLayout(place(layout, parse_type("tensor<4xf16>")))).grids[0].labels
        [['T0:0', 'T0:1', 'T1:0', 'T1:1']]
    """
    view = view or _default(drawn, other)
    if view in OF_ONE and other is not None:
        raise LayoutError(f"{argument('view', view)} is of one layout, got two")
    if view == "mma":
        from tt_layout.figures.mma import mma_figure

        return mma_figure(drawn, operand, color_by)
    if view == "reduce":
        return _reduction(drawn, color_by, target, axis)
    if view == "compare":
        if other is None:
            raise LayoutError(f"{argument('view', view)} needs two layouts")
        from tt_layout.figures.compare import compare_figure

        return compare_figure(drawn, other, color_by)
    if view in OF_AN_ACCESS or (view == HARDWARE and drawn.placed.is_shared):
        return _access(drawn, other, view, color_by, target, access == "store")
    return _single(drawn, view, color_by)


def _own_colours(view: str) -> str:
    return f"{argument('view', view)} has colours of its own; leave {argument('color_by')} out"


def _reduction(drawn: DrawnLayout, color_by: str | None, target: str, axis: int | None) -> Figure:
    """Return the figure of a sum along an axis."""
    from tt_layout.figures.reduction import reduction_figure

    if axis is None:
        message = f"{argument('view', 'reduce')} needs {argument('axis')}"
        raise LayoutError(f"{message}, the dimension that is reduced")
    if color_by is not None:
        raise LayoutError(_own_colours("reduce"))
    return reduction_figure(drawn, axis, None if target == DEFAULT_TARGET else target)


def _default(drawn: DrawnLayout, other: DrawnLayout | None) -> str:
    if other is None:
        return TENSOR
    spaces = {drawn.placed.memory_space, other.placed.memory_space}
    if len(spaces) == 1:
        return "compare"
    return "copy" if MemorySpace.TENSOR in spaces else "banks"


def _access(
    drawn: DrawnLayout,
    other: DrawnLayout | None,
    view: str,
    color_by: str | None,
    target: str,
    is_store: bool,
) -> Figure:
    """Return a figure of an access, or of the banks of one layout."""
    from tt_layout.figures.banks import access_figure, banks_figure, cycles_figure
    from tt_layout.figures.copying import copy_figure

    if other is None:
        if view in ("cycles", "copy"):
            message = "needs a layout of registers and one of shared memory"
            raise LayoutError(f"{argument('view', view)} {message}")
        return banks_figure(drawn, color_by)
    if color_by not in (None, "lane"):
        raise LayoutError("the figure of an access is coloured by lane")
    if drawn.placed.is_distributed:
        drawn, other = other, drawn
    figure = {"cycles": cycles_figure, "copy": copy_figure}.get(view, access_figure)
    return figure(drawn, other, target, is_store)


def _single(drawn: DrawnLayout, view: str, color_by: str | None) -> Figure:
    if view == "matrix":
        from tt_layout.figures.matrix import matrix_figure

        if color_by is not None:
            raise LayoutError("the figure of a matrix is coloured by input dimension")
        return matrix_figure(drawn)
    if view in ("swizzle", "sectors"):
        from tt_layout.figures.sectors import sectors_figure
        from tt_layout.figures.swizzle import swizzle_figure

        if color_by is not None:
            raise LayoutError(_own_colours(view))
        return swizzle_figure(drawn) if view == "swizzle" else sectors_figure(drawn)
    if view == TENSOR:
        from tt_layout.figures.tensor import tensor_figure

        return tensor_figure(drawn, color_by)
    from tt_layout.figures.view import view_figure

    return view_figure(drawn, KINDS[view], color_by)
