"""Line breaks in words, for lines wider than the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from click import unstyle

INDENT = 4
CUT = "..."

_COLOUR = r"\x1b\[[0-9;]*m"
_CHARACTER = re.compile(rf"(?:{_COLOUR})*.(?:\x1b\[0m)?")

# Not before an equals sign, nor in "--slice 0:4", "-o k.html" or "on tensor<...>".
_BREAK = re.compile(r"(?<=\S)(?<! on)(?<! -[a-z]) (?!=|[\d,:]*:)|(?<=[{<])(?=\w+ =)")
_CLAUSE = re.compile(r"\S[,;:{<]$| (->|\^)$")
_CUT_ROW = re.compile(rf" *[-+].*{re.escape(CUT)}$")
_MARK = re.compile(r"(?<=\S)(?= )|(?<=[^\w\s])")
_COLUMN = re.compile(r" *\S+(?: \S+)*  +(?=\S)|")
_DEPTH = {"[": 4, "]": -4, "{": 2, "}": -2, "(": 2, ")": -2, "<": 1, ">": -1}


def fold(text: str, width: int | None) -> str:
    """Fold text to a width; continuation lines are indented.

    What continues a line stands below its first word and four characters further, or below the
    second column of a line that has two.  A line that is at least a third full ends inside as few
    brackets as can be, there behind a comma or the like rather than behind a word, and inside a
    word only if it must.  A row of a diff that was cut is cut again.  Colours take no room.

    Args:
        text: one or several lines.
        width: the characters in a line of the terminal; None without a terminal.

    Example:
        >>> print(fold("#ttg.slice<{dim = 1, parent = #ttg.blocked<{order = [1, 0]}>}>", 36))
        #ttg.slice<{dim = 1,
            parent = #ttg.blocked<{
            order = [1, 0]}>}>
        >>> print(fold("  vector    4 elements, 8 bytes of 128", 36))
          vector    4 elements,
                    8 bytes of 128
    """
    if width is None:
        return text
    return "\n".join(piece for line in text.split("\n") for piece in _pieces(line, width))


def _pieces(line: str, width: int) -> Iterator[str]:
    """Yield the lines into which a line is folded."""
    plain, shown, start, indent = unstyle(line), characters(line), 0, ""
    if len(plain) > width and _CUT_ROW.match(plain):
        yield "".join(shown[: max(1, width - len(CUT))]) + CUT
        return
    hanging = _hanging(plain, width)
    while len(plain) - start > width - len(indent):
        end = start + _end(plain[start:], width - len(indent))
        yield indent + "".join(shown[start:end])
        start = end + plain.startswith(" ", end)
        indent = " " * hanging
    yield indent + "".join(shown[start:])


def _hanging(line: str, width: int) -> int:
    """Return the characters in front of what continues a line."""
    column = _COLUMN.match(line)
    assert column is not None
    if 0 < column.end() <= width // 3:
        return column.end()
    lead = len(line) - len(line.lstrip(" "))
    return min(lead + INDENT, width // 3) if lead else min(INDENT, width // 8)


def _end(text: str, room: int) -> int:
    """Return the length of the first line of a text that is too long."""
    breaks = [match.start() for match in _BREAK.finditer(text) if match.start() <= room]
    good = [at for at in breaks if 3 * at >= room]
    if good:
        return min(good, key=lambda at: (_cost(text[:at]), -at))
    marks = [match.start() for match in _MARK.finditer(text, 1) if match.start() <= room]
    return (breaks or marks or [room])[-1]


def _cost(line: str) -> int:
    """Return the cost of a line break for a reader."""
    depth = sum(_DEPTH.get(character, 0) for character in line)
    if _CLAUSE.search(line):
        return depth
    return depth + (3 if line.endswith("=") else 1)


def characters(text: str) -> list[str]:
    """Split a text into characters, each with the colours that begin or end at it.

    Example:
        >>> characters("a\\x1b[38;5;27mb\\x1b[0m")
        ['a', '\\x1b[38;5;27mb\\x1b[0m']
    """
    return _CHARACTER.findall(text)
