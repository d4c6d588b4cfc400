"""Addresses laid out one by one: for padding, and to show which lanes collide."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from tt_layout.algebra.arrays import all_values
from tt_layout.algebra.padding import padded
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.access import MATRIX_ROW_BYTES, AccessMap, Instruction
from tt_layout.hardware import Phase, Target

if TYPE_CHECKING:
    import numpy.typing as npt

    from tt_layout.analyses.banks import Access

    Integers = npt.NDArray[np.int64]

MAX_INSTRUCTIONS = 1 << 16
"""Instructions of all warps that are looked at; more than any GPU's shared memory can hold."""


@dataclass(frozen=True)
class Collision:
    """Lanes that take turns at a bank.

    Attributes:
        bank: the bank.
        lanes: lanes whose words there differ, in order.
        words: the words, one turn each.
    """

    bank: int
    lanes: tuple[int, ...]
    words: tuple[int, ...]


@lru_cache(maxsize=64)
def phase_lanes(phase: Phase, lanes: int) -> Integers:
    """Return the lanes of every phase, a row each.

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


def words_of(addresses: Integers, width: int, bank_bytes: int) -> Integers:
    """Return the words that accesses at these addresses touch, along a new last axis."""
    words: Integers = addresses[..., None] // bank_bytes + np.arange(max(1, width // bank_bytes))
    return words


def mean_turns(
    places: AccessMap, instruction: Instruction, phase: Phase, target: Target
) -> Fraction:
    """Return the mean turns of an access's instructions, over all warps, padding included."""
    vector = instruction.width_bytes // places.element_bytes
    starts = all_values([r for r in places.register if r & vector - 1 == 0] + list(places.warp))
    starts, counts = _classes(starts[:MAX_INSTRUCTIONS], places, target.bank_bytes)
    lanes = all_values(places.lane)[phase_lanes(phase, target.lanes)]
    offsets = padded(starts[:, None, None] ^ lanes, places.padding) * places.element_bytes
    words = words_of(offsets, instruction.width_bytes, target.bank_bytes)
    phases = words.reshape(len(starts) * len(lanes), -1)
    turns = turns_per_row(phases, phase.banks).reshape(len(starts), -1).sum(axis=1)
    return Fraction(int(turns @ counts), int(counts.sum()))


def _classes(starts: Integers, places: AccessMap, bank_bytes: int) -> tuple[Integers, Integers]:
    """Return instructions that differ in their turns, and how many go like each.

    Where every padding is whole words, an instruction that differs from another only in bits
    that no lane moves has the other's addresses, all moved by the same number of words.
    """
    if any(amount * places.element_bytes % bank_bytes for _, amount in places.padding):
        return starts, np.ones(len(starts), np.int64)
    used = reduce(or_, places.lane, 0)
    return np.unique(starts & used, return_counts=True)


def turns_per_row(words: Integers, banks: int) -> Integers:
    """Return, for every row of words, how many different ones the fullest bank has.

    Example:
        >>> turns_per_row(np.array([[0, 0, 32], [0, 1, 2]]), 32).tolist()
        [2, 1]
    """
    ordered = np.sort(words, axis=1)
    is_new = np.ones(ordered.shape, bool)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    rows = np.arange(len(words))[:, None] * banks
    counts = np.bincount((rows + ordered % banks)[is_new], minlength=len(words) * banks)
    fullest: Integers = counts.reshape(len(words), banks).max(axis=1)
    return fullest


def first_phase(access: Access) -> tuple[Integers, Integers]:
    """Return lanes and words of the first instruction's phase with most turns.

    For a matrix instruction the lanes are those that give the addresses of its first matrix.
    """
    bytes_of = access.places.element_bytes
    if access.instruction.matrices:
        addresses = all_values(access.instruction.addresses)
        return np.arange(8), words_of(addresses, MATRIX_ROW_BYTES, access.target.bank_bytes)
    lanes = phase_lanes(access.phase, access.target.lanes)
    addresses = padded(all_values(access.places.lane), access.places.padding)[lanes] * bytes_of
    words = words_of(addresses, access.width_bytes, access.target.bank_bytes)
    turns = turns_per_row(words.reshape(len(lanes), -1), access.phase.banks)
    worst = int(turns.argmax())
    return lanes[worst], words[worst]


def collisions(access: Access) -> tuple[Collision, ...]:
    """Return the banks of the first instruction's worst phase where lanes take turns."""
    lanes, words = first_phase(access)
    found = []
    for bank in range(access.phase.banks):
        here = words % access.phase.banks == bank
        different = np.unique(words[here])
        if len(different) > 1:
            touching = tuple(int(lane) for lane in lanes[here.any(axis=1)])
            found.append(Collision(bank, touching, tuple(int(word) for word in different)))
    return tuple(found)


def colliding_bits(access: Access) -> tuple[int, ...]:
    """Return a basis of the lane masks that lead to another word of the same bank."""
    lanes, words = first_phase(access)
    moved = words[:, 0] - words[0, 0]
    again = (moved != 0) & (moved % access.phase.banks == 0)
    masks = sorted((int(lane) for lane in (lanes ^ lanes[0])[again]), key=_by_weight)
    span_of_masks = F2Span(masks)
    return tuple(mask for bit, mask in enumerate(masks) if span_of_masks.pivots >> bit & 1)


def _by_weight(mask: int) -> tuple[int, int]:
    return bin(mask).count("1"), mask
