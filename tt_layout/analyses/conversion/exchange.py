"""Traffic of an operation between the threads of a CTA: scans, gathers and histograms.

In a scan a thread scans the adjacent elements that it holds, a *chunk*; the lanes of a warp then
scan the last ones of their chunks by shuffles. Where several warps hold parts of the axis, each
stores what its last lane has of every chunk, and all read what all have stored.

In a gather whose columns along the axis are in one warp each, in the same lanes of tensor and
indices, lanes shuffle: every register that may be meant, for every index. Else the tensor is stored
to shared memory and each thread loads what its indices name.

Source:
    Triton 3.9, lib/Conversion/TritonGPUToLLVM/ScanOpToLLVM.cpp and ScanLoweringHelper in
    lib/Analysis/Utility.cpp; nine scans as the wheels 3.4, 3.6, 3.7, 3.8 and 3.9 compile them for
    sm90.
    Triton 3.9, lib/Conversion/TritonGPUToLLVM/GatherOpToLLVM.cpp, HistogramOpToLLVM.cpp (of AMD in
    third_party/amd/lib/TritonAMDGPUToLLVM), and GatherLoweringHelper in lib/Analysis/Utility.cpp.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod

from tt_layout.algebra.linear_layout import LinearLayout, log2, next_power_of_two
from tt_layout.analyses.conversion.compiled_conversion import Transfer
from tt_layout.analyses.conversion.conversion import memory_bytes, with_inputs
from tt_layout.analyses.conversion.shuffles import Shuffles
from tt_layout.analyses.layouts.properties import contiguity_per_thread, per_dimension
from tt_layout.analyses.shared_memory.access import BASE_ALIGNMENT, AccessMap, vector_instruction
from tt_layout.analyses.shared_memory.banks import cost
from tt_layout.analyses.shared_memory.joined_accesses import join_neighbours, pair_up
from tt_layout.hardware import Target
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

COUNT_BYTES = 4  # of a number in a histogram

_THREADS = ("lane", "warp", "block")


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Traffic of an operation between the threads of a CTA.

    Attributes:
        shuffles: instructions per warp that move 32 bits between lanes.
        bpermutes: the number of them that are AMD's ``ds_bpermute_b32``.
        reductions: instructions per warp that combine a value of every lane.
        stores, loads: accesses to shared memory.
        scratch_bytes: its scratch buffer in shared memory, per CTA.
    """

    shuffles: int = 0
    bpermutes: int = 0
    reductions: int = 0
    stores: tuple[Transfer, ...] = ()
    loads: tuple[Transfer, ...] = ()
    scratch_bytes: int = 0

    @property
    def wavefronts(self) -> int | None:
        """The wavefronts of all accesses, per CTA; None if any is unknown."""
        counts = [step.wavefronts for step in (*self.stores, *self.loads)]
        counted = [count for count in counts if count is not None]
        return sum(counted) if len(counted) == len(counts) else None


def scalar_step(
    lanes: tuple[int, ...],
    element_bytes: int,
    count: int,
    warps: int,
    target: Target,
    *,
    is_store: bool,
) -> Transfer:
    """Return accesses to shared memory that move one element per lane.

    Args:
        lanes: offsets of single bits of the lane, in elements.
        element_bytes: bytes of an element.
        count: accesses of each warp.
        warps: warps that make them.
        target: the GPU.
        is_store: whether they are stores.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> scalar_step((32, 64), 4, 2, 4, find_target("sm90"), is_store=False)
        Transfer(instruction='ld.shared.b32', instructions=2, wavefronts=32, extra_wavefronts=24)
    """
    places = AccessMap((), lanes, (), element_bytes)
    instruction = vector_instruction(places, target, is_store=is_store)
    access = cost(places, target, is_store=is_store, instruction=instruction)
    executions = count * warps
    return Transfer(
        instruction=access.name,
        instructions=count,
        wavefronts=int(executions * access.wavefronts_per_instruction),
        extra_wavefronts=int(executions * access.extra_wavefronts_per_instruction),
    )


