"""PNG and PDF as they are seen: every cell has its colour, and every text is there.

The typefaces of both differ, so that no pixels of one are compared with those of the other; each is
held against the layout of the figure.  PDF is rendered in the slow tier where pypdfium2 is
installed, with the extra ``dev``, and otherwise left out.
"""

from __future__ import annotations

import runpy
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from tiers import slow

import tt_layout.figures.pdf
from tt_layout.cli.main import main
from tt_layout.colour import CELLS, MARK, PAGE, rgb
from tt_layout.figures.model import NOTHING, Figure
from tt_layout.figures.page_layout import (
    MIN_LINES,
    FigureLayout,
    PlacedGrid,
    lay_out_figure,
)
from tt_layout.figures.pdf import ADVANCE, to_pdf
from tt_layout.figures.png import to_png

GALLERY = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "gallery" / "make.py"))
FORMATS = ["png"] + ["pdf"] * (find_spec("pypdfium2") is not None)
KINDS = "blocked-tensor", "mma-v2", "padded-banks", "conflicts", "wgmma-overview"
SCALE = 2  # pixels of a picture for each of the layout
INSET = 3  # pixels from the edge of a cell, within its lines and outlines
TOLERANCE = 4  # of a channel: colours are written with three digits
DARK = 150  # a text is darker than this somewhere, and each fill of a cell without one lighter

Pixels = npt.NDArray[np.uint8]


def rendered_png(figure: Figure) -> Pixels:
    image = Image.open(BytesIO(to_png(figure))).convert("RGB")
    layout = lay_out_figure(figure)
    return np.asarray(image.resize((layout.width * SCALE, layout.height * SCALE)))


def rendered_pdf(figure: Figure) -> Pixels:
    pdfium: Any = import_module("pypdfium2")
    document = pdfium.PdfDocument(to_pdf(figure))
    [page] = document
    found = page.render(scale=SCALE / 0.75).to_pil().convert("RGB")
    page.close()
    document.close()
    layout = lay_out_figure(figure)
    assert abs(found.width - layout.width * SCALE) <= 1
    assert abs(found.height - layout.height * SCALE) <= 1
    return np.asarray(found)


RENDERED = {"png": rendered_png, "pdf": rendered_pdf}


