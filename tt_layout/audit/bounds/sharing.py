"""Sharing of global memory between the programs of a grid, as the addresses tell it.

Programs that differ along an axis that no address of an access depends on touch the same bytes.
Where the id of a program is divided by a count that is not known, an address tells neither how
many programs share it nor that they do.

Read next:    `tt_layout.audit.bounds.bounds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from tt_layout.audit.global_memory.operands import FORMS, in_todays_form, operands
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.given import PROGRAM_AXES
from tt_layout.audit.values.unknown import Unknown
from tt_layout.grouping import grouped
from tt_layout.ir.ssa import Block, Operation, Value
from tt_layout.ir.ssa.control_flow import flow_of
from tt_layout.ir.ssa.dataflow import BackwardUnion
from tt_layout.lazy import lazy
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

AXES = len(PROGRAM_AXES)

MOST_PROGRAMS = 1 << 96
"""More programs than any grid has."""

_PROGRAM = (1 << AXES) - 1
_DATA, _VARIABLE, _OPEN = (1 << AXES + bit for bit in range(3))
_FIRST = AXES + 3
"""What a value rests on: each axis of the grid, loaded data, the variable of a loop, and a division
of what rests on one; behind these the bits of other divisions."""


class Wave(NamedTuple):
    """A full wave of programs: as many as all multiprocessors hold at once.

    Attributes:
        multiprocessors: multiprocessors of the GPU.
        ctas: CTAs on each multiprocessor.
        called: the vendor's word for a multiprocessor.
    """

    multiprocessors: int
    ctas: int
    called: str

    @property
    def programs(self) -> int:
        """The number of programs."""
        return self.multiprocessors * self.ctas

    @property
    def text(self) -> str:
        """The assumption in words.

        Example:
            >>> Wave(132, 2, "multiprocessor").text
            'assuming 264 programs, 2 on each of 132 multiprocessors'
        """
        where = count(self.multiprocessors, self.called)
        return f"assuming {count(self.programs, 'program')}, {self.ctas} on each of {where}"


class Sharing(NamedTuple):
    """Sharing of an access's bytes between programs.

    Attributes:
        axes: axes of the grid on which the addresses depend.
        quotient: divisor of the program id if addresses depend only on the quotient.
        remainder: divisor of the program id if addresses depend only on the remainder; else None.
        is_open: whether the divisor is an unknown count, or the variable of a loop whose
            iterations may touch the same bytes.
        is_of_data: whether addresses are computed from loaded numbers, which may be equal, or a
            mask is, which may be false everywhere.
        is_masked_by_data: whether a mask is.
    """

    axes: frozenset[int] = frozenset()
    quotient: int = 1
    remainder: int | None = None
    is_open: bool = False
    is_of_data: bool = False
    is_masked_by_data: bool = False

    def most(self, programs: float, axes: int) -> float:
        """Return an upper bound of the programs that touch bytes of their own.

        Args:
            programs: programs of the wave, which is equally long along each axis.
            axes: number of the grid's axes.

        Example:
            >>> Sharing(frozenset({0})).most(256, 2), Sharing(frozenset({0})).most(256, 1)
            (16.0, 256.0)
        """
        if not self.axes:
            return 1
        return self._distinct(programs ** (len(self.axes) / max(axes, 1)))

    def in_grid(self, sizes: Sequence[int]) -> float:
        """Return a lower bound of the programs of a grid that touch bytes of their own.

        Example:
            >>> Sharing(frozenset({0})).in_grid((32, 64, 1))
            32.0
        """
        if self.is_open:
            return 1
        return self._distinct(prod(sizes[axis] for axis in self.axes))

    def _distinct(self, ids: float) -> float:
        """Return how many of some program ids differ in their quotient and remainder."""
        quotients = max(1, ids / self.quotient)
        return min(quotients, self.remainder) if self.remainder is not None else quotients

    def least_in_grid(self, sizes: Sequence[int]) -> float:
        """Return `in_grid`, but 0 of addresses that loaded numbers may make equal.

        Even the executions of one program may touch the same bytes then.

        Example:
            >>> Sharing(frozenset({0}), is_of_data=True).least_in_grid((32, 64, 1))
            0
        """
        return 0 if self.is_of_data else self.in_grid(sizes)

    def fewest(self, programs: float, axes: int) -> float:
        """Return the least number over all grids: 1 if a grid may be long along other axes.

        It is 0 of addresses that loaded numbers may make equal.

        Example:
            >>> Sharing(frozenset({0})).fewest(256, 2), Sharing(frozenset({0})).fewest(256, 1)
            (1, 256.0)
        """
        if self.is_of_data:
            return 0
        is_whole = len(self.axes) == axes and not self.is_open and self.remainder is None
        return self.most(programs, axes) if is_whole else 1


NOBODY = Sharing()
"""Sharing of bytes that do not depend on the program."""


class _Division(NamedTuple):
    """A division of what depends on the program."""

    dividend: Value
    divisor: Value
    is_quotient: bool


class ProgramSharing:
    """Dependence of a function's values on the program.

    What a value rests on is a set of bits: those above, and one for each division.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._flow = flow_of(evaluator.function)
        self._flags = BackwardUnion(self._sources, _own_flags)
        self._divided_by = BackwardUnion(self._sources, self._own_divisions)
        self._divisions: dict[_Division, int] = {}
        self._known: dict[int, Sharing] = {}

    @lazy
    def axes(self) -> int:
        """Number of the grid's axes that the function uses."""
        return len({*map(_axis, self._evaluator.function.chosen(_is_program))})

    def of(self, operation: Operation) -> Sharing:
        """Return the sharing of an access's bytes between programs."""
        sharing = self._sharing(address_operands(operation))
        mask = mask_operand(operation)
        if mask is not None and self._flags.of(mask) & _DATA:
            return sharing._replace(is_of_data=True, is_masked_by_data=True)
        return sharing

    def depends(self, value: Value) -> bool:
        """Tell whether a value depends on the program."""
        return bool(self._flags.of(value) & _PROGRAM)

    def _sharing(self, roots: Iterable[Value]) -> Sharing:
        """Return the sharing of what rests on some values."""
        behind = 0
        for root in roots:
            behind |= self._rests_on(root)
        if behind not in self._known:
            self._known[behind] = self._found_sharing(behind)
        return self._known[behind]

    def _found_sharing(self, behind: int) -> Sharing:
        axes = frozenset(axis for axis in range(AXES) if behind >> axis & 1)
        sharing = Sharing(axes, is_of_data=bool(behind & _DATA))
        if not axes:
            return sharing
        if behind & _OPEN:
            sharing = sharing._replace(is_open=True)
        divisions = [one for one, number in self._divisions.items() if behind >> number & 1]
        for alike in grouped(divisions, lambda division: division[:2]).values():
            # A quotient and a remainder of the same division are the whole id.
            if len(alike) == 1:
                sharing = self._divided(sharing, alike[0])
        return sharing

    def _divided(self, sharing: Sharing, division: _Division) -> Sharing:
        divisor = division.divisor
        count = self._evaluator.scalar(divisor) if divisor.type.is_scalar else None
        if count is None or isinstance(count, Unknown) or count <= 0:
            return sharing._replace(is_open=True)
        if division.is_quotient:
            return sharing._replace(quotient=min(sharing.quotient * count, MOST_PROGRAMS))
        return sharing._replace(remainder=min(count, sharing.remainder or count))

    def _rests_on(self, value: Value) -> int:
        return self._flags.of(value) | self._divided_by.of(value)

    def _own_divisions(self, value: Value) -> int:
        """Return the bit of a division that computes a value from what depends on the program."""
        definition = value.definition
        if definition is None or len(definition.operands) != 2:
            return 0
        is_quotient, (dividend, divisor) = definition.traits.quotient, definition.operands
        if not (is_quotient or definition.traits.remainder):
            return 0
        behind = self._flags.of(dividend)
        if behind & _VARIABLE:
            return _OPEN
        if not behind & _PROGRAM:
            return 0
        division = _Division(dividend, divisor, is_quotient)
        return 1 << self._divisions.setdefault(division, _FIRST + len(self._divisions))

    def _sources(self, value: Value) -> Iterator[Value]:
        for edge in self._flow.into(value):
            yield edge.source
        first = self._flow.first_value(value)
        if first is not None:
            yield first
        if value.definition is not None:
            yield from value.definition.operands


