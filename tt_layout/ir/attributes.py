"""The attributes of a module operation."""

from __future__ import annotations

import re

from tt_layout.ir.dump_part import Part
from tt_layout.ir.module import AttributeValue
from tt_layout.mlir.source import QUOTED, STRING, Source

_PIECE = re.compile(
    rf"""(?P<open>[{{\[(<])
      | (?P<close>[}}\])>])
      | (?P<comma>,)
      | {QUOTED}
      | //[^\n]*""",
    re.VERBOSE,
)
_ENTRY = re.compile(
    rf"""\s*"?(?P<name>[A-Za-z_][\w.$-]*)"?\s*
        (?:=\s*(?:"(?P<string>{STRING})"
               | (?P<integer>-?\d{{1,20}})\s*(?::\s*\w+)?
               | (?P<boolean>true|false)
               | (?P<other>.*)))?\s*""",
    re.VERBOSE | re.DOTALL,
)
_HEAD = re.compile(r'"?[\w.]+"?\s*(?:@(?:[\w$.-]+|"[^"\n]*")\s*)?attributes\s*\{', re.ASCII)
_TAIL = re.compile(r"\}\s*\)\s*\{")
MAX_LENGTH = 1 << 16  # characters of a module's attributes


def module_attributes(source: Source, part: Part) -> dict[str, AttributeValue]:
    """Return the attributes of the module of a part: numbers, strings and truth values.

    Values of other kinds are kept as text.  The generic form has them at its end.
    """
    if part.module is None:
        return {}
    text = source.text
    head = _HEAD.match(text, part.module)
    begin = head.end() if head is not None else None
    for offset in part.closed if begin is None else ():
        tail = _TAIL.match(text, offset)
        if tail is not None:
            begin = tail.end()
            break
    return dict(_entries(text, begin)) if begin is not None else {}


def _entries(text: str, begin: int) -> list[tuple[str, AttributeValue]]:
    """Return the entries of the dictionary whose content begins at an offset."""
    entries: list[tuple[str, AttributeValue]] = []
    depth, start = 0, begin
    for match in _PIECE.finditer(text, begin, begin + MAX_LENGTH):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif (kind == "close" and depth == 0) or (kind == "comma" and depth == 0):
            entry = _ENTRY.fullmatch(text, start, match.start())
            if entry is not None:
                entries.append((entry.group("name"), _value(entry)))
            start = match.end()
            if kind == "close":
                break
        elif kind == "close":
            depth -= 1
    return entries


def _value(entry: re.Match[str]) -> AttributeValue:
    if entry.group("string") is not None:
        return entry.group("string")
    if entry.group("integer") is not None:
        return int(entry.group("integer"))
    if entry.group("boolean") is not None:
        return entry.group("boolean") == "true"
    return entry.group("other").strip() if entry.group("other") is not None else True
