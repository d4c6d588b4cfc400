"""The parts of a view that fit the terminal, one below the other, so that lines never wrap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, product
from typing import NamedTuple

from tt_layout.folding import fold
from tt_layout.terminal.margins import Render, last_line
from tt_layout.views.axes import Axis
from tt_layout.views.request import ViewRequest

Chunk = bytes | memoryview
STEP = 4  # columns of which a part has a multiple, where there is room for so many


class Part(NamedTuple):
    """A part of a view.

    Attributes:
        request: what it shows.
        title: the columns that it shows of all, such as ``dim1 0-7 of 16``; empty for all.
    """

    request: ViewRequest
    title: str = ""


def parts(request: ViewRequest, width: int, render: Render) -> Iterator[Part]:
    """Yield the parts of a view whose lines fit: blocks of its columns, of each section by itself.

    Args:
        request: the view.
        width: the characters in a line of the terminal.
        render: makes the text.
    """
    axes = request.view().axes
    columns = axes.columns
    count = columns.extent if columns is not None else 0
    most = _most(request, columns, min(count, width), width, render) if columns is not None else 0
    if columns is None or most == count:
        yield Part(request)
        return
    spans = list(_balanced(*columns.shown, most))
    sections = [[(axis.name, at) for at in range(*axis.shown)] for axis in axes.sections]
    for section in product(*sections):
        chosen = {name: (at, at + 1) for name, at in section}
        for first, last in spans:
            shown = str(first) if last - first == 1 else f"{first}-{last - 1}"
            title = f"{columns.name} {shown} of {columns.size}"
            yield Part(request.choosing({**chosen, columns.name: (first, last)}), title)


def _balanced(start: int, stop: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield the columns of each part: as few parts as possible, about equally wide.

    Example:
        >>> list(_balanced(0, 16, 14)), list(_balanced(0, 32, 14))
        ([(0, 8), (8, 16)], [(0, 12), (12, 24), (24, 32)])
        >>> list(_balanced(0, 8, 3)), list(_balanced(4, 6, 0))
        ([(0, 3), (3, 6), (6, 8)], [(4, 5), (5, 6)])
    """
    count = stop - start
    most = most - most % STEP if most > STEP else max(1, most)
    number = -(-count // most)
    cuts = [start - -count * at // number for at in range(number + 1)]
    if most > STEP:
        size = -(-count // (number * STEP)) * STEP
        cuts = [*range(start, stop, size), stop]
    yield from pairwise(cuts)


def _most(request: ViewRequest, columns: Axis, limit: int, width: int, render: Render) -> int:
    """Return the number of columns that fit, by bisection."""
    low, high, start = 0, limit, columns.shown[0]
    while low < high:
        middle = (low + high + 1) // 2
        part = request.choosing({columns.name: (start, start + middle)})
        if _width(part, render) <= width:
            low = middle
        else:
            high = middle - 1
    return low


def _width(request: ViewRequest, render: Render) -> int:
    """Return the length of the longest line: the last one or a header above it."""
    text = b"".join(piece.text.tobytes() for piece in render(last_line(request)))
    return max(map(len, text.splitlines()))


def fold_lines(lines: Iterable[Chunk], width: int) -> Iterator[bytes]:
    """Yield the text with longer lines folded: those of a view of which not one column fits.

    Colours take no room.

    Example:
        >>> list(fold_lines([b"ab\\n", b"[ T0:0|", b" T4:0]\\n"], 8))
        [b'ab\\n', b'[ T0:0|\\n T4:0]\\n']
    """
    rest = b""
    for chunk in lines:
        *complete, rest = (rest + bytes(chunk)).split(b"\n")
        if complete:
            yield b"".join(_folded(line, width) + b"\n" for line in complete)
    if rest:
        yield _folded(rest, width)


def _folded(line: bytes, width: int) -> bytes:
    return line if len(line) <= width else fold(line.decode(), width).encode()
