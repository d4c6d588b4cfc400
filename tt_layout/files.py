"""The one way to the files that input names: how they are opened, and how much of them is read.

Whatever an argument, a manifest, a dump or a log names is opened here and nowhere else
(`tests/test_files.py`).  Only regular files are read, once every link is followed, so that nothing
waits for a pipe or reads a device; and of each no more than a limit, however it grows meanwhile.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, BinaryIO, cast

from tt_layout.errors import FileLocation, LayoutError, file_error, not_a_name

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_BYTES = 1 << 29
"""A longer file is not a dump of a kernel; perhaps it never ends."""

CHUNK = 1 << 20
"""Bytes that are read at once."""

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
"""How compressed files begin."""

_NAMES = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}

_STREAMS = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/self/fd/\d+")
"""Names of descriptors, which may be of a pipe or a terminal."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


# -- reading --------------------------------------------------------------------------------------


def open_file(path: str) -> BinaryIO:
    """Open a file to read it; one that is not a regular file is refused at once.

    Only what is named as a descriptor, such as ``/dev/stdin``, may be a pipe or a terminal.

    Raises:
        OSError: it cannot be read, or is a folder, a device, a pipe or a socket.
    """
    if _STREAMS.fullmatch(path):
        return open(path, "rb")
    try:
        _refuse_special(os.stat(path).st_mode)  # opening a pipe would already wake who writes it
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:
        raise not_a_name(error) from None
    try:
        _refuse_special(os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _refuse_special(mode: int) -> None:
    """Raise an OSError unless a mode is that of a regular file."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(f"it is {_NAMES.get(stat.S_IFMT(mode), 'a device')}, not a file")


def chunks_of(file: BinaryIO, name: str, most: int = MAX_BYTES) -> Iterator[bytes]:
    """Yield what is in an open file, chunk by chunk.

    Args:
        file: as `open_file` returns it, or a stream.
        name: what messages call it.
        most: bytes that it may have.

    Raises:
        LayoutError: it has more.
        OSError: it cannot be read.
    """
    size = 0
    while chunk := file.read(CHUNK):
        size += len(chunk)
        if size > most:
            raise too_long(name, most)
        yield chunk


def read_bytes(path: str, most: int = MAX_BYTES) -> bytes:
    """Return what is in a file.

    Args:
        path: of the file.
        most: bytes that it may have.

    Raises:
        LayoutError: it cannot be read, is not a regular file, or has more bytes.

    Example:
        >>> read_bytes("/dev/null")
        Traceback (most recent call last):
        tt_layout.errors.LayoutError: /dev/null: error: cannot read: it is a device, not a file
    """
    try:
        with open_file(path) as file:
            return b"".join(chunks_of(file, path, most))
    except OSError as error:
        raise file_error("read", path, error) from None


def read_start(path: str, size: int) -> bytes:
    """Return at most so many bytes from the start of a file.

    Raises:
        LayoutError: it cannot be read, or is not a regular file.
    """
    try:
        with open_file(path) as file:
            return file.read(size) or b""
    except OSError as error:
        raise file_error("read", path, error) from None


def lines_of(path: str, most: int, longest: int) -> Iterator[bytes]:
    """Yield the lines of a file, which may be compressed, with their ends.

    Args:
        path: of the file.
        most: bytes that it may have, once it is no longer compressed.
        longest: bytes of a line; the rest of a longer one counts as the next line.

    Raises:
        LayoutError: it has more bytes.
        OSError: it cannot be read, is not a regular file, or is not compressed after all.
        EOFError, zlib.error: the compressed data ends in the middle, or is broken.
    """
    with open_file(path) as file:
        lines = decompressed(file)
        total = 0
        while line := lines.readline(longest):
            total += len(line)
            if total > most:
                raise too_long(path, most)
            yield line


def decompressed(file: BinaryIO) -> BinaryIO:
    """Return the content of an open file, decompressed if it is compressed by gzip or zstd.

    Reading a broken one raises an OSError, EOFError or zlib.error.

    Raises:
        LayoutError: zstd is needed and not installed.
    """
    buffered = file if isinstance(file, BufferedReader) else BufferedReader(cast("RawIOBase", file))
    start = buffered.peek(len(ZSTD))[: len(ZSTD)]
    if start.startswith(GZIP):
        import gzip

        return cast("BinaryIO", gzip.GzipFile(fileobj=buffered))
    return _of_zstd(buffered) if start == ZSTD else cast("BinaryIO", buffered)


def _of_zstd(file: BufferedReader) -> BinaryIO:
    """Read zstd by Python 3.14, or else by the package zstandard."""
    from importlib import import_module

    for module in ("compression.zstd", "zstandard"):
        try:
            zstd = import_module(module)
        except ImportError:
            continue
        if module == "compression.zstd":
            return cast("BinaryIO", BufferedReader(zstd.ZstdFile(file)))
        stream = zstd.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return cast("BinaryIO", BufferedReader(_CheckedStream(stream, zstd.ZstdError)))
    raise LayoutError("it is compressed by zstd: pip install 'tt-layout[zstd]' reads it")


class _CheckedStream(RawIOBase):
    """A stream whose errors are OSErrors."""

    def __init__(self, stream: BinaryIO, error: type[Exception]) -> None:
        self._stream, self._error = stream, error

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read into a buffer."""
        try:
            return self._stream.readinto(buffer)  # type: ignore[attr-defined, no-any-return]
        except self._error as error:
            raise OSError(str(error)) from None


def too_long(name: str, most: int) -> LayoutError:
    """Return the error for a file that has more bytes than are read.

    Example:
        >>> print(too_long("a.mlir", 1 << 29))
        a.mlir: error: longer than 512 MiB, the most that is read
    """
    from tt_layout.wording import size

    return LayoutError(f"longer than {size(most)}, the most that is read", FileLocation(name))


# -- finding --------------------------------------------------------------------------------------


def is_file(path: str) -> bool:
    """Return whether there is a regular file, once every link is followed.

    Example:
        >>> is_file(__file__), is_file("/dev/null"), is_file("a\\0b")
        (True, False, False)
    """
    return os.path.isfile(path)


def is_inside(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Return whether a file is inside a folder, or the folder itself, once every link is followed.

    Raises:
        OSError: its name is not one of a file.

    Example:
        >>> is_inside("a/b", "a"), is_inside("a/../b", "a"), is_inside("ab", "a")
        (True, False, False)
    """
    try:
        found, top = os.path.realpath(path), os.path.realpath(folder)
    except ValueError as error:
        raise not_a_name(error) from None
    return found == top or found.startswith(os.path.join(top, ""))


def files_below(folder: str, fail: Callable[[OSError], None]) -> Iterator[str]:
    """Yield the regular files in a folder and below it, hidden ones left out, in any order.

    Links are not followed.

    Args:
        folder: where to look.
        fail: called with the reason why a folder, its ``filename``, cannot be read.
    """
    pending = [folder]
    while pending:
        parent = pending.pop()
        try:
            with os.scandir(parent) as entries:
                shown = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError as error:
            fail(error)
            continue
        pending += [entry.path for entry in shown if entry.is_dir(follow_symlinks=False)]
        yield from (entry.path for entry in shown if entry.is_file(follow_symlinks=False))
