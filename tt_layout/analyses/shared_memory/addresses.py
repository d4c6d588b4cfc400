"""Explicit addresses of shared memory: for padding, colliding lanes, parts and segments of buffers.

A part is a subview of a buffer that starts at a multiple of its size along each dimension.  The
offset of an element is the xor of the offset within the part and the offset of its start; padding
is added to each separately.

On gfx1250 each partition of a ``partitioned_shared`` is in a segment of 64 KiB of its own, and
pairs of SIMDs share the ports to them: warps that read one segment at a time wait for each other.

Source:
    Triton, lib/Conversion/TritonGPUToLLVM/Utility.cpp, getMaskSpanOffsetsAndBlocks.
    Documented, not measured: ROCm/rocm-libraries#9388; Triton, PartitionedSharedEncodingAttr.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_

import numpy as np

from tt_layout.algebra.arrays import Ints, all_values, distinct
from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.padding import padded
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.shared_memory.access import (
    MATRIX_ROW_BYTES,
    AccessKind,
    AccessMap,
    Instruction,
)
from tt_layout.hardware import Phase, Target
from tt_layout.records import dataclass

MATRIX_ROWS = 8
PACKED_BYTES = 4  # of a row of a matrix that one lane gets
MAX_INSTRUCTION_BITS = 16
"""Instructions of all warps that are looked at, as a power of two."""


Steps = tuple[tuple[int, ...], ...]
"""Step -> the partition that each warp reaches."""

MAX_STEPS = 64


@dataclass(frozen=True)
class Collision:
    """Lanes that a bank serves one after another.

    Attributes:
        bank: the bank.
        lanes: lanes whose words there differ, in order.
        words: the words, one cycle each.
    """

    bank: int
    lanes: tuple[int, ...]
    words: tuple[int, ...]


@lru_cache(maxsize=64)
def phase_lanes(phase: Phase, lanes: int) -> Ints:
    """Return the lanes of every phase, one row each.

    Example:
        >>> phase_lanes(Phase((1, 4), 32), 8).tolist()
        [[0, 1, 4, 5], [2, 3, 6, 7]]
    """
    members = all_values(phase.masks)
    phases = {}
    for lane in range(lanes):
        group = np.sort(members ^ lane)
        phases[int(group[0])] = group
    return np.stack(list(phases.values()))


def words_of(addresses: Ints, width: int, bank_bytes: int) -> Ints:
    """Return the words touched by accesses at these addresses, along a new last axis."""
    words: Ints = addresses[..., None] // bank_bytes + np.arange(max(1, width // bank_bytes))
    return words


def mean_cycles(
    offsets: AccessMap, instruction: Instruction, width: int, phase: Phase, target: Target
) -> float:
    """Return the mean cycles of accesses of one width, over all warps, padding included.

    It is exact: the mean of as many instructions as a power of two.
    """
    vector = width // offsets.element_bytes
    bases = [r for r in offsets.register if r & vector - 1 == 0] + list(offsets.warp)
    starts = all_values(_different(bases, offsets, target)[:MAX_INSTRUCTION_BITS])
    lanes = _unpadded(instruction, offsets)[phase_lanes(phase, target.lanes)]
    slots = padded(starts[:, None, None] ^ lanes, offsets.padding)
    addresses = slots * offsets.element_bytes + offsets.start
    words = words_of(addresses, width, target.bank_bytes)
    phases = words.reshape(len(starts) * len(lanes), -1)
    cycles = cycles_per_row(phases, phase.banks).reshape(len(starts), -1).sum(axis=1)
    return int(cycles.sum()) / len(starts)


def _different(bases: list[int], offsets: AccessMap, target: Target) -> list[int]:
    """Return bases of the instructions that may differ in their cycles.

    Instructions that differ only in bits that no lane changes have equal addresses up to a common
    displacement: by whole words if every padding is whole words; otherwise, if the bits are beyond
    one period of the padding, by whole rows of banks.
    """
    used, size = reduce(or_, offsets.lane, 0), offsets.element_bytes
    if any(amount * size % target.bank_bytes for _, amount in offsets.padding):
        longest = max(interval for interval, _ in offsets.padding)
        used |= longest * max(1, target.row_bytes // size) - 1
    masked = [base & used for base in bases]
    pivots = F2Span(masked).pivots
    return [base for bit, base in enumerate(masked) if pivots >> bit & 1]


def cycles_per_row(words: Ints, banks: int) -> Ints:
    """Return the number of distinct words in the fullest bank, for every row of words.

    Example:
        >>> cycles_per_row(np.array([[0, 0, 32], [0, 1, 2]]), 32).tolist()
        [2, 1]
    """
    ordered = np.sort(words, axis=1)
    is_new = np.ones(ordered.shape, bool)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    rows = np.arange(len(words))[:, None] * banks
    counts = np.bincount((rows + ordered % banks)[is_new], minlength=len(words) * banks)
    fullest: Ints = counts.reshape(len(words), banks).max(axis=1)
    return fullest


def first_instruction(
    offsets: AccessMap, instruction: Instruction, phase: Phase, target: Target
) -> tuple[Ints, Ints]:
    """Return lanes and words of the first instruction, from the first address of each lane.

    Returns:
        Of shape (phases, lanes), and the words that each of these lanes touches: (phases, lanes,
        words).  For a matrix instruction a phase is a matrix, and the lanes are those that give
        the addresses of its rows.
    """
    if instruction.matrices:
        addresses = all_values([*instruction.addresses, *matrix_bits(offsets, instruction)])
        lanes = np.arange(len(addresses)).reshape(-1, MATRIX_ROWS)
        return lanes, words_of(addresses, MATRIX_ROW_BYTES, target.bank_bytes)[lanes]
    lanes = phase_lanes(phase, target.lanes)
    slots = padded(_unpadded(instruction, offsets), offsets.padding)[lanes]
    width = instruction.forms[0].width_bytes
    addresses = slots * offsets.element_bytes + offsets.start
    return lanes, words_of(addresses, width, target.bank_bytes)


def worst_phase(lanes: Ints, words: Ints, banks: int) -> tuple[Ints, Ints]:
    """Return lanes and words of the slowest phase of an instruction."""
    worst = int(cycles_per_row(words.reshape(len(lanes), -1), banks).argmax())
    return lanes[worst], words[worst]


def matrix_bits(offsets: AccessMap, instruction: Instruction) -> list[int]:
    """Return the bits of byte offsets between the matrices of an instruction."""
    size = offsets.element_bytes
    if instruction.kind is AccessKind.TRANSPOSED:
        further = offsets.register[1:]
    else:
        further = tuple(basis for basis in offsets.register if basis * size >= PACKED_BYTES)
    return [basis * size for basis in further[: log2(instruction.matrices)]]


def _unpadded(instruction: Instruction, offsets: AccessMap) -> Ints:
    """Return the offset of each lane, in elements and before padding."""
    return all_values([address // offsets.element_bytes for address in instruction.addresses])


def collisions(lanes: Ints, words: Ints, banks: int) -> tuple[Collision, ...]:
    """Return the banks with several words in one phase.

    Args:
        lanes: the lanes of the phase.
        words: their words, a row for each lane.
        banks: the number of banks.

    Example:
        >>> collisions(np.arange(3), np.array([[0], [1], [32]]), 32)
        (Collision(bank=0, lanes=(0, 2), words=(0, 32)),)
    """
    collided = []
    for bank in range(banks):
        here = words % banks == bank
        different = distinct(words[here])[0] if here.any() else ()
        if len(different) > 1:
            touching = tuple(int(lane) for lane in lanes[here.any(axis=1)])
            collided.append(Collision(bank, touching, tuple(int(word) for word in different)))
    return tuple(collided)


def colliding_bits(lanes: Ints, words: Ints, banks: int) -> tuple[int, ...]:
    """Return a basis of the lane masks that select another word of the same bank.

    Args:
        lanes, words, banks: as for `collisions`.
    """
    distance = words[:, 0] - words[0, 0]
    again = (distance != 0) & (distance % banks == 0)
    masks = sorted((int(lane) for lane in (lanes ^ lanes[0])[again]), key=_by_weight)
    span_of_masks = F2Span(masks)
    return tuple(mask for bit, mask in enumerate(masks) if span_of_masks.pivots >> bit & 1)


def _by_weight(mask: int) -> tuple[int, int]:
    return bin(mask).count("1"), mask


def part_mask(buffer: LinearLayout, shape: Sequence[int]) -> int:
    """Return the bits of an offset that may be set at the start of a part of a buffer.

    Args:
        buffer: layout from the offset to the elements of the whole buffer.
        shape: sizes of the part, one for each dimension of the buffer.

    Example:
        >>> rows = [("offset", [[0, 1], [0, 2], [1, 0], [2, 2]])]
        >>> buffer = LinearLayout.from_bases(rows, ["dim0", "dim1"])
        >>> part_mask(buffer, [2, 4]), part_mask(buffer, [4, 2]), part_mask(buffer, [4, 4])
        (10, 2, 0)
    """
    sizes = [size for _, size in buffer.out_sizes]
    if tuple(sizes) == tuple(shape):
        return 0
    offsets = buffer.pseudoinvert()
    at, mask = offsets.get_out_dim_names().index("offset"), 0
    for name, size, extent in zip(buffer.get_out_dim_names(), shape, sizes):
        for bit in range(log2(size), log2(extent)):
            mask |= offsets.vectors(name)[bit][at]
    return mask


def segments(register: LinearLayout, shared: LinearLayout) -> Steps:
    """Return the partitions that warps reach, for each step in which any warp changes its own.

    Args:
        register: layout from register, lane and warp to the elements.
        shared: layout from offset, block and partition to the elements.

        Returns:
            Nothing if the buffer has one partition, or the lanes of an access reach several.

    Example:
        >>> rows = LinearLayout.from_bases(
        ...     [("register", [[1]]), ("lane", []), ("warp", [[2]])], ["dim0"])
        >>> dealt = LinearLayout.from_bases(
        ...     [("offset", [[1]]), ("block", []), ("partition", [[2]])], ["dim0"])
        >>> segments(rows, dealt)
        ((0, 1),)
    """
    if shared.get_in_dim_size("partition") == 1:
        return ()
    places = register.remove_zero_bases("register").invert_and_compose(shared)
    at = places.get_out_dim_names().index("partition")
    registers, lanes, warps = (
        [vector[at] for vector in places.vectors(name)] for name in ("register", "lane", "warp")
    )
    moving = [step for step in registers if step]
    if any(lanes) or 1 << len(moving) > MAX_STEPS:
        return ()
    steps = all_values(moving)[:, None] ^ all_values(warps)
    return tuple(tuple(step) for step in steps.tolist())
