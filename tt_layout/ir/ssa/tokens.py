"""The tokens of an operation's text, as one regular expression."""

from __future__ import annotations

import re

from tt_layout.ir.tokens import rest_of_group
from tt_layout.mlir.source import QUOTED

BALANCED = f"<{rest_of_group()}"
"""The pattern of ``<...>`` with others nested in it."""

_VALUE = r"%[\w$.-]+"

TOKEN = re.compile(
    rf"""(?:\s|//[^\n]*(?:\n|\Z))*(?:
        (?P<value>{_VALUE}(?:\#\d+)?)
      | (?P<type>!?[A-Za-z_][\w$.]*\s*{BALANCED}|![A-Za-z_][\w$.-]*)
      | (?P<word>[A-Za-z_][\w$.]*)
      | (?P<attribute>\#[A-Za-z_][\w$.-]*(?:{BALANCED})?)
      | (?P<number>-?(?:0x[\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
      | (?P<string>{QUOTED})
      | (?P<symbol>@(?:[\w$.-]+|"[^"\n]*"))
      | (?P<block>\^[\w$.-]+)
      | (?P<arrow>->)
      | (?P<short><(?!\s*\{{){BALANCED[1:]})
      | (?P<mark>.)
      | \Z
    )""",
    re.VERBOSE | re.ASCII,
)
"""One token, blanks and comments before it skipped; the name of the last group is its kind.

=============  ============================================================================
``value``      ``%12``, ``%5#1``
``type``       a word with ``<...>`` behind it, or a word with ``!`` before it
``word``       a name, with or without dialect
``attribute``  ``#blocked``, ``#ttg.slice<{...}>``
``number``     an integer or a float
``string``     with its quotation marks
``symbol``     ``@function``
``block``      ``^bb1``
``arrow``      ``->``
``short``      a type without its name, ``<8x8xf16, #shared>``
``mark``       any other character
=============  ============================================================================
"""

_SPREAD = re.compile(r"\s[<x]|<\s|\dx\s|\n")


_PACK = rf"{_VALUE}(?:\s*:\s*\d+)?"
VALUES = re.compile(rf"{_PACK}(?:\s*,\s*{_PACK})*(?P<equals>\s*=(?!=))?", re.ASCII)
"""Values beside each other: results of an operation, if an equals sign follows."""

RESULT = re.compile(rf"({_VALUE})(?:\s*:\s*(\d+))?", re.ASCII)

DICTIONARY = re.compile(
    r"""\{\s*(?:\} | (?:"[^"\n]*"|(?P<word>[A-Za-z_][\w$.-]*))\s*(?:=(?!=)|(?P<end>[,}])))""",
    re.VERBOSE | re.ASCII,
)
"""How a dictionary begins, unlike a region."""

SCALAR = re.compile(r"[su]?i\d+|b?f\d+\w*|tf32|index|none", re.ASCII)
"""A type that is a single word."""

_BRACKET = re.compile(rf"[({{\[]|(?P<end>[)}}\]])|{QUOTED}|//[^\n]*")


def compact(text: str) -> str:
    """Return a type without spaces, if it has some where types usually have none.

    Example:
        >>> compact("tensor <4x\\n f32>"), compact("tensor<4xf32, #ttg.dot_op<{opIdx = 0}>>")
        ('tensor<4xf32>', 'tensor<4xf32, #ttg.dot_op<{opIdx = 0}>>')
    """
    return "".join(text.split()) if _SPREAD.search(text) else text


class Cursor:
    """A cursor at a token of a source.

    Attributes:
        kind: kind of the token; empty at the end of the text.
        text: text of the token.
        start, end: its offsets.
        last_end: the end of the token before.
    """

    __slots__ = ("end", "kind", "last_end", "source", "start", "text")

    def __init__(self, source: str, offset: int) -> None:
        self.source = source
        self.end = offset
        self.move_to(offset)

    def move_to(self, offset: int) -> None:
        """Move to the first token after an offset."""
        self.last_end = offset
        match = TOKEN.match(self.source, offset)
        if match is None or match.lastgroup is None:
            self.kind, self.text = "", ""
            self.start = self.end = len(self.source)
            return
        self.kind = kind = match.lastgroup
        self.start, self.end = match.span(kind)
        self.text = self.source[self.start : self.end]

    def advance(self) -> None:
        """Move to the next token."""
        self.move_to(self.end)

    def follows(self, text: str) -> bool:
        """Tell whether the text after this token begins with another, spaces skipped."""
        source, offset = self.source, self.end
        while offset < len(source) and source[offset] in " \t\r\n":
            offset += 1
        return source.startswith(text, offset)

    def begins_line(self) -> bool:
        """Tell whether the token is the first of its line."""
        return "\n" in self.source[self.last_end : self.start]


def closing(source: str, offset: int) -> int:
    """Return the offset after the bracket that closes the one at an offset.

    Example:
        >>> closing('({")"}) rest', 0)
        7
    """
    depth = 0
    for match in _BRACKET.finditer(source, offset):
        if match.group("end") is not None:
            depth -= 1
        elif match.group()[0] in "({[":
            depth += 1
        if depth <= 0:
            return match.end()
    return len(source)
