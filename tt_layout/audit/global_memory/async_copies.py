"""Shared-memory costs of asynchronous copies, besides their access to global memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tt_layout.algebra.arrays import Ints, all_values
from tt_layout.algebra.padding import padded
from tt_layout.analyses.global_memory.async_copy import (
    BYPASS_BYTES,
    WIDTHS,
    async_copy_wavefronts,
    zero_fill_wavefronts,
)
from tt_layout.analyses.global_memory.global_access import LINE_BYTES
from tt_layout.analyses.global_memory.sectors import flat_bases, lanes_of
from tt_layout.analyses.shared_memory.direct_copies import DirectCopy
from tt_layout.audit.global_memory.access_shape import AccessShape, lane_addresses
from tt_layout.audit.global_memory.operands import operands
from tt_layout.audit.global_memory.traffic import values_of_all
from tt_layout.audit.global_memory.width import AccessAnalysis, PlacedAccess
from tt_layout.audit.operations.buffer_parts import PartOrigin, part_origin
from tt_layout.audit.operations.cost import UnsupportedError
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.kinds import kinds_of_runs
from tt_layout.audit.values.unknown import Evaluated, unknowns
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.ir.ssa import Operation
from tt_layout.mlir.types import POINTER_BITS
from tt_layout.placement import PlacedLayout
from tt_layout.tuples import NamedTuple

MAX_ELEMENTS = 1 << 20
"""Elements of a buffer whose offsets are looked up; shared memory holds fewer."""
OFFSET_BITS = 32
"""Width of the offset that an access through a buffer resource adds to its pointer."""


def is_async_copy(operation: Operation, kernel: AccessAnalysis) -> bool:
    """Tell whether an operation is ``cp.async``, whose writes follow a rule that was measured."""
    return kernel.target.is_nvidia and operation.name.endswith(".async_copy_global_to_local")


def swizzling_shuffles(kernel: AccessAnalysis, operation: Operation, instructions: int) -> int:
    """Return the shuffles of a warp for a copy to swizzled shared memory.

    AMD's copies write the lanes of a warp side by side, unless each lane gives the address that it
    writes to.  To swizzle, lanes exchange their pointers or offsets before they read.

    Args:
        kernel: analysis of the copy's function.
        operation: any access to global memory, in today's form.
        instructions: instructions that a warp executes.
    """
    target = kernel.target
    if not target.is_amd or target.scatters_async_copies:
        return 0
    roles = operands(operation)
    if "memory" not in roles:
        return 0
    memory = kernel.function.type_of(roles["memory"])
    encoding = memory.encoding if memory is not None else None
    if not isinstance(encoding, SwizzledShared) or encoding.max_phase == 1:
        return 0
    bits = OFFSET_BITS if "offsets" in roles else POINTER_BITS
    return instructions * bits // target.shuffle_bits


def check_direct_copy(kernel: AccessAnalysis, operation: Operation, shape: AccessShape) -> None:
    """Check that the lanes of a warp copy to one contiguous range of shared memory.

    What a swizzle moves within a warp is exchanged between its lanes before.

    Raises:
        UnsupportedError: they do not, and the compiler refuses the copy.
    """
    target = kernel.target
    if not target.is_amd or target.scatters_async_copies:
        return
    buffer = operands(operation).get("memory")
    memory = kernel.function.type_of(buffer) if buffer is not None else None
    if memory is None:
        return
    placed, encoding = kernel.layouts.of(memory), memory.encoding
    is_swizzled = isinstance(encoding, SwizzledShared) and encoding.max_phase > 1
    copy = DirectCopy(shape.layout, shape.vector)
    if is_swizzled or not isinstance(placed, PlacedLayout) or not all(map(any, copy.row)):
        return
    if not copy.can_write(placed.layout, placed.padding):
        size = shape.width_bytes * target.lanes
        raise UnsupportedError(
            f"a warp's copy has to write {size} bytes of shared memory in a row: "
            f"{memory.layout} puts them elsewhere, or padding between them"
        )


class Written(NamedTuple):
    """Shared-memory wavefronts of a copy's writes.

    Attributes:
        wavefronts: wavefronts of all warps of a program.
        fewest: the least under any layout of the buffer, with the addresses in global memory.
    """

    wavefronts: int
    fewest: int


def written_wavefronts(
    evaluator: Evaluator, kernel: AccessAnalysis, placed: PlacedAccess
) -> Written | None:
    """Return the shared-memory wavefronts of the writes of a copy's first execution.

    None for what is not such a copy, and where the addresses in global
    memory, or the layout of the buffer, are unknown.  The allocation is taken to begin at a row of
    all banks.
    """
    if not is_async_copy(placed.operation, kernel):
        return None
    values = [evaluator.run(evaluator.top, value) for value in placed.addresses.all]
    if unknowns(values) is not None:
        return None
    buffer = _buffer(evaluator, kernel, placed)
    return _written(values, placed, buffer) if buffer is not None else None


def all_written(
    evaluator: Evaluator, kernel: AccessAnalysis, operation: Operation, placed: PlacedAccess
) -> int | None:
    """Return the shared-memory wavefronts of the writes of all executions of a copy.

    Args:
        evaluator: evaluator of one program, or of several.
        kernel: analysis of the copy's function.
        operation: the copy, as in the dump.
        placed: the inputs that determine its bytes.

    Returns:
        The number; None as in `written_wavefronts`.

    Raises:
        UnknownError: it is not known when the copy is executed.
        SplitError: the programs do not all do the same.
    """
    buffer = _buffer(evaluator, kernel, placed)
    if buffer is None:
        return None
    kinds = kinds_of_runs(
        evaluator, operation, placed.addresses.all, lambda values: _written(values, placed, buffer)
    )
    known = [(runs, written.wavefronts) for runs, written in kinds if written is not None]
    return sum(map(prod, known)) if len(known) == len(kinds) else None


class _Buffer(NamedTuple):
    """Buffer written by a copy.

    Attributes:
        placed: the layout of the whole buffer.
        shape: sizes of the part that is written.
        part: place of that part.
    """

    placed: PlacedLayout
    shape: tuple[int, ...]
    part: PartOrigin | None


def _buffer(evaluator: Evaluator, kernel: AccessAnalysis, access: PlacedAccess) -> _Buffer | None:
    """Return the buffer of a copy; None if its wavefronts are not counted."""
    shape = access.shape
    if not is_async_copy(access.operation, kernel) or shape.width_bytes not in WIDTHS:
        return None
    buffer = access.roles.get("memory")
    memory = kernel.function.type_of(buffer) if buffer is not None else None
    if buffer is None or memory is None or shape.too_large is not None:
        return None
    placed = kernel.layouts.of(memory)
    if not isinstance(placed, PlacedLayout) or prod(placed.shape) > MAX_ELEMENTS:
        return None
    if placed.layout.get_in_dim_size("block") > 1:
        return None
    return _Buffer(placed, tuple(memory.shape), part_origin(buffer, evaluator, kernel.layouts))


def _written(values: Sequence[Evaluated], access: PlacedAccess, buffer: _Buffer) -> Written | None:
    """Return the wavefronts of an execution; None where its addresses are not known.

    Raises:
        SplitError: the programs do not agree on its addresses.
    """
    shape, addresses = access.shape, access.addresses
    arrays = values_of_all(values, shape, addresses)
    if unknowns(arrays) is not None:
        return None
    # Of copies without a mask that bypass the first-level cache the hardware counts idle warps.
    is_idle_counted = shape.width_bytes == BYPASS_BYTES and addresses.mask is None
    lanes = lanes_of(shape.layout, shape.vector, one_holder=not is_idle_counted)
    source, chosen = lane_addresses(lanes, addresses, arrays)
    target = _targets(lanes.elements, buffer.shape, buffer.placed, buffer.part)
    width = lanes.elements.shape[-1]
    active, chosen = lanes.active.reshape(-1, width), chosen.reshape(-1, width)
    source, target = source.reshape(-1, width), target.reshape(-1, width)
    counts = (
        async_copy_wavefronts(source, place, active & chosen, shape.width_bytes).sum()
        for place in (target, source)
    )
    zeros = zero_fill_wavefronts(target, active, ~chosen, shape.width_bytes)
    rows = -(-active.sum(axis=1) * shape.width_bytes // LINE_BYTES)
    copied, fewest = map(int, counts)
    return Written(copied + int(zeros.sum()), fewest + int(rows[zeros > 0].sum()))


def _targets(
    elements: Ints, shape: Sequence[int], placed: PlacedLayout, part: PartOrigin | None
) -> Ints:
    """Return the byte offsets of elements of a buffer, or of a part of one.

    Args:
        elements: their row-major numbers in the part.
        shape: sizes of the part.
        placed: the layout of the whole buffer.
        part: place of the part; None for the beginning of the buffer.
    """
    last_sizes = tuple(shape[-len(placed.shape) :])
    if last_sizes != placed.shape:
        first = part.first if part is not None else (0,) * len(last_sizes)
        inside = np.unravel_index(elements, last_sizes)
        coordinates = tuple(at + start for at, start in zip(inside, first))
        elements = np.ravel_multi_index(coordinates, placed.shape)
    shift = part.shift or 0 if part is not None else 0
    return _offsets(placed)[elements] * placed.element_bytes + shift


def _offsets(placed: PlacedLayout) -> Ints:
    """Return the slot of each element of a buffer, by its row-major number."""
    elements = all_values(flat_bases(placed.layout, "offset"))
    slots = np.zeros(prod(placed.shape), np.int64)
    slots[elements[::-1]] = padded(np.arange(len(elements)), placed.padding)[::-1]
    return slots
