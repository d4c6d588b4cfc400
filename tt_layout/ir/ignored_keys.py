"""Keys that the compiler steps over in silence, so that a dump may hold anything there."""

from __future__ import annotations

from tt_layout.encodings import FORMS
from tt_layout.mlir.syntax import AttributeNode, DictNode, EntryNode, Node

MAX_IGNORED = 16
"""How many unknown keys of an attribute are stepped over."""


def without_ignored(node: Node, offset: int) -> Node:
    """Return a tree without the entry at an offset, if the attribute around it ignores keys."""
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
