"""From layouts to a figure, by the name of the view."""

from __future__ import annotations

from tt_layout.encodings import SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.figures.model import Figure
from tt_layout.figures.places import Held

VIEWS = ("tensor", "hardware", "banks", "matrix", "compare")


def draw(
    held: Held,
    other: Held | None = None,
    *,
    view: str | None = None,
    color_by: str | None = None,
    target: str = "nvidia",
    access: str = "load",
) -> Figure:
    """Return the figure of a layout, or of two.

    Args:
        held: the layout.
        other: another one: for ``compare`` of the same tensor, for ``banks`` the registers.
        view: one of `VIEWS`; by default ``compare`` for two layouts of one memory, ``banks``
            for one of registers and one of shared memory, else ``tensor``.
        color_by: what has a colour of its own.
        target: for the access of ``banks``, the GPU.
        access: ``load`` or ``store``, likewise.

    Raises:
        LayoutError: the view does not suit the layouts.

    Example:
        >>> from tt_layout.figures.places import hold
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.mlir.types import parse_type
        >>> layout = parse_layout("#ttg.linear<{register = [[1]], lane = [[2]], "
        ...                       "warp = [], block = []}>")
        >>> draw(hold(layout, parse_type("tensor<4xf16>"))).grids[0].labels
        [['T0:0', 'T0:1', 'T1:0', 'T1:1']]
    """
    view = view or _default(held, other)
    if view in ("tensor", "hardware", "matrix") and other is not None:
        raise LayoutError(f"--view {view} is of one layout, got two")
    if view == "compare":
        if other is None:
            raise LayoutError("--view compare needs two layouts")
        from tt_layout.figures.compare import compare_figure

        return compare_figure(held, other, color_by)
    if view == "banks" or (view == "hardware" and isinstance(held.encoding, SharedEncoding)):
        return _banks(held, other, color_by, target, access)
    return _single(held, view, color_by)


def _default(held: Held, other: Held | None) -> str:
    if other is None:
        return "tensor"
    same = held.encoding.memory_kind == other.encoding.memory_kind
    return "compare" if same else "banks"


def _banks(
    held: Held, other: Held | None, color_by: str | None, target: str, access: str
) -> Figure:
    from tt_layout.figures.banks import access_figure, banks_figure

    if other is None:
        return banks_figure(held, color_by)
    if color_by not in (None, "lane"):
        raise LayoutError("the figure of an access is coloured by lane")
    if not isinstance(held.encoding, SharedEncoding):
        held, other = other, held
    return access_figure(held, other, target, access == "store")


def _single(held: Held, view: str, color_by: str | None) -> Figure:
    if view == "matrix":
        from tt_layout.figures.matrix import matrix_figure

        if color_by is not None:
            raise LayoutError("the figure of a matrix is coloured by input dimension")
        return matrix_figure(held)
    if view == "hardware":
        from tt_layout.figures.hardware import hardware_figure

        return hardware_figure(held, color_by)
    from tt_layout.figures.tensor import tensor_figure

    return tensor_figure(held, color_by)
