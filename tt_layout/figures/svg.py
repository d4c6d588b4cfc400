"""Figures as SVG: small, with text that can be selected.

Repetitions are written once.  The colours of layouts repeat with a power of two as period, so a
grid is one tile, drawn as a pattern.  In a tile, neighbouring cells of one colour are one
rectangle, and repeated rows are references to the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.colour import EMPTY, INK, MARK, PAGE, RULE
from tt_layout.figures.model import NOTHING, PLAIN, Figure, period, runs
from tt_layout.figures.page_layout import (
    LABEL,
    MIN_LINES,
    FigureLayout,
    PlacedGrid,
    Text,
    lay_out_figure,
    scale_to_fit,
)
from tt_layout.safe_text import safe

FONT = "DejaVu Sans Mono,Menlo,Consolas,Liberation Mono,monospace"
HATCH = (
    '<pattern id="hatch" patternUnits="userSpaceOnUse" width="6" height="6">'
    f'<path fill="{EMPTY}" d="M0 0h6v6h-6z"/>'
    f'<path stroke="{RULE}" stroke-opacity=".5" d="M-1 1L1 -1M0 6L6 0M5 7L7 5"/></pattern>\n'
)


def to_svg(figure: Figure, fit: str = "none") -> str:
    """Return a figure as the text of an SVG file.

    Args:
        figure: the figure.
        fit: as for `tt_layout.figures.page_layout.scale_to_fit`.

    Example:
        >>> from tt_layout.figures.model import Figure, Grid
        >>> to_svg(Figure(("t",), (Grid(np.array([[0, 1]]), [["a", "b"]]),)))[:4]
        '<svg'
    """
    page_layout = lay_out_figure(figure, fit)
    scale = scale_to_fit(page_layout, fit)
    return "".join(_parts(page_layout, scale, safe(" ".join(figure.title)))) + "\n"


def _parts(page_layout: FigureLayout, scale: float, title: str) -> Iterator[str]:
    width, height = page_layout.width, page_layout.height
    size = f'width="{round(width * scale)}" height="{round(height * scale)}"'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} '
        f'viewBox="0 0 {width} {height}" font-family="{FONT}" font-size="{LABEL}">\n'
        f"<title>{_xml(title)}</title>\n"
        f'<rect width="{width}" height="{height}" fill="{PAGE}"/>\n'
    )
    if any((placed.grid.colours == NOTHING).any() for placed in page_layout.grids):
        yield HATCH
    for number, placed in enumerate(page_layout.grids):
        yield from _grid(placed, f"g{number}", page_layout.fills)
    for swatch in page_layout.swatches:
        yield (
            f'<rect x="{swatch.x}" y="{swatch.y}" width="12" height="12" '
            f'fill="{fill(swatch.number, page_layout.fills)}" stroke="{RULE}"/>\n'
        )
    yield from map(_text, page_layout.texts)
    yield "</svg>"


def _xml(text: str) -> str:
    """Return a text as XML content, without control characters."""
    return escape(safe(text), quote=False)


def fill(number: int, fills: Sequence[str]) -> str:
    """Return the fill of a coloured cell; empty cells are hatched."""
    if number == NOTHING:
        return "url(#hatch)"
    return PAGE if number == PLAIN else fills[number]


def _grid(placed: PlacedGrid, name: str, fills: Sequence[str]) -> Iterator[str]:
    width, height = placed.size
    tile = tile_of(placed.grid.colours)
    yield f'<g transform="translate({placed.x} {placed.y})">\n'
    body = "".join(_tile(tile, placed, name, fills))
    if tile.shape == placed.grid.shape:
        yield body
    else:
        rows, columns = tile.shape
        yield (
            f'<pattern id="{name}" patternUnits="userSpaceOnUse" '
            f'width="{columns * placed.width}" height="{rows * placed.height}">\n{body}</pattern>\n'
            f'<rect width="{width}" height="{height}" fill="url(#{name})"/>\n'
        )
    yield from _lines(placed, name)
    yield from _marks(placed)
    yield from _labels(placed)
    yield "</g>\n"


def tile_of(colours: Ints) -> Ints:
    """Return the smallest tile with sides of powers of two whose repetition gives all colours.

    Example:
        >>> tile_of(np.array([[0, 1, 0, 1], [0, 1, 0, 1]])).tolist()
        [[0, 1]]
    """
    for _ in range(2):
        colours = colours[: period(colours)].T
    return colours


def _tile(tile: Ints, placed: PlacedGrid, name: str, fills: Sequence[str]) -> Iterator[str]:
    """Yield the rectangles of a tile; repeated bands of equal rows are references."""
    width, height = placed.width, placed.height
    seen: dict[tuple[bytes, int], str] = {}
    bands = list(runs(tile))
    keys = [(tile[start].tobytes(), stop - start) for start, stop in bands]
    for (start, stop), key in zip(bands, keys):
        y = start * height
        if key in seen:
            yield f'<use href="#{seen[key]}" y="{y - int(seen[key].split("-")[1])}"/>\n'
            continue
        paths = _band(tile[start], y, (width, (stop - start) * height), fills)
        if keys.count(key) > 1:
            seen[key] = f"{name}-{y}"
            yield f'<g id="{seen[key]}">{"".join(paths)}</g>\n'
        else:
            yield "".join(paths) + "\n"


def _band(row: Ints, y: int, size: tuple[int, int], fills: Sequence[str]) -> Iterator[str]:
    """Yield a path per colour, with a rectangle per run of cells."""
    width, height = size
    paths: dict[int, list[str]] = {}
    for start, stop in runs(row):
        run = (stop - start) * width
        rectangle = f"M{start * width} {y}h{run}v{height}h-{run}z"
        paths.setdefault(int(row[start]), []).append(rectangle)
    for number, rectangles in paths.items():
        yield f'<path fill="{fill(number, fills)}" d="{"".join(rectangles)}"/>'


def _lines(placed: PlacedGrid, name: str) -> Iterator[str]:
    """Yield thin lines between cells, strong ones between groups, and the frame."""
    (width, height), grid = placed.size, placed.grid
    if min(placed.width, placed.height) >= MIN_LINES:
        yield (
            f'<pattern id="{name}l" patternUnits="userSpaceOnUse" width="{placed.width}" '
            f'height="{placed.height}"><path d="M0 {placed.height}V0H{placed.width}" fill="none" '
            f'stroke="{RULE}" stroke-opacity=".45"/></pattern>\n'
            f'<rect width="{width}" height="{height}" fill="url(#{name}l)"/>\n'
        )
    path: list[str] = []
    rows, columns = grid.shape
    if grid.row_step:
        path += [
            f"M0 {r * placed.height}h{width}" for r in range(grid.row_step, rows, grid.row_step)
        ]
    steps = range(grid.column_step, columns, grid.column_step) if grid.column_step else ()
    if placed.width * grid.column_step >= MIN_LINES:
        path += [f"M{c * placed.width} 0v{height}" for c in steps]
    frame = f"M0 0h{width}v{height}h-{width}z"
    if grid.step_width == 1:
        path.insert(0, frame)
    elif path:
        yield f'<path stroke="{INK}" stroke-width="{grid.step_width}" d="{"".join(path)}"/>\n'
        path = [frame]
    yield f'<path fill="none" stroke="{RULE}" d="{"".join(path or [frame])}"/>\n'


def _marks(placed: PlacedGrid) -> Iterator[str]:
    """Yield an outline per run of marked cells."""
    if placed.grid.marks is None or not placed.grid.marks.any():
        return
    width, height = placed.width, placed.height
    path = []
    for row, column in np.argwhere(placed.grid.marks).tolist():
        x, y = column * width + 1, row * height + 1
        path.append(f"M{x} {y}h{width - 2}v{height - 2}h-{width - 2}z")
    yield f'<path fill="none" stroke="{MARK}" stroke-width="2" d="{"".join(path)}"/>\n'


def _labels(placed: PlacedGrid) -> Iterator[str]:
    """Yield a text per row, with the labels of its cells."""
    places = [f"{(c + 0.5) * placed.width:g}" for c in range(placed.grid.shape[1])]
    size = "" if placed.label_size == LABEL else f' font-size="{placed.label_size}"'
    for labels, below in placed.lines:
        down = placed.height / 2 + placed.label_size * 0.36 + below
        yield f'<g text-anchor="middle" fill="{INK}"{size}>\n'
        for number, row in enumerate(labels):
            texts = (_xml(text) for text in row)
            spans = [f'<tspan x="{x}">{text}</tspan>' for x, text in zip(places, texts) if text]
            if spans:
                yield f'<text y="{number * placed.height + down:g}">{"".join(spans)}</text>\n'
        yield "</g>\n"


def _text(text: Text) -> str:
    anchor = f' text-anchor="{text.anchor}"' if text.anchor != "start" else ""
    weight = ' font-weight="bold"' if text.bold else ""
    return (
        f'<text x="{text.x:g}" y="{text.y:g}" font-size="{text.size}" fill="{text.colour}"'
        f'{anchor}{weight} xml:space="preserve">{_xml(text.text)}</text>\n'
    )
