"""Bytes that DRAM moves for a launch, or for a full wave of programs that is assumed.

Where addresses are known they tell which bytes programs touch, each once.  Of the others it is
known how many bytes one program asks for, and on which axes of the grid they depend.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds.footprint import WRITES, Footprint, Part, footprint, pointer_of
from tt_layout.audit.bounds.sharing import NOBODY, ProgramSharing, Sharing, Wave
from tt_layout.audit.bounds.work import Work


class Memory(NamedTuple):
    """Bytes that DRAM moves for all programs.

    Attributes:
        bytes: where programs share what their addresses say; of a launch at least.
        fewest: whatever the grid is.
        unshared: where programs share nothing.
        used: that some lane asks for.
        footprint: of the accesses whose addresses are known.
    """

    bytes: float
    fewest: float
    unshared: float
    used: float
    footprint: Footprint


def launch_memory(audit: Audit, function: str | None, work: Work, grid: Sequence[int]) -> Memory:
    """Return what DRAM moves for a launch.

    Args:
        audit, function: the kernel.
        work: of the mean program.
        grid: programs along x, y and z.
    """
    sizes = (*grid, 1, 1, 1)[:3]
    placed = footprint(audit, function, grid)
    parts = [(part, part.sharing.in_grid(sizes)) for part in _unplaced(audit, work, placed)]
    moved = placed.bytes + sum(part.fewest * programs for part, programs in parts)
    used = placed.used + sum(part.used * programs for part, programs in parts)
    return Memory(moved, moved, moved, used, placed)


def wave_memory(audit: Audit, function: str | None, work: Work, wave: Wave) -> Memory:
    """Return what DRAM moves for a wave of programs.

    Args:
        audit, function: the kernel.
        work: of one program.
        wave: the programs.
    """
    sharing = _sharing(audit, function)
    axes = sharing.axes if sharing is not None else 0
    placed = footprint(audit, function, None, sharing.of if sharing is not None else None)
    parts = [*placed.parts, *_unplaced(audit, work, placed, sharing)]
    most = [part.sharing.most(wave.programs, axes) for part in parts]
    fewest = [part.sharing.fewest(wave.programs, axes) for part in parts]
    return Memory(
        sum(part.most * programs for part, programs in zip(parts, most)),
        sum(part.fewest * programs for part, programs in zip(parts, fewest)),
        sum(part.most for part in parts) * wave.programs,
        sum(part.used * programs for part, programs in zip(parts, most)),
        placed,
    )


def _sharing(audit: Audit, function: str | None) -> ProgramSharing | None:
    audited = audit.audited
    assert audited is not None
    own = next((one for one in audited.functions if one.name == function), None)
    return ProgramSharing(audited.evaluator(own)) if own is not None else None


def _unplaced(
    audit: Audit, work: Work, placed: Footprint, sharing: ProgramSharing | None = None
) -> Iterator[Part]:
    """Yield the bytes of one program whose addresses are not known, by pointer."""
    audited = audit.audited
    assert audited is not None
    groups: dict[object, tuple[Sharing, list[float]]] = {}
    for row, size in work.asked:
        full = audited.in_full(row.operation)
        if not size or row.operation.line in placed.lines:
            continue
        if full is not None and sharing is None:
            sharing = _sharing(audit, row.operation.function)
        shared = sharing.of(full.operation) if sharing is not None and full is not None else NOBODY
        pointer = pointer_of(audited, full) if full is not None else None
        key = pointer or row.operation.line, row.operation.group in WRITES, shared
        groups.setdefault(key, (shared, []))[1].append(size)
    for shared, sizes in groups.values():
        yield Part(sum(sizes), max(sizes), max(sizes), shared)
