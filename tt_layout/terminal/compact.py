"""Thread numbers only, as the diagrams in Triton's own definitions of layouts show them.

    [ 0  0  1  1  2  2  3  3  ; 32 32 33 33 34 34 35 35 ]

A semicolon stands where the next element belongs to another warp; that is the same in every
row, because the warp is linear in the element's coordinates.  Where several threads hold an
element, all are named: ``{0,8}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tt_layout.colour import RESET, style
from tt_layout.errors import LayoutError
from tt_layout.terminal.tokens import Tokens
from tt_layout.views.request import ViewRequest

_LABEL = re.compile(rb"(?:B(\d+):)?T(\d+):(\d+)")
MAX_NAMED = 4  # so many holders are named one by one
FEW = 3  # of more, the first ones and the last


def check_compact(request: ViewRequest) -> None:
    """Raise where there are no threads to show.

    Raises:
        LayoutError: the layout is of memory, or places are to be shown.
    """
    if not request.placed.is_distributed:
        encoding = request.placed.encoding
        message = f"#{encoding.name} is of {encoding.memory_kind}"
        raise LayoutError(f"--compact shows threads, but {message}")
    if request.use_hw_view:
        raise LayoutError("--compact shows who holds each element; leave --use-hw-view out")


@dataclass(frozen=True)
class Compact:
    """Turns a tensor view of a distributed layout into thread numbers.

    Attributes:
        request: what the view shows.
        tokens: by what the numbers are coloured; None for plain text.
    """

    request: ViewRequest
    tokens: Tokens | None = None

    def lines(self, chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
        """Yield the lines; an empty one between the matrices of a tensor of rank 3."""
        rest, is_first = b"", True
        for chunk in chunks:
            *lines, rest = (rest + bytes(chunk)).split(b"\n")
            for line in lines:
                if line.startswith(b"[[") and not is_first and len(self.request.placed.shape) > 2:
                    yield b"\n"
                is_first = False
                yield self._line(line.strip(b"[] "))

    def _line(self, line: bytes) -> bytes:
        cells = [list(_LABEL.finditer(cell)) for cell in line.split(b", ")]
        first = [cell[0] for cell in cells if cell]
        groups = iter(self.tokens.groups(first, 0).tolist() if self.tokens and first else ())
        pieces, before = [b"["], None
        for cell in cells:
            warp = self._warp(cell[0]) if cell else before
            pieces.append(b" " if before in (None, warp) else b" ; ")
            before = warp
            text = self._text(cell)
            colour = style(next(groups)) if cell and self.tokens else b""
            pieces += [colour, text, RESET if colour else b"", b" " * (self._width - len(text))]
        return b"".join([*pieces, b" ]\n"])

    def _warp(self, label: re.Match[bytes]) -> tuple[int, int]:
        lanes = self.request.placed.layout.get_in_dim_size("lane")
        return int(label.group(1) or 0), int(label.group(2)) // lanes

    def _text(self, cell: list[re.Match[bytes]]) -> bytes:
        names = list(dict.fromkeys(m.group().rpartition(b":")[0].replace(b"T", b"") for m in cell))
        if len(names) <= 1:
            return b"".join(names) or b"-"
        if len(names) > MAX_NAMED:
            return b"{" + b",".join(names[:FEW]) + b"..." + names[-1] + b"}"
        return b"{" + b",".join(names) + b"}"

    @property
    def _width(self) -> int:
        """The width of a cell: as wide as the holders of the last threads."""
        layout = self.request.placed.layout
        threads = layout.get_in_dim_size("lane") * layout.get_in_dim_size("warp")
        digits = len(str(threads - 1))
        if layout.get_in_dim_size("block") > 1:
            digits += len(f"B{layout.get_in_dim_size('block') - 1}:")
        masks = layout.get_free_variable_masks()
        copies = sum(bin(masks.get(name, 0)).count("1") for name in ("lane", "warp", "block"))
        count = 1 << copies
        if count == 1:
            return digits
        if count > MAX_NAMED:
            return (FEW + 1) * digits + FEW - 1 + len("{...}")
        return count * digits + count + 1
