"""Footprint in global memory of a launch, or of one program: each byte once.

A program touches what its accesses touch.  Programs that differ along an axis that an access
does not depend on touch the same.  Together they touch no more than what is between the first and
the last address of all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial, reduce
from itertools import product
from math import prod

import numpy as np

from tt_layout.algebra.arrays import Ints, distinct
from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds.boxes import EMPTY, BoxCopy, Boxes, boxes_of
from tt_layout.audit.bounds.sharing import NOBODY, Sharing, address_operands, is_address
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.global_memory.access_shape import AccessShape, lane_addresses, shape_lanes
from tt_layout.audit.global_memory.cost import placed_access
from tt_layout.audit.global_memory.operands import FORMS
from tt_layout.audit.global_memory.relative_addresses import (
    ROW,
    filled_rows,
    piece_bytes,
    sector_bytes,
)
from tt_layout.audit.global_memory.width import PlacedAccess
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.given import PROGRAM_IDS, GivenValues, program_counts
from tt_layout.audit.values.kinds import kinds_of_runs
from tt_layout.audit.values.spread import ProgramTensor, ProgramValue, agreed, agreed_number, sum_of
from tt_layout.audit.values.unknown import Evaluated, SingleValue, Unknown, UnknownError
from tt_layout.errors import LayoutError
from tt_layout.ir.data_movements import GLOBAL_CHANGES
from tt_layout.ir.operations import OperationPosition
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.tuples import NamedTuple

Program = tuple[int, ...]
READ_AT_ONCE = 64
"""Bytes that memory reads at once: half of them take an H200 as long, and as many are counted."""

PART_OF_LINE = 0.7
"""Time in which memory writes half of a line of 128 bytes or less, over that of the whole line, as
an H200 was measured."""


class PointerTraffic(NamedTuple):
    """Bytes of global memory that accesses through one pointer touch.

    Attributes:
        most: bytes of sectors, if accesses with unknown addresses do not overlap.
        fewest: bytes of sectors, if they do overlap.
        used: bytes that some lane asks for, if accesses with unknown addresses overlap.
        sharing: sharing of these bytes between programs.
        moved: bytes that memory moves for them, as it were at full speed.
    """

    most: float
    fewest: float
    used: float
    sharing: Sharing = NOBODY
    moved: float = 0


class AccessTraffic(NamedTuple):
    """Footprint of an access in all programs: at most ``bytes``, within ``first`` to ``last``.

    Attributes:
        pointer: the argument that the addresses are based on.
        used: bytes that some lane asks for.
        filled: fraction of its rows of memory (`ROW` bytes) that its first execution asks for.
        once: bytes of the distinct sectors of an execution.
        pieces: bytes of the pieces that memory reads at once.
        lines: bytes of its rows of memory.
        parts: bytes of the sectors of which it does not touch every byte.
        part: fraction of the programs that touch something.
    """

    pointer: str
    bytes: float
    used: float
    first: int
    last: int
    filled: float
    once: float
    pieces: float
    lines: float
    parts: float
    part: float


class Footprint(NamedTuple):
    """Bytes of global memory that a launch, or a program, touches.

    Attributes:
        pointers: traffic by pointer, direction and sharing between programs.
        accesses: position of each counted access -> its traffic; addresses of the other accesses
            are not known.
    """

    pointers: tuple[PointerTraffic, ...]
    accesses: Mapping[OperationPosition, AccessTraffic]

    @property
    def bytes(self) -> float:
        """Bytes of the sectors that are read or written, each counted once per direction."""
        return sum(traffic.most for traffic in self.pointers)

    @property
    def used(self) -> float:
        """Bytes of them that some lane asks for."""
        return sum(traffic.used for traffic in self.pointers)

    @property
    def moved(self) -> float:
        """Bytes that memory moves for them, as it were at full speed."""
        return sum(traffic.moved for traffic in self.pointers)


class _ProgramTraffic(NamedTuple):
    """Footprint of an access in one program: bytes of sectors, used ones, and their range.

    Attributes:
        filled: the part of its rows of memory that its first execution asks for.
        once: bytes of the distinct sectors of an execution.
        pieces, lines, parts: bytes of the pieces that memory reads at once, of its rows, and of the
            sectors of which it does not touch every byte.
    """

    bytes: float
    used: float
    first: int
    last: int
    filled: float = 1
    once: float = 0
    pieces: float = 0
    lines: float = 0
    parts: float = 0


def footprint(
    audit: Audit,
    function: str | None,
    grid: Sequence[int] | None = None,
    sharing: Callable[[Operation], Sharing] | None = None,
    is_taken_true: Callable[[MovementRow], bool] | None = None,
) -> Footprint:
    """Return the footprint of a grid, or of one program, in global memory.

    Args:
        audit: audit of the module.
        function: the kernel.
        grid: programs along x, y and z; None for one program.
        sharing: returns the sharing of an access between programs; None to ignore it.
        is_taken_true: tells whether to take an unknown mask of an access as true; None for none,
            as a bound needs.
    """
    audited = audit.audited
    groups: dict[tuple[str, bool, Sharing], list[AccessTraffic]] = {}
    accesses: dict[OperationPosition, AccessTraffic] = {}
    programs = ProgramFootprints(audited, grid)
    for row in audit.movements_of(function):
        full = audited.in_full(row.operation)
        if full is None:
            continue
        traffic = programs.traffic(full)
        if traffic is None and is_taken_true is not None and is_taken_true(row):
            traffic = programs.traffic(full, has_mask=False)
        if traffic is not None:
            accesses[row.operation.position] = traffic
            shared = sharing(full.operation) if sharing is not None else NOBODY
            key = traffic.pointer, row.operation.group in GLOBAL_CHANGES, shared
            groups.setdefault(key, []).append(traffic)
    pointers = tuple(
        _joint_traffic(group, shared, writes=writes)
        for (_, writes, shared), group in groups.items()
    )
    return Footprint(pointers, accesses)


def _joint_traffic(
    accesses: Sequence[AccessTraffic], sharing: Sharing, *, writes: bool
) -> PointerTraffic:
    """Return the joint traffic of accesses through one pointer.

    Memory reads a sector of which parts are written, unless other accesses write the rest.
    """
    extent = max(access.last for access in accesses) - min(access.first for access in accesses)
    touched = min(sum(access.bytes for access in accesses), extent)
    used = min(sum(access.used for access in accesses), touched)
    if writes:
        lines = min(sum(access.lines for access in accesses), extent)
        parts = sum(access.parts for access in accesses) if used < touched else 0.0
        moved = max(touched, PART_OF_LINE * lines) + min(parts, touched)
    else:
        moved = max(touched, min(sum(access.pieces for access in accesses), extent))
    return PointerTraffic(touched, touched, used, sharing, moved)


class ProgramFootprints:
    """The programs at the corners of a grid; without one a program as the audit sees it."""

    def __init__(self, audited: AuditedModule, grid: Sequence[int] | None) -> None:
        self._audited = audited
        self._is_one = grid is None
        self._grid = (*(grid or ()), 1, 1, 1)[:3]
        self._values = {**program_counts(self._grid), **audited.given.values}
        self._evaluators: dict[tuple[Function, tuple[int, ...]], Evaluator] = {}
        self._hulls: dict[Value, Boxes | None] = {}

    def traffic(self, full: FullOperation, *, has_mask: bool = True) -> AccessTraffic | None:
        """Return the footprint of an access in all programs; None if its addresses are unknown.

        Args:
            full: the access.
            has_mask: whether its mask counts; else all its lanes are active.
        """
        if full.operation.name not in FORMS:
            return self._box_traffic(full)
        kernel = self._audited.kernel(full.function)
        try:
            access = placed_access(kernel, full.operation) if kernel is not None else None
        except LayoutError:
            return None
        pointer = pointer_of(self._audited, full) if access is not None else None
        if access is None or pointer is None or access.shape.too_large is not None:
            return None
        if not has_mask:
            access = access._replace(addresses=access.addresses._replace(mask=None))
        return self._launched(pointer, cache(partial(self.reach, full, access)))

    def _launched(
        self, pointer: str, find: Callable[[Program], _ProgramTraffic | None]
    ) -> AccessTraffic | None:
        """Return the footprint of an access in all programs, from that of one."""
        sizes = self._touching(find)
        corners = {at: find(at) for at in product(*({0, size - 1} for size in sizes))}
        reaches = {at: reach for at, reach in corners.items() if reach is not None}
        if len(reaches) < len(corners):
            return None
        most = max(reach.bytes for reach in reaches.values())
        asked = max(reach.used for reach in reaches.values())
        first, last = min(r.first for r in reaches.values()), max(r.last for r in reaches.values())
        programs, extent = _distinct_programs(reaches, sizes), last - first
        touched, used = min(most * programs, extent), min(asked * programs, extent)
        filled = max(reach.filled for reach in reaches.values())
        once = max(reach.once for reach in reaches.values())
        pieces = min(max(reach.pieces for reach in reaches.values()) * programs, extent)
        lines = min(max(reach.lines for reach in reaches.values()) * programs, extent)
        parts = min(max(reach.parts for reach in reaches.values()) * programs, extent)
        part = prod(sizes) / prod(self._grid)
        return AccessTraffic(
            pointer, touched, used, first, last, filled, once, pieces, lines, parts, part
        )

    def _box_traffic(self, full: FullOperation) -> AccessTraffic | None:
        """Return the footprint of a copy by a descriptor; None if its coordinates are unknown."""
        copy = BoxCopy.of(full.function, full.operation)
        pointer = pointer_of(self._audited, full) if copy is not None else None
        hull = self._hull(full.function, copy) if copy is not None and pointer else None
        if copy is None or pointer is None or hull is None:
            return None

        def find(at: Program) -> _ProgramTraffic | None:
            boxes = self._boxes(full, copy, at)
            return _boxed_traffic(boxes, hull, copy) if boxes is not None else None

        return self._launched(pointer, cache(find))

    def _hull(self, function: Function, copy: BoxCopy) -> Boxes | None:
        """Return the boxes of all copies by a descriptor; None where some are not known."""
        if copy.descriptor not in self._hulls:
            corners = [*product(*({0, size - 1} for size in self._grid))]
            boxes = [
                self._boxes(FullOperation(function, beside.operation), beside, at)
                for beside in copy.beside(function)
                for at in corners
            ]
            known = [some for some in boxes if some is not None]
            is_known = len(known) == len(boxes)
            self._hulls[copy.descriptor] = reduce(Boxes.joined, known, EMPTY) if is_known else None
        return self._hulls[copy.descriptor]

    def _boxes(self, full: FullOperation, copy: BoxCopy, at: Program) -> Boxes | None:
        """Return the boxes that a copy moves in one program; None where they are not known."""
        evaluator = self._evaluator(full, at)
        return self._audited.once(
            ("boxes", None if self._is_one else self._grid, full.position, at),
            lambda: boxes_of(copy, evaluator),
            has_lines=False,
        )

    def _touching(self, find: Callable[[Program], _ProgramTraffic | None]) -> Program:
        """Return the programs along each axis up to the last that touches something."""

        def idle(number: int, axis: int) -> bool:
            reach = find(tuple(number if k == axis else 0 for k in range(len(self._grid))))
            return reach is not None and not reach.bytes

        def end(axis: int, size: int) -> int:
            if size == 1 or not idle(size - 1, axis) or idle(0, axis):
                return size
            return bisect_left(range(size), True, key=lambda number: idle(number, axis))

        return tuple(end(axis, size) for axis, size in enumerate(self._grid))

    def reach(
        self, full: FullOperation, access: PlacedAccess, at: tuple[int, ...]
    ) -> _ProgramTraffic | None:
        """Return the footprint of an access in one program; None where it is not known."""
        evaluator = self._evaluator(full, at)
        # Bounds and estimates ask for the same programs.
        return self._audited.once(
            (
                "reach",
                None if self._is_one else self._grid,
                full.position,
                at,
                access.addresses.mask is None,
            ),
            lambda: self.whole(full, access, evaluator),
            has_lines=False,
        )

    def whole(
        self, full: FullOperation, access: PlacedAccess, evaluator: Evaluator
    ) -> _ProgramTraffic | None:
        """Return the footprint of an access in one program by all its executions."""
        try:
            # Branches that loaded values decide are taken, as they are for the other resources.
            kinds = kinds_of_runs(
                evaluator, full.operation, access.addresses.all, partial(_reach_of, access), []
            )
        except UnknownError:
            return None
        reaches: list[tuple[int, _ProgramTraffic]] = []
        for number, reach in kinds:
            if reach is None:
                return None
            if reach.bytes:
                reaches.append((number, reach))
        if not reaches:
            return _ProgramTraffic(0, 0, 0, 0)
        total = sum(number * reach.bytes for number, reach in reaches)
        used = sum(number * reach.used for number, reach in reaches)
        first = min(reach.first for _, reach in reaches)
        last = max(reach.last for _, reach in reaches)
        last += access.shape.width_bytes
        total = min(total, last - first + access.shape.sector_bytes)
        filled = max(reach.filled for _, reach in reaches)
        once = max(reach.once for _, reach in reaches)
        extent = last - first + ROW
        pieces = min(sum(number * reach.pieces for number, reach in reaches), extent)
        lines = min(sum(number * reach.lines for number, reach in reaches), extent)
        parts = min(sum(number * reach.parts for number, reach in reaches), extent)
        used = min(used, last - first)
        return _ProgramTraffic(
            total, used, first, last, filled, once, pieces, lines, parts if used < total else 0
        )

    def _evaluator(self, full: FullOperation, at: tuple[int, ...]) -> Evaluator:
        if self._is_one:
            return self._audited.evaluator(full.function)
        key = full.function, at
        if key not in self._evaluators:
            numbers = GivenValues({**self._values, **dict(zip(PROGRAM_IDS, at))})
            self._evaluators[key] = Evaluator(full.function, numbers, self._audited.layouts)
        return self._evaluators[key]


def _reach_of(access: PlacedAccess, values: Sequence[Evaluated]) -> _ProgramTraffic | None:
    """Return the footprint of one of several equal runs, and the range of all; None if unknown.

    Raises:
        SplitError: they touch other parts of sectors, or do so in other lanes.
    """
    addresses, shape = access.addresses, access.shape
    offsets = [value for value in values if not isinstance(value, Unknown)]
    if len(offsets) < len(values):
        return None
    places: ProgramValue = offsets[0]
    if addresses.offsets is not None:
        places = sum_of(places, offsets[1], addresses.element_bytes)
    pattern = places.pattern if isinstance(places, ProgramTensor) else places
    base = places.base if isinstance(places, ProgramTensor) else np.zeros(1, np.int64)
    begin = agreed_number(base % shape.sector_bytes)
    kept: list[SingleValue] = [pattern + begin]
    if addresses.mask is not None:
        kept.append(agreed(offsets[-1]))
    lanes = shape_lanes(shape)
    addressed, chosen = lane_addresses(lanes, addresses._replace(offsets=None), kept)
    begins = addressed[lanes.active & chosen]
    if not begins.size:
        return _ProgramTraffic(0, 0, 0, 0)
    low, high = int(begins.min()) - begin, int(begins.max()) - begin
    begins = distinct(begins)[0]
    used = len(begins) * shape.width_bytes
    first, last = int(base.min()) + low, int(base.max()) + high
    touched = sector_bytes(begins, shape)
    return _ProgramTraffic(
        touched,
        used,
        first,
        last,
        filled_rows(begins, shape),
        touched,
        max(touched, piece_bytes(begins, READ_AT_ONCE)),
        max(touched, piece_bytes(begins, ROW)),
        _part_bytes(begins, shape) if used < touched else 0,
    )


def _boxed_traffic(boxes: Boxes, hull: Boxes, copy: BoxCopy) -> _ProgramTraffic:
    """Return the footprint of a copy's boxes in one program.

    Args:
        boxes: the boxes.
        hull: boxes of all copies by the descriptor: a tensor as large as they reach.
        copy: the copy.
    """
    if not boxes.number:
        return _ProgramTraffic(0, 0, 0, 0)
    box_bytes = prod(copy.box) * copy.element_bytes
    touched = min(boxes.number * box_bytes, prod(boxes.extents(copy.box)) * copy.element_bytes)
    first, last = boxes.range(hull, copy.box)
    return _ProgramTraffic(
        touched,
        touched,
        int(first * copy.element_bytes),
        int(last * copy.element_bytes),
        once=box_bytes,
        pieces=touched,
        lines=touched,
    )


def _part_bytes(begins: Ints, shape: AccessShape) -> int:
    """Return the bytes of the sectors of which an execution does not touch every byte.

    Args:
        begins: distinct first bytes of its active lanes.
        shape: assignment of elements to its lanes.
    """
    _, places = distinct(begins // shape.sector_bytes)
    full = shape.sector_bytes // shape.width_bytes
    return int((np.bincount(places) < full).sum()) * shape.sector_bytes


def _distinct_programs(reaches: Mapping[Program, _ProgramTraffic], sizes: Program) -> int:
    """Return the number of programs with distinct footprints."""

    def first(at: Program, axis: int) -> Program:
        return tuple(0 if k == axis else number for k, number in enumerate(at))

    return prod(
        size
        for axis, size in enumerate(sizes)
        if any(reaches[at] != reaches[first(at, axis)] for at in reaches)
    )


def pointer_of(audited: AuditedModule, full: FullOperation) -> str | None:
    """Return the argument on which an access's addresses are based; None if several may be."""
    structure = audited.evaluator(full.function).structure
    arguments = structure.arguments_behind(address_operands(full.operation))
    pointers = [value for value in arguments if is_address(value)]
    return pointers[0].name if len(pointers) == 1 else None
