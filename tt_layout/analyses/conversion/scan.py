"""Traffic of a scan along one axis between threads.

A thread scans the adjacent elements that it holds, a *chunk*; the lanes of a warp then scan the
last ones of their chunks by shuffles.  Where several warps hold parts of the axis, each stores
what its last lane has of every chunk, and all read what all have stored.

Source:
    Triton 3.9, lib/Conversion/TritonGPUToLLVM/ScanOpToLLVM.cpp and ScanLoweringHelper in
    lib/Analysis/Utility.cpp; nine scans as the wheels 3.4, 3.6, 3.7, 3.8 and 3.9 compile them for
    sm90.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import NamedTuple

from tt_layout.algebra.linear_layout import LinearLayout, log2, next_power_of_two
from tt_layout.analyses.conversion.compiled_conversion import Transfer
from tt_layout.analyses.conversion.conversion import memory_bytes, with_inputs
from tt_layout.analyses.conversion.exchange import Exchange, paired_steps, scalar_step
from tt_layout.analyses.conversion.shuffles import Shuffles
from tt_layout.analyses.layouts.properties import contiguity_per_thread, per_dimension
from tt_layout.hardware import Target


class _Shares(NamedTuple):
    """Elements of each dimension that a thread, the lanes of a warp, and the warps hold at once."""

    thread: Sequence[int]
    lanes: Sequence[int]
    warps: Sequence[int]


@lru_cache(maxsize=1024)
def scan(
    src: LinearLayout,
    axis: int,
    element_bits: tuple[int, ...],
    target: Target,
    order: tuple[int, ...],
    *,
    is_reversed: bool = False,
    turns_by_bits: bool = False,
) -> Exchange | None:
    """Return the traffic of a scan of tensors along an axis.

    Args:
        src: the layout of the tensors, a blocked one.
        axis: the dimension that is scanned.
        element_bits: width of an element of each tensor.
        target: the GPU.
        order: the order of the blocked layout.
        is_reversed: whether it begins at the last element.
        turns_by_bits: whether a shuffle for each bit of the lane turns a warp's elements round, as
            until Triton 3.8, not one for all.

    Returns:
        None where a basis of the layout moves along several dimensions.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> lanes = [[1], [2], [4], [8], [16]]
        >>> src = LinearLayout.from_bases([("lane", lanes), ("warp", [[32]])], ["dim0"])
        >>> found = scan(src, 0, (32,), find_target("sm90"), (0,))
        >>> found.shuffles, found.scratch_bytes, found.stores[0].instructions
        (6, 8, 1)
    """
    scanned = _scanned(src, axis)
    if scanned is None:
        return None
    words = sum(-(-bits // target.shuffle_bits) for bits in element_bits)
    turns: tuple[int, ...] = (target.lanes - 1,) if is_reversed else ()
    if turns and turns_by_bits:
        turns = tuple(1 << bit for bit in range(log2(target.lanes)))
    shuffles, bpermutes = scanned.shuffles(words, target, turns)
    if scanned.warps == 1:
        return Exchange(shuffles=shuffles, bpermutes=bpermutes)
    sizes = [memory_bytes(bits) for bits in element_bits]
    places = scanned.places(order)
    return Exchange(
        shuffles=shuffles,
        bpermutes=bpermutes,
        stores=tuple(step for size in sizes for step in scanned.stores(places, size, target)),
        loads=tuple(step for size in sizes for step in scanned.loads(places, size, target)),
        scratch_bytes=sum(sizes) * scanned.scratch_elements,
    )


@dataclass(frozen=True)
class _Scanned:
    """A layout, and the distribution of the scanned axis over its threads."""

    layout: LinearLayout
    shares: _Shares
    axis: int

    @property
    def registers(self) -> int:
        return self.layout.get_in_dim_size("register")

    @property
    def all_warps(self) -> int:
        return self.layout.get_in_dim_size("warp")

    @property
    def storing_warps(self) -> int:
        """Number of warps that store: one of those that hold the same elements."""
        return 1 << sum(1 for vector in self.layout.vectors("warp") if any(vector))

    @property
    def thread(self) -> int:
        """Number of adjacent elements of the axis in a thread: a chunk."""
        return self.shares.thread[self.axis]

    @property
    def lanes(self) -> int:
        """Number of lanes of a warp along the axis."""
        return self.shares.lanes[self.axis]

    @property
    def warps(self) -> int:
        """Number of warps along the axis."""
        return self.shares.warps[self.axis]

    @property
    def chunks(self) -> int:
        return self.registers // self.thread

    @property
    def repeats(self) -> list[int]:
        """Number of repetitions of the tile of all threads along each dimension."""
        return [
            -(-size // prod(shares))
            for (_, size), *shares in zip(self.layout.out_sizes, *self.shares)
        ]

    @property
    def blocks(self) -> int:
        """Number of chunks of a thread along the axis."""
        return self.repeats[self.axis]

    @property
    def beside(self) -> int:
        """Number of threads along the other dimensions that store one value each."""
        return prod(self.shares.warps) * prod(self.shares.lanes) // self.warps // self.lanes

    @property
    def scratch_elements(self) -> int:
        beside = [lanes * thread for lanes, thread in zip(self.shares.lanes, self.shares.thread)]
        del beside[self.axis]
        return prod(self.shares.warps) * prod(beside) * prod(self.repeats)

    def shuffles(self, words: int, target: Target, turns: Sequence[int]) -> Shuffles:
        """Return the shuffles of a warp, without those that AMD's assembler eliminates.

        A chunk of one element, and a single lane, passes nothing on; the last block of chunks
        carries nothing.  Where the scan begins at the last element, all are exchanged over each of
        the distances in ``turns`` before and after it.  What is carried from the last lane of a
        warp to all others is read from there.
        """
        is_amd = target.is_amd
        moves, carried = self.chunks * log2(self.lanes), 0
        if self.warps > 1 or self.registers > 1 < self.lanes:
            moves += self.chunks * (not is_amd or self.thread > 1 < self.lanes)
        if self.warps == 1 and self.lanes > 1 < self.blocks:
            carried = self.chunks - (self.chunks // self.blocks if is_amd else 0)
        turned = 2 * self.registers * sum(_exchanges(distance, target) for distance in turns)
        far = moves + carried * (self.lanes < target.lanes)
        far += 2 * self.registers * sum(target.is_far(distance) for distance in turns)
        return Shuffles(words * (moves + carried + turned), words * far if is_amd else 0)

    def places(self, order: Sequence[int]) -> tuple[int, ...]:
        """Return the offset of the partial result of each lane bit, in elements."""
        strides, stride = [0] * len(order), 1
        for dim in order:
            if dim != self.axis:
                strides[dim] = stride
                stride *= self.shares.lanes[dim]
        offsets = []
        for vector in self.layout.vectors("lane"):
            moved = [d for d, step in enumerate(vector) if step]
            offset = 0
            if moved and moved[0] != self.axis:
                offset = strides[moved[0]]
                strides[moved[0]] *= 2
            offsets.append(offset)
        return tuple(offsets)

    def stores(self, places: tuple[int, ...], size: int, target: Target) -> Iterator[Transfer]:
        """Yield the stores of one tensor: a value per chunk."""
        warps = self.storing_warps
        if not target.pairs_accesses:
            yield scalar_step(places, size, self.chunks, warps, target, is_store=True)
            return
        stride = self.beside * self.warps * size
        distances = range(0, self.chunks * stride, stride)
        yield from paired_steps(places, size, distances, warps, target, is_store=True)

    def loads(self, places: tuple[int, ...], size: int, target: Target) -> Iterator[Transfer]:
        """Yield the loads of the values that the warps stored of one tensor.

        What the last warp has stored of the last chunk, nobody needs.  Where all threads read the
        same, NVIDIA's assembler joins the loads of a chunk.
        """
        last = self.chunks // self.blocks
        needed = self.chunks * self.warps - last
        if target.pairs_accesses:
            distances = range(0, needed * self.beside * size, self.beside * size)
            yield from paired_steps(places, size, distances, self.all_warps, target, is_store=False)
        elif self.beside > 1:
            yield scalar_step(places, size, needed, self.all_warps, target, is_store=False)
        else:
            yield from self._joined_loads(size, last, target)

    def _joined_loads(self, size: int, last: int, target: Target) -> Iterator[Transfer]:
        most, same = target.max_vector_bytes // size, (0,) * log2(target.lanes)
        widths: Counter[int] = Counter()
        for count, elements in ((self.chunks - last, self.warps), (last, self.warps - 1)):
            for width in _joined(elements, most):
                widths[width] += count
        for width, count in sorted(widths.items(), reverse=True):
            if count:
                name = target.instruction_name(width * size, is_store=False)
                step = scalar_step(
                    same, width * size, count, self.all_warps, target, is_store=False
                )
                yield replace(step, instruction=name)


def _scanned(src: LinearLayout, axis: int) -> _Scanned | None:
    layout = with_inputs(src).remove_zero_bases("register")
    lanes, warps = (per_dimension(layout.vectors(name), layout) for name in ("lane", "warp"))
    if lanes is None or warps is None:
        return None
    return _Scanned(layout, _Shares(contiguity_per_thread(layout), lanes, warps), axis)


def _exchanges(distance: int, target: Target) -> int:
    """Return the instructions that exchange values over a distance, one per swapped bit."""
    swapped = [bit for bit in target.swapped_lanes if distance >> bit & 1]
    return len(swapped) + bool(distance & ~sum(1 << bit for bit in swapped))


def _joined(elements: int, most: int) -> Iterator[int]:
    """Yield the widths of the loads of adjacent elements; three are loaded as four."""
    while elements > 0:
        taken = min(elements, most)
        yield next_power_of_two(taken - 1) if taken > 1 else 1
        elements -= taken
