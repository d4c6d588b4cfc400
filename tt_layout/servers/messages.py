"""Raw messages of a client: protection against very long numbers and endless lines."""

from __future__ import annotations

import re
from typing import BinaryIO

MAX_DIGITS = 4000
"""Of a number: Python, and the readers of JSON, refuse somewhat longer ones, and with them the
whole message, whose sender would wait for ever."""

MAX_MESSAGE = 1 << 26
"""Bytes of a message: the largest text twice, for the characters that are escaped in it."""

_PIECE = re.compile(rb'\\.|"|-?[0-9]{%d,}' % MAX_DIGITS, re.DOTALL)
_LONG = re.compile(rb"[0-9]{%d}" % MAX_DIGITS)


def with_short_numbers(message: bytes) -> bytes:
    r"""Replace each number with too many digits in a JSON message by a string.

    The reader then reports that it is not a number.  Digits within strings are kept.

    Example:
        >>> digits = b"9" * 5000
        >>> with_short_numbers(b'{"line": %s}' % digits)
        b'{"line": "a number of 5000 digits"}'
        >>> message = b'{"dump": "\\"%s"}' % digits
        >>> with_short_numbers(message) == message
        True
    """
    if _LONG.search(message) is None:
        return message
    is_text = False

    def shortened(match: re.Match[bytes]) -> bytes:
        nonlocal is_text
        piece = match[0]
        is_text ^= piece == b'"'
        if is_text or len(piece) < MAX_DIGITS:
            return piece
        return b'"a number of %d digits"' % len(piece.lstrip(b"-"))

    return _PIECE.sub(shortened, message)


class Messages:
    """A stream of messages.

    Args:
        stream: a stream of bytes.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self, instead: bytes = b"\n") -> bytes:
        """Return the next line, or ``instead`` for one that is too long."""
        line = self._stream.readline(MAX_MESSAGE)
        while len(line) == MAX_MESSAGE and not line.endswith(b"\n"):
            rest = self._stream.readline(MAX_MESSAGE)
            if len(rest) < MAX_MESSAGE or rest.endswith(b"\n"):
                return instead
        return with_short_numbers(line)

    def read(self, size: int) -> bytes:
        """Return a message of ``size`` bytes, its numbers shortened; ``null`` if it is too long."""
        if size <= MAX_MESSAGE:
            return with_short_numbers(self._stream.read(size))
        while size > 0 and (piece := self._stream.read(min(size, MAX_MESSAGE))):
            size -= len(piece)
        return b"null"


class Lines:
    """Messages of one line of text each.

    Args:
        messages: the messages as bytes.
    """

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def readline(self) -> str:
        """Return the next line; one that is too long is replaced by one that is not JSON."""
        line = self._messages.readline(b"more than %d bytes\n" % MAX_MESSAGE)
        return line.decode("utf-8", "replace")
