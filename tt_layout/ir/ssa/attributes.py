"""Attributes of operations: the parts of dictionaries that analyses need."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from tt_layout.ir.ssa.tokens import BALANCED
from tt_layout.mlir.source import QUOTED, STRING

DIVISIBILITY = "tt.divisibility"
"""The attribute that states what a value is a multiple of."""

HINTS = ("tt.contiguity", DIVISIBILITY, "tt.constancy")
"""Attributes by which a program states what it knows of values."""

_INTEGER = re.compile(r"(-?(?:0x[\da-fA-F]{1,40}|\d{1,40}))\s*(?::\s*(?:[su]?i\d+|index))?")
_BOOLEAN = re.compile(r"(true|false)\s*(?::\s*i1)?")
_STRING = re.compile(rf'"({STRING})"')
_ENTRY = re.compile(r'\s*(?:"([^"\n]*)"|([A-Za-z_][\w$.-]*))\s*', re.ASCII)
_TYPED = re.compile(r"> ?: ?")
"""Between the values of ``dense<...>`` and their type."""
_BLANKS = re.compile(r"\s+")
_NUMBER = re.compile(r"-?\d+")
_FLOAT = re.compile(r"-?\d+\.\d*(?:[eE][+-]?\d+)?|0x[0-9A-Fa-f]+")
_PIECE = re.compile(
    rf"""(?P<open>[{{\[(]) | (?P<close>[}}\])]) | (?P<comma>,)
      | {QUOTED} | //[^\n]* | -> | [\#!\w.]*{BALANCED} | [^\[\](){{}},"/<>-]+ | .""",
    re.VERBOSE | re.ASCII,
)

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
"""The predicates of MLIR without their sign: of numbers, and of arrays."""

Attribute = str | int | bool
"""A number, a truth value, or the text: of a string its content, of anything else as written."""


def attribute_value(text: str) -> Attribute:
    """Parse a number, truth value or string; return other text as it is.

    Example:
        >>> attribute_value("16 : i32"), attribute_value("true"), attribute_value('"a"')
        (16, True, 'a')
        >>> attribute_value("array<i32: 1, 2>")
        'array<i32: 1, 2>'
    """
    text = _BLANKS.sub(" ", text.strip()).replace(" <", "<")
    if match := _INTEGER.fullmatch(text):
        return int(match.group(1), 16 if "0x" in match.group(1) else 10)
    if match := _BOOLEAN.fullmatch(text):
        return match.group(1) == "true"
    if match := _STRING.fullmatch(text):
        return match.group(1)
    return text


def integers(attribute: Attribute | None) -> list[int]:
    """Return the numbers of an attribute: one number, an array, or the values of ``dense<...>``.

    Example:
        >>> integers(16), integers("array<i32: 1, 0>"), integers("[2, 3]")
        ([16], [1, 0], [2, 3])
        >>> integers("dense<[8, 16]> : tensor<2xi32>")
        [8, 16]
    """
    if attribute is None or isinstance(attribute, int):
        return [] if attribute is None else [int(attribute)]
    text = _TYPED.split(attribute)[0].rpartition("<")[2]
    return [int(number[:40]) for number in _NUMBER.findall(text.rpartition(":")[2])]


def floats_as_written(attribute: Attribute | None) -> list[str]:
    """Return the floats of an attribute as written, including hexadecimal bit patterns.

    Example:
        >>> floats_as_written("dense<[1.0, -5.0e-01]>"), floats_as_written("0x7FC00000")
        (['1.0', '-5.0e-01'], ['0x7FC00000'])
    """
    return _FLOAT.findall(attribute) if isinstance(attribute, str) else []


def constant_value(attribute: Attribute | None) -> int | None:
    """Return the value of a constant; of a dense one only if all of its elements are equal.

    Example:
        >>> constant_value(4), constant_value("dense<4> : tensor<64xi32>")
        (4, 4)
        >>> constant_value("dense<[1, 2]> : tensor<2xi32>") is constant_value("dense<1.0>") is None
        True
    """
    if isinstance(attribute, int):
        return int(attribute)
    if attribute is None or not attribute.startswith("dense<"):
        return None
    content = _TYPED.split(attribute)[0].removeprefix("dense<").removesuffix(">").strip()
    if content in ("true", "false"):
        return int(content == "true")
    if any(character in content for character in '.e"x'):
        return None  # floats, and bytes in hexadecimal
    values = set(integers(attribute))
    return values.pop() if len(values) == 1 else None


def parse_dictionary(text: str, offset: int) -> tuple[dict[str, Attribute], int]:
    """Return the entries of the dictionary that begins at an offset, and the offset after it.

    Example:
        >>> parse_dictionary('{axis = 1 : i32, unit, "a.b" = {c = [1, 2]}} rest', 0)
        ({'axis': 1, 'unit': True, 'a.b': '{c = [1, 2]}'}, 44)
    """
    entries: dict[str, Attribute] = {}
    depth, start = 0, offset + 1
    for match in _PIECE.finditer(text, offset):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            if depth == 0:
                _add_entry(entries, text[start : match.start()])
                return entries, match.end()
        elif kind == "comma" and depth == 1:
            _add_entry(entries, text[start : match.start()])
            start = match.end()
    return entries, len(text)


def _add_entry(entries: dict[str, Attribute], text: str) -> None:
    name = _ENTRY.match(text)
    if name is None:
        return
    key = name.group(1) or name.group(2) or ""
    rest = text[name.end() :]
    entries[key] = attribute_value(rest[1:]) if rest.startswith("=") else True
