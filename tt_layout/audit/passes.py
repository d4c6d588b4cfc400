"""History of a kernel's cost over the passes of the compiler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from tt_layout.audit.audit import movement_total
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.values.given import GivenValues
from tt_layout.ir.module import Module
from tt_layout.ir.passes import PassRun, Stage, has_lost_loops, pass_runs, stage_of
from tt_layout.ir.ssa.reader import movements
from tt_layout.tuples import NamedTuple


class PassCost(NamedTuple):
    """A module that was printed around a pass, and the cost of its data movements.

    Attributes:
        number: number of the module in the dump, from 1.
        line: line on which it begins.
        header: stage and pass in the header above it, ``before CSEPass``.
        movements: number of its data movements.
        cycles: sum in one program over those whose cost is known; None before there are layouts,
            once trip counts of loops are lost, and for LLVM IR.
    """

    number: int
    line: int
    header: str
    movements: int
    cycles: float | None


class PassChange(NamedTuple):
    """A pass, and the modules before and after it."""

    name: str | None
    before: PassCost
    after: PassCost

    @property
    def is_of_cost(self) -> bool:
        """Whether it changed the cost."""
        return self.before.cycles != self.after.cycles

    @property
    def more(self) -> float | None:
        """The cycles that it added; None where the cost before or after it is not known."""
        if self.before.cycles is None or self.after.cycles is None:
            return None
        return self.after.cycles - self.before.cycles


class PassHistory(NamedTuple):
    """History of the costs of one compilation.

    Attributes:
        costs: a row for each of its modules.
        changes: every pass up to the end, including the first that made layouts.
        end: the pass after which nothing is compared: it lowered loops to branches, so that trip
            counts are lost, or the module to LLVM IR; None if the dump ends earlier.
        ends_loops: whether the end lowered loops to branches.
    """

    costs: tuple[PassCost, ...]
    changes: tuple[PassChange, ...]
    end: PassChange | None
    ends_loops: bool

    @property
    def of_cost(self) -> Iterator[PassChange]:
        """The passes that changed the cost, in their order."""
        return (change for change in self.changes if change.is_of_cost)


def pass_history(
    run: PassRun, shared: SharedWork | None = None, given: GivenValues | None = None
) -> PassHistory:
    """Return the history of the cost of a compilation's data movements.

    Args:
        run: the modules of a compilation.
        shared: work shared with other modules of the dump.
        given: values of its kernels' arguments.
    """
    shared = shared or SharedWork()
    costs = [_cost(module, number, shared, given) for number, module in run.numbered]
    changes: list[PassChange] = []
    has_begun = False
    for step in run.steps:
        before, after = (costs[number - run.first] for number in (step.before, step.after))
        has_begun = has_begun or after.cycles is not None
        change = PassChange(step.name, before, after)
        if has_begun and after.cycles is None:
            is_llvm = stage_of(run.modules[step.after - run.first]) is Stage.LLVM
            return PassHistory(tuple(costs), tuple(changes), change, not is_llvm)
        if has_begun:
            changes.append(change)
    return PassHistory(tuple(costs), tuple(changes), None, False)


def _cost(module: Module, number: int, shared: SharedWork, given: GivenValues | None) -> PassCost:
    header = f"{module.stage} {module.pass_name}" if module.pass_name is not None else "-"
    stage = stage_of(module)
    if stage is Stage.LLVM:
        return PassCost(number, module.line, header, 0, None)
    if stage is Stage.NO_LAYOUTS or has_lost_loops(module):
        moved = movements(module, shared.reader.functions(module))
        return PassCost(number, module.line, header, sum(1 for _ in moved), None)
    return PassCost(number, module.line, header, *movement_total(module, shared, given))


class Compilations:
    """The compilations of a dump, collected while its modules are read.

    Args:
        given: values of the kernels' arguments.
        most: the most compilations whose histories are computed; None for all.
    """

    def __init__(self, given: GivenValues | None, most: int | None = None) -> None:
        self._shared, self._given = SharedWork(), given
        self._most = inf if most is None else most
        self._histories: list[PassHistory] = []

    def chosen(self, modules: Iterable[Module]) -> Iterator[Module]:
        """Yield the modules of a dump; only the representative one of each compilation."""
        for number, run in enumerate(pass_runs(modules)):
            yield run.chosen
            if len(run.modules) > 1 and number < self._most:
                self._histories.append(pass_history(run, self._shared, self._given))

    def histories(self) -> Iterator[PassHistory]:
        """Yield the history of each compilation, after all modules are read."""
        yield from self._histories
