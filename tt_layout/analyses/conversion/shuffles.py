"""Shuffles of a conversion within warps, as the compiler emits them.

The bits of registers and lanes are permuted.  Where a bit of the register is exchanged with one of
the lane, half of the registers of 32 bits go to the lane that differs in this bit of its number;
where a bit of the lane becomes another one, or one of the warp, all registers move.

Source:
    Triton, getWarpLayoutConvertDecomposition in lib/Analysis/Utility.cpp, transferWithinWarp in
    lib/Conversion/TritonGPUToLLVM/ConvertLayoutOpToLLVM.cpp, and of AMD shuffleCommonImpl in
    third_party/amd/lib/TritonAMDGPUToLLVM/Utility.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.analyses.conversion.conversion import Position, bit_moves, without_replication
from tt_layout.hardware import Target
from tt_layout.tuples import NamedTuple

BACK = ("lane", "register")

MOST_PACKED = 4
"""Elements that share a register of 32 bits, at most."""


class Shuffles(NamedTuple):
    """Instructions per warp that move 32 bits between lanes.

    Attributes:
        shuffles: number of instructions.
        bpermutes: number of AMD's ``ds_bpermute_b32`` among them, which use the hardware of shared
            memory; the others are instructions on registers.
    """

    shuffles: int = 0
    bpermutes: int = 0


def conversion_shuffles(
    src: LinearLayout, dst: LinearLayout, element_bits: int, target: Target
) -> Shuffles:
    """Return the shuffles of a conversion within warps.

    Args:
        src, dst: the layouts, permutations of bits.
        element_bits: width of an element, at least 8.
        target: the GPU.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> src = LinearLayout.from_bases([("register", [[1]]), ("lane", [[2]])], ["dim0"])
        >>> dst = LinearLayout.from_bases([("register", [[2]]), ("lane", [[1]])], ["dim0"])
        >>> conversion_shuffles(src, dst, 32, find_target("sm90"))
        Shuffles(shuffles=1, bpermutes=0)
    """
    old, new = without_replication(src), without_replication(dst)
    moves = dict(bit_moves(old, new))
    into_lanes = [now[1] for was, now in moves.items() if (was[0], now[0]) == ("register", "lane")]
    register_bits = max(len(layout.vectors("register")) for layout in (old, new))
    word = target.shuffle_bits
    packed = log2(min(max(1, word // element_bits), MOST_PACKED))
    packed = min(packed, register_bits - len(into_lanes))
    registers = max(1, element_bits // word) << register_bits - packed
    leaving = [bit for bit in range(len(old.vectors("lane"))) if _leaves(bit, moves)]
    if leaving:
        is_far = target.far_lanes > 0 and not _are_swapped(leaving, moves, packed, target)
        return Shuffles(registers, registers * is_far)
    count = registers // 2 if into_lanes else 0
    return Shuffles(count, count * any(target.is_far(1 << lane) for lane in into_lanes))


def _leaves(bit: int, moves: Mapping[Position, Position]) -> bool:
    """Return whether a lane bit becomes another lane bit, or a warp bit."""
    now = moves.get(("lane", bit))
    return now is None or (now[0] == "lane" and now[1] != bit)


def _are_swapped(
    leaving: Sequence[int], moves: Mapping[Position, Position], packed: int, target: Target
) -> bool:
    """Return whether lane bits and a register bit form a cycle that register swaps carry out."""
    back = [(was[1], now[1]) for was, now in moves.items() if (was[0], now[0]) == BACK]
    lanes = {*leaving, *(lane for lane, _ in back)}
    is_whole = all(register >= packed for _, register in back)
    return len(back) == 1 and is_whole and lanes <= set(target.swapped_lanes)
