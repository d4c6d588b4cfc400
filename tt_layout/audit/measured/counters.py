"""Counters of a kernel's accesses, and their names in Nsight Compute.

Source:
    NVIDIA, "Nsight Compute", metrics of the raw page and columns of the source page; which
    instructions a metric counts: counters of an H100 (docs/audit.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Counter(NamedTuple):
    """Counter of accesses or instructions.

    Attributes:
        access: such as ``shared load``.
        unit: ``instructions`` of warps; ``requests``, ``sectors`` and ``lines`` (of 128 bytes)
            of global memory; ``wavefronts`` of shared memory.
    """

    access: str
    unit: str

    @property
    def name(self) -> str:
        """The words that a report has for it."""
        return f"{self.access} {self.unit}"


GLOBAL_LOAD, GLOBAL_STORE = "global load", "global store"
ASYNC_COPY = "asynchronous copy"
SHARED_LOAD, SHARED_STORE = "shared load", "shared store"
LDMATRIX, STMATRIX = "ldmatrix", "stmatrix"
GLOBAL_ACCESS = "global access"

TRAFFIC = ("requests", "sectors", "lines")
"""What is counted of global memory besides instructions."""

ASKED = (*TRAFFIC, "lsu_wavefronts")
"""The same with wavefronts, which Nsight counts together with those of shared memory."""

_L1 = "l1tex__{}_pipe_lsu_mem_global_op_{}.sum"
_LSU = "l1tex__data_pipe_lsu_wavefronts"
_SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_PLAIN = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"

METRICS: Mapping[str, Counter] = {
    "smsp__inst_executed_op_global_ld.sum": Counter(GLOBAL_LOAD, "instructions"),
    _L1.format("t_requests", "ld"): Counter(GLOBAL_LOAD, "requests"),
    _L1.format("t_sectors", "ld"): Counter(GLOBAL_LOAD, "sectors"),
    "smsp__inst_executed_op_global_st.sum": Counter(GLOBAL_STORE, "instructions"),
    _L1.format("t_requests", "st"): Counter(GLOBAL_STORE, "requests"),
    _L1.format("t_sectors", "st"): Counter(GLOBAL_STORE, "sectors"),
    "smsp__inst_executed_op_ldgsts.sum": Counter(ASYNC_COPY, "instructions"),
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum": Counter(
        ASYNC_COPY, "wavefronts"
    ),
    "smsp__inst_executed_op_shared_ld.sum": Counter(SHARED_LOAD, "instructions"),
    "smsp__inst_executed_op_ldsm.sum": Counter(LDMATRIX, "instructions"),
    _SHARED.format("ld"): Counter(SHARED_LOAD, "wavefronts"),
    "smsp__inst_executed_op_shared_st.sum": Counter(SHARED_STORE, "instructions"),
    _SHARED.format("st"): Counter(SHARED_STORE, "wavefronts"),
}
"""Metric of the raw page -> what it counts.

Requests and sectors of global loads include those of asynchronous copies, wavefronts of shared
memory those of ldmatrix and stmatrix; the instructions do not.
"""

PLAIN_METRICS: Mapping[str, Counter] = {
    _PLAIN.format("ld"): Counter(SHARED_LOAD, "wavefronts"),
    _PLAIN.format("st"): Counter(SHARED_STORE, "wavefronts"),
}
"""Metric -> what it counts, in place of the metric in `METRICS` where a page has both.

They leave out ldmatrix and stmatrix, and the turns that other traffic takes (arbitration).
"""

LSU_METRICS = f"{_LSU}.sum", f"{_LSU}_mem_shared.sum"
"""Wavefronts of all memory, and those of shared memory among them."""

GLOBAL_WAVEFRONTS = Counter(GLOBAL_ACCESS, "wavefronts")
"""The rest of these: a line of 128 bytes each, roughly."""

MATRIX_OF: Mapping[str, str] = {SHARED_LOAD: LDMATRIX, SHARED_STORE: STMATRIX}
"""Access -> the instructions of matrices that do the same."""

COUNTERS = (
    *(
        counter
        for own in METRICS.values()
        for counter in ([own, Counter(own.access, "lines")] if own.unit == "sectors" else [own])
    ),
    GLOBAL_WAVEFRONTS,
)
"""All that is compared, in the order of reports; only the source page has lines."""

COLUMNS: Mapping[str, str] = {
    "Instructions Executed": "instructions",
    "L1 Tag Requests Global": "lines",
    "L2 Theoretical Sectors Global": "sectors",
    "L1 Wavefronts Shared": "wavefronts",
}
"""Column of the source page -> the unit that it counts.

A request looks up the tag of each line that it touches, once.
"""

NEVER = "@!PT"
"""The predicate of instructions that no lane executes."""

NO_LANE = f"{NEVER} LDS"
"""Loads from shared memory that no lane executes, which ptxas puts before asynchronous copies."""

_OPCODES: Mapping[str, str] = {
    "LDG": GLOBAL_LOAD,
    "STG": GLOBAL_STORE,
    "LDGSTS": ASYNC_COPY,
    "LDS": SHARED_LOAD,
    "LDSM": SHARED_LOAD,
    "STS": SHARED_STORE,
    "STSM": SHARED_STORE,
}


def counted_as(access: str, unit: str) -> Counter:
    """Return the hardware counter of an access.

    Example:
        >>> counted_as(ASYNC_COPY, "sectors")
        Counter(access='global load', unit='sectors')
    """
    is_load = access == ASYNC_COPY and unit in TRAFFIC
    return Counter(GLOBAL_LOAD if is_load else access, unit)


def counter_of(instruction: str, unit: str) -> Counter | None:
    """Return the counter of an assembly instruction in a column; None if it is not compared.

    Example:
        >>> counter_of("@!P0 LDS.128 R4, [R2]", "wavefronts")
        Counter(access='shared load', unit='wavefronts')
        >>> counter_of("LDSM.16.M88.4 R4, [R2]", "instructions")
        Counter(access='ldmatrix', unit='instructions')
        >>> counter_of("FFMA R1, R2, R3, R4", "instructions") is None
        True
        >>> counter_of("@!PT LDS RZ, [RZ]", "instructions") is None  # no lane executes it
        True
    """
    if instruction.startswith(NEVER):
        return None
    words = [word for word in instruction.split() if not word.startswith("@")]
    opcode = words[0].partition(".")[0].rstrip(";") if words else ""
    access = _OPCODES.get(opcode)
    if access is None:
        return None
    counter = counted_as(access, unit)
    if unit == "instructions" and opcode in ("LDSM", "STSM"):
        counter = Counter(LDMATRIX if opcode == "LDSM" else "", unit)
    return counter if counter in COUNTERS else None
