"""Aliases, types and locations of a part of a dump, resolved on demand.

In a dump of a hundred passes nearly every attribute and type occurs again in each module, so each
text is parsed once.  The key of a text is the text with its aliases replaced by numbers, one for
each meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, TypeVar

from tt_layout.encodings import FORMS, Encoding, read_encoding
from tt_layout.encodings.forks import WRAPPERS
from tt_layout.encodings.registry import may_be_layout
from tt_layout.enums import TypeKind
from tt_layout.errors import LayoutError, UnknownKeyError
from tt_layout.ir.dump_part import Part
from tt_layout.ir.operations import Location
from tt_layout.ir.tokens import LOCATION, rest_of_group
from tt_layout.ir.types import KINDS, IRType, layout_text, parse_syntax
from tt_layout.mlir.aliases import Definition, Nodes, attribute_name
from tt_layout.mlir.source import QUOTED, STRING, Source, Span
from tt_layout.mlir.syntax import (
    MAX_DEPTH,
    Aliases,
    AttributeNode,
    DictNode,
    EntryNode,
    Node,
    Parser,
)
from tt_layout.mlir.types import closing
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

T = TypeVar("T")

_REFERENCE = re.compile(r"#([\w$-]+)(?![\w$.<-])", re.ASCII)
_TYPE_HEAD = re.compile(r"([!\w.]+)\s*<", re.ASCII)
_VALUE = re.compile(rf"#[\w$.]+(?:<{rest_of_group()})?", re.ASCII)
"""An attribute, as far as it is known without parsing it."""
_NEXT = re.compile(
    r"""[ \t]*(?:\n | \Z | // | " | % | [#!][\w$-]+\s*= | [A-Za-z_][\w$]*\.
      | (?:module|func)\b | \{-\#)""",
    re.VERBOSE | re.ASCII,
)
"""What may follow a definition: the end of the line, another definition, or an operation."""

MAX_IGNORED = 16
"""How many keys of an attribute are stepped over that the compiler steps over in silence."""

_PIECE = re.compile(
    rf"""[^"\#()]*(?:
        "(?P<file>{STRING})"\s*:\s*(?P<line>\d{{1,9}})\s*:\s*(?P<column>\d{{1,9}})
      | {QUOTED}
      | \#(?P<alias>[\w$-]+)
      | (?P<open>\((?<!loc\())
      | (?P<close>\)))""",
    re.VERBOSE,
)
MAX_PIECES = 100
MAX_LENGTH = 1 << 12  # characters of a location that are looked at
MAX_NESTING = 64


class Alias(NamedTuple):
    """A definition ``#name = ...``.

    Attributes:
        name: without the number sign.
        kind: ``layout``, ``location`` or ``other``.
        encoding: the layout, or its error; None where it is not a layout.
        line, column: position of the name, from 1; lines count from the module's first line, and
            are 0 or less above it.
    """

    name: str
    kind: str
    encoding: Encoding | LayoutError | None
    line: int
    column: int


class Interner:
    """Cache of encodings and types by their text, shared by the modules of a dump.

    Args:
        release: the release whose rules hold; None to infer it.
        keeps_text: whether encodings keep their spans, and thereby the text.

    Attributes:
        written: types by their texts, in which the same aliases may stand for other layouts.
    """

    def __init__(self, release: Release | None, *, keeps_text: bool = True) -> None:
        self.release = release
        self.keeps_text = keeps_text
        self.numbers: dict[str, int] = {}
        self.encodings: dict[str, Encoding] = {}
        self.types: dict[str, dict[str, IRType]] = {}
        self.written: dict[str, IRType] = {}
        self._made: dict[Callable[[], Any], Any] = {}

    def once(self, make: Callable[[], T]) -> T:
        """Return what a function makes, which modules share."""
        if make not in self._made:
            self._made[make] = make()
        made: T = self._made[make]
        return made

    def number(self, key: str) -> int:
        """Return the number of a text."""
        return self.numbers.setdefault(key, len(self.numbers))


class PartNodes(Nodes):
    """The attribute aliases visible in a part, each parsed on first use; of two the first."""

    def _value(self, name: str) -> int:
        """Return the offset at which the value of an alias begins."""
        return self._definitions[name].value

    def _ends(self, parser: Parser) -> bool:
        return _NEXT.match(self._source.text, parser.last_end) is not None

    def value_text(self, name: str) -> str | None:
        """Return the text of the attribute of an alias; None if it is not an attribute."""
        text = self._source.text
        match = _VALUE.match(text, self._value(name))
        if match is not None and _NEXT.match(text, match.end()):
            return match.group()
        try:
            return self[name].span.text
        except LayoutError:
            return None


class Scope:
    """Scope of the aliases and types of a part.

    Attributes:
        source: the text.
        own: the text with lines that count from 1 at the first line of the part.
    """

    def __init__(self, source: Source, part: Part, interner: Interner) -> None:
        self.source = source
        first_line, _ = source.line_column(part.start)
        self.own = source.beginning_with(1 + source.first_line - first_line)
        self.definitions = part.aliases
        self.type_definitions = part.type_aliases
        self.interner = interner
        self.nodes = PartNodes(source, self.definitions)
        self.aliases = Aliases(self.nodes)
        self._keys: dict[str, str | None] = {}
        self._types: dict[str, IRType | None] = {}

    @property
    def release(self) -> Release | None:
        """The release whose rules hold; None if it is inferred."""
        return self.interner.release

    # -- keys -------------------------------------------------------------------------------

    def key(self, text: str, depth: int = 0) -> str | None:
        """Return the text with numbers in place of aliases; None if an alias is not defined.

        Equal keys have equal meanings in every module.
        """
        pieces = _REFERENCE.split(text)
        for at in range(1, len(pieces), 2):
            key = self._alias_key(pieces[at], depth)
            if key is None:
                return None
            pieces[at] = f"#{key}"
        return "".join(pieces)

    def _alias_key(self, name: str, depth: int) -> str | None:
        if name not in self._keys:
            self._keys[name] = None  # while it is being looked up: no alias refers to itself
            if name in self.nodes and depth < MAX_DEPTH:
                text = self.nodes.value_text(name)
                key = self.key(text, depth + 1) if text is not None else None
                self._keys[name] = None if key is None else str(self.interner.number(key))
        return self._keys[name]

    # -- encodings --------------------------------------------------------------------------

    def encoding(self, node: Node, text: str | None = None) -> Encoding | LayoutError:
        """Return the encoding of a node, or its error.

        Args:
            node: the attribute, or an alias of it.
            text: another text with the same meaning, such as the alias.
        """
        key = self.key(text if text is not None else node.span.text)
        defined = self.interner.encodings.get(key) if key is not None else None
        if defined is not None:
            return defined
        try:
            encoding = self._read(self.aliases.expand(node))
        except LayoutError as error:
            return error.at(node.span)
        if key is not None:
            self.interner.encodings[key] = encoding
        return encoding

    def _read(self, node: Node) -> Encoding:
        """Return the encoding of a node without aliases.

        A key that no release knows is dropped if all of them ignore it.
        """
        read = partial(
            read_encoding,
            release=self.interner.release,
            from_compiler=True,
            keeps_origin=self.interner.keeps_text,
        )
        for _ in range(MAX_IGNORED):
            try:
                return read(node)
            except UnknownKeyError as error:
                if not isinstance(error.location, Span):
                    raise
                fewer = without_ignored(node, error.location.start)
                if fewer == node:
                    raise
                node = fewer
        return read(node)

    def is_location(self, name: str) -> bool:
        """Tell whether an alias is a location."""
        return LOCATION.match(self.source.text, self.definitions[name].value) is not None

    def alias(self, name: str) -> Alias:
        """Return the value of an alias."""
        definition = self.definitions[name]
        place = self.own.line_column(definition.start)
        if self.is_location(name):
            return Alias(name, "location", None, *place)
        kind, encoding = "layout", self._alias_encoding(name, definition.value)
        if encoding is None:
            kind = "other"
        elif definition.repeats is not None:
            line, _ = self.source.line_column(definition.repeats)
            span = self.source.span(definition.start, definition.start + len(name) + 1)
            encoding = LayoutError(f"the alias #{name} is defined again on line {line}", span)
        return Alias(name, kind, encoding, *place)

    def _alias_encoding(self, name: str, start: int) -> Encoding | LayoutError | None:
        """Return the encoding of an alias, its error, or None if it is not a layout."""
        if not self.source.text.startswith("#", start):
            return None
        attribute = attribute_name(self.source.text, start)
        if attribute is not None and not may_be_layout(attribute):
            return None
        defined = self.interner.encodings.get(self.key(f"#{name}") or "")
        if defined is not None:
            return defined
        try:
            node = self.nodes[name]
            expanded = self.aliases.expand(node)
        except LayoutError as error:
            return error.at(self.source.span(self.definitions[name].start, start))
        if not isinstance(expanded, AttributeNode):
            return None
        if attribute not in WRAPPERS and expanded.name not in FORMS and expanded.body is None:
            return None
        return self.encoding(node, f"#{name}")

    # -- types ------------------------------------------------------------------------------

    def type(self, text: str, offset: int) -> IRType | None:
        """Return the type of a text; None for an undefined alias."""
        if text.startswith("!") and "<" not in text:
            alias, text = text, self.expand_type(text)
            if not _is_type(text):
                return None
            offset = self.type_definitions[alias[1:]].value
        ir_type = self._type_at(text, self.source, offset)
        is_named = not text.startswith("<")
        if is_named and not isinstance(ir_type.encoding, LayoutError):
            self._types[text] = ir_type
        return ir_type

    def type_of_text(self, text: str) -> IRType | None:
        """Return the type of a text; None for a scalar and for text that is not a type."""
        if text not in self._types:
            is_type = _is_type(text)
            self._types[text] = self._type_at(text, Source(text), 0) if is_type else None
        return self._types[text]

    def _type_at(self, text: str, source: Source, offset: int) -> IRType:
        written = self.interner.written.get(text)
        known = self._with_layout(written) if written is not None else None
        if known is not None:
            return known
        ir_type = self._read_type(text, source, offset)
        is_whole = text.count("<") == text.count(">")  # what is nested too deeply was cut
        if is_whole and not isinstance(ir_type.encoding, LayoutError):
            self.interner.written[text] = ir_type
        return ir_type

    def _with_layout(self, written: IRType) -> IRType | None:
        """Return a type with the layout that its text means here; None if that is not known."""
        if written.layout is None:
            return written
        encoding = self.interner.encodings.get(self.key(written.layout) or "")
        if encoding is None or encoding is written.encoding:
            return written if encoding is not None else None
        text, kind, shape, element, layout, _, allocation = written
        return IRType(text, kind, shape, element, layout, encoding, allocation)

    def _read_type(self, text: str, source: Source, offset: int) -> IRType:
        key = self.key(text)
        if key is None:
            return self._parse_type(text, source, offset)
        spellings = self.interner.types.setdefault(key, {})
        if text not in spellings:
            defined = next(iter(spellings.values()), None)
            ir_type = (
                self._rename(defined, text, source, offset)
                if defined is not None
                else self._parse_type(text, source, offset)
            )
            if isinstance(ir_type.encoding, LayoutError):
                return ir_type
            spellings[text] = ir_type
        return spellings[text]

    def _parse_type(self, text: str, source: Source, offset: int) -> IRType:
        try:
            syntax = parse_syntax(source, offset)
        except LayoutError as error:
            kind = TypeKind.TENSOR if text.startswith("tensor") else TypeKind.MEMORY
            return IRType(text, kind, (), "", None, error)
        layout = encoding = None
        if syntax.layout is not None:
            layout, encoding = layout_text(syntax.layout), self.encoding(syntax.layout)
        kind, shape, element, _, allocation = syntax
        return IRType(text, kind, shape, element, layout, encoding, allocation)

    def _rename(self, defined: IRType, text: str, source: Source, offset: int) -> IRType:
        """Return an equal type that names its layout by other aliases."""
        node = parse_syntax(source, offset).layout
        return defined._replace(text=text, layout=layout_text(node) if node is not None else None)

    @property
    def has_type_aliases(self) -> bool:
        """Whether types have aliases."""
        return bool(self.type_definitions)

    def expand_type(self, text: str) -> str:
        """Expand a type alias."""
        definition = self.type_definitions.get(text[1:]) if text.startswith("!") else None
        if definition is None:
            return text
        head = _TYPE_HEAD.match(self.source.text, definition.value)
        if head is None:
            return text
        return self.source.text[head.start() : closing(self.source, head.end() - 1)]

    # -- locations ----------------------------------------------------------------------------

    @cached_property
    def locations(self) -> Locations:
        """Locations of the location aliases."""
        return Locations(self.source, self.definitions)

    def location(self, text: str) -> Location | None:
        """Resolve the content of ``loc(...)`` to a location in the program."""
        return self.locations.of_text(text)


def _is_type(text: str) -> bool:
    """Tell whether a text begins as a type with a layout may."""
    head = _TYPE_HEAD.match(text)
    return head is not None and head.group(1) in KINDS


def without_ignored(node: Node, offset: int) -> Node:
    """Return a tree without the entry at an offset, if its attribute ignores unknown keys."""
    if not isinstance(node, AttributeNode) or node.body is None:
        return node
    ignores = any(cls.ignores_unknown_keys for _, cls in FORMS.get(node.name, ()))
    body = tuple(_without(item, offset, ignores) for item in node.body)
    return node._replace(body=body)


def _without(node: Node, offset: int, ignores: bool) -> Node:
    if isinstance(node, DictNode):
        kept = (e for e in node.entries if not (ignores and e.span.start == offset))
        entries = tuple(_without(entry, offset, ignores) for entry in kept)
        return DictNode(node.span, tuple(e for e in entries if isinstance(e, EntryNode)))
    if isinstance(node, EntryNode):
        return node._replace(value=without_ignored(node.value, offset))
    return node


# -- locations -------------------------------------------------------------------------------------


class Locations:
    """Resolver of locations through their aliases, with a cache.

    For a call site the callee counts, for fused locations the first that names a file.
    """

    def __init__(self, source: Source, definitions: Mapping[str, Definition]) -> None:
        self._text = source.text
        self._definitions = definitions
        self._found: dict[str, Location | None] = {}

    def of_text(self, text: str) -> Location | None:
        """Resolve the content of ``loc(...)``."""
        alias = text[1:]
        if text.startswith("#") and alias in self._definitions:
            return self._alias(alias, 0)
        return self._resolve(text, 0, 0)

    def _resolve(self, text: str, offset: int, nesting: int) -> Location | None:
        """Return the first location in the text within ``loc(...)``."""
        depth, end = 0, offset + MAX_LENGTH
        for _ in range(MAX_PIECES):
            piece = _PIECE.match(text, offset, end)
            if piece is None:
                return None
            offset = piece.end()
            if piece.group("file") is not None:
                return Location(piece["file"], int(piece["line"]), int(piece["column"]))
            if piece.group("alias") is not None:
                location = self._alias(piece["alias"], nesting)
                if location is not None:
                    return location
            depth += (piece.group("open") is not None) - (piece.group("close") is not None)
            if depth < 0:
                return None
        return None

    def _alias(self, name: str, nesting: int) -> Location | None:
        if name in self._found:
            return self._found[name]
        self._found[name] = None  # no location is its own
        definition = self._definitions.get(name)
        if definition is not None and nesting < MAX_NESTING:
            match = LOCATION.match(self._text, definition.value)
            if match is not None:
                self._found[name] = self._resolve(self._text, match.end(), nesting + 1)
        return self._found[name]
