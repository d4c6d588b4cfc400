"""The alias definitions of a file of MLIR.

Operations may follow the aliases, of whatever dialect; they are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

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


class Definitions(Mapping[str, Node]):
    """The alias definitions of a source, each parsed when it is first asked for."""

    def __init__(self, source: Source) -> None:
        """Find the definitions; raise if a name is defined twice."""
        self._source = source
        self._offsets: dict[str, int] = {}
        self._names: dict[str, Span] = {}
        self._parsed: dict[str, Node] = {}
        for match in _DEFINITION.finditer(source.text):
            name, span = match.group(1), source.span(match.start(1) - 1, match.end(1))
            if name in self._offsets:
                line, _ = source.line_column(self._names[name].start)
                message = f"the alias #{name} is defined twice; first on line {line}"
                raise LayoutError(message, span)
            self._offsets[name], self._names[name] = match.end(), span

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
