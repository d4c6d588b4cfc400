"""The cycles that a change removes, compared with all cycles of that memory in the same loop.

    removes 448 of 520 shared-memory cycles an iteration, and 448 of 520 outside of loops

Both numbers are of one execution of a place: the body of a loop, or what is in no loop.  No loop is
multiplied by how often it is assumed to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tt_layout.analyses.conversion.conversion import ConversionKind
from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import (
    ConversionDetails,
    GlobalDetails,
    IndexedDetails,
    SharedDetails,
    TensorMemoryDetails,
)
from tt_layout.audit.suggestions.suggestion import CostChange
from tt_layout.audit.values.executions import Executions, assumed_runs, is_in_loop
from tt_layout.enums import TextEnum
from tt_layout.grouping import grouped
from tt_layout.tuples import NamedTuple
from tt_layout.wording import shown


class Unit(TextEnum):
    """Memory whose cycles are counted."""

    SHARED = "shared-memory"
    GLOBAL = "global-memory"
    TENSOR = "tensor-memory"
    ANY = "data-movement"


class Removed(NamedTuple):
    """Cycles that are removed from one execution of a place.

    Attributes:
        unit: the memory.
        cycles: cycles that a data movement saves; negative if it costs more.
        executions: executions of the data movement.
    """

    unit: Unit
    cycles: float
    executions: Executions


class PlaceGain(NamedTuple):
    """Cycles removed from a loop, or outside of loops.

    Attributes:
        loop: the line of the loop; None outside of loops.
        removed: cycles of one iteration, or of one program; negative where cycles are added.
        whole: cycles of all data movements of the unit there.
    """

    loop: int | None
    removed: float
    whole: float


class Gain(NamedTuple):
    """The costs that a change removes.

    Attributes:
        unit: the memory whose cycles are counted.
        places: the one that matters most first.
        has_loops: whether the kernel has loops, so that there is an outside.
    """

    unit: Unit
    places: tuple[PlaceGain, ...]
    has_loops: bool = True

    @property
    def is_in_loop(self) -> bool:
        """Whether cycles of a loop are among those removed."""
        return any(place.loop is not None for place in self.places)

    def text(self, verb: str = "removes") -> str:
        """Return the gain in words; empty without any.

        Example:
            >>> places = PlaceGain(12, 448, 520), PlaceGain(None, 448, 520)
            >>> Gain(Unit.SHARED, places).text()
            'removes 448 of 520 shared-memory cycles an iteration, and 448 of 520 outside of loops'
            >>> Gain(Unit.GLOBAL, (PlaceGain(None, 112, 128),)).text("costs")
            'costs 112 of 128 global-memory cycles outside of loops'
        """
        if not self.places:
            return ""
        first, *rest = self.places
        text = f"{verb} {_amount(first)} {self.unit} cycles"
        text += _where(first, is_first=True) if self.has_loops else ""
        for place in rest:
            word = "adds" if place.removed < 0 else "and"
            text += f", {word} {_amount(place)}{_where(place, is_first=False)}"
        return text


def _amount(place: PlaceGain) -> str:
    if place.removed < 0:
        return shown(round(-place.removed, 1))
    return f"{shown(round(place.removed, 1))} of {shown(round(place.whole, 1))}"


def _where(place: PlaceGain, *, is_first: bool) -> str:
    if place.loop is None:
        return " outside of loops"
    return " an iteration" if is_first else f" in the loop on line {place.loop}"


def unit_of(cost: Cost) -> Unit:
    """Return the memory whose cycles a cost counts."""
    details = cost.details
    if isinstance(details, GlobalDetails):
        return Unit.ANY if details.entry is not None else Unit.GLOBAL
    if isinstance(details, (SharedDetails, IndexedDetails)):
        return Unit.SHARED
    if isinstance(details, TensorMemoryDetails):
        return Unit.TENSOR
    is_through = isinstance(details, ConversionDetails) and (
        details.kind is ConversionKind.SHARED_MEMORY
    )
    return Unit.SHARED if is_through else Unit.ANY


def removed_by(changes: Iterable[CostChange]) -> Iterator[Removed]:
    """Yield the saving of each data movement that suggestions change."""
    for change in changes:
        cost = change.before or change.after
        if cost is not None:
            yield Removed(unit_of(cost), change.saved, change.executions)


def gain(conclusions: Conclusions, function: str | None, removed: Iterable[Removed]) -> Gain:
    """Return the costs that a change of a kernel removes.

    Args:
        conclusions: conclusions about the module.
        function: the kernel.
        removed: cycles removed from each data movement.
    """
    savings = [saving for saving in removed if saving.cycles]
    units = {saving.unit for saving in savings}
    unit = units.pop() if len(units) == 1 else Unit.ANY
    sums = conclusions.sums_of_loops
    if (function, unit) not in sums:
        sums[function, unit] = _sums_of_loops(conclusions, function, unit)
    wholes = sums[function, unit]
    by_loop = grouped(savings, lambda saving: _loop(saving.executions))
    places = [
        PlaceGain(loop, sum(saving.cycles for saving in savings), wholes.get(loop, 0))
        for loop, savings in sorted(by_loop.items(), key=lambda item: -_in_program(item[1]))
    ]
    has_loops = any(loop is not None for loop in wholes)
    return Gain(unit, tuple(place for place in places if round(place.removed, 1)), has_loops)


def _sums_of_loops(
    conclusions: Conclusions, function: str | None, unit: Unit
) -> Mapping[int | None, float]:
    """Return the cycles of a memory in each loop by its line, and outside of any by None."""
    sums: dict[int | None, float] = {}
    for row in conclusions.priced_of(function):
        if row.cost is None:
            continue
        loop = _loop(row.executions)
        is_counted = unit is Unit.ANY or unit_of(row.cost) is unit
        sums[loop] = sums.get(loop, 0) + row.cost.cycles * is_counted
    return sums


def _in_program(savings: Sequence[Removed]) -> float:
    """Return the cycles that are saved in one program."""
    return sum(saving.cycles * assumed_runs(saving.executions) for saving in savings)


def _loop(executions: Executions) -> int | None:
    return executions.loop.line if executions.loop is not None and is_in_loop(executions) else None
