"""Errors of this package for bad input.

Inner code says what it knows: the subject, the rule, what was found.  Whoever holds the
text adds where (a `SourceLocation`), and the command line prints it with a caret.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from tt_layout.safe_text import safe, shortened
from tt_layout.tuples import NamedTuple

MAX_MESSAGE = 4000  # characters; it may repeat a name of any length
MAX_SHOWN = 100  # characters of a wrong argument
MAX_NAME = 1000  # characters of the name of a file
MAX_ERRORS = 20  # that are shown together


class SourceLocation(Protocol):
    """Location of an error, as far as it is known."""

    @property
    def file(self) -> str:
        """The name of the text, such as that of its file."""

    @property
    def line(self) -> int | None:
        """The line, counted from 1."""

    @property
    def column(self) -> int | None:
        """The column, counted from 1."""

    @property
    def excerpt(self) -> str:
        """The line itself with carets under what is wrong; empty where it is not shown."""


class FileLocation(NamedTuple):
    """A file, or a line of it, whose text is not shown."""

    file: str
    line: int | None = None
    column: int | None = None
    excerpt: str = ""


class LayoutError(ValueError):
    """An error in the input of this package, with its reason.

    Attributes:
        message: subject, rule, what was found and the way out, on one line.
        location: where the text at fault is, or None without a text.

    Example:
        >>> str(LayoutError("order must be a permutation of 0..1, got [1, 1]"))
        'order must be a permutation of 0..1, got [1, 1]'
        >>> str(LayoutError("the file is empty", FileLocation("a.mlir")))
        'a.mlir: error: the file is empty'
    """

    def __init__(self, message: str, location: SourceLocation | None = None) -> None:
        self.message = shortened(message, MAX_MESSAGE)
        super().__init__(self.message)
        self.location = location

    def at(self, location: SourceLocation | None) -> LayoutError:
        """Return the error with ``location``, unless it has one already."""
        if self.location is None and location is not None:
            return type(self)(self.message, location)
        return self

    def hint(self, text: str) -> LayoutError:
        """Return the error with a way out appended."""
        return type(self)(f"{self.message}; {text}", self.location)

    @property
    def summary(self) -> str:
        """One line: the message, with its location where no excerpt shows it."""
        where = self.location
        return self.message if where is None or where.excerpt else str(self)

    def printed(self) -> str:
        """Format the error for the standard error stream: a heading and the excerpt, if any.

        Example:
            >>> LayoutError("a page needs at least one layout").printed()
            'error: a page needs at least one layout'
        """
        return str(self) if self.location is not None else f"error: {self.message}"

    def __str__(self) -> str:
        where = self.location
        if where is None:
            return self.message
        numbers = [str(number) for number in (where.line, where.column) if number is not None]
        heading = (
            ":".join([safe(shortened(where.file, MAX_NAME)), *numbers]) + ": error: " + self.message
        )
        return f"{heading}\n{where.excerpt}" if where.excerpt else heading


class UnknownKeyError(LayoutError):
    """A key that the release in force does not know."""


class NothingFoundError(LayoutError):
    """A file without content to read: empty, not text, or of another kind."""


class PlaceholderError(LayoutError):
    """An attribute in place of a layout that is not chosen yet."""


class UnmappedError(LayoutError):
    """A valid layout attribute that has no linear layout here: as one of an unknown dialect."""


class TooLargeError(LayoutError):
    """An answer that exceeds its limit; raised before any of it is computed."""


class SeveralError(LayoutError):
    """Several errors of one text, reported together.

    Args:
        errors: in the order of the text; at least one.
    """

    def __init__(self, errors: Sequence[LayoutError]) -> None:
        super().__init__(errors[0].message, errors[0].location)
        self.errors = tuple(errors)

    def __str__(self) -> str:
        told = [str(error) for error in self.errors[:MAX_ERRORS]]
        if (left := len(self.errors) - MAX_ERRORS) > 0:
            from tt_layout.wording import count

            told.append(f"{count(left, 'more error')} of {len(self.errors)}")
        return "\n".join(told)


def not_a_name(error: ValueError) -> OSError:
    """Return the error of a file name that the system cannot represent.

    Example:
        >>> not_a_name(ValueError("embedded null byte"))
        OSError('its name has a character 0x00')
    """
    if isinstance(error, UnicodeEncodeError):
        return OSError(f"file names are in {error.encoding} here, in which it cannot be written")
    return OSError("its name has a character 0x00")


def file_error(doing: str, path: object, error: Exception) -> LayoutError:
    """Return the error of a file that cannot be read or written.

    Example:
        >>> print(file_error("write", "a.txt", IsADirectoryError(21, "Is a directory")))
        a.txt: error: cannot write: Is a directory
    """
    reason = getattr(error, "strerror", None) or error
    return LayoutError(f"cannot {doing}: {reason}", FileLocation(str(path)))


@contextmanager
def pointing_at(location: SourceLocation | None) -> Iterator[None]:
    """Add a location to errors that have none.

    Example:
        >>> with pointing_at(FileLocation("a.mlir", 3)):
        ...     raise LayoutError("no axis 2")
        Traceback (most recent call last):
        tt_layout.errors.LayoutError: a.mlir:3: error: no axis 2
    """
    try:
        yield
    except LayoutError as error:
        raise error.at(location) from None


def expect(name: str, value: object, *kinds: type) -> None:
    """Raise a `TypeError` naming the argument unless it is an instance of one of the kinds.

    Example:
        >>> expect("shape", [4, 4], list, tuple)
        >>> expect("outer", 3, str)
        Traceback (most recent call last):
        TypeError: outer must be a str, got 3 of int
    """
    if not isinstance(value, kinds):
        words = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be a {words}, got {shown(value)}")


def shown(value: object) -> str:
    """Format a value of a wrong type for a message.

    Example:
        >>> shown([0.5])
        '[0.5] of list'
    """
    text = safe(" ".join(repr(value).split()))
    return f"{shortened(text, MAX_SHOWN)} of {type(value).__name__}"


def quoted(text: str) -> str:
    """Quote a text for a message, shortened.

    Example:
        >>> quoted("ab"), len(quoted("[" * 100_000)) < 200
        ("'ab'", True)
    """
    return shortened(repr(text), MAX_SHOWN)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to ``name``, if any is, for "did you mean".

    A dialect in front does not count, but of equals that of the same dialect is taken.

    Example:
        >>> nearest("sizePerThred", ["order", "sizePerThread"])
        'sizePerThread'
        >>> nearest("ttg.bloked", ["triton_gpu.blocked", "ttg.blocked", "ttg.dot_op"])
        'ttg.blocked'

    A name that lacks the beginning of another is that:

        >>> nearest("triton_gpu.mfma", ["triton_gpu.mma", "triton_gpu.amd_mfma"])
        'triton_gpu.amd_mfma'
    """
    from difflib import get_close_matches

    dialect, _, mnemonic = name.rpartition(".")
    by_mnemonic: dict[str, list[str]] = {}
    for other in candidates:
        by_mnemonic.setdefault(other.rpartition(".")[2], []).append(other)
    longer = [other for other in by_mnemonic if other.endswith(f"_{mnemonic}")]
    is_one = len(longer) == 1 and mnemonic not in by_mnemonic
    matches = longer if is_one else get_close_matches(mnemonic, by_mnemonic)
    if not matches:
        return None
    return max(by_mnemonic[matches[0]], key=lambda other: other.rpartition(".")[0] == dialect)
