"""Requests and sectors of global memory, from the addresses of warp-wide accesses.

The rule, which every measured load and store obeys (``docs/global-memory.md``):

1.  A *request* is one instruction of one warp in which some lane is active.
2.  It moves the distinct *sectors* of 32 bytes that its active lanes touch.
3.  Every lane and warp loads.  Only one holder of each element stores, or copies asynchronously:
    lanes, warps and CTAs that only repeat an element are inactive.
4.  A thread moves ``vector`` neighbouring registers at once, at the address of the first.

The load-store unit serves a request in *wavefronts*, as for shared memory: each of the 32 banks
delivers one word of 4 bytes of one line, and at most four lines are looked up in a cycle.

Read next:    `tt_layout.audit.values.evaluator`, which finds the addresses in a dump.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints, all_values
from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two, log2
from tt_layout.analyses.global_memory.global_access import LINE_BYTES, SECTOR_BYTES
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass

Bools = npt.NDArray[np.bool_]

BANKS = 32
WORD_BYTES = 4
LINES_AT_ONCE = 4
"""Lines that are looked up in a cycle: an H200 passed 3.65 of them, all in different banks."""

_OFF = np.iinfo(np.int64).max
"""Stands for the address of a lane that is switched off, and sorts behind the others."""


@dataclass(frozen=True)
class Lanes:
    """First elements of the lanes of a warp-wide access.

    Attributes:
        elements: row-major number of each lane's first element, of shape ``[instructions, warps,
            lanes]``; the warps are those of all CTAs.
        active: lanes that take part, of the same shape.
    """

    elements: Ints
    active: Bools


@dataclass(frozen=True)
class SectorCounts:
    """Requests, sectors and bytes of an access to global memory, over all warps of a program.

    Attributes:
        instructions: instructions per warp, with or without active lanes.
        requests: instructions in which some lane is active.
        sectors: touched sectors of ``sector_bytes``, summed over the requests.
        lines: touched lines of ``line_bytes``, summed over the requests.
        wavefronts: wavefronts of the requests: for each, the maximum of the distinct words that a
            bank delivers and a quarter of the lines; without banks, the lines.
        asked_bytes: distinct bytes that each request needs, summed over the requests.
        ideal_sectors: the minimum of sectors for these bytes, summed over the requests.
        sector_bytes, line_bytes: the units.
    """

    instructions: int
    requests: int
    sectors: int
    lines: int
    wavefronts: int
    asked_bytes: int
    ideal_sectors: int
    sector_bytes: int = SECTOR_BYTES
    line_bytes: int = LINE_BYTES

    @property
    def moved_bytes(self) -> int:
        """Bytes of the sectors touched."""
        return self.sectors * self.sector_bytes


def lanes_of(
    layout: LinearLayout, vector: int = 1, *, one_holder: bool = False, repeats: bool = False
) -> Lanes:
    """Return the first elements of the lanes of an access, per instruction.

    Args:
        layout: layout of the tensor of pointers, from ``register``, ``lane``, ``warp``, ``block``.
        vector: elements that a thread moves at once, a power of two.
        one_holder: whether only one holder of each element takes part, as in a store.
        repeats: whether registers that repeat an element are moved again, as in masked loads and
            in stores of Triton until 3.8.

    Raises:
        LayoutError: the thread does not hold that many elements, or ``vector`` is not a power of
            two.

    Example:
        Two registers, four lanes of which two repeat the others, one warp:

        >>> layout = LinearLayout.from_bases(
        ...     [("register", [[1]]), ("lane", [[2], [0]]), ("warp", [])], ["dim0"])
        >>> lanes = lanes_of(layout, 2, one_holder=True)
        >>> lanes.elements.tolist(), lanes.active.tolist()
        ([[[0, 2, 0, 2]]], [[[True, True, False, False]]])
    """
    free = layout.get_free_variable_masks()
    bits = flat_bases(layout, "register")
    kept = [b for i, b in enumerate(bits) if repeats or not free.get("register", 0) >> i & 1]
    if not is_power_of_two(vector) or 1 << len(kept) < vector:
        per_thread = 1 << len(kept)
        raise LayoutError(f"a vector must be a power of two up to {per_thread}, got {vector}")
    first = all_values(kept[log2(vector) :])
    warp = all_values(flat_bases(layout, "warp") + flat_bases(layout, "block"))
    lane = all_values(flat_bases(layout, "lane"))
    elements = first[:, None, None] ^ warp[:, None] ^ lane
    active = np.ones(elements.shape, np.bool_)
    if one_holder:
        warp_mask = free.get("warp", 0) | free.get("block", 0) << len(layout.vectors("warp"))
        holds_warp = np.arange(len(warp)) & warp_mask == 0
        holds_lane = np.arange(len(lane)) & free.get("lane", 0) == 0
        active &= holds_warp[:, None] & holds_lane
    return Lanes(elements, active)


def flat_bases(layout: LinearLayout, dim: str) -> list[int]:
    """Return the row-major indices of the elements at the bits of an input.

    Example:
        >>> lanes = [("lane", [[0, 1], [2, 0], [1, 0]])]
        >>> flat_bases(LinearLayout.from_bases(lanes, ["x", "y"]), "lane")
        [1, 4, 2]
    """
    sizes = [size for _, size in layout.out_sizes]
    strides = [prod(sizes[d + 1 :]) for d in range(len(sizes))]
    return [sum(c * s for c, s in zip(basis, strides)) for basis in layout.vectors(dim)]


def count_sectors(
    addresses: npt.NDArray[Any],
    active: npt.NDArray[Any],
    width_bytes: int,
    *,
    sector_bytes: int = SECTOR_BYTES,
    line_bytes: int = LINE_BYTES,
    has_banks: bool = True,
) -> SectorCounts:
    """Count the requests and sectors of warp-wide accesses.

    Args:
        addresses: byte address of each lane, of shape ``[..., lanes]``; multiples of the width
            where the lane is active.
        active: which lanes take part, of the same shape.
        width_bytes: bytes that each lane moves, a power of two up to ``sector_bytes``.
        sector_bytes, line_bytes: the units, powers of two.
        has_banks: whether `BANKS` words of a line are delivered at once.

    Raises:
        LayoutError: an active lane's address is not a multiple of the width.

    Example:
        Four lanes read 4 bytes each, 32 bytes apart but for the last, which is switched off:

        >>> count = count_sectors(np.array([[0, 32, 64, 96]]), np.array([[1, 1, 1, 0]]), 4)
        >>> count.requests, count.sectors, count.lines, count.asked_bytes, count.ideal_sectors
        (1, 3, 1, 12, 1)

        32 lanes read a word each from 32 lines, in one bank; then each in another bank:

        >>> lanes, every = np.arange(32)[None], np.ones((1, 32), bool)
        >>> [count_sectors(lanes * apart, every, 4).wavefronts for apart in (128, 132)]
        [32, 8]
    """
    lanes = addresses.shape[-1] if addresses.ndim else 1
    rows = np.asarray(addresses, np.int64).reshape(-1, lanes)
    on = np.asarray(active, np.bool_).reshape(rows.shape)
    misaligned = on & (rows & width_bytes - 1 != 0)
    if misaligned.any():
        address = int(rows[misaligned][0])
        raise LayoutError(f"an access of {width_bytes} bytes at address {address} is misaligned")
    ordered = np.sort(np.where(on, rows, _OFF), axis=1)
    is_on = ordered != _OFF
    asked = _different(ordered, is_on) * width_bytes
    lines = _different(ordered >> log2(line_bytes), is_on)
    wavefronts = lines
    if has_banks:
        words = _most_of_a_bank(ordered, is_on, width_bytes)
        wavefronts = np.maximum(words, -(-lines // LINES_AT_ONCE))
    return SectorCounts(
        instructions=len(rows),
        requests=int(is_on[:, 0].sum()),
        sectors=int(_different(ordered >> log2(sector_bytes), is_on).sum()),
        lines=int(lines.sum()),
        wavefronts=int(wavefronts.sum()),
        asked_bytes=int(asked.sum()),
        ideal_sectors=int((-(-asked // sector_bytes)).sum()),
        sector_bytes=sector_bytes,
        line_bytes=line_bytes,
    )


def _most_of_a_bank(ordered: Ints, is_on: Bools, width_bytes: int) -> Ints:
    """Return the maximum of distinct words that one bank delivers, for each ascending row.

    Accesses wider than a word use neighbouring banks, all of them equally often.
    """
    unit = max(width_bytes, WORD_BYTES)
    groups = BANKS * WORD_BYTES // unit
    units = ordered >> log2(unit)
    is_new = is_on.copy()
    is_new[:, 1:] &= units[:, 1:] != units[:, :-1]
    rows = np.arange(len(ordered))[:, None] * groups
    slots = (rows + (units & groups - 1))[is_new]
    counts: Ints = np.bincount(slots, minlength=len(ordered) * groups).reshape(-1, groups)
    most: Ints = counts.max(axis=1, initial=0)
    return most


def _different(ordered: Ints, is_on: Bools) -> Ints:
    """Count the distinct active values of each ascending row."""
    steps = (ordered[:, 1:] != ordered[:, :-1]) & is_on[:, 1:]
    counts: Ints = steps.sum(axis=1) + is_on[:, 0]
    return counts
