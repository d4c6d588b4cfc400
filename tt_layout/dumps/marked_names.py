"""Dumps with marks for the names of values, as kernels that differ in names alone have one text.

    %offset = arith.muli %pid, %c64 : i32     of one dump
    %x_7 = arith.muli %x_6, %y : i32          of another
    %$2 = arith.muli %$0, %$1 : i32           of both

Names determine nothing but what is said of them: what is concluded of the marked text is true of
the dump, wherever no mark is in it.  What has one is concluded from the dump as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MARK = "$"
"""The character of a mark that is in no name, nor anywhere else in a text that is marked."""

_NAME = re.compile(r"(%[\w$.-]+)", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
"""A string: what looks like a name in it is an operand of an assembler."""


def marked(text: str) -> str | None:
    """Return a text with marks for the names of values; None where these could be told from it.

    Example:
        >>> marked("%b = arith.addi %a, %b : i32")
        '%$0 = arith.addi %$1, %$0 : i32'
        >>> print(marked("%b = asm \\"mov %0, %1\\""))
        None
    """
    if MARK in text or any("%" in string for string in _STRING.findall(text)):
        return None
    parts = _NAME.split(text)
    numbers: dict[str, int] = {}
    parts[1::2] = [f"%{MARK}{numbers.setdefault(name, len(numbers))}" for name in parts[1::2]]
    return "".join(parts)


def has_mark(value: object) -> bool:
    """Tell whether there is a mark in plain data."""
    if isinstance(value, str):
        return MARK in value
    if isinstance(value, Mapping):
        return any(map(has_mark, value)) or any(map(has_mark, value.values()))
    return isinstance(value, Iterable) and any(map(has_mark, value))