def paired_steps(
    lanes: tuple[int, ...],
    element_bytes: int,
    distances: Sequence[int],
    warps: int,
    target: Target,
    *,
    is_store: bool,
) -> Iterator[Transfer]:
    """Yield the accesses of a lane at several distances from its base, as AMD joins them.

    Accesses of three words are assumed to take as long as those of four.

    Args:
        lanes: offsets of single bits of the lane, in elements.
        element_bytes: bytes of an element.
        distances: in bytes, in ascending order.
        warps: warps that make them.
        target: the GPU.
        is_store: whether they are stores.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> steps = paired_steps((1, 2), 8, [0, 64, 128], 4, find_target("gfx950"), is_store=True)
        >>> [(step.instructions, step.instruction) for step in steps]
        [(1, 'ds_write2_b64'), (1, 'ds_write_b64')]
    """
    alignment = element_bytes if is_store or any(lanes) else BASE_ALIGNMENT
    pieces = join_neighbours(distances, element_bytes, alignment, pairs=True)
    for (width, form), count in pair_up(pieces, pairs=True).items():
        accesses = count * (2 if form else 1)
        step = scalar_step(
            lanes, next_power_of_two(width - 1), accesses, warps, target, is_store=is_store
        )
        name = target.instruction_name(width, is_store, form=form)
        yield replace(step, instruction=name, instructions=count)


def dense_step(
    layout: LinearLayout,
    element_bytes: int,
    target: Target,
    order: Sequence[int] | None = None,
    *,
    is_store: bool,
) -> Transfer:
    """Return an access to a tensor stored in shared memory without swizzle or padding.

    Args:
        layout: register layout of the tensor.
        element_bytes: bytes of an element.
        target: the GPU.
        order: the dimensions, the contiguous one first; by default the first.
        is_store: whether it is a store.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> row = LinearLayout.from_bases([("register", [[1], [2]]), ("lane", [[4]])], ["dim0"])
        >>> dense_step(row, 4, find_target("sm90"), is_store=True).instruction
        'st.shared.v4.b32'
    """
    dense = layout.remove_zero_bases("register")
    names = dense.get_out_dim_names()
    if order is not None:
        dense = dense.transpose_outs([names[dim] for dim in order])
    register, lane, warp = (
        tuple(dense.flatten(vector) for vector in dense.vectors(name))
        for name in ("register", "lane", "warp")
    )
    places = AccessMap(register, lane, warp, element_bytes)
    instruction = vector_instruction(places, target, is_store=is_store)
    access = cost(places, target, is_store=is_store, instruction=instruction)
    executions = instruction.count << len(places.warp)
    return Transfer(
        instruction=access.name,
        instructions=instruction.count,
        wavefronts=int(executions * access.wavefronts_per_instruction),
        extra_wavefronts=int(executions * access.extra_wavefronts_per_instruction),
    )


def through_memory(
    layout: LinearLayout, element_bytes: int, order: Sequence[int], target: Target
) -> Exchange:
    """Broadcast values through shared memory to all threads that hold the same elements.

    One of them stores each element, and all load theirs.  AMD's assembler does not pair stores of
    only some threads.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> twice = LinearLayout.from_bases([("lane", [[1], [2]]), ("warp", [[0]])], ["dim0"])
        >>> found = through_memory(twice, 4, [0], find_target("sm90"))
        >>> found.stores[0].instruction, found.scratch_bytes
        ('st.shared.b32', 16)
    """
    blocks = sum(1 for vector in layout.vectors("block") if any(vector))
    alone = replace(target, pairs_accesses=False)
    return Exchange(
        stores=(dense_step(layout, element_bytes, alone, order, is_store=True),),
        loads=(dense_step(layout, element_bytes, target, order, is_store=False),),
        scratch_bytes=element_bytes << layout.total_out_bits - blocks,
    )


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
        turns_by_bits: whether a warp's elements are reversed by a shuffle for each bit of the lane,
            as until Triton 3.8, not by one for all.

        Returns:
            The traffic; None where a basis of the layout moves along several dimensions.

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
        """Number of warps that store: one of each group that holds the same elements."""
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

        A chunk of one element needs none within it, a single lane none between lanes, and the last
        block of chunks no carry.  A scan that begins at the last element exchanges all elements
        over each distance in ``turns`` before and after it.  The carry is read from the last lane.
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

        The last warp's value of the last chunk is not needed.  Where all threads read the same,
        NVIDIA's assembler joins the loads of a chunk.
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


