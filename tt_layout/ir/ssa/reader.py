"""From the text of a function to its values and operations.

The reader knows the conventions of MLIR's assembly formats rather than each operation: what
stands before ``=`` are results, values are operands, types stand behind a colon or an arrow,
dictionaries and regions in braces.  So it reads operations that it has never seen, of any
dialect, and the generic form; operations that depart from the conventions are in a table.

Most lines of a dump differ from others in the names of values and in the location alone.  What is
left of a line without these is its shape, under which its operation is kept.

    %c   = arith.addi %a, %b : i32 loc(#loc1)         as it was read
    @0   = arith.addi @1, @2 : i32 loc(@)             shape; results @0, operands @1 and @2
    %sum = arith.addi %5, %c0 : i32 loc(#loc)         of that shape: not read again

    %sum = arith.addi %5, %5 : i32 loc(#loc)          another shape: @1 is there twice

A shape that differs from a known one in the sizes and layouts of tensors and buffers is not read,
either: kernels for other blocks have many of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from tt_layout.arguments import checks_arguments
from tt_layout.ir.dump_part import MAX_NESTING
from tt_layout.ir.module import Module, PlacedName
from tt_layout.ir.operations import (
    MovedTypes,
    MovementOperation,
    OperationPosition,
    source_and_target,
)
from tt_layout.ir.ssa.attributes import Attribute, parse_dictionary
from tt_layout.ir.ssa.draft import Template, WrittenSuccessor
from tt_layout.ir.ssa.known_functions import (
    KnownFunctions,
    function_text,
    in_module,
    named_text,
)
from tt_layout.ir.ssa.model import (
    NO_BLOCKS,
    Block,
    Function,
    Operation,
    Region,
    Successor,
    Value,
    connect,
)
from tt_layout.ir.ssa.operation import Arguments, OperationReader
from tt_layout.ir.ssa.tokens import Cursor, closing
from tt_layout.mlir.source import BLOCK
from tt_layout.tuples import NamedTuple

MAX_LENGTH = 1 << 12
"""Characters of a line that is kept; longer ones are seldom alike."""

MAX_LINES = 1 << 13
"""Lines that are known with their names."""

_NAMES = re.compile(r"(%[\w$.-]+(?:#\d+)?)", re.ASCII)

_SHAPED = re.compile(
    r"(tensor|!ttg\.memdesc)<(?:\d+x)+((?:[^<>%,]|<[^<>%]*>)+)"
    r"(?:,(?:[^<>%]|<(?:[^<>%]|<[^<>%]*>)*>)*)?>",
    re.ASCII,
)
"""The type of a tensor or a buffer, its kind and its elements."""

_KINDS = re.compile("(?:tensor|memdesc)<")

_PLACE = re.compile("\0(\\d+)\0")
"""A type of a line, by its number, within what is written of another line."""

_CONTINUES = frozenset(":,-{([<>=*")
"""With what a line may begin that goes on with the operation of the line before."""


# -- lines that were read --------------------------------------------------------------------------


_Shape: TypeAlias = tuple[str, bool, tuple[int, ...]]
"""Texts between names, whether a location follows, and which names are equal."""


class _Line(NamedTuple):
    """A line in parts.

    Attributes:
        shape: what lines have in common that differ in names and location alone.
        names: of values, in the order written.
        location: a location at its end, if that is an alias; None otherwise.
    """

    shape: _Shape
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
        is_plain: whether each result is one value with a type, and none is handed over.
    """

    template: Template
    before: int
    results: tuple[int, ...]
    operands: tuple[int, ...]
    attributes: tuple[tuple[str, int], ...]
    successors: tuple[tuple[int, ...], ...]
    is_plain: bool


