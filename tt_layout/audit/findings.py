"""What the reader of an audit should look at, the most expensive first.

A finding is an error, which comes first, or a data movement that costs more than it has to.  The
latter are in the order of the cycles that they waste in one program: those of one execution, times
how often it runs.  The order is a heuristic: a loop that runs an unknown number of times counts as
`ASSUMED_TRIPS`, and what `Cost.extra` counts of global memory is compared with cycles of shared
memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from tt_layout.audit.allocation import SharedMemory
from tt_layout.audit.modules.layouts import LayoutRow, mismatches
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.values.executions import Executions
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Location, Operation, layout_of

REFUSED = "refused"
CONVERSIONS = "conversions"
CONFLICTS = "conflicts"
NARROW = "narrow-loads"
UNCOALESCED = "uncoalesced"
KINDS = (REFUSED, CONVERSIONS, CONFLICTS, NARROW, UNCOALESCED)
"""Kinds of findings: errors; conversions through shared memory or shuffles; accesses to shared
memory with bank conflicts; accesses to global memory of less than 16 bytes at a time; those that
touch more sectors than they need."""

ASSUMED_TRIPS = 32
"""How often a loop is taken to run, to put findings in order, where that is not known."""

MAX_UNUSED = 1000  # aliases of a module that are read although no type uses them


class Movement(Protocol):
    """What a finding needs to know of a data movement."""

    @property
    def operation(self) -> Operation:
        """The operation."""

    @property
    def cost(self) -> Cost | None:
        """Its cost; None where no analysis determines it."""

    @property
    def executions(self) -> Executions:
        """How often it runs."""

    @property
    def refusal(self) -> str | None:
        """Why the compiler would refuse it."""


class Finding(NamedTuple):
    """Something that the reader of an audit should look at.

    Attributes:
        line: of the dump.
        message: what is wrong, in one sentence.
        kinds: of `KINDS`, the one that it is called by first.
        movement: the data movement that it is about; None of a finding about a layout.
        cost: cycles that all warps of a CTA waste in one execution; 0 where that is not known.
    """

    line: int
    message: str
    kinds: tuple[str, ...] = (REFUSED,)
    movement: Movement | None = None
    cost: float = 0

    @property
    def kind(self) -> str:
        """What it is called by."""
        return self.kinds[0]

    @property
    def function(self) -> str | None:
        """The kernel; None outside of any."""
        return self.movement.operation.function if self.movement is not None else None

    @property
    def location(self) -> Location | None:
        """The location in the user's program; None where the dump has none."""
        return self.movement.operation.location if self.movement is not None else None

    @property
    def executions(self) -> int | None:
        """How often it runs in one program; None where that is not known."""
        return self.movement.executions.number if self.movement is not None else None

    @property
    def weight(self) -> float:
        """Cycles wasted in one program: what findings are sorted by."""
        if self.movement is None:
            return self.cost
        return self.cost * assumed_runs(self.movement.executions)


def assumed_runs(executions: Executions) -> int:
    """Return how often something runs, to compare costs by.

    Example:
        >>> assumed_runs(Executions(7, "7", None)), assumed_runs(Executions(None, "%n", None))
        (7, 1)
    """
    if executions.number is not None:
        return executions.number
    return ASSUMED_TRIPS if is_in_loop(executions) else 1


def is_in_loop(executions: Executions) -> bool:
    """Tell whether something is in the body of a loop."""
    return executions.loop is not None and executions.loop.part == "body"


def find(
    of_layouts: Iterable[Finding],
    movements: Iterable[Movement],
    products: Sequence[Multiplication],
    memories: Sequence[SharedMemory] = (),
) -> tuple[Finding, ...]:
    """Return the findings of a module, errors first and then the most expensive.

    Args:
        of_layouts: what `layout_findings` yields of it.
        movements, products, memories: of the module.
    """
    found = [*of_layouts]
    for movement in movements:
        found += _of_movement(movement)
    found += [Finding(m.line, m.refusal) for m in memories if m.refusal is not None]
    for product in products:
        if product.refusal is not None:
            found.append(Finding(product.line, f"{product.name}: {product.refusal}"))
    return tuple(sorted(found, key=lambda one: (one.kind != REFUSED, -one.weight)))


def layout_findings(module: Module, rows: Sequence[LayoutRow]) -> Iterator[Finding]:
    """Yield what is wrong with the layouts of a module."""
    yield from _unused_aliases(module, {row.layout for row in rows})
    for row in rows:
        if row.error is not None:
            where = f"{row.layout} on {row.type}" if row.layout else row.type
            yield Finding(row.line, f"{where}: {row.error.message}")
        for message in mismatches(row, module):
            yield Finding(row.line, message)


def _unused_aliases(module: Module, used: set[str]) -> Iterator[Finding]:
    """Yield what is wrong with aliases that no type uses, as far as there are not too many."""
    from itertools import islice

    unused = (name for name in module.aliases.attributes() if f"#{name}" not in used)
    for name in islice(unused, MAX_UNUSED):
        alias = module.aliases[name]
        if isinstance(alias.encoding, LayoutError):
            yield Finding(alias.line, f"#{name}: {alias.encoding.message}")
    first = next(unused, None)
    if first is not None:
        message = f"of the aliases that no type uses, only the {MAX_UNUSED} before it were read"
        yield Finding(module.aliases[first].line, f"#{first}: {message}")


def _of_movement(movement: Movement) -> Iterator[Finding]:
    operation, cost = movement.operation, movement.cost
    if movement.refusal is not None:
        message = f"{operation.name}: {movement.refusal}"
        yield Finding(operation.line, message, (REFUSED,), movement)
    if cost is None:
        return
    kinds, problems = _problems(operation, cost)
    if kinds:
        message = f"{operation.name} {'; it '.join(problems)}"
        yield Finding(operation.line, message, tuple(kinds), movement, cost.extra)


def _problems(operation: Operation, cost: Cost) -> tuple[list[str], list[str]]:
    """Return the kinds of what a data movement does badly, and each in words."""
    kinds, problems = [], []
    how, details = cost.details.get("class"), cost.details
    if how in _ROUTES:
        kinds.append(CONVERSIONS)
        ends = layout_of(operation.source), layout_of(operation.target)
        problems.append(f"from {ends[0]} to {ends[1]} {_ROUTES[how]}{cost.text.removeprefix(how)}")
    if _has_conflicts(cost):
        kinds.append(CONFLICTS)
        problems.append(f"of {layout_of(operation.memory)} has bank conflicts: {cost.text}")
    if cost.finding is not None:
        kinds.append(NARROW)
        problems.append(cost.finding)
    sectors, ideal = details.get("sectors"), details.get("ideal_sectors")
    if sectors is not None and ideal is not None and sectors > ideal:
        kinds.append(UNCOALESCED)
        if cost.finding is None:
            size = details["sector_bytes"]
            unit = f"pieces of {size} bytes" if size != 32 else "sectors"
            problems.append(f"touches {sectors} {unit} where {ideal} would do: {cost.text}")
    return kinds, problems


def _has_conflicts(cost: Cost) -> bool:
    """Whether an access, or a copy into shared memory, takes wavefronts for bank conflicts."""
    written, fewest = cost.details.get("wavefronts"), cost.details.get("ideal_wavefronts")
    if written is not None and fewest is not None:
        return bool(written > fewest)
    return "ideal_wavefronts_per_instruction" in cost.details and cost.extra > 0


_ROUTES = {
    "shared memory": "goes through shared memory",
    "across CTAs": "goes across CTAs",
    "shuffles": "takes shuffles",
}
"""Class of a conversion -> how it is done, in words."""