@lru_cache(maxsize=1024)
def gather(
    src: LinearLayout, indices: LinearLayout, axis: int, element_bits: int, target: Target
) -> Exchange:
    """Return the traffic of a gather between threads.

    Args:
        src, indices: the layouts of the tensor and of the indices, which is the result's.
        axis: the dimension of the indices.
        element_bits: width of an element of the tensor.
        target: the GPU.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> lanes = [[1], [2], [4], [8], [16]]
        >>> column = LinearLayout.from_bases([("register", [[32]]), ("lane", lanes)], ["dim0"])
        >>> gather(column, column, 0, 32, find_target("sm90")).shuffles
        4
    """
    old, new = with_inputs(src), with_inputs(indices)
    read = new.get_in_dim_size("register")
    if is_warp_local(src, indices, axis):
        if not any(vector[axis] for vector in old.vectors("lane")):
            return Exchange()  # each thread has all that its indices may name
        held = sum(1 for vector in old.vectors("register") if vector[axis])
        shuffles = (read << held) * -(-element_bits // target.shuffle_bits)
        return Exchange(shuffles=shuffles, bpermutes=shuffles if target.far_lanes else 0)
    size = memory_bytes(element_bits)
    blocks = sum(1 for vector in old.vectors("block") if any(vector))
    return Exchange(
        stores=(dense_step(old, size, target, is_store=True),),
        loads=(_unknown_load(read, size, target),),
        scratch_bytes=size << old.total_out_bits - blocks,
    )


def is_warp_local(src: LinearLayout, indices: LinearLayout, axis: int) -> bool:
    """Return whether the lanes of a warp hold every element that their indices may select."""
    old, new = with_inputs(src), with_inputs(indices)
    for name in _THREADS:
        for a, b in zip(old.vectors(name), new.vectors(name)):
            along, beside = (a[axis], b[axis]), (_beside(a, axis), _beside(b, axis))
            if beside[0] != beside[1] or (name != "lane" and any(along)):
                return False
    return True


def _beside(vector: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*vector[:axis], *vector[axis + 1 :])


def _unknown_load(count: int, size: int, target: Target) -> Transfer:
    """Return loads of elements at data-dependent offsets."""
    name = target.instruction_name(size, is_store=False)
    return Transfer(instruction=name, instructions=count, wavefronts=None, extra_wavefronts=None)


@lru_cache(maxsize=1024)
def histogram(src: LinearLayout, result: LinearLayout, bins: int, target: Target) -> Exchange:
    """Return the traffic of a histogram: an addition in memory per element.

    Args:
        src, result: the layouts of the tensor and of the counts.
        bins: number of counts, of 32 bits each.
        target: the GPU.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> lanes = [[1], [2], [4], [8], [16]]
        >>> column = LinearLayout.from_bases([("register", [[32]]), ("lane", lanes)], ["dim0"])
        >>> found = histogram(column, column, 64, find_target("sm90"))
        >>> [step.instruction for step in (*found.stores, *found.loads)], found.scratch_bytes
        (['st.shared.b32', 'atom.shared.add.u32', 'ld.shared.b32'], 256)
    """
    old, new = with_inputs(src), with_inputs(result)
    counts = max(bins, target.lanes)
    added = Transfer(
        instruction=target.shared_addition,
        instructions=counts // target.lanes
        if target.counts_by_ballots
        else old.get_in_dim_size("register"),
        wavefronts=None,
        extra_wavefronts=None,
    )
    threads = _dealt_out(counts, target.lanes, old.get_in_dim_size("warp"))
    return Exchange(
        stores=(dense_step(threads, COUNT_BYTES, target, is_store=True), added),
        loads=(dense_step(new, COUNT_BYTES, target, is_store=False),),
        scratch_bytes=COUNT_BYTES * counts,
    )


def _dealt_out(count: int, lanes: int, warps: int) -> LinearLayout:
    """Return the layout in which threads hold consecutive elements."""
    vectors = [[1 << bit] for bit in range(log2(count))]
    ends = log2(lanes), log2(lanes) + log2(warps)
    idle = [[0]] * max(0, ends[1] - len(vectors))
    bases = {
        "register": vectors[ends[1] :],
        "lane": vectors[: ends[0]],
        "warp": vectors[ends[0] : ends[1]] + idle,
    }
    return LinearLayout.from_bases(bases, ["dim0"])
