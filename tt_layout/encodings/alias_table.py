"""The layouts of a file of MLIR, by the aliases that stand for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tt_layout.encodings.base import Encoding
from tt_layout.encodings.reading import read_encoding
from tt_layout.encodings.registry import DIALECTS, FORMS
from tt_layout.errors import FileLocation, LayoutError, nearest
from tt_layout.mlir.aliases import Definitions
from tt_layout.mlir.source import Source
from tt_layout.mlir.syntax import Aliases, AliasNode, AttributeNode
from tt_layout.releases import Release


@dataclass(frozen=True)
class AliasTable:
    """A source and the layouts that its aliases stand for.

    Example:
        >>> text = "#a = #ttg.shared_linear<{offset = [[1]]}, alignment = 16>"
        >>> AliasTable(Source(text)).layout_names()
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
        return [name for name in self.definitions if self.names_layout(name)]

    def names_layout(self, name: str) -> bool:
        """Tell whether an alias stands for a layout attribute, if need be through others."""
        seen = {name}
        while self.definitions.is_attribute(name):
            dialect = self.definitions.dialect(name)
            if dialect is not None and dialect not in DIALECTS:
                return False  # its syntax is that dialect's own
            node = self.definitions[name]
            if isinstance(node, AttributeNode):
                return _claims_to_be_layout(node)
            if not isinstance(node, AliasNode) or node.name in seen:
                return True  # so that expanding it reports what is wrong
            if node.name not in self.definitions:
                return True
            name = node.name
            seen.add(name)
        return False

    def layout(self, name: str, release: Release | None = None) -> Encoding:
        """Return the encoding that an alias stands for.

        Raises:
            LayoutError: there is no such alias, or it is no layout, or it breaks a rule.
        """
        if name not in self.definitions:
            defined = ", ".join(f"#{known}" for known in self.definitions) or "none"
            message = f"there is no alias #{name}; defined are {defined}"
            raise LayoutError(message, FileLocation(self.source.name))
        if not self.names_layout(name):
            message = f"the alias #{name} stands for no layout"
            raise LayoutError(message, self.definitions.value_span(name))
        try:
            node = self.aliases.expand(self.definitions[name])
        except LayoutError as error:
            raise error.at(self.definitions.span(name)) from None
        return read_encoding(node, release)


def _claims_to_be_layout(node: AttributeNode) -> bool:
    """Tell whether an attribute is a layout; raise if it looks like a misspelled one."""
    if node.name in FORMS:
        return True
    if node.body is None:
        return False
    near = nearest(node.name, FORMS)
    hint = f"; did you mean #{near}?" if near else ""
    raise LayoutError(f"#{node.name} is no layout attribute{hint}", node.name_span)
