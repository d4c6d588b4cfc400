"""Cache of conclusions about modules that recur in a dump.

Most passes leave a module as it is, and it is printed again.  What an audit says of it then is what
it said before, but for the lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.audit.values.given import GivenValues
from tt_layout.encodings import Encoding
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Location
from tt_layout.ir.types import IRType

MAX_MODULES = 64
"""Modules that are remembered; of those asked for last."""

MAX_LENGTH = 1 << 22
"""Characters of the text of a module that is remembered."""

_LINE = re.compile(r"\bline \d")
"""A line within a sentence."""

_OF_NO_LINE = (Location, IRType, Encoding, LinearLayout)
"""What has no lines of the dump in it."""


_LINES = frozenset({"line", "first_line", "last_line"})
"""Names of what is a line of the dump."""

T = TypeVar("T")

Mover = Callable[[int], Any]
"""Returns a value with its lines so many further down."""


class KnownModules:
    """Cache of conclusions about the modules of a dump.

    Attributes:
        given: what the arguments are for which it was concluded.
    """

    def __init__(self) -> None:
        self.given = GivenValues()
        self._known: dict[str, dict[Hashable, _Answer]] = {}
        self._last: tuple[Module | None, dict[Hashable, _Answer] | None] = None, None

    def __reduce__(self) -> tuple[type[KnownModules], tuple[()]]:
        """Cross processes without what is known: it is concluded again."""
        return KnownModules, ()

    def give(self, given: GivenValues) -> None:
        """Forget what was concluded if it was for other arguments."""
        if given != self.given:
            self.given = given
            self._known.clear()
            self._last = None, None

    def once(self, module: Module, question: Hashable, conclude: Callable[[], T]) -> T:
        """Return a conclusion, computed once for all modules of one text.

        Args:
            module: the module.
            question: what is asked; a line in it counts from that of the module.
            conclude: finds the answer.
        """
        answers = self._answers(module)
        if answers is None:
            return conclude()
        answer = answers.get(question)
        if answer is not None and (answer.line == module.line or answer.is_movable):
            moved: T = answer.at(module.line)
            return moved
        conclusion = conclude()
        answers[question] = _Answer(module.line, conclusion)
        return conclusion

    def _answers(self, module: Module) -> dict[Hashable, _Answer] | None:
        """Return the answers to questions about a module; None where it is not remembered."""
        if self._last[0] is not module:
            text = _text(module)
            answers = self._known.pop(text, {}) if text is not None else None
            if text is not None and answers is not None:
                self._known[text] = answers
                if len(self._known) > MAX_MODULES:
                    del self._known[next(iter(self._known))]
            self._last = module, answers
        return self._last[1]


class _Answer:
    """A cached conclusion."""

    def __init__(self, line: int, value: Any) -> None:
        self.line = line
        self._value = value

    @cached_property
    def is_movable(self) -> bool:
        """Whether no sentence in it names a line."""
        return _LINE.search(repr(self._value)) is None

    @cached_property
    def _move(self) -> Mover:
        return mover(self._value) or (lambda down: self._value)

    def at(self, line: int) -> Any:
        """Return it for the module of this line."""
        return self._value if line == self.line else self._move(line - self.line)


def _text(module: Module) -> str | None:
    """Return the text that determines all conclusions about a module; None if it is not known."""
    length = module.span.end - module.span.start
    if module.error is not None or not module.stands_alone or length > MAX_LENGTH:
        return None
    text = module.span.text
    # The header names the pass; what is below it is as far from it in each module.
    return text.partition("\n")[2].rstrip() if module.pass_name is not None else text.rstrip()


def mover(value: Any) -> Mover | None:
    """Return the function that shifts the lines of a value; None if it has none.

    Example:
        >>> from tt_layout.audit.values.structure import LoopPart, Part
        >>> move = mover({"loop": LoopPart(5, Part.BODY), "at": Location("a.py", 5, 1)})
        >>> move(10)
        {'loop': LoopPart(line=15, part='body'), 'at': Location(file='a.py', line=5, column=1)}
    """
    if isinstance(value, (str, int, float, _OF_NO_LINE)) or value is None:
        return None
    if isinstance(value, dict):
        is_location = "file" in value  # the line of which is in the user's program
        return None if is_location else _mover([*value], value.values(), _with_keys([*value]))
    if isinstance(value, tuple):
        names = getattr(value, "_fields", [""] * len(value))
        return _mover(names, value, getattr(type(value), "_make", tuple))
    if is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in fields(value)]
        key = _with_keys(names)
        items = [getattr(value, name) for name in names]
        return _mover(names, items, lambda new: replace(value, **key(new)))
    return None


def _with_keys(keys: Sequence[Any]) -> Callable[[Iterable[Any]], dict[Any, Any]]:
    return lambda values: dict(zip(keys, values))


def _mover(
    names: Iterable[Any], values: Iterable[Any], make: Callable[[list[Any]], Any]
) -> Mover | None:
    """Return the function that shifts the lines of some items of a value; None without any."""
    items = list(values)
    moves = [_line_mover(name, item) or mover(item) for name, item in zip(names, items)]
    movers = [(at, move) for at, move in enumerate(moves) if move is not None]
    if not movers:
        return None

    def move_all(down: int) -> Any:
        moved = items.copy()
        for at, move in movers:
            moved[at] = move(down)
        return make(moved)

    return move_all


def _line_mover(name: Any, value: Any) -> Mover | None:
    """Return the function that shifts fields called ``line`` or ``lines``; None for any other."""
    if name in _LINES and value is not None:
        return lambda down: value + down
    if name == "lines" and isinstance(value, tuple):
        return lambda down: tuple([line + down for line in value])
    return None
