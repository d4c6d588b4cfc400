"""Figures as PNG, drawn with Pillow in the layout of the SVG.

The picture has at most 256 colours, one byte per pixel: its fills, each with several shades of ink.
Labels are stamped for all cells at once, character by character.

Needs the extra ``png``: ``pip install 'tt-layout[png]'``.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.colour import EMPTY, INK, MARK, PAGE, rgb
from tt_layout.errors import LayoutError
from tt_layout.figures.model import NOTHING, Figure
from tt_layout.figures.page_layout import (
    ADVANCE,
    MIN_LINES,
    FigureLayout,
    PlacedGrid,
    lay_out_figure,
    scale_to_fit,
)

Pixels = npt.NDArray[np.uint8]

FIRST_FILLS = (PAGE, EMPTY, MARK)
PAGE_FILL, EMPTY_FILL, MARK_FILL = range(3)
MAX_SHADES = 16
LINE_SHADE, FRAME_SHADE = 1 / 4, 2 / 3  # of the darkest ink
FONT_FILES = (
    ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf", 0),
    ("Menlo.ttc", "Menlo.ttc", 1),
    ("consola.ttf", "consolab.ttf", 0),
    ("LiberationMono-Regular.ttf", "LiberationMono-Bold.ttf", 0),
)
"""The typefaces of the SVG in their order: file, that of bold text, and which of its faces."""
HATCH = 6  # pixels from one line of a hatching to the next
LEAST_LABEL = 5  # pixels of labels that can be read
LARGE = 1 << 21  # pixels; smaller figures are drawn at twice the size


def to_png(figure: Figure, fit: str = "none") -> bytes:
    """Return a figure as the bytes of a PNG file.

    Args:
        figure: the figure.
        fit: as for `tt_layout.figures.page_layout.scale_to_fit`.

    Raises:
        LayoutError: Pillow is not installed.
    """
    image = _pillow("Image")
    page_layout = lay_out_figure(figure, fit)
    scale = 2 if page_layout.width * page_layout.height <= LARGE else 1
    canvas = Canvas(page_layout, scale)
    canvas.draw()
    picture = image.fromarray(canvas.fills * np.uint8(canvas.shades) + canvas.ink).convert("L")
    picture.putpalette(_palette([page_layout.fills[n] for n in canvas.used], canvas.shades))
    smaller = scale_to_fit(page_layout, fit)
    if smaller < 1:
        size = (
            round(page_layout.width * smaller * scale),
            round(page_layout.height * smaller * scale),
        )
        picture = picture.convert("RGB").resize(size, image.Resampling.LANCZOS).quantize(256)
    file = io.BytesIO()
    dpi = (96 * scale, 96 * scale)
    text = _pillow("PngImagePlugin").PngInfo()
    text.add_text("Software", "tt-layout")
    picture.save(file, "PNG", compress_level=3, dpi=dpi, pnginfo=text)
    return file.getvalue()


def _pillow(name: str) -> Any:
    """Import a module of Pillow.

    Raises:
        LayoutError: it is not installed.
    """
    try:
        return import_module(f"PIL.{name}")
    except ImportError:
        message = "PNG figures need Pillow: pip install 'tt-layout[png]'"
        raise LayoutError(f"{message}; or write an .svg") from None


def _palette(used: list[str], count: int) -> bytes:
    """Return the colours by fill and shade."""
    ink = np.array(rgb(INK))
    shades = np.arange(count)[:, None] / (count - 1)
    fills = *FIRST_FILLS, *used
    ramps = [np.array(rgb(fill)) * (1 - shades) + ink * shades for fill in fills]
    colours: Pixels = np.concatenate(ramps).round().astype(np.uint8)
    return colours.tobytes()


class Canvas:
    """Fills and ink of every pixel.

    Attributes:
        used: palette indices of the colours in the figure.
        shades: number of shades of ink on each.
    """

    def __init__(self, page_layout: FigureLayout, scale: int) -> None:
        size = page_layout.height * scale, page_layout.width * scale
        self.page_layout, self.scale = page_layout, scale
        numbers = [np.unique(placed.grid.colours) for placed in page_layout.grids]
        numbers += [np.array([swatch.number]) for swatch in page_layout.swatches]
        self.used: list[int] = [n for n in np.unique(np.concatenate(numbers)).tolist() if n >= 0]
        self.shades = min(MAX_SHADES, 256 // (len(FIRST_FILLS) + len(self.used)))
        self.line, self.frame = (round((self.shades - 1) * s) for s in (LINE_SHADE, FRAME_SHADE))
        self.fills: Pixels = np.zeros(size, np.uint8)
        self.ink: Pixels = np.zeros(size, np.uint8)

    def draw(self) -> None:
        """Draw everything."""
        for placed in self.page_layout.grids:
            self._grid(placed)
        for swatch in self.page_layout.swatches:
            area = self._area(swatch.x, swatch.y, 12, 12)
            self.ink[area] = self.frame
            inner = self._area(swatch.x + 1, swatch.y + 1, 10, 10)
            self.ink[inner] = 0
            self.fills[area] = self._fills(np.array([swatch.number]))[0]
            if swatch.number == NOTHING:
                self.ink[inner] = self._hatch(self.ink[inner].shape)
        self._texts()

    def _area(self, x: int, y: int, width: int, height: int) -> tuple[slice, slice]:
        s = self.scale
        return slice(y * s, (y + height) * s), slice(x * s, (x + width) * s)

    def _grid(self, placed: PlacedGrid) -> None:
        grid, scale = placed.grid, self.scale
        width, height = placed.width * scale, placed.height * scale
        area = self._area(placed.x, placed.y, *placed.size)
        cells = self._fills(grid.colours)
        self.fills[area] = cells.repeat(height, axis=0).repeat(width, axis=1)
        ink = self.ink[area]
        is_empty = self.fills[area] == EMPTY_FILL
        if is_empty.any():
            ink[is_empty] = self._hatch(ink.shape)[is_empty]
        if min(placed.width, placed.height) >= MIN_LINES:
            ink[::height] = ink[:, ::width] = self.line
        if grid.row_step:
            self._steps(ink, grid.row_step * height, grid.step_width)
        if grid.column_step and placed.width * grid.column_step >= MIN_LINES:
            self._steps(ink.T, grid.column_step * width, grid.step_width)
        ink[0] = ink[-1] = self.frame
        ink[:, 0] = ink[:, -1] = self.frame
        if grid.marks is not None:
            self._marks(placed, area)
        for labels, below in placed.lines if placed.label_size * scale >= LEAST_LABEL else ():
            self._labels(labels, ink, (width, height), placed.label_size, below)

    def _steps(self, ink: Pixels, step: int, width: int) -> None:
        """Draw lines over the rows of an area, ``step`` pixels apart."""
        thick = 1 if width == 1 else width * self.scale
        for start in range(step, len(ink), step):
            begin = start - thick // 2
            ink[begin : begin + thick] = self.frame if width == 1 else self.shades - 1

    def _fills(self, colours: Ints) -> Pixels:
        """Return the fill of each colour."""
        places = np.searchsorted(np.array(self.used), colours)
        indices = np.where(colours < 0, PAGE_FILL, len(FIRST_FILLS) + places)
        return np.where(colours == NOTHING, EMPTY_FILL, indices).astype(np.uint8)

    def _hatch(self, shape: tuple[int, ...]) -> Pixels:
        """Return the ink of empty cells."""
        y, x = np.ogrid[: shape[0], : shape[1]]
        is_line = (x + y) % (HATCH * self.scale) < self.scale
        return np.where(is_line, self.line, 0).astype(np.uint8)

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

    def _labels(
        self,
        labels: list[list[str]],
        ink: Pixels,
        cell: tuple[int, int],
        label_size: float,
        below: float,
    ) -> None:
        """Stamp all labels of one length together, character by character."""
        (width, height), size = cell, int(label_size * self.scale)
        texts = np.array(labels, dtype=np.bytes_)
        lengths = np.char.str_len(texts)
        codes = texts.view(np.uint8).reshape(*texts.shape, -1)
        stamps = _stamps(size, self.shades)
        top = (height - stamps.shape[1]) // 2 + round(below * self.scale)
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
            font = _font(round(text.size * self.scale), is_bold=text.bold)
            draw.text(place, text.text, shade, font=font, anchor=anchor)
        written = np.asarray(mask).astype(np.int64) * self.shades // 256
        np.maximum(self.ink, written.astype(np.uint8), out=self.ink)


def _font(size: int, *, is_bold: bool = False) -> Any:
    """Return the first installed typeface of the SVG, or else Pillow's."""
    fonts = _pillow("ImageFont")
    for name, bold, face in FONT_FILES:
        try:
            return fonts.truetype(bold, size, face) if is_bold else fonts.truetype(name, size)
        except OSError:
            continue
    return fonts.load_default(size)


def _stamps(size: int, shades: int) -> Pixels:
    """Return the shades of the printable characters, in boxes of one width."""
    image, drawing = _pillow("Image"), _pillow("ImageDraw")
    font, width, height = _font(size), round(size * ADVANCE), round(size * 1.2)
    stamps = np.zeros((128, height, width), np.uint8)
    for code in range(33, 127):
        mask = image.new("L", (width, height))
        drawing.Draw(mask).text((width / 2, height * 0.82), chr(code), 255, font=font, anchor="ms")
        stamps[code] = np.asarray(mask).astype(np.int64) * shades // 256
    return stamps
