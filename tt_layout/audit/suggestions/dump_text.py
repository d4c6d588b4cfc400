"""The text of a module, and changes to it: layouts of types, names of values, operations.

Nothing is printed anew: what a change is not about stays as it was written, locations included.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from tt_layout.audit.suggestions.trial import Exchange
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.ssa import SsaOperation
from tt_layout.ir.types import IRType, parse_syntax

_NAME = re.compile(r"%[\w$.-]*[\w$](?:#\d+)?", re.ASCII)


class _Edit(NamedTuple):
    """A piece of a line, by its offsets from 0, and what takes its place."""

    start: int
    end: int
    text: str


class _WrittenType(NamedTuple):
    """A type on a line: where its layout is written."""

    start: int
    end: int
    type: IRType


class DumpText:
    """The text of a module whose lines are being changed.

    Each operation that is changed must be written on one line, as MLIR prints it.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._lines = module.source.text.split("\n")
        self._edits: dict[int, set[_Edit]] = defaultdict(set)
        self._before: dict[int, list[str]] = defaultdict(list)
        self._behind: dict[int, list[str]] = defaultdict(list)
        self._dropped: set[int] = set()
        self._copied: set[int] = set()
        self._names: dict[str, str] = {}
        self._aliases: list[str] = []

    # -- what is there ----------------------------------------------------------------------

    @cached_property
    def _types(self) -> Mapping[int, list[_WrittenType]]:
        """The types with a layout on each line, in order."""
        types: dict[int, list[_WrittenType]] = defaultdict(list)
        source = self.module.source
        for use in self.module.types:
            if isinstance(use.type.encoding, Encoding):
                offset = source.offset(use.line, use.column)
                layout = parse_syntax(source, offset).layout
                if layout is not None:
                    start = use.column - 1 + layout.span.start - offset
                    end = start + layout.span.end - layout.span.start
                    types[use.line].append(_WrittenType(start, end, use.type))
        return types

    @cached_property
    def _by_text(self) -> dict[str, str]:
        """Alias by the text of its layout, longer texts first."""
        aliases: dict[str, str] = {}
        for name in self.module.aliases.attributes():
            encoding = self.module.aliases[name].encoding
            if isinstance(encoding, Encoding):
                aliases.setdefault(encoding.written(), f"#{name}")
        return dict(sorted(aliases.items(), key=lambda item: -len(item[0])))

    def written(self, encoding: Encoding) -> str:
        """Return a layout as it is written here: by aliases, as far as there are any."""
        text = encoding.written()
        for layout, alias in self._by_text.items():
            text = text.replace(layout, alias)
        return text

    def line(self, operation: SsaOperation) -> str:
        """Return the line of an operation.

        Raises:
            LayoutError: it is written on several.
        """
        text = self._lines[operation.line - 1]
        opened = text.count("(") + text.count("<{") - text.count(")") - text.count("}>")
        if opened > 0 and not operation.regions:
            message = f"line {operation.line}: {operation.name} is written on several lines"
            raise LayoutError(message)
        return text

    def location(self, operation: SsaOperation) -> str:
        """Return the location of an operation, to stand behind another."""
        return f" loc({operation.location_text})" if operation.location_text else ""

    def type(self, ir_type: IRType) -> str:
        """Return a tensor type as it is written here."""
        assert isinstance(ir_type.encoding, Encoding)
        sizes = "".join(f"{size}x" for size in ir_type.shape)
        return f"tensor<{sizes}{ir_type.element_type}, {self.written(ir_type.encoding)}>"

    # -- changes ----------------------------------------------------------------------------

    def define(self, encoding: Encoding, name: str) -> None:
        """Give a layout a name of its own, if it has none and is not short."""
        text = encoding.written()
        parents = {parent.written() for parent in encoding.parents()}
        if text not in self._by_text and not parents & self._by_text.keys():
            self._aliases.append(f"#{name} = {self.written(encoding)}")
            self._by_text = {text: f"#{name}", **self._by_text}

    def retype(self, line: int, exchange: Exchange, only: Iterable[int] | None = None) -> None:
        """Exchange the layouts on a line.

        Args:
            line: its number.
            exchange: the layouts.
            only: the numbers of the types on it that change; None for all.
        """
        chosen = None if only is None else set(only)
        for number, (start, end, ir_type) in enumerate(self._types.get(line, ())):
            new = exchange.type(ir_type)
            if new is not ir_type and (chosen is None or number in chosen):
                assert isinstance(new.encoding, Encoding)
                self._edits[line].add(_Edit(start, end, self.written(new.encoding)))

    def retype_some(
        self, lines: range, values: Sequence[tuple[IRType | None, bool]], exchange: Exchange
    ) -> None:
        """Exchange the layouts of some values, whose types stand on lines one after the other.

        Args:
            lines: their numbers.
            values: the type of each, and whether its layout is exchanged.
            exchange: the layouts.

        Raises:
            LayoutError: their types do not stand there.
        """
        laid = [taken for t, taken in values if t is not None and isinstance(t.encoding, Encoding)]
        places = [(line, n) for line in lines for n in range(len(self._types.get(line, ())))]
        if len(laid) != len(places):
            message = f"line {lines[0]}: found {len(places)} types of {len(laid)} values"
            raise LayoutError(message)
        for (line, number), taken in zip(places, laid):
            if taken:
                self.retype(line, exchange, [number])

    def redefine(self, old: Encoding, new: Encoding) -> None:
        """Let every alias that stands for a layout stand for another."""
        exchange = Exchange({old: new})
        for name in self.module.aliases.attributes():
            alias = self.module.aliases[name]
            if isinstance(alias.encoding, Encoding) and exchange.encoding(alias.encoding) == new:
                line = self._lines[alias.line - 1]
                start = line.index("=", alias.column - 1) + 1
                self._edits[alias.line].add(_Edit(start, len(line), f" {new.written()}"))
        for number, types in self._types.items():
            source = self._lines[number - 1]
            written = [source[use.start : use.end] for use in types]
            self.retype(number, exchange, [n for n, t in enumerate(written) if "<" in t])

    def use(self, operation: SsaOperation, old: str, new: str) -> None:
        """Let an operation take another value."""
        line = self.line(operation)
        for match in _NAME.finditer(line, operation.column - 1):
            if match.group() == plain(old):
                self._edits[operation.line].add(_Edit(*match.span(), plain(new)))

    def drop(self, operation: SsaOperation) -> None:
        """Leave an operation out."""
        self.line(operation)
        self._dropped.add(operation.line)

    def insert(self, text: str, operation: SsaOperation, *, before: bool) -> None:
        """Add a line before or behind that of an operation, indented as that is."""
        line = self.line(operation)
        indent = line[: len(line) - len(line.lstrip())]
        where = self._before if before else self._behind
        where[operation.line].append(indent + text)

    def copy_once(
        self, operation: SsaOperation, exchange: Exchange, names: Mapping[str, str]
    ) -> None:
        """Add an operation once more behind itself, with other layouts and names of values."""
        line = self.line(operation)
        if operation.line in self._copied:
            return
        self._copied.add(operation.line)
        edits = [
            _Edit(start, end, self.written(new.encoding))
            for start, end, ir_type in self._types.get(operation.line, ())
            if (new := exchange.type(ir_type)) is not ir_type and isinstance(new.encoding, Encoding)
        ]
        edits += [
            _Edit(*match.span(), names[match.group()])
            for match in _NAME.finditer(line)
            if match.group() in names
        ]
        self.insert(_edited(line, edits).lstrip(), operation, before=False)

    def fresh(self, name: str) -> str:
        """Return a name for another version of a value; the same for the same value."""
        if name not in self._names:
            base = "%relaid_" + re.sub(r"\W", "_", plain(name)[1:])
            taken, number = set(self._names.values()), 0
            text = self.module.source.text
            candidate = base
            while candidate in taken or re.search(rf"{re.escape(candidate)}(?![\w$.-])", text):
                number += 1
                candidate = f"{base}_{number}"
            self._names[name] = candidate
        return self._names[name]

    def result(self) -> str:
        """Return the text with all changes."""
        lines: list[str] = []
        first = min((self.module.aliases[n].line for n in self.module.aliases), default=1)
        for number, line in enumerate(self._lines, 1):
            if number == first:
                lines += self._aliases
            lines += self._before.get(number, ())
            if number not in self._dropped:
                lines.append(_edited(line, self._edits.get(number, ())))
            lines += self._behind.get(number, ())
        return "\n".join(lines)


def plain(name: str) -> str:
    """Return a value as the dump writes it: names that MLIR uses again have their line here.

    Example:
        >>> plain("%weight@57"), plain("%5#1")
        ('%weight', '%5#1')
    """
    before, _, rest = name.partition("@")
    return before + (f"#{rest.partition('#')[2]}" if "#" in rest else "")


def _edited(line: str, edits: Iterable[_Edit]) -> str:
    for start, end, text in sorted(edits, reverse=True):
        line = line[:start] + text + line[end:]
    return line
