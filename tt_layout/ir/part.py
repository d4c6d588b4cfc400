"""What the reader notes about a part of a dump while it walks over it."""

from __future__ import annotations

from array import array

from tt_layout.errors import LayoutError
from tt_layout.mlir.aliases import Definition
from tt_layout.mlir.source import Source


class RawOperation:
    """An operation as offsets and numbers of types; filled as its text is walked over."""

    __slots__ = ("arrow", "end", "function", "name", "start", "types")

    def __init__(self, name: str, start: int, function: int) -> None:
        self.name = name
        self.start = start
        self.function = function
        self.types: list[int] = []
        self.arrow: int | None = None
        self.end = start


class Part:
    """A part of a dump, as offsets."""

    def __init__(
        self,
        start: int,
        *,
        pass_name: str | None = None,
        stage: str | None = None,
        inherited: dict[str, Definition] | None = None,
    ) -> None:
        self.start = start
        self.end = start
        self.pass_name = pass_name
        self.stage = stage
        self.inherited = inherited or {}
        self.aliases: dict[str, Definition] = {}
        self.module: int | None = None
        self.indent = 0
        self.opened: int | None = None
        self.open_indent = 0
        self.closed: int | None = None
        self.functions: list[int] = []
        self.operations: list[RawOperation] = []
        self.texts: dict[str, int] = {}
        self.firsts: list[int] = []
        self.offsets: array[int] = array("q")
        self.numbers: array[int] = array("l")

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it to speak of."""
        return not (self.module is not None or self.aliases or self.functions or self.offsets)

    def define(self, name: str, start: int, value: int) -> None:
        """Note an alias; of two definitions of one name the first holds."""
        known = self.aliases.get(name)
        self.aliases[name] = Definition(start, value) if known is None else known.again(start)

    def open_module(self, offset: int, indent: int) -> None:
        """Note the module operation."""
        self.module, self.indent = offset, indent
        self.opened, self.open_indent, self.closed = offset, indent, None

    def open_function(self, offset: int, indent: int) -> None:
        """Note a function."""
        self.functions.append(offset)
        if self.module is None:
            self.opened, self.open_indent, self.closed = offset, indent, None

    def close_region(self, offset: int, indent: int) -> None:
        """Note a closing brace at the beginning of a line."""
        if indent <= self.open_indent:
            self.closed = offset

    def absorb(self, other: Part) -> None:
        """Take over the aliases and types of a part that turned out to belong to this one."""
        for name, definition in other.aliases.items():
            self.aliases.setdefault(name, definition)
        renumbered = [self.texts.setdefault(text, len(self.texts)) for text in other.texts]
        for number, first in zip(renumbered, other.firsts):
            if number == len(self.firsts):
                self.firsts.append(first)
        self.offsets.extend(other.offsets)
        self.numbers.extend(renumbered[number] for number in other.numbers)

    def cut_off(self, source: Source) -> LayoutError | None:
        """Return the error that the part breaks off, if it does."""
        if self.opened is None or self.closed is not None:
            return None
        line_end = source.text.find("\n", self.opened, self.end)
        line_end = self.end if line_end < 0 else line_end
        first = source.text[self.opened : line_end]
        if "{" not in first or first.count("{") == first.count("}"):
            return None  # a declaration, or all on one line
        what = "module" if self.module is not None else "function"
        line, _ = source.line_column(self.opened)
        message = f"the {what} that begins on line {line} has no end: the text is cut off"
        last = max(self.opened, len(source.text[: self.end].rstrip()) - 1)
        return LayoutError(message, source.span(last, last + 1))
