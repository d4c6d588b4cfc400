"""How fast a product is in fact: latencies, prices of instructions, sustained rates.

`tt_layout.hardware.product` has ceilings, which nothing beats; here is what kernels attain.  Of a
chip that nobody measured the latencies are those of the nearest one that was, and its rates are of
documents: `Timing.evidence` says so.

Read next:    `tt_layout.audit.time`.
"""

from __future__ import annotations

from tt_layout.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Rates that a product attains; cycles are of a multiprocessor.

    Attributes:
        clock_hz: that it holds.
        matrix_clock_hz: the same while its matrix instructions are busy.
        dram_read: of memory in a second, where nearly all of it is read.
        dram_mixed: the same where a part is written.
        dram_short: the part of that speed at which half lines of 128 bytes are read, and less.
        l2_bytes: that the second-level cache hands a multiprocessor in a cycle.
        parts_bytes: of sectors, whole ones, that it takes in a cycle from a multiprocessor which
            writes parts of each.
        copied_bytes: that one multiprocessor alone gets of it in a cycle.
        l2_capacity: bytes of the second-level cache.
        spilled: bytes that a multiprocessor writes to local memory, and reads, in a cycle.
        schedulers: of a multiprocessor, each of which issues an instruction in a cycle.
        instruction: cycles for which a warp's instruction takes its scheduler, at least.
        code: bytes of instructions that a multiprocessor keeps.
        fetched: bytes of others that it gets in a cycle.
        special: cycles of a scheduler's special functions for a warp's instruction.
        integer: cycles for which an integer instruction other than an addition takes its pipe.
        alu, special_latency, shared, shuffle, l1, l2, dram, matrix, atomic: latencies; of DRAM
            without load.
        barrier, barrier_warp: cycles of a barrier, and more for each warp.
        fence: cycles of a fence between stores to shared memory and its asynchronous readers.
        atomic_sectors: sectors in which a multiprocessor adds to global memory in a cycle while
            all do.
        line_lanes: lanes that add to one line of 128 bytes in a cycle, from everywhere.
        address_floats: floats that are added to one address in a cycle, from everywhere.
        address_halves: the same of floats of 16 bits, two of which may be one instruction.
        address_integers: the same of integers; those of one warp are added up before.
        program_seconds: that the start of a program takes, one behind the other.
        evidence: ``measured``, or ``documented``: no such GPU was asked.
        source: of the numbers.
    """

    clock_hz: float
    matrix_clock_hz: float
    dram_read: float
    dram_mixed: float
    dram_short: float = 0.75
    l2_bytes: float = 68
    parts_bytes: float = 12
    copied_bytes: float = 118
    l2_capacity: float = 50e6
    spilled: float = 31
    schedulers: int = 4
    instruction: float = 1
    code: float = 40e3
    fetched: float = 10
    special: float = 8
    integer: float = 2
    alu: float = 4.65
    special_latency: float = 17
    shared: float = 23
    shuffle: float = 24
    l1: float = 34
    l2: float = 274
    dram: float = 560
    matrix: float = 25
    atomic: float = 399
    barrier: float = 12.7
    barrier_warp: float = 2
    fence: float = 58
    atomic_sectors: float = 0.352
    atomic_answers: float = 0.214
    line_lanes: float = 7.6
    address_floats: float = 0.29
    address_halves: float = 0.66
    address_integers: float = 0.71
    program_seconds: float = 0.6e-9
    evidence: str = "documented"
    source: str

    def added(self, element: str, lanes: int = 1) -> float | None:
        """Additions of an element type to one address in a cycle; None for others than these.

        Args:
            element: the type.
            lanes: that may add to the address in one instruction, which sums integers up before.

        Example:
            >>> rates = Timing(
            ...     clock_hz=1e9, matrix_clock_hz=1e9, dram_read=1, dram_mixed=1, source=""
            ... )
            >>> rates.added("f32"), rates.added("f16"), rates.added("f8E5M2")
            (0.29, 0.66, None)
            >>> rates.added("i32"), round(rates.added("i32", 32), 2)
            (0.71, 22.72)
        """
        if element in ("i32", "i64"):
            return self.address_integers * lanes
        if element in ("f16", "bf16"):
            return self.address_halves
        return self.address_floats if element in ("f32", "f64") else None

    @property
    def is_measured(self) -> bool:
        """Whether such a GPU was asked."""
        return self.evidence == "measured"
