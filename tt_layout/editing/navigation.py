"""Where what a word names is defined, and where else it stands: aliases, values, functions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.editing.piece import Piece
from tt_layout.editing.place import Place, Word, occurrences, whole, word_at
from tt_layout.ir.ssa import SsaFunction, SsaOperation

_AGAIN = re.compile(r"@\d+$")
"""What the reader adds to the name of a second value that is so called."""


class Defined(NamedTuple):
    """A value that a word stands for.

    Attributes:
        function: that it is of.
        name: of the value, unlike all others of the function.
        text: its type as written.
        by: the operation that returns it; None of an argument.
    """

    function: SsaFunction
    name: str
    text: str
    by: str | None


def definition(piece: Piece, line: int, column: int) -> Place | None:
    """Return where the word at a place is defined; None where it names nothing that is."""
    word, audit = word_at(piece.line(line), column), piece.audit_at(line)
    if word is None or audit is None:
        return None
    if word.text[0] == "%":
        found = defined_at(piece, line, word.text)
        places = [*_value_places(piece, found)] if found is not None else []
    else:
        places = [*_named(piece, audit, word)]
    return places[0] if places else None


def references(piece: Piece, line: int, column: int) -> list[Place]:
    """Return every place of what the word at a place names, its definition first."""
    word, audit = word_at(piece.line(line), column), piece.audit_at(line)
    if word is None or audit is None:
        return []
    if word.text[0] == "%":
        found = defined_at(piece, line, word.text)
        return [*_value_places(piece, found)] if found is not None else []
    return [*_named(piece, audit, word)]


# -- aliases and functions ----------------------------------------------------------------------


def _named(piece: Piece, audit: Audit, word: Word) -> Iterator[Place]:
    """Yield the places of an alias or a function in its module, that of the definition first."""
    if word.text[0] not in "#@!":
        return
    first, last = _bounds(piece, audit)
    places = [
        Place(number, *span)
        for number in range(first, last + 1)
        for span in occurrences(piece.line(number), word.text)
    ]
    start = _definition_line(audit, word.text)
    yield from sorted(places, key=lambda place: (place.line != start, place))


def _definition_line(audit: Audit, name: str) -> int | None:
    if name[0] == "#" and name[1:] in audit.module.aliases:
        return audit.module.aliases[name[1:]].line
    functions = (one.line for one in audit.module.functions if f"@{one.name}" == name)
    return next(functions, None)


def _bounds(piece: Piece, audit: Audit) -> tuple[int, int]:
    """Return the first and the last line of a module's text."""
    source, span = audit.module.source, audit.module.span
    first, last = (source.line_column(at)[0] for at in (span.start, max(span.start, span.end - 1)))
    return (first if audit.module.stands_alone else 1), last


# -- values -------------------------------------------------------------------------------------


def defined_at(piece: Piece, line: int, name: str) -> Defined | None:
    """Return the value that a name stands for in a line; None where it is not defined.

    Regions beside each other may use one name for two values.
    """
    audit = piece.audit_at(line)
    functions = audit.audited.functions if audit is not None and audit.audited is not None else []
    before = [one for one in functions if one.line <= line]
    if not before:
        return None
    function, plain = before[-1], whole(name)
    operation = _operation_above(function, line)
    near = [*_names_of(operation)] if operation is not None else []
    names = [*near, *(value.name for value in function.arguments)]
    exact = next((one for one in names if _written(one) == name), None)
    found = exact or next((one for one in names if whole(_written(one)) == plain), None)
    found = found if found is not None else _last_defined(function, plain, line)
    value = function.values.get(found) if found is not None else None
    if found is None or value is None:
        return None
    by = function.definitions.get(found)
    return Defined(function, found, value.text, by.name if by is not None else None)


def _operation_above(function: SsaFunction, line: int) -> SsaOperation | None:
    """Return the operation that a line is of: that on it, or the last one that begins before."""
    found = None
    for operation in function.walk():
        if operation.line > line:
            break
        found = operation
    return found


def _names_of(operation: SsaOperation) -> Iterator[str]:
    """Yield the values that an operation returns, takes, and hands to the blocks in it."""
    yield from (value.name for value in operation.results)
    yield from operation.operands
    for region in operation.regions:
        for block in region:
            yield from (value.name for value in block.arguments)


def _last_defined(function: SsaFunction, name: str, line: int) -> str | None:
    found = None
    for value, operation in function.definitions.items():
        if operation.line <= line and whole(_written(value)) == name:
            found = value
    for block in function.blocks():
        for argument in block.arguments:
            if found is None and whole(_written(argument.name)) == name:
                found = argument.name
    return found


def _written(name: str) -> str:
    """Return a value's name as it is written."""
    return _AGAIN.sub("", name)


def _value_places(piece: Piece, found: Defined) -> Iterator[Place]:
    """Yield the places of a value, that of its definition first."""
    function, names = found.function, _results(found)
    written = whole(_written(found.name))
    starts = sorted({operation.line for operation in function.walk()})
    lines = [
        _lines_of(operation, starts)
        for operation in function.walk()
        if not names.isdisjoint(_names_of(operation))
    ]
    if any(value.name in names for value in function.arguments):
        lines.insert(0, _head(piece, function))
    seen: set[Place] = set()
    for number in (number for own in lines for number in own):
        for span in occurrences(piece.line(number), written):
            place = Place(number, *span)
            if place not in seen:
                seen.add(place)
                yield place


def _results(found: Defined) -> set[str]:
    """Return the values that one name is written for: all results of an operation."""
    by = found.function.definitions.get(found.name)
    return {value.name for value in by.results} if by is not None else {found.name}


def _head(piece: Piece, function: SsaFunction) -> range:
    """Return the lines of a function in front of its first operation."""
    first = next(function.walk(), None)
    return range(function.line, first.line if first is not None else function.line + 1)


def _lines_of(operation: SsaOperation, starts: Sequence[int]) -> range:
    """Return the lines of an operation up to the next one, which may be in its regions.

    Args:
        operation: of a function.
        starts: the lines where the operations of the function begin, ascending.
    """
    after = bisect_right(starts, operation.line)
    end = starts[after] if after < len(starts) else operation.line + 1
    return range(operation.line, end)
