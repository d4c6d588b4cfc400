"""Changes between two audits: data movements removed, added, more expensive or cheaper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow, cycles_by_kernel
from tt_layout.audit.facts import Difference, differences
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.operations.details import GlobalDetails, SingleAtomicDetails
from tt_layout.ir.data_movements import GLOBAL_KINDS, MovementKind
from tt_layout.ir.operations import Operation, attribute_of

_ACCESSES = (GlobalDetails, SingleAtomicDetails)

Identity = tuple[str | int | float | None, ...]


class Change(NamedTuple):
    """A data movement that only one of two modules has, or has at that cost.

    Attributes:
        sign: ``-`` or ``+``.
        row: the data movement.
    """

    sign: str
    row: MovementRow

    @property
    def operation(self) -> Operation:
        """The operation."""
        return self.row.operation

    @property
    def width_bytes(self) -> int | None:
        """Bytes that an access to global memory moves at once; None for others, or if unknown."""
        return width_bytes(self.row)

    @property
    def cycles(self) -> float | None:
        """Cycles in one program, loops counted as findings count them; None where unknown."""
        return self.row.cycles


class KernelTotal(NamedTuple):
    """Cost of a kernel's data movements in one program, before and after.

    Attributes:
        function: the kernel; None for operations outside of any.
        before, after: cycles, of the data movements whose cost is known.
    """

    function: str | None
    before: float
    after: float


class KernelDifference(NamedTuple):
    """Facts in which a kernel differs before and after.

    Attributes:
        function: the kernel, as its module calls it; None for what is outside of any.
        before, after: the kernel; None where only the other module has it.
        facts: those that differ; none where only one module has the kernel.
    """

    function: str | None
    before: Kernel | None
    after: Kernel | None
    facts: tuple[Difference, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether all facts are those of before."""
        return self.before is not None and self.after is not None and not self.facts


def width_bytes(row: MovementRow) -> int | None:
    """Return the bytes that an access to global memory moves at once; None for others."""
    if row.cost is None or row.operation.group not in (*GLOBAL_KINDS, MovementKind.GLOBAL_ATOMIC):
        return None
    details = row.cost.details
    return details.width_bytes if isinstance(details, _ACCESSES) else None


def changes(before: Audit, after: Audit) -> list[Change]:
    """Return the data movements that one module has and the other has not.

    Two are the same if they are in one function, of one name, over one type, from one
    layout to another, in global memory as wide, and as expensive in one program; where they are
    does not matter.  Of several equal ones those that come last are the ones added or removed.
    Those of one kernel and one line of the program are together, and where the cost changes most
    comes first.
    """
    removed = _surplus("-", before.movements, after.movements)
    added = _surplus("+", after.movements, before.movements)
    return _by_cost([*removed, *added])


def totals_of(before: Audit, after: Audit) -> list[KernelTotal]:
    """Return the cycles of every kernel before and after."""
    sums = [cycles_by_kernel(audit.movements) for audit in (before, after)]
    names = dict.fromkeys([*sums[0], *sums[1]])
    return [KernelTotal(name, *(cycles.get(name, 0.0) for cycles in sums)) for name in names]


def kernels_between(before: Audit, after: Audit) -> tuple[KernelDifference, ...]:
    """Return every kernel of two modules with the facts in which it differs."""
    left, right = (
        {kernel.symbol: kernel for kernel in kernels_of(audit)} for audit in (before, after)
    )
    return tuple(
        KernelDifference(name, *(ends := (left.get(name), right.get(name))), _facts_between(*ends))
        for name in dict.fromkeys([*left, *right])
    )


def _facts_between(before: Kernel | None, after: Kernel | None) -> tuple[Difference, ...]:
    if before is None or after is None:
        return ()
    return differences(before.facts, after.facts)


def _identity(row: MovementRow) -> Identity:
    operation = row.operation
    moved = operation.moved or operation.target
    return (
        operation.function,
        operation.name.rpartition(".")[2],
        moved.bare if moved is not None else None,
        attribute_of(operation.source),
        attribute_of(operation.target),
        width_bytes(row),
        row.cycles,
    )


def _surplus(
    sign: str, rows: Sequence[MovementRow], counterparts: Sequence[MovementRow]
) -> Iterator[Change]:
    left = Counter(map(_identity, counterparts))
    for row in rows:
        key = _identity(row)
        left[key] -= 1
        if left[key] < 0:
            yield Change(sign, row)


def _by_cost(changes: Sequence[Change]) -> list[Change]:
    """Return changes with those of one line of the program together."""
    groups: dict[object, list[Change]] = {}
    for change in changes:
        place = change.operation.location
        key = place.line if place is not None else change.operation.name
        groups.setdefault((change.operation.function, key), []).append(change)

    def delta(group: Sequence[Change]) -> float:
        return sum(
            (difference.cycles or 0) * (1 if difference.sign == "+" else -1) for difference in group
        )

    return [
        difference
        for group in sorted(groups.values(), key=lambda g: -abs(delta(g)))
        for difference in group
    ]
