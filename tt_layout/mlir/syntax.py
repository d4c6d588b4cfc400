"""Parser of MLIR syntax: attributes, alias definitions and types as syntax trees.

The tree knows nothing of layouts.  Every node has the span that it came from, so that errors of
later stages can point at it.

    value     ::= integer | boolean | string | word | list | dict | attribute | alias
    attribute ::= `#` dialect `.` mnemonic (`<` body `>`)?
    body      ::= (item (`,`? item)*)?          item ::= dict | list | key `=` value | value
    list      ::= `[` (element (`,` element)*)? `]`
    element   ::= value | integer `:` `+` integer
    dict      ::= `{` (key `=` value (`,` key `=` value)*)? `}`

Source:
    MLIR's language reference, "Attributes"; the wheels' behaviour on corner cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from tt_layout.errors import LayoutError
from tt_layout.mlir.source import STRING, Source, Span
from tt_layout.surface import is_command_line
from tt_layout.tuples import NamedTuple

T = TypeVar("T")

MAX_DEPTH = 64  # brackets within brackets; real layouts need fewer than ten
MAX_EXPANDED = 1 << 16  # nodes of an attribute with its aliases expanded; real ones have hundreds

_TOKEN = re.compile(
    rf"""(?P<space>(?:[ \t\r\n]|//[^\n]*)+)
      | (?P<attribute>\#[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+)
      | (?P<alias>\#[\w$-]+)
      | (?P<number>-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
      | (?P<word>[A-Za-z_][\w$]*)
      | (?P<string>"{STRING}")
      | (?P<type>![\w.$]+)
      | (?P<mark>[<>{{}}\[\](),=:+])""",
    re.VERBOSE | re.ASCII,
)
_INTEGER = re.compile(r"(?!-0$)-?(0x[0-9A-Fa-f]+|\d+)")
_EQUALS = re.compile(r"\s*=")
_LOCATION = r"loc\d*"  # the name of an alias of a location


class IntegerNode(NamedTuple):
    """A number such as ``4``, ``0x4`` or ``4 : i32``."""

    span: Span
    value: int
    has_type: bool = False


class WordNode(NamedTuple):
    """A bare word such as ``true``, ``f64`` or ``mnThenK``."""

    span: Span
    word: str


class StringNode(NamedTuple):
    """A quoted string, without its quotes."""

    span: Span
    string: str


class PairNode(NamedTuple):
    """An interval and its padding, ``64:+4``."""

    span: Span
    interval: int
    padding: int


class ListNode(NamedTuple):
    """``[a, b, c]``."""

    span: Span
    items: tuple[Node, ...]


class EntryNode(NamedTuple):
    """``key = value``; the span is that of the key."""

    span: Span
    key: str
    value: Node
    is_quoted: bool = False


class DictNode(NamedTuple):
    """``{key = value, ...}``."""

    span: Span
    entries: tuple[EntryNode, ...]


class AliasNode(NamedTuple):
    """``#name``, to be replaced by its definition."""

    span: Span
    name: str


class AttributeNode(NamedTuple):
    """``#dialect.mnemonic<body>``; ``body`` is None without angle brackets."""

    span: Span
    name: str
    name_span: Span
    body: tuple[Node, ...] | None


Node = (
    IntegerNode
    | WordNode
    | StringNode
    | PairNode
    | ListNode
    | EntryNode
    | DictNode
    | AliasNode
    | AttributeNode
)
"""A piece of the syntax tree; its span is where it stands."""


class Parser:
    """A recursive-descent parser over one source, from a given offset on.

    ``parse_x`` consumes an x or raises; ``accept`` consumes a mark if it is there.
    """

    def __init__(self, source: Source, offset: int = 0) -> None:
        self.source = source
        self.offset = offset
        self.depth = 0
        self.kind = self.text = ""
        self.start = self.end = self.last_end = offset
        self.advance()

    # -- tokens -----------------------------------------------------------------------------

    def advance(self) -> None:
        """Move to the next token, of kind ``end`` at the end of the text."""
        self.last_end = self.end
        position = self.end
        match = _TOKEN.match(self.source.text, position)
        if match is not None and match.lastgroup == "space":
            position = match.end()
            match = _TOKEN.match(self.source.text, position)
        if match is not None:
            self.kind, self.text = str(match.lastgroup), match.group()
            self.start, self.end = position, match.end()
        elif position >= len(self.source.text):
            self.kind, self.text, self.start, self.end = "end", "", position, position
        else:
            self.start, self.end = position, position + 1
            self.kind, self.text = "invalid", self.source.text[position]

    def here(self) -> Span:
        """Return the span of the current token."""
        return self.source.span(self.start, max(self.end, self.start + 1))

    def since(self, start: int) -> Span:
        """Return the span from ``start`` to the end of the last token consumed."""
        return self.source.span(start, self.last_end)

    def found(self) -> str:
        """Describe the current token for a message."""
        if self.kind == "end":
            return "the end of the text"
        return repr(self.text if len(self.text) <= 40 else self.text[:40] + "...")

    def fail(self, expected: str) -> LayoutError:
        """Return the error for an unexpected token."""
        return LayoutError(f"expected {expected}, got {self.found()}", self.here())

    def accept(self, mark: str) -> bool:
        """Consume a punctuation mark if it comes next."""
        if self.kind == "mark" and self.text == mark:
            self.advance()
            return True
        return False

    def expect(self, mark: str, context: str) -> None:
        """Consume a punctuation mark or raise."""
        if not self.accept(mark):
            raise self.fail(f"'{mark}' {context}")

    def expect_end(self, subject: str) -> None:
        """Raise an error unless all of the text has been consumed."""
        if self.kind != "end":
            message = f"unexpected text after the {subject}: {self.found()}"
            raise LayoutError(message, self.here())

    # -- values -----------------------------------------------------------------------------

    def parse_value(self) -> Node:
        """Parse any value; see the grammar above."""
        start = self.start
        if self.kind == "number":
            return self.parse_number()
        if self.kind in ("attribute", "alias"):
            return self.parse_attribute()
        if self.kind == "word":
            word = self.text
            self.advance()
            return WordNode(self.since(start), word)
        if self.kind == "string":
            string = self.text[1:-1]
            self.advance()
            return StringNode(self.since(start), string)
        if self.kind == "mark" and self.text == "[":
            return self.nested(self.parse_list)
        if self.kind == "mark" and self.text == "{":
            return self.nested(self.parse_dict)
        raise self.fail("a value")

    def nested(self, parse: Callable[[], T]) -> T:
        """Run a parser one level deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"brackets may nest {MAX_DEPTH} deep at most; here they nest deeper"
            raise LayoutError(message, self.here())
        result = parse()
        self.depth -= 1
        return result

    def parse_number(self) -> Node:
        """Parse an integer with an optional type, or an interval and its padding."""
        start = self.start
        value = self.parse_integer()
        if not self.accept(":"):
            return IntegerNode(self.since(start), value)
        if self.accept("+"):
            return PairNode(self.since(start), value, self.parse_integer())
        if self.kind not in ("word", "type"):
            raise self.fail("a type after ':'")
        self.advance()
        return IntegerNode(self.since(start), value, has_type=True)

    def parse_integer(self) -> int:
        """Parse a decimal or hexadecimal integer."""
        text = self.text
        if self.kind != "number" or not _INTEGER.fullmatch(text):
            raise self.fail("an integer")
        if len(text) > 20:
            raise LayoutError("the integer does not fit into 64 bits", self.here())
        self.advance()
        return int(text, 16 if "0x" in text else 10)

    def parse_list(self) -> ListNode:
        """Parse ``[a, b, ...]``."""
        start = self.start
        self.expect("[", "to open a list")
        items: list[Node] = []
        while not (not items and self.accept("]")):
            items.append(self.parse_value())
            if self.accept("]"):
                break
            self.expect(",", "or ']' in the list")
        return ListNode(self.since(start), tuple(items))

    def parse_dict(self) -> DictNode:
        """Parse ``{key = value, ...}``; a repeated key is an error."""
        start = self.start
        self.expect("{", "to open a dictionary")
        entries: list[EntryNode] = []
        while not (not entries and self.accept("}")):
            entries.append(self.parse_entry())
            if self.accept("}"):
                break
            self.expect(",", "or '}' in the dictionary")
        refuse_repeated(entries)
        return DictNode(self.since(start), tuple(entries))

    def parse_entry(self) -> EntryNode:
        """Parse ``key = value``."""
        span, is_quoted = self.here(), self.kind == "string"
        if self.kind not in ("word", "string"):
            raise self.fail("a key")
        key = self.text.strip('"')
        self.advance()
        self.expect("=", f"after the key {key!r}")
        return EntryNode(span, key, self.parse_value(), is_quoted)

    # -- attributes -------------------------------------------------------------------------

    def parse_attribute(self) -> AttributeNode | AliasNode:
        """Parse ``#dialect.mnemonic<body>``, ``#dialect<mnemonic<body>>`` or ``#alias``."""
        start, name_span = self.start, self.here()
        name, is_alias = self.text[1:], self.kind == "alias"
        if self.kind not in ("attribute", "alias"):
            raise self.fail("an attribute such as #ttg.blocked<{...}>")
        self.advance()
        opens = self.kind == "mark" and self.text == "<" and self.start == self.last_end
        if is_alias and not opens:
            return AliasNode(name_span, name)
        if is_alias:
            return self.nested(lambda: self.parse_generic(start, name))
        body = self.nested(self.parse_body) if opens else None
        return AttributeNode(self.since(start), name, name_span, body)

    def parse_generic(self, start: int, dialect: str) -> AttributeNode:
        """Parse the rest of ``#dialect<mnemonic<body>>``."""
        self.expect("<", "after the dialect")
        name_span = self.here()
        if self.kind != "word":
            raise self.fail("an attribute name")
        mnemonic = self.text
        self.advance()
        has_body = self.kind == "mark" and self.text == "<"
        body = self.parse_body() if has_body else None
        self.expect(">", "to close the attribute")
        return AttributeNode(self.since(start), f"{dialect}.{mnemonic}", name_span, body)

    def parse_body(self) -> tuple[Node, ...]:
        """Parse ``<item, item, ...>``; after a list the comma may be missing."""
        self.expect("<", "to open the attribute")
        items: list[Node] = []
        while not (not items and self.accept(">")):
            items.append(self.parse_item())
            if self.accept(">"):
                break
            follows_list = isinstance(items[-1], ListNode)
            if follows_list and self.text == "{":
                continue
            self.expect(",", "or '>' in the attribute")
            if follows_list and self.text == "{":
                raise self.fail("an item; between a list and '{' there is no comma")
        refuse_repeated([item for item in items if isinstance(item, EntryNode)])
        return tuple(items)

    def parse_item(self) -> Node:
        """Parse one item of a body."""
        if self.kind == "word" and _EQUALS.match(self.source.text, self.end):
            return self.parse_entry()
        return self.parse_value()


def refuse_repeated(entries: list[EntryNode]) -> None:
    """Raise an error if two entries have the same key."""
    seen: set[str] = set()
    for entry in entries:
        if entry.key in seen:
            raise LayoutError(f"the key {entry.key!r} is given twice", entry.span)
        seen.add(entry.key)


class _Expanded(NamedTuple):
    """An expanded alias: its value, its number of nodes, and its depth of brackets."""

    node: Node
    size: int
    height: int


class Aliases:
    """Alias definitions of a file, with expansion of their uses.

    Each alias is expanded once, but counted at every use, since a walk over the tree meets it each
    time: a tree of more than `MAX_EXPANDED` nodes is refused.

    Example:
        >>> node = Parser(Source("[4, #eight]")).parse_value()
        >>> eight = Parser(Source("8")).parse_value()
        >>> [item.value for item in Aliases({"eight": eight}).expand(node).items]
        [4, 8]
    """

    def __init__(self, definitions: Mapping[str, Node]) -> None:
        self.definitions = definitions
        self._expanded: dict[str, _Expanded] = {}
        self._within: list[str] = []
        self._count = self._depth = self._deepest = 0  # of what is being expanded

    def expand(self, node: Node) -> Node:
        """Return the tree with every alias replaced by its value.

        Raises:
            LayoutError: an alias is undefined, refers to itself, nests too deeply, or grows too
                large.
        """
        self._within.clear()
        self._count = self._depth = self._deepest = 0
        return self._expand(node)

    def _expand(self, node: Node) -> Node:
        self._count += 1
        if isinstance(node, AliasNode):
            return self._expand_alias(node)
        if isinstance(node, EntryNode):
            return node._replace(value=self._expand(node.value))
        if not isinstance(node, (ListNode, DictNode, AttributeNode)):
            return node
        self._check_depth(1, node.span)
        self._depth += 1
        expanded: Node
        if isinstance(node, ListNode):
            expanded = node._replace(items=tuple(map(self._expand, node.items)))
        elif isinstance(node, AttributeNode):
            expanded = node._replace(body=node.body and tuple(map(self._expand, node.body)))
        else:
            entries = map(self._expand, node.entries)
            expanded = node._replace(entries=tuple(e for e in entries if isinstance(e, EntryNode)))
        self._depth -= 1
        return expanded

    def _expand_alias(self, alias: AliasNode) -> Node:
        if alias.name not in self._expanded:
            self._check_definition(alias)
            self._expanded[alias.name] = self._expand_definition(alias.name)
        expanded = self._expanded[alias.name]
        self._count += expanded.size
        self._check_depth(expanded.height, alias.span)
        if self._count > MAX_EXPANDED:
            message = f"with its aliases expanded, #{alias.name} has more than {MAX_EXPANDED}"
            raise LayoutError(f"{message} values, the most that is read", alias.span)
        return expanded.node

    def _expand_definition(self, name: str) -> _Expanded:
        count, deepest, self._deepest = self._count, self._deepest, self._depth
        self._within.append(name)
        node = self._expand(self.definitions[name])
        self._within.pop()
        expanded = _Expanded(node, self._count - count, self._deepest - self._depth)
        self._count, self._deepest = count, deepest
        return expanded

    def _check_depth(self, levels: int, span: Span) -> None:
        """Raise an error if brackets nest too deeply with ``levels`` more."""
        self._deepest = max(self._deepest, self._depth + levels)
        if self._deepest > MAX_DEPTH:
            message = f"brackets may nest {MAX_DEPTH} deep at most"
            raise LayoutError(f"{message}; with their aliases expanded they nest deeper", span)

    def _known(self) -> str:
        """Return which aliases are defined, other than those of locations."""
        names = [name for name in self.definitions if re.fullmatch(_LOCATION, name) is None]
        if names:
            return f"defined are {', '.join(f'#{name}' for name in names[:8])}"
        if self.definitions:
            return "the text defines locations alone: its beginning may be missing"
        return f"only a file{' (-i)' if is_command_line() else ''} can define aliases"

    def _check_definition(self, alias: AliasNode) -> None:
        """Raise an error if an alias cannot be expanded here."""
        name, within = alias.name, self._within
        if name in within:
            chain = " -> ".join(f"#{n}" for n in (*within[within.index(name) :], name))
            raise LayoutError(f"the alias #{name} is defined by itself: {chain}", alias.span)
        if name not in self.definitions:
            raise LayoutError(f"the alias #{name} is not defined; {self._known()}", alias.span)
        if len(within) >= MAX_DEPTH:
            message = f"aliases may nest {MAX_DEPTH} deep at most; here they nest deeper"
            raise LayoutError(message, alias.span)
