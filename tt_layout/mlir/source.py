"""Source texts with names and positions, for errors that point at them."""

from __future__ import annotations

import re
from codecs import IncrementalDecoder, getincrementaldecoder
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tt_layout.errors import FileLocation, LayoutError, NothingFoundError, file_error
from tt_layout.records import dataclass
from tt_layout.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

BLOCK = 1 << 12  # characters whose lines are counted at once
STRING = r'[^"\\\n]*(?:\\.[^"\\\n]*){0,65535}'
"""The pattern of a string without its quotes; a bound on the escapes is one on the memory."""
QUOTED = rf'"{STRING}(?:"|\\[^\n]*)'
"""The pattern of a string; one of too many escapes goes on to the end of its line."""
UNPLACED = "\N{SYMBOL FOR NEWLINE}"
"""What stands before the number of a line of a piece whose place in its file is not told yet."""
_UNPLACED = re.compile(rf"{UNPLACED}(\d+)")
EXCERPT_WIDTH = 110  # columns of a source line that a message shows
DOTS = "..."
"""What stands where an excerpt is cut."""
SUFFIXES = (".mlir", ".ttgir", ".ttir", ".ndjson", ".ndjson.gz", ".ndjson.zst")
"""How the names of dumps, and of logs of tritonparse, end."""
LOG_SUFFIXES = (".log", ".txt", ".out", ".err", ".html", ".json", ".jsonl")
"""How the names of files end that may have a dump in them, which their text shows."""
COMPRESSED_SUFFIXES = (".gz", ".zst")
"""What may stand behind the ending of a compressed dump or log."""
MARKS = (b"IR Dump Before", b"IR Dump After", b"ttg.num-warps", b"triton_gpu.num-warps")
"""What is in a log that has a dump, wrapped or not."""
MARKED_BYTES = 1 << 24
"""Bytes of a log in which marks are looked for."""
TLPARSE = "compile_directory.json"
"""The file by which a folder of tlparse is known."""
TLPARSE_LOG = "raw.log"
"""The log that tlparse copies, in whose folder all that it holds has a file of its own."""
WHAT_DUMPS_ARE = "no .mlir, .ttir, .ttgir or .ndjson file, and no log with MLIR in it"
BINARY = {
    b"PK\x03\x04": "a zip archive: unpack it, and give the folder",
    b"\xfd7zXZ\x00": "compressed by xz: decompress it (xz -d) first",
    b"BZh": "compressed by bzip2: decompress it (bzip2 -d) first",
    b"\x7fELF": "a compiled binary: give the .ttgir beside it",
    b"\xff\xfe": "UTF-16: save it as UTF-8",
    b"\xfe\xff": "UTF-16: save it as UTF-8",
    b"SQLite format 3": "a database of SQLite, such as a report of Nsight Systems: give the .ttgir",
    b"\x89PNG": "a picture",
    b"%PDF-": "a PDF",
}
"""How files begin that are not text -> what they are, and what to do."""
TAR, TAR_OFFSET = b"ustar", 257
"""What is where in the first block of a tar archive."""


class UnplacedLine(int):
    """Line number in a piece of a file, resolved to the file's line only when it is printed.

    Its value is the line in the piece.  In a text it carries a mark by which `in_file` finds it;
    adding to or subtracting from it gives another line of the piece.

    Example:
        >>> line = UnplacedLine(3) + 1
        >>> line == 4, line - UnplacedLine(3), in_file(f"see line {line}", 100)
        (True, 1, 'see line 104')
    """

    def __add__(self, other: int) -> UnplacedLine:
        return UnplacedLine(int(self) + int(other))

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        line = int(self) - int(other)
        return line if isinstance(other, UnplacedLine) else UnplacedLine(line)

    def __str__(self) -> str:
        return f"{UNPLACED}{int(self)}"


def in_file(text: str, down: int) -> str:
    """Return a text with the lines of a piece replaced by those of its file."""
    if UNPLACED not in text:
        return text
    return _UNPLACED.sub(lambda line: str(int(line[1]) + down), text)


def unmarked(text: str) -> str:
    """Return a text of equal length without anything that looks like the line of a piece.

    Example:
        >>> unmarked("a\\N{SYMBOL FOR NEWLINE}1")
        'a 1'
    """
    return text.replace(UNPLACED, " ")


