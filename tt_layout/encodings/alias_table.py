"""Layouts of an MLIR file by their aliases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import islice

from tt_layout.encodings.base import Encoding
from tt_layout.encodings.forks import WRAPPERS
from tt_layout.encodings.reading import read_encoding
from tt_layout.encodings.registry import FORMS, may_be_layout
from tt_layout.errors import FileLocation, LayoutError, nearest
from tt_layout.mlir.aliases import Definition, Nodes
from tt_layout.mlir.source import Source
from tt_layout.mlir.syntax import Aliases, AliasNode, AttributeNode
from tt_layout.records import dataclass
from tt_layout.releases import Release

MAX_SUGGESTED = 3
MAX_LISTED = 8
MAX_SEEN = 1000  # aliases among which those like an unknown one are looked for


@dataclass(frozen=True)
class AliasTable:
    """A source and the layouts among its aliases.

    Attributes:
        source: the text.
        defined: definitions of its aliases; those of one module, if it has several.

    Example:
        >>> from tt_layout.mlir.aliases import FileDefinitions
        >>> source = Source("#a = #ttg.shared_linear<{offset = [[1]]}, alignment = 16>")
        >>> AliasTable(source, FileDefinitions(source)).layout_names()
        ['a']
    """

    source: Source
    defined: Mapping[str, Definition]

    @cached_property
    def definitions(self) -> Nodes:
        """The alias definitions, in file order."""
        return Nodes(self.source, self.defined)

    @cached_property
    def aliases(self) -> Aliases:
        """Expander of the aliases."""
        return Aliases(self.definitions)

    @property
    def has_layouts(self) -> bool:
        """Whether any alias is a layout, or looks like a misspelled one."""
        return any(True for _ in self._possible_layouts())

    def layout_names(self, most: int | None = None) -> list[str]:
        """Return the names of the layout aliases, in file order, at most ``most`` of them."""
        answers: dict[str, bool] = {}
        return list(islice(filter(partial(self._names_layout, answers), self.definitions), most))

    def _names_layout(self, answers: dict[str, bool], name: str) -> bool:
        """Tell whether an alias is a layout; answers are cached by text."""
        text = self.definitions.text(name)
        if text is None:
            return self.names_layout(name)
        if text not in answers:
            answers[text] = self.names_layout(name)
        return answers[text]

    def names_layout(self, name: str) -> bool:
        """Tell whether an alias is a layout attribute, directly or through other aliases."""
        seen = {name}
        while self.definitions.is_attribute(name):
            attribute = self.definitions.attribute(name)
            if attribute is not None and not may_be_layout(attribute):
                return False
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
        """Return the encoding of an alias.

        Raises:
            LayoutError: there is no such alias, or it is not a layout, or it breaks a rule.
        """
        if name not in self.definitions:
            raise LayoutError(self.unknown(name), FileLocation(self.source.name))
        if not self.names_layout(name):
            message = f"the alias #{name} is not a layout"
            raise LayoutError(message, self.definitions.value_span(name))
        try:
            node = self.aliases.expand(self.definitions[name])
        except LayoutError as error:
            raise error.at(self.definitions.span(name)) from None
        return read_encoding(node, release)

    def unknown(self, name: str, where: str = "") -> str:
        """Return the message for an alias that the table does not have."""
        return unknown_alias(name, self._possible_layouts(), where)

    def _possible_layouts(self) -> Iterator[str]:
        """Yield the aliases that are layouts, or look like misspelled ones."""
        for name in self.definitions:
            try:
                is_layout = self.names_layout(name)
            except LayoutError:
                is_layout = True
            if is_layout:
                yield name


def unknown_alias(name: str, layouts: Iterable[str], where: str = "") -> str:
    """Return the message for an unknown alias, with similar names.

    Example:
        >>> unknown_alias("blokced", ["blocked", "blocked1", "shared"])
        'there is no alias #blokced; did you mean #blocked or #blocked1?'
        >>> unknown_alias("a", ["blocked", "shared"])
        'there is no alias #a; the layouts are #blocked, #shared'
    """
    from difflib import get_close_matches

    from tt_layout.wording import listed

    names = list(dict.fromkeys(islice(layouts, MAX_SEEN)))
    if near := get_close_matches(name, names, n=MAX_SUGGESTED):
        either = listed((f"#{alias}" for alias in near), "or")
        return f"there is no alias #{name}{where}; did you mean {either}?"
    if not names:
        return f"there is no alias #{name}{where}, nor any other that is a layout"
    many = "at least " if len(names) == MAX_SEEN else ""
    rest = f" and {many}{len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    seen = ", ".join(f"#{alias}" for alias in names[:MAX_LISTED])
    return f"there is no alias #{name}{where}; the layouts are {seen}{rest}"


def _claims_to_be_layout(node: AttributeNode) -> bool:
    """Tell whether an attribute is a layout; raise an error if it looks like a misspelled one."""
    if node.name in FORMS or node.name in WRAPPERS:
        return True
    if node.body is None:
        return False
    near = nearest(node.name, FORMS)
    hint = f"; did you mean #{near}?" if near else ""
    raise LayoutError(f"#{node.name} is not a layout attribute{hint}", node.name_span)
