"""Lines, frames and labels of figures and of the page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_modules import NVMMA, PLAIN, TILE, module_of

from tt_layout import parse_layout
from tt_layout.audit.suggestions.buffers import swizzling_widths
from tt_layout.encodings.base import SharedEncoding
from tt_layout.figures.model import Grid
from tt_layout.figures.page_layout import FigureLayout, PlacedGrid
from tt_layout.figures.png import Canvas
from tt_layout.page.dump import used_layouts


def alloc(name: str) -> str:
    return f"    {name} = ttg.local_alloc : () -> {TILE}\n"


def test_only_layouts_of_matrix_instructions_have_other_widths() -> None:
    plain, matrix = (parse_layout(text) for text in (PLAIN, NVMMA.format(0, 16, "")))
    assert isinstance(plain, SharedEncoding)
    assert isinstance(matrix, SharedEncoding)
    assert list(swizzling_widths(plain)) == []
    found = [str(one) for one in swizzling_widths(matrix)]
    assert found == [NVMMA.format(width, 16, "") for width in (128, 64, 32)]


def test_a_page_has_a_layout_that_has_a_name_once() -> None:
    module = module_of(f"%0 = arith.constant dense<0.0> : tensor<32x64xf32, #rows>\n{alloc('%a')}")
    names = [(one.name[:5], one.line is None) for one in used_layouts(module, [])]
    assert names == [("#rows", False), ("swizz", True)]


@pytest.mark.parametrize(("width", "rows"), [(1, [0, 4, 8, 11]), (2, [0, *range(2, 10), 11])])
def test_lines_between_cells_are_as_thick_as_the_figure_has_it(width: int, rows: list[int]) -> None:
    grid = Grid(np.zeros((3, 2), int), row_step=1, step_width=width)
    canvas = Canvas(FigureLayout(4, 6, (PlacedGrid(grid, 0, 0, 2, 2),), (), ()), 2)
    canvas.draw()
    column = canvas.ink[:, 4]
    assert np.flatnonzero(column).tolist() == rows
    assert column[0] == column[-1] == canvas.frame
    assert column[4] == column[8] == (canvas.frame if width == 1 else canvas.shades - 1)


def test_frames_are_darker_than_lines() -> None:
    one = SimpleNamespace(height=1, width=1, grids=[], swatches=[SimpleNamespace(number=0)])
    figure: Any = one
    canvas = Canvas(figure, 1)
    assert (canvas.shades, canvas.line, canvas.frame) == (16, 4, 10)


def test_a_swatch_has_a_frame_of_the_size_that_the_page_leaves_for_it() -> None:
    swatch = SimpleNamespace(number=0, x=2, y=3)
    figure: Any = SimpleNamespace(height=20, width=20, grids=[], swatches=[swatch], texts=[])
    canvas = Canvas(figure, 1)
    canvas.draw()
    framed, filled = np.argwhere(canvas.ink == canvas.frame), np.argwhere(canvas.fills)
    for points in (framed, filled):
        assert (points.min(axis=0).tolist(), points.max(axis=0).tolist()) == ([3, 2], [14, 13])
    assert (len(framed), len(filled)) == (44, 144)