def data_in_file(data: Any, down: int) -> Any:
    """Return plain data with the lines of a piece replaced by those of its file."""
    if isinstance(data, dict):
        return {key: data_in_file(value, down) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [data_in_file(value, down) for value in data]
    if isinstance(data, UnplacedLine):
        return int(data) + down
    return in_file(data, down) if isinstance(data, str) else data


@dataclass(frozen=True)
class Source:
    """A text, and its name in messages.

    Attributes:
        text: the whole text, or a piece.
        name: its name, such as that of its file.
        first_line: number of its first line; for a piece, more than 1 or an `UnplacedLine`.

    Example:
        >>> Source("ab\\ncd", "a.mlir").line_column(4)
        (2, 2)
        >>> Source("ab\\ncd", "a.mlir", first_line=100).line_column(4)
        (101, 2)
    """

    text: str
    name: str = "<layout>"
    first_line: int = 1

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """Number of lines before each block, and offset of the line in which the block begins.

        An offset for each line of a large text would take too much memory.
        """
        text, count, line = self.text, 0, 0
        blocks = [(0, 0)]
        for start in range(0, len(text), BLOCK):
            count += text.count("\n", start, start + BLOCK)
            line = text.rfind("\n", start, start + BLOCK) + 1 or line
            blocks.append((count, line))
        return blocks

    def beginning_with(self, line: int) -> Source:
        """Return the text with another number for its first line."""
        source = Source(self.text, self.name, line)
        vars(source)["_blocks"] = self._blocks
        return source

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of a character offset."""
        block = min(offset, len(self.text)) // BLOCK
        lines, start = self._blocks[block]
        lines += self.text.count("\n", block * BLOCK, offset)
        start = self.text.rfind("\n", block * BLOCK, offset) + 1 or start
        return lines + self.first_line, offset - start + 1

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a 1-based line and column."""
        return self._line_start(line) + column - 1

    def line(self, number: int) -> str:
        """Return line ``number`` without its newline."""
        start = self._line_start(number)
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)]

    def _line_start(self, number: int) -> int:
        from bisect import bisect_left

        above = number - self.first_line
        block = max(0, bisect_left(self._blocks, (above, 0)) - 1)
        start = block * BLOCK
        for _ in range(above - self._blocks[block][0]):
            start = self.text.index("\n", start) + 1
        return start

    def span(self, start: int, end: int) -> Span:
        """Return the span of characters ``start`` up to ``end``."""
        return Span(self, start, end)


