"""Attained performance of a product: latencies, costs of instructions, sustained rates.

`tt_layout.hardware.product` has ceilings, which nothing beats; here are the rates that kernels
attain.  A chip without measurements has the latencies of the nearest measured one and documented
rates, as `Timing.evidence` says.

Read next:    `tt_layout.audit.time`.
"""

from __future__ import annotations

from tt_layout.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Attained rates of a product; rates a cycle are per multiprocessor unless stated.

    Attributes:
        clock_hz: sustained clock.
        matrix_clock_hz: sustained clock while matrix instructions are busy.
        dram_read: bytes per second of DRAM if nearly all of them are read.
        dram_mixed: bytes per second of DRAM if some are written.
        dram_short: fraction of that rate for reads of half a line of 128 bytes or less.
        l2_bytes: bytes per cycle from the second-level cache.
        parts_bytes: bytes per cycle of whole sectors in the second-level cache while a
            multiprocessor writes parts of each.
        l2_capacity: size of the second-level cache in bytes.
        spilled: bytes per cycle that are written to local memory and read back.
        schedulers: number of schedulers, each of which issues an instruction per cycle.
        instruction: minimum cycles that a warp's instruction occupies its scheduler.
        code: bytes of instructions that a multiprocessor caches.
        fetched: bytes per cycle of other instructions.
        special: cycles that a warp's instruction occupies a scheduler's special function unit.
        integer: cycles that an integer instruction other than an addition occupies its pipe.
        alu, special_latency, shared, shuffle, l1, l2, dram, matrix, atomic: latencies in cycles,
            for DRAM without load.
        barrier, barrier_warp: cycles of a barrier, and additional cycles per warp.
        fence: cycles of a fence between stores to shared memory and its asynchronous readers.
        atomic_sectors: sectors of atomic additions to global memory per cycle while all
            multiprocessors add.
        line_lanes: lanes per cycle that add to one line of 128 bytes, on the whole GPU.
        address_floats: floats per cycle added to one address, on the whole GPU.
        address_halves: the same for 16-bit floats, two of which may be one instruction.
        address_integers: the same for integers, which a warp sums up first.
        program_seconds: launch overhead per program, in sequence.
        evidence: ``measured``, or ``documented``, without a measurement.
        source: source of the numbers.
    """

    clock_hz: float
    matrix_clock_hz: float
    dram_read: float
    dram_mixed: float
    dram_short: float = 0.75
    l2_bytes: float = 68
    parts_bytes: float = 12
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
        """Return the additions to one address per cycle; None for other element types than these.

        Args:
            element: the element type.
            lanes: lanes that may add to the address in one instruction, which first sums integers.

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
        """Whether the rates were measured."""
        return self.evidence == "measured"
