"""Conversion of texts and objects to layout attributes and linear layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.library.inputs import Layout, place, read
from tt_layout.releases import Release

if TYPE_CHECKING:
    from tt_layout.mlir.types import ShapeOrType


def parse_layout(
    layout: Layout,
    shape_or_type: ShapeOrType | None = None,
    *,
    release: str | Release | None = None,
    name: str = "<layout>",
    threads_per_warp: int | None = None,
) -> Encoding:
    """Return the layout attribute of a text or an object.

    Args:
        layout: an attribute such as ``#ttg.blocked<{...}>`` in the spelling of any release since
            2022, or any other notation of ``docs/notations.md``; an object of Gluon, of
            ``triton.tools.LinearLayout``, or of CuTe.
        shape_or_type: the tensor, which CuTe notation and some others need.
        release: whose rules hold, such as ``"3.5"``.  By default the newest release that
            knows every key of the text; and then a missing key is an error even where
            that release would read its absence as 0.
        name: what messages call the text.
        threads_per_warp: lanes of a warp, for notations that only count threads; 32 by default.

    Raises:
        LayoutError: it is not a layout, or breaks a rule; ``str`` of the error shows where.

    Example:
        >>> print(parse_layout("#ttg.swizzled_shared<{order=[0], vec=8, perPhase=1, maxPhase=8}>"))
        #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0]}>
        >>> print(parse_layout("(2,2):(1,2)", "4xf16"))
        #ttg.linear<{register = [[2]], lane = [[1]], warp = [], block = []}>
    """
    return read(
        layout, shape_or_type, name=name, release=release, threads_per_warp=threads_per_warp
    )


def to_linear_layout(
    layout: Layout,
    shape_or_type: ShapeOrType,
    *,
    release: Release | str | None = None,
    threads_per_warp: int | None = None,
) -> LinearLayout:
    """Return the linear layout of a layout over a tensor.

    Args:
        layout: text in any notation, or an object.
        shape_or_type: the tensor; of a multi-buffered memdesc, one buffer is meant.
        release, threads_per_warp: as for `parse_layout`.

    Returns:
        From ``register, lane, warp, block``, or ``offset, block``, or ``row, col, block``, to
        ``dim0, dim1, ...``.

    Raises:
        LayoutError: it is not a layout, or does not fit the tensor.

    Example:
        >>> to_linear_layout("gl.SwizzledSharedLayout(1, 1, 2, [1, 0])", [2, 2]).bases[0]
        ('offset', [[0, 1], [1, 1]])
    """
    return place(layout, shape_or_type, release=release, threads_per_warp=threads_per_warp).layout