@dataclass(frozen=True)
class Span:
    """Characters ``start`` up to ``end`` of a source: the position of an error.

    Example:
        >>> span = Source("order = [1, 1]", "a.mlir").span(8, 14)
        >>> print(LayoutError("not a permutation", span))
        a.mlir:1:9: error: not a permutation
        order = [1, 1]
                ^^^^^^
    """

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the span."""
        return self.source.text[self.start : self.end]

    @property
    def file(self) -> str:
        """The name of the source."""
        return self.source.name

    @property
    def line(self) -> int:
        """The line of its start, from 1."""
        return self.source.line_column(self.start)[0]

    @property
    def column(self) -> int:
        """The column of its start, from 1."""
        return self.source.line_column(self.start)[1]

    @property
    def excerpt(self) -> str:
        """The line, and carets under the span.

        A long line is cut to the part around the span, with ``...`` where it was cut.
        """
        line = self.source.line(self.line)
        indent = self.column - 1
        width = max(1, min(self.end - self.start, len(line) - indent))
        if len(line) > EXCERPT_WIDTH:
            line, indent, width = _cut(line, indent, width, EXCERPT_WIDTH)
        shown = safe(line)
        return f"{shown}\n{' ' * indent}{'^' * width}"


def narrowed(line: str, carets: str, columns: int) -> str:
    """Cut the two lines of an excerpt to a terminal: one that wraps tears them apart.

    Example:
        >>> narrowed("#blocked = #ttg.blocked<{order = [1, 1]}>", f"{'':33}^^^^^^", 30).split("\\n")
        ['...locked<{order = [1, 1]}>', '                   ^^^^^^']
    """
    indent, width = carets.count(" "), carets.count("^")
    if len(line) > columns:
        line, indent, width = _cut(line, indent, width, max(1, columns - 2 * len(DOTS)))
    return f"{line}\n{' ' * indent}{'^' * width}"


def _cut(line: str, indent: int, width: int, columns: int) -> tuple[str, int, int]:
    """Cut a long line to a window around the caret; return it with the new column of the caret."""
    start = max(0, min(indent - columns // 3, len(line) - columns))
    end = min(len(line), start + columns)
    before, after = DOTS if start else "", DOTS if end < len(line) else ""
    caret = len(before) + indent - start
    return before + line[start:end] + after, caret, min(width, end - indent)


def read_source(path: str, most: int | None = None, *, is_dump: bool = True) -> Source:
    """Return the text of a file, or of standard input for ``-``.

    Args:
        path: the file.
        most: maximum size in bytes; by default `tt_layout.files.MAX_BYTES`.
        is_dump: whether wrappers around a dump are removed.

        Raises:
            LayoutError: the file cannot be read, is not a regular file or not text, is empty, or is
                larger.
    """
    import zlib

    from tt_layout import files
    from tt_layout.mlir.wrappers import unwrapped

    if not path:
        raise LayoutError("expected the name of a file, got ''")
    name = "<stdin>" if path == "-" else path
    try:
        if path == "-":
            text = _read(files.decompressed(_standard_input()), name, most)
        else:
            with files.open_file(path) as file:
                text = _read(files.decompressed(file), name, most)
    except OSError as error:
        raise file_error("read", name, error) from None
    except (EOFError, zlib.error):
        message = "its compressed data is broken or cut off"
        raise LayoutError(message, FileLocation(name)) from None
    except LayoutError as error:
        raise error.at(FileLocation(name)) from None
    if not text or text.isspace():
        raise NothingFoundError("the file is empty", FileLocation(name))
    return Source(unwrapped(text) if is_dump else text, name)


def dumps_below(folder: str) -> list[str]:
    """Return the sorted paths of the dumps in a folder and below it, without hidden ones.

    Links are not followed.  A folder below it that cannot be read is included, since reading it
    raises the reason.  The copy of the log in a folder of tlparse is left out.

    Raises:
        LayoutError: the folder cannot be read.
    """
    import os

    from tt_layout import files

    unread: list[str] = []

    def fail(error: OSError) -> None:
        name = str(error.filename)
        if name == folder:
            raise file_error("read", name, error)
        unread.append(name)

    paths = [*files.files_below(folder, fail)]
    heads = [os.path.dirname(path) for path in paths if os.path.basename(path) == TLPARSE]
    copies = {os.path.join(head, TLPARSE_LOG) for head in heads}
    return sorted([*filter(_is_dump, (path for path in paths if path not in copies)), *unread])


def _is_dump(path: str) -> bool:
    """Tell whether a file of a folder is a dump, by its name or its text."""
    name = path
    for suffix in COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    return path.endswith(SUFFIXES) or name.endswith(SUFFIXES) or _is_log(path, name)


def _is_log(path: str, name: str) -> bool:
    """Tell whether a file has the name of a log, and contains a dump, wrapped or not."""
    import zlib

    from tt_layout import files
    from tt_layout.mlir.wrappers import is_wrapped

    if not name.endswith(LOG_SUFFIXES):
        return False
    try:
        with files.open_file(path) as file:
            content = files.decompressed(file)
            around = b""
            for _ in range(0, MARKED_BYTES, files.CHUNK):
                chunk = content.read(files.CHUNK)
                around = around[-files.CHUNK :] + chunk
                if any(mark in around for mark in MARKS):
                    around += content.read(files.CHUNK)
                    return is_wrapped(around.decode("utf-8", "replace"))
                if not chunk:
                    break
    except (OSError, EOFError, zlib.error, LayoutError):
        pass
    return False


def _standard_input() -> BinaryIO:
    import sys

    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer


def _read(file: BinaryIO, name: str, most: int | None = None) -> str:
    """Read a text in chunks, because a device may never end.

    It is never in memory twice, as bytes and as text.
    """
    from tt_layout import files

    decoder, text, size = getincrementaldecoder("utf-8")(), "", 0
    most = files.limit_of(file) if most is None else most
    for chunk in _pieces(file):  # Python 3.11 lets a text grow in its place in no while loop
        if b"\0" in chunk:
            message = f"not text: byte {size + chunk.index(0)} is 0x00{_kind(text, chunk)}"
            raise LayoutError(message, FileLocation(name))
        text += _decoded(decoder, chunk, size, name)
        size += len(chunk)
        if size > most:
            raise files.too_long(name, most)
    return text + _decoded(decoder, b"", size, name)


def _kind(above: str, chunk: bytes) -> str:
    """Describe a file that is not text, as the end of a message; empty if unknown.

    Args:
        above: the text before the chunk.
        chunk: a chunk of the file.
    """
    if above:
        return ""
    is_tar = chunk[TAR_OFFSET:].startswith(TAR)
    kind = "a tar archive: unpack it, and give the folder" if is_tar else None
    kind = kind or next((kind for start, kind in BINARY.items() if chunk.startswith(start)), None)
    return f"; it is {kind}" if kind else ""


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the pieces of a file, none of which ends between a carriage return and a newline."""
    from tt_layout import files

    held = b""
    while chunk := file.read(files.CHUNK):
        whole = held + chunk
        held = b"\r" if whole.endswith(b"\r") else b""
        if piece := whole.removesuffix(held):
            yield piece
    if held:
        yield held


def _decoded(decoder: IncrementalDecoder, chunk: bytes, size: int, name: str) -> str:
    """Decode the next chunk of a text after ``size`` bytes; an empty chunk ends it."""
    waiting = len(decoder.getstate()[0])
    try:
        return decoder.decode(chunk, final=not chunk).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        at, byte = size - waiting + error.start, error.object[error.start]
        message = f"not UTF-8 text: byte {at} is 0x{byte:02x}{_kind(' ' * size, chunk)}"
        raise NothingFoundError(message, FileLocation(name)) from None