def figure_named(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Figure:
    """Return the figure of the gallery that the command would write."""
    figures: list[Figure] = []

    def kept(figure: Figure, fit: str = "none") -> bytes:
        figures.append(figure)
        return b""

    monkeypatch.setattr(tt_layout.figures.pdf, "to_pdf", kept)
    with pytest.raises(SystemExit) as ended:
        main(["plot", *GALLERY["FIGURES"][name], "-o", str(folder / "a.pdf")])
    assert not ended.value.code
    return figures[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "name"),
    [
        (ending, name) if ending == "png" and name in KINDS else slow(ending, name)
        for ending in FORMATS
        for name in GALLERY["FIGURES"]
    ],
)
def test_cells_have_their_colours_and_texts_are_there(
    ending: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = figure_named(name, tmp_path, monkeypatch)
    layout, pixels = lay_out_figure(figure), RENDERED[ending](figure)
    for placed in layout.grids:
        check_cells(placed, pixels)
        if placed.grid.labels is not None:
            check_labels(placed, pixels)
    check_texts(layout, pixels)


@pytest.mark.parametrize("ending", ["png", *(slow(one) for one in FORMATS[1:])])
def test_marked_cells_are_outlined_and_no_others(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = figure_named("conflicts", tmp_path, monkeypatch)
    pixels = RENDERED[ending](figure)
    [placed] = lay_out_figure(figure).grids
    marks = placed.grid.marks
    assert marks is not None
    left = (placed.x + placed.width * np.arange(marks.shape[1])) * SCALE
    top = (placed.y + placed.height * np.arange(marks.shape[0])) * SCALE
    colours = [
        pixels[np.ix_(top + y * SCALE, left + x * SCALE)].astype(int)
        for x, y in ((1, 4), (placed.width - 1, 4), (4, 1), (4, placed.height - 1))
    ]
    is_drawn = [(abs(colour - rgb(MARK)) <= TOLERANCE).all(-1) for colour in colours]
    assert marks.any()
    assert not marks.all()
    for side in is_drawn:
        assert side.tolist() == marks.tolist()


def check_cells(placed: PlacedGrid, pixels: Pixels) -> None:
    """Hold the corners of cells against their colours; of small cells those within a colour."""
    grid = placed.grid
    rows, columns = grid.shape
    is_small = min(placed.width, placed.height) < MIN_LINES
    inset = min(placed.width, placed.height) / 2 if is_small else INSET
    down = (placed.y + np.arange(rows) * placed.height + inset) * SCALE
    across = (placed.x + np.arange(columns) * placed.width + inset) * SCALE
    found = pixels[down.astype(int)[:, np.newaxis], across.astype(int)].astype(int)
    fills = np.array([rgb(PAGE), *map(rgb, CELLS)])
    wanted = fills[np.where(grid.colours < 0, 0, grid.colours + 1)]
    is_far = np.abs(found - wanted).max(axis=2) > TOLERANCE
    is_checked = grid.colours != NOTHING
    if is_small:  # whose edges a renderer blends
        is_checked &= is_inside(grid.colours)
    assert is_checked.sum() >= 0.2 * (grid.colours != NOTHING).sum()
    assert not (is_far & is_checked).any()


def is_inside(colours: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Tell of each cell whether those around it have its colour; those at the frame lie outside."""
    around = np.pad(colours, 1, constant_values=NOTHING)
    shifted = [around[1:-1, :-2], around[1:-1, 2:], around[:-2, 1:-1], around[2:, 1:-1]]
    found: npt.NDArray[np.bool_] = np.logical_and.reduce([colours == one for one in shifted])
    return found


def check_labels(placed: PlacedGrid, pixels: Pixels) -> None:
    """Look for ink in each cell with a label, for hatching in what is empty, else for nothing."""
    for row, texts in enumerate(placed.grid.labels or ()):
        for column, text in enumerate(texts):
            x, y = placed.x + column * placed.width, placed.y + row * placed.height
            area = part_of(pixels, x + INSET, y + INSET, placed.width, placed.height, INSET)
            if text:
                assert luminance(area).min() < 60, (row, column, text)
            elif placed.grid.colours[row, column] == NOTHING:
                assert is_rising(luminance(area)), (row, column)
            else:
                assert np.ptp(luminance(area)) <= TOLERANCE, (row, column)


def is_rising(hatching: npt.NDArray[np.float64]) -> bool:
    """Tell whether the lines of a hatching rise to the right."""
    to_right = np.abs(hatching[1:, :-1] - hatching[:-1, 1:]).mean()
    to_left = np.abs(hatching[:-1, :-1] - hatching[1:, 1:]).mean()
    return bool(to_right < to_left / 2)


def check_texts(layout: FigureLayout, pixels: Pixels) -> None:
    """Look for ink along all of each text."""
    for text in layout.texts:
        step = text.size * ADVANCE
        width = len(text.text) * step
        left = text.x - {"middle": width / 2, "end": width}.get(text.anchor, 0)
        for place, character in enumerate(text.text):
            if character.isalnum():
                area = part_of(
                    pixels, left + place * step - 1, text.y - text.size, step + 4, text.size + 4, 0
                )
                assert luminance(area).min() < DARK, (text.text, character)


def part_of(pixels: Pixels, x: float, y: float, width: float, height: float, inset: int) -> Pixels:
    top, left = int(y * SCALE), max(0, int(x * SCALE))
    bottom, right = int((y + height - 2 * inset) * SCALE), int((x + width - 2 * inset) * SCALE)
    return pixels[top:bottom, left:right]


def luminance(pixels: Pixels) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = pixels @ np.array([0.2126, 0.7152, 0.0722])
    return found
