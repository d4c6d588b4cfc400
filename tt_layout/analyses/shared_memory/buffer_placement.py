"""Placement of a function's buffers in shared memory, as in the compiler.

Buffers that are never live at the same time may share memory.  The compiler places the largest
first: each gets the lowest offset that is free for a part of its lifetime; then buffers that still
overlap in memory and time are moved apart, until none do.

Source:
    Triton, lib/Analysis/Allocation.cpp, computeOffsets, calculateStarts, buildInterferenceGraph
    and allocate.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Interval = tuple[int, int]
"""The first number in it, and the first behind it."""

FOREVER = 1 << 62


class Buffer(NamedTuple):
    """A range of shared memory that a function needs for a time.

    Attributes:
        size: size in bytes.
        alignment: alignment of its offset in bytes.
        live: the numbers of the operations in its lifetime.
        concurrent: for a buffer within regions that run concurrently, the number of the operation
            with these regions, and that of the innermost region around the buffer.
        tensor: a number shared by buffers that must be in different partitions.
    """

    size: int
    alignment: int
    live: Interval
    concurrent: tuple[int, int] | None = None
    tensor: int | None = None


@lru_cache(maxsize=64)  # of an edited text, and of other layouts of one size, buffers are as before
def place_buffers(buffers: tuple[Buffer, ...], partition_bytes: int = 0) -> tuple[int, ...]:
    """Return the offset of each buffer.

    Args:
        buffers: in the order in which the compiler finds them: allocations, scratch of
            operations, calls.
        partition_bytes: size of a partition of shared memory; 0 where there are none.

    Example:
        >>> large = [Buffer(512, 16, live) for live in [(1, 2), (3, 5)]]
        >>> place_buffers((Buffer(64, 16, (0, 4)), *large))
        (512, 0, 0)
    """
    if not buffers:
        return ()
    by_size = sorted(range(len(buffers)), key=lambda number: -buffers[number].size)
    placed = _Placement([buffers[number] for number in by_size], partition_bytes).offsets()
    return tuple(offset for _, offset in sorted(zip(by_size, placed)))


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


class _Gaps:
    """Offsets that are free for a time, the lowest first."""

    def __init__(self) -> None:
        self._offsets = [0]
        self._times = [(0, FOREVER)]
        self._begins, self._ends = [0], [FOREVER]  # of these times, sorted

    def __bool__(self) -> bool:
        return bool(self._offsets)

    def pop(self) -> tuple[int, Interval]:
        begin, end = self._times.pop(0)
        del self._begins[bisect_left(self._begins, begin)]
        del self._ends[bisect_left(self._ends, end)]
        return self._offsets.pop(0), (begin, end)

    def add(self, offset: int, time: Interval) -> None:
        place = bisect_right(self._offsets, offset)
        self._offsets.insert(place, offset)
        self._times.insert(place, time)
        insort(self._begins, time[0])
        insort(self._ends, time[1])

    def meet(self, live: Interval) -> bool:
        """Tell whether an interval meets the time of a gap: not all begin behind or end before."""
        first, end = live
        return bisect_left(self._begins, end) > bisect_right(self._ends, first)


class _Placement:
    """Buffers in descending size, and their offsets."""

    def __init__(self, buffers: Sequence[Buffer], partition_bytes: int) -> None:
        self._buffers = buffers
        self._partition_bytes = partition_bytes
        self._offsets = [0] * len(buffers)

    def offsets(self) -> list[int]:
        self._fill_gaps()
        while overlaps := self._overlaps():
            self._separate(overlaps)
        return self._offsets

    def _fill_gaps(self) -> None:
        import numpy as np

        lives = [buffer.live for buffer in self._buffers]
        firsts, ends = np.array(lives).T
        gaps, left = _Gaps(), np.arange(len(lives))
        while left.size and gaps:
            offset, time = gaps.pop()
            near = left[(firsts[left] < time[1]) & (ends[left] > time[0])]
            index = next((n for n in near.tolist() if not gaps.meet(lives[n])), None)
            if index is None:
                continue
            buffer = self._buffers[index]
            self._offsets[index] = _aligned(offset, buffer.alignment)
            (begin, end), (first, last) = time, buffer.live
            gaps.add(self._offsets[index] + buffer.size, (max(begin, first), min(end, last)))
            if begin < first:
                gaps.add(offset, (begin, last))
            if last < end:
                gaps.add(offset, (first, end))
            left = left[left != index]

    def _overlaps(self) -> dict[int, list[int]]:
        """Return the overlaps of each buffer; empty without any."""
        import numpy as np

        begins = np.array(self._offsets)
        ends = begins + np.array([buffer.size for buffer in self._buffers])
        close = self._exclude & _meeting(begins, ends)
        if self._partition_bytes:
            partitions = begins // self._partition_bytes
            close |= self._are_pieces & (partitions[:, None] == partitions)
        overlaps: dict[int, list[int]] = {}
        for buffer, other in zip(*(axis.tolist() for axis in np.nonzero(close))):
            overlaps.setdefault(buffer, []).append(other)
        return overlaps

    @cached_property
    def _exclude(self) -> npt.NDArray[np.bool_]:
        """Matrix of the pairs of buffers that may not share memory."""
        import numpy as np

        live = np.array([buffer.live for buffer in self._buffers])
        regions = np.array([buffer.concurrent or (-1, -1) for buffer in self._buffers])
        owners, inside = regions.T
        at_once = (owners[:, None] == owners) & (owners >= 0) & (inside[:, None] != inside)
        pairs: npt.NDArray[np.bool_] = _meeting(*live.T) | at_once
        np.fill_diagonal(pairs, val=False)
        return pairs

    @cached_property
    def _are_pieces(self) -> npt.NDArray[np.bool_]:
        """Matrix of the pairs of pieces of one tensor."""
        import numpy as np

        tensors = np.array([-1 if b.tensor is None else b.tensor for b in self._buffers])
        pairs: npt.NDArray[np.bool_] = (tensors[:, None] == tensors) & (tensors >= 0)
        np.fill_diagonal(pairs, val=False)
        return pairs

    def _separate(self, overlaps: dict[int, list[int]]) -> None:
        """Move each buffer whose colour is not the first beyond those that it overlaps."""
        colours: dict[int, int] = {}
        for number in range(len(self._buffers)):
            taken = {colours.get(other) for other in overlaps.get(number, ())}
            colours[number] = next(c for c in range(len(self._buffers)) if c not in taken)
        for number, buffer in enumerate(self._buffers):
            if colours[number]:
                ends = [self._end(number, other) for other in overlaps[number]]
                self._offsets[number] = _aligned(max(ends), buffer.alignment)

    def _end(self, number: int, other: int) -> int:
        """Return the first offset at which a buffer overlaps no other."""
        if self._partition_bytes and self._are_pieces[number, other]:
            return (self._offsets[other] // self._partition_bytes + 1) * self._partition_bytes
        return self._offsets[other] + self._buffers[other].size


def _meeting(begins: npt.NDArray[Any], ends: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return the matrix of the pairs of intervals that intersect."""
    pairs: npt.NDArray[np.bool_] = (begins[:, None] < ends) & (begins < ends[:, None])
    return pairs
