"""Rules of single fields, as data, which the page's scripts share.

What needs more than that, such as whether bases reach every element, is in the ``violations`` of
a class, and in the scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.enums import TextEnum
from tt_layout.releases import LATEST, Release
from tt_layout.tuples import NamedTuple


class Must(TextEnum):
    """Predicate of a rule; the scripts have a function for each.

    Attributes:
        POWER: 1, 2, 4, ..
        POWERS: a list of such.
        PERMUTATION: a list of 0, 1, .. in any order.
        SOME: a list that is not empty.
        ONE_OF: one of the values given.
        WITHIN: from the first number given to the second; None for no bound.
        LENGTH: a list of one of the lengths given.
    """

    POWER = "power"
    POWERS = "powers"
    PERMUTATION = "permutation"
    SOME = "some"
    ONE_OF = "one of"
    WITHIN = "within"
    LENGTH = "length"


class Rule(NamedTuple):
    """A rule that the value of a field keeps.

    Attributes:
        field: the field of an encoding.
        must: the condition.
        allowed: the argument of `Must`, such as the values allowed.
        since: the first release whose parser refuses what breaks it; None where every parser
            takes that, and only the linear layout is missing.
        first, last: the releases under which it counts.
        when: another field, and the value or the beginning of the list with which it counts.

    Example:
        >>> class Encoding:
        ...     block_m, release = 65, Release.V3_9
        >>> rule = Rule("block_m", Must.ONE_OF, (64, 128))
        >>> rule.is_broken_by(Encoding()), rule.message(str, Encoding())
        (True, 'block_m must be 64 or 128, got 65')
    """

    field: str
    must: Must
    allowed: tuple[Any, ...] = ()
    since: Release | None = Release.V2022
    first: Release = Release.V2022
    last: Release = LATEST
    when: tuple[str, Any] | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are wrong together."""
        return (self.field,) if self.when is None else (self.when[0], self.field)

    def is_broken_by(self, encoding: Any) -> bool:
        """Return whether an encoding breaks it."""
        if not self.first <= encoding.release <= self.last:
            return False
        if self.when is not None and not _begins(getattr(encoding, self.when[0]), self.when[1]):
            return False
        return not HOLDS[self.must](getattr(encoding, self.field), self.allowed)

    def message(self, key: Callable[[str], str], encoding: Any) -> str:
        """Return the message: the rule and the value found.

        Args:
            key: maps a field to its name in the text.
            encoding: breaks it.
        """
        name, value = key(self.field), getattr(encoding, self.field)
        if self.must is Must.SOME:
            return f"{name} must name at least one dimension"
        if self.when is not None:
            other, wanted = self.when
            needed = f"{name} = {one_of(self.allowed)}"
            return f"{key(other)} = {_shown(wanted)} needs {needed}, got {_shown(value)}"
        subject = f"every entry of {name}" if self.must is Must.POWERS else name
        return f"{subject} must {self._words(value)}, got {_shown(value)}"

    def _words(self, value: Any) -> str:
        if self.must is Must.PERMUTATION:
            return f"be a permutation of 0..{max(len(value) - 1, 0)}"
        if self.must is Must.ONE_OF:
            return f"be {one_of(self.allowed)}"
        if self.must is Must.LENGTH:
            from tt_layout.wording import plural

            return f"have {one_of(self.allowed)} {plural('entry', self.allowed[-1])}"
        if self.must is not Must.WITHIN:
            return "be a power of two"
        least, most = self.allowed
        if most is None:
            return f"be at least {least}"
        return f"be {most} at most" if least is None else f"be in {least}..{most}"


def _is_within(value: int, bounds: tuple[int | None, int | None]) -> bool:
    least, most = bounds
    return (least is None or value >= least) and (most is None or value <= most)


HOLDS: Mapping[Must, Callable[[Any, tuple[Any, ...]], bool]] = {
    Must.POWER: lambda value, _: is_power_of_two(value),
    Must.POWERS: lambda values, _: all(map(is_power_of_two, values)),
    Must.PERMUTATION: lambda order, _: sorted(order) == list(range(len(order))),
    Must.SOME: lambda values, _: bool(values),
    Must.ONE_OF: lambda value, allowed: value in allowed,
    Must.WITHIN: lambda value, bounds: _is_within(value, (bounds[0], bounds[1])),
    Must.LENGTH: lambda values, lengths: len(values) in lengths,
}
"""What is asked -> whether a value is so."""


def _begins(value: Any, wanted: Any) -> bool:
    """Return whether a value equals another, or as a list begins with it."""
    beginning = value[: len(wanted)] if isinstance(wanted, tuple) else value
    return bool(beginning == wanted)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value) if isinstance(value, tuple) else value)


def one_of(values: Iterable[Any]) -> str:
    """Format values as alternatives.

    Example:
        >>> one_of([8]), one_of([None, 1, 2, 4])
        ('8', '1, 2 or 4')
    """
    from tt_layout.wording import listed

    return listed((_shown(value) for value in values if value is not None), "or")
