"""Loop-carried values: arguments, yields and results of loops and branches that share a layout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from tt_layout.ir.ssa.control_flow import Way
from tt_layout.ir.ssa.model import SsaOperation, Use, Value


def is_followed(operation: SsaOperation) -> bool:
    """Tell whether the values that a loop or a branch passes on can take another layout."""
    return operation.traits.loop or operation.traits.conditional


class Carried:
    """The arguments and results of loops and branches, in groups that share a type.

    Example: the initial value of a loop, its argument, what it yields and its result.  The argument
    and the result are one group; the initial value and what is yielded are handed to it.
    """

    def __init__(self, ways: Sequence[Way]) -> None:
        self._ways = [way for way in ways if is_followed(way.operation)]

    @cached_property
    def leaders(self) -> Mapping[Value, Value]:
        """Each argument and result: the first of its group by name."""
        leaders: dict[Value, Value] = {}
        for slot in self._slots.values():
            group = {leaders.get(value, value) for value in slot}
            leader = min(group, key=lambda value: value.name)
            leaders |= dict.fromkeys(slot, leader)
            leaders |= {value: leader for value, old in leaders.items() if old in group}
        return leaders

    @cached_property
    def _slots(self) -> Mapping[tuple[SsaOperation, Value], list[Value]]:
        """Operands of terminators and loops -> the arguments and results that they become."""
        slots = defaultdict[tuple[SsaOperation, Value], list[Value]](list)
        for way in self._ways:
            for passed, received in zip(way.passed, way.received):
                slots[way.by, passed].append(received)
        return dict(slots)

    @cached_property
    def _passers(self) -> Mapping[SsaOperation, int]:
        """Operation -> number of operands before those that it passes on."""
        return {way.by: len(way.by.operands) - len(way.passed) for way in self._ways}

    def taker(self, use: Use, value: Value) -> Value | None:
        """Return the group to which a use passes a value; None if it does not pass it."""
        before = self._passers.get(use.owner)
        if before is None or use.operand_number < before:
            return None
        received = self._slots.get((use.owner, value))
        return self.leaders[received[0]] if received else None

    def values(self, leader: Value) -> Sequence[Value]:
        """Return the members of a group, and the values passed to it."""
        return list(self._values.get(leader, ()))

    @cached_property
    def _values(self) -> Mapping[Value, dict[Value, None]]:
        groups: dict[Value, dict[Value, None]] = {}
        for value, leader in self.leaders.items():
            groups.setdefault(leader, {})[value] = None
        for way in self._ways:
            for passed, received in zip(way.passed, way.received):
                groups[self.leaders[received]][passed] = None
        return groups
