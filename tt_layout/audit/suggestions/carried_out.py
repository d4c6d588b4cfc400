"""A suggestion carried out in the text of a module: layouts of types, names of values, operations.

Nothing is printed anew: what a change is not about stays as it was written, locations included.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tt_layout.audit.audit import Audit
from tt_layout.audit.modules.audited_module import FullOperation
from tt_layout.audit.suggestions.conversions import region_of
from tt_layout.audit.suggestions.flow import Flow, is_followed
from tt_layout.audit.suggestions.regions import ChangedRegion
from tt_layout.audit.suggestions.rewiring import Version, changes, computed_anew, rewired_uses
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, Suggestion
from tt_layout.audit.suggestions.trial import LayoutExchange
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.ssa import Operation, Value
from tt_layout.ir.ssa.control_flow import last_operations
from tt_layout.ir.types import IRType, parse_syntax
from tt_layout.lazy import lazy
from tt_layout.tuples import NamedTuple

_NAME = re.compile(r"%[\w$.-]*[\w$](?:#\d+)?", re.ASCII)

_SHARED = r'"?(?:ttg|triton_gpu)\.shared"? = \d+ : i32'
_STATED_SHARED = re.compile(rf", {_SHARED}|{_SHARED}(?:, )?")

ALIAS = "relaid"
"""The name of a layout that had none."""


# -- the text of a module --------------------------------------------------------------------------


class _Edit(NamedTuple):
    """A range of a line, by offsets from 0, and its replacement."""

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

    @lazy
    def _types(self) -> Mapping[int, list[_WrittenType]]:
        """The types with a layout on each line, in order."""
        types: dict[int, list[_WrittenType]] = defaultdict(list)
        source = self.module.source
        for use in self.module.types:
            if isinstance(use.type.encoding, Encoding):
                line = self.module.line_in_source(use.line)
                offset = source.offset(line, use.column)
                layout = parse_syntax(source, offset).layout
                if layout is not None:
                    start = use.column - 1 + layout.span.start - offset
                    end = start + layout.span.end - layout.span.start
                    types[line].append(_WrittenType(start, end, use.type))
        return types

    @lazy
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

    def line(self, operation: Operation) -> str:
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

    def location(self, operation: Operation) -> str:
        """Return the location suffix of an operation, to append to another one."""
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

    def retype(
        self, line: int, exchange: LayoutExchange, only: Iterable[int] | None = None
    ) -> None:
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
        self, lines: range, values: Sequence[tuple[IRType | None, bool]], exchange: LayoutExchange
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
        """Redefine every alias of a layout as another layout."""
        exchange = LayoutExchange({old: new})
        for name in self.module.aliases.attributes():
            alias = self.module.aliases[name]
            if isinstance(alias.encoding, Encoding) and exchange.encoding(alias.encoding) == new:
                number = self.module.line_in_source(alias.line)
                line = self._lines[number - 1]
                start = line.index("=", alias.column - 1) + 1
                self._edits[number].add(_Edit(start, len(line), f" {new.written()}"))
        for number, types in self._types.items():
            source = self._lines[number - 1]
            written = [source[use.start : use.end] for use in types]
            self.retype(number, exchange, [n for n, t in enumerate(written) if "<" in t])

    def use(self, operation: Operation, old: str, new: str) -> None:
        """Let an operation take another value."""
        line = self.line(operation)
        for match in _NAME.finditer(line, operation.column - 1):
            if match.group() == plain(old):
                self._edits[operation.line].add(_Edit(*match.span(), plain(new)))

    def leave_memory_open(self) -> None:
        """Leave out how much shared memory the module takes, which compilers find anew."""
        number = self.module.line
        found = _STATED_SHARED.search(self._lines[number - 1])
        if found is not None:
            self._edits[number].add(_Edit(*found.span(), ""))

    def drop(self, operation: Operation) -> None:
        """Leave an operation out."""
        self.line(operation)
        self._dropped.add(operation.line)

    def insert(self, text: str, operation: Operation, *, before: bool) -> None:
        """Add a line before or after that of an operation, with its indentation."""
        line = self.line(operation)
        indent = line[: len(line) - len(line.lstrip())]
        where = self._before if before else self._behind
        where[operation.line].append(indent + text)

    def copy_once(
        self, operation: Operation, exchange: LayoutExchange, names: Mapping[str, str]
    ) -> None:
        """Add a copy after an operation, with other layouts and names of values."""
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
        first = min((alias.line for alias in self.module.aliases.values()), default=None)
        first = 1 if first is None else self.module.line_in_source(first)
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


# -- a suggestion in it ----------------------------------------------------------------------------


def carried_out(audit: Audit, full: FullOperation, suggestion: Suggestion) -> str:
    """Return the text of a module in which a suggestion is followed.

    Args:
        audit: audit of a module that is the only one of its source.
        full: the operation that the suggestion is for.
        suggestion: the suggestion.

    Raises:
        LayoutError: what has to change is written in a way that is not followed.
    """
    text = DumpText(audit.module)
    text.leave_memory_open()
    if suggestion.where == EVERYWHERE:
        text.redefine(suggestion.replaced, suggestion.encoding)
    else:
        context = audit.suggestion_context
        flow, exchange = context.flow(full.function), suggestion.exchange
        ends = suggestion.replaced, suggestion.encoding
        region = region_of(context, full, suggestion.where, *ends)
        if region is None:
            raise LayoutError("the operations around the conversion are not followed")
        text.define(suggestion.encoding, _free_alias(audit.module))
        _Relaid(text, flow, full.operation, exchange, region).change()
    return text.result()


class _Relaid:
    """Change the layout of one side of a conversion."""

    def __init__(
        self,
        text: DumpText,
        flow: Flow,
        conversion: Operation,
        exchange: LayoutExchange,
        region: ChangedRegion,
    ) -> None:
        self.text, self.flow, self.conversion = text, flow, conversion
        self.exchange, self.region = exchange, region

    def change(self) -> None:
        """Change the text."""
        for operation in self.region.operations:
            self._retype(operation)
        for operation in self.flow.function.walk():
            if is_followed(operation):
                self._retype_carried(operation)
        names: dict[tuple[Value, Version], str] = {}
        for use in rewired_uses(self.flow, self.conversion, self.exchange, self.region):
            key = use.new, use.version
            if key not in names:
                names[key] = self._version(*key)
            self.text.use(use.consumer, use.old.name, names[key])
        self.text.drop(self.conversion)

    def _retype(self, operation: Operation) -> None:
        """Exchange the layouts of an operation: of a conversion, of one end."""
        ends: list[int] | None = None
        if operation.traits.same_elements:
            ends = [0 if changes(self.flow, self.exchange, operation.operands[0]) else 1]
        last = operation.line
        if operation.regions:  # its types stand behind them
            last = self.flow.behind[operation.results[0]].line - 1
        for line in range(operation.line, last + 1):
            self.text.retype(line, self.exchange, ends)

    def _retype_carried(self, operation: Operation) -> None:
        """Exchange the layouts in the types that a loop or a branch writes for passed values."""
        for first, last, values in _written(operation):
            if not self.region.carried.isdisjoint(values):
                types = map(self.flow.function.type_of, values)
                taken = [value in self.region.carried for value in values]
                self.text.retype_some(range(first, last + 1), [*zip(types, taken)], self.exchange)

    def _version(self, value: Value, version: Version) -> str:
        """Return the name of a version of a value, which is written where it is new."""
        if version is Version.KEPT:
            return value.name
        if version is Version.ANEW:
            return self._anew(value)
        return self._converted(value, is_back=version is Version.CONVERTED_BACK)

    def _anew(self, value: Value) -> str:
        """Compute a value once more in the new layout; return its name."""
        changed = computed_anew(self.flow, self.exchange, value)
        names = {plain(v.name): self.text.fresh(v.name) for v in changed}
        for operation in filter(None, (v.definition for v in changed)):
            self.text.copy_once(operation, self.exchange, names)
        return names.get(plain(value.name), value.name)

    def _converted(self, value: Value, *, is_back: bool = False) -> str:
        """Convert a value after its definition; return the name of the result."""
        old = self.flow.function.type_of(value)
        assert old is not None
        types = [self.text.type(old), self.text.type(self.exchange.type(old))]
        source, target = reversed(types) if is_back else types
        new, behind = self.text.fresh(value.name), self.flow.behind[value]
        line = f"{new} = {self.conversion.name} {plain(value.name)} : {source} -> {target}"
        self.text.insert(line + self.text.location(self.conversion), behind, before=True)
        return new


def _written(operation: Operation) -> Iterator[tuple[int, int, list[Value]]]:
    """Yield the lines on which a loop or a branch writes types, and the values of those types."""
    results, first = list(operation.results), operation.line
    if not operation.traits.loop or len(operation.regions) < 2:  # not one with a condition
        yield first, first, results
        for region in operation.regions:
            yield from ((last.line, last.line, results) for last in last_operations(region))
        return
    before, after = operation.regions
    arguments, counterparts = (list(part[0].arguments) for part in (before, after))
    yield first, first, arguments + results
    for condition in last_operations(before):
        yield condition.line, condition.line, results
        yield condition.line + 1, after[0].operations[0].line - 1, counterparts
    yield from ((last.line, last.line, arguments) for last in last_operations(after))


def _free_alias(module: Module) -> str:
    """Return a name that no alias has."""
    number, name = 0, ALIAS
    while name in module.aliases:
        number += 1
        name = f"{ALIAS}{number}"
    return name
