"""Conversion of Gluon constructor calls to encodings, by the signature of any release.

Text and objects both come here as a `GluonCall`; nothing of Triton is imported or evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tt_layout.encodings import Encoding
from tt_layout.encodings.linear import GenericLinear, Linear
from tt_layout.errors import LayoutError, nearest
from tt_layout.notation.gluon.constructors import CONSTRUCTORS, Arguments, Constructor
from tt_layout.notation.gluon.signatures import (
    KINDS,
    REQUIRED,
    Signature,
    constructors_of,
    own_name,
    signatures_of,
)
from tt_layout.notation.releases.eras import lost_between, respelled
from tt_layout.releases import LATEST, Release
from tt_layout.tuples import NamedTuple

BARRIER = "MBarrierLayout"
"""A swizzled shared layout of one element."""


class GluonCall(NamedTuple):
    """A constructor and its arguments; nested layouts are calls themselves.

    Attributes:
        name: name of the class, possibly after that of its module.
        positional: arguments by their places, lists as tuples.
        keywords: arguments by their names.
    """

    name: str
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = {}


class _Bound(NamedTuple):
    """A call and its signature."""

    encoding_class: type[Encoding]
    constructor: Constructor
    signature: Signature
    arguments: Arguments


def encoding_of_call(call: GluonCall, release: Release | None = None) -> Encoding:
    """Return the encoding of a Gluon constructor call.

    Args:
        call: a call with any release's signature.
        release: the release whose rules hold; by default the newest that has the signature.

    Raises:
        LayoutError: there is no such class, its arguments are others, or a rule is broken.

    Example:
        >>> print(encoding_of_call(GluonCall("SwizzledSharedLayout", (8, 1, 8, (1, 0)))))
        #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
    """
    if own_name(call.name) == BARRIER:
        cga = (*call.positional, call.keywords.get("cga_layout"))[0]
        call = GluonCall("SwizzledSharedLayout", (1, 1, 1, (0,), cga))
    newest = min(_bind(inner).signature.last for inner in _calls(call))
    if release is not None and release > newest:
        message = f"gl.{own_name(call.name)} has other parameters in Triton {release}"
        raise LayoutError(f"{message}; these are of Triton {newest} and before")
    try:
        encoding = _made(call, newest if release is None else release)
        encoding.check_parse()
    except LayoutError:
        raise
    except (TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        raise LayoutError(f"gl.{own_name(call.name)} cannot be read: {error}") from None
    return encoding


def _calls(call: GluonCall) -> Iterator[GluonCall]:
    """Yield a call and the calls among its arguments."""
    yield call
    for value in (*call.positional, *call.keywords.values()):
        if isinstance(value, GluonCall):
            yield from _calls(value)


def _bind(call: GluonCall) -> _Bound:
    """Bind a call to the newest signature that it fits."""
    constructors = constructors_of(call.name)
    if not constructors:
        near = nearest(own_name(call.name), {own_name(c.name) for _, c in CONSTRUCTORS})
        hint = f"; did you mean {near}?" if near else ""
        raise LayoutError(f"Gluon's {call.name!r} is not a known layout{hint}")
    problems = []
    for encoding_class, constructor in constructors:
        for signature in signatures_of(constructor):
            problem, arguments = _fitted(signature, call)
            if not problem:
                return _Bound(encoding_class, constructor, signature, arguments)
            problems.append(f"gl.{constructor.name} {problem}")
    raise LayoutError(problems[0])


def _fitted(signature: Signature, call: GluonCall) -> tuple[str, Arguments]:
    """Return the problem of a call under a signature, empty if none, and its arguments."""
    words = list(signature.defaults)
    if len(call.positional) > len(words):
        return f"takes {len(words)} arguments, got {len(call.positional)}", {}
    values = dict(zip(words, call.positional))
    unknown = [word for word in call.keywords if word not in words]
    twice = [word for word in call.keywords if word in values]
    values.update(call.keywords)
    arguments = {**signature.defaults, **values}
    missing = [word for word in words if arguments[word] is REQUIRED]
    wrong = [word for word in values if word in words and not _suits(word, values[word])]
    for culprits, problem in (
        (unknown, "has no argument"),
        (twice, "is given twice"),
        (missing, "needs"),
        ([f"{KINDS.get(word, 'a number')} as {word}" for word in wrong], "takes"),
    ):
        if culprits:
            return f"{problem} {', '.join(culprits)}", {}
    for word, default in signature.defaults.items():
        if arguments[word] is None and default is not REQUIRED:
            arguments[word] = default
    return "", arguments


def _suits(word: str, value: Any) -> bool:
    """Tell whether a value has the kind of a parameter; None means the default."""
    return value is None or _SUITS[KINDS.get(word, "a number")](value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, tuple) and all(map(_is_number, value))


_SUITS: Mapping[str, Callable[[Any], bool]] = {
    "a number": _is_number,
    "numbers": _is_numbers,
    "a number, or numbers": lambda value: _is_number(value) or _is_numbers(value),
    "lists of numbers": lambda value: isinstance(value, tuple) and all(map(_is_numbers, value)),
    "a boolean": lambda value: isinstance(value, bool),
    "a layout": lambda value: isinstance(value, GluonCall),
    "a word": lambda value: isinstance(value, str),
}


def _made(call: GluonCall, release: Release) -> Encoding:
    """Build the encoding of a call under a release."""
    bound = _bind(call)
    arguments = {
        word: _made(value, release) if isinstance(value, GluonCall) else value
        for word, value in bound.arguments.items()
    }
    encoding = _constructed(bound, arguments)
    if release is LATEST:
        return encoding
    after = respelled(encoding, release, None)
    if lost := lost_between(encoding, after):
        raise LayoutError(lost)
    return after


def _constructed(bound: _Bound, arguments: Arguments) -> Encoding:
    updated = bound.signature.update(arguments)
    if isinstance(updated, Encoding):
        return updated
    constructor = bound.constructor
    arguments = {**constructor.optional, **updated}
    for word, default in constructor.optional.items():
        if arguments[word] is None:
            arguments[word] = default
    fields = {field: arguments[word] for word, field in constructor.arguments.items() if field}
    for word, parts in constructor.parts.items():
        fields.update(zip(parts, arguments[word]))
    fields.update(constructor.from_call(arguments))
    encoding = bound.encoding_class(**fields)
    if isinstance(encoding, Linear) and list(encoding.violations()):
        return GenericLinear(**fields)
    return encoding
