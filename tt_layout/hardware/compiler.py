"""Compiler model of a GPU's row: registers and layouts.

The figures of registers were fitted to kernels of our own, one half of their families, compiled by
Triton 3.9, and judged on the other half; docs/registers.md has how far they reach.  The knobs are
of trials (``tests/compiler/test_knobs.py``): a multiplication and a softmax, one thing changed at
a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

TRANSPOSED = "a transposed operand"
WARPS = "num_warps"
STAGES = "num_stages"
BLOCK = "the block size"
ELEMENT = "the element type"
SWAPPED = "the order of the operands"

Knobs = Mapping[str, tuple[str, ...]]
"""Attribute of a layout that the compiler chooses -> what of a program in Triton moves it.

A program in Gluon names its layouts, one in Triton does not.
"""


MOST_COMPARED = 250
"""Registers of 64-bit indices for comparisons: beyond, compilers compute them anew."""


class RegisterRange(NamedTuple):
    """Registers that a kernel is expected to need, and between which numbers they are.

    Attributes:
        low: the least.
        needed: the number that is most likely.
        high: the most.
    """

    low: int
    needed: int
    high: int


class RegisterDemand(NamedTuple):
    """Registers of 32 bits per thread that the values of a kernel take, by what they are.

    Attributes:
        live: where most are live, of all values.
        accumulators: of the sums of products, where most of them are live.
        addresses: of the addresses that no constant leads to from one another, where most are
            live.
        carried: of elements narrower than a register that a loop hands to its next iteration,
            as operands that are loaded ahead.
        compared: of 64-bit indices that comparisons rest on, or that a loop hands on, where most
            are live, up to `MOST_COMPARED`.
        loads: number of tensors that are loaded from global memory, in the loop with the most.
        loaded: of all that loads of global memory give.
        stored: of the largest tensor that is stored to global memory.
        exchanged: of what comes out of shared memory and of conversions between layouts.
        functions: elements of the largest tensor of a function that takes a dozen instructions.
        divisions: elements of the largest tensor of divisions, or of roots, of floats.
        random: elements of the largest tensor of high words of products, of which the rounds of a
            random generator are made.
        unpacked: of the largest tensor of floats that is made of narrower integers.
        guarded: of elements narrower than a register that loads with a mask give one by one,
            beside what they take once they are packed.
        held: held over a reduction or a conversion between layouts.
    """

    live: float
    accumulators: int = 0
    addresses: int = 0
    carried: int = 0
    compared: int = 0
    loads: int = 0
    loaded: int = 0
    stored: int = 0
    exchanged: int = 0
    functions: int = 0
    divisions: int = 0
    random: int = 0
    unpacked: int = 0
    guarded: int = 0
    held: int = 0


class HeldRegisters(NamedTuple):
    """Registers per thread that are held over operations, or parts of a kernel's for each.

    Attributes:
        products: held over a product of matrices.
        exchanges: over a reduction or a conversion between layouts.
    """

    products: float = 0
    exchanges: float = 0


class Weights(NamedTuple):
    """Registers that a compiler takes for each that values take, and for a kernel besides.

    Attributes:
        live: for each live one.
        base: for counters and what the schedule keeps in flight.
        accumulators, addresses, carried, compared: for each of these, beside what they are of the
            live ones.
        loads, loaded, stored, exchanged, functions, divisions, random, unpacked, guarded, held:
            likewise.
    """

    live: float
    base: float
    accumulators: float = 0
    addresses: float = 0
    carried: float = 0
    compared: float = 0
    loads: float = 0
    loaded: float = 0
    stored: float = 0
    exchanged: float = 0
    functions: float = 0
    divisions: float = 0
    random: float = 0
    unpacked: float = 0
    guarded: float = 0
    held: float = 0

    def registers(self, demand: RegisterDemand) -> int:
        """Return the registers for what values take.

        Args:
            demand: what they take.

        Example:
            >>> Weights(0.5, 10, addresses=1).registers(RegisterDemand(100, addresses=4))
            64
        """
        weights = (self.live, *self[2:])
        return round(self.base + sum(weight * words for weight, words in zip(weights, demand)))


class RangeEnd(NamedTuple):
    """An end of a range, by its middle.

    Attributes:
        part: of the middle.
        beside: registers besides.
    """

    part: float
    beside: float = 0

    def of(self, middle: int) -> int:
        """Return the end for a middle.

        Args:
            middle: registers.

        Example:
            >>> RangeEnd(0.8, -2).of(50)
            38
        """
        return round(self.part * middle + self.beside)


class FreeRegisters(NamedTuple):
    """How a compiler goes about the registers that cost no occupancy.

    As many as leave a multiprocessor full are free.  Below, it works on several elements at once;
    beyond, it issues loads later to come down to them.

    Attributes:
        eager: what it takes besides, as far as registers are free.
        pressed: the part of the middle that it takes where that is more than are free.
        kept: the part of the free ones that it takes at least where the middle is more.
        least, most: between which compiled kernels are whose middle is free.
    """

    eager: Weights
    pressed: float
    kept: float
    least: RangeEnd
    most: RangeEnd

    def middle(self, needed: int, demand: RegisterDemand, free: int) -> int:
        """Return the middle where so many registers are free.

        Args:
            needed: the middle where none are.
            demand: what values take.
            free: how many are.

        Example:
            >>> full = FreeRegisters(
            ...     Weights(0, 0, divisions=2), 0.75, 0.9, RangeEnd(0.8), RangeEnd(1.3)
            ... )
            >>> [full.middle(needed, RegisterDemand(0, divisions=4), 32) for needed in (20, 28, 60)]
            [28, 32, 45]
        """
        wanted = needed + self.eager.registers(demand)
        return min(wanted, max(free, round(self.pressed * needed)))


class RegisterLine(NamedTuple):
    """How registers follow from those that values take, for one kind of kernels.

    Attributes:
        needed: the middle.
        least, most: between which compiled kernels are.
        free: what of it changes with the registers that are free; None where nothing does.
        passing: the part that is live of a tensor whose elements are used up one by one.
        streamed: the part that is live of a tensor that is loaded in a loop.
        together: the part that is live of a tensor that is loaded outside of loops, from the first
            load between the same two barriers on: the compiler issues loads ahead.
        indices: registers for an element of a tensor of indices or addresses.
        masks: registers for an element of a mask.
        most_indices: registers that indices and masks take at most; they are computed anew beyond.
        most_addresses: that addresses take at most likewise; None of no such limit.
        may_spill_from: the part of the registers that there are from which on a kernel whose
            middle is as large may spill; None where `most` tells.
        spills_from: the part from which on it spills; None where `least` tells.
        held: registers that a kernel takes at least for each that it holds.
    """

    needed: Weights
    least: RangeEnd
    most: RangeEnd
    free: FreeRegisters | None = None
    passing: float = 0.5
    streamed: float = 1
    together: float = 0
    indices: float = 0
    masks: float = 0
    most_indices: int = 0
    most_addresses: int | None = None
    may_spill_from: float | None = None
    spills_from: float | None = None
    held: HeldRegisters = HeldRegisters()

    def range(
        self,
        demand: RegisterDemand,
        limit: int | None = None,
        free: int | None = None,
        held: HeldRegisters | None = None,
    ) -> RegisterRange:
        """Return the registers for what values take.

        Args:
            demand: what they take.
            limit: the most of a thread; None where it does not matter.
            free: how many cost no occupancy; None where that is not known.
            held: what is held over operations; None of nothing.

        Example:
            >>> line = RegisterLine(Weights(1, 10), RangeEnd(0.5, 5), RangeEnd(2, -10),
            ...                     may_spill_from=0.8, spills_from=1.2)
            >>> line.range(RegisterDemand(64), 255)
            RegisterRange(low=42, needed=74, high=138)
            >>> line.range(RegisterDemand(180), 255)  # may not spill: the compiler finds an order
            RegisterRange(low=100, needed=190, high=255)
            >>> line.range(RegisterDemand(320), 255)
            RegisterRange(low=256, needed=330, high=650)
        """
        needed, kept = self.needed.registers(demand), 0
        least, most = self.least, self.most
        if self.free is not None and free is not None:
            needed = self.free.middle(needed, demand, free)
            if needed <= free:
                least, most = self.free.least, self.free.most
            else:
                kept = round(self.free.kept * free)
        pairs = zip(self.held, held or HeldRegisters())
        no_less = round(max(part * words for part, words in pairs))
        needed = max(needed, no_less)
        low = max(no_less, min(needed, max(kept, least.of(needed))))
        high = max(needed, most.of(needed))
        if limit is not None and self.spills_from is not None:
            spills = needed >= self.spills_from * limit or no_less > limit
            low = max(low, limit + 1) if spills else min(low, limit)
        if limit is not None and self.may_spill_from is not None:
            may_spill = needed >= self.may_spill_from * limit
            high = max(high, limit + 1) if may_spill else min(high, limit)
        return RegisterRange(low, max(low, needed), max(low, high))


class CompilerModel(NamedTuple):
    """The registers that a compiler needs for those that are live in a dump.

    Attributes:
        products: of kernels that multiply matrices.
        asynchronous: of those that do with ``wgmma``; None of a compiler that has no such row.
        tensor_memory: of those whose sums are in tensor memory; None likewise.
        loops: of others that access global memory in a loop.
        straight: of all others.
        slices: the slices along K that are live of an operand of a product that is loaded from
            shared memory for it alone; 0 for all of them.
        whole_operands: whether the operands of a product of single elements are loaded whole where
            it sums up 64 products or more for each of 16 elements of a thread or more.
        sinks_shared_loads: whether loads of shared memory, besides elementwise operations, move
            down to the first use of their result, if that is a dot up to the dot before.
        sinks_scans: whether scans do.
        scans_whole: how many registers a kernel of one warp may need for its scans to keep their
            tensors whole; with more they go row by row.
    """

    products: RegisterLine
    loops: RegisterLine
    straight: RegisterLine
    slices: int = 0
    sinks_shared_loads: bool = False
    sinks_scans: bool = False
    scans_whole: int = 0
    asynchronous: RegisterLine | None = None
    tensor_memory: RegisterLine | None = None
    whole_operands: bool = False
