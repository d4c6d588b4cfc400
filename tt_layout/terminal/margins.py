"""A header row and column of coordinates around a view, and a legend below it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tt_layout.colour import RESET, STYLES, style
from tt_layout.hardware import DEFAULT_TARGET, TARGETS
from tt_layout.placement import PlacedLayout
from tt_layout.terminal.fitting import Render, columns_of, last_line
from tt_layout.terminal.tokens import group_count
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import checked_range

_CELL = re.compile(rb"[^\s,][^,]*(?:,\s|$)")
_TUPLE = re.compile(rb"\([^()]*\)|(?<=\s)-(?=[,\n]|$)")
_NUMBER = re.compile(rb"\{[^}]*\}|[\w:-]+")


@dataclass(frozen=True)
class Margins:
    """The coordinates of a view's lines and columns.

    Attributes:
        request: the view.
        render: makes its plain text.
        is_compact: whether the text is of thread numbers.
    """

    request: ViewRequest
    render: Render
    is_compact: bool = False

    @property
    def has_any(self) -> bool:
        """Whether the view lacks coordinates: one offset per line says its own."""
        return columns_of(self.request) is not None

    @property
    def width(self) -> int:
        """The number of characters in front of every line; 0 where lines say their own."""
        names = self._corner_and_rows()
        return max(map(len, names)) + 1 if names else 0

    def add(self, chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
        """Yield the text with coordinates; nothing is kept but the number of the line."""
        if not self.has_any:
            yield from map(bytes, chunks)
            return
        head, above, row, starts = self._head(), self._above_head(), 0, True
        if not above:
            yield head
        for chunk in chunks:
            pieces = []
            for line in bytes(chunk).splitlines(keepends=True):
                is_header = starts and line.startswith((b"Block", b"Warp"))
                if starts and not is_header and line != b"\n" and self.width:
                    pieces.append(self._front(self._row_name(row)))
                    row += 1
                pieces.append(line)
                if is_header and above and line.startswith(above):
                    pieces.append(head)
                starts = line.endswith(b"\n")
            yield b"".join(pieces)

    def _front(self, name: bytes) -> bytes:
        return name.rjust(self.width - 1) + b" " if self.width else b""

    def _above_head(self) -> bytes:
        """Return how the lines begin below which columns are numbered; nothing for the first."""
        if not self.request.use_hw_view:
            return b""
        if self.request.placed.is_distributed:
            return b"Warp"
        return b"Block" if self.request.placed.layout.get_in_dim_size("block") > 1 else b""

    def _row_name(self, row: int) -> bytes:
        """Return the coordinates of a line."""
        if self.request.use_hw_view:
            start, stop = self._registers
            return b"%d" % (start + row % max(1, stop - start))
        index = []
        for start, stop in reversed(self._leading):
            row, place = divmod(row, stop - start)
            index.append(start + place)
        return ",".join(map(str, reversed(index))).encode()

    @property
    def _registers(self) -> tuple[int, int]:
        size = self.request.placed.layout.get_in_dim_size("register")
        return checked_range("register", self.request.selection.registers, size)

    @property
    def _leading(self) -> list[tuple[int, int]]:
        layout, shape = self.request.placed.layout, self.request.placed.shape
        names = layout.get_out_dim_names()
        return list(self.request.selection.tensor_ranges(names, list(shape))[:-1])

    def _corner_and_rows(self) -> tuple[bytes, ...]:
        """Return the corner and the longest name of a row."""
        if not self.request.use_hw_view:
            last = ",".join(str(stop - 1) for _, stop in self._leading)
            return self._corner(), last.encode()
        if not self.request.placed.is_distributed:
            return ()
        return self._corner(), b"%d" % (self._registers[1] - 1)

    def _corner(self) -> bytes:
        if self.request.use_hw_view:
            return b"register" if self.request.placed.is_distributed else b""
        return ",".join(self.request.placed.layout.get_out_dim_names()[:-1]).encode()

    def _head(self) -> bytes:
        """Return the line of column numbers, each where its column ends."""
        text = self._last_text()
        shows_elements = self.request.use_hw_view or self.request.placed.is_shared
        pattern = _NUMBER if self.is_compact else _TUPLE if shows_elements else _CELL
        found = columns_of(self.request)
        assert found is not None
        start = found[1][0]
        head, end = [self._front(self._corner())], 0
        for number, match in enumerate(pattern.finditer(text), start):
            name = str(number).encode()
            stop = match.start() + len(match.group().rstrip(b", ]"))
            if self.is_compact:
                stop = max(match.start() + len(name), end + 1)
            if stop - len(name) >= end + (end > 0):
                head.append(b" " * (stop - len(name) - end) + name)
                end = stop
        return b"".join(head) + b"\n"

    def _last_text(self) -> bytes:
        """Return a line of the text without its end."""
        return b"".join(self.render(last_line(self.request))).splitlines()[-1]


_NOTATIONS = {
    (True, False): "T<thread>:<register>, | between several holders",
    (True, True): "one line per register, one column per lane",
    (False, False): "elements in the order of the addresses",
    (False, True): "Offset: <element of the memory> -> element",
}
SHOWN = 8  # so many groups are named in a legend


def legend(request: ViewRequest, name: str, colours: bool, is_compact: bool) -> bytes:
    """Return the lines that explain notation and colours."""
    notation = _notation(request, is_compact)
    lines = [f"legend: {notation}; {sizes(request.placed)}\n".encode()]
    if colours:
        count = group_count(request.placed, name)
        named = [style(n) + f"{name} {n}".encode() + RESET for n in range(min(count, SHOWN))]
        more = f" ... {count - 1}" if count > SHOWN else ""
        if count > STYLES:
            more += f" (every {STYLES} alike)"
        lines.append(b"colour: " + b", ".join(named) + more.encode() + b"\n")
    return b"".join(lines)


def _notation(request: ViewRequest, is_compact: bool) -> str:
    if is_compact:
        return "numbers of threads, ; between warps"
    if request.placed.memory_space == "tensor memory":
        return "one line per row" if request.use_hw_view else "R<row>:C<column>"
    return _NOTATIONS[request.placed.is_distributed, request.use_hw_view]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def sizes(placed: PlacedLayout) -> str:
    """Return the sizes of the hardware in words, such as ``4 warps of 32 lanes``."""
    layout = placed.layout
    blocks = layout.get_in_dim_size("block")
    extra = f", {blocks} blocks" if blocks > 1 else ""
    if placed.is_distributed:
        warps, lanes, registers = (
            layout.get_in_dim_size(name) for name in ("warp", "lane", "register")
        )
        counts = _count(warps, "warp"), _count(lanes, "lane"), _count(registers, "register")
        return f"{counts[0]} of {counts[1]} with {counts[2]}{extra}"
    elements = math.prod(placed.shape)
    if placed.is_shared:
        banks = TARGETS[DEFAULT_TARGET].banks
        return f"{elements} elements of {placed.element_bytes} bytes in {banks} banks{extra}"
    return f"{layout.get_in_dim_size('row')} rows of {layout.get_in_dim_size('col')} columns{extra}"
