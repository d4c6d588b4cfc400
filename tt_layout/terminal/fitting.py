"""The columns of a view that fit the terminal, so that lines never wrap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from click import unstyle

from tt_layout.colour import RESET
from tt_layout.terminal.margins import Render, last_line
from tt_layout.views.axes import Axis
from tt_layout.views.folding import characters
from tt_layout.views.request import ViewRequest

Chunk = bytes | memoryview
ELLIPSIS = "~"
ALL = "all in a pipe, such as | less -S"
"""Where to see what is not shown."""


def fit(request: ViewRequest, width: int, render: Render) -> tuple[ViewRequest, str | None]:
    """Return what of a view fits, and a note on the rest; None where all does.

    Args:
        request: the view.
        width: the characters in a line of the terminal.
        render: makes the text.
    """
    columns = request.view().axes.columns
    if columns is None:
        return request, None
    most = _most(request, columns, min(columns.extent, width), width, render)
    if most == columns.extent:
        return request, None
    count = most - most % 4 if most > 4 else max(1, most)
    start, stop = columns.shown
    shown = start + count
    if most == 0:
        note = f"one column is wider than the terminal's {width} characters, and is cut"
    else:
        what = f"{columns.name} {start}" if count == 1 else f"{columns.name} {start}-{shown - 1}"
        note = f"showing {what} of {columns.size}"
    if shown < stop:
        more = f"{_option(request, columns)}{shown}:{min(stop, shown + count)}"
        note += f"; next: {more}"
    return request.choosing({columns.name: (start, shown)}), f"{note}; {ALL}"


def _option(request: ViewRequest, columns: Axis) -> str:
    """Return the option that chooses columns, up to their range."""
    if columns.field != "slices":
        return f"--{columns.name} "
    others = (request.selection.slices or (None,) * len(request.placed.shape))[:-1]
    given = (":" if one is None else f"{one[0]}:{one[1]}" for one in others)
    return "--slice " + "".join(f"{text}," for text in given)


def _most(request: ViewRequest, columns: Axis, limit: int, width: int, render: Render) -> int:
    """Return how many columns fit, by bisection."""
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
    """Return the length of the longest line, that is of the last one or a header above it."""
    text = b"".join(piece.text.tobytes() for piece in render(last_line(request)))
    return max(map(len, text.splitlines()))


def cut(lines: Iterable[Chunk], width: int) -> Iterator[bytes]:
    """Yield the text with lines cut to a width; the last character shows where.

    Colours take no room.

    Example:
        >>> list(cut([b"abc\\nde", b"fgh\\n"], 4))
        [b'abc\\n', b'def~\\n']
    """
    rest = b""
    for chunk in lines:
        *whole, rest = (rest + bytes(chunk)).split(b"\n")
        if whole:
            yield b"".join(_cut_line(line, width) + b"\n" for line in whole)
    if rest:
        yield _cut_line(rest, width)


def _cut_line(line: bytes, width: int) -> bytes:
    if len(line) <= width or len(unstyle(line.decode())) <= width:
        return line
    kept = "".join(characters(line.decode())[: width - 1])
    return f"{kept}{ELLIPSIS}".encode() + (RESET if "\x1b" in kept else b"")
