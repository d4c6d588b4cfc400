"""The requests and sectors of an access: exact for given arguments, else what holds for all.

Where the addresses are known, they are assigned to the lanes and counted.  Where they are not,
the axis analysis still determines which elements are next to each other: within such a run the
addresses are known but for where it begins.  A request touches at least the sectors of one of
its runs, and at most those of all of them.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.analyses.global_memory.sectors import Lanes, SectorCounts
from tt_layout.audit.axis import AxisInfo
from tt_layout.audit.global_memory.access_shape import AccessShape, Addresses, shape_lanes
from tt_layout.audit.global_memory.traffic import SectorBounds, count_run, traffic
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.unknown import Unknown, UnknownError, place, unknowns
from tt_layout.ir.ssa import SsaOperation


class Total(NamedTuple):
    """Sum over all executions of an access in one program."""

    requests: int
    sectors: int
    lines: int
    wavefronts: int


class Sectors(NamedTuple):
    """Requests and sectors of an access, as far as they are known.

    Attributes:
        first: of its first execution in one program; None where that is unknown.
        most: the same with every lane active, where only the mask is unknown.
        total: of all executions in one program; None where unknown.
        unknown: why something is unknown.
        bounds: of each request, where the addresses are unknown.
        overflows: integer operations, and their lines, whose results did not fit their type.
    """

    first: SectorCounts | None
    most: SectorCounts | None
    total: Total | None
    unknown: Unknown | None
    bounds: SectorBounds | None
    overflows: tuple[str, ...] = ()


def access_sectors(
    evaluator: Evaluator,
    operation: SsaOperation,
    shape: AccessShape,
    addresses: Addresses,
    info: AxisInfo | None = None,
) -> Sectors:
    """Return the requests and sectors of an access.

    Args:
        evaluator: of the function that it is in.
        operation: the access.
        shape: how its lanes stand.
        addresses: the values that determine its addresses.
        info: what the axis analysis knows of the pointers or offsets.
    """
    sectors = _sectors(evaluator, operation, shape, addresses, info)
    if not evaluator.overflows:
        return sectors
    overflowed = set(evaluator.overflows)
    sources = evaluator.structure.sources(addresses.all)
    places = sorted({place(o) for o in sources if o in overflowed})
    return sectors._replace(overflows=tuple(places))


def _sectors(
    evaluator: Evaluator,
    operation: SsaOperation,
    shape: AccessShape,
    addresses: Addresses,
    info: AxisInfo | None,
) -> Sectors:
    if shape.too_large is not None:
        return Sectors(None, None, None, shape.too_large, None)
    values = [evaluator.value(value) for value in addresses.all]
    unknown = unknowns(values)
    if unknown is None:
        first = count_run(shape, addresses, values)
        if isinstance(first, Unknown):
            return Sectors(None, None, None, first, None)
        if operation.parent is None:
            once = Total(first.requests, first.sectors, first.lines, first.wavefronts)
            return Sectors(first, None, once, None, None)
        total = _all_executions(evaluator, operation, shape, addresses)
        return Sectors(first, None, total, None, None)
    if addresses.mask is not None and unknowns(values[:-1]) is None:
        most = count_run(shape, addresses._replace(mask=None), values[:-1])
        if isinstance(most, SectorCounts):
            return Sectors(None, most, None, unknown, None)
    bounds = run_bounds(shape, info) if info is not None else None
    if bounds is not None and addresses.mask is not None:
        bounds = bounds._replace(least=1)  # a single lane may be active
    return Sectors(None, None, None, unknown, bounds)


def _all_executions(
    evaluator: Evaluator, operation: SsaOperation, shape: AccessShape, addresses: Addresses
) -> Total | None:
    """Sum up all executions; None if they are unknown."""
    try:
        total = traffic(evaluator, operation, shape, addresses)
    except UnknownError:
        return None
    requests, sectors, lines, wavefronts = total.counts
    if sectors is None or lines is None or wavefronts is None or total.assumed:
        return None
    return Total(requests, sectors, lines, wavefronts)


# -- without addresses ----------------------------------------------------------------------


@lru_cache(maxsize=256)
def wavefronts_apart(shape: AccessShape, info: AxisInfo) -> int:
    """Return the wavefronts of an execution whose runs are far apart, and well placed.

    Rows of a tensor mostly are: their distance is a multiple of a line, and so all are in the
    same banks.

    Args:
        shape: how the lanes of the access stand.
        info: of its pointers.

    Example:
        Each of 32 lanes reads 2 bytes, and what is between them is not known:

        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> layout = LinearLayout.from_bases([("lane", [[1], [2], [4], [8], [16]])], ["dim0"])
        >>> wavefronts_apart(AccessShape(layout, 1, 2, False, False), AxisInfo((1,), (2,), (1,)))
        32
    """
    runs, offsets, _ = _runs(shape, info)
    rows = np.arange(len(runs))[:, None]
    pairs = rows * (int(runs.max(initial=0)) + 1) + runs
    return int(_pieces_of_runs(pairs, offsets, shape.line_bytes).sum())


@lru_cache(maxsize=256)
def run_bounds(shape: AccessShape, info: AxisInfo) -> SectorBounds:
    """Return how many sectors a request touches, whatever the arguments.

    Args:
        shape: how the lanes of the access stand.
        info: of its pointers: runs of elements next to each other, and what their addresses
            are multiples of.

    Example:
        Of 32 lanes with 4 elements of 2 bytes each, 16 move 128 bytes in a row, from a multiple
        of 16: 4 sectors, or 5; and the other 16 as many, or the same:

        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> layout = LinearLayout.from_bases(
        ...     [("register", [[0, 1], [0, 2]]),
        ...      ("lane", [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]])], ["dim0", "dim1"])
        >>> run_bounds(AccessShape(layout, 4, 8, False, False), AxisInfo((1, 64), (16, 16), (1, 1)))
        SectorBounds(least=4, most=10)
    """
    runs, offsets, step = _runs(shape, info)
    rows = np.arange(len(runs))[:, None]
    pairs = rows * (int(runs.max(initial=0)) + 1) + runs
    least = most = _pieces_of_runs(pairs, offsets, shape.sector_bytes)
    for begin in range(step, shape.sector_bytes, step):
        counts = _pieces_of_runs(pairs, offsets + begin, shape.sector_bytes)
        least, most = np.minimum(least, counts), np.maximum(most, counts)
    owners = np.sort(pairs, axis=1)
    firsts = np.ones(owners.shape, np.bool_)
    firsts[:, 1:] = owners[:, 1:] != owners[:, :-1]
    starts = np.concatenate([[0], np.cumsum(firsts.sum(axis=1))[:-1]])
    lanes = pairs.shape[1] * max(1, shape.width_bytes // shape.sector_bytes)
    return SectorBounds(
        int(np.maximum.reduceat(least, starts).min()),
        min(lanes, int(np.add.reduceat(most, starts).max())),
    )


def _runs(shape: AccessShape, info: AxisInfo) -> tuple[Ints, Ints, int]:
    """Return the run that each lane is in, where in it, and the steps at which runs may begin.

    Returns:
        Numbers of runs and offsets in bytes, of shape ``[requests, lanes]``, and a power of two.
    """
    sizes = [size for _, size in shape.layout.out_sizes]
    element_bytes = shape.width_bytes // shape.vector
    dim = max(range(len(sizes)), key=lambda d: info.contiguity[d])
    length = min(info.contiguity[dim], sizes[dim])
    elements = _active_elements(shape_lanes(shape))
    stride = prod(sizes[dim + 1 :])
    along = elements // stride % sizes[dim]
    inside = along % length
    step = max(element_bytes, min(shape.sector_bytes, info.divisibility[dim]))
    return elements - inside * stride, inside * element_bytes, step


def _active_elements(lanes: Lanes) -> Ints:
    """Return the elements of each request, with an active lane's in place of an inactive one's."""
    width = lanes.elements.shape[-1]
    elements, active = lanes.elements.reshape(-1, width), lanes.active.reshape(-1, width)
    firsts = np.take_along_axis(elements, active.argmax(axis=1)[:, None], axis=1)
    requests: Ints = np.where(active, elements, firsts)[active.any(axis=1)]
    return requests


def _pieces_of_runs(pairs: Ints, offsets: Ints, unit: int) -> Ints:
    """Return how many pieces of memory each run of each request touches, in the order of runs."""
    pieces = offsets // unit
    keys = np.sort((pairs * (int(pieces.max(initial=0)) + 1) + pieces).reshape(-1))
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    owners = keys // (int(pieces.max(initial=0)) + 1)
    firsts = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
    counts: Ints = np.diff(np.append(firsts, len(owners)))
    return counts
