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

from tt_layout.hardware import Target, intel

NVIDIA_REGISTERS = 65536


@dataclass(frozen=True, kw_only=True)
class RegisterFile:
    """The registers of 32 bits that the threads of a multiprocessor share.

    Attributes:
        most_per_thread: that an instruction can name; on AMD accumulation registers count, too.
        size: of all threads; on AMD of a SIMD and lane.
        granule: in what units a thread is given registers.
        shared_from: on AMD the warps of a CTA from which two of them share a SIMD, so that each
            has half; 0 where a warp never has less.
        usual: on Intel what a lane has where two hardware threads share the file, as usual; None
            of GPUs without that choice.
    """

    most_per_thread: int
    size: int
    granule: int
    shared_from: int = 0
    usual: int | None = None

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


def intel_register_file(lanes: int) -> RegisterFile:
    """Return the registers of a hardware thread of Intel's GPUs, as its lanes share them.

    Args:
        lanes: of a sub-group.

    Example:
        >>> [(file.usual, file.most_per_thread) for file in map(intel_register_file, (16, 32))]
        [(128, 256), (64, 128)]
    """
    usual, most = intel.PVC.registers_per_lane(lanes)
    return RegisterFile(most_per_thread=most, size=most, granule=most, usual=usual)


def register_file(target: Target) -> RegisterFile | None:
    """Return the registers of a GPU; None where no source gives them.

    Example:
        >>> from tt_layout.hardware import TARGETS
        >>> [register_file(TARGETS[name]).most_per_thread for name in ("sm80", "gfx11", "gfx1250")]
        [255, 256, 1024]
    """
    return _NVIDIA if target.is_nvidia else _AMD.get(target.name)


@dataclass(frozen=True, kw_only=True)
class Residence:
    """How many warps and CTAs a multiprocessor holds at once.

    Attributes:
        warps: of all CTAs.
        ctas: of any size.
        shared_bytes: of all CTAs.
        reserved_bytes: of shared memory that each CTA takes besides its own.
        simds: units between which warps are divided, each with registers of its own; 1 where
            all warps share the registers.
        tensor_columns: of tensor memory; 0 without any.
    """

    warps: int
    ctas: int
    shared_bytes: int
    reserved_bytes: int = 1024
    simds: int = 1
    tensor_columns: int = 0


def _nvidia(warps: int, ctas: int, shared_kib: int, columns: int = 0) -> Residence:
    return Residence(warps=warps, ctas=ctas, shared_bytes=shared_kib << 10, tensor_columns=columns)


def _amd(warps: int, simds: int, shared_kib: int) -> Residence:
    return Residence(
        warps=warps * simds, ctas=32, shared_bytes=shared_kib << 10, reserved_bytes=0, simds=simds
    )


_RESIDENCES: Mapping[str, Residence] = MappingProxyType(
    {
        "sm70": Residence(warps=64, ctas=32, shared_bytes=96 << 10, reserved_bytes=0),
        "sm75": Residence(warps=32, ctas=16, shared_bytes=64 << 10, reserved_bytes=0),
        "sm80": _nvidia(64, 32, 164),
        "sm86": _nvidia(48, 16, 100),
        "sm89": _nvidia(48, 24, 100),
        "sm90": _nvidia(64, 32, 228),
        "sm100": _nvidia(64, 32, 228, columns=512),
        "sm120": _nvidia(48, 24, 100),
        "gfx90a": _amd(8, 4, 64),
        "gfx942": _amd(8, 4, 64),
        "gfx950": _amd(8, 4, 160),
    }
)


def residence(chip: str, target: Target) -> Residence | None:
    """Return what a multiprocessor holds; None where no source gives it.

    Args:
        chip: the GPU as the compiler calls it.
        target: its row.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> [residence(chip, find_target(chip)).warps for chip in ("sm90", "sm86", "gfx942")]
        [64, 48, 32]
    """
    chip = chip.rstrip("af")
    if chip == "sm121":
        chip = "sm120"
    known = _RESIDENCES.get(chip)
    return known if known is not None else _RESIDENCES.get(target.name)
