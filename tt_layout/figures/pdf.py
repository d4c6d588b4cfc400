"""Figures as PDF, with the layout of the SVG: one page of vectors.

Text is in Courier, which every reader has, with the character width of the other formats.  Cells
without labels are an image with one pixel per cell, which readers enlarge.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.colour import EMPTY, INK, MARK, PAGE, RULE, rgb
from tt_layout.figures.model import NOTHING, Figure, runs
from tt_layout.figures.page_layout import (
    MIN_LINES,
    FigureLayout,
    PlacedGrid,
    Text,
    lay_out_figure,
    scale_to_fit,
)
from tt_layout.safe_text import safe

POINTS = 0.75  # of a pixel
ADVANCE = 0.6  # of Courier, in font sizes
CAPITAL = 0.36  # from the baseline to the middle of a line, in font sizes
LINE_WIDTH = 0.5
FIRST_FILL = 2
_HEAD = b"%PDF-1.4\n%tt-layout\n"  # with the comment by which `plot` knows its own files
HATCH = (
    b"<</Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 6 6]/XStep 6/YStep 6"
    b"/Resources<<>>"
)


def to_pdf(figure: Figure, fit: str = "none") -> bytes:
    """Return a figure as the bytes of a PDF file.

    Args:
        figure: the figure.
        fit: as for `tt_layout.figures.page_layout.scale_to_fit`.

    Example:
        >>> from tt_layout.figures.model import Figure, Grid
        >>> to_pdf(Figure(("t",), (Grid(np.array([[0, 1]]), [["a", "b"]]),)))[:8]
        b'%PDF-1.4'
    """
    layout = lay_out_figure(figure, fit)
    scale = POINTS * scale_to_fit(layout, fit)
    size = f"{layout.width * scale:.2f} {layout.height * scale:.2f}"
    images = [number for number, p in enumerate(layout.grids) if p.grid.labels is None]
    names = "".join(f"/I{number} {7 + at} 0 R" for at, number in enumerate(images))
    hatch = f"{_colour(EMPTY)} rg 0 0 6 6 re f {_colour(RULE)} RG 0.5 w 0 0 m 6 6 l S".encode()
    content = "\n".join(_content(layout, scale)).encode("latin-1", "replace")
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {size}]/Contents 4 0 R/Resources<</Font"
        f"<</F 5 0 R/B 6 0 R>>/Pattern<</H {7 + len(images)} 0 R>>/XObject<<{names}>>>>>>".encode(),
        _stream(b"<<", content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Courier-Bold/Encoding/WinAnsiEncoding>>",
        *(_image(layout.grids[number].grid.colours, layout.fills) for number in images),
        _stream(HATCH, hatch),
    ]
    return _file(objects)


def _stream(head: bytes, content: bytes) -> bytes:
    """Return a compressed stream object, given the beginning of its dictionary."""
    packed = zlib.compress(content)
    end = b"/Filter/FlateDecode/Length %d>>" % len(packed)
    return head + end + b"\nstream\n" + packed + b"\nendstream"


def _file(objects: list[bytes]) -> bytes:
    """Return the file of some objects, of which the first is the root."""
    parts, size, offsets = [_HEAD], len(_HEAD), []
    for number, body in enumerate(objects, 1):
        offsets.append(size)
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, body))
        size += len(parts[-1])
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, table))
    parts.append(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (count, size))
    return b"".join(parts)


def _image(colours: Ints, fills: Sequence[str]) -> bytes:
    """Return an image with one pixel per cell."""
    table = b"".join(bytes(rgb(fill)) for fill in (PAGE, EMPTY, *fills)).hex().encode()
    rows, columns = colours.shape
    head = b"<</Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8" % (columns, rows)
    head += b"/ColorSpace[/Indexed/DeviceRGB %d<%b>]" % (len(fills) + FIRST_FILL - 1, table)
    indices = np.where(colours < 0, 0, FIRST_FILL + colours)
    return _stream(head, np.where(colours == NOTHING, 1, indices).astype(np.uint8).tobytes())


def _colour(colour: str) -> str:
    return " ".join(f"{part / 255:.3g}" for part in rgb(colour))


def _content(layout: FigureLayout, scale: float) -> Iterator[str]:
    """Yield the drawing commands, in pixels from the upper left corner."""
    yield f"{scale:.5f} 0 0 {-scale:.5f} 0 {layout.height * scale:.2f} cm"
    for number, placed in enumerate(layout.grids):
        yield from _grid(placed, f"/I{number}", layout.fills)
    yield f"{LINE_WIDTH} w {_colour(RULE)} RG"
    for swatch in layout.swatches:
        yield f"{_fill(swatch.number, layout.fills)} {swatch.x} {swatch.y} 12 12 re B"
    yield from map(_text, layout.texts)


def _fill(number: int, fills: Sequence[str]) -> str:
    """Return the operator that sets the fill of a cell."""
    if number == NOTHING:
        return "/Pattern cs /H scn"
    return f"{_colour(PAGE if number < 0 else fills[number])} rg"


def _grid(placed: PlacedGrid, image: str, fills: Sequence[str]) -> Iterator[str]:
    (width, height), grid = placed.size, placed.grid
    yield f"q 1 0 0 1 {placed.x} {placed.y} cm"
    if grid.labels is None:
        yield f"q {width} 0 0 {-height} 0 {height} cm {image} Do Q"
    else:
        for row, colours in enumerate(grid.colours):
            yield from _runs(colours, row * placed.height, placed, fills)
    yield from _lines(placed)
    if grid.marks is not None:
        yield f"2 w {_colour(MARK)} RG"
        for row, column in np.argwhere(grid.marks).tolist():
            x, y = column * placed.width + 1, row * placed.height + 1
            yield f"{x} {y} {placed.width - 2} {placed.height - 2} re S"
    yield from _labels(placed)
    yield "Q"


def _runs(colours: Ints, y: int, placed: PlacedGrid, fills: Sequence[str]) -> Iterator[str]:
    """Yield a rectangle for each run of cells of one colour."""
    for start, stop in runs(colours):
        x, width = start * placed.width, (stop - start) * placed.width
        yield f"{_fill(int(colours[start]), fills)} {x} {y} {width} {placed.height} re f"


def _lines(placed: PlacedGrid) -> Iterator[str]:
    """Yield thin lines between cells, strong ones between groups, and the frame."""
    (width, height), grid = placed.size, placed.grid
    rows, columns = grid.shape
    steps = [(0.2, 1, 1)] if min(placed.width, placed.height) >= MIN_LINES else []
    strong = 0.8 * grid.step_width
    for line, down, across in [*steps, (strong, grid.row_step, grid.column_step)]:
        yield f"{line:g} w {_colour(RULE if line < 1 else INK)} RG"
        for row in range(down, rows, down) if down else ():
            yield f"0 {row * placed.height} m {width} {row * placed.height} l S"
        for column in range(across, columns, across) if across else ():
            yield f"{column * placed.width} 0 m {column * placed.width} {height} l S"
    yield f"0.8 w {_colour(RULE)} RG 0 0 {width} {height} re S"


def _labels(placed: PlacedGrid) -> Iterator[str]:
    size = placed.label_size
    for labels, below in placed.lines:
        for row, texts in enumerate(labels):
            y = (row + 0.5) * placed.height + size * CAPITAL + below
            for column, text in enumerate(texts):
                if text:
                    x = (column + 0.5) * placed.width
                    yield _text(Text(x, y, text, size, "middle", INK))


def _text(text: Text) -> str:
    shown = safe(text.text)
    width = len(shown) * text.size * ADVANCE
    left = text.x - {"middle": width / 2, "end": width}.get(text.anchor, 0)
    escaped = shown.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    font = f"/{'B' if text.bold else 'F'} {text.size} Tf"
    return (
        f"BT {_colour(text.colour)} rg {font} 1 0 0 -1 {left:.2f} {text.y:.2f} Tm ({escaped}) Tj ET"
    )
