"""Registers and residency limits of a multiprocessor (SM, compute unit): fields of a GPU's row.

Sources:
    NVIDIA: CUDA C++ Programming Guide, Technical Specifications per Compute Capability; CUDA
    Occupancy Calculator (registers are given to a warp in units of 256).
    AMD: LLVM, AMDGPU, Utils/AMDGPUBaseInfo.cpp: getTotalNumVGPRs, getAddressableNumVGPRs,
    getVGPRAllocGranule, getMaxWavesPerEU, getEUsPerCU, getMaxWorkGroupsPerCU; which chips have
    half as many registers again: AMDGPU.td, FeatureISAVersion11_0_0 and others; the most with many
    warps: getWavesPerEUForWorkGroup, and what Triton 3.9 compiled.

Read next:    `tt_layout.audit.registers`.
"""

from __future__ import annotations

from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

NVIDIA_REGISTERS = 65536


@dataclass(frozen=True, kw_only=True)
class RegisterFile:
    """The 32-bit registers that the threads of a multiprocessor share.

    Attributes:
        most_per_thread: maximum that an instruction can name, on AMD with accumulation registers.
        size: registers of all threads; on AMD, of one lane of a SIMD.
        granule: allocation unit per thread.
        simds: units between which warps are divided, each with registers of its own; 1 where all
            warps share them; on Intel, the hardware threads with the large register file.
        usual: on Intel, registers per lane of the usual register file, with which twice as many
            hardware threads run; None for GPUs without that choice.
    """

    most_per_thread: int
    size: int
    granule: int
    simds: int = 1
    usual: int | None = None

    def limit(self, warps: int) -> int:
        """Return the maximum registers per thread in a CTA of a number of warps.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> [TARGETS["sm90"].registers.limit(warps) for warps in (4, 8, 16, 32)]
            [255, 255, 128, 64]
            >>> [TARGETS["gfx942"].registers.limit(warps) for warps in (4, 8, 16)]
            [512, 256, 128]
        """
        if self.size == NVIDIA_REGISTERS:
            return min(self.most_per_thread, self.size // (32 * max(1, warps)))
        share = self.size // -(-max(1, warps) // self.simds)
        return min(self.most_per_thread, share // self.granule * self.granule)

    def shared_out(self, warps: int) -> int | None:
        """Return the registers per thread of one CTA that takes all; None but on NVIDIA's GPUs.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> [TARGETS["sm90"].registers.shared_out(warps) for warps in (8, 12)]
            [255, 168]
        """
        if self.size != NVIDIA_REGISTERS:
            return None
        share = self.size // (32 * max(1, warps)) // self.granule * self.granule
        return min(self.most_per_thread, share)

    def free(self, warps: int, residence: Residence) -> int:
        """Return the most registers per thread with which a multiprocessor is as full as possible.

        Args:
            warps: warps of a CTA.
            residence: the other limits of the multiprocessor.

        Example:
            >>> from tt_layout.hardware import TARGETS
            >>> [(chip, [target.registers.free(warps, target.residence) for warps in (1, 4)])
            ...  for chip in ("sm90", "sm120", "gfx942") for target in [TARGETS[chip]]]
            [('sm90', [64, 32]), ('sm120', [80, 40]), ('gfx942', [64, 64])]
        """
        most = min(residence.warps, warps * residence.most_ctas(warps))
        lanes = 32 if self.size == NVIDIA_REGISTERS else 1
        per_simd = max(1, most // self.simds)
        return min(
            self.most_per_thread, self.size // (lanes * per_simd) // self.granule * self.granule
        )


@dataclass(frozen=True, kw_only=True)
class Residence:
    """Residency limits of a multiprocessor.

    Attributes:
        warps: maximum warps of all CTAs.
        ctas: maximum CTAs of more than one warp.
        single_warp_ctas: maximum CTAs of one warp, which need no barrier; None if it is `ctas`.
        shared_bytes: shared memory of all CTAs.
        reserved_bytes: shared memory that each CTA takes in addition to its own.
        tensor_columns: columns of tensor memory; 0 without any.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> [find_target(chip).residence.warps for chip in ("sm90", "sm86", "gfx942")]
        [64, 48, 32]
    """

    warps: int
    ctas: int
    shared_bytes: int
    reserved_bytes: int = 1024
    tensor_columns: int = 0
    single_warp_ctas: int | None = None

    def most_ctas(self, warps: int) -> int:
        """Return the maximum CTAs of a number of warps each."""
        is_alone = warps == 1 and self.single_warp_ctas is not None
        return self.single_warp_ctas if is_alone and self.single_warp_ctas else self.ctas


class GridLimits(NamedTuple):
    """The largest grid of a launch.

    Attributes:
        programs: maximum along x, y and z; None where only threads are limited.
        threads: maximum of programs times threads along each axis; None where only programs are
            limited.

    Source:
        CUDA C++ Programming Guide, Technical Specifications per Compute Capability; HIP API
        reference, hipModuleLaunchKernel (gridDim times blockDim is below 2 to the 32nd).
    """

    programs: tuple[int, int, int] | None = None
    threads: int | None = None

    def most(self, axis: int, threads: int) -> int:
        """Return the maximum programs along an axis, with a number of threads along x.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> cuda, hip = (find_target(chip).grid for chip in ("sm90", "gfx942"))
            >>> [cuda.most(axis, 128) for axis in (0, 1, 2)]
            [2147483647, 65535, 65535]
            >>> [hip.most(axis, 256) for axis in (0, 1, 2)]
            [16777215, 4294967295, 4294967295]
        """
        if self.programs is not None:
            return self.programs[axis]
        return (self.threads or 0) // (threads if axis == 0 else 1)


CUDA_GRID = GridLimits(programs=((1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1))
HIP_GRID = GridLimits(threads=(1 << 32) - 1)


class Variant(NamedTuple):
    """Chips of a row with other registers or residency limits.

    Attributes:
        chips: their names, or prefixes of them.
        registers: registers of a multiprocessor.
        residence: its residency limits.
    """

    chips: tuple[str, ...]
    registers: RegisterFile
    residence: Residence
