"""The alias definitions of a file of MLIR.

Operations may follow the aliases, of whatever dialect; they are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source, Span
from tt_layout.mlir.syntax import Node, Parser

_NAME = r"[A-Za-z_$][\w$-]*"
_DEFINITION = re.compile(rf"^[ \t]*#({_NAME})[ \t]*=[ \t\r\n]*", re.MULTILINE)
_DIALECT = re.compile(r"#([A-Za-z_$][\w$]*)[.<]")


def is_alias_name(text: str) -> bool:
    """Tell whether a text is an alias, with or without its ``#``, and no attribute.

    Example:
        >>> is_alias_name("#row"), is_alias_name("row"), is_alias_name("#ttg.blocked<{}>")
        (True, True, False)
    """
    return re.fullmatch(f"#?{_NAME}", text) is not None


class Definition(NamedTuple):
    """Where an alias is named, and where its value begins.

    Attributes:
        start: the offset of the name, with its ``#`` or ``!``.
        value: an offset before the value; blanks may follow.
        repeats: the offset at which the same name is defined again, if it is.
    """

    start: int
    value: int
    repeats: int | None = None

    def again(self, start: int) -> Definition:
        """Return the same with another definition of the name noted; the first one counts."""
        return self._replace(repeats=start) if self.repeats is None else self


def find_definitions(source: Source) -> dict[str, Definition]:
    """Return where each attribute alias of a text is defined, by its name without ``#``.

    Example:
        >>> find_definitions(Source("#a = 1\\n#b = 2"))["b"]
        Definition(start=7, value=12, repeats=None)
    """
    found: dict[str, Definition] = {}
    for match in _DEFINITION.finditer(source.text):
        name, start = match.group(1), match.start(1) - 1
        known = found.get(name)
        found[name] = Definition(start, match.end()) if known is None else known.again(start)
    return found


class Definitions(Mapping[str, Node]):
    """The alias definitions of a source, each parsed when it is first asked for."""

    def __init__(self, source: Source, found: Mapping[str, Definition]) -> None:
        """Take the definitions found; raise if a name is defined twice."""
        self._source = source
        self._offsets: dict[str, int] = {}
        self._names: dict[str, Span] = {}
        self._parsed: dict[str, Node] = {}
        for name, definition in found.items():
            if definition.repeats is not None:
                line, _ = source.line_column(definition.start)
                message = f"the alias #{name} is defined twice; first on line {line}"
                raise LayoutError(message, _name_span(source, definition.repeats, name))
            self._offsets[name] = _skip_blanks(source.text, definition.value)
            self._names[name] = _name_span(source, definition.start, name)

    def __getitem__(self, name: str) -> Node:
        if name not in self._parsed:
            parser = Parser(self._source, self._offsets[name])
            self._parsed[name] = parser.parse_value()
            if "\n" not in self._source.text[parser.last_end : parser.start]:
                parser.expect_end(f"definition of #{name}")
        return self._parsed[name]

    def __contains__(self, name: object) -> bool:
        return name in self._offsets

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def span(self, name: str) -> Span:
        """Return where an alias is named by its definition."""
        return self._names[name]

    def value_span(self, name: str) -> Span:
        """Return the first word of what an alias stands for."""
        return Parser(self._source, self._offsets[name]).here()

    def dialect(self, name: str) -> str | None:
        """Return the dialect of the attribute that an alias stands for.

        None where it stands for something else, such as another alias or a number.
        """
        match = _DIALECT.match(self._source.text, self._offsets[name])
        return match.group(1) if match is not None else None

    def is_attribute(self, name: str) -> bool:
        """Tell whether an alias stands for an attribute, or for another alias."""
        return self._source.text.startswith("#", self._offsets[name])


def _name_span(source: Source, start: int, name: str) -> Span:
    return source.span(start, start + len(name) + 1)


def _skip_blanks(text: str, offset: int) -> int:
    while text[offset : offset + 1].isspace():
        offset += 1
    return offset
