"""YAML of a manifest, or of a file of values, as nodes with spans.

A subset of YAML: mappings, sequences and scalars.  Anchors, aliases, merge keys and tags are
refused, with an error at their position.  So no node is larger than its text, and only text is
ever constructed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from tt_layout.errors import FileLocation, LayoutError
from tt_layout.mlir.source import Source, Span, read_source
from tt_layout.records import dataclass

MAX_BYTES = 16 << 20
MAX_DEPTH = 16
_TAG = "tag:yaml.org,2002:"
_KINDS = {"int": "number", "float": "number", "bool": "boolean", "null": "null"}


@dataclass(frozen=True)
class ScalarNode:
    """A text, number, boolean or null, as text.

    Attributes:
        text: the content, without quotes.
        kind: ``text``, ``number``, ``boolean`` or ``null``.
        span: its span, quotes included.
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
    """Keys and values in the order of the file; no key twice."""

    entries: tuple[tuple[ScalarNode, Node], ...]
    span: Span
    kind = "mapping"

    def get(self, name: str) -> Node | None:
        """Return the value of a key, if it is there."""
        return next((node for key, node in self.entries if key.text == name), None)


Node = ScalarNode | SequenceNode | MappingNode


def read_nodes(path: str, what: str = "manifest") -> Node:
    """Read the document of a file.

    Args:
        path: the file.
        what: its name in messages.

        Raises:
            LayoutError: the file cannot be read, is too large, or is not in this subset of YAML.
    """
    source = read_source(path, MAX_BYTES, is_dump=False)
    return parse_nodes(Source(source.text.removeprefix("\ufeff"), source.name), what)


def parse_nodes(source: Source, what: str = "manifest") -> Node:
    """Parse the only document of a source.

    Raises:
        LayoutError: it is not in this subset of YAML, or has no or several documents.

    Example:
        >>> node = parse_nodes(Source("slice: 1:16"))
        >>> [(key.text, value.text, value.kind) for key, value in node.entries]
        [('slice', '1:16', 'number')]
    """
    return _Builder(source, what).document()


class _Builder:
    """Builder of nodes from those of PyYAML, after a check of its events."""

    def __init__(self, source: Source, what: str) -> None:
        import yaml

        self.source = source
        self.what = what
        self.loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def document(self) -> Node:
        """Build the only document."""
        import yaml

        depth, has_document = 0, False
        for event in self._events():
            if isinstance(event, yaml.NodeEvent):
                if has_document and not depth:
                    message = f"a {self.what} is one document; this begins a second one"
                    raise LayoutError(message, self._span(event))
                has_document = True
                self._refuse(event, depth + 1)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
        if not has_document:
            raise LayoutError(f"the {self.what} is empty", FileLocation(self.source.name))
        return self._node(yaml.compose(self.source.text, self.loader))

    def _events(self) -> Iterator[Any]:
        """Yield the parser's events, with its errors converted to ours."""
        import yaml

        try:
            yield from yaml.parse(self.source.text, self.loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            words = " ".join(filter(None, (error.context, error.problem)))
            message = f"not YAML: {words}"
            raise LayoutError(message, self._character(mark.index if mark else 0)) from None
        except yaml.reader.ReaderError as error:
            wrong = yaml.reader.Reader.NON_PRINTABLE.search(self.source.text)
            where = self._character(wrong.start() if wrong else 0)
            raise LayoutError(f"not YAML: {error.reason}", where) from None

    def _character(self, index: int) -> Span:
        index = min(index, max(0, len(self.source.text.rstrip()) - 1))
        return self.source.span(index, index + 1)

    def _span(self, marked: Any) -> Span:
        return self.source.span(marked.start_mark.index, marked.end_mark.index)

    def _refuse(self, event: Any, depth: int) -> None:
        """Reject YAML that a manifest does not use, at its span."""
        import yaml

        start = event.start_mark.index
        opening = self.source.span(start, start + 1)
        if isinstance(event, yaml.AliasEvent):
            message = f"aliases are refused in a {self.what}: write the value out, or use defaults"
            raise LayoutError(f"{message}, got *{event.anchor}", self._span(event))
        if event.anchor is not None:
            message = f"anchors are refused in a {self.what}, got &{event.anchor}"
            raise LayoutError(message, opening)
        if event.tag is not None:
            tag = event.tag.replace(_TAG, "!!")
            raise LayoutError(f"tags are refused in a {self.what}, got {tag}", opening)
        if depth > MAX_DEPTH:
            message = f"a {self.what} may be nested {MAX_DEPTH} levels deep"
            raise LayoutError(message, opening)

    def _node(self, node: Any) -> Node:
        import yaml

        span = self._span(node)
        if isinstance(node, yaml.ScalarNode):
            return ScalarNode(node.value, _KINDS.get(node.tag.removeprefix(_TAG), "text"), span)
        if isinstance(node, yaml.SequenceNode):
            return SequenceNode(tuple(map(self._node, node.value)), span)
        entries: dict[str, tuple[ScalarNode, Node]] = {}
        for key, value in node.value:
            name = self._key(self._node(key))
            if name.text in entries:
                line = entries[name.text][0].span.line
                message = f"the key {name.text!r} is given twice; first on line {line}"
                raise LayoutError(message, name.span)
            entries[name.text] = name, self._node(value)
        return MappingNode(tuple(entries.values()), span)

    def _key(self, node: Node) -> ScalarNode:
        """Return a node that may be a key."""
        if not isinstance(node, ScalarNode):
            raise LayoutError(f"a key must be text, got a {node.kind}", node.span)
        if node.text == "<<":
            message = f"merge keys are refused in a {self.what}: use defaults"
            raise LayoutError(message, node.span)
        return node


def is_plain_text(text: str) -> bool:
    """Tell whether YAML reads a bare word as text, not as a number or boolean.

    Example:
        >>> is_plain_text("blocked"), is_plain_text("no"), is_plain_text("12")
        (True, False, False)
    """
    import yaml

    return bool(_resolver().resolve(yaml.ScalarNode, text, (True, False)) == f"{_TAG}str")


@cache
def _resolver() -> Any:
    import yaml

    return yaml.resolver.Resolver()
