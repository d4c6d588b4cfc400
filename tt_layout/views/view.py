"""A printed view, with a size that is known before its text is generated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Protocol

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.padding import Padding
from tt_layout.enums import MemorySpace
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple
from tt_layout.views.axes import Axes
from tt_layout.views.cell_text import Fields
from tt_layout.views.cells import Cells, Content
from tt_layout.views.text import FILLER, Bytes

Block = Bytes | bytes

Allocate = Callable[[tuple[int, int]], Bytes]
"""Returns an array of this shape, to be written."""
CHUNK_LOCATIONS = 1 << 14
"""The number of locations that are computed at once."""


def new_memory(shape: tuple[int, int]) -> Bytes:
    """Allocate memory."""
    return np.empty(shape, np.uint8)


class Viewable(Protocol):
    """The part of a placed layout that a view needs."""

    @property
    def layout(self) -> LinearLayout:
        """The linear layout."""

    @property
    def padding(self) -> Padding:
        """Padding of shared memory."""

    @property
    def memory_space(self) -> MemorySpace:
        """Memory space."""

    @property
    def element_bytes(self) -> int:
        """The number of bytes of an element."""


class BareLayout(NamedTuple):
    """A linear layout without an attribute, that is `Viewable`."""

    layout: LinearLayout
    padding: Padding = ()
    memory_space: MemorySpace = MemorySpace.REGISTERS
    element_bytes: int = 4


class CellShape(NamedTuple):
    """Layout of the text of a cell.

    Attributes:
        step: the bytes from one cell of a line to the next.
        fields: positions in the cell of each location, or of the element.
    """

    step: int
    fields: Fields


class TextPiece(NamedTuple):
    """A piece of a view's text, and the positions of its cells.

    Attributes:
        text: the printed bytes.
        starts: start of the text of each location or element: a row per cell.
        ends: its end.
        lines: starts of the lines of cells.
        first: the number of the first cell in print order.
        is_heading: whether it is lines without cells.
    """

    text: Bytes
    starts: Ints
    ends: Ints
    lines: Ints
    first: int
    is_heading: bool = False


class LineBlock(NamedTuple):
    """Lines of equal width, or a piece of one line.

    Attributes:
        text: a row per line, with fillers where nothing is printed.
        lead: the number of bytes of a line before its first cell.
        cells: the number of cells of a line.
        first: the number of the first cell in print order.
        is_start: whether the lines begin here; otherwise the line continues.
        headings: the text above a line, by the line's number, ascending.
        has_fillers: whether there may be fillers.
    """

    text: Bytes
    lead: int
    cells: int
    first: int
    is_start: bool = True
    headings: tuple[tuple[int, bytes], ...] = ()
    has_fillers: bool = False

    def plain(self) -> Block:
        """Return the text."""
        if self.headings:
            parts: list[bytes] = []
            done = 0
            for line, heading in self.headings:
                parts += self.text[done:line].tobytes(), heading
                done = line
            parts.append(self.text[done:].tobytes())
            text = b"".join(parts)
        elif self.has_fillers:
            text = self.text.tobytes()
        else:
            return self.text.ravel()
        return text.replace(bytes([FILLER]), b"") if self.has_fillers else text

    def pieces(self, shape: CellShape) -> Iterator[TextPiece]:
        """Yield the text in pieces, with or without cells."""
        done = 0
        for line, heading in (*self.headings, (len(self.text), b"")):
            if line > done:
                yield self._piece(slice(done, line), shape)
            if heading:
                yield heading_piece(heading, self.first + line * self.cells)
            done = line

    def _piece(self, lines: slice, shape: CellShape) -> TextPiece:
        """Return the lines, and the positions of their cells."""
        text = self.text[lines]
        count, width = text.shape
        fields = shape.fields
        cells = self.lead + fields.lead + shape.step * np.arange(self.cells)
        columns = cells[:, np.newaxis] + fields.step * np.arange(fields.count)
        begun = np.arange(0, count * width, width)
        ends = begun[:, np.newaxis, np.newaxis] + columns + fields.width
        starts = ends - fields.width
        flat, line_starts = text.ravel(), begun if self.is_start else begun[:0]
        if self.has_fillers:
            is_text = flat != FILLER
            moved = np.concatenate([[0], np.cumsum(is_text)])
            flat, starts, ends, line_starts = (
                flat[is_text],
                moved[starts],
                moved[ends],
                moved[line_starts],
            )
        per_cell = count * self.cells, fields.count
        first = self.first + lines.start * self.cells
        return TextPiece(flat, starts.reshape(per_cell), ends.reshape(per_cell), line_starts, first)


def heading_piece(text: bytes, first: int) -> TextPiece:
    """Return lines without cells."""
    nothing = np.zeros((0, 1), np.int64)
    return TextPiece(np.frombuffer(text, np.uint8), nothing, nothing, nothing[:, 0], first, True)


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """Text of a layout, generated in pieces, and its cells.

    Attributes:
        size: the number of bytes, computed without making the text.
        make_lines: makes the text in blocks, whose size does not depend on the tensor's, in given
            memory.
        axes: the arrangement of the cells in the text.
        content: the content of the cells.
        shape: the layout of a cell's text.
        notation: a legend of the text.

    Example:
        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> from tt_layout.views.distributed import tensor_view
        >>> from tt_layout.views.view import BareLayout
        >>> layout = LinearLayout.identity_1d(4, "lane", "dim0")
        >>> view = tensor_view(BareLayout(layout))
        >>> view.size
        25
        >>> view.text()
        '[T0:0, T1:0, T2:0, T3:0]\\n'
    """

    size: int
    make_lines: Callable[[Allocate], Iterator[LineBlock]] = field(repr=False)
    axes: Axes
    content: Content
    shape: CellShape
    notation: str = ""

    def lines(self) -> Iterator[LineBlock]:
        """Return the text in blocks of lines."""
        return self.make_lines(new_memory)

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Return the text in pieces, each generated on demand."""
        for lines in self.lines():
            block = lines.plain()
            del lines  # the next ones take their memory, which is still in the cache
            yield block if isinstance(block, bytes) else block.data

    def text(self) -> str:
        """Return the whole text."""
        from tt_layout.views import whole_text

        if self.size >= whole_text.LEAST and whole_text.can_be_written():
            return self._written(*whole_text.new_text(self.size))
        text = ""
        for chunk in self.chunks():
            # The text grows in place, so that no byte of it is copied twice.
            text += str(chunk, "ascii")
        return text

    def _written(self, text: str, memory: Bytes) -> str:
        """Return a text after all of its memory is written."""
        done = 0

        def allocate(shape: tuple[int, int]) -> Bytes:
            """Return memory after the part already written, if there is enough."""
            end = done + shape[0] * shape[1]
            return memory[done:end].reshape(shape) if end <= self.size else new_memory(shape)

        for lines in self.make_lines(allocate):
            block = lines.plain()
            end = done + len(block)
            if isinstance(block, bytes) or not np.may_share_memory(block, memory):
                memory[done:end] = np.frombuffer(block, np.uint8)
            done = end
        assert done == self.size
        return text

    def pieces(self) -> Iterator[TextPiece]:
        """Return the text in pieces with the positions of their cells."""
        for lines in self.lines():
            yield from lines.pieces(self.shape)

    @property
    def chunk_cells(self) -> int:
        """The number of cells that are computed at once, which bounds the memory."""
        return max(1, CHUNK_LOCATIONS // self.content.holders_per_cell)

    def cells(self) -> Iterator[Cells]:
        """Return the cells in print order, a bounded number at a time."""
        for first in range(0, self.axes.count, self.chunk_cells):
            yield self.cells_between(first, min(first + self.chunk_cells, self.axes.count))

    def cells_between(self, first: int, last: int) -> Cells:
        """Return the printed cells ``first`` .. ``last - 1``."""
        return self.content.cells(self.axes.numbers(first, last))
