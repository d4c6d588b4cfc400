"""Intel's GPUs, as far as they are documented.

Their shared memory, the shared local memory of a work-group, has 16 banks of 4 bytes, and requests
to different addresses in one bank are served one after the other.  No document says which lanes of
an access of more than 4 bytes, or of 32 lanes, are served at once: the rows assume as many
neighbours as fill the banks, and say so.  The costs of shuffles, block loads and global accesses
are not documented, and are left out.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tt_layout.hardware.backend import Backend
from tt_layout.hardware.compiler import CompilerModel, RangeEnd, RegisterLine, Weights
from tt_layout.hardware.multiprocessor import GridLimits, RegisterFile
from tt_layout.hardware.target import KIB, Evidence, Target, phases
from tt_layout.records import dataclass

TARGET = "xpu"
"""What the targets of its modules begin with."""

USUAL = "pvc"
ALIASES: dict[str, str] = {}


def _order(chip: str) -> tuple[int, ...] | None:
    """Return the index of a GPU among the rows; None for other names.

    Example:
        >>> _order("bmg"), _order("dg2")
        ((1,), None)
    """
    match = re.fullmatch("(pvc)|(bmg)", chip)
    return (match.lastindex - 1,) if match is not None and match.lastindex is not None else None


BACKEND = Backend(name=TARGET, vendor="Intel", prefix="", version=_order, multiprocessor="Xe-core")

MOST_WITH_LARGE_FILE = 32
"""Sub-groups of a work-group that the large register file starts: half as many as the usual one.

Source: intel-xpu-backend-for-triton, backend/compiler.py, grf_mode.
"""

OWN_SUB_GROUPS = (8, 16)
"""The lanes of a warp, a sub-group, that no other vendor has; one of 32 lanes may be theirs too."""


@dataclass(frozen=True, kw_only=True)
class IntelGpu:
    """The registers and the matrix instruction of an Intel GPU.

    Attributes:
        name: its short name.
        title: its name in words.
        lanes: columns of its matrix instruction, and the smallest sub-group.
        most_shared_bytes: maximum shared local memory of a work-group.
        registers: general registers of a hardware thread, usually, and with half the threads.
        register_bytes: size of a register in bytes.
        source: source of the numbers.
    """

    name: str
    title: str
    lanes: int
    most_shared_bytes: int
    registers: tuple[int, int]
    register_bytes: int
    source: str

    def registers_per_lane(self, lanes: int) -> tuple[int, int]:
        """Return the number of 32-bit registers per lane of a sub-group, for both settings.

        Example:
            >>> PVC.registers_per_lane(16)
            (128, 256)
        """
        bytes_per_lane = self.register_bytes // lanes
        return self.registers[0] * bytes_per_lane // 4, self.registers[1] * bytes_per_lane // 4


_GUIDE = "Intel oneAPI GPU Optimization Guide, Small Register Mode vs. Large Register Mode"
_CALCULATOR = "Intel GPU Occupancy Calculator, SLM_Size_Per_Work_Group"
_FORK = "intel-xpu-backend-for-triton, issue 1716"

PVC = IntelGpu(
    name="pvc",
    title="Data Center GPU Max",
    lanes=16,
    most_shared_bytes=128 * KIB,
    registers=(128, 256),
    register_bytes=64,
    source=f"{_GUIDE}; {_CALCULATOR}",
)
BMG = replace(PVC, name="bmg", title="Arc B", source=f"{_FORK}; registers taken to be as on pvc")
GPUS = (PVC, BMG)
"""Oldest first; Arc A, of 8 columns, has none."""

_BANKS = "Intel oneAPI GPU Optimization Guide, Shared Local Memory"


def _row(gpu: IntelGpu) -> Target:
    return Target(
        name=gpu.name,
        title=f"Intel {gpu.title}",
        backend=BACKEND,
        lanes=gpu.lanes,
        other_lanes=(32,),
        banks=16,
        swizzled_banks=32,
        most_shared_bytes=gpu.most_shared_bytes,
        grid=GridLimits(),
        load_phases=phases(gpu.lanes, 16),
        store_phases=phases(gpu.lanes, 16),
        mnemonics=("load.slm", "store.slm"),
        load_evidence=Evidence.ASSUMED,
        store_evidence=Evidence.ASSUMED,
        source=f"16 banks of 4 bytes, one word each at a time: {_BANKS}; assumed: phases of as "
        "many lanes as fill them",
    )


ROWS = tuple(map(_row, GPUS))
"""What their shared memory does, and nothing else.

The banks of conversions are upstream's, which the fork does not change:
include/triton/Conversion/TritonGPUToLLVM/TargetInfoBase.h, getSharedMemoryBanks.
"""

_TENSORS = RegisterLine(Weights(1, 0), RangeEnd(1), RangeEnd(1), passing=1)
TENSORS_ONLY = CompilerModel(_TENSORS, _TENSORS, _TENSORS)
"""No kernel was compiled for Intel's GPUs: the registers that tensors take."""


def register_file(lanes: int) -> RegisterFile:
    """Return the registers of a hardware thread, as the lanes of a sub-group share them.

    Example:
        >>> [(file.usual, file.most_per_thread) for file in map(register_file, (16, 32))]
        [(128, 256), (64, 128)]
    """
    usual, most = PVC.registers_per_lane(lanes)
    return RegisterFile(
        most_per_thread=most,
        size=most,
        granule=usual,
        simds=MOST_WITH_LARGE_FILE,
        usual=usual,
    )
