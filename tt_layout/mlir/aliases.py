"""The alias definitions of an MLIR file.

Operations of any dialect may follow the aliases; they are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source, Span
from tt_layout.mlir.syntax import Node, Parser
from tt_layout.tuples import NamedTuple

_NAME = r"[A-Za-z_$][\w$-]*"
_DEFINITION = re.compile(rf"^[ \t]*#({_NAME})[ \t]*=", re.MULTILINE)
_VALUE = re.compile(rf"#{_NAME}[ \t]*=\s*")
_ATTRIBUTE = re.compile(r"#[\w$.]+<[^<>\"\n]*>", re.ASCII)
_END = re.compile(r"[ \t]*(?:\n|\Z)")
_ATTRIBUTE_NAME = re.compile(r"#([A-Za-z_$][\w$]*)[.<]([\w$.]*)")


def is_alias_name(text: str) -> bool:
    """Tell whether a text is an alias name, with or without its ``#``, and not an attribute.

    Example:
        >>> is_alias_name("#row"), is_alias_name("row"), is_alias_name("#ttg.blocked<{}>")
        (True, True, False)
    """
    return re.fullmatch(f"#?{_NAME}", text) is not None


def attribute_name(text: str, start: int = 0) -> str | None:
    """Return dialect and mnemonic of the attribute at an offset of a text; None without one.

    Example:
        >>> attribute_name("#ttg.blocked<{}>"), attribute_name("#ttg<blocked<{}>>")
        ('ttg.blocked', 'ttg.blocked')
    """
    match = _ATTRIBUTE_NAME.match(text, start)
    return ".".join(match.groups()) if match is not None else None


class Definition(NamedTuple):
    """Offsets of the definition of an alias.

    Attributes:
        start: the offset of the name, with its ``#`` or ``!``.
        value: the offset of the value.
        repeats: the offset of a second definition of the name, if there is one.
    """

    start: int
    value: int
    repeats: int | None = None

    def again(self, start: int) -> Definition:
        """Return the definition with the offset of a second one, which does not count."""
        return self._replace(repeats=start) if self.repeats is None else self


class FileDefinitions(Mapping[str, Definition]):
    """Definitions of the attribute aliases of a text, by name without ``#``.

    Example:
        >>> definitions = FileDefinitions(Source("#a = 1\\n#b = 2\\n#a = 3"))
        >>> definitions["b"], definitions.repeated
        (Definition(start=7, value=12, repeats=None), 'a')
    """

    def __init__(self, source: Source) -> None:
        self._text = source.text
        self._starts: dict[str, int] = {}
        self._repeats: dict[str, int] = {}
        starts = self._starts
        for match in _DEFINITION.finditer(source.text):
            name, start = match.group(1), match.start(1) - 1
            if starts.setdefault(name, start) != start:
                self._repeats.setdefault(name, start)

    @property
    def repeated(self) -> str | None:
        """The first name that is defined twice, if any."""
        return next(iter(self._repeats), None)

    def __getitem__(self, name: str) -> Definition:
        start = self._starts[name]
        match = _VALUE.match(self._text, start)
        assert match is not None
        return Definition(start, match.end(), self._repeats.get(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._starts)

    def __contains__(self, name: object) -> bool:
        return name in self._starts

    def __len__(self) -> int:
        return len(self._starts)


class Nodes(Mapping[str, Node]):
    """Values of the aliases of a source, each parsed on first use."""

    def __init__(self, source: Source, definitions: Mapping[str, Definition]) -> None:
        self._source = source
        self._definitions = definitions
        self._parsed: dict[str, Node] = {}

    def __getitem__(self, name: str) -> Node:
        if name not in self._parsed:
            parser = Parser(self._source, self._value(name))
            node = parser.parse_value()
            if not self._ends(parser):
                parser.expect_end(f"definition of #{name}")
            self._parsed[name] = node
        return self._parsed[name]

    def __contains__(self, name: object) -> bool:
        return name in self._definitions

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def _ends(self, parser: Parser) -> bool:
        """Tell whether a definition ends behind the last token of its value."""
        return "\n" in self._source.text[parser.last_end : parser.start]

    def _value(self, name: str) -> int:
        """Return the offset of the value of an alias.

        Raises:
            LayoutError: the name is defined twice.
        """
        definition = self._definitions[name]
        if definition.repeats is not None:
            line, _ = self._source.line_column(definition.start)
            message = f"the alias #{name} is defined twice; first on line {line}"
            raise LayoutError(message, _name_span(self._source, definition.repeats, name))
        return definition.value

    def span(self, name: str) -> Span:
        """Return the span of an alias name in its definition."""
        return _name_span(self._source, self._definitions[name].start, name)

    def value_span(self, name: str) -> Span:
        """Return the span of the first word of an alias's value."""
        return Parser(self._source, self._value(name)).here()

    def text(self, name: str) -> str | None:
        """Return the text of an alias's attribute.

        None if it has to be parsed to be known, or contains other aliases.
        """
        text = self._source.text
        match = _ATTRIBUTE.match(text, self._value(name))
        if match is None or match.group().count("#") > 1 or not _END.match(text, match.end()):
            return None
        return match.group()

    def attribute(self, name: str) -> str | None:
        """Return dialect and mnemonic of an alias's attribute.

        None if its value is something else, such as another alias or a number.
        """
        return attribute_name(self._source.text, self._value(name))

    def is_attribute(self, name: str) -> bool:
        """Tell whether the value of an alias is an attribute or another alias."""
        return self._source.text.startswith("#", self._value(name))


def _name_span(source: Source, start: int, name: str) -> Span:
    return source.span(start, start + len(name) + 1)
