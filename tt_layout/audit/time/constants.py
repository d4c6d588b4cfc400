"""Constants of the model that no document gives and no kernel measures by itself.

They were fitted, or set by hand, on timed configurations of 17 kernels, so that they hold what the
model leaves out; ``benchmarks/hardware/fit.py`` judges each kernel by those of the others.
"""

from __future__ import annotations

from tt_layout.tuples import NamedTuple


class Constants(NamedTuple):
    """Constants that are fitted.

    Attributes:
        dram: cycles of a load that misses the caches while all multiprocessors load.
        cap: registers of loads in flight that the assembler keeps where a loop uses them up.
        unroll: issue cycles up to which iterations of a loop without barriers are made one.
        indexing: instructions for each element of a tensor of indices, masks or pointers.
        power: of the mean by which what is busy at the same time adds up.
        beside: of the mean by which memory adds up with waves, whose latency has its pace in it.
        launch: microseconds of a launch, as benchmarks measure it.
        start: cycles in which a program begins and ends.
        tail: the part of a wave that the last one costs at least.
        spill: what a spilled register moves, over 4 bytes a thread and pass: a store and a load.
        collapse: how many times as much where the assembler keeps next to nothing in registers.
        wait: cycles from a matrix instruction of a warp group to its result.
        boxes: cycles that a copy of the tensor memory accelerator takes longer than others.
        pointers: registers for each vector that a loop copies.
        loads: registers beside the loads of a straight block that are all in flight.
    """

    dram: float = 1000
    cap: float = 20
    unroll: float = 36
    indexing: float = 0.3
    power: float = 3
    beside: float = 4.5
    launch: float = 3
    start: float = 300
    tail: float = 0.6
    spill: float = 2
    collapse: float = 2.75
    wait: float = 40
    boxes: float = 400
    pointers: float = 1
    loads: float = 24


FITTED = Constants()
"""Those in use.

`unroll`, `spill`, `collapse` and `beside` were set by hand, the others fitted on half of the
sweeps.
"""
