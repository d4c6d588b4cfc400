"""How many registers the compilers need for those that are live in a dump.

The figures were fitted to kernels of our own, one half of their families, compiled by Triton 3.9,
and judged on the other half; docs/registers.md has how far they reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tt_layout.hardware import Target


class CompilerModel(NamedTuple):
    """What a compiler makes of live values.

    Attributes:
        slope: registers for each live one.
        base: registers besides: addresses, counters, what the schedule keeps in flight.
        passing: the part that is live of a tensor whose elements are used up one by one.
        sinks_shared_loads: whether it moves reads of shared memory down to the first use of their
            result, if that is a dot up to the dot before.
        sinks_scans: whether it moves scans down that go row by row.
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
            >>> compiler_model(find_target("sm90")).needed(128)
            145
        """
        return round(self.base + self.slope * live)


_NVIDIA = CompilerModel(0.93, 26, sinks_shared_loads=True)
_CDNA = CompilerModel(1.1, 19, sinks_scans=True, scans_whole=256)
_RDNA = CompilerModel(0.9, 28, sinks_scans=True, scans_whole=256)
_GFX1250 = CompilerModel(1.27, 10, scans_whole=1024, gathers_loads=True)

TENSORS_ONLY = CompilerModel(1, 0, passing=1)
"""Of Intel's, of which no kernel was compiled: what tensors take."""

_AMD: Mapping[str, CompilerModel] = MappingProxyType({"gfx1250": _GFX1250})


def compiler_model(target: Target) -> CompilerModel:
    """Return what the compiler for a GPU makes of live values."""
    if target.is_nvidia:
        return _NVIDIA
    return _AMD.get(target.name, _CDNA if target.lanes == 64 else _RDNA)
