"""Colours in a stream of text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tt_layout.colour import RESET, style
from tt_layout.terminal.tokens import Tokens

Chunk = bytes | memoryview

_COLOUR = r"\x1b\[[0-9;]*m"
_CHARACTER = re.compile(rf"(?:{_COLOUR})*.(?:\x1b\[0m)?")


def paint(chunks: Iterable[Chunk], tokens: Tokens) -> Iterator[bytes]:
    """Yield the same text with every token in the colour of its group.

    A token that a chunk cuts in two waits for the next chunk; nothing else is kept.
    """
    count, rest = 0, b""
    for chunk in chunks:
        text = rest + bytes(chunk)
        end = 1 + max(text.rfind(mark) for mark in (bytes([byte]) for byte in tokens.ends))
        painted, found = _painted(text[:end], tokens, count)
        count, rest = count + found, text[end:]
        if painted:
            yield painted
    painted, _ = _painted(rest, tokens, count)
    yield painted


def _painted(text: bytes, tokens: Tokens, count: int) -> tuple[bytes, int]:
    """Return text with colours, and the number of its tokens."""
    matches = list(tokens.pattern.finditer(text))
    if not matches:
        return text, 0
    pieces, end = [], 0
    for match, group in zip(matches, tokens.groups(matches, count).tolist()):
        pieces += [text[end : match.start()], style(group), match.group(), RESET]
        end = match.end()
    return b"".join([*pieces, text[end:]]), len(matches)


def characters(text: str) -> list[str]:
    """Return the characters of a text, each with the colours that begin or end at it.

    Example:
        >>> characters("a\\x1b[38;5;27mb\\x1b[0m")
        ['a', '\\x1b[38;5;27mb\\x1b[0m']
    """
    return _CHARACTER.findall(text)


def unpainted(text: str) -> str:
    """Return text without any colours.

    Example:
        >>> unpainted("\\x1b[38;5;27mT0:0\\x1b[0m")
        'T0:0'
    """
    return re.sub(_COLOUR, "", text)
