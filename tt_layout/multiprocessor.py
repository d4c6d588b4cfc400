"""What a multiprocessor (SM, compute unit) has for the CTAs on it, for each row of `hardware.ROWS`.

Sources:
    NVIDIA: CUDA C++ Programming Guide, Technical Specifications per Compute Capability; CUDA
    Occupancy Calculator (registers are given to a warp in units of 256).
    AMD: LLVM, AMDGPU, Utils/AMDGPUBaseInfo.cpp: getTotalNumVGPRs, getAddressableNumVGPRs,
    getVGPRAllocGranule, getMaxWavesPerEU.  The most with many warps: what Triton 3.9 compiled.

Read next:    `tt_layout.audit.registers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tt_layout.hardware import Target


@dataclass(frozen=True, kw_only=True)
class RegisterFile:
    """The registers of 32 bits that the threads of a multiprocessor share.

    Attributes:
        most_per_thread: that an instruction can name; on AMD accumulation registers count, too.
        size: of all threads; on AMD of a SIMD and lane.
        granule: in what units a thread is given registers.
        shared_from: on AMD the warps of a CTA from which two of them share a SIMD, so that each
            has half; 0 where a warp never has less.
    """

    most_per_thread: int
    size: int
    granule: int
    shared_from: int = 0

    def limit(self, warps: int) -> int:
        """Return the most registers that a thread of a CTA of so many warps can have.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> [register_file(TARGETS["sm90"]).limit(warps) for warps in (4, 8, 16, 32)]
            [255, 255, 128, 64]
            >>> [register_file(TARGETS["gfx942"]).limit(warps) for warps in (4, 8)]
            [512, 256]
        """
        if self.size == NVIDIA_REGISTERS:
            return min(self.most_per_thread, self.size // (32 * max(1, warps)))
        if self.shared_from and warps >= self.shared_from:
            return self.most_per_thread // 2
        return self.most_per_thread


NVIDIA_REGISTERS = 65536

_NVIDIA = RegisterFile(most_per_thread=255, size=NVIDIA_REGISTERS, granule=8)
_RDNA3 = RegisterFile(most_per_thread=256, size=1536, granule=24)

_AMD: Mapping[str, RegisterFile] = MappingProxyType(
    {
        **dict.fromkeys(
            ("gfx90a", "gfx942", "gfx950"),
            RegisterFile(most_per_thread=512, size=512, granule=8, shared_from=8),
        ),
        "gfx10": RegisterFile(most_per_thread=256, size=1024, granule=16),
        "gfx11": _RDNA3,
        "gfx12": _RDNA3,
        "gfx1250": RegisterFile(most_per_thread=1024, size=1024, granule=16, shared_from=8),
    }
)


def register_file(target: Target) -> RegisterFile:
    """Return the registers of a GPU.

    Example:
        >>> from tt_layout.hardware import TARGETS
        >>> [register_file(TARGETS[name]).most_per_thread for name in ("sm80", "gfx11", "gfx1250")]
        [255, 256, 1024]
    """
    return _NVIDIA if target.is_nvidia else _AMD[target.name]
