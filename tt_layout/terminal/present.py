"""Views as the display options have them: fitted, compact, with margins, coloured, explained.

Fitted, the parts of a view are one below the other, so that lines never wrap.  Compact, it has
thread numbers only, as in the diagrams of Triton's own definitions of layouts:

    [ 0  0  1  1  2  2  3  3  ; 32 32 33 33 34 34 35 35 ]

A semicolon stands where the next element belongs to another warp; that is the same in every
row, because the warp is linear in the element's coordinates.  Where several threads hold an
element, all are named: ``{0,8}``.  Colours have one stretch per run of cells of a group.  Margins
are a header row and a column of coordinates; a legend stands below.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise, product

import numpy as np

from tt_layout.algebra.arrays import Ints, distinct
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.colour import COLOURS, RESET, colour_step, style
from tt_layout.errors import LayoutError
from tt_layout.folding import fold
from tt_layout.placement import PlacedLayout
from tt_layout.records import dataclass
from tt_layout.terminal.options import DisplayOptions
from tt_layout.tuples import NamedTuple
from tt_layout.views.axes import Axes, Axis
from tt_layout.views.cell_text import Fields
from tt_layout.views.cells import Cells, ElementCells, LocationCells, Mask
from tt_layout.views.groups import (
    check_grouping,
    coloured,
    default_grouping,
    group_count,
    group_title,
    grouping,
    hardware_sizes,
)
from tt_layout.views.printed import PrintedView
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import Range
from tt_layout.views.text import FILLER, Bytes
from tt_layout.views.view import CellShape, LineBlock, TextPiece, View, heading_piece

Render = Callable[[ViewRequest], Iterable[TextPiece]]
"""Makes the text of a view."""
MAX_GROUPS = 8  # groups in a legend

Chunk = bytes | memoryview
STEP = 4  # columns of which a part has a multiple, where there is room for so many

MAX_NAMED = 4  # holders are named one by one
FIRST_NAMED = 3  # of more than that, and the last one

NO_WARP = -1

NOTATION = "numbers of threads, ; between warps"
SEPARATOR = 3  # bytes in front of a cell

PLAIN = -1  # the colour of a cell that shows nothing

_STYLES = np.frombuffer(b"".join(map(style, range(COLOURS))), np.uint8).reshape(COLOURS, -1)
_STYLE_BYTES = _STYLES.shape[1]
_RESET = np.frombuffer(RESET, np.uint8)

Colouring = Callable[[Cells], Ints]
"""From cells to the place of the colour of each location or element."""

LEGEND_PART = 4
"""A terminal has room for a legend that takes at most this part of its lines: a quarter."""


def last_line(request: ViewRequest) -> ViewRequest:
    """Return the request for the last line only, which has the longest coordinates."""
    axes = request.view().axes
    lasts = ((axis.name, axis.shown[1]) for axis in (*axes.sections, *axes.rows))
    return request.choosing({name: (stop - 1, stop) for name, stop in lasts})


@dataclass(frozen=True)
class Margins:
    """The coordinates of a view's lines and columns.

    Attributes:
        request: what the view shows.
        render: makes its text.
        is_left_aligned: whether columns are numbered where their cells begin, not end.
    """

    request: ViewRequest
    render: Render
    is_left_aligned: bool

    def pieces(self) -> Iterator[TextPiece]:
        """Yield the text with coordinates; only the number of the line is kept."""
        pieces, axes = self.render(self.request), self._axes
        if axes.columns is None:  # lines with one cell each begin with its coordinate
            yield from pieces
            return
        numbers = heading_piece(self._column_numbers(), 0)
        if not axes.sections:
            yield numbers
        for piece in pieces:
            yield piece if piece.is_heading else self._with_rows(piece)
            if piece.is_heading and axes.sections:
                yield numbers

    @cached_property
    def _axes(self) -> Axes:
        return self.request.view().axes

    @cached_property
    def width(self) -> int:
        """The number of characters before every line; 0 if lines have a label."""
        axes = self._axes
        if axes.has_row_labels:
            return 0
        last = ",".join(str(axis.shown[1] - 1) for axis in axes.rows)
        return max(len(self._corner), len(last)) + 1

    @property
    def _corner(self) -> str:
        axes = self._axes
        return "" if axes.has_row_labels else ",".join(axis.name for axis in axes.rows)

    def _with_rows(self, piece: TextPiece) -> TextPiece:
        """Return lines with their coordinates before them."""
        axes, width = self._axes, self.width
        if not width:
            return piece
        row = piece.first // axes.line_cells
        rows = (axes.row_coordinates(row + line) for line in range(len(piece.lines)))
        names = "".join(",".join(map(str, name)).rjust(width - 1) + " " for name in rows)
        added = np.frombuffer(names.encode(), np.uint8)
        text = np.insert(piece.text, np.repeat(piece.lines, width), added)
        starts, ends = (
            positions + width * np.searchsorted(piece.lines, piece.starts, side="right")
            for positions in (piece.starts, piece.ends)
        )
        lines = piece.lines + width * np.arange(len(piece.lines))
        return piece._replace(text=text, starts=starts, ends=ends, lines=lines)

    def _column_numbers(self) -> bytes:
        """Return the line of column numbers, aligned with the columns."""
        columns = self._axes.columns
        assert columns is not None
        width = self.width
        head, end = [self._corner.rjust(width - 1) + " " if width else ""], 0
        for number, (start, stop) in enumerate(self._cells(), columns.shown[0]):
            name = str(number)
            if self.is_left_aligned:
                stop = start + len(name)
            if stop - len(name) >= end + (end > 0):
                head.append(" " * (stop - len(name) - end) + name)
                end = stop
        return "".join(head).encode() + b"\n"

    def _cells(self) -> Iterator[tuple[int, int]]:
        """Yield the bounds of each cell of a line."""
        moved = 0
        for piece in self.render(last_line(self.request)):
            if piece.is_heading:
                continue
            if piece.starts.size:
                yield from zip(
                    (piece.starts[:, 0] + moved).tolist(), (piece.ends[:, -1] + moved).tolist()
                )
            moved += len(piece.text)


def legend(
    placed: PlacedLayout, notation: str, color_by: str | None, *, is_short: bool = False
) -> bytes:
    """Return the lines that explain the notation and the colours.

    Args:
        placed: the layout that is shown.
        notation: how the text is to be read.
        color_by: what has a colour of its own; None without colours.
        is_short: whether the sizes of the hardware are left out.
    """
    sizes = "" if is_short else f"; {hardware_sizes(placed)}"
    lines = [f"legend: {notation}{sizes}\n".encode()]
    if color_by is not None:
        count = group_count(placed, color_by)
        title, step = group_title(placed, color_by), colour_step(count)
        numbers = range(min(count, MAX_GROUPS))
        named = [style(n * step) + f"{title} {n}".encode() + RESET for n in numbers]
        rest = f" ... {count - 1}" if count > MAX_GROUPS else ""
        if count > COLOURS:
            rest += f" (repeats every {COLOURS})"
        lines.append(b"colour: " + b", ".join(named) + rest.encode() + b"\n")
    return b"".join(lines)


# -- fitted ----------------------------------------------------------------------------------------


class ViewPart(NamedTuple):
    """A part of a view.

    Attributes:
        request: what it shows.
        title: the columns that it shows of all, such as ``dim1 0-7 of 16``; empty for all.
    """

    request: ViewRequest
    title: str = ""


def parts(request: ViewRequest, width: int, render: Render) -> Iterator[ViewPart]:
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
        yield ViewPart(request)
        return
    spans = list(_balanced(*columns.shown, most))
    sections = [[(axis.name, at) for at in range(*axis.shown)] for axis in axes.sections]
    for section in product(*sections):
        chosen = {name: (at, at + 1) for name, at in section}
        for first, last in spans:
            shown = str(first) if last - first == 1 else f"{first}-{last - 1}"
            title = f"{columns.name} {shown} of {columns.size}"
            yield ViewPart(request.choosing({**chosen, columns.name: (first, last)}), title)


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


# -- compact ---------------------------------------------------------------------------------------


def check_compact(request: ViewRequest) -> None:
    """Raise if there are no threads to show.

    Raises:
        LayoutError: the layout is of memory, or locations are to be shown.
    """
    placed, kind = request.placed, request.kind
    if not placed.is_distributed:
        message = f"#{placed.encoding.name} lives in {placed.memory_space}"
        raise LayoutError(f"--compact shows threads, but {message}")
    if not request.view().content.shows_locations:
        option = kind.option or f"--view {kind.name}"
        raise LayoutError(f"--compact shows who holds each element; leave {option} out")


@dataclass(frozen=True)
class Compact:
    """The text of a tensor view of a distributed layout as thread numbers.

    Attributes:
        view: what is shown.
        layout: its linear layout.
    """

    view: View
    layout: LinearLayout

    def pieces(self) -> Iterator[TextPiece]:
        """Yield the text, with a blank line between the matrices of a tensor of rank 3."""
        axes = self.view.axes
        lines = axes.rows[-1].extent if len(axes.rows) > 1 else axes.lines
        matrix = lines * axes.line_cells
        for start in range(0, axes.count, matrix):
            if start:
                yield heading_piece(b"\n", start)
            warp = NO_WARP
            for first, last in self._blocks(start, start + matrix):
                piece, warp = self._piece(first, last, warp)
                yield piece

    def _blocks(self, start: int, stop: int) -> Iterator[Range]:
        """Cut cells into blocks: several whole lines, or pieces of one line."""
        line, limit = self.view.axes.line_cells, self.view.chunk_cells
        block = max(1, limit // line) * line
        for first in range(start, stop, block):
            last = min(first + block, stop)
            for part in range(first, last, min(block, limit)):
                yield part, min(part + limit, last)

    def _piece(self, first: int, last: int, before: int) -> tuple[TextPiece, int]:
        """Return the text of some cells, and the warp of the last one."""
        line = self.view.axes.line_cells
        shape = max(1, (last - first) // line), min(line, last - first)
        is_start, is_end = first % line == 0, last % line == 0
        cells = self.view.cells_between(first, last)
        threads = self._threads(cells)
        warps = np.where(cells.are_mapped, threads[:, 0] // self._lanes, NO_WARP).reshape(shape)
        continued = _carried_on(warps, NO_WARP if is_start else before)
        texts, lengths = self._texts(threads, cells.are_mapped)
        step = SEPARATOR + self._width
        body = np.full((*shape, step), FILLER, np.uint8)
        body[..., 0] = ord(" ")
        is_next = (continued[:, :-1] != NO_WARP) & (continued[:, 1:] != continued[:, :-1])
        body[is_next, 1:SEPARATOR] = np.frombuffer(b"; ", np.uint8)
        body[..., SEPARATOR:] = texts.reshape(*shape, -1)
        begin, end = b"[" if is_start else b"", b" ]\n" if is_end else b""
        text = _framed(body.reshape(shape[0], -1), begin, end)
        lines = LineBlock(text, int(is_start), shape[1], first, is_start, has_fillers=True)
        (piece,) = lines.pieces(CellShape(step, Fields(1, self._width, lead=SEPARATOR)))
        return piece._replace(ends=piece.starts + lengths[:, np.newaxis]), int(continued[-1, -1])

    def _threads(self, cells: Cells) -> Ints:
        """Return the thread number of each holder, counted through all blocks."""
        locations = cells.locations
        warps = locations["block"] * self._warps + locations["warp"]
        return warps * self._lanes + locations["lane"]

    def _texts(self, threads: Ints, are_mapped: Mask) -> tuple[Bytes, Ints]:
        """Return the text and length of each cell; length 0 for an empty cell."""
        distinct_threads, which = distinct(np.where(are_mapped, threads[:, 0], NO_WARP))
        example = np.zeros(len(distinct_threads), np.int64)
        example[which] = np.arange(len(which))
        names = [self._name(threads[at].tolist()) if are_mapped[at] else b"-" for at in example]
        texts = np.frombuffer(b"".join(n.ljust(self._width) for n in names), np.uint8)
        lengths = np.array([len(name) for name in names])
        return texts.reshape(len(names), -1)[which], np.where(are_mapped, lengths[which], 0)

    def _name(self, threads: list[int]) -> bytes:
        """Format the threads of a cell."""
        names = [self._thread_name(thread) for thread in dict.fromkeys(threads)]
        if len(names) == 1:
            return names[0].encode()
        if len(names) > MAX_NAMED:
            return f"{{{','.join(names[:FIRST_NAMED])}...{names[-1]}}}".encode()
        return f"{{{','.join(names)}}}".encode()

    def _thread_name(self, thread: int) -> str:
        block, number = divmod(thread, self._warps * self._lanes)
        return f"B{block}:{number}" if self._blocks_in_all > 1 else str(number)

    @property
    def _lanes(self) -> int:
        return self.layout.get_in_dim_size("lane")

    @property
    def _warps(self) -> int:
        return self.layout.get_in_dim_size("warp")

    @property
    def _blocks_in_all(self) -> int:
        return self.layout.get_in_dim_size("block")

    @cached_property
    def _width(self) -> int:
        """The width of a cell, for the holders of the last threads."""
        digits = len(self._thread_name(self._blocks_in_all * self._warps * self._lanes - 1))
        masks = self.layout.get_free_variable_masks()
        free_bits = sum(bin(masks.get(name, 0)).count("1") for name in ("lane", "warp", "block"))
        count = 1 << free_bits
        if count == 1:
            return digits
        if count > MAX_NAMED:
            return (FIRST_NAMED + 1) * digits + FIRST_NAMED - 1 + len("{...}")
        return count * digits + count + 1


def _carried_on(warps: Ints, before: int) -> Ints:
    """Return the last known warp at each cell of each line, after that of the cell before.

    Example:
        >>> _carried_on(np.array([[NO_WARP, 0, NO_WARP, 1]]), 2).tolist()
        [[2, 2, 0, 0, 1]]
    """
    shifted = np.concatenate([np.full((len(warps), 1), before), warps], axis=1)
    at = np.where(shifted == NO_WARP, 0, np.arange(shifted.shape[1]))
    return np.take_along_axis(shifted, np.maximum.accumulate(at, axis=1), axis=1)


def _framed(body: Bytes, opening: bytes, closing: bytes) -> Bytes:
    """Add the same text before and after each line."""
    front, back = (
        np.tile(np.frombuffer(text, np.uint8), (len(body), 1)) for text in (opening, closing)
    )
    return np.concatenate([front, body, back], axis=1)


# -- coloured --------------------------------------------------------------------------------------


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


# -- as the options have them ----------------------------------------------------------------------


@dataclass(frozen=True)
class Presentation:
    """Views under display options.

    Attributes:
        views: as printed plainly.
        options: how they are displayed.
        terminal: the size of the terminal; None without one.
        is_folded: whether lines are made to fit the terminal; a pager scrolls whole ones sideways.
    """

    views: Sequence[PrintedView]
    options: DisplayOptions
    terminal: os.terminal_size | None = None
    is_folded: bool = True

    @property
    def width(self) -> int | None:
        """The characters in a line; None where lines are not made to fit."""
        return self.terminal.columns if self.terminal is not None and self.is_folded else None

    @property
    def has_colours(self) -> bool:
        """Whether the text is coloured."""
        return self.options.has_colours(on_terminal=self.terminal is not None)

    def check(self) -> None:
        """Raise if an option does not suit a layout.

        Raises:
            LayoutError: it has no such groups, or no threads.
        """
        options = self.options
        requests = [view.request for view in self.views if view.request is not None]
        if self.views and not requests and (options.compact or options.color_by is not None):
            raise LayoutError("this view has no colours and no thread numbers")
        for request in requests:
            if options.compact:
                check_compact(request)
            if options.color_by is not None:
                check_grouping(request.placed, options.color_by)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the text."""
        for printed in self.views:
            yield self._folded(printed.heading)
            if printed.request is not None:
                yield from self._body(printed.request)
            yield printed.ending

    def _body(self, request: ViewRequest) -> Iterator[Chunk]:
        color_by = self.options.color_by or default_grouping(request.placed)
        if self.width is None:
            yield from self._text(request, color_by)
        else:
            for part, title in parts(request, self.width, self._pieces):
                if title:
                    yield self._folded(f"{title}\n".encode())
                yield from fold_lines(self._text(part, color_by), self.width)
        yield self._legend(request, color_by)

    def _text(self, request: ViewRequest, color_by: str) -> Iterator[Chunk]:
        """Return the lines of a view, or of a part of it."""
        if self.has_colours:
            return self._painted(request, color_by)
        if self.options.compact or self.options.header:
            return (piece.text.tobytes() for piece in self._pieces(request))
        return request.view().chunks()

    def _legend(self, request: ViewRequest, color_by: str) -> bytes:
        """Return the legend, if requested, or if it explains the colours and there is room."""
        is_asked = self.options.legend
        if not is_asked and (self.terminal is None or not self.has_colours):
            return b""
        notation = NOTATION if self.options.compact else request.view().notation
        coloured = color_by if self.has_colours else None
        text = legend(request.placed, notation, coloured, is_short=not is_asked)
        folded = self._folded(text)
        has_room = self.terminal is None or folded.count(b"\n") * LEGEND_PART <= self.terminal.lines
        return folded if is_asked or has_room else b""

    def _painted(self, request: ViewRequest, color_by: str) -> Iterator[Chunk]:
        view, options = request.view(), self.options
        colours_of = colouring(view, request.placed, color_by)
        is_bare = not options.compact and not options.header
        if is_bare and is_linear(view, request.placed):
            return paint_lines(view, colours_of)
        return paint(self._pieces(request), view, colours_of)

    def _folded(self, text: bytes) -> bytes:
        return fold(text.decode(), self.width).encode()

    def _pieces(self, request: ViewRequest) -> Iterator[TextPiece]:
        """Return the text and the positions of its cells, with margins if asked."""
        if not self.options.header:
            return self._cells(request)
        return Margins(request, self._cells, self.options.compact).pieces()

    def _cells(self, request: ViewRequest) -> Iterator[TextPiece]:
        view = request.view()
        if self.options.compact:
            return Compact(view, request.placed.layout).pieces()
        return view.pieces()
