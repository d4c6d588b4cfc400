"""The scratch buffer of a conversion through shared memory, and its size.

The conversion is done in *rounds* through one buffer, one for each value of the registers that
both sides keep.  So, with one CTA's part of the tensor of 2^n elements:

    bytes = 2^n * bytes of an element / rounds

The number of rounds depends on the compiler's layout of the buffer.

Read next:    `tt_layout.analyses.conversion.optimal_swizzling`.

Source:
    Triton, getNumScratchElemsSwizzledCvt; bytes confirmed on lowered conversions of 3.9.
"""

from __future__ import annotations

from functools import lru_cache

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.conversion import classify, without_replication
from tt_layout.analyses.conversion.optimal_swizzling import (
    ConversionBuffer,
    LaneSplit,
    Swizzler,
    matrix_instructions,
)
from tt_layout.analyses.conversion.sub_groups import (
    SubGroupStep,
    sub_group_step,
    transpose_accesses,
    transpose_scratch_bytes,
)
from tt_layout.arguments import checks_arguments
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target
from tt_layout.records import dataclass
from tt_layout.wording import count


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """The buffer of a conversion through shared memory.

    Attributes:
        bytes: its size, per CTA.
        rounds: number of times that it is filled and read.
        store, load: the instructions: ``st.shared`` and the like, or matrix ones.
    """

    bytes: int
    rounds: int
    store: str
    load: str


@checks_arguments
def scratch(
    src: LinearLayout, dst: LinearLayout, element_bits: int, target: Target | str
) -> Scratch | None:
    """Return the scratch buffer of a conversion; None if it needs none.

    Args:
        src, dst: the layouts.
        element_bits: width of an element, a power of two; less than a byte counts as one.
        target: the GPU, or its name such as ``sm90``.

    Example:
        >>> lanes = [[1], [2], [4], [8], [16]]
        >>> src = LinearLayout.from_bases([("lane", lanes), ("warp", [[32]])], ["dim0"])
        >>> lanes[4] = [32]
        >>> dst = LinearLayout.from_bases([("lane", lanes), ("warp", [[16]])], ["dim0"])
        >>> scratch(src, dst, 32, "sm80")
        Scratch(bytes=256, rounds=1, store='st.shared', load='ld.shared')
    """
    gpu = find_target(target).of_lanes(src.get_in_dim_size("lane"))
    step = sub_group_step(src, dst, element_bits) if gpu.is_intel else None
    if step is not None:
        return _of_sub_groups(src, step, element_bits)
    if not classify(src, dst).needs_shared_memory:
        return None
    bits = max(8, element_bits)
    memory = buffer(src, dst, bits, gpu)
    # The bits of the offset may depend on each other where a vector is a sum of tensor bits.
    held = src.total_out_bits - len(memory.blocks) - len(memory.rounds)
    return Scratch(
        bytes=(bits // 8) << held,
        rounds=1 << len(memory.rounds),
        store=memory.store.name,
        load=memory.load.name,
    )


def _of_sub_groups(src: LinearLayout, step: SubGroupStep, element_bits: int) -> Scratch | None:
    """Return the scratch buffer of a step within sub-groups; None if it needs no memory."""
    if not step.takes_memory:
        return None
    elements, lanes = 1 << src.total_out_bits, src.get_in_dim_size("lane")
    *_, vector = transpose_accesses(src)
    return Scratch(
        bytes=transpose_scratch_bytes(elements, lanes, element_bits),
        rounds=1,
        store="sub-group block stores",
        load=f"loads of {vector} elements",
    )


@lru_cache(maxsize=4096)
def buffer(src: LinearLayout, dst: LinearLayout, bits: int, gpu: Target) -> ConversionBuffer:
    """Return the scratch buffer of a conversion with its layout; cached.

    Args:
        src, dst: the layouts.
        bits: width of an element in memory, a power of two between 8 and 128.
        gpu: the GPU.

    Raises:
        LayoutError: such elements do not go through shared memory, or the GPU has another
            warp size.
    """
    _check(src, bits, gpu)
    old, new = without_replication(src), without_replication(dst)
    swizzler = Swizzler.of(old, new, bits, gpu)
    if not gpu.weighs_conversions:
        return swizzler.plain()
    load, store = gpu.mnemonics
    stores, loads = [LaneSplit(store)], [LaneSplit(load)]
    if "stmatrix" in gpu.matrix_instructions:
        stores += matrix_instructions("stmatrix", bits)
    has_ldmatrix = "ldmatrix" in gpu.matrix_instructions
    if has_ldmatrix and _is_trivial_over_blocks(new.invert_and_compose(old)):
        loads += matrix_instructions("ldmatrix", bits)
    return swizzler.weighed(stores, loads) or swizzler.plain()


def _check(layout: LinearLayout, bits: int, gpu: Target) -> None:
    if bits & bits - 1 or bits > 8 * gpu.max_vector_bytes:
        raise LayoutError(f"elements of {bits} bits do not go through shared memory")
    if (lanes := layout.get_in_dim_size("lane")) != gpu.lanes:
        message = f"{gpu.name} has {count(gpu.lanes, 'lane')} per warp"
        raise LayoutError(f"{message}, but the layouts have {lanes}")


def _is_trivial_over_blocks(composed: LinearLayout) -> bool:
    """Return whether each CTA reads its own elements."""
    at = composed.get_out_dim_names().index("block")
    return all(
        vector[at] == (1 << bit if name == "block" else 0)
        and (name != "block" or not any(x for k, x in enumerate(vector) if k != at))
        for name, vectors in composed.in_bases
        for bit, vector in enumerate(vectors)
    )