class _Found(NamedTuple):
    """A line whose shape has been read.

    Attributes:
        pattern: what lines of its shape have in common.
        names: of values, in the order written.
        location: a location at its end, if that is an alias; None otherwise.
    """

    pattern: _Pattern
    names: Sequence[str]
    location: str | None

    @property
    def template(self) -> Template:
        """The operation with the names and the location of the line."""
        pattern, names = self.pattern, self.names
        template = pattern.template
        attributes: Mapping[str, Attribute] = template.attributes
        if pattern.attributes:
            attributes = {**attributes, **{key: names[at] for key, at in pattern.attributes}}
        successors = template.successors
        if successors:
            successors = tuple(
                WrittenSuccessor(old.label, tuple([names[at] for at in places]))
                for old, places in zip(successors, pattern.successors)
            )
        results = [names[at] for at in pattern.results]
        return Template(
            template.name,
            tuple([names[at] for at in pattern.operands]),
            tuple(zip(results, [count for _, count in template.results])),
            template.types,
            attributes,
            successors,
            pattern.before + sum(map(len, results)),
            template.location if self.location is None else self.location,
            template.moved,
        )


class KnownLines:
    """The operations that have a line of their own, by the shapes of their lines.

    Example:
        >>> add = Template("arith.addi", ("%a", "%b"), (("%c", 1),), ("i32",), {}, (), 5, "#loc1")
        >>> known = KnownLines()
        >>> known.add("%c = arith.addi %a, %b : i32 loc(#loc1)", add)
        >>> found = known.find("%sum = arith.addi %5, %c0 : i32 loc(#loc)").template
        >>> found.results, found.operands, found.column, found.location
        ((('%sum', 1),), ('%5', '%c0'), 7, '#loc')
        >>> known.find("%sum = arith.addi %5, %5 : i32 loc(#loc)") is None
        True
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, _Pattern] = {}
        self._typeless: dict[Hashable, tuple[_Pattern, Sequence[str]]] = {}
        self._named: dict[str, tuple[_Pattern, Sequence[str]]] = {}

    def find(self, line: str) -> _Found | None:
        """Return a line with what it is of; None where none of its shape has been read."""
        head, location = _split(line)
        named = self._named.get(head)
        if named is not None and location is not None:
            return _Found(*named, location)
        parts = _parts(head, location)
        pattern = self._known.get(parts.shape) or self._with_types(parts.shape)
        if pattern is None:
            return None
        if location is not None:
            if len(self._named) >= MAX_LINES:
                self._named.clear()
            self._named[head] = pattern, parts.names
        return _Found(pattern, parts.names, location)

    def add(self, line: str, template: Template) -> None:
        """Keep the operation that a line has been read as."""
        parts = _parts(*_split(line))
        pattern = _pattern(parts, template)
        if pattern is None:
            return
        self._known[parts.shape] = pattern
        if "\0" in line:  # which stands around the number of a type
            return
        key, types = _typeless(parts.shape)

        def place(found: re.Match[str]) -> str:
            return f"\0{types.index(found[0])}\0" if found[0] in types else found[0]

        moved = template.moved
        texts = [*template.types, *(moved.texts if moved is not None else ())]
        places = [_SHAPED.sub(place, text) for text in texts]
        if not _KINDS.search(f"{places} {template.attributes} {template.location}"):
            self._typeless[key] = pattern, places

    def _with_types(self, shape: _Shape) -> _Pattern | None:
        """Return the pattern of a shape by one with other types of the same elements."""
        key, types = _typeless(shape)
        known = self._typeless.get(key)
        if known is None:
            return None
        pattern, places = known
        texts = tuple([_PLACE.sub(lambda at: types[int(at[1])], text) for text in places])
        template = pattern.template
        results, moved = len(template.types), template.moved
        if moved is not None:
            moved = moved._replace(texts=texts[results:])
        template = template._replace(types=texts[:results], moved=moved)
        pattern = pattern._replace(template=template)
        self._known[shape] = pattern
        return pattern


def _typeless(shape: _Shape) -> tuple[Hashable, Sequence[str]]:
    """Return a shape with the elements of its types alone, and the types."""
    text, *others = shape
    types: list[str] = []

    def element(found: re.Match[str]) -> str:
        types.append(found[0])
        return f"{found[1]}<{found[2]}>"

    key = _SHAPED.sub(element, text), *others, *map(types.index, types)
    return key, types


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
    moved = template.moved.texts if template.moved is not None else ()
    others = (text for text in texts.values() if text not in places)
    fixed = (*template.types, *moved, template.location, *others)
    if any("%" in text for text in fixed):
        return None
    return _Pattern(
        template,
        template.column - sum(map(len, results)),
        tuple([places[name] for name in results]),
        tuple([places[name] for name in template.operands]),
        tuple([(key, places[text]) for key, text in texts.items() if text in places]),
        tuple([tuple([places[name] for name in s.operands]) for s in template.successors]),
        not template.successors
        and len(template.types) == len(results) == len(set(results))
        and all(count == 1 for _, count in template.results),
    )


# -- functions -------------------------------------------------------------------------------------


@checks_arguments
def read_functions(module: Module) -> list[Function]:
    """Return the functions of a module as values and operations.

    Args:
        module: as `tt_layout.parse_ir` returns it.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('tt.func @f(%n: i32) { %0 = arith.addi %n, %n : i32 }')
        >>> [function] = read_functions(module)
        >>> [(o.name, [v.name for v in o.operands]) for o in function.walk()]
        [('arith.addi', ['%n', '%n'])]
    """
    return SsaReader().functions(module)


class FunctionsOnDemand:
    """The functions of a module, each read when it is first asked for."""

    def __init__(self, reader: SsaReader, module: Module) -> None:
        self.module = module
        self._reader = reader
        self._read: dict[int, Function] = {}

    def __getitem__(self, number: int) -> Function:
        """Return a function by its number in the module."""
        if number not in self._read:
            self._read[number] = self._reader.read(self.module, number)
        return self._read[number]


def movements(
    module: Module,
    functions: Sequence[Function] | FunctionsOnDemand,
    numbers: Iterable[int] | None = None,
) -> Iterator[MovementOperation]:
    """Yield the operations of a module that move data, in the order of the text.

    One that is not in a function that was read, as in a part of a dump, is read by itself.

    Args:
        module: the module.
        functions: its functions as they were read.
        numbers: numbers of their names in the module; None for all.
    """
    starts = [(function.line, function.column) for function in module.functions]
    for at in numbers if numbers is not None else range(len(module.moves)):
        name, own_line, column = module.moves[at]
        line = module.line_in_source(own_line)
        number = bisect_right(starts, (own_line, column)) - 1
        function = functions[number] if number >= 0 else None
        operation = function.operation_at(line, column) if function is not None else None
        position = OperationPosition(None, at)
        if function is not None and operation is not None:
            moved, location = operation.moved, function.location(operation)
            position = OperationPosition(number, operation.position)
        else:
            moved, text = _moved_alone(module, *module.moves[at : at + 2])
            location = module.symbols.location(text) if text else None
        types = [module.types.by_text.get(text) for text in moved.texts] if moved else []
        present = tuple([ir_type for ir_type in types if ir_type is not None])
        if moved is None or not present:
            continue  # it moves a scalar
        before = sum(ir_type is not None for ir_type in types[: moved.before])
        yield MovementOperation(
            name,
            function.name if function is not None else None,
            position,
            line,
            column,
            location,
            present,
            *source_and_target(name.rpartition(".")[2], present, before),
        )


def _moved_alone(module: Module, *names: PlacedName) -> tuple[MovedTypes | None, str | None]:
    """Return the types and the location of an operation, which ends where the next one begins.

    Args:
        module: the module.
        names: its name, and that of the next one that moves data, if there is one.
    """
    source = module.source
    begin, *behind = [source.offset(module.line_in_source(o.line), o.column) for o in names]
    text = source.text[begin : behind[0] if behind else module.span.end]
    cursor = Cursor(text, 0)

    def stop(arguments: Arguments) -> Region:
        cursor.move_to(len(text))
        return NO_BLOCKS

    read = OperationReader(cursor, stop).read()
    return (read[0].moved, read[0].location) if read is not None else (None, None)


class SsaReader:
    """Reads functions of the modules of one dump.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... tt.func @f(%n: i32 {tt.divisibility = 16 : i32}) {
        ...   %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
        ...   %1 = tt.splat %n : i32 -> tensor<8xi32>
        ...   %2 = arith.addi %0, %1 : tensor<8xi32>
        ...   tt.return
        ... }''')
        >>> [function] = SsaReader().functions(module)
        >>> function.argument_attributes[0]["tt.divisibility"]
        16
        >>> last = function.values["%2"].definition
        >>> last.name, last.operands[1].definition.name, last.results[0].type.shape, last.line
        ('arith.addi', 'tt.splat', (8,), 5)
    """

    def __init__(self) -> None:
        self._lines = KnownLines()
        self._functions = KnownFunctions()
        self._demanded: FunctionsOnDemand | None = None

    def of_lines(self) -> SsaReader:
        """Return a reader that knows the same lines, and no functions."""
        reader = SsaReader()
        reader._lines = self._lines
        return reader

    def on_demand(self, module: Module) -> FunctionsOnDemand:
        """Return the functions of a module, which are kept until another one is asked for."""
        if self._demanded is None or self._demanded.module is not module:
            self._demanded = FunctionsOnDemand(self, module)
        return self._demanded

    def functions(self, module: Module) -> list[Function]:
        """Return the functions of a module."""
        return [self.read(module, number) for number in range(len(module.functions))]

    def read(self, module: Module, number: int) -> Function:
        """Return a function of a module as values and operations.

        What the reader does not understand it steps over: reading never fails.  Of regions that it
        steps over because they are nested too deeply, the module has an error.

        Args:
            module: the module.
            number: which of its functions, from 0.
        """
        function = module.functions[number]
        function = function._replace(line=module.line_in_source(function.line))
        offset = module.source.offset(function.line, function.column)
        reader, text = _FunctionReader(module, self._lines), None
        if not module.symbols.has_type_aliases:  # which stand for other types elsewhere
            text = function_text(module.source.text, function, offset)
        if text is None:
            return in_module(reader.read(function, offset), module, number)
        known, end = self._functions, offset + len(text)
        plain = known.same(text, function)
        if plain is None:
            named = named_text(text, function)
            plain = known.placed(named, function)
            if plain is None:
                plain = reader.read(function, offset)
                if reader.cursor.last_end != end:
                    return in_module(plain, module, number)
                plain = known.add(plain, named)
        return in_module(plain, module, number, plain=plain)


class _FunctionReader:
    """Reads one function."""

    def __init__(self, module: Module, lines: KnownLines) -> None:
        self.module = module
        self.source = module.source
        self.text = module.source.text
        self.lines = lines
        self.names = Names()
        self.values: dict[str, Value] = {}
        self.nesting = 0
        self._last = 0, 0  # a line, and where it begins

    def read(self, function: PlacedName, offset: int) -> Function:
        """Return the function at an offset, without its layouts."""
        self.cursor = Cursor(self.text, offset)
        self.operations = OperationReader(self.cursor, self._region)
        if self.cursor.kind == "string":
            arguments, attributes, body = self._generic()
        else:
            arguments, attributes, body = self._custom()
        connect(body)
        return Function(
            name=function.name,
            arguments=arguments,
            argument_attributes=attributes,
            body=body,
            line=function.line,
            column=function.column,
        )

    def _custom(
        self,
    ) -> tuple[tuple[Value, ...], tuple[Mapping[str, Attribute], ...], Region]:
        cursor = self.cursor
        while cursor.kind and cursor.text != "(":
            cursor.advance()
        parameters = self.operations.arguments()
        attributes = tuple(entries for _, _, entries in parameters)
        self._skip_to_body()
        if cursor.text != "{":
            values = tuple(Value(name, text) for name, text, _ in parameters)
            return values, attributes, NO_BLOCKS
        body = self._region([(name, text) for name, text, _ in parameters])
        return body[0].arguments if body else (), attributes, body

    def _skip_to_body(self) -> None:
        """Step over result types and attributes of a function, and stop at its brace."""
        cursor, before = self.cursor, ""
        while cursor.kind and cursor.text != "}":
            if cursor.text == "(":
                cursor.move_to(closing(self.text, cursor.start))
                continue
            if cursor.text == "{":
                if before != "attributes":
                    return
                cursor.move_to(parse_dictionary(self.text, cursor.start)[1])
                before = ""
                continue
            if cursor.begins_line() and cursor.kind in ("value", "word") and "." in cursor.text:
                return  # a declaration; this is what follows
            before = cursor.text
            cursor.advance()

    def _generic(self) -> tuple[tuple[Value, ...], tuple[Mapping[str, Attribute], ...], Region]:
        read = self.operations.read()
        if read is None or not read[1] or not read[1][0]:
            return (), (), NO_BLOCKS
        draft, regions = read
        arguments = regions[0][0].arguments
        text = str(draft.attributes.get("arg_attrs", ""))
        attributes: list[Mapping[str, Attribute]] = []
        offset = text.find("{")
        while offset >= 0 and len(attributes) < len(arguments):
            entries, end = parse_dictionary(text, offset)
            attributes.append(entries)
            offset = text.find("{", end)
        attributes += [{}] * (len(arguments) - len(attributes))
        return arguments, tuple(attributes), regions[0]

    # -- regions and blocks -----------------------------------------------------------------

    def _region(self, arguments: Arguments) -> Region:
        """Read the region at whose brace the cursor stands."""
        cursor = self.cursor
        if self.nesting >= MAX_NESTING:
            cursor.move_to(closing(self.text, cursor.start))
            return Region(())
        self.nesting += 1
        with self.names.region():
            line = self._line(cursor.start)
            cursor.advance()
            blocks = self._blocks("", self._define(arguments, line))
        self.nesting -= 1
        cursor.advance()
        return Region(blocks)

    def _blocks(self, label: str, arguments: tuple[Value, ...]) -> list[Block]:
        """Read the blocks up to the brace that closes their region."""
        cursor = self.cursor
        blocks: list[Block] = []
        operations: list[Operation] = []
        while cursor.kind and cursor.text != "}":
            if cursor.kind != "block":
                operation = self._known() or self._operation()
                if operation is not None:
                    operations.append(operation)
                continue
            if operations or label or blocks:
                blocks.append(Block(label, arguments, tuple(operations)))
                arguments, operations = (), []
            label, line = cursor.text, self._line(cursor.start)
            cursor.advance()
            if cursor.text == "(":
                written = self.operations.arguments()
                arguments += self._define([(name, text) for name, text, _ in written], line)
            if cursor.text == ":":
                cursor.advance()
        return [*blocks, Block(label, arguments, tuple(operations))]

    def _define(self, arguments: Arguments, line: int) -> tuple[Value, ...]:
        expand = self.module.symbols.expand_type
        return tuple(
            [
                self._defined(self.names.define(name, 1, line)[0], expand(text))
                for name, text in arguments
            ]
        )

    def _defined(self, name: str, text: str) -> Value:
        """Return the value that is defined by a name; others may have taken it before."""
        value = self.values.get(name)
        if value is None:
            value = self.values[name] = Value(name, text)
        else:
            value.give_type(text)
        return value

    def _used(self, written: Sequence[str]) -> tuple[Value, ...]:
        """Return the values that names stand for here."""
        values = self.values
        operands = []
        for name in self.names.use_all(written):
            value = values.get(name)
            if value is None:
                value = values[name] = Value(name)
            operands.append(value)
        return tuple(operands)

    def _line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, which mostly is shortly behind the last."""
        line, start = self._last
        if not (line and start <= offset < start + BLOCK):
            line, column = self.source.line_column(offset)
            start = offset - column + 1
        elif lines := self.text.count("\n", start, offset):
            line, start = line + lines, self.text.rfind("\n", start, offset) + 1
        self._last = line, start
        return line, offset - start + 1

    def _line(self, offset: int) -> int:
        return self._line_column(offset)[0]

    def _line_end(self, offset: int) -> int:
        end = self.text.find("\n", offset)
        return end if end >= 0 else len(self.text)

    # -- operations -------------------------------------------------------------------------

    def _known(self) -> Operation | None:
        """Return the operation at the cursor if one has been read that differs in names alone."""
        cursor, start = self.cursor, self.cursor.start
        if not cursor.begins_line():
            return None
        end = self._line_end(start)
        found = self.lines.find(self.text[start:end]) if end - start <= MAX_LENGTH else None
        if found is None:
            return None
        cursor.move_to(end)
        if cursor.text[:1] in _CONTINUES:
            cursor.move_to(start)
            return None
        if found.pattern.is_plain:
            operation = self._place_plain(found, start)
            if operation is not None:
                return operation
        return self._place(found.template, start, ())

    def _place_plain(self, found: _Found, start: int) -> Operation | None:
        """Return an operation of a known line at its place, in fewer steps than `_place`.

        None where a result has a name that another value has: all but few lines go this way.
        """
        pattern, names, location = found
        taken, values, template = self.names.taken, self.values, pattern.template
        written = [names[at] for at in pattern.results]
        for name in written:
            if name in taken:
                return None
        current = self.names.current
        used = [current.get(name, name) for name in names] if current else names
        operands = []
        for at in pattern.operands:
            name = used[at]
            value = values.get(name)
            if value is None:
                value = values[name] = Value(name)
            operands.append(value)
        attributes: Mapping[str, Attribute] = template.attributes
        if pattern.attributes:
            attributes = {**attributes, **{key: used[at] for key, at in pattern.attributes}}
        taken.update(written)
        results = []
        for name, text in zip(written, template.types):
            if text[:1] == "!":
                text = self.module.symbols.expand_type(text)
            results.append(self._defined(name, text))
        line, column = self._line_column(start + pattern.before + sum(map(len, written)))
        return Operation(
            template.name, tuple(operands), tuple(results), attributes, (), (), line, column,
            template.location if location is None else location,
            template.moved,
        )  # fmt: skip

    def _operation(self) -> Operation | None:
        cursor, start = self.cursor, self.cursor.start
        read = self.operations.read()
        if read is None:
            return None
        draft, regions = read
        template = draft.template(start)
        end = self._line_end(start)
        if cursor.last_end <= end <= min(cursor.start, start + MAX_LENGTH) and not regions:
            self.lines.add(self.text[start:end], template)
        return self._place(template, start, tuple(regions))

    def _place(self, template: Template, start: int, regions: tuple[Region, ...]) -> Operation:
        """Return an operation at its place, with the names that hold there."""
        line, column = self._line_column(start + template.column)
        operands = self._used(template.operands)
        attributes = template.attributes
        if any(value.name != name for value, name in zip(operands, template.operands)):
            use = self.names.use
            attributes = {
                key: use(value) if isinstance(value, str) else value
                for key, value in attributes.items()
            }
        successors: tuple[Successor, ...] = ()
        if template.successors:
            pairs = [(label, self._used(names)) for label, names in template.successors]
            successors = tuple([Successor(label, handed) for label, handed in pairs])
        results = self._results(template, line, pack=bool(regions))
        return Operation(
            template.name, operands, results, attributes, regions, successors, line, column,
            template.location, template.moved,
        )  # fmt: skip

    def _results(self, template: Template, line: int, *, pack: bool) -> tuple[Value, ...]:
        names: list[str] = []
        for written, count in template.results:
            names += self.names.define(written, count, line, pack=pack)
        expand = self.module.symbols.expand_type
        return tuple([self._defined(name, expand(t)) for name, t in zip(names, template.types)])


# -- names -----------------------------------------------------------------------------------------


class Names:
    """The names that hold at a place of a function.

    Attributes:
        taken: the names that values have.
        current: what a name stands for here, where that is another one.

    Example:
        >>> names = Names()
        >>> with names.region():
        ...     names.define("%0", 1, 2), names.use("%0")
        (['%0'], '%0')
        >>> names.define("%0", 2, 5), names.use("%0#1"), names.use("%0")
        (['%0@5#0', '%0@5#1'], '%0@5#1', '%0@5#0')
    """

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self.current: dict[str, str] = {}

    @contextmanager
    def region(self) -> Iterator[None]:
        """Hold what is defined within to a region."""
        saved, self.current = self.current, dict(self.current)
        try:
            yield
        finally:
            self.current = saved

    def define(self, written: str, count: int, line: int, *, pack: bool = False) -> list[str]:
        """Return the names of values that are defined under one name on a line.

        Args:
            pack: whether a single value may also be called the first of its kind, ``%5#0``.
        """
        name = written
        if name in self.taken:
            name = f"{written}@{line}"
            while name in self.taken:
                name += "'"
            self.current[written] = name
        self.taken.add(name)
        if count == 1:
            if pack:
                self.current[f"{written}#0"] = name
            return [name]
        names = [f"{name}#{index}" for index in range(count)]
        if names:
            self.current[written] = names[0]
        if name != written:
            self.current.update(zip((f"{written}#{i}" for i in range(count)), names))
        return names

    def use(self, written: str) -> str:
        """Return the name of the value that a name stands for here."""
        return self.current.get(written, written)

    def use_all(self, written: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the values that names stand for here."""
        current = self.current
        return tuple([current.get(name, name) for name in written]) if current else tuple(written)
