"""The one way to the files that input names: how they are opened, and how much of them is read.

Whatever an argument, a manifest, a dump or a log names is opened here and nowhere else
(`tests/project/test_files.py`).  Only regular files are read, once every link is followed, so that
nothing waits for a pipe or reads a device; and of each no more than a limit, however it grows
meanwhile.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, RawIOBase
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from tt_layout.errors import FileLocation, LayoutError, file_error, not_a_name

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_BYTES = 1 << 29
"""A longer file is not a dump of a kernel; perhaps it never ends."""

MAX_DECOMPRESSED = 1 << 27
"""Bytes of a compressed file: a small one may stand for any number of them."""

CHUNK = 1 << 20
"""Bytes that are read at once."""

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
"""How compressed files begin."""

MAX_PREFIX = 40
"""Characters of a file's name in that of the file that takes its place."""

MAX_MARKED = 1 << 12
"""Bytes at either end of a file from which it is known whose report it is."""

NAME = "tt-layout"
"""What this program calls its folders."""

TAG = "CACHEDIR.TAG"
TAG_TEXT = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# This folder is a cache of tt-layout; it may be deleted.\n"
)
"""What marks a folder as a cache, for backups and for us: https://bford.info/cachedir/."""

ENTRY = ".result"
"""How the names of entries end."""

MAX_ENTRY = 8 << 20
"""Bytes of an entry: more is neither kept nor read."""

ABANDONED = 3600.0
"""Seconds after which the file of an entry that is being written is taken to be left behind."""

_ENTRY = re.compile(rf"[0-9a-f]{{64}}{re.escape(ENTRY)}")
_TEMPORARY = re.compile(rf"\.(?:[0-9a-f]{{{MAX_PREFIX}}}|{re.escape(TAG)})\.[a-z0-9_]+")

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
        mode = os.stat(path).st_mode
        if not stat.S_ISDIR(mode):  # of which opening says whether it may be read at all
            _refuse_special(mode)  # opening a pipe would already wake who writes it
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
    """Yield the contents of an open file, chunk by chunk.

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
    """Return the contents of a file.

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
        LayoutError: zstd is needed and not installed, or the file is compressed twice.
    """
    buffered = file if isinstance(file, BufferedReader) else BufferedReader(cast("RawIOBase", file))
    start = buffered.peek(len(ZSTD))[: len(ZSTD)]
    if start.startswith(GZIP):
        import gzip

        stream: gzip.GzipFile | BufferedReader = gzip.GzipFile(fileobj=buffered)
    elif start == ZSTD:
        stream = _of_zstd(buffered)
    else:
        return cast("BinaryIO", buffered)
    if stream.peek(len(ZSTD)).startswith((GZIP, ZSTD)):
        raise LayoutError("it is compressed twice: decompress it once")
    return cast("BinaryIO", stream)


def limit_of(content: BinaryIO) -> int:
    """Return how many bytes are read of what `decompressed` returns."""
    return MAX_BYTES if type(content) is BufferedReader else MAX_DECOMPRESSED


class _Decompressed(BufferedReader):
    """The content of a file that is compressed by zstd."""


def _of_zstd(file: BufferedReader) -> _Decompressed:
    """Read zstd by Python 3.14, or else by the package zstandard."""
    from importlib import import_module

    for module in ("compression.zstd", "zstandard"):
        try:
            zstd = import_module(module)
        except ImportError:
            continue
        if module == "compression.zstd":
            return _Decompressed(zstd.ZstdFile(file))
        stream = zstd.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return _Decompressed(_CheckedStream(stream, zstd.ZstdError))
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


def is_same(path: str, other: str) -> bool:
    """Return whether two names are of one regular file.

    Example:
        >>> is_same(__file__, __file__), is_same("/dev/null", "/dev/null"), is_same("a", "b")
        (True, False, False)
    """
    try:
        return os.path.isfile(path) and os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def is_inside(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Return whether a file is inside a folder, or the folder itself, once every link is followed.

    Raises:
        OSError: its name is not one of a file.

    Example:
        >>> is_inside("a/b", "a"), is_inside("a/../b", "a"), is_inside("ab", "a")
        (True, False, False)
    """
    try:
        resolved, top = os.path.realpath(path), os.path.realpath(folder)
    except ValueError as error:
        raise not_a_name(error) from None
    return resolved == top or resolved.startswith(os.path.join(top, ""))


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


def matching(folder: str, pattern: str) -> list[str]:
    """Return the regular files that a pattern names in a folder, in order; links are followed.

    ``*``, ``?`` and ``[..]`` stand for characters of one name, ``**`` for any folders, none of them
    a link.  A folder that cannot be read has no files.

    Example:
        >>> [os.path.basename(path) for path in matching(os.path.dirname(__file__), "fil?s.py")]
        ['files.py']
    """
    from fnmatch import fnmatchcase

    parts = _parts(pattern)

    def passed(places: set[int]) -> set[int]:
        """Add the places behind ``**``, which may stand for nothing."""
        for place in sorted(places):
            while place < len(parts) and parts[place] == "**":
                places.add(place := place + 1)
        return places

    paths: list[str] = []
    pending = [(folder, passed({0}))]
    while pending:
        parent, places = pending.pop()
        for entry in _entries(parent):
            name = entry.name
            left = [place for place in places if place < len(parts)]
            reached = {p + 1 for p in left if parts[p] != "**" and fnmatchcase(name, parts[p])}
            if entry.is_dir(follow_symlinks=False):
                reached.update(place for place in left if parts[place] == "**")
            after = passed(reached)
            if len(parts) in after and os.path.isfile(entry.path):
                paths.append(entry.path)
            if after - {len(parts)} and os.path.isdir(entry.path):
                pending.append((entry.path, after))
    return sorted(paths)


