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


class CompilerModel(NamedTuple):
    """The registers that a compiler needs for those that are live in a dump.

    Attributes:
        slope: registers for each live one.
        base: registers besides: addresses, counters, what the schedule keeps in flight.
        passing: the part that is live of a tensor whose elements are used up one by one.
        sinks_shared_loads: whether loads of shared memory, besides elementwise operations, move
            down to the first use of their result, if that is a dot up to the dot before.
        sinks_scans: whether scans do.
        scans_whole: how many registers a kernel of one warp may need for its scans to keep their
            tensors whole; with more they go row by row.
        gathers_loads: whether loads between two barriers or stores are issued together.
    """

    slope: float
    base: float
    passing: float = 0.5
    sinks_shared_loads: bool = False
    sinks_scans: bool = False
    scans_whole: int = 0
    gathers_loads: bool = False

    def needed(self, live: float) -> int:
        """Return the registers for so many live ones.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> find_target("sm90").compiler.needed(128)
            145
        """
        return round(self.base + self.slope * live)
