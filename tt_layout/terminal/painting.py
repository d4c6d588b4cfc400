"""Colours in a stream of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.colour import RESET, STYLES, style
from tt_layout.placement import PlacedLayout
from tt_layout.views.groups import grouping
from tt_layout.views.text import FILLER, Bytes
from tt_layout.views.view import Piece, View

_STYLES = [style(number) for number in range(STYLES)]
_STYLE_BYTES = max(map(len, _STYLES))
_STYLE_TEXTS = np.frombuffer(
    b"".join(text.ljust(_STYLE_BYTES, bytes([FILLER])) for text in _STYLES), np.uint8
).reshape(STYLES, _STYLE_BYTES)


def paint(
    pieces: Iterable[Piece], view: View, placed: PlacedLayout, color_by: str
) -> Iterator[bytes]:
    """Yield the same text with every location or element in the colour of its group.

    Args:
        pieces: the text, perhaps with more around the cells of the view.
        view: what its cells show.
        placed: the layout that is shown.
        color_by: a name of a group of its locations.

    Raises:
        LayoutError: the layout has no such groups.
    """
    groups_of = grouping(placed, color_by)
    for piece in pieces:
        if not piece.starts.size:
            yield piece.text.tobytes()
            continue
        cells = view.cells_between(piece.first, piece.first + len(piece.starts))
        groups = groups_of(cells.locations)[:, : piece.starts.shape[1]]
        yield painted(piece, groups)


def painted(piece: Piece, groups: Ints) -> bytes:
    """Return the text of a piece with colours around what its cells show.

    Args:
        piece: the text; what is empty in it stays so.
        groups: the number of the colour of each location or element: a row per cell.

    Example:
        >>> from tt_layout.views.view import Piece
        >>> text = np.frombuffer(b"[T0, T1]", np.uint8)
        >>> starts, ends = np.array([[1], [5]]), np.array([[3], [7]])
        >>> painted(Piece(text, starts, ends, starts[:0, 0], first=0), np.array([[0], [1]]))
        b'[\\x1b[38;5;27mT0\\x1b[0m, \\x1b[1;38;5;161mT1\\x1b[0m]'
    """
    is_shown = piece.ends > piece.starts
    starts, ends = piece.starts[is_shown], piece.ends[is_shown]
    added = _STYLE_BYTES + len(RESET)
    before = added * np.arange(len(starts))
    moved = np.zeros(len(piece.text) + 1, np.int64)
    moved[starts] += _STYLE_BYTES
    moved[ends] += len(RESET)
    text = np.empty(len(piece.text) + added * len(starts), np.uint8)
    text[np.arange(len(piece.text)) + np.cumsum(moved)[:-1]] = piece.text
    text[(starts + before)[:, np.newaxis] + np.arange(_STYLE_BYTES)] = _STYLE_TEXTS[
        groups[is_shown] % STYLES
    ]
    resets = (ends + before + _STYLE_BYTES)[:, np.newaxis] + np.arange(len(RESET))
    text[resets] = np.frombuffer(RESET, np.uint8)
    kept: Bytes = text[text != FILLER]
    return kept.tobytes()
