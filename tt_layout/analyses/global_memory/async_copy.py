"""Shared-memory wavefronts of asynchronous copies: ``cp.async`` on NVIDIA.

A plain store writes the data of the lanes.  An asynchronous copy writes the data that comes back
from global memory, in its order there: a word at byte ``g`` leaves the cache at position ``g mod
128`` and enters shared memory in the bank of its address, so two lanes may conflict on either
side.  This rule fits every access measured on an H100 except the few in
``docs/bank-conflicts.md``:

1.  Copies of 4 and 8 bytes go in phases, as stores do: all 32 lanes at once for 4 bytes, 16 at
    a time for 8.
2.  Two lanes of a phase conflict where their global addresses are equal modulo 128, or where
    their shared addresses are.  The phase takes one wavefront more than the lane with most
    conflicts has.
3.  Copies of 16 bytes bypass the first-level cache.  Lanes whose data moves from one line of
    128 bytes to one row of 128 bytes, with the same xor of the places in them, share a
    wavefront; the lanes' order does not matter.
4.  A lane whose mask is false writes zeros.  An instruction with such a lane takes as many
    wavefronts more as there are rows of 128 bytes that its lanes write to, those that copy
    included; with copies of 4 and 8 bytes as many as lanes of a phase write to one address
    modulo 128.

Source: designed accesses counted with Nsight Compute on one NVIDIA H100 (sm90),
``tests/data/h100-async-patterns.txt``; for zeros, the counters of nine kernels on one NVIDIA
H200, and for those of 4 bytes of one kernel on an H100.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.analyses.global_memory.global_access import LINE_BYTES
from tt_layout.errors import LayoutError

Booleans = npt.NDArray[np.bool_]

BYPASS_BYTES = 16
"""The width of copies that do not pass through the first-level cache."""
WIDTHS = (4, 8, 16)
"""Bytes that a lane may copy at once."""

_BLOCK = 1 << 12  # instructions looked at together: a bound on memory

_NO_ROW = np.iinfo(np.int64).max


def async_copy_wavefronts(
    global_addresses: Ints, shared_addresses: Ints, active: Booleans, width_bytes: int
) -> Ints:
    """Count the wavefronts in which copies enter shared memory, per instruction.

    Args:
        global_addresses: byte addresses, shape (instructions, lanes).
        shared_addresses: byte addresses in shared memory, the same shape.
        active: which lanes copy, booleans of the same shape.
        width_bytes: bytes that each lane copies: 4, 8 or 16.

    Raises:
        LayoutError: no asynchronous copy is that wide.

    Example:
        Two lines of global memory, copied in order, and with the second one's words swapped:

        >>> lanes = np.arange(16)[None]
        >>> active, source = lanes >= 0, lanes % 8 * 4 + lanes // 8 * 128
        >>> async_copy_wavefronts(source, source, active, 4).tolist()
        [2]
        >>> async_copy_wavefronts(source, source ^ (lanes // 8) * 4, active, 4).tolist()
        [3]
    """
    if width_bytes not in WIDTHS:
        raise LayoutError(f"an asynchronous copy moves 4, 8 or 16 bytes, got {width_bytes}")
    parts = [slice(at, at + _BLOCK) for at in range(0, len(active), _BLOCK)]
    blocks = [
        _wavefronts(global_addresses[part], shared_addresses[part], active[part], width_bytes)
        for part in parts
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.int64)


def zero_fill_wavefronts(
    shared_addresses: Ints, active: Booleans, filled: Booleans, width_bytes: int
) -> Ints:
    """Count the wavefronts in which zeros enter shared memory, per instruction.

    Args:
        shared_addresses: byte addresses in shared memory, shape (instructions, lanes).
        active: which lanes copy, or write zeros; booleans of the same shape.
        filled: which of them write zeros.
        width_bytes: bytes that each lane writes: 4, 8 or 16.

    Example:
        32 lanes write 16 bytes each, in a row: four lines of banks, if any of them writes zeros:

        >>> lanes = np.arange(32)[None]
        >>> zero_fill_wavefronts(lanes * 16, lanes >= 0, lanes >= 24, 16).tolist()
        [4]
        >>> zero_fill_wavefronts(lanes * 16, lanes >= 0, lanes >= 32, 16).tolist()
        [0]

        Four bytes each, every fourth of them in one bank:

        >>> zero_fill_wavefronts(lanes * 32, lanes >= 0, lanes >= 0, 4).tolist()
        [8]
    """
    if width_bytes == BYPASS_BYTES:
        rows = np.sort(np.where(active, shared_addresses // LINE_BYTES, _NO_ROW), axis=1)
        is_new = np.ones(rows.shape, np.bool_)
        is_new[:, 1:] = rows[:, 1:] != rows[:, :-1]
        counts: Ints = (is_new & (rows != _NO_ROW)).sum(axis=1)
    else:
        lanes = np.broadcast_to(np.arange(shared_addresses.shape[1]), shared_addresses.shape)
        counts = _wavefronts(lanes, shared_addresses, active, width_bytes)
    return counts * (active & filled).any(axis=1)


def _wavefronts(source: Ints, target: Ints, active: Booleans, width: int) -> Ints:
    if width == BYPASS_BYTES:
        return _ways(source, target, active)
    lanes = min(LINE_BYTES // width, source.shape[1])
    phases = source.reshape(-1, lanes), target.reshape(-1, lanes), active.reshape(-1, lanes)
    wavefronts: Ints = _most_conflicts(*phases).reshape(len(source), -1).sum(axis=1)
    return wavefronts


def _most_conflicts(source: Ints, target: Ints, active: Booleans) -> Ints:
    """Return one more than the most conflicts of one lane, for each phase."""
    at_source, at_target = source % LINE_BYTES, target % LINE_BYTES
    meet = at_source[:, :, None] == at_source[:, None, :]
    meet |= at_target[:, :, None] == at_target[:, None, :]
    meet &= active[:, :, None] & active[:, None, :]
    most: Ints = meet.sum(axis=2).max(axis=1)  # a lane meets itself: that is the one more
    return most


def _ways(source: Ints, target: Ints, active: Booleans) -> Ints:
    """Count the distinct paths from a line to a row, for each instruction."""
    places = (source ^ target) % LINE_BYTES // BYPASS_BYTES
    lines, rows = source // LINE_BYTES, target // LINE_BYTES
    order = np.lexsort((places, rows, lines, ~active), axis=1)
    ordered = [np.take_along_axis(array, order, axis=1) for array in (lines, rows, places)]
    is_new = np.ones(source.shape, bool)
    is_new[:, 1:] = np.any([array[:, 1:] != array[:, :-1] for array in ordered], axis=0)
    ways: Ints = (is_new & np.take_along_axis(active, order, axis=1)).sum(axis=1)
    return ways
