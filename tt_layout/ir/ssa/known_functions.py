"""Functions that were read, found again where their texts differ in names and constants alone.

A kernel that is compiled for other layouts, warps or arguments has functions of the same text, but
for integers and for the names that MLIR gives to values; functions that a generator writes differ
in the functions that they call.  Such a function is not read again: a draft of the first has its
operations, with numbers for values and places relative to its own.

    %c = arith.constant 8 : i32     as it was read
    %0 = tt.splat %c : i32 -> tensor<64xi32, #blocked>
    %5 = arith.constant 16 : i32    of a function that is placed, not read
    %7 = tt.splat %5 : i32 -> tensor<64xi32, #blocked>

A draft is made for the second function of a text: of most there is but one.

Operations that are computed alike have one number, in a function, in an edited text, and where
passes unroll a loop: accesses to global memory of one number cost the same, wherever they stand.

    %a = tt.load %p : tensor<64x!tt.ptr<f16>, #blocked>     a number
    %b = tt.load %p : tensor<64x!tt.ptr<f16>, #blocked>     the same, here or in an edited text
    %c = tt.load %q : tensor<64x!tt.ptr<f16>, #blocked>     another, as %q is another sum

What a region computes, or is in one, has none: it follows from all that is in the region.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Generic, TypeVar

from tt_layout.ir.module import Module, PlacedName
from tt_layout.ir.operations import MovedTypes
from tt_layout.ir.ssa.attributes import Attribute
from tt_layout.ir.ssa.model import (
    Alike,
    Block,
    Function,
    Operation,
    Region,
    Successor,
    Value,
    connect,
)
from tt_layout.mlir.source import UNPLACED
from tt_layout.tuples import NamedTuple

T = TypeVar("T")

MAX_NUMBERS = 1 << 17
"""Operations that are told apart; then all are forgotten."""

MAX_LENGTH = 1 << 16
"""Characters of a function that is kept; longer ones are seldom alike."""

MAX_KEPT = 1 << 22
"""Characters of all functions that are kept, each of which takes about five bytes."""

MAX_ALIKE = 64
"""Sets of constants for which what functions share is kept."""

_DENSE = "dense<"
_NAMES = re.compile(
    rf"(%[\w$.-]+)(?: = arith\.constant ((?:{_DENSE})?-?\d{{1,40}})(?=>? : ))?", re.ASCII
)
"""A name, and the integer that is given it; nothing but names makes the search stop."""

_CALL = "call @"

_NAMES_AND_CALLEES = re.compile(
    _NAMES.pattern.replace("%", rf"[%@](?:(?<=%)|(?<={_CALL}))", 1), re.ASCII
)
"""The same, and the name of a function that is called; twice as slow."""

_NO_NAME = -1


class NamedText(NamedTuple):
    """The text of a function, with the names of values and the constants in it.

    Attributes:
        text: up to the closing brace.
        key: all but these, and the name of the function.
        names: each time that they are written; constants, and functions that are called, with
            their ``@``, among them.
        distinct: the names of values, each once.
    """

    text: str
    key: Hashable
    names: Sequence[str]
    distinct: Sequence[str]

    @property
    def constants(self) -> tuple[str, ...]:
        """The constants, in the order of the text."""
        return tuple([name for name in self.names if name[0] not in "%@"])

    @property
    def callees(self) -> tuple[int, ...]:
        """Which of the names are functions that are called."""
        if _CALL not in self.text:
            return ()
        return tuple([at for at, name in enumerate(self.names) if name[0] == "@"])


def function_text(text: str, function: PlacedName, offset: int) -> str | None:
    """Return the text of a function up to its closing brace; None if that is not found.

    The brace is the first that is indented as the function is.

    Args:
        text: of the dump.
        function: its place.
        offset: where that is in the text.
    """
    closing = "\n" + " " * (function.column - 1) + "}"
    end = text.find(closing, offset, offset + MAX_LENGTH)
    own = text[offset : end + len(closing)] if end >= 0 else ""
    return own if own and "\0" not in own else None


def _names_in(own: str) -> re.Pattern[str]:
    """Return the pattern of the names in the text of a function."""
    return _NAMES_AND_CALLEES if _CALL in own else _NAMES


def named_text(own: str, function: PlacedName) -> NamedText:
    """Return the text of a function with its names and constants apart.

    Args:
        own: up to its closing brace.
        function: its place.
    """
    before, _, behind = own.partition(f"@{function.name}(")
    parts = _names_in(own).split(f"{before}\0{behind}" if behind else own)
    numbers: dict[str, int] = {}
    names: list[str] = []
    written: list[int] = []
    for name, constant in zip(parts[1::3], parts[2::3]):
        names.append(name)
        is_value = name[0] == "%"
        written.append(numbers.setdefault(name, len(numbers)) if is_value else _NO_NAME)
        if constant is not None:
            names.append(constant)
            written.append(_NO_NAME)
    key = function.column, "\0".join(parts[::3]), array("i", written).tobytes()
    return NamedText(own, key, names, [*numbers])


# -- drafts ----------------------------------------------------------------------------------------


class _Value(NamedTuple):
    """A value without its name.

    Attributes:
        number: of the name as written.
        line: in the name of a second value that is so named; None of any other.
        rest: what follows in the name.
        text: the type as written.
    """

    number: int
    line: int | None
    rest: str
    text: str


class _Operation(NamedTuple):
    """An operation with numbers in place of values.

    Attributes:
        named: the attributes that are the name of a value.
        constant: which of all names of the text is its value; None of anything else.
        callee: which of them is the function that it calls; None where it calls none.
        line: counted from the line of the function.
        column: less the characters of the names before it on its line.
        before: which these are, among all names of the text.
    """

    name: str
    operands: Sequence[int]
    results: Sequence[int]
    attributes: Mapping[str, Attribute]
    named: Sequence[tuple[str, int]]
    constant: int | None
    callee: int | None
    regions: Sequence[Sequence[_Block]]
    successors: Sequence[tuple[str, Sequence[int]]]
    line: int
    column: int
    before: tuple[int, int]
    location: str
    moved: MovedTypes | None


class _Block(NamedTuple):
    """A block with numbers in place of values."""

    label: str
    arguments: Sequence[int]
    operations: Sequence[_Operation]


class FunctionDraft(NamedTuple):
    """A function without names and places.

    Attributes:
        alike: what the functions share that have the same constants, by these.
        structure: what all of them share.
    """

    values: Sequence[_Value]
    arguments: Sequence[int]
    argument_attributes: tuple[Mapping[str, Attribute], ...]
    body: Sequence[_Block]
    alike: dict[tuple[str, ...], Alike]
    structure: dict[Hashable, Any]

    def placed(self, function: PlacedName, text: NamedText) -> Function:
        """Return the function of a text whose draft this is, at its place, without layouts."""
        first, names, distinct = function.line, text.names, text.distinct
        values = [
            Value(
                f"{distinct[number]}{rest}"
                if line is None
                else f"{distinct[number]}@{line + first}{rest}",
                type_text,
            )
            for number, line, rest, type_text in self.values
        ]

        value = values.__getitem__

        def region(blocks: Sequence[_Block]) -> Region:
            return Region(
                [
                    Block(label, tuple(map(value, arguments)), tuple(map(placed, operations)))
                    for label, arguments, operations in blocks
                ]
            )

        def placed(operation: _Operation) -> Operation:
            (
                name, operands, results, attributes, words, constant, callee,
                regions, successors, line, column, (begin, end), location, moved,
            ) = operation  # fmt: skip
            if words:
                attributes = {**attributes, **{key: value(number).name for key, number in words}}
            if constant is not None:
                attributes = {**attributes, "value": _value(names[constant])}
            if callee is not None:
                attributes = {**attributes, "callee": names[callee][1:]}
            if begin < end:
                column += sum(map(len, names[begin:end]))
            return Operation(
                name,
                tuple(map(value, operands)),
                tuple(map(value, results)),
                attributes,
                tuple(map(region, regions)),
                tuple(
                    [Successor(label, tuple(map(value, handed))) for label, handed in successors]
                ),
                first + line,
                column,
                location,
                moved,
            )

        body = region(self.body)
        connect(body)
        return Function(
            name=function.name,
            arguments=tuple([values[argument] for argument in self.arguments]),
            argument_attributes=self.argument_attributes,
            body=body,
            line=first,
            column=function.column,
            alike=self.alike_of(text.constants),
        )

    def alike_of(self, constants: tuple[str, ...]) -> Alike:
        """Return what the functions share that have the same constants, too."""
        alike = self.alike.get(constants)
        if alike is None:
            if len(self.alike) >= MAX_ALIKE:
                self.alike.clear()
            alike = self.alike[constants] = Alike(self.structure)
        return alike


def _value(constant: str) -> Attribute:
    """Return the value of a constant, as it is written without its type."""
    return f"{constant}>" if constant.startswith(_DENSE) else int(constant)


def _written(found: re.Match[str]) -> Sequence[int]:
    """Return the groups of a match of `_NAMES` that something is written for."""
    return (1,) if found[2] is None else (1, 2)


class _NoDraftError(ValueError):
    """Something has a name in it, or a constant, of which the draft does not know."""


class _Drafting:
    """The draft of a function while it is made."""

    def __init__(self, function: Function, named: NamedText) -> None:
        self._function, self._named = function, named
        self._lines = [1 - function.column, *(at.end() for at in re.finditer("\n", named.text))]
        matches = _names_in(named.text).finditer(named.text)
        self._places = [at.start(g) for at in matches for g in _written(at)]
        self._constants = 0
        self._callees = iter(named.callees)
        self._of_names = {name: number for number, name in enumerate(named.distinct)}
        self._numbers: dict[Value, int] = {}
        self._values: list[_Value] = []

    def draft(self) -> FunctionDraft:
        """Return the draft.

        Raises:
            _NoDraftError: there is none.
        """
        function = self._function
        if any("%" in str(attributes) for attributes in function.argument_attributes):
            raise _NoDraftError
        arguments = self._all(function.arguments)
        body = self._blocks(function.body)
        named = self._named
        if (self._constants, len(self._places)) != (len(named.constants), len(named.names)):
            raise _NoDraftError
        if next(self._callees, None) is not None:
            raise _NoDraftError
        alike = function.alike or Alike({})
        return FunctionDraft(
            self._values,
            arguments,
            function.argument_attributes,
            body,
            {named.constants: alike},
            alike.structure,
        )

    def _all(self, values: Sequence[Value]) -> Sequence[int]:
        return tuple([self._number(value) for value in values])

    def _number(self, value: Value) -> int:
        number = self._numbers.get(value)
        if number is None:
            head, second, line = value.name.partition("@")
            line = line.removeprefix(UNPLACED)
            digits = len(line) - len(line.lstrip("0123456789"))
            rest = line[digits:]
            if not second:
                head, pack, rest = head.partition("#")
                rest = pack + rest
            if head not in self._of_names or "%" in value.text:
                raise _NoDraftError
            number = self._numbers[value] = len(self._values)
            place = int(line[:digits]) - self._function.line if second else None
            self._values.append(_Value(self._of_names[head], place, rest, value.text))
        return number

    def _blocks(self, blocks: Iterable[Block]) -> Sequence[_Block]:
        return tuple(
            [
                _Block(
                    block.label,
                    self._all(block.arguments),
                    tuple([self._operation(operation) for operation in block.operations]),
                )
                for block in blocks
            ]
        )

    def _operation(self, operation: Operation) -> _Operation:
        line = operation.line - self._function.line
        if not line:
            raise _NoDraftError  # behind the name of the function
        begin = self._lines[line]
        places, start = self._places, begin + operation.column - 1
        before = bisect_left(places, begin), bisect_left(places, start)
        column = operation.column - sum(map(len, self._named.names[slice(*before)]))
        if "%" in operation.location_text:
            raise _NoDraftError
        named = []
        for key, attribute in operation.attributes.items():
            if isinstance(attribute, str) and "%" in attribute:
                value = self._function.values.get(attribute)
                if value is None:
                    raise _NoDraftError
                named.append((key, self._number(value)))
        callee = self._callee(operation)
        constant = None
        behind = start + len(operation.name) + 1
        if operation.traits.constant and behind in places[before[1] :][:1]:
            constant = before[1]
            self._constants += 1
            if operation.attributes.get("value") != _value(self._named.names[constant]):
                raise _NoDraftError
        return _Operation(
            operation.name,
            self._all(operation.operands),
            self._all(operation.results),
            operation.attributes,
            tuple(named),
            constant,
            callee,
            tuple([self._blocks(region) for region in operation.regions]),
            tuple([(label, self._all(handed)) for label, handed in operation.successors]),
            line,
            column,
            before,
            operation.location_text,
            operation.moved,
        )

    def _callee(self, operation: Operation) -> int | None:
        """Return which of the names is the function that an operation calls; None of no call."""
        if not operation.traits.call:
            return None
        at = next(self._callees, None)
        if at is None or f"@{operation.attributes.get('callee')}" != self._named.names[at]:
            raise _NoDraftError
        return at


class _ReadFunction(NamedTuple):
    """A function that was read, and its text: drafted when another one differs in names alone."""

    function: Function
    named: NamedText

    def draft(self) -> FunctionDraft | None:
        """Return its draft; None if it has none."""
        try:
            return _Drafting(self.function, self.named).draft()
        except _NoDraftError:
            return None


class KnownFunctions:
    """Drafts of functions, by their texts without names; and functions, by their texts and places.

    The latter are kept without what they refer to, such as layouts.
    """

    def __init__(self) -> None:
        self._drafts: dict[Hashable, FunctionDraft | _ReadFunction | None] = {}
        self._plain: dict[Hashable, Function] = {}
        self._of_drafts = self._of_plain = 0

    def same(self, text: str, function: PlacedName) -> Function | None:
        """Return the function of a text that was read at this place before; None without one.

        Args:
            text: up to its closing brace.
            function: its place.
        """
        return self._plain.get((text, function.line, function.column))

    def placed(self, named: NamedText, function: PlacedName) -> Function | None:
        """Return a function by its draft; None where none was read that differs in names alone."""
        draft = self._drafts.get(named.key)
        if isinstance(draft, _ReadFunction):
            draft = self._drafts[named.key] = draft.draft()
        if draft is None:
            return None
        return self._kept(draft.placed(function, named), named.text)

    def add(self, function: Function, named: NamedText) -> Function:
        """Keep a function that was read; return it as kept."""
        text = named.text
        if self._of_drafts + len(text) > MAX_KEPT:
            self._drafts.clear()
            self._of_drafts = 0
        self._of_drafts += len(text)
        plain = replace(function, alike=Alike({}))
        self._drafts[named.key] = _ReadFunction(plain, named)
        return self._kept(plain, text)

    def _kept(self, plain: Function, text: str) -> Function:
        if self._of_plain + len(text) > MAX_KEPT:
            self._plain.clear()
            self._of_plain = 0
        self._of_plain += len(text)
        self._plain[text, plain.line, plain.column] = plain
        return plain


def in_module(
    function: Function, module: Module, number: int, plain: Function | None = None
) -> Function:
    """Return a function whose types and locations are those of a module.

    Args:
        function: as it was read.
        module: the module.
        number: which of its functions it is.
        plain: the function itself, if it is kept for others.
    """
    symbols = module.symbols
    return replace(
        function,
        number=number,
        resolve_type=symbols.type_of_text,
        resolve_location=symbols.location,
        plain=plain,
    )


# -- operations that are computed alike ------------------------------------------------------------


class KnownAnswers(Generic[T]):
    """Answers about operations by what they are computed from."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._next = count()
        self._answers: dict[Hashable, dict[Hashable, T]] = {}

    def within(self, context: Hashable) -> dict[Hashable, T]:
        """Return the answers that hold under a context."""
        return self._answers.setdefault(context, {})

    def numbers(self, function: Function) -> Mapping[Operation, int]:
        """Return a number for each operation that follows from its operands alone.

        Types are told apart as they are written: aliases are for the context.
        """
        if len(self._numbers) > MAX_NUMBERS:
            self._numbers.clear()
            self._answers.clear()
        values = {
            value: self._number((at, value.name, value.text, *_plain(attributes)))
            for at, (value, attributes) in enumerate(
                zip(function.arguments, function.argument_attributes)
            )
        }
        found: dict[Operation, int] = {}
        for block in function.body if len(function.body) == 1 else ():
            for operation in block.operations:
                number = self._operation(function, operation, values)
                if number is not None:
                    found[operation] = number
                    for at, result in enumerate(operation.results):
                        values[result] = self._number((number, at))
        return found

    def _operation(
        self, function: Function, operation: Operation, values: Mapping[Value, int]
    ) -> int | None:
        operands = tuple([values.get(value) for value in operation.operands])
        if operation.regions or None in operands:
            return None
        kept: list[Hashable] = []
        for key, attribute in operation.attributes.items():
            is_name = isinstance(attribute, str) and attribute[:1] == "%"
            named = function.values.get(str(attribute)) if is_name else None
            kept += _entry(key, attribute if named is None else values.get(named, -1))
        types = tuple([value.text for value in (*operation.operands, *operation.results)])
        return self._number((operation.name, operands, types, *kept))

    def _number(self, what: Hashable) -> int:
        number = self._numbers.get(what)
        if number is None:
            number = self._numbers[what] = next(self._next)  # never again that of another
        return number


def _plain(attributes: Mapping[str, Attribute]) -> Iterator[Hashable]:
    for key, attribute in attributes.items():
        yield from _entry(key, attribute)


def _entry(key: str, attribute: Attribute) -> tuple[Hashable, ...]:
    """Return an attribute in parts: 1 is not True."""
    return key, attribute, attribute is True or attribute is False
