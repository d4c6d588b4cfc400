"""Accesses of which only the beginning is unknown: the distances of their elements are known.

Where an array begins is unknown if its pointer is not known to be aligned, or an unknown number is
added to it.  What an execution touches hardly depends on that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tt_layout.algebra.arrays import Ints, distinct
from tt_layout.analyses.global_memory.sectors import SectorCounts, count_sectors
from tt_layout.audit.global_memory.access_shape import AccessShape, shape_lanes
from tt_layout.audit.global_memory.operands import address_of
from tt_layout.audit.global_memory.width import AccessAnalysis, PlacedAccess, address_info
from tt_layout.audit.values.trials import Stride
from tt_layout.errors import LayoutError
from tt_layout.tuples import NamedTuple

FAR = 1 << 24
"""The distance of rows that are an argument apart, which is a multiple of a line."""

ROW = 128
"""Contiguous bytes by which memory is read at full speed."""


class RelativeTraffic(NamedTuple):
    """Traffic of an execution whose beginning is unknown, with a mask taken as true.

    Attributes:
        counts: requests, sectors and wavefronts where it begins a unit of its alignment behind a
            sector, or with one if it always does.
        least_bytes: bytes of its distinct sectors, where it begins as it is best.
        filled: fraction of its rows of memory (`ROW` bytes) that it asks for.
    """

    counts: SectorCounts
    least_bytes: int
    filled: float

    @property
    def distinct(self) -> float:
        """Fraction of the sectors of its requests that no request before has touched."""
        return min(1.0, self.least_bytes / max(1, self.counts.moved_bytes))


def relative_traffic(kernel: AccessAnalysis, access: PlacedAccess) -> RelativeTraffic | None:
    """Return the traffic of an access by the distances of its elements; None if one is unknown.

    Args:
        kernel: analysis of its function.
        access: the access.
    """
    if access.shape.too_large is not None:
        return None
    unit = access.width.element_bytes if "offsets" in access.roles else 1
    steps = _steps(
        kernel.trials.strides(address_of(access.roles)), access.width.element_bytes // unit
    )
    if steps is None:
        return None
    # The first element begins a run along each dimension.
    divisors = address_info(kernel.allocated, access.roles, access.width).divisibility
    aligned = max(access.width.width_bytes, *divisors)
    return _traffic(access.shape, tuple(unit * step for step in steps), aligned)


def _steps(strides: Sequence[Stride | None], side_by_side: int) -> tuple[int, ...] | None:
    """Return the distances along each dimension; None if one is unknown that matters.

    Rows that are an argument apart are far apart, if the distances within them are known, and are
    not those of elements side by side.
    """
    known = [abs(stride.number) for stride in strides if stride and not stride.argument]
    is_open = len(known) < len(strides)
    if None in strides or (is_open and min(filter(None, known), default=0) <= side_by_side):
        return None
    return tuple(FAR if stride.argument else stride.number for stride in strides if stride)


@lru_cache(maxsize=256)
def _traffic(shape: AccessShape, steps: tuple[int, ...], aligned: int) -> RelativeTraffic | None:
    lanes = shape_lanes(shape)
    places = _places(shape, steps)[lanes.elements]
    behind = aligned if aligned < shape.sector_bytes else 0
    try:
        counts = count_sectors(
            places + behind,
            lanes.active,
            shape.width_bytes,
            sector_bytes=shape.sector_bytes,
            line_bytes=shape.line_bytes,
            has_banks=shape.has_banks,
        )
    except LayoutError:
        return None
    begins = places[lanes.active]
    step = min(aligned, shape.sector_bytes)
    least = min(
        sector_bytes(begins + behind, shape) for behind in range(0, shape.sector_bytes, step)
    )
    return RelativeTraffic(counts, least, filled_rows(begins, shape))


def _places(shape: AccessShape, steps: tuple[int, ...]) -> Ints:
    """Return the address of each element, in row-major order, of which the least is on line 0."""
    places: Ints = np.zeros((), np.int64)
    for (_, size), step in zip(shape.layout.out_sizes, steps):
        places = places[..., None] + np.arange(size, dtype=np.int64) * step
    places = places.reshape(-1)
    return places - int(places.min()) // shape.line_bytes * shape.line_bytes


def piece_bytes(begins: Ints, size: int) -> int:
    """Return the bytes of the distinct pieces of memory in which some bytes are.

    Args:
        begins: addresses of the bytes.
        size: bytes of a piece: a sector, a row, or what memory reads at once.

    Example:
        >>> piece_bytes(np.array([0, 8, 64]), 32)
        64
    """
    return len(distinct(begins // size)[0]) * size


def sector_bytes(begins: Ints, shape: AccessShape) -> int:
    """Return the bytes of the distinct sectors that an execution touches.

    Args:
        begins: first bytes of its active lanes.
        shape: assignment of elements to its lanes.
    """
    vectors = max(1, shape.width_bytes // shape.sector_bytes)
    return piece_bytes(begins, shape.sector_bytes) * vectors


def filled_rows(begins: Ints, shape: AccessShape) -> float:
    """Return the fraction of its rows of memory that an execution asks for, in whole sectors.

    Args:
        begins: first bytes of its active lanes.
        shape: assignment of elements to its lanes.
    """
    return min(1.0, sector_bytes(begins, shape) / piece_bytes(begins, ROW))
