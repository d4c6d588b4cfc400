"""Record of a part of a dump while it is being read."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Set

from tt_layout.errors import LayoutError
from tt_layout.mlir.aliases import Definition
from tt_layout.mlir.source import Source

_OFFSETS, _NONE = 3, -1
"""Offsets of a definition in a row of them, and what stands for one that there is not."""

MAX_NESTING = 64
"""Regions in one another, that of the module counted, of which all is read: what reads and follows
them calls itself for each."""

_NAME = re.compile(r"[#!]([A-Za-z_$][\w$-]*)", re.ASCII)
"""An alias, or the first word of what may be one."""


class PartDefinitions(Mapping[str, Definition]):
    """The visible definitions of attribute aliases, or of type aliases, in a part.

    Definitions in the part take precedence over those of the parts above it.  The latter share one
    table, of which the entries before a part are visible in it; it holds offsets only, since it is
    kept while the dump is read.
    """

    def __init__(self, start: int, above: PartDefinitions | None = None) -> None:
        self.defined: dict[str, Definition] = {}
        self._start = start
        self._earlier: dict[str, array[int]] = above._earlier if above is not None else {}
        self._last = above.last if above is not None else None

    @property
    def last(self) -> int | None:
        """Offset of the last visible definition; equal offsets mean equal definitions."""
        if not self.defined:
            return self._last
        return self.defined[next(reversed(self.defined))].start

    @property
    def has_earlier(self) -> bool:
        """Whether any are defined above the part."""
        return bool(self._earlier)

    def has_own(self, names: Set[str]) -> bool:
        """Tell whether none of some names is defined above the part."""
        return not any(name in self for name in names - self.defined.keys())

    def define(self, name: str, start: int, value: int) -> None:
        """Add a definition; the first of two with one name counts."""
        definition = self.defined.get(name)
        self.defined[name] = (
            Definition(start, value) if definition is None else definition.again(start)
        )

    def below(self, offset: int) -> PartDefinitions:
        """Return the definitions visible in a part below that begins at an offset."""
        for name, definition in self.defined.items():
            start, value, repeats = definition
            offsets = start, value, _NONE if repeats is None else repeats
            self._earlier.setdefault(name, array("q")).extend(offsets)
        return PartDefinitions(offset, self)

    def absorb(self, other: PartDefinitions) -> None:
        """Add the definitions of a part that turned out to belong to this one."""
        for name, definition in other.defined.items():
            self.defined.setdefault(name, definition)

    def __getitem__(self, name: str) -> Definition:
        if name in self.defined:
            return self.defined[name]
        above = self._earlier[name]
        starts = range(0, len(above), _OFFSETS)
        count = bisect_left(starts, self._start, key=above.__getitem__)
        if not count:
            raise KeyError(name)
        start, value, repeats = above[_OFFSETS * (count - 1) : _OFFSETS * count]
        return Definition(start, value, None if repeats == _NONE else repeats)

    def __iter__(self) -> Iterator[str]:
        yield from self.defined
        for name, above in self._earlier.items():
            if name not in self.defined and above[0] < self._start:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Part:
    """A part of a dump, as offsets.

    Attributes:
        aliases, type_aliases: the visible ones, by name without their mark.
        module: offset of the module operation.
        depth: number of open regions and dictionaries.
        too_deep: offset of the first brace that is nested deeper than `MAX_NESTING`; None for none.
        closed: end offsets of what was opened at depth 0: the attributes, the region.
        texts: the text of a type -> its number, in order of first use.
        first_offsets: offset of the first use of each text, by number.
        moves: offset and name of each operation that moves data.
        offsets, type_numbers: one entry for every use of a type.
        between_headers: start and end of the part if it is all of the text between two headers;
            None if it is not.
    """

    def __init__(
        self,
        start: int,
        *,
        pass_name: str | None = None,
        stage: str | None = None,
        above: Part | None = None,
    ) -> None:
        self.start = start
        self.end = start
        self.pass_name = pass_name
        self.stage = stage
        self.aliases: PartDefinitions = (
            above.aliases.below(start) if above else PartDefinitions(start)
        )
        self.type_aliases: PartDefinitions = (
            above.type_aliases.below(start) if above else PartDefinitions(start)
        )
        self.module: int | None = None
        self.opened: int | None = None
        self.depth = 0
        self.too_deep: int | None = None
        self.closed: list[int] = []
        self.functions: list[int] = []
        self.moves: list[tuple[int, str]] = []
        self.texts: dict[str, int] = {}
        self.first_offsets: list[int] = []
        self.offsets: array[int] = array("q")
        self.type_numbers: array[int] = array("l")
        self.between_headers: tuple[int, int] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it has no module, aliases, functions or types."""
        return not (self.module is not None or self.has_aliases or self.functions or self.offsets)

    def stands_alone(self, text: str) -> bool:
        """Tell whether its text alone determines its meaning, wherever it is in a dump.

        Args:
            text: the text of the dump.
        """
        both = self.aliases, self.type_aliases
        if any(alias.repeats is not None for alias in self.aliases.defined.values()):
            return False  # the error of an alias names the line of another
        if not any(aliases.has_earlier for aliases in both):
            return True
        names = set(_NAME.findall(text, self.start, self.end))
        return all(aliases.has_own(names) for aliases in both)

    @property
    def has_aliases(self) -> bool:
        """Whether it defines any itself."""
        return bool(self.aliases.defined or self.type_aliases.defined)

    def open_module(self, offset: int) -> None:
        """Record the module operation."""
        self.module = self.opened = offset
        self.depth = 0
        self.closed.clear()

    def open_function(self, offset: int) -> None:
        """Record a function."""
        self.functions.append(offset)
        if self.depth == 0:
            self.opened = offset

    def open_region(self, offset: int) -> None:
        """Count an opening brace."""
        self.depth += 1
        if self.depth > MAX_NESTING and self.too_deep is None:
            self.too_deep = offset

    def close_region(self, offset: int) -> None:
        """Count a closing brace; one without an opening brace is ignored."""
        if self.depth:
            self.depth -= 1
            if self.depth == 0 and self.module is not None:
                self.closed.append(offset)

    def absorb(self, other: Part) -> None:
        """Add the aliases and types of a part that turned out to belong to this one."""
        self.aliases.absorb(other.aliases)
        self.type_aliases.absorb(other.type_aliases)
        renumbered = [self.texts.setdefault(text, len(self.texts)) for text in other.texts]
        for number, first in zip(renumbered, other.first_offsets):
            if number == len(self.first_offsets):
                self.first_offsets.append(first)
        self.offsets.extend(other.offsets)
        self.type_numbers.extend(renumbered[number] for number in other.type_numbers)

    def cut_off(self, source: Source) -> LayoutError | None:
        """Return an error if the part is truncated."""
        if self.opened is None or self.depth == 0:
            return None
        what = "module" if self.module is not None else "function"
        line, _ = source.line_column(self.opened)
        message = f"the {what} that begins on line {line} has no end: the text is truncated"
        last = self.opened + len(source.text[self.opened : self.end].rstrip()) - 1
        return LayoutError(message, source.span(last, last + 1))