def _parts(pattern: str) -> list[str]:
    """Return the parts of a pattern between its slashes.

    Example:
        >>> _parts("a/./**/**//*.ttgir")
        ['a', '**', '*.ttgir']
    """
    parts: list[str] = []
    for part in pattern.replace(os.sep, "/").split("/"):
        is_again = part == "**" and parts[-1:] == ["**"]  # several in a row are as one
        if part not in ("", ".") and not is_again:
            parts.append(part)
    return parts


def names_in(folder: str) -> list[str]:
    """Return the names of what is in a folder, in order; none where it cannot be read."""
    return sorted(entry.name for entry in _entries(folder))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (OSError, ValueError):
        return []


def stamp_of(path: str) -> tuple[int, ...]:
    """Return a stamp that changes with a file; an empty one where it is missing.

    Example:
        >>> stamp_of(__file__) == stamp_of(__file__), stamp_of("nowhere.mlir")
        (True, ())
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


# -- writing --------------------------------------------------------------------------------------


@contextmanager
def replacing(path: str, *, is_private: bool = False) -> Iterator[IO[bytes]]:
    """Open a file whose content is replaced at the end, all at once.

    What is not a regular file (a device, a pipe) is written in place; a link is followed.

    Args:
        path: of the file.
        is_private: whether only its owner may read it; then it takes the place of a link, and of
            whatever is not a folder.

    Raises:
        OSError: it cannot be written; it is as it was.
    """
    mode = mode_of(path) if not is_private else None
    if mode is not None and not stat.S_ISREG(mode):
        # A pipe that nobody reads is refused at once, where it would be waited for.
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
        os.set_blocking(descriptor, True)
        with os.fdopen(descriptor, "wb") as file:
            yield file
        return
    from tempfile import mkstemp

    target = os.path.realpath(path) if not is_private else path
    name = os.path.basename(target)[:MAX_PREFIX]
    descriptor, temporary = mkstemp(dir=os.path.dirname(target), prefix=f".{name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        if not is_private:
            os.chmod(temporary, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def mode_of(path: str | os.PathLike[str]) -> int | None:
    """Return the mode of a file, once every link is followed; None if it does not exist.

    Raises:
        OSError: the path leads nowhere, such as a link to itself, or is no name of a file.
    """
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise not_a_name(error) from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def make_folder(path: str, *, is_private: bool = False) -> None:
    """Make a folder, and those above it that are missing.

    Args:
        path: of the folder; "" is the current one.
        is_private: whether only its owner may look into it.

    Raises:
        OSError: it cannot be made.
    """
    try:
        os.makedirs(path or ".", 0o700 if is_private else 0o777, exist_ok=True)
    except ValueError as error:
        raise not_a_name(error) from None


def remove(path: str) -> None:
    """Remove a file that this program has made, or a link of its name; none is no error.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)


def scratch() -> IO[bytes]:
    """Open a file without a name, which is gone when it is closed."""
    from tempfile import TemporaryFile

    return TemporaryFile()


# -- reports that nobody looks after --------------------------------------------------------------


def is_foreign(path: str, is_own: Callable[[bytes, bytes], bool]) -> bool:
    """Tell whether there is a file that is neither empty nor one that this program wrote.

    Args:
        path: of the file.
        is_own: tells from the first and the last bytes of a file whether this program wrote it.

    Raises:
        OSError: it cannot be read.

    Example:
        >>> is_foreign(__file__, lambda start, end: False), is_foreign("/dev/null", min)
        (True, False)
    """
    mode = mode_of(path)
    if mode is None or not stat.S_ISREG(mode):
        return False
    with open_file(path) as file:
        start = file.read(MAX_MARKED)
        file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_MARKED))
        end = file.read(MAX_MARKED)
    return bool(start) and not is_own(start, end)


def refuse_foreign(path: str, is_own: Callable[[bytes, bytes], bool], force: str | None) -> None:
    """Make the folder of a report, and raise an error unless the report can be written there.

    A device and a pipe can; a file can if it is empty, or an earlier report of this program.

    Args:
        path: of the report.
        is_own: as `is_foreign` takes it.
        force: what whoever asks for the report can say to replace any file; None where that is
            said.

    Raises:
        OSError: it cannot be written there.
    """
    make_folder(os.path.dirname(path))
    mode = mode_of(path)
    if mode is None:
        folder = os.path.dirname(os.path.realpath(path))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    elif stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    elif force is not None and is_foreign(path, is_own):
        reason = f"it is there and no report of tt-layout; {force} replaces it"
        raise FileExistsError(errno.EEXIST, reason)


