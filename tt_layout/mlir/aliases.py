"""A file of MLIR: the attribute aliases defined in it, and the layouts among them.

Operations may follow the aliases, of whatever dialect; they are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tt_layout.encodings import FORMS, Encoding, read_encoding
from tt_layout.encodings.reading import nearest
from tt_layout.encodings.registry import DIALECTS
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source, Span
from tt_layout.mlir.syntax import Aliases, AliasNode, AttributeNode, Node, Parser
from tt_layout.releases import Release

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

    def names_layout(self, name: str) -> bool:
        """Tell whether an alias stands for a layout attribute, if need be through others."""
        seen = {name}
        while self._source.text.startswith("#", self._offsets[name]):
            dialect = _DIALECT.match(self._source.text, self._offsets[name])
            if dialect is not None and dialect.group(1) not in DIALECTS:
                return False  # its syntax is that dialect's own
            node = self[name]
            if isinstance(node, AttributeNode):
                return _claims_to_be_layout(node)
            if not isinstance(node, AliasNode) or node.name not in self or node.name in seen:
                return True  # so that expanding it reports what is wrong
            name = node.name
            seen.add(name)
        return False


def _claims_to_be_layout(node: AttributeNode) -> bool:
    """Tell whether an attribute is a layout; raise if it looks like a misspelled one."""
    if node.name in FORMS:
        return True
    if node.body is None:
        return False
    near = nearest(node.name, FORMS)
    hint = f"; did you mean #{near}?" if near else ""
    raise LayoutError(f"#{node.name} is no layout attribute{hint}", node.name_span)


@dataclass(frozen=True)
class Document:
    """A source and the layouts that its aliases name.

    Example:
        >>> text = "#a = #ttg.shared_linear<{offset = [[1]]}, alignment = 16>"
        >>> Document(Source(text)).layout_names()
        ['a']
    """

    source: Source

    @cached_property
    def definitions(self) -> Definitions:
        """The alias definitions, in file order."""
        return Definitions(self.source)

    @cached_property
    def aliases(self) -> Aliases:
        """What each alias stands for."""
        return Aliases(self.definitions)

    def layout_names(self) -> list[str]:
        """Return the aliases that are layouts, in file order."""
        return [name for name in self.definitions if self.definitions.names_layout(name)]

    def layout(self, name: str, release: Release | None = None) -> Encoding:
        """Return the encoding that an alias stands for.

        Raises:
            LayoutError: there is no such alias, or it is no layout, or it breaks a rule.
        """
        if name not in self.definitions:
            defined = ", ".join(f"#{known}" for known in self.definitions) or "none"
            raise LayoutError(
                f"{self.source.name}: error: there is no alias #{name}; defined are {defined}"
            )
        if not self.definitions.names_layout(name):
            message = f"the alias #{name} stands for no layout"
            raise LayoutError(message, self.definitions.value_span(name))
        try:
            node = self.aliases.expand(self.definitions[name])
        except LayoutError as error:
            raise error.at(self.definitions.span(name)) from None
        return read_encoding(node, release)
