"""Values that are of one layout because loops and branches hand them over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from tt_layout.ir.ssa.control_flow import Way
from tt_layout.ir.ssa.model import SsaOperation


def is_followed(operation: SsaOperation) -> bool:
    """Tell whether what a loop or a branch hands over can take another layout."""
    return operation.traits.loop or operation.traits.conditional


class Use(NamedTuple):
    """An operation that takes a value, and as which of its operands."""

    operation: SsaOperation
    number: int


class Carried:
    """The arguments and results of loops and branches, those together that are of one type.

    Example: the initial value of a loop, its argument, what it yields and its result.  The argument
    and the result are one group; the initial value and what is yielded are handed to it.
    """

    def __init__(self, ways: Sequence[Way]) -> None:
        self._ways = [way for way in ways if is_followed(way.operation)]

    @cached_property
    def leaders(self) -> Mapping[str, str]:
        """Each argument and result: the first of its group."""
        found: dict[str, str] = {}
        for slot in self._slots.values():
            group = {found.get(name, name) for name in slot}
            leader = min(group)
            found |= dict.fromkeys(slot, leader)
            found |= {name: leader for name, old in found.items() if old in group}
        return found

    @cached_property
    def _slots(self) -> Mapping[tuple[int, str], list[str]]:
        """What hands a value over, and the value: all that it becomes there."""
        found = defaultdict[tuple[int, str], list[str]](list)
        for way in self._ways:
            for passed, received in zip(way.passed, way.received):
                found[id(way.by), passed].append(received.name)
        return dict(found)

    @cached_property
    def _passers(self) -> Mapping[int, int]:
        """What hands values over: how many operands stand before those."""
        return {id(way.by): _others(way) for way in self._ways}

    def taker(self, use: Use, name: str) -> str | None:
        """Return the group that a value is handed to by a use; None if it is not handed over."""
        before = self._passers.get(id(use.operation))
        if before is None or use.number < before:
            return None
        received = self._slots.get((id(use.operation), name))
        return self.leaders[received[0]] if received else None

    def values(self, leader: str) -> Sequence[str]:
        """Return the members of a group, and what is handed to it."""
        return list(self._values.get(leader, ()))

    @cached_property
    def _values(self) -> Mapping[str, dict[str, None]]:
        found: dict[str, dict[str, None]] = {}
        for name, leader in self.leaders.items():
            found.setdefault(leader, {})[name] = None
        for way in self._ways:
            for passed, received in zip(way.passed, way.received):
                found[self.leaders[received.name]][passed] = None
        return found


def _others(way: Way) -> int:
    return len(way.by.operands) - len(way.passed)
