"""From the notes of the reader to a module: aliases looked up, types parsed, moves described.

In a dump of a hundred passes nearly every attribute and type comes again in each module, so
each text is parsed once: a text, with numbers in the place of its aliases that stand for what
they mean, is the key under which it is found again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from tt_layout.encodings import FORMS, Encoding, read_encoding
from tt_layout.encodings.registry import DIALECTS
from tt_layout.errors import LayoutError, UnknownKeyError
from tt_layout.ir.attributes import module_attributes
from tt_layout.ir.ignored import MAX_IGNORED, without_ignored
from tt_layout.ir.locations import Locations
from tt_layout.ir.module import Alias, Function, Module, TypeUses
from tt_layout.ir.operations import Location, Operation, ends
from tt_layout.ir.part import Part
from tt_layout.ir.types import KINDS, IRType, closing, layout_text, parse_syntax
from tt_layout.mlir.aliases import Definition
from tt_layout.mlir.source import Source, Span
from tt_layout.mlir.syntax import MAX_DEPTH, Aliases, AttributeNode, Node, Parser
from tt_layout.releases import Release

_REFERENCE = re.compile(r"#([\w$-]+)(?![\w$.<-])", re.ASCII)
_DIALECT = re.compile(r"#([A-Za-z_$][\w$]*)[.<]")
_TYPE_HEAD = re.compile(r"([!\w.]*)<")
_NEXT = re.compile(r"[ \t]*(?:\n|//|#[\w$-]+[ \t]*=)")
"""What may follow a definition: the end of the line, or another definition."""
_FUNCTION = re.compile(r'[^@\n]*@(?:"([^"\n]*)"|([\w$.-]+))')
_GENERIC_FUNCTION = re.compile(r'[^\n]*\bsym_name\s*=\s*"([^"\n]*)"')
_WARPS = re.compile(r"\bnum_warps\((\d{1,4})\)")


class Interner:
    """What the modules of one dump share: encodings and types by the text that they have."""

    def __init__(self, release: Release | None) -> None:
        self.release = release
        self.numbers: dict[str, int] = {}
        self.encodings: dict[str, Encoding] = {}
        self.types: dict[str, IRType] = {}

    def number(self, key: str) -> int:
        """Return a number that stands for a text."""
        return self.numbers.setdefault(key, len(self.numbers))


class Scope(Mapping[str, Node]):
    """The alias definitions that hold in a part, each parsed when it is first asked for."""

    def __init__(
        self, source: Source, definitions: Mapping[str, Definition], interner: Interner
    ) -> None:
        self.source = source
        self.definitions = definitions
        self.interner = interner
        self.aliases = Aliases(self)
        self._nodes: dict[str, Node] = {}
        self._keys: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> Node:
        if name not in self._nodes:
            definition = self.definitions[f"#{name}"]
            parser = Parser(self.source, definition.value)
            node = parser.parse_value()
            if not _NEXT.match(self.source.text, parser.last_end):
                parser.expect_end(f"definition of #{name}")
            self._nodes[name] = node
        return self._nodes[name]

    def __contains__(self, name: object) -> bool:
        return f"#{name}" in self.definitions

    def __iter__(self) -> Iterator[str]:
        return (name[1:] for name in self.definitions if name.startswith("#"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def value_start(self, name: str) -> int:
        """Return the offset at which the value of an alias begins, its mark with its name."""
        text, offset = self.source.text, self.definitions[name].value
        while text[offset : offset + 1].isspace():
            offset += 1
        return offset

    # -- keys -------------------------------------------------------------------------------

    def key(self, text: str, depth: int = 0) -> str | None:
        """Return the text with its aliases replaced by what they mean; None if one has no meaning.

        Equal keys mean equal things, in whatever module they stand.
        """
        unknown = False

        def number(match: re.Match[str]) -> str:
            nonlocal unknown
            key = self._alias_key(match.group(1), depth)
            unknown = unknown or key is None
            return f"#{key}"

        replaced = _REFERENCE.sub(number, text)
        return None if unknown else replaced

    def _alias_key(self, name: str, depth: int) -> str | None:
        if name not in self._keys:
            self._keys[name] = None  # as long as it is being looked up: no alias names itself
            if name in self and depth < MAX_DEPTH:
                try:
                    span = self[name].span
                except LayoutError:
                    return None
                key = self.key(self.source.text[span.start : span.end], depth + 1)
                self._keys[name] = None if key is None else str(self.interner.number(key))
        return self._keys[name]

    # -- encodings --------------------------------------------------------------------------

    def encoding(self, node: Node, offset: int | None = None) -> Encoding | LayoutError:
        """Return the encoding that a node stands for, or the error that it has.

        Args:
            node: the attribute, or an alias of it.
            offset: where an error is to point that has no place of its own.
        """
        key = self.key(node.span.text)
        known = self.interner.encodings.get(key) if key is not None else None
        if known is not None:
            return known
        try:
            encoding = self._read(self.aliases.expand(node))
        except LayoutError as error:
            return error.at(node.span)
        if key is not None:
            self.interner.encodings[key] = encoding
        return encoding

    def _read(self, node: Node) -> Encoding:
        """Return the encoding of a node without aliases.

        A key that no release knows is left out where all of them ignore it.
        """
        release = self.interner.release
        for _ in range(MAX_IGNORED):
            try:
                return read_encoding(node, release, from_compiler=True)
            except UnknownKeyError as error:
                if not isinstance(error.location, Span):
                    raise
                fewer = without_ignored(node, error.location.start)
                if fewer == node:
                    raise
                node = fewer
        return read_encoding(node, release, from_compiler=True)

    def alias(self, name: str) -> Alias:
        """Return what an alias stands for."""
        definition = self.definitions[f"#{name}"]
        place = self.source.line_column(definition.start)
        start = self.value_start(f"#{name}")
        if self.source.text.startswith("loc(", start):
            return Alias(name, "location", None, *place)
        kind, encoding = "layout", self._alias_encoding(name, start)
        if encoding is None:
            kind = "other"
        elif definition.repeats is not None:
            line, _ = self.source.line_column(definition.repeats)
            span = self.source.span(definition.start, definition.start + len(name) + 1)
            encoding = LayoutError(f"the alias #{name} is defined again on line {line}", span)
        return Alias(name, kind, encoding, *place)

    def _alias_encoding(self, name: str, start: int) -> Encoding | LayoutError | None:
        """Return the encoding of an alias, its error, or None if it is no layout."""
        dialect = _DIALECT.match(self.source.text, start)
        if not self.source.text.startswith("#", start):
            return None
        if dialect is not None and dialect.group(1) not in DIALECTS:
            return None  # its syntax is that dialect's own
        try:
            node = self[name]
            expanded = self.aliases.expand(node)
        except LayoutError as error:
            definition = self.definitions[f"#{name}"]
            return error.at(self.source.span(definition.start, definition.value))
        if not isinstance(expanded, AttributeNode):
            return None
        if expanded.name not in FORMS and expanded.body is None:
            return None
        return self.encoding(node)

    # -- types ------------------------------------------------------------------------------

    def type(self, text: str, offset: int) -> IRType | None:
        """Return the type of a text; None for an alias that is not defined."""
        if text.startswith("!") and "<" not in text:
            return self._aliased_type(text)
        return self._type_at(text, self.source, offset)

    def type_of_text(self, text: str) -> IRType | None:
        """Return the type that a text stands for; None for a scalar and for what is no type."""
        head = _TYPE_HEAD.match(text)
        if head is None or head.group(1) not in KINDS:
            return None
        return self._type_at(text, Source(text), 0)

    def _type_at(self, text: str, source: Source, offset: int) -> IRType:
        key = self.key(text)
        known = self.interner.types.get(key) if key is not None else None
        if known is not None:
            return known if known.text == text else self._rename(known, text, source, offset)
        ir_type = self._parse_type(text, source, offset)
        if key is not None and not isinstance(ir_type.encoding, LayoutError):
            self.interner.types[key] = ir_type
        return ir_type

    def _parse_type(self, text: str, source: Source, offset: int) -> IRType:
        try:
            syntax = parse_syntax(source, offset)
        except LayoutError as error:
            kind = "tensor" if text.startswith("tensor") else "memdesc"
            return IRType(text, kind, (), "", None, error)
        layout = encoding = None
        if syntax.layout is not None:
            layout, encoding = layout_text(syntax.layout), self.encoding(syntax.layout)
        kind, shape, element, _, allocation = syntax
        return IRType(text, kind, shape, element, layout, encoding, allocation)

    def _rename(self, known: IRType, text: str, source: Source, offset: int) -> IRType:
        """Return a type that means the same but names its layout by other aliases."""
        if known.layout is None:
            return known._replace(text=text)
        node = parse_syntax(source, offset).layout
        return known._replace(text=text, layout=layout_text(node) if node is not None else None)

    def _aliased_type(self, name: str) -> IRType | None:
        expanded = self.expand_type(name)
        head = _TYPE_HEAD.match(expanded)
        if expanded == name or head is None or head.group(1) not in KINDS:
            return None
        start = self.source.text.index(expanded, self.definitions[name].value)
        return self._parse_type(head.group(1), self.source, start)

    def expand_type(self, text: str) -> str:
        """Return a type with what it is an alias of in its place."""
        definition = self.definitions.get(text) if text.startswith("!") else None
        if definition is None:
            return text
        start = self.value_start(text)
        head = _TYPE_HEAD.match(self.source.text, start)
        if head is None:
            return text
        return self.source.text[start : closing(self.source, head.end(1))]

    # -- places -----------------------------------------------------------------------------

    @cached_property
    def locations(self) -> Locations:
        """What the location aliases lead to."""
        return Locations(self.source, self.definitions)

    def location(self, text: str) -> Location | None:
        """Return the place in the program that the content of ``loc(...)`` leads to."""
        return self.locations.of_text(text)


def build_module(source: Source, part: Part, interner: Interner) -> Module:
    """Return the module that the notes of a part describe."""
    definitions = {**part.inherited, **part.aliases}
    scope = Scope(source, definitions, interner)
    types = [scope.type(text, first) for text, first in zip(part.texts, part.firsts)]
    functions = tuple(_function(source, offset) for offset in part.functions)
    start = part.module if part.module is not None else part.start
    own = part.aliases or part.inherited
    warps = _WARPS.findall(source.text, part.start, part.end)
    return Module(
        source=source,
        line=source.line_column(start)[0],
        pass_name=part.pass_name,
        stage=part.stage,
        attributes=module_attributes(source, part),
        aliases={name[1:]: scope.alias(name[1:]) for name in own if name.startswith("#")},
        types=_type_uses(source, part, types),
        functions=functions,
        operations=tuple(_operations(source, part, scope, types, functions)),
        partition_warps=frozenset(int(number) for number in warps),
        meanings=scope,
        error=part.cut_off(source),
    )


def _type_uses(source: Source, part: Part, types: list[IRType | None]) -> TypeUses:
    """Return the uses of types, less those of aliases that are not defined."""
    offsets, numbers = part.offsets, part.numbers
    missing = {number for number, ir_type in enumerate(types) if ir_type is None}
    if missing:
        kept = [i for i, number in enumerate(numbers) if number not in missing]
        offsets = type(offsets)("q", (offsets[i] for i in kept))
        numbers = type(numbers)("l", (numbers[i] for i in kept))
    placeholder = IRType("", "tensor", (), "", None, None)
    return TypeUses(source, [t or placeholder for t in types], offsets, numbers)


def _function(source: Source, offset: int) -> Function:
    match = _FUNCTION.match(source.text, offset) or _GENERIC_FUNCTION.match(source.text, offset)
    name = next((group for group in match.groups() if group), "") if match else ""
    return Function(name, *source.line_column(offset))


def _operations(
    source: Source,
    part: Part,
    scope: Scope,
    types: list[IRType | None],
    functions: tuple[Function, ...],
) -> Iterator[Operation]:
    locations = scope.locations
    for raw in part.operations:
        known = [types[number] for number in raw.types]
        arrow = len(known) if raw.arrow is None else raw.arrow
        before = sum(1 for ir_type in known[:arrow] if ir_type is not None)
        found = tuple(ir_type for ir_type in known if ir_type is not None)
        if not found:
            continue  # it moves a scalar
        yield Operation(
            raw.name,
            functions[raw.function - 1].name if raw.function else None,
            *source.line_column(raw.start),
            locations.of_operation(raw.end),
            found,
            *ends(raw.name.rpartition(".")[2], found, before),
        )
