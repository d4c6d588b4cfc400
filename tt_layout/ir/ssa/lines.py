"""Lines that have been read, found again whatever their values are called.

Most lines of a dump differ from others in the names of values and in the location alone.  What is
left of a line without these is its shape, under which its operation is kept.

    %c   = arith.addi %a, %b : i32 loc(#loc1)         as it was read
    @0   = arith.addi @1, @2 : i32 loc(@)             shape; results @0, operands @1 and @2
    %sum = arith.addi %5, %c0 : i32 loc(#loc)         of that shape: not read again

    %sum = arith.addi %5, %5 : i32 loc(#loc)          another shape: @1 is there twice
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from tt_layout.ir.ssa.attributes import Attribute
from tt_layout.ir.ssa.draft import Template, WrittenSuccessor

MAX_LENGTH = 1 << 12
"""Characters of a line that is kept; longer ones are seldom alike."""

MAX_LINES = 1 << 13
"""Lines that are known with their names."""

_NAMES = re.compile(r"(%[\w$.-]+(?:#\d+)?)", re.ASCII)


class _Line(NamedTuple):
    """A line in parts.

    Attributes:
        shape: what lines have in common that differ in names and location alone.
        names: of values, in the order written.
        location: a location at its end, if that is an alias; None otherwise.
    """

    shape: Hashable
    names: Sequence[str]
    location: str | None


def _split(line: str) -> tuple[str, str | None]:
    """Return a line without the location at its end, and that if it is an alias; None otherwise."""
    head, separator, alias = line.rpartition(" loc(#")
    if separator and alias[-1:] == ")" and alias[:-1].isalnum():
        return head, f"#{alias[:-1]}"
    return line, None


def _parts(head: str, location: str | None) -> _Line:
    texts = _NAMES.split(head)
    names = texts[1::2]
    equal: tuple[int, ...] = ()
    if len(set(names)) < len(names):
        # Where a name comes twice, what it stands for in both places is the same.
        first = _first_places(names)
        equal = tuple([first[name] for name in names])
    shape = "\n".join(texts[::2]), location is not None, equal
    return _Line(shape, names, location)


def _first_places(names: Sequence[str]) -> dict[str, int]:
    """Return the first offset of each name."""
    return {name: place for place, name in reversed([*enumerate(names)])}


class _Pattern(NamedTuple):
    """An operation with the places of its names within the line.

    Attributes:
        template: the operation as it was first read.
        before: characters before its name, less those of names.
        results, operands: places.
        attributes: those that are a name.
        successors: the places of what each is handed.
    """

    template: Template
    before: int
    results: tuple[int, ...]
    operands: tuple[int, ...]
    attributes: tuple[tuple[str, int], ...]
    successors: tuple[tuple[int, ...], ...]

    def with_names(self, line: _Line) -> Template:
        """Return the operation with the names and the location of a line of its shape."""
        names, template = line.names, self.template
        attributes: Mapping[str, Attribute] = template.attributes
        if self.attributes:
            attributes = {**attributes, **{key: names[at] for key, at in self.attributes}}
        successors = template.successors
        if successors:
            successors = tuple(
                WrittenSuccessor(old.label, tuple([names[at] for at in places]))
                for old, places in zip(successors, self.successors)
            )
        results = [names[at] for at in self.results]
        return Template(
            template.name,
            tuple([names[at] for at in self.operands]),
            tuple(zip(results, [count for _, count in template.results])),
            template.types,
            attributes,
            successors,
            self.before + sum(map(len, results)),
            template.location if line.location is None else line.location,
        )


class KnownLines:
    """The operations that have a line of their own, by the shapes of their lines.

    Example:
        >>> add = Template("arith.addi", ("%a", "%b"), (("%c", 1),), ("i32",), {}, (), 5, "#loc1")
        >>> known = KnownLines()
        >>> known.add("%c = arith.addi %a, %b : i32 loc(#loc1)", add)
        >>> found = known.find("%sum = arith.addi %5, %c0 : i32 loc(#loc)")
        >>> found.results, found.operands, found.column, found.location
        ((('%sum', 1),), ('%5', '%c0'), 7, '#loc')
        >>> known.find("%sum = arith.addi %5, %5 : i32 loc(#loc)") is None
        True
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, _Pattern] = {}
        self._named: dict[str, Template] = {}

    def find(self, line: str) -> Template | None:
        """Return the operation of a line; None where none of its shape has been read."""
        head, location = _split(line)
        templates = self._named.get(head)
        if templates is not None and location is not None:
            return Template(*templates[:-1], location)
        parts = _parts(head, location)
        pattern = self._known.get(parts.shape)
        if pattern is None:
            return None
        template = pattern.with_names(parts)
        if location is not None:
            if len(self._named) >= MAX_LINES:
                self._named.clear()
            self._named[head] = template
        return template

    def add(self, line: str, template: Template) -> None:
        """Keep the operation that a line has been read as."""
        parts = _parts(*_split(line))
        pattern = _pattern(parts, template)
        if pattern is not None:
            self._known[parts.shape] = pattern


def _pattern(line: _Line, template: Template) -> _Pattern | None:
    """Return an operation with the places of its names; None where these are not all known."""
    places = _first_places(line.names)
    results = [name for name, _ in template.results]
    handed = [name for successor in template.successors for name in successor.operands]
    if not places.keys() >= {*results, *template.operands, *handed}:
        return None
    if line.location not in (None, template.location):
        return None
    texts = {key: text for key, text in template.attributes.items() if isinstance(text, str)}
    fixed = (*template.types, template.location, *(t for t in texts.values() if t not in places))
    if any("%" in text for text in fixed):
        return None
    return _Pattern(
        template,
        template.column - sum(map(len, results)),
        tuple([places[name] for name in results]),
        tuple([places[name] for name in template.operands]),
        tuple([(key, places[text]) for key, text in texts.items() if text in places]),
        tuple([tuple([places[name] for name in s.operands]) for s in template.successors]),
    )
