"""The buffer through which the compiler takes a conversion, and how large it is.

The conversion is done in *rounds* through one buffer, one for each value of the registers that
both sides keep.  So, with one CTA's part of the tensor of 2^n elements:

    bytes = 2^n * bytes of an element / rounds

How many rounds there are depends on how the compiler lays out the buffer.

Read next:    `tt_layout.analyses.optimal_swizzling`.

Source:
    Triton, getNumScratchElemsSwizzledCvt; bytes confirmed on lowered conversions of 3.9.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion import classify, without_copies
from tt_layout.analyses.optimal_swizzling import (
    VECTOR_BITS,
    Buffer,
    Instruction,
    Swizzler,
    matrix_instructions,
)
from tt_layout.errors import LayoutError


@dataclass(frozen=True, kw_only=True)
class ScratchTarget:
    """What a GPU offers for a trip through shared memory.

    Attributes:
        name: such as ``sm90`` or ``gfx942``.
        banks: banks of four bytes.
        matrix_loads, matrix_stores: whether there are ``ldmatrix`` and ``stmatrix``.
        load_lanes: which bits of the lane may make up one wavefront of a 16-byte load, beside
            the lowest ones; the compiler takes the choice that needs the least memory.
    """

    name: str
    banks: int = 32
    matrix_loads: bool = False
    matrix_stores: bool = False
    load_lanes: tuple[tuple[int, ...], ...] = ()

    @property
    def is_nvidia(self) -> bool:
        """Whether the compiler weighs instructions against each other."""
        return self.name.startswith("sm")


def scratch_target(name: str) -> ScratchTarget:
    """Return what is known of a GPU by its name.

    Raises:
        LayoutError: the name is of another form.

    Example:
        >>> scratch_target("sm90").matrix_stores, scratch_target("gfx942").load_lanes
        (True, ((0, 1, 4),))

    Source:
        Triton, third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp, getSharedLdStTiles.
        Bytes confirmed on 3.9 for sm80, sm90, gfx90a, gfx942 and gfx950; of other AMD GPUs
        they are assumed.
    """
    if match := re.fullmatch(r"sm_?(\d+)[af]?", name):
        capability = int(match[1])
        return ScratchTarget(
            name=name, matrix_loads=capability >= 75, matrix_stores=capability >= 90
        )
    if re.fullmatch(r"gfx950|gfx125\w+", name):
        return ScratchTarget(name=name, banks=64, load_lanes=((0, 1, 3, 4), (0, 1, 2, 4)))
    if re.fullmatch(r"gfx(94|10|11)\w+", name):
        return ScratchTarget(name=name, load_lanes=((0, 1, 4),))
    if re.fullmatch(r"gfx\w+", name):
        return ScratchTarget(name=name)
    raise LayoutError(f"a target must be such as sm80, sm90, gfx942 or gfx950, got {name!r}")


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """The buffer of a conversion through shared memory.

    Attributes:
        bytes: its size, per CTA.
        rounds: how many times it is filled and read.
        store, load: the instructions: ``st.shared`` and the like, or matrix ones.
    """

    bytes: int
    rounds: int
    store: str
    load: str


def scratch(src: LinearLayout, dst: LinearLayout, element_bits: int, target: str) -> Scratch | None:
    """Return the buffer that a conversion takes, or None where it takes none.

    Args:
        src, dst: the layouts.
        element_bits: width of an element, a power of two; less than a byte counts as one.
        target: the GPU, such as ``sm90``.

    Example:
        >>> lanes = [[1], [2], [4], [8], [16]]
        >>> src = LinearLayout.from_bases([("lane", lanes), ("warp", [[32]])], ["dim0"])
        >>> lanes[4] = [32]
        >>> dst = LinearLayout.from_bases([("lane", lanes), ("warp", [[16]])], ["dim0"])
        >>> scratch(src, dst, 32, "sm80")
        Scratch(bytes=256, rounds=1, store='st.shared', load='ld.shared')
    """
    gpu = scratch_target(target)
    if not classify(src, dst).needs_shared_memory:
        return None
    bits = max(8, element_bits)
    found = buffer(src, dst, bits, gpu)
    return Scratch(
        bytes=(bits // 8) << len(found.offset),
        rounds=1 << len(found.rounds),
        store=found.store.name,
        load=found.load.name,
    )


def buffer(src: LinearLayout, dst: LinearLayout, bits: int, gpu: ScratchTarget) -> Buffer:
    """Return the buffer through which the compiler takes a conversion, with its layout.

    Args:
        src, dst: the layouts.
        bits: width of an element in memory, a power of two between 8 and 128.
        gpu: the GPU.

    Raises:
        LayoutError: such elements do not go through shared memory, or the GPU's warps have
            another number of lanes.
    """
    _check(src, bits, gpu)
    old, new = without_copies(src), without_copies(dst)
    swizzler = Swizzler.of(old, new, bits)
    if not gpu.is_nvidia:
        return swizzler.plain(("ds_write", "ds_read"), gpu.banks, gpu.load_lanes)
    stores, loads = [Instruction("st.shared")], [Instruction("ld.shared")]
    if gpu.matrix_stores:
        stores += matrix_instructions("stmatrix", bits)
    if gpu.matrix_loads and _is_trivial_over_blocks(new.invert_and_compose(old)):
        loads += matrix_instructions("ldmatrix", bits)
    return swizzler.weighed(stores, loads) or swizzler.plain(("st.shared", "ld.shared"), gpu.banks)


def _check(layout: LinearLayout, bits: int, gpu: ScratchTarget) -> None:
    if bits & bits - 1 or bits > VECTOR_BITS:
        raise LayoutError(f"elements of {bits} bits do not go through shared memory")
    lanes, known = layout.get_in_dim_size("lane"), (32,) if gpu.is_nvidia else (32, 64)
    if lanes not in known:
        counts = " or ".join(map(str, known))
        raise LayoutError(f"{gpu.name} has {counts} lanes per warp, but the layouts have {lanes}")


def _is_trivial_over_blocks(composed: LinearLayout) -> bool:
    """Tell whether each CTA reads its own elements."""
    at = composed.get_out_dim_names().index("block")
    return all(
        vector[at] == (1 << bit if name == "block" else 0)
        and (name != "block" or not any(x for k, x in enumerate(vector) if k != at))
        for name, vectors in composed.in_bases
        for bit, vector in enumerate(vectors)
    )
