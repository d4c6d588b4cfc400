"""The text of a manifest, or of a file of values, as nodes that remember where they stand.

Only what these need of YAML: mappings, sequences and scalars.  Anchors, aliases, merge
keys and tags are refused where they stand.  So no node is ever larger than its text, and
nothing but text is ever constructed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tt_layout.errors import FileLocation, LayoutError
from tt_layout.mlir.source import Source, Span, read_source

MAX_BYTES = 16 << 20
MAX_DEPTH = 16
_TAG = "tag:yaml.org,2002:"
_KINDS = {"int": "number", "float": "number", "bool": "boolean", "null": "null"}


@dataclass(frozen=True)
class ScalarNode:
    """A text, number, boolean or null, always with the text that was written.

    Attributes:
        text: the content, without quotes.
        kind: ``text``, ``number``, ``boolean`` or ``null``.
        span: where it stands, quotes included.
    """

    text: str
    kind: str
    span: Span


@dataclass(frozen=True)
class SequenceNode:
    """A list of nodes."""

    items: tuple[Node, ...]
    span: Span
    kind = "list"


@dataclass(frozen=True)
class MappingNode:
    """Keys and values in the order in which they were written; no key twice."""

    entries: tuple[tuple[ScalarNode, Node], ...]
    span: Span
    kind = "mapping"

    def get(self, name: str) -> Node | None:
        """Return the value of a key, if it is there."""
        return next((node for key, node in self.entries if key.text == name), None)


Node = ScalarNode | SequenceNode | MappingNode


def read_nodes(path: str, what: str = "manifest") -> Node:
    """Return the document in a file.

    Args:
        path: of the file.
        what: what messages call it.

    Raises:
        LayoutError: the file cannot be read, is too large, or is not such YAML.
    """
    try:
        size = os.path.getsize(path)
    except OSError as error:
        raise LayoutError(f"cannot read: {error.strerror or error}", FileLocation(path)) from None
    if size > MAX_BYTES:
        limit = f"{MAX_BYTES >> 20} MiB"
        message = f"a {what} may have {limit}, this has {size} bytes"
        raise LayoutError(message, FileLocation(path))
    source = read_source(path)
    return parse_nodes(Source(source.text.removeprefix("\ufeff"), source.name), what)


def parse_nodes(source: Source, what: str = "manifest") -> Node:
    """Return the one document of a source.

    Raises:
        LayoutError: it is not YAML, uses what is refused, or has no or several documents.

    Example:
        >>> node = parse_nodes(Source("slice: 1:16"))
        >>> [(key.text, value.text, value.kind) for key, value in node.entries]
        [('slice', '1:16', 'number')]
    """
    return _Builder(source, what).document()


class _Builder:
    """Makes nodes of the parser's events."""

    def __init__(self, source: Source, what: str) -> None:
        self.source = source
        self.what = what
        self.events = self._events()

    def _events(self) -> Iterator[Any]:
        """Yield the parser's events, its errors as ours."""
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            yield from yaml.parse(self.source.text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            words = " ".join(filter(None, (error.context, error.problem)))
            message = f"not YAML: {words}"
            raise LayoutError(message, self._character(mark.index if mark else 0)) from None
        except yaml.reader.ReaderError as error:
            position = next((i for i, c in enumerate(self.source.text) if not _is_yaml(c)), 0)
            raise LayoutError(f"not YAML: {error.reason}", self._character(position)) from None

    def _character(self, index: int) -> Span:
        index = min(index, max(0, len(self.source.text.rstrip()) - 1))
        return self.source.span(index, index + 1)

    def _span(self, event: Any, end: Any = None) -> Span:
        stop = (end or event).end_mark.index
        return self.source.span(event.start_mark.index, stop)

    def document(self) -> Node:
        """Return the one document."""
        import yaml

        node: Node | None = None
        for event in self.events:
            if not isinstance(event, yaml.NodeEvent):
                continue
            if node is not None:
                message = f"a {self.what} is one document; this begins a second one"
                raise LayoutError(message, self._span(event))
            node = self._node(event, 1)
        if node is None:
            raise LayoutError(f"the {self.what} is empty", FileLocation(self.source.name))
        return node

    def _node(self, event: Any, depth: int) -> Node:
        import yaml

        self._refuse(event, depth)
        if isinstance(event, yaml.ScalarEvent):
            return ScalarNode(event.value, self._scalar_kind(event), self._span(event))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, depth)
        return self._mapping(event, depth)

    def _refuse(self, event: Any, depth: int) -> None:
        """Refuse what a manifest does not use, where it stands."""
        import yaml

        if isinstance(event, yaml.AliasEvent):
            message = f"aliases are refused in a {self.what}: write the value out, or use defaults"
            raise LayoutError(f"{message}, got *{event.anchor}", self._span(event))
        if event.anchor is not None:
            raise LayoutError(
                f"anchors are refused in a {self.what}, got &{event.anchor}", self._opening(event)
            )
        if event.tag is not None:
            tag = event.tag.replace(_TAG, "!!")
            raise LayoutError(f"tags are refused in a {self.what}, got {tag}", self._opening(event))
        if depth > MAX_DEPTH:
            message = f"a {self.what} may be nested {MAX_DEPTH} levels deep"
            raise LayoutError(message, self._opening(event))

    def _opening(self, event: Any) -> Span:
        start = event.start_mark.index
        return self.source.span(start, start + 1)

    def _scalar_kind(self, event: Any) -> str:
        if not event.implicit[0]:
            return "text"  # quoted, or in a block
        return _KINDS.get(_resolve(event.value).removeprefix(_TAG), "text")

    def _sequence(self, start: Any, depth: int) -> SequenceNode:
        import yaml

        items: list[Node] = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, depth + 1))
        return SequenceNode(tuple(items), self._span(start, event))

    def _mapping(self, start: Any, depth: int) -> MappingNode:
        import yaml

        entries: list[tuple[ScalarNode, Node]] = []
        seen: dict[str, ScalarNode] = {}
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(self._node(event, depth + 1), seen)
            seen[key.text] = key
            entries.append((key, self._node(next(self.events), depth + 1)))
        return MappingNode(tuple(entries), self._span(start, event))

    def _key(self, node: Node, seen: dict[str, ScalarNode]) -> ScalarNode:
        """Return a node as a key that is not there yet."""
        if not isinstance(node, ScalarNode):
            raise LayoutError(f"a key must be text, got a {node.kind}", node.span)
        if node.text == "<<":
            message = f"merge keys are refused in a {self.what}: use defaults"
            raise LayoutError(message, node.span)
        if node.text in seen:
            line, _ = self.source.line_column(seen[node.text].span.start)
            message = f"the key {node.text!r} is given twice; first on line {line}"
            raise LayoutError(message, node.span)
        return node


@cache
def _resolver() -> Any:
    import yaml

    return yaml.resolver.Resolver()


def _resolve(text: str) -> str:
    """Return the tag that YAML gives to a plain scalar."""
    import yaml

    return str(_resolver().resolve(yaml.ScalarNode, text, (True, False)))


def is_plain_text(text: str) -> bool:
    """Tell whether YAML takes a word without quotes for text, and not for a number or boolean.

    Example:
        >>> is_plain_text("blocked"), is_plain_text("no"), is_plain_text("12")
        (True, False, False)
    """
    return _resolve(text) == f"{_TAG}str"


def _is_yaml(character: str) -> bool:
    code = ord(character)
    return (
        character in "\t\n\r\x85"
        or 0x20 <= code < 0x7F
        or (code >= 0xA0 and not 0xD800 <= code < 0xE000 and code not in (0xFFFE, 0xFFFF))
    )
