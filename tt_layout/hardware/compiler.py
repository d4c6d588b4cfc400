"""Compiler model of a GPU's row: registers and layouts.

The figures of registers were fitted to kernels of our own, one half of their families, compiled by
Triton 3.9, and judged on the other half; docs/registers.md has how far they reach.  The knobs are
of trials (``tests/compiler/test_knobs.py``): a multiplication and a softmax, one thing changed at
a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

TRANSPOSED = "a transposed operand"
WARPS = "num_warps"
STAGES = "num_stages"
BLOCK = "the block size"
ELEMENT = "the element type"
SWAPPED = "the order of the operands"

Knobs = Mapping[str, tuple[str, ...]]
"""Attribute of a layout that the compiler chooses -> what of a program in Triton moves it.

A program in Gluon names its layouts, one in Triton does not.
"""


class RegisterRange(NamedTuple):
    """Registers that a kernel is expected to need, and between which numbers they are.

    Attributes:
        low: the least.
        needed: the number that is most likely.
        high: the most.
    """

    low: int
    needed: int
    high: int


class RegisterLine(NamedTuple):
    """How registers follow from those that are live, for one kind of kernels.

    Each is a line: registers for each live one, and registers besides for counters and what the
    schedule keeps in flight.

    Attributes:
        needed: the middle.
        low, high: between which compiled kernels are.
        passing: the part that is live of a tensor whose elements are used up one by one.
        streamed: the part that is live of a tensor that is loaded in a loop.
        together: the part that is live of a tensor that is loaded outside of loops, from the first
            load between the same two barriers on: the compiler issues loads ahead.
        indices: registers for an element of a tensor of indices or addresses.
        masks: registers for an element of a mask.
        most_indices: registers that indices and masks take at most; they are computed anew beyond.
        spills_from: the part of the registers that there are from which on every kernel whose
            middle is as large spills: near the limit the assembler finds no order that saves any.
    """

    needed: tuple[float, float]
    low: tuple[float, float]
    high: tuple[float, float]
    passing: float = 0.5
    streamed: float = 1
    together: float = 0
    indices: float = 0
    masks: float = 0
    most_indices: int = 0
    spills_from: float | None = None

    def range(self, live: float, limit: int | None = None) -> RegisterRange:
        """Return the registers for so many live ones.

        Args:
            live: registers that are live.
            limit: the most of a thread; None where it does not matter.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> find_target("sm90").compiler.products.range(128)
            RegisterRange(low=122, needed=140, high=187)
            >>> find_target("sm90").compiler.straight.range(300, 255)
            RegisterRange(low=256, needed=256, high=433)
        """
        low, needed, high = (
            round(base + slope * live) for slope, base in (self.low, self.needed, self.high)
        )
        low, high = min(low, needed), max(needed, high)
        least = self.spills_from
        if limit is not None and least is not None and needed >= least * limit:
            low, high = max(low, limit + 1), max(high, limit + 1)
        return RegisterRange(low, max(low, needed), high)


class CompilerModel(NamedTuple):
    """The registers that a compiler needs for those that are live in a dump.

    Attributes:
        products: of kernels that multiply matrices.
        loops: of others that access global memory in a loop.
        straight: of all others.
        slices: the slices along K that are live of an operand of a product that is loaded from
            shared memory for it alone; 0 for all of them.
        sinks_shared_loads: whether loads of shared memory, besides elementwise operations, move
            down to the first use of their result, if that is a dot up to the dot before.
        sinks_scans: whether scans do.
        scans_whole: how many registers a kernel of one warp may need for its scans to keep their
            tensors whole; with more they go row by row.
    """

    products: RegisterLine
    loops: RegisterLine
    straight: RegisterLine
    slices: int = 0
    sinks_shared_loads: bool = False
    sinks_scans: bool = False
    scans_whole: int = 0
