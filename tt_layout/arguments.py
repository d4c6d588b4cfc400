"""Conversion of library arguments by their annotations, with errors that name the argument.

Only what users call is decorated; what the package calls in its loops is not.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from itertools import islice
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from tt_layout.errors import LayoutError, shown
from tt_layout.tuples import NamedTuple

P = ParamSpec("P")
R = TypeVar("R")

MAX_LENGTH = 1_000_000  # of a sequence: a range may have any


def checks_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with its arguments converted by their annotations.

    An integer may be one of numpy and a sequence an array: the function gets ints, bools and
    tuples.  Annotations may have classes, unions, sequences and tuples; keys and values of a
    mapping are not looked at.

    Raises:
        TypeError: an argument is of another kind; the error names it.

    Example:
        >>> @checks_arguments
        ... def half(size: int, order: Sequence[int] | None = None) -> int:
        ...     return size // 2
        >>> half(8, [1, 0])
        4
        >>> half(8, [1, None])
        Traceback (most recent call last):
        TypeError: order[1] must be an int, got None of NoneType
    """
    kinds: dict[str, ArgKind] = {}  # filled by the first call: most functions are never called

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kinds:
            hints = get_type_hints(function)
            names = signature(function).parameters
            kinds.update((name, _kind(hints.get(name, Any))) for name in names)
        taken = [_taken(name, value, kind) for (name, kind), value in zip(kinds.items(), args)]
        positional: Any = (*taken, *args[len(taken) :])
        named: Any = {
            name: _taken(name, value, kinds.get(name, _ANYTHING)) for name, value in kwargs.items()
        }
        return function(*positional, **named)

    return called


def integer(name: str, value: Any) -> int:
    """Convert an integer of Python or numpy to an int.

    Raises:
        TypeError: it is not an integer; the error names it.
    """
    return value if type(value) is int else int(_taken(name, value, _INTEGER))


def integers(name: str, value: Any) -> tuple[int, ...]:
    """Convert a sequence of integers to a tuple of ints.

    Raises:
        TypeError: it is not a sequence of integers; the error names it.

    Example:
        >>> integers("shape", range(2))
        (0, 1)
        >>> integers("shape", 4)
        Traceback (most recent call last):
        TypeError: shape must be a sequence, got 4 of int
    """
    if _has_only(int, value):
        return tuple(value)
    read: tuple[int, ...] = _taken(name, value, _INTEGERS)
    return read


def _has_only(plain: type, value: Any) -> bool:
    """Return whether a value is a tuple or list of such items alone, the common case."""
    return type(value) in (tuple, list) and {*map(type, value)} <= {plain}


class ArgKind(NamedTuple):
    """The values that an annotation allows.

    Attributes:
        words: that say so.
        fits: tells whether a value looks like it.
        read: makes it of such a value.
        plain: a type of which any value is already what is made of it; None for none.
    """

    words: str
    fits: Callable[[Any], bool]
    read: Callable[[str, Any], Any] = lambda name, value: value
    plain: type | None = None


def _taken(name: str, value: Any, kind: ArgKind) -> Any:
    if not kind.fits(value):
        raise TypeError(f"{name} must be {kind.words}, got {shown(value)}")
    return kind.read(name, value)


def _kind(hint: Any) -> ArgKind:
    if hint in _KINDS:
        return _KINDS[hint]
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _either([_kind(part) for part in parts])
    if origin is Sequence or (origin is tuple and parts[1:] == (...,)):
        return _sequence(_kind(parts[0]))
    if origin is tuple:
        return _tuple([_kind(part) for part in parts])
    return _instance(origin or hint)


def _instance(kind: type) -> ArgKind:
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    plain = kind if kind is str else None
    return ArgKind(f"{article} {kind.__name__}", lambda value: isinstance(value, kind), plain=plain)


def _either(kinds: Sequence[ArgKind]) -> ArgKind:
    def read(name: str, value: Any) -> Any:
        return next(kind for kind in kinds if kind.fits(value)).read(name, value)

    words = " or ".join(kind.words for kind in kinds)
    return ArgKind(words, lambda value: any(kind.fits(value) for kind in kinds), read)


def _sequence(item: ArgKind) -> ArgKind:
    def read(name: str, value: Any) -> Any:
        if len(value) > MAX_LENGTH:
            raise LayoutError(f"{name} has more than {MAX_LENGTH} entries")
        if item.plain is not None and _has_only(item.plain, value):
            return tuple(value)
        entries = islice(value, len(value))  # a class of its own may yield for ever
        return tuple(_taken(f"{name}[{at}]", entry, item) for at, entry in enumerate(entries))

    return ArgKind("a sequence", _is_sequence, read)


def _tuple(items: Sequence[ArgKind]) -> ArgKind:
    def read(name: str, value: Any) -> Any:
        return tuple(
            _taken(f"{name}[{at}]", entry, kind)
            for at, (entry, kind) in enumerate(zip(value, items))
        )

    count = len(items)
    return ArgKind(f"{count} values", lambda v: _is_sequence(v) and len(v) == count, read)


def _is_sequence(value: Any) -> bool:
    if isinstance(value, str | bytes | bytearray):
        return False
    return isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0


def _is_index(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


_ANYTHING = ArgKind("anything", lambda value: True)
_INTEGER = ArgKind("an int", _is_index, lambda name, value: operator.index(value), int)
_INTEGERS = _sequence(_INTEGER)
_KINDS: dict[Any, ArgKind] = {
    Any: _ANYTHING,
    int: _INTEGER,
    bool: ArgKind(
        "a bool", lambda v: _is_index(v) and v in (0, 1), lambda name, value: bool(value)
    ),
    type(None): ArgKind("None", lambda value: value is None),
}
