"""Traffic of gathers along an axis, and of histograms.

Where each column along the axis is in one warp, in the same lanes of tensor and indices, lanes
shuffle: every register that may be meant, for every index.  Else the tensor is stored to shared
memory and each thread loads what its indices name.

Source:
    Triton 3.9, lib/Conversion/TritonGPUToLLVM/GatherOpToLLVM.cpp, HistogramOpToLLVM.cpp (of AMD in
    third_party/amd/lib/TritonAMDGPUToLLVM), and GatherLoweringHelper in lib/Analysis/Utility.cpp.
"""

from __future__ import annotations

from functools import lru_cache

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.analyses.conversion.compiled_conversion import Transfer
from tt_layout.analyses.conversion.conversion import memory_bytes, with_inputs
from tt_layout.analyses.conversion.exchange import Exchange, dense_step
from tt_layout.hardware import Target

COUNT_BYTES = 4  # of a number in a histogram

_THREADS = ("lane", "warp", "block")


@lru_cache(maxsize=1024)
def gather(
    src: LinearLayout, indices: LinearLayout, axis: int, element_bits: int, target: Target
) -> Exchange:
    """Return the traffic of a gather between threads.

    Args:
        src, indices: the layouts of the tensor and of the indices, which is the result's.
        axis: the dimension that the indices are along.
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
        bins: how many counts there are, of 32 bits each.
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
