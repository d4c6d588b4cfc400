"""Constants of the model that are in no document and cannot be measured one by one.

They were fitted, or set by hand, on timed configurations of 17 kernels, so that they hold what the
model leaves out; ``benchmarks/hardware/fit.py`` judges each kernel by those of the others.
"""

from __future__ import annotations

from tt_layout.tuples import NamedTuple


class Constants(NamedTuple):
    """Fitted constants.

    Attributes:
        dram: cycles of a load that misses the caches while all multiprocessors load.
        cap: registers of loads in flight that the assembler keeps where a loop uses them up.
        unroll: issue cycles up to which the assembler unrolls a loop without barriers.
        indexing: instructions for each element of a tensor of indices, masks or pointers.
        power: exponent of the power mean over resources that are busy at the same time.
        beside: exponent of the power mean over memory and waves, whose latency includes memory.
        launch: microseconds of a launch, as benchmarks measure it.
        start: cycles in which a program begins and ends.
        tail: the most that the last wave costs beyond its programs' share, in full waves.
        spill: bytes that a spilled register moves, over 4 bytes per thread and pass.
        collapse: factor on spilled bytes where the assembler keeps hardly any value in registers.
        wait: cycles from a matrix instruction of a warp group to its result.
        boxes: additional cycles of a copy by the tensor memory accelerator.
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
