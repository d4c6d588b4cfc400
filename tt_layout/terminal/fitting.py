"""The columns of a view that fit the terminal, so that lines never wrap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tt_layout.colour import RESET
from tt_layout.terminal.painting import Chunk, characters, unpainted
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import PLACES, Range, checked_range

Render = Callable[[ViewRequest], Iterable[bytes]]
ELLIPSIS = "~"
ALL = "all in a pipe, such as | less -S"
"""Where to see what is not shown."""


def columns_of(request: ViewRequest) -> tuple[str, Range, int] | None:
    """Return what a line's columns are, which are shown, and of how many; None for no columns.

    The name is that of a dimension, or of the option that selects them.
    """
    layout, selection = request.placed.layout, request.selection
    if not request.use_hw_view:
        name, size = layout.out_sizes[-1]
        chosen = selection.slices[-1] if selection.slices else None
    elif request.placed.is_distributed:
        name, size, chosen = "lane", layout.get_in_dim_size("lane"), selection.lanes
    elif request.placed.is_shared:
        return None
    else:
        name, size, chosen = "column", layout.get_in_dim_size("col"), selection.columns
    return name, checked_range(name, chosen, size), size


def with_columns(request: ViewRequest, columns: Range) -> ViewRequest:
    """Return the same with these columns shown only."""
    selection = request.selection
    if not request.use_hw_view:
        slices = selection.slices or (None,) * len(request.placed.shape)
        return request.selecting(replace(selection, slices=(*slices[:-1], columns)))
    if request.placed.is_distributed:
        return request.selecting(replace(selection, lanes=columns))
    return request.selecting(replace(selection, columns=columns))


def last_line(request: ViewRequest) -> ViewRequest:
    """Return the same with the last line shown only, which has the longest coordinates."""
    selection, layout = request.selection, request.placed.layout
    if not request.use_hw_view:
        ranges = selection.tensor_ranges(layout.get_out_dim_names(), list(request.placed.shape))
        ones = tuple((stop - 1, stop) for _, stop in ranges[:-1])
        return request.selecting(replace(selection, slices=(*ones, ranges[-1])))
    names = ("block", "warp", "register") if request.placed.is_distributed else ("block", "row")
    chosen: dict[str, Any] = {}
    for name in names:
        field = PLACES[name]
        size = layout.get_in_dim_size(name)
        _, stop = checked_range(name, getattr(selection, field), size)
        chosen[field] = stop - 1, stop
    return request.selecting(replace(selection, **chosen))


def width_of(request: ViewRequest, render: Render) -> int:
    """Return the length of the longest line, that is of the last one or a header above it."""
    return max(map(len, b"".join(render(last_line(request))).splitlines()))


def fit(request: ViewRequest, width: int, render: Render) -> tuple[ViewRequest, str | None]:
    """Return what of a view fits, and what to tell about it; None where all does.

    Args:
        request: the view.
        width: the characters in a line of the terminal.
        render: makes the plain text.
    """
    found = columns_of(request)
    if found is None:
        return request, None
    name, (start, stop), size = found
    most = _most(request, start, min(stop - start, width), width, render)
    if most == stop - start:
        return request, None
    count = most - most % 4 if most > 4 else max(1, most)
    shown = start + count
    option = f"--{name} "
    if not request.use_hw_view:
        others = (request.selection.slices or (None,) * len(request.placed.shape))[:-1]
        given = (":" if one is None else f"{one[0]}:{one[1]}" for one in others)
        option = "--slice " + "".join(f"{text}," for text in given)
    if most == 0:
        note = f"one column is wider than the terminal's {width} characters, and is cut"
    else:
        what = f"{name} {start}" if count == 1 else f"{name} {start}:{shown}"
        note = f"the terminal is {width} characters wide: shown is {what} of {size}"
    if shown < stop:
        note += f"; the next with {option}{shown}:{min(stop, shown + count)}"
    return with_columns(request, (start, shown)), f"{note}; {ALL}"


def _most(request: ViewRequest, start: int, limit: int, width: int, render: Render) -> int:
    """Return how many columns fit, by bisection."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        columns = start, start + middle
        if width_of(with_columns(request, columns), render) <= width:
            low = middle
        else:
            high = middle - 1
    return low


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
    if len(line) <= width or len(unpainted(line.decode())) <= width:
        return line
    kept = "".join(characters(line.decode())[: width - 1])
    return f"{kept}{ELLIPSIS}".encode() + (RESET if "\x1b" in kept else b"")
