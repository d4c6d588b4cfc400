"""A figure as PNG, drawn with Pillow from the same page_layout as the SVG.

The picture has at most sixteen fills and sixteen shades of ink on each: 256 colours, one byte
per pixel.  Labels are stamped for all cells at once, character by character.

Needs the extra ``png``: ``pip install 'tt-layout[png]'``.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.colour import CELLS, EMPTY, INK, MARK, PAGE, rgb
from tt_layout.errors import LayoutError
from tt_layout.figures.model import NOTHING, Figure
from tt_layout.figures.page_layout import ADVANCE, LABEL, FigureLayout, PlacedGrid, lay_out_figure
from tt_layout.figures.svg import MIN_LINES

Pixels = npt.NDArray[np.uint8]

FILLS = (PAGE, EMPTY, MARK, *CELLS)
PAGE_FILL, EMPTY_FILL, MARK_FILL, FIRST_FILL = 0, 1, 2, 3
SHADES = 16
LINE_SHADE, FRAME_SHADE = 4, 10
LARGE = 1 << 21  # pixels; smaller figures are drawn at twice the size


def to_png(figure: Figure) -> bytes:
    """Return a figure as the bytes of a PNG file.

    Raises:
        LayoutError: Pillow is not installed.
    """
    image = _pillow("Image")
    page_layout = lay_out_figure(figure)
    scale = 2 if page_layout.width * page_layout.height <= LARGE else 1
    canvas = _Canvas(page_layout, scale)
    canvas.draw()
    picture = image.fromarray(canvas.fills * SHADES + canvas.ink).convert("L")
    picture.putpalette(_palette())
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=3, dpi=(96 * scale, 96 * scale))
    return file.getvalue()


def _pillow(name: str) -> Any:
    """Return a module of Pillow.

    Raises:
        LayoutError: it is not installed.
    """
    try:
        return import_module(f"PIL.{name}")
    except ImportError:
        message = "PNG figures need Pillow: pip install 'tt-layout[png]'"
        raise LayoutError(f"{message}; or write an .svg") from None


def _palette() -> bytes:
    """Return the colours by fill and shade."""
    ink = np.array(rgb(INK))
    shades = np.arange(SHADES)[:, None] / (SHADES - 1)
    ramps = [np.array(rgb(fill)) * (1 - shades) + ink * shades for fill in FILLS]
    colours: Pixels = np.concatenate(ramps).round().astype(np.uint8)
    return colours.tobytes()


class _Canvas:
    """Fills and ink of every pixel."""

    def __init__(self, page_layout: FigureLayout, scale: int) -> None:
        size = page_layout.height * scale, page_layout.width * scale
        self.page_layout, self.scale = page_layout, scale
        self.fills: Pixels = np.zeros(size, np.uint8)
        self.ink: Pixels = np.zeros(size, np.uint8)

    def draw(self) -> None:
        """Draw everything."""
        for placed in self.page_layout.grids:
            self._grid(placed)
        for swatch in self.page_layout.swatches:
            area = self._area(swatch.x, swatch.y, 12, 12)
            self.ink[area] = FRAME_SHADE
            inner = self._area(swatch.x + 1, swatch.y + 1, 10, 10)
            self.ink[inner] = 0
            self.fills[area] = _fills(np.array([swatch.number]))[0]
        self._texts()

    def _area(self, x: int, y: int, width: int, height: int) -> tuple[slice, slice]:
        s = self.scale
        return slice(y * s, (y + height) * s), slice(x * s, (x + width) * s)

    def _grid(self, placed: PlacedGrid) -> None:
        grid, scale = placed.grid, self.scale
        width, height = placed.width * scale, placed.height * scale
        area = self._area(placed.x, placed.y, *placed.size)
        cells = _fills(grid.colours)
        self.fills[area] = cells.repeat(height, axis=0).repeat(width, axis=1)
        ink = self.ink[area]
        if min(placed.width, placed.height) >= MIN_LINES:
            ink[::height] = ink[:, ::width] = LINE_SHADE
        if grid.row_step:
            ink[:: grid.row_step * height] = FRAME_SHADE
        if grid.column_step and placed.width * grid.column_step >= MIN_LINES:
            ink[:, :: grid.column_step * width] = FRAME_SHADE
        ink[0] = ink[-1] = FRAME_SHADE
        ink[:, 0] = ink[:, -1] = FRAME_SHADE
        if grid.marks is not None:
            self._marks(placed, area)
        if grid.labels is not None:
            self._labels(grid.labels, ink, width, height)

    def _marks(self, placed: PlacedGrid, area: tuple[slice, slice]) -> None:
        fills, ink, scale = self.fills[area], self.ink[area], self.scale
        assert placed.grid.marks is not None
        width, height, thick = placed.width * scale, placed.height * scale, 2 * scale
        for row, column in np.argwhere(placed.grid.marks).tolist():
            cell = (
                slice(row * height, (row + 1) * height),
                slice(column * width, (column + 1) * width),
            )
            edge = np.ones((height, width), bool)
            edge[thick:-thick, thick:-thick] = False
            fills[cell][edge] = MARK_FILL
            ink[cell][edge] = 0

    def _labels(self, labels: list[list[str]], ink: Pixels, width: int, height: int) -> None:
        """Stamp all labels of the same length together, one character after the other."""
        size = LABEL * self.scale
        texts = np.array(labels, dtype=np.bytes_)
        lengths = np.char.str_len(texts)
        codes = texts.view(np.uint8).reshape(*texts.shape, -1)
        stamps = _stamps(size)
        top = (height - stamps.shape[1]) // 2
        rows, columns = texts.shape
        view = ink.reshape(rows, height, columns, width)
        for length in np.unique(lengths[lengths > 0]).tolist():
            left = (width - length * size * ADVANCE) / 2
            which_rows, which_columns = np.nonzero(lengths == length)
            for place in range(length):
                x = round(left + place * size * ADVANCE)
                box = view[:, top : top + stamps.shape[1], :, x : x + stamps.shape[2]]
                stamped = stamps[codes[which_rows, which_columns, place]]
                box[which_rows, :, which_columns] = np.maximum(
                    box[which_rows, :, which_columns], stamped
                )

    def _texts(self) -> None:
        image, drawing = _pillow("Image"), _pillow("ImageDraw")
        mask = image.new("L", self.ink.shape[::-1])
        draw = drawing.Draw(mask)
        for text in self.page_layout.texts:
            place = text.x * self.scale, text.y * self.scale
            anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
            shade = 255 if text.colour == INK else 180
            draw.text(place, text.text, shade, font=_font(text.size * self.scale), anchor=anchor)
        written = np.asarray(mask) // SHADES
        np.maximum(self.ink, written.astype(np.uint8), out=self.ink)


def _fills(colours: Ints) -> Pixels:
    """Return the fill of each number of a colour."""
    found = np.where(colours < 0, PAGE_FILL, FIRST_FILL + colours % len(CELLS))
    return np.where(colours == NOTHING, EMPTY_FILL, found).astype(np.uint8)


def _font(size: int) -> Any:
    return _pillow("ImageFont").load_default(size)


def _stamps(size: int) -> Pixels:
    """Return the shades of the printable characters, each in a box of the same width."""
    image, drawing = _pillow("Image"), _pillow("ImageDraw")
    font, width, height = _font(size), round(size * ADVANCE), round(size * 1.2)
    stamps = np.zeros((128, height, width), np.uint8)
    for code in range(33, 127):
        mask = image.new("L", (width, height))
        drawing.Draw(mask).text((width / 2, height * 0.82), chr(code), 255, font=font, anchor="ms")
        stamps[code] = np.asarray(mask) // SHADES
    return stamps
