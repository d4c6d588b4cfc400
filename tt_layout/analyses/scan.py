"""What a scan of a tensor along one axis moves between threads.

A thread scans the adjacent elements that it holds, a *chunk*; the lanes of a warp then scan the
last ones of their chunks by shuffles.  Where several warps hold parts of the axis, each stores
what its last lane has of every chunk, and all read what all have stored.

Source:
    Triton 3.9, lib/Conversion/TritonGPUToLLVM/ScanOpToLLVM.cpp and ScanLoweringHelper in
    lib/Analysis/Utility.cpp.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from tt_layout.algebra.linear_layout import LinearLayout, log2, next_power_of_two
from tt_layout.analyses.compiled_conversion import Step
from tt_layout.analyses.conversion import memory_bytes, with_inputs
from tt_layout.analyses.exchange import Exchange, paired_steps, scalar_step
from tt_layout.analyses.properties import contiguity_per_thread, per_dimension
from tt_layout.analyses.shuffles import Shuffles
from tt_layout.hardware import Target


class _Shares(NamedTuple):
    """How many elements of each dimension a thread, a warp's lanes and the warps hold at once."""

    thread: Sequence[int]
    lanes: Sequence[int]
    warps: Sequence[int]

    def repeats(self, shape: Sequence[int]) -> list[int]:
        """Return how often all of it is repeated along each dimension."""
        return [-(-size // prod(own)) for size, *own in zip(shape, *self)]


@lru_cache(maxsize=1024)
def scan(
    src: LinearLayout,
    axis: int,
    element_bits: tuple[int, ...],
    target: Target,
    order: tuple[int, ...],
    *,
    is_reversed: bool = False,
) -> Exchange | None:
    """Return what scanning tensors along an axis moves between threads.

    Args:
        src: the layout of the tensors, a blocked one.
        axis: the dimension that is scanned.
        element_bits: width of an element of each tensor.
        target: the GPU.
        order: the order of the blocked layout.
        is_reversed: whether it begins at the last element.

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
    layout = with_inputs(src).remove_zero_bases("register")
    shares = _shares(layout)
    if shares is None:
        return None
    words = sum(-(-bits // target.shuffle_bits) for bits in element_bits)
    shuffles, bpermutes = _shuffles(layout, shares, axis, words, target, is_reversed=is_reversed)
    if shares.warps[axis] == 1:
        return Exchange(shuffles=shuffles, bpermutes=bpermutes)
    sizes = [memory_bytes(bits) for bits in element_bits]
    places = _places(layout, shares, axis, order)
    stores = [step for s in sizes for step in _stores(layout, shares, axis, places, s, target)]
    loads = [step for s in sizes for step in _loads(layout, shares, axis, places, s, target)]
    return Exchange(
        shuffles=shuffles,
        bpermutes=bpermutes,
        stores=tuple(stores),
        loads=tuple(loads),
        scratch_bytes=sum(sizes) * _scratch_elements(layout, shares, axis),
    )


def _chunks(layout: LinearLayout, shares: _Shares, axis: int) -> int:
    return layout.get_in_dim_size("register") // shares.thread[axis]


def _blocks(layout: LinearLayout, shares: _Shares, axis: int) -> int:
    """Return how many chunks a thread has along the axis."""
    return shares.repeats([size for _, size in layout.out_sizes])[axis]


def _shuffles(
    layout: LinearLayout,
    shares: _Shares,
    axis: int,
    words: int,
    target: Target,
    *,
    is_reversed: bool,
) -> Shuffles:
    """Return the shuffles of a warp, of which the assembler of AMD leaves out what nobody needs.

    A chunk of one element, and a single lane, passes nothing on; the last block of chunks carries
    nothing.  What is carried from the last lane of a warp to all others is read from there.
    """
    registers, lanes = layout.get_in_dim_size("register"), shares.lanes[axis]
    chunks, blocks = _chunks(layout, shares, axis), _blocks(layout, shares, axis)
    is_amd = target.far_lanes > 0
    moves, carried = chunks * log2(lanes), 0
    if shares.warps[axis] > 1 or registers > 1 < lanes:
        moves += chunks * (not is_amd or shares.thread[axis] > 1 < lanes)
    if shares.warps[axis] == 1 and lanes > 1 < blocks:
        carried = chunks - (chunks // blocks if is_amd else 0)
    turned = 2 * registers * is_reversed
    far = moves + carried * (lanes < target.lanes) + turned * target.is_far(target.lanes - 1)
    return Shuffles(words * (moves + carried + turned), words * far if is_amd else 0)


def _beside(layout: LinearLayout, shares: _Shares, axis: int) -> int:
    """Return how many threads beside each other along the other dimensions store a number each."""
    return prod(shares.warps) * prod(shares.lanes) // shares.warps[axis] // shares.lanes[axis]


def _stores(
    layout: LinearLayout,
    shares: _Shares,
    axis: int,
    places: tuple[int, ...],
    size: int,
    target: Target,
) -> Iterator[Step]:
    """Yield the stores of one tensor: a number for each chunk."""
    chunks, warps = _chunks(layout, shares, axis), layout.get_in_dim_size("warp")
    if not target.pairs_accesses:
        yield scalar_step(places, size, chunks, warps, target, is_store=True)
        return
    stride = _beside(layout, shares, axis) * shares.warps[axis] * size
    distances = range(0, chunks * stride, stride)
    yield from paired_steps(places, size, distances, warps, target, is_store=True)


def _loads(
    layout: LinearLayout,
    shares: _Shares,
    axis: int,
    places: tuple[int, ...],
    size: int,
    target: Target,
) -> Iterator[Step]:
    """Yield the loads of what the warps have stored of one tensor.

    What the last warp has stored of the last chunk, nobody needs.  Where all threads read the
    same, the assembler of NVIDIA joins the loads of a chunk.
    """
    chunks, along = _chunks(layout, shares, axis), shares.warps[axis]
    last, warps = chunks // _blocks(layout, shares, axis), layout.get_in_dim_size("warp")
    beside, needed = _beside(layout, shares, axis), chunks * along - last
    if target.pairs_accesses:
        distances = range(0, needed * beside * size, beside * size)
        yield from paired_steps(places, size, distances, warps, target, is_store=False)
        return
    if beside > 1:
        yield scalar_step(places, size, needed, warps, target, is_store=False)
        return
    most = target.max_vector_bytes // size
    widths: Counter[int] = Counter()
    for count, elements in ((chunks - last, along), (last, along - 1)):
        for width in _joined(elements, most):
            widths[width] += count
    for width, count in sorted(widths.items(), reverse=True):
        name = target.instruction_name(width * size, is_store=False)
        if count:
            yield Step(
                instruction=name,
                instructions=count,
                wavefronts=count * warps,
                extra_wavefronts=0,
            )


def _joined(elements: int, most: int) -> Iterator[int]:
    """Yield the widths of the loads that load adjacent elements; three are loaded as four."""
    while elements > 0:
        taken = min(elements, most)
        yield next_power_of_two(taken - 1) if taken > 1 else 1
        elements -= taken


def _shares(layout: LinearLayout) -> _Shares | None:
    lanes, warps = (per_dimension(layout.vectors(name), layout) for name in ("lane", "warp"))
    if lanes is None or warps is None:
        return None
    return _Shares(contiguity_per_thread(layout), lanes, warps)


def _scratch_elements(layout: LinearLayout, shares: _Shares, axis: int) -> int:
    repeats = shares.repeats([size for _, size in layout.out_sizes])
    beside = [lanes * thread for lanes, thread in zip(shares.lanes, shares.thread)]
    del beside[axis]
    return prod(shares.warps) * prod(beside) * prod(repeats)


def _places(
    layout: LinearLayout, shares: _Shares, axis: int, order: Sequence[int]
) -> tuple[int, ...]:
    """Return where the partial results of single bits of the lane are, in elements."""
    strides, stride = [0] * len(order), 1
    for dim in order:
        if dim != axis:
            strides[dim] = stride
            stride *= shares.lanes[dim]
    offsets = []
    for vector in layout.vectors("lane"):
        moved = [d for d, step in enumerate(vector) if step]
        offset = 0
        if moved and moved[0] != axis:
            offset = strides[moved[0]]
            strides[moved[0]] *= 2
        offsets.append(offset)
    return tuple(offsets)
