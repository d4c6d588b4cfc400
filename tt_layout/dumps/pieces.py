"""Large dumps cut into pieces that are read one at a time, so that memory stays bounded.

A dump is cut where nothing below depends on what is above: at a header of a pass, preferably the
first of another kernel, or between the end of a module and the aliases of the next.

    module { .. } loc(#loc)
    #loc1 = loc("f.py":1:1)          still of the module above
    ----                             here
    #blocked = #ttg.blocked<{..}>
    #loc = loc("f.py":2:1)
    module { .. } loc(#loc)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from zlib import crc32

from tt_layout.errors import FileLocation, LayoutError, file_error
from tt_layout.files import open_file
from tt_layout.mlir.source import Source
from tt_layout.mlir.wrappers import has_bare_line, has_wrapped_part
from tt_layout.tuples import NamedTuple

PIECE = 1 << 22
"""Bytes of a piece, if it can be cut there."""

MAX_TRIES = 64
"""Modules above the end of a piece before whose aliases a cut is looked for."""

_PASS = b"IR Dump "
_HEADER, _MODULE, _END = b"\n// -----// " + _PASS, b"\nmodule", b"\n}"
_ENDING = re.compile(rb"\}(?: loc\([^\n]*\))?\s*")
_ALIAS = re.compile(rb"[#!](?P<name>[A-Za-z_$][\w$-]*) *= *(?P<location>loc\()?")
_DEFINITION = re.compile(rb"\n([#!][A-Za-z_$][\w$-]*) *=(?!=| *loc\()")
_NOTHING = re.compile(rb"[ \t\r]*(?://[^\n]*)?\n")
_FUNCTION = re.compile(rb"func\b[^@\n]*@([\w$.\"-]+)")
_FIRST_LOCATION = b"loc"
"""What MLIR calls the alias of a location that stands above its module, unlike the others."""


class Piece(NamedTuple):
    """A range of bytes of a file.

    Attributes:
        file: its name.
        offset: offset of its first byte.
        size: size in bytes.
        first_line: number of its first line.
        checksum: CRC-32 of its bytes.
        is_separate: whether no compilation that began above continues in it.
    """

    file: str
    offset: int
    size: int
    first_line: int
    checksum: int
    is_separate: bool = True

    def read(self) -> Source:
        """Return the text.

        Raises:
            LayoutError: the file cannot be read, or has changed since it was cut.
        """
        try:
            with open_file(self.file) as file:
                file.seek(self.offset)
                data = file.read(self.size)
        except OSError as error:
            raise file_error("read", self.file, error) from None
        if crc32(data) != self.checksum:
            raise LayoutError("it changed while it was read", FileLocation(self.file))
        return Source(data.decode("utf-8").replace("\r\n", "\n"), self.file, self.first_line)


def pieces_of(file: str, size: int = PIECE) -> tuple[Piece, ...]:
    """Return the pieces of a file in order; none if it has to be read as a whole.

    That is a file that is small, cannot be read, is not text, is wrapped, uses an alias of one
    piece in another, or has headers of passes but none in the first piece.
    """
    try:
        if not os.path.isfile(file) or os.path.getsize(file) < 2 * size:
            return ()
        pieces: list[Piece] = []
        offset, line, defined, has_passes = 0, 1, set[bytes](), False
        is_separate, is_bare = True, False
        for data, is_next_separate in _cut(file, size):
            data.decode("utf-8")
            has_more = offset > 0 and not has_passes and _PASS in data
            if has_more or b"\0" in data or any(_is_used_above(name, data) for name in defined):
                raise ValueError
            if has_wrapped_part(data):
                raise ValueError
            is_bare = is_bare or has_bare_line(data)
            has_passes = has_passes or _PASS in data
            pieces.append(Piece(file, offset, len(data), line, crc32(data), is_separate))
            offset, line = offset + len(data), line + data.count(b"\n")
            is_separate = is_next_separate
            defined.update(_DEFINITION.findall(b"\n" + data))
        if not is_bare:
            raise ValueError
        return tuple(pieces)
    except (OSError, ValueError):  # reading it as a whole says what is wrong
        return ()


def _cut(file: str, size: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the bytes of a file in pieces, and whether the next piece is independent of each."""
    with open_file(file) as opened:
        rest = b""
        while data := opened.read(size):
            rest += data
            at, is_separate = _last_cut(rest) if len(data) == size else (0, True)
            if at:
                yield rest[:at], is_separate
                rest = rest[at:]
        yield rest, True


def _last_cut(data: bytes) -> tuple[int, bool]:
    """Return the last offset at which a text can be cut (0 for none), and whether the cut is clean.

    Example:
        >>> module = b"#a = #ttg.b<{}>\\n#loc = loc(unknown)\\nmodule {\\n} loc(#loc)\\n"
        >>> trailing = b'#loc1 = loc("f.py":1:1)\\n'
        >>> _last_cut(module + trailing + module) == (len(module + trailing), True)
        True
    """
    header = data.rfind(_HEADER) + 1
    if header:
        separate = _above_other_kernel(data, header)
        return separate or header, separate > 0
    end = len(data)
    for _ in range(MAX_TRIES):
        end = data.rfind(_MODULE, 0, end)
        if end < 0:
            break
        cut = _above_module(data, end + 1)
        if cut:
            return cut, True
    return 0, True


def _above_other_kernel(data: bytes, last: int) -> int:
    """Return the last header that separates two kernels; 0 without one."""
    end, below = last, frozenset[bytes]()
    for _ in range(MAX_TRIES):
        begin = data.rfind(_HEADER, 0, end - 1) + 1
        above = frozenset(_FUNCTION.findall(data, begin, end))
        if below and above and below.isdisjoint(above):
            return end
        if not begin:
            break
        end, below = begin, above
    return 0


def _above_module(data: bytes, module: int) -> int:
    """Return the offset of the aliases of a module if another module ends above them; else 0."""
    first, at, has_others = module, module, False
    while at:
        start = data.rfind(b"\n", 0, at - 1) + 1
        alias = _ALIAS.match(data, start, at)
        if alias is not None:
            is_others = alias["location"] is not None and alias["name"] != _FIRST_LOCATION
            has_others |= is_others
            first = first if is_others else start
        elif _NOTHING.fullmatch(data, start, at) is None:
            is_cut = first < module or not has_others
            return first if is_cut and _ends_module(data, start, at) else 0
        at = start
    return 0


def _ends_module(data: bytes, start: int, end: int) -> bool:
    """Tell whether a line is the brace that closes a module."""
    begin = data.rfind(_MODULE, 0, start)
    is_brace = _ENDING.fullmatch(data, start, end) is not None
    return begin >= 0 and is_brace and data.find(_END, begin) == start - 1


def _is_used_above(name: bytes, data: bytes) -> bool:
    """Tell whether an alias (with ``#`` or ``!``) is used in a text above its definition."""
    use = re.search(re.escape(name) + rb"(?![\w$-])", data)
    if use is None:
        return False
    begins_line = use.start() == 0 or data[use.start() - 1] == ord("\n")
    return not (begins_line and _ALIAS.match(data, use.start()) is not None)
