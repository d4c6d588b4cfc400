"""Conversions within a sub-group, Intel's term for a warp, as Intel's compiler emits them.

A conversion that keeps every element in its warp is a map from the new registers and lanes to the
old ones.  Two forms of that map have instructions of their own; the first of these four classes
that fits is taken:

    ==========  ================================================================================
    class       map
    ==========  ================================================================================
    registers   elements stay in their lane
    shuffle     a lane's registers come from all lanes in turn, the same for every lane
    transpose   registers and lanes are exchanged, through shared memory, a row for each register
    otherwise   upstream's shuffles, or shared memory
    ==========  ================================================================================

A shuffle brings a register of one lane to all of them, one for each new register.  A transpose
stores each old register as a row, by a block store, and loads the rows as vectors.  The cost of
these instructions is not documented; the lower bound is the bytes of the rows divided by the bytes
that all banks serve in a cycle.

Source:
    intel-xpu-backend-for-triton, third_party/intel/lib/Analysis/Utility.cpp: cvtIsSubGroupShuffle,
    cvtIsSubGroupTranspose; lib/TritonIntelGPUToLLVM/ConvertLayoutOpToLLVM.cpp:
    performSubGroupShuffle, performSubGroupTranspose.
"""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.analyses.conversion.conversion import ConversionKind, classify
from tt_layout.enums import TextEnum

NARROWEST_BITS, TRANSPOSED_BITS = 8, (8, 16, 32, 64)
"""Elements below the first are widened to it; those of other widths are not transposed."""

MOST_IN_VECTOR = 16
"""Elements that one load of a transpose brings to a lane, at most."""

Vectors = list[tuple[int, int]]
"""New register or lane bits -> (old register, old lane)."""


class SubGroupStep(TextEnum):
    """Conversions with an instruction sequence of their own on Intel's GPUs."""

    SHUFFLE = "sub-group shuffle"
    TRANSPOSE = "sub-group transpose"

    @property
    def kind(self) -> ConversionKind:
        """The class of conversion that it belongs to."""
        return ConversionKind.SHARED_MEMORY if self.takes_memory else ConversionKind.SHUFFLES

    @property
    def takes_memory(self) -> bool:
        """Whether it goes through shared memory."""
        return self is SubGroupStep.TRANSPOSE


def sub_group_step(before: LinearLayout, after: LinearLayout, bits: int) -> SubGroupStep | None:
    """Return the step by which Intel's compiler converts within sub-groups; None for upstream's.

    Args:
        before, after: the layouts.
        bits: width of an element.

    Example:
        >>> column = LinearLayout.from_bases(
        ...     [("register", [[0, 1]]), ("lane", [[1, 0]])], ["dim0", "dim1"])
        >>> row = LinearLayout.from_bases(
        ...     [("register", [[1, 0]]), ("lane", [[0, 1]])], ["dim0", "dim1"])
        >>> print(sub_group_step(column, row, 32))
        sub-group transpose
    """
    conversion = classify(before, after)
    composed = conversion.composed
    stays = conversion.kind in (ConversionKind.NOTHING, ConversionKind.REGISTERS)
    if stays or not _keeps_warps(composed):
        return None
    names = composed.get_out_dim_names()
    at = names.index("register"), names.index("lane")
    registers: Vectors = [(v[at[0]], v[at[1]]) for v in composed.vectors("register")]
    lanes: Vectors = [(v[at[0]], v[at[1]]) for v in composed.vectors("lane")]
    across = log2(composed.get_out_dim_size("lane"))
    if not any(any(vector) for vector in lanes) and registers in _shuffles(len(registers), across):
        return SubGroupStep.SHUFFLE
    is_width = max(bits, NARROWEST_BITS) in TRANSPOSED_BITS
    if is_width and (registers, lanes) in _transposes(len(registers), len(lanes)):
        return SubGroupStep.TRANSPOSE
    return None


def shuffle_count(before: LinearLayout) -> int:
    """Return the number of shuffles of a warp: each old register comes from each lane.

    Example:
        >>> lanes = [[1], [2], [4], [8]]
        >>> shuffle_count(LinearLayout.from_bases([("lane", lanes)], ["dim0"]))
        16
    """
    held = 1 << before.total_out_bits
    return before.get_in_dim_size("register") * min(before.get_in_dim_size("lane"), held)


def transpose_accesses(before: LinearLayout) -> tuple[int, int, int]:
    """Return the block stores and vector loads of a warp, and the elements of such a vector.

    Example:
        >>> registers, lanes = ([[bit, 0] for bit in (1, 2, 4)], [[0, bit] for bit in (1, 2, 4)])
        >>> transpose_accesses(LinearLayout.from_bases(
        ...     [("register", registers), ("lane", lanes)], ["dim0", "dim1"]))
        (8, 1, 8)
    """
    registers, lanes = (before.get_in_dim_size(name) for name in ("register", "lane"))
    vector = min(MOST_IN_VECTOR, lanes)
    return registers, registers // vector, vector


def transpose_scratch_bytes(elements: int, lanes: int, bits: int) -> int:
    """Return the scratch bytes of a sub-group transpose, whose rows are one element longer.

    Example:
        >>> transpose_scratch_bytes(16 * 16, 16, 32)
        1088
    """
    return elements // lanes * (lanes + 1) * max(bits, NARROWEST_BITS) // 8


def _keeps_warps(composed: LinearLayout) -> bool:
    """Tell whether every warp and CTA reads only its own elements."""
    names = composed.get_out_dim_names()
    for dim in ("warp", "block"):
        at = names.index(dim)
        for name in names:
            for bit, vector in enumerate(composed.vectors(name)):
                expected = 1 << bit if name == dim else 0
                if vector[at] != expected or (name == dim and sum(map(bool, vector)) != 1):
                    return False
    return True


def _powers(count: int, side: int) -> Vectors:
    """Return 1, 2, 4, .. of the old register (side 0) or lane (side 1)."""
    return [(1 << bit, 0) if side == 0 else (0, 1 << bit) for bit in range(count)]


def _shuffles(registers: int, across: int) -> Sequence[Vectors]:
    """Return the maps of registers that are shuffles: from lanes first, or from lanes last."""
    inside = registers - across
    if inside < 0:
        return ()
    return (
        [*_powers(across, 1), *_powers(inside, 0)],
        [*_powers(inside, 0), *_powers(across, 1)],
    )


def _transposes(registers: int, lanes: int) -> Sequence[tuple[Vectors, Vectors]]:
    """Return the maps that are transposes: with a lane's rows apart, or adjacent."""
    if registers < lanes:
        return ()
    from_lanes, all_registers = _powers(lanes, 1), _powers(registers, 0)
    return (
        ([*from_lanes, *all_registers[lanes:]], all_registers[:lanes]),
        ([*from_lanes, *all_registers[: registers - lanes]], all_registers[registers - lanes :]),
    )
