"""Thread numbers only, as in the diagrams of Triton's own definitions of layouts.

    [ 0  0  1  1  2  2  3  3  ; 32 32 33 33 34 34 35 35 ]

A semicolon stands where the next element belongs to another warp; that is the same in every
row, because the warp is linear in the element's coordinates.  Where several threads hold an
element, all are named: ``{0,8}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tt_layout.algebra.arrays import Ints, distinct
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.errors import LayoutError
from tt_layout.views.cell_text import Fields
from tt_layout.views.cells import Cells, Mask
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import Range
from tt_layout.views.text import FILLER, Bytes
from tt_layout.views.view import CellShape, LineBlock, TextPiece, View, heading_piece

MAX_NAMED = 4  # holders are named one by one
FIRST_NAMED = 3  # of more than that, and the last one

NO_WARP = -1

NOTATION = "numbers of threads, ; between warps"
SEPARATOR = 3  # bytes in front of a cell


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
        text = _framed(body.reshape(shape[0], -1), b"[" * is_start, b" ]\n" * is_end)
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