def _own_flags(value: Value) -> int:
    """Return the bits of a value itself, but for that of a division."""
    definition = value.definition
    if definition is None:
        return _VARIABLE if _is_variable(value) else 0
    data = _DATA if definition.traits.reads else 0
    return data | 1 << _axis(definition) if _is_program(definition) else data


def address_operands(operation: Operation) -> Iterator[Value]:
    """Yield the address of an access: pointers and offsets, or a descriptor and coordinates."""
    if operation.name in FORMS:
        roles = operands(in_todays_form(operation))
        yield from (roles[name] for name in ("pointer", "offsets") if name in roles)
    else:
        types = ((value, value.type) for value in operation.operands)
        yield from (
            value
            for value, value_type in types
            if not value_type.is_memory and not value_type.is_tensor
        )


def mask_operand(operation: Operation) -> Value | None:
    """Return the mask of an access; None without one."""
    if operation.name not in FORMS:
        return None
    return operands(in_todays_form(operation)).get("mask")


def is_address(value: Value) -> bool:
    """Tell whether a value is a pointer or the descriptor of a tensor."""
    value_type = value.type
    return value_type.pointee is not None or "tensordesc" in value_type.element


def _is_program(operation: Operation) -> bool:
    return operation.traits.by_program and operation.name.endswith("program_id")


def _is_variable(value: Value) -> bool:
    """Tell whether a value is the variable of a loop."""
    owner = value.owner
    loop = owner.region.owner if isinstance(owner, Block) else None
    return loop is not None and loop.traits.counted and loop.regions[0][0].arguments[0] is value


def _axis(operation: Operation) -> int:
    return (operation.integer("axis") or 0) % AXES
