"""Definitions and references of aliases, values and functions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.editing.piece import EditedPiece
from tt_layout.editing.place import LineRange, Word, occurrences, whole, word_at
from tt_layout.ir.ssa import Function, Operation
from tt_layout.mlir.source import UNPLACED
from tt_layout.tuples import NamedTuple

_AGAIN = re.compile(rf"@{UNPLACED}?\d+$")
"""What the reader adds to the name of a second value that is so called."""


class Defined(NamedTuple):
    """A value named by a word.

    Attributes:
        function: its function.
        name: its unique name in the function.
        text: its type as written.
        by: the operation that returns it; None for an argument.
    """

    function: Function
    name: str
    text: str
    by: str | None


def definition(piece: EditedPiece, line: int, column: int) -> LineRange | None:
    """Return the definition of the word at a position; None without one."""
    word, audited = word_at(piece.line(line), column), piece.module_at(line)
    if word is None or audited is None:
        return None
    if word.text[0] == "%":
        value = defined_at(piece, line, word.text)
        places = [*_value_places(piece, value)] if value is not None else []
    else:
        places = [*_named(piece, audited, word)]
    return places[0] if places else None


def references(piece: EditedPiece, line: int, column: int) -> list[LineRange]:
    """Return all occurrences of the name at a position, its definition first."""
    word, audited = word_at(piece.line(line), column), piece.module_at(line)
    if word is None or audited is None:
        return []
    if word.text[0] == "%":
        value = defined_at(piece, line, word.text)
        return [*_value_places(piece, value)] if value is not None else []
    return [*_named(piece, audited, word)]


# -- aliases and functions ----------------------------------------------------------------------


def _named(piece: EditedPiece, audited: AuditedModule, word: Word) -> Iterator[LineRange]:
    """Yield the occurrences of an alias or a function in its module, its definition first."""
    if word.text[0] not in "#@!":
        return
    first, last = _bounds(audited)
    places = [
        LineRange(number, *span)
        for number in range(first, last + 1)
        for span in occurrences(piece.line(number), word.text)
    ]
    start = _definition_line(audited, word.text)
    yield from sorted(places, key=lambda place: (place.line != start, place))


def _bounds(audited: AuditedModule) -> tuple[int, int]:
    """Return the first and the last line of the text in which a module's names are its own."""
    module, span = audited.module, audited.module.span
    ends = span.start, max(span.start, span.end - 1)
    first, last = (module.source.line_column(at)[0] for at in ends)
    return (first if module.stands_alone else 1), last


def _definition_line(audited: AuditedModule, name: str) -> int | None:
    """Return the line that defines an alias or a function; None without one."""
    module = audited.module
    if name[0] == "#" and name[1:] in module.aliases:
        return module.line_in_source(module.aliases[name[1:]].line)
    lines = (function.line for function in module.functions if f"@{function.name}" == name)
    line = next(lines, None)
    return module.line_in_source(line) if line is not None else None


# -- values -------------------------------------------------------------------------------------


def defined_at(piece: EditedPiece, line: int, name: str) -> Defined | None:
    """Return the value of a name in a line; None if it is not defined.

    Sibling regions may use one name for two values.
    """
    audited = piece.module_at(line)
    functions = audited.functions if audited is not None else []
    before = [function for function in functions if function.line <= line]
    if not before:
        return None
    function, plain = before[-1], whole(name)
    operation = _operation_above(function, line)
    near = [*_names_of(operation)] if operation is not None else []
    names = [*near, *(value.name for value in function.arguments)]
    exact = next((candidate for candidate in names if _written(candidate) == name), None)
    chosen = exact or next(
        (candidate for candidate in names if whole(_written(candidate)) == plain), None
    )
    chosen = chosen if chosen is not None else _last_defined(function, plain, line)
    value = function.values.get(chosen) if chosen is not None else None
    if chosen is None or value is None:
        return None
    by = value.definition
    return Defined(function, chosen, value.text, by.name if by is not None else None)


def _operation_above(function: Function, line: int) -> Operation | None:
    """Return the operation on a line, or the last that begins before it."""
    last = None
    for operation in function.walk():
        if operation.line > line:
            break
        last = operation
    return last


def _names_of(operation: Operation) -> Iterator[str]:
    """Yield the results, operands and block arguments of an operation."""
    yield from (value.name for value in operation.results)
    yield from (value.name for value in operation.operands)
    for region in operation.regions:
        for block in region:
            yield from (value.name for value in block.arguments)


def _last_defined(function: Function, name: str, line: int) -> str | None:
    last = None
    for operation in function.walk():
        for value in operation.results if operation.line <= line else ():
            if whole(_written(value.name)) == name:
                last = value.name
    for block in function.blocks():
        for argument in block.arguments:
            if last is None and whole(_written(argument.name)) == name:
                last = argument.name
    return last


def _written(name: str) -> str:
    """Return a value's name as it is written."""
    return _AGAIN.sub("", name)


def _value_places(piece: EditedPiece, value: Defined) -> Iterator[LineRange]:
    """Yield the occurrences of a value, its definition first."""
    function, names = value.function, _results(value)
    written = whole(_written(value.name))
    starts = sorted({operation.line for operation in function.walk()})
    lines = [
        _lines_of(operation, starts)
        for operation in function.walk()
        if not names.isdisjoint(_names_of(operation))
    ]
    if any(value.name in names for value in function.arguments):
        first = next(function.walk(), None)
        begun = first.line if first is not None else function.line + 1
        lines.insert(0, range(function.line, begun))
    seen: set[LineRange] = set()
    for number in (number for numbers in lines for number in numbers):
        for span in occurrences(piece.line(number), written):
            place = LineRange(number, *span)
            if place not in seen:
                seen.add(place)
                yield place


def _results(defined: Defined) -> set[str]:
    """Return the values that share a written name: all results of an operation."""
    value = defined.function.values.get(defined.name)
    by = value.definition if value is not None else None
    return {value.name for value in by.results} if by is not None else {defined.name}


def _lines_of(operation: Operation, starts: Sequence[int]) -> range:
    """Return the lines of an operation up to the next one, which may be in its regions.

    Args:
        operation: an operation of a function.
        starts: the first lines of the operations of the function, ascending.
    """
    after = bisect_right(starts, operation.line)
    end = starts[after] if after < len(starts) else operation.line + 1
    return range(operation.line, end)
