"""A case of a manifest: its values and their locations."""

from __future__ import annotations

from pathlib import Path

from tt_layout.errors import LayoutError
from tt_layout.golden.yaml_nodes import Node, ScalarNode
from tt_layout.mlir.source import Span
from tt_layout.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case of a manifest, with defaults filled in and its matrix expanded.

    Attributes:
        name: unique among the cases of its folder.
        kinds: the kinds of output to check.
        values: the other keys and their nodes.
        place: span of the case's name.
        folder: the folder of its manifest and golden files.
        scope: that folder's name in reports, with ``/``; empty for that of the first manifest.
        shared: the keys whose values are for other cases, too: defaults, and patterns of files.
    """

    name: str
    kinds: tuple[str, ...]
    values: tuple[tuple[str, Node], ...]
    place: Span
    folder: Path
    scope: str = ""
    shared: frozenset[str] = frozenset()

    def scoped(self, name: str) -> str:
        """Prefix a name of this case, or of its output, with its scope."""
        return f"{self.scope}/{name}" if self.scope else name

    def get(self, key: str) -> Node | None:
        """Return the node of a key, if the case has it."""
        return next((node for name, node in self.values if name == key), None)

    def text(self, key: str) -> str | None:
        """Return the text of a key, if the case has it."""
        node = self.get(key)
        return node.text if isinstance(node, ScalarNode) else None

    def texts(self, *keys: str) -> dict[str, str]:
        """Return the texts of the given keys that the case has."""
        return {key: text for key in keys if (text := self.text(key)) is not None}

    def span(self, key: str) -> Span:
        """Return the span of the value of a key; of the case if it has none."""
        node = self.get(key)
        return self.place if node is None else node.span

    def label(self, key: str) -> str:
        """Return a name for a text of the case in messages that quote it."""
        line, _ = self.span(key).source.line_column(self.span(key).start)
        return f"{self.place.source.name}:{line} ({key} of {self.name})"

    def located(self, error: LayoutError) -> LayoutError:
        """Return an error located in the manifest if it is about the case's text."""
        span = error.location
        if not isinstance(span, Span):
            return error.at(self.place)
        for _, node in self.values:
            if isinstance(node, ScalarNode) and node.text == span.source.text:
                inner = node.span.text.find(node.text)
                if inner < 0:  # written with escapes, over several lines, or by a matrix
                    return error
                start = node.span.start + inner + span.start
                place = node.span.source.span(start, start + span.end - span.start)
                return type(error)(error.message, place)
        return error
