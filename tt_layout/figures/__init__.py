"""Figures of layouts: holders, storage, and changes.

A figure is made in three steps, each independent of the next:

    drawn          the cells of a layout, as whole arrays
    tensor, view, banks, swizzle, sectors, copying, mma, matrix, compare
                   what is shown: grids of numbered colours and labels (`model`)
    page_layout    where everything stands on the page, in whole pixels
    svg, png, pdf  the file
"""

from __future__ import annotations

from tt_layout.figures.model import Figure, Grid
from tt_layout.figures.svg import to_svg

__all__ = ["Figure", "Grid", "to_svg"]
