"""Traffic of a reduction along one axis between threads.

Each thread first combines the elements that it holds, then lanes exchange theirs, a bit of the
lane at a time.  Where warps or CTAs hold parts of the axis, too, the partial results are
converted so that lanes hold these parts, and exchanged once more; then they are converted to the
layout of the result, if they are not there yet.

Source:
    Triton 3.9, lib/Conversion/TritonGPUToLLVM/ReduceOpToLLVM.cpp and ReduceOpHelper in
    lib/Analysis/Utility.cpp.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import lru_cache
from math import prod

from tt_layout.algebra.linear_layout import Basis, LinearLayout, log2
from tt_layout.analyses.conversion.compiled_conversion import Transfer, compiled_conversion
from tt_layout.analyses.conversion.conversion import with_inputs
from tt_layout.analyses.conversion.exchange import Exchange, scalar_step
from tt_layout.analyses.conversion.optimal_swizzling import Swizzler
from tt_layout.analyses.conversion.shuffles import Shuffles
from tt_layout.hardware import Target

MAX_ROUNDS = 2
"""Conversions before everything along the axis is in one lane."""


class Combining(Enum):
    """Means by which the lanes of a warp combine one value each."""

    SHUFFLES = "a shuffle for each bit of the lane"
    WHOLE_WARP = "the same, by instructions on registers only where all lanes combine theirs"
    INSTRUCTION = "one instruction for each group of lanes, where it replaces enough shuffles"
    QUICK_INSTRUCTION = "the same, where it replaces one shuffle less"
    TWO_OF_WHOLE_WARP = "one instruction for each half of 64 bits, where all lanes combine theirs"
    THREE_OF_WHOLE_WARP = "the same of sums, whose lower halves are added in two parts"


_OF_WHOLE_WARP = {Combining.TWO_OF_WHOLE_WARP: 2, Combining.THREE_OF_WHOLE_WARP: 3}
"""How -> the instructions of a value."""


@lru_cache(maxsize=1024)
def reduction(
    src: LinearLayout,
    axis: int,
    element_bits: tuple[int, ...],
    target: Target,
    result: LinearLayout | None = None,
    combining: Combining = Combining.SHUFFLES,
    *,
    by_threads: bool = False,
) -> Exchange:
    """Return the traffic of a reduction of tensors along an axis.

    Args:
        src: the layout of the tensors.
        axis: the reduced dimension.
        element_bits: width of an element of each tensor.
        target: the GPU.
        result: the layout of the results; None if they are scalars.
        combining: how lanes combine their values.
        by_threads: whether partial results are stored for one thread each, as until Triton 3.7.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> lanes = [[1], [2], [4], [8], [16]]
        >>> src = LinearLayout.from_bases([("lane", lanes), ("warp", [[32]])], ["dim0"])
        >>> found = reduction(src, 0, (32,), find_target("sm90"))
        >>> found.shuffles, found.scratch_bytes, found.loads[0].instruction
        (6, 8, 'ld.shared.b32')
    """
    how = _by_threads if by_threads else _by_conversions
    return how(src, axis, element_bits, target, result, combining)


def _by_conversions(
    src: LinearLayout,
    axis: int,
    element_bits: tuple[int, ...],
    target: Target,
    result: LinearLayout | None,
    combining: Combining,
) -> Exchange:
    """Return the traffic of a reduction since Triton 3.8."""
    held = _without(with_inputs(src).remove_zero_bases("register"), axis, "register")
    words = sum(-(-bits // target.shuffle_bits) for bits in element_bits)
    shuffles = bpermutes = instructions = scratch = 0
    conversions: list[tuple[LinearLayout, LinearLayout]] = []
    while True:
        if combined := lane_instructions(held, axis, combining, target):
            instructions += held.get_in_dim_size("register") * combined
        else:
            shuffled = _shuffles(held, axis, words, combining, target)
            shuffles, bpermutes = shuffles + shuffled.shuffles, bpermutes + shuffled.bpermutes
        held = _without(held, axis, "lane")
        if held.out_sizes[axis][1] == 1 or len(conversions) == MAX_ROUNDS:
            break
        brought = gathered(held, axis)
        conversions.append((held, brought))
        needed = 0
        for bits in (max(8, bits) for bits in element_bits):
            buffer = Swizzler.of(held, brought, bits, target).plain()
            needed += (bits // 8) << len(buffer.offset)
        scratch = max(scratch, needed)
        held = brought
    if result is not None:
        left = _without_dimension(held, axis)
        wanted = with_inputs(result)
        if left.in_bases != wanted.in_bases:
            conversions.append((left, LinearLayout(wanted.in_bases, left.out_sizes)))
    steps = [compiled_conversion(*pair, b, target) for pair in conversions for b in element_bits]
    return Exchange(
        shuffles=shuffles + sum(step.shuffles for step in steps),
        bpermutes=bpermutes + sum(step.bpermutes for step in steps),
        reductions=instructions,
        stores=tuple(step.store for step in steps if step.store is not None),
        loads=tuple(step.load for step in steps if step.load is not None),
        scratch_bytes=scratch,
    )


def _by_threads(
    src: LinearLayout,
    axis: int,
    element_bits: tuple[int, ...],
    target: Target,
    result: LinearLayout | None,
    combining: Combining,
) -> Exchange:
    """Return the traffic of a reduction until Triton 3.7.

    Each warp stores its partial results, the axis first.  Each thread then takes one of them,
    neighbouring lanes exchange theirs, and the first of them stores the total, which all threads
    load.

    Source:
        Triton 3.6, lib/Conversion/TritonGPUToLLVM/ReduceOpToLLVM.cpp; the assembly of the wheels
        3.4, 3.6 and 3.7; counters of an H100 and an H200.
    """
    held = _without(with_inputs(src).remove_zero_bases("register"), axis, "register")
    words = sum(-(-bits // target.shuffle_bits) for bits in element_bits)
    registers, reductions, shuffled = held.get_in_dim_size("register"), 0, Shuffles(0, 0)
    if instructions := lane_instructions(held, axis, combining, target):
        reductions = registers * instructions
    else:
        shuffled = _shuffles(held, axis, words, combining, target)
    left = _without(held, axis, "lane")
    parts = 1 << sum(1 for vector in left.vectors("warp") if vector[axis])
    if parts == 1:
        return Exchange(
            shuffles=shuffled.shuffles, bpermutes=shuffled.bpermutes, reductions=reductions
        )
    warps = left.get_in_dim_size("warp")
    elements = parts * prod(size for d, (_, size) in enumerate(src.out_sizes) if d != axis)
    rounds = max(1, elements // (warps * target.lanes))
    sizes = [max(8, bits) // 8 for bits in element_bits]
    partial = [_threads(elements, rounds, warps, size, target) for size in sizes]
    stored = [_stored(left, axis, parts, size, target, is_store=True) for size in sizes]
    wanted = None if result is None else _with_dimension(with_inputs(result), axis)
    loaded = [_stored(wanted or left, axis, parts, size, target, is_store=False) for size in sizes]
    if wanted is None:
        same = (0,) * log2(target.lanes)
        loaded = [scalar_step(same, size, 1, warps, target, is_store=False) for size in sizes]
    return Exchange(
        shuffles=shuffled.shuffles + rounds * words * log2(parts),
        bpermutes=shuffled.bpermutes,
        reductions=reductions,
        stores=(*stored, *(store for store, _ in partial)),
        loads=(*(load for _, load in partial), *loaded),
        scratch_bytes=elements * sum(sizes),
    )


def _threads(
    elements: int, rounds: int, warps: int, size: int, target: Target
) -> tuple[Transfer, Transfer]:
    """Return the store and the load of one partial result per thread."""
    lanes = min(elements, target.lanes)
    passes = max(1, lanes * size // (target.banks * target.bank_bytes))
    busy = min(warps, -(-elements // target.lanes))
    load, store = (
        scalar_step((), size, rounds, warps, target, is_store=is_store)
        for is_store in (False, True)
    )
    wavefronts = rounds * busy * passes
    return (
        replace(store, wavefronts=wavefronts, extra_wavefronts=0),
        replace(load, wavefronts=wavefronts, extra_wavefronts=0),
    )


def _stored(
    layout: LinearLayout, axis: int, parts: int, size: int, target: Target, *, is_store: bool
) -> Transfer:
    """Return the accesses to partial results by the threads that hold, or need, them.

    The axis, with ``parts`` left, is contiguous, followed by the dimensions in order.
    """
    sizes = [extent for _, extent in layout.out_sizes]
    strides = [0] * len(sizes)
    step = parts
    for dim in reversed([d for d in range(len(sizes)) if d != axis]):
        strides[dim], step = step, step * sizes[dim]
    lanes = tuple(
        sum(c * stride for c, stride in zip(vector, strides)) for vector in layout.vectors("lane")
    )
    count = layout.remove_zero_bases("register").get_in_dim_size("register")
    warps = layout.get_in_dim_size("warp")
    access = scalar_step(lanes, size, count, warps, target, is_store=is_store)
    if is_store and not any(lanes):  # one lane of each warp stores
        return replace(access, wavefronts=count * warps, extra_wavefronts=0)
    return access


def _with_dimension(layout: LinearLayout, axis: int) -> LinearLayout:
    """Insert a dimension of size 1."""
    vectors = {n: [(*v[:axis], 0, *v[axis:]) for v in vs] for n, vs in layout.in_bases}
    sizes = [size for _, size in layout.out_sizes]
    sizes.insert(axis, 1)
    outs = tuple((f"dim{d}", size) for d, size in enumerate(sizes))
    return LinearLayout(tuple((n, tuple(vs)) for n, vs in vectors.items()), outs)


def _shuffles(
    layout: LinearLayout, axis: int, words: int, combining: Combining, target: Target
) -> Shuffles:
    """Return the shuffles by which the lanes of a warp combine their values."""
    moving = _moving_lanes(layout, axis)
    is_whole = combining is Combining.WHOLE_WARP and 1 << len(moving) == target.lanes
    far = 0 if is_whole else sum(target.is_far(1 << lane) for lane in moving)
    values = layout.get_in_dim_size("register") * words
    return Shuffles(values * len(moving), values * far)


def _moving_lanes(layout: LinearLayout, axis: int) -> list[int]:
    """Return the lane bits that move along an axis."""
    return [bit for bit, vector in enumerate(layout.vectors("lane")) if vector[axis]]


def lane_instructions(layout: LinearLayout, axis: int, combining: Combining, target: Target) -> int:
    """Count the instructions by which lanes combine one value each; 0 if they shuffle."""
    moving = len(_moving_lanes(layout, axis))
    # groups of lanes reduce different elements side by side
    groups = 1 << sum(1 for vector in layout.vectors("lane") if any(vector) and not vector[axis])
    if combining in _OF_WHOLE_WARP:
        return _OF_WHOLE_WARP[combining] if 1 << moving == target.lanes else 0
    is_quick = combining is Combining.QUICK_INSTRUCTION
    is_there = is_quick or combining is Combining.INSTRUCTION
    return groups if is_there and moving >= 2 * groups - is_quick else 0


def _without(layout: LinearLayout, axis: int, dim: str) -> LinearLayout:
    """Return a layout after one input is reduced along the axis.

    Other bits along it are in the order of the inputs.
    """
    vectors = {name: list(columns) for name, columns in layout.in_bases}
    vectors[dim] = [_with(vector, axis, 0) for vector in vectors[dim]]
    step = 1
    for columns in vectors.values():
        for index, vector in enumerate(columns):
            if vector[axis]:
                columns[index] = _with(vector, axis, step)
                step *= 2
    if dim == "register":
        vectors[dim] = [vector for vector in vectors[dim] if any(vector)]
    names = layout.get_out_dim_names()
    return LinearLayout.from_bases(vectors, names, require_surjective=False)


def _with(vector: Basis, axis: int, value: int) -> Basis:
    return (*vector[:axis], value, *vector[axis + 1 :])


def gathered(layout: LinearLayout, axis: int) -> LinearLayout:
    """Return the layout whose lanes hold the parts of the axis that warps and CTAs held.

    Lanes that repeat elements are used for it if there are enough, otherwise the first lanes.
    """
    vectors = {name: list(vs) for name, vs in layout.in_bases}
    moving = [
        (name, bit)
        for name in ("warp", "block")
        for bit, vector in enumerate(vectors[name])
        if vector[axis]
    ]
    lanes = vectors["lane"]
    free = [bit for bit, vector in enumerate(lanes) if not any(vector)]
    places = list(range(len(lanes)))
    if len(free) >= len(moving):
        places = free
    elif len(moving) > len(lanes):
        moving = [place for place in moving if place[0] == "warp"]
    for (name, bit), lane in zip(moving, places):
        lanes[lane], vectors[name][bit] = vectors[name][bit], lanes[lane]
    return LinearLayout(tuple((n, tuple(vs)) for n, vs in vectors.items()), layout.out_sizes)


def _without_dimension(layout: LinearLayout, axis: int) -> LinearLayout:
    """Remove a dimension of size 1."""
    kept = [name for d, name in enumerate(layout.get_out_dim_names()) if d != axis]
    sub = layout.sublayout(layout.get_in_dim_names(), kept)
    renamed = tuple((f"dim{d}", size) for d, (_, size) in enumerate(sub.out_sizes))
    return LinearLayout(sub.in_bases, renamed)