def write_report(
    path: str, content: bytes, is_own: Callable[[bytes, bytes], bool], force: str | None
) -> None:
    """Write a report as `refuse_foreign` allows it, whole or not at all.

    Raises:
        OSError: it cannot be written there; what was there is as before.
    """
    refuse_foreign(path, is_own, force)
    with replacing(path) as file:
        file.write(content)


def write_aside(content: bytes, ending: str) -> str:
    """Write what has found no place into a temporary file, which stays; return its path.

    Raises:
        OSError: that cannot be written either.
    """
    from tempfile import mkstemp

    descriptor, path = mkstemp(prefix="tt-layout-", suffix=ending)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return path


# -- a folder of this program's own ---------------------------------------------------------------


def user_cache() -> str:
    """Return the folder of this program among a user's caches, where the system has them.

    Example:
        >>> os.path.basename(user_cache())
        'tt-layout'
    """
    import sys

    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or home, NAME, "Cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", NAME)
    base = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.join(home, ".cache"), NAME)


def private_folder(name: str) -> str:
    """Make a folder with a name that begins so, and that nobody else can give to one, even later.

    It is among temporary files, or where others may write there, among the caches of the user:
    processes that outlive a folder may still know its path, and would trust what is made there.

    Raises:
        OSError: it cannot be made.
    """
    from tempfile import gettempdir, mkdtemp

    if os.stat(gettempdir()).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        parent = os.path.join(user_cache(), "watched")
        with suppress(OSError):
            make_folder(parent, is_private=True)
            return mkdtemp(prefix=name, dir=parent)
    return mkdtemp(prefix=name)


class CacheFolder:
    """Entries in a folder of their own; what is gone is made again, what is not ours stays.

    The folder has a ``CACHEDIR.TAG`` that says whose it is.  One that has other files gets a folder
    for the entries in it.  Only its owner may look into it, and entries of other owners are none.

    Args:
        path: of the folder, which is made if it is not there.

    Raises:
        LayoutError: it cannot be made, or written to.
    """

    def __init__(self, path: str) -> None:
        try:
            self.path = path if self._is_ours(path) else os.path.join(path, NAME)
            if not self._is_ours(self.path):
                raise FileExistsError(errno.EEXIST, "it has files of others")
            make_folder(self.path, is_private=True)
            tag = os.path.join(self.path, TAG)
            if not os.path.lexists(tag):
                with replacing(tag, is_private=True) as file:
                    file.write(TAG_TEXT)
        except OSError as error:
            message = f"cannot keep results there: {error.strerror or error}"
            raise LayoutError(message, FileLocation(path)) from None

    @staticmethod
    def _is_ours(path: str) -> bool:
        """Return whether a folder has our tag, or nothing, or is not there.

        Raises:
            OSError: it cannot be read.
        """
        try:
            names = os.listdir(path)
        except FileNotFoundError:
            return True
        except ValueError as error:
            raise not_a_name(error) from None
        if TAG not in names:
            return all(_TEMPORARY.fullmatch(name) for name in names)
        with open_file(os.path.join(path, TAG)) as file:
            return file.read(len(TAG_TEXT)) == TAG_TEXT

    def read(self, key: str) -> bytes | None:
        """Return an entry; None where there is none, or it is not one of ours."""
        path = self._entry(key)
        try:
            if os.path.islink(path):
                return None
            with open_file(path) as file:
                status = os.fstat(file.fileno())
                if status.st_size > MAX_ENTRY or _owner() not in (None, status.st_uid):
                    return None
                content = file.read(MAX_ENTRY)
            os.utime(path)
        except OSError:
            return None
        return content

    def write(self, key: str, content: bytes) -> None:
        """Keep an entry; where that cannot be, or it is too long, it is not kept."""
        if len(content) > MAX_ENTRY:
            return
        with suppress(OSError), replacing(self._entry(key), is_private=True) as file:
            file.write(content)

    def shrink(self, most: int) -> None:
        """Remove the entries that were not used for longest, until so many bytes are left."""
        from time import time

        entries = []
        for entry in _entries(self.path):
            is_entry = _ENTRY.fullmatch(entry.name) is not None
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                is_left = _TEMPORARY.fullmatch(entry.name) and status.st_mtime < time() - ABANDONED
                if stat.S_ISREG(status.st_mode) and (is_entry or is_left):
                    entries.append((is_entry, status.st_mtime, status.st_size, entry.path))
        total = sum(size for _, _, size, _ in entries)
        for is_entry, _, size, path in sorted(entries):
            if is_entry and total <= most:
                return
            total -= size
            with suppress(OSError):  # another process may have removed it
                remove(path)

    def _entry(self, key: str) -> str:
        return os.path.join(self.path, f"{key}{ENTRY}")


def _owner() -> int | None:
    """Return the user that this process is; None where the system has no numbers for them."""
    return os.geteuid() if hasattr(os, "geteuid") else None
