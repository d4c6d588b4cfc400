"""Figures and pages for a notebook or a file."""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tt_layout.errors import LayoutError, expect, quoted
from tt_layout.figures.drawing import VIEWS
from tt_layout.figures.drawing import draw as drawn_figure
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import Figure
from tt_layout.hardware import DEFAULT_TARGET, Target
from tt_layout.library.inputs import UNKNOWN_ELEMENT, Layout, gpu, lanes_of, place
from tt_layout.mlir.source import Source
from tt_layout.placement import PlacedLayout
from tt_layout.records import dataclass
from tt_layout.reports.writing import write

if TYPE_CHECKING:
    from tt_layout.mlir.types import ShapeOrType
    from tt_layout.releases import Release
    from tt_layout.views.selection import Selection

FRAME = '<iframe srcdoc="{page}" width="100%" height="{height}" style="border:0"></iframe>'
FRAME_HEIGHT = 720  # pixels


@dataclass(frozen=True, repr=False)
class Drawing:
    """A figure of layouts; a notebook shows it.

    Attributes:
        figure: the figure.
        title: its name in ``repr``.
    """

    figure: Figure
    title: str

    @cached_property
    def svg(self) -> str:
        """The figure as SVG."""
        from tt_layout.figures.svg import to_svg

        return to_svg(self.figure)

    @cached_property
    def png(self) -> bytes:
        """The figure as PNG; needs Pillow (``pip install 'tt-layout[png]'``)."""
        from tt_layout.figures.png import to_png

        return to_png(self.figure)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to an ``.svg`` or ``.png`` file, whole or not at all.

        Raises:
            LayoutError: the file has another suffix, or cannot be written.
        """
        made: dict[str, Callable[[], bytes]] = {
            ".svg": self.svg.encode,
            ".png": lambda: self.png,
        }
        _save(os.fspath(path), made)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing: {self.title}>"


@dataclass(frozen=True, repr=False)
class Page:
    """A page to explore layouts; a notebook shows it in a frame.

    Attributes:
        html: the page, which needs no network.
        title: its name in ``repr``.
    """

    html: str
    title: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to an ``.html`` file, whole or not at all.

        Raises:
            LayoutError: the file has another suffix, or cannot be written.
        """
        _save(os.fspath(path), {".html": self.html.encode})

    def _repr_html_(self) -> str:
        return FRAME.format(page=html.escape(self.html), height=FRAME_HEIGHT)

    def __repr__(self) -> str:
        return f"<Page: {self.title}>"


def _save(path: str, made: dict[str, Callable[[], bytes]]) -> None:
    ending = os.path.splitext(path)[1].lower()
    if ending not in made:
        raise LayoutError(f"the file must end in {' or '.join(made)}, got {path!r}")
    content = made[ending]()
    write([content], path, size=len(content))


def plot(
    layout: Layout,
    other: Layout | ShapeOrType,
    shape_or_type: ShapeOrType | None = None,
    *,
    view: str | None = None,
    color_by: str | None = None,
    target: Target | str = DEFAULT_TARGET,
    access: str = "load",
    axis: int | None = None,
    selection: Selection | None = None,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> Drawing:
    """Return the figure of a layout, or of two: ``plot(layout, shape)``, ``plot(a, b, shape)``.

    Args:
        layout: text in any notation, or an object.
        other: another layout, or the tensor if there is none.  Two layouts in one memory space are
            compared; for a register layout and a shared layout the banks of an access are drawn.
        shape_or_type: the tensor.
        view: a view of ``tt-layout plot --view``.
        color_by: the grouping by colour.
        target: the GPU whose banks are drawn.
        access: ``load`` or ``store``, whose banks are drawn.
        axis: the dimension that the view ``reduce`` adds along.
        selection: the part to draw; all by default.
        release, threads_per_warp: as for `parse_layout`.

    Returns:
        A drawing with ``.svg``, ``.png`` and ``.save(path)``.

    Raises:
        LayoutError: a layout does not fit the tensor, or the view does not suit the layouts.

    Example:
        >>> drawing = plot("gl.BlockedLayout([1, 2], [2, 2], [2, 1], [1, 0])", [4, 4])
        >>> drawing.svg[:4], drawing
        ('<svg', <Drawing: blocked over 4x4>)
    """
    expect("view", view, str, type(None))
    expect("color_by", color_by, str, type(None))
    expect("access", access, str)
    if view is not None and view not in VIEWS:
        raise LayoutError(f"unknown view {quoted(view)}; choose from {', '.join(VIEWS)}")
    lanes = threads_per_warp
    layouts = [_titled(placed) for placed in _placed(layout, other, shape_or_type, release, lanes)]
    drawn = [
        DrawnLayout(placed) if selection is None else DrawnLayout(placed, selection)
        for placed in layouts
    ]
    name = target.name if isinstance(target, Target) else target
    figure = drawn_figure(
        *drawn, view=view, color_by=color_by, target=name, access=access, axis=axis
    )
    return Drawing(figure, _title(layouts))


def explore(
    layout: Layout,
    other: Layout | ShapeOrType,
    shape_or_type: ShapeOrType | None = None,
    *,
    target: Target | str | None = None,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> Page:
    """Return the page of one or two layouts, in which they can be explored and edited.

    Args:
        layout: text in any notation, or an object.
        other: another layout, which is compared with the first, or the tensor.
        shape_or_type: the tensor.
        target: the GPU that the page starts with.
        release, threads_per_warp: as for `parse_layout`.

    Raises:
        LayoutError: a layout does not fit the tensor, or is too large for a browser.

    Example:
        >>> explore("(2,2):(1,2)", "4xf16")
        <Page: linear over 4xf16>
    """
    from tt_layout.page.dump import page_of

    lanes = lanes_of(target, threads_per_warp)
    layouts = _placed(layout, other, shape_or_type, release, lanes)
    names = ["layout"] if len(layouts) == 1 else ["before", "after"]
    chosen = gpu(target).name if target is not None else None
    return Page(page_of(dict(zip(names, layouts)), chosen), _title(layouts))


def playground() -> Page:
    """Return the page in which layouts of any notation are typed, viewed, compared and shared.

    Example:
        >>> playground()
        <Page: playground>
    """
    from tt_layout.page.playground import playground as text_of_page

    return Page(text_of_page(), "playground")


def _placed(
    layout: Layout,
    other: Layout | ShapeOrType,
    shape_or_type: ShapeOrType | None,
    release: Release | str | None,
    lanes: int | None,
) -> list[PlacedLayout]:
    """Return the layouts over the tensor, which is the last argument."""
    named = {"<layout>": layout}
    if shape_or_type is None:
        shape_or_type = other
    else:
        named["<other>"] = other
    return [
        place(item, shape_or_type, name=name, release=release, threads_per_warp=lanes)
        for name, item in named.items()
    ]


def _titled(placed: PlacedLayout) -> PlacedLayout:
    """Return a placed layout whose figure has its shape as title if no type was passed."""
    if placed.tensor.element_type != UNKNOWN_ELEMENT:
        return placed
    sizes = "x".join(map(str, placed.tensor.shape))
    span = Source(sizes, "<shape>").span(0, len(sizes))
    return replace(placed, tensor=placed.tensor._replace(span=span))


def _title(layouts: list[PlacedLayout]) -> str:
    names = " and ".join(placed.encoding.mnemonic for placed in layouts)
    sizes = "x".join(map(str, layouts[0].tensor.shape))
    has_width = layouts[0].element_bits is not None
    return f"{names} over {sizes}{f'x{layouts[0].tensor.element_type}' if has_width else ''}"
