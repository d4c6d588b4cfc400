"""Colours in a stream of text, with one stretch per run of cells of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.colour import COLOURS, RESET, style
from tt_layout.placement import PlacedLayout
from tt_layout.views.cells import Cells, ElementCells, LocationCells
from tt_layout.views.groups import coloured, group_count, grouping
from tt_layout.views.text import FILLER, Bytes
from tt_layout.views.view import CellShape, LineBlock, TextPiece, View

PLAIN = -1  # the colour of a cell that shows nothing

_STYLES = np.frombuffer(b"".join(map(style, range(COLOURS))), np.uint8).reshape(COLOURS, -1)
_STYLE_BYTES = _STYLES.shape[1]
_RESET = np.frombuffer(RESET, np.uint8)

Colouring = Callable[[Cells], Ints]
"""From cells to the place of the colour of each location or element."""


def colouring(view: View, placed: PlacedLayout, color_by: str) -> Colouring:
    """Return the colouring of the cells of a view.

    Raises:
        LayoutError: the layout has no such groups.
    """
    groups = grouping(placed, color_by, of_elements=not view.content.shows_locations)
    count = group_count(placed, color_by)
    return lambda cells: coloured(groups(cells), count)


def paint(pieces: Iterable[TextPiece], view: View, colours_of: Colouring) -> Iterator[bytes]:
    """Yield the text with every location or element in the colour of its group.

    Args:
        pieces: the text, perhaps with more around the cells of the view.
        view: what its cells show.
        colours_of: the colours of cells.
    """
    for piece in pieces:
        if not piece.starts.size:
            yield piece.text.tobytes()
            continue
        cells = view.cells_between(piece.first, piece.first + len(piece.starts))
        shape = len(cells.are_mapped), view.content.holders_per_cell
        colours = np.broadcast_to(colours_of(cells), shape)
        yield painted(piece, colours[:, : piece.starts.shape[1]])


def painted(piece: TextPiece, colours: Ints) -> bytes:
    """Colour the text of a piece, from each first cell to the next colour.

    Args:
        piece: the text; what is empty in it stays so.
        colours: the place of the colour of each location or element: a row per cell.

    Example:
        >>> text = np.frombuffer(b"[T0, T1]", np.uint8)
        >>> starts, ends = np.array([[1], [5]]), np.array([[3], [7]])
        >>> painted(TextPiece(text, starts, ends, starts[:0, 0], first=0), np.array([[0], [1]]))
        b'[\\x1b[38;5;16;48;5;069mT0, \\x1b[38;5;16;48;5;098mT1\\x1b[0m]'
    """
    starts, ends = piece.starts.ravel(), piece.ends.ravel()
    shown = np.where(ends > starts, colours.ravel(), PLAIN)
    lines = np.searchsorted(piece.lines, starts, side="right")
    is_edge = (np.diff(shown) != 0) | (np.diff(lines) != 0)
    begins = np.concatenate([[True], is_edge]) & (shown != PLAIN)
    is_last = (shown[1:] == PLAIN) | (np.diff(lines) != 0)
    stops = np.concatenate([is_last, [True]]) & (shown != PLAIN)
    begun, stopped = starts[begins], ends[stops]
    added = np.zeros(len(piece.text) + 1, np.int64)
    added[begun] += _STYLE_BYTES
    added[stopped] += len(_RESET)
    moved = np.cumsum(added)
    text = np.empty(len(piece.text) + moved[-1], np.uint8)
    text[np.arange(len(piece.text)) + moved[:-1]] = piece.text
    styles = (begun + moved[begun] - _STYLE_BYTES)[:, np.newaxis]
    text[styles + np.arange(_STYLE_BYTES)] = _STYLES[shown[begins]]
    resets = (stopped + moved[stopped] - added[stopped])[:, np.newaxis]
    text[resets + np.arange(len(_RESET))] = _RESET
    kept: Bytes = text[text != FILLER]
    return kept.tobytes()


def paint_lines(view: View, colours_of: Colouring) -> Iterator[bytes | memoryview]:
    """Yield the text of a view in colours, many lines at once.

    The colours are a linear function of the number of a cell (`is_linear`), so that those of a
    whole block follow from its first line and its first column.
    """
    line = view.axes.line_cells
    across: dict[tuple[int, int], Ints] = {}
    for lines in view.lines():
        at = lines.first % line, lines.cells
        if at not in across:  # it is the same for all lines
            row = _colours_at(view, colours_of, lines.first, lines.cells, span=1)
            across[at] = row ^ row[0]
        if lines.cells == line:
            down = _colours_at(view, colours_of, lines.first // line, len(lines.text), span=line)
        else:
            down = _colours_at(view, colours_of, lines.first, 1, span=1)
        block = _painted_lines(lines, view.shape, down, across[at]).plain()
        yield block if isinstance(block, bytes) else block.data


def _colours_at(view: View, colours_of: Colouring, first: int, count: int, span: int) -> Ints:
    """Return the colours of the first cells of ``count`` groups of ``span`` cells."""
    numbers = view.axes.box.firsts(first, first + count, span)
    return colours_of(view.content.cells(numbers))[:, 0]


def is_linear(view: View, placed: PlacedLayout) -> bool:
    """Return whether the colours of a view's cells are linear: one per cell, and no padding."""
    content = view.content
    if isinstance(content, ElementCells):
        is_whole = content.holders.misses.is_zero
    else:
        is_whole = isinstance(content, LocationCells) and content.misses.is_zero
    has_one = content.holders_per_cell == view.shape.fields.count == 1
    return is_whole and has_one and not placed.padding and view.axes.columns is not None


def _painted_lines(lines: LineBlock, shape: CellShape, down: Ints, across: Ints) -> LineBlock:
    """Colour lines by the xor of row and column colours.

    Args:
        lines: the text.
        shape: where in it the cells stand.
        down: the colour of the first cell of each line.
        across: what turns it into the colour of each further cell.
    """
    edges = np.flatnonzero(np.diff(across)) + 1
    run = int(np.gcd.reduce([lines.cells, *edges.tolist()]))
    colours = down[:, np.newaxis] ^ across[::run]
    begin = lines.lead + shape.fields.lead
    behind = shape.step - shape.fields.lead - shape.fields.width
    end = begin + lines.cells * shape.step - behind
    count, runs = colours.shape
    body: Bytes = np.zeros((count, runs, _STYLE_BYTES + run * shape.step), np.uint8)
    body[..., :_STYLE_BYTES] = _STYLES[colours]
    last = run * shape.step - behind
    if runs > 1:
        inside = lines.text[:, begin : begin + (runs - 1) * run * shape.step]
        body[:, :-1, _STYLE_BYTES:] = inside.reshape(count, runs - 1, -1)
    body[:, -1, _STYLE_BYTES : _STYLE_BYTES + last] = lines.text[:, end - last : end]
    flat = body.reshape(count, -1)[:, : runs * body.shape[2] - behind]
    resets = np.broadcast_to(_RESET, (count, len(_RESET)))
    parts = lines.text[:, :begin], flat, resets, lines.text[:, end:]
    return lines._replace(text=np.concatenate(parts, axis=1))
