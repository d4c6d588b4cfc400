"""How many registers the compilers need for those that are live in a dump.

The figures were fitted to kernels of our own, one half of their families, compiled by Triton 3.9,
and judged on the other half; docs/registers.md has how far they reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tt_layout.hardware import Target

_SHARED_LOADS = frozenset({"ttg.local_load", "ttg.convert_layout"})


class CompilerModel(NamedTuple):
    """What a compiler makes of live values.

    Attributes:
        slope: registers for each live one.
        base: registers besides: addresses, counters, what the schedule keeps in flight.
        passing: the part that is live of a tensor whose elements are used up one by one.
        sinking: the operations that it moves down to the first use of their result; they read
            shared memory.
    """

    slope: float
    base: float
    passing: float = 0.5
    sinking: frozenset[str] = frozenset()

    def needed(self, live: float) -> int:
        """Return the registers for so many live ones.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> compiler_model(find_target("sm90")).needed(128)
            145
        """
        return round(self.base + self.slope * live)


_NVIDIA = CompilerModel(0.93, 26, sinking=_SHARED_LOADS)
_CDNA = CompilerModel(1.1, 19)
_RDNA = CompilerModel(0.9, 28)

TENSORS_ONLY = CompilerModel(1, 0, passing=1)
"""Of Intel's, of which no kernel was compiled: what tensors take."""

_AMD: Mapping[str, CompilerModel] = MappingProxyType({"gfx1250": CompilerModel(1, 36)})


def compiler_model(target: Target) -> CompilerModel:
    """Return what the compiler for a GPU makes of live values."""
    if target.is_nvidia:
        return _NVIDIA
    return _AMD.get(target.name, _CDNA if target.lanes == 64 else _RDNA)
