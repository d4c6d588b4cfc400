"""Traffic of all runs of an access to global memory, in one program or in many."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

from tt_layout.analyses.global_memory.sectors import SectorCounts, count_sectors
from tt_layout.audit.global_memory.access_shape import (
    AccessShape,
    Addresses,
    lane_addresses,
    shape_lanes,
)
from tt_layout.audit.values.evaluator import MAX_ITERATIONS, Evaluator
from tt_layout.audit.values.kinds import kinds_of_runs
from tt_layout.audit.values.runs import TooManyRunsError
from tt_layout.audit.values.spread import agreed, agreed_modulo
from tt_layout.audit.values.unknown import (
    Evaluated,
    SingleValue,
    Unknown,
    UnknownError,
    unknowns,
)
from tt_layout.errors import LayoutError
from tt_layout.ir.ssa import Operation
from tt_layout.tuples import NamedTuple

MAX_ADDRESSES = 1 << 24
"""The most addresses of an access that are counted over all its executions."""


class SectorBounds(NamedTuple):
    """Bounds of the sectors of a request, for all arguments.

    Attributes:
        least, most: sectors of a request in which some lane is active.
    """

    least: int
    most: int


class Traffic(NamedTuple):
    """Traffic of all runs of an access in all programs.

    Attributes:
        counts: requests, sectors, lines and wavefronts; None where not known.
        assumed: why active lanes or taken branches are not known; the counts assume all of them.
        unknown: why something is unknown.
    """

    counts: tuple[int, int | None, int | None, int | None]
    assumed: tuple[Unknown, ...]
    unknown: Unknown | None


def traffic(
    evaluator: Evaluator,
    operation: Operation,
    shape: AccessShape,
    addresses: Addresses,
    bounds: SectorBounds | None = None,
) -> Traffic:
    """Return the traffic of all runs of an access.

    Args:
        evaluator: evaluator of one program, or of several.
        operation: the access.
        shape: assignment of elements to its lanes.
        addresses: the values that determine its addresses.
        bounds: bounds for a request whose addresses are not known.

    Raises:
        UnknownError: nothing can be said about it.
        SplitError: programs differ in their requests.
    """
    if shape.too_large is not None:
        raise UnknownError(shape.too_large)
    assumed: list[Unknown] = []
    unknown: list[Unknown] = []

    def ask(values: Sequence[Evaluated]) -> tuple[int, ...]:
        """Return the counts of runs that agree: requests alone where there are no more."""
        answers = values_of_all(values, shape, addresses)
        placed = addresses
        if addresses.mask is not None and isinstance(mask := answers[-1], Unknown):
            assumed.append(mask)
            answers.pop()
            placed = addresses._replace(mask=None)
        count = count_run(shape, placed, answers)
        if isinstance(count, Unknown):
            unknown.append(count)
            return _requests(shape, placed, answers), 0, 0, 0
        return count.requests, count.sectors, count.lines, count.wavefronts

    most = MAX_ADDRESSES // max(1, shape_lanes(shape).elements.size)
    total = [0, 0, 0, 0]
    try:
        kinds = kinds_of_runs(evaluator, operation, addresses.all, ask, assumed, most)
    except TooManyRunsError as error:
        if error.most < MAX_ITERATIONS:
            reason = f"more than {MAX_ADDRESSES} addresses"
            raise UnknownError(Unknown.because(reason)) from None
        raise
    for number, counts in kinds:
        total = [counted + number * further for counted, further in zip(total, counts)]
    requests, sectors, lines, wavefronts = total
    if not unknown:
        return Traffic((requests, sectors, lines, wavefronts), tuple(dict.fromkeys(assumed)), None)
    is_exact = bounds is not None and bounds.least == bounds.most and not sectors
    of_runs = requests * bounds.least if bounds is not None and is_exact else None
    why = reduce(operator.or_, unknown)
    return Traffic((requests, of_runs, None, None), tuple(dict.fromkeys(assumed)), why)


def idle_warps(
    evaluator: Evaluator, operation: Operation, shape: AccessShape, addresses: Addresses
) -> int:
    """Return the number of warps without an active lane in the last instruction of an access.

    The access must run once; with an unknown mask, all lanes count as active.

    Raises:
        SplitError: the number differs between programs.
    """
    if shape.too_large is not None:
        return 0
    active = shape_lanes(shape).active[-1]
    if addresses.mask is not None:
        mask = evaluator.run(evaluator.top, addresses.mask)
        if not isinstance(mask, Unknown):
            active = active & (agreed(mask).reshape(-1)[shape_lanes(shape).elements[-1]] != 0)
    return int((~active.any(axis=-1)).sum())


def _requests(shape: AccessShape, addresses: Addresses, values: Sequence[SingleValue]) -> int:
    """Return the requests of an execution whose addresses are not known."""
    active = shape_lanes(shape).active
    if addresses.mask is not None and not isinstance(values[-1], Unknown):
        active = active & (values[-1].reshape(-1)[shape_lanes(shape).elements] != 0)
    return int(active.any(axis=-1).sum())


def count_run(
    shape: AccessShape, addresses: Addresses, values: list[SingleValue]
) -> SectorCounts | Unknown:
    """Count the traffic of an execution, or return why it cannot be counted."""
    unknown = unknowns(values)
    if unknown is not None:
        return unknown
    lanes = shape_lanes(shape)
    at, chosen = lane_addresses(lanes, addresses, values)
    try:
        return count_sectors(
            at,
            lanes.active & chosen,
            shape.width_bytes,
            sector_bytes=shape.sector_bytes,
            line_bytes=shape.line_bytes,
            has_banks=shape.has_banks,
        )
    except LayoutError as error:
        return Unknown.because(error.message)


def values_of_all(
    values: Sequence[Evaluated], shape: AccessShape, addresses: Addresses
) -> list[SingleValue]:
    """Return values that represent all programs, which differ only by whole lines.

    Raises:
        SplitError: the programs do not agree on them.
    """
    units = [shape.line_bytes] * len(values)
    if addresses.offsets is not None:
        units[1] = max(1, shape.line_bytes // addresses.element_bytes)
    is_masked = addresses.mask is not None
    answers: list[SingleValue] = []
    for number, (value, unit) in enumerate(zip(values, units), 1):
        if isinstance(value, Unknown):
            answers.append(value)
        elif is_masked and number == len(values):
            answers.append(agreed(value))
        else:
            answers.append(agreed_modulo(value, unit))
    return answers
