"""Model of a GPU's compiler: its registers and its choice of layouts.

The coefficients for registers were fitted to one half of the families of our own kernels, compiled
by Triton 3.9, and judged on the other half; docs/registers.md has their accuracy.  The knobs come
from trials (``tests/compiler/test_knobs.py``) of multiplications and a softmax with one change at a
time.
"""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.tuples import NamedTuple

TRANSPOSED = "a transposed operand"
WARPS = "num_warps"
STAGES = "num_stages"
BLOCK = "the block size"
ELEMENT = "the element type"
SWAPPED = "the order of the operands"

OF_OPERANDS = frozenset({TRANSPOSED, SWAPPED})
"""Knobs of multiplications."""

Knobs = Mapping[str, tuple[str, ...]]
"""Mnemonic of a layout that the compiler chooses -> the knobs of a Triton program that change it.

A program in Gluon names its layouts, one in Triton does not.
"""


MOST_COMPARED = 250
"""Registers of 64-bit indices for comparisons; beyond these, compilers recompute them."""


MANY_ADDRESSES = 32
"""Registers of addresses from which compilers may keep some and compute others again."""


FEW_LOADS = 2
"""Masked loads of single elements that crowd a kernel which needs many registers."""


class RegisterRange(NamedTuple):
    """Expected range of the registers that a kernel needs.

    Attributes:
        low: the lower end.
        needed: the most likely number.
        high: the upper end.
    """

    low: int
    needed: int
    high: int


class RegisterDemand(NamedTuple):
    """32-bit registers per thread that the values of a kernel occupy, by kind of value.

    Attributes:
        live: peak of live registers of all values.
        accumulators: peak of the accumulators of matrix products.
        addresses: peak of the addresses that do not differ from each other by constants.
        carried: elements narrower than a register that are loop-carried, such as prefetched
            operands.
        compared: peak of the 64-bit indices of comparisons, and loop-carried ones, up to
            `MOST_COMPARED`.
        loads: number of tensors loaded from global memory, in the loop with the most.
        loaded: results of all loads from global memory.
        stored: the largest tensor stored to global memory.
        exchanged: results of loads from shared memory and of layout conversions.
        functions: elements of the largest tensor of a function that takes a dozen instructions.
        divisions: elements of the largest tensor of divisions, or square roots, of floats.
        random: elements of the largest tensor of high halves of products, as in the rounds of a
            random generator.
        unpacked: the largest tensor of floats converted from narrower integers.
        guarded: elements narrower than a register from masked loads, which come one by one, in
            addition to their packed registers.
        held: values held across a reduction or a layout conversion.
        singles: masked loads of single elements, in the loop with the most.
        ahead: results of all loads outside of loops, as if all were issued ahead.
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
    singles: int = 0
    ahead: int = 0


class HeldRegisters(NamedTuple):
    """Registers per thread held across operations, or weights for them.

    Attributes:
        products: held across a matrix product.
        exchanges: held across a reduction or a layout conversion.
    """

    products: float = 0
    exchanges: float = 0


class Weights(NamedTuple):
    """Linear model: registers allocated per register of a demand, plus a constant.

    Attributes:
        live: weight of live registers.
        base: constant for counters and what the schedule keeps in flight.
        accumulators, addresses, carried, compared: weights of these, in addition to that of the
            live ones.
        loads, loaded, stored, exchanged, functions, divisions, random, unpacked, guarded, held,
            singles, ahead: further weights.
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
    singles: float = 0
    ahead: float = 0

    def registers(self, demand: RegisterDemand) -> int:
        """Return the registers for a demand.

        Args:
            demand: the registers that values occupy.

        Example:
            >>> Weights(0.5, 10, addresses=1).registers(RegisterDemand(100, addresses=4))
            64
        """
        weights = (self.live, *self[2:])
        return round(self.base + sum(weight * words for weight, words in zip(weights, demand)))


class RangeEnd(NamedTuple):
    """An end of a range as a linear function of its middle.

    Attributes:
        part: the factor.
        beside: the constant, in registers.
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
    """How a compiler uses registers that cost no occupancy.

    Registers are free as long as the multiprocessor stays full.  Below that number the compiler
    works on several elements at once; above it, it delays loads to come down to it.

    Attributes:
        eager: additional registers that it takes while registers are free.
        pressed: fraction of the middle that it takes if that is above the free number.
        kept: fraction of the free number that it takes at least if the middle is above it.
        least, most: range of compiled kernels whose middle is within the free number.
    """

    eager: Weights
    pressed: float
    kept: float
    least: RangeEnd
    most: RangeEnd

    def middle(self, needed: int, demand: RegisterDemand, free: int) -> int:
        """Return the middle for a number of free registers.

        Args:
            needed: the middle without free registers.
            demand: the registers that values occupy.
            free: the number of free registers.

        Example:
            >>> full = FreeRegisters(
            ...     Weights(0, 0, divisions=2), 0.75, 0.9, RangeEnd(0.8), RangeEnd(1.3)
            ... )
            >>> [full.middle(needed, RegisterDemand(0, divisions=4), 32) for needed in (20, 28, 60)]
            [28, 32, 45]
        """
        wanted = needed + self.eager.registers(demand)
        return min(wanted, max(free, round(self.pressed * needed)))


class Crowd(NamedTuple):
    """Masked loads of single elements that crowd the registers of a kernel.

    Attributes:
        elements: the least number of elements that are loaded one by one.
        loads: the least number of loads.
        may_spill_from: fraction of the available registers at which a kernel with such a middle
            may spill if it has `FEW_LOADS` of them.
    """

    elements: int
    loads: int
    may_spill_from: float


class RegisterLine(NamedTuple):
    """Model of a kernel's registers from those that its values occupy, for one kind of kernels.

    Attributes:
        needed: the middle.
        least, most: range of compiled kernels around it.
        free: the effect of free registers; None for none.
        passing: fraction live of a tensor whose elements are consumed one by one.
        streamed: fraction live of a tensor that is loaded in a loop.
        together: fraction live of a tensor that is loaded outside loops, from the first load
            between the same two barriers on, since the compiler hoists loads.
        indices: registers per element of a tensor of indices or addresses.
        masks: registers per element of a mask.
        most_indices: maximum registers of indices and masks, which are recomputed beyond it.
        most_addresses: the same maximum for addresses; None for no limit.
        may_spill_from: fraction of the available registers at which a kernel with such a middle
            may spill; None if `most` decides.
        spills_from: fraction at which it spills; None if `least` decides.
        held: minimum registers per register that is held across operations.
        ahead: registers of a kernel that issues all loads outside of loops ahead, by `ahead` of its
            demand; None if no compiler of the kind does.
        addresses_beside: registers added to the upper end for each of `addresses` where these are
            `MANY_ADDRESSES` or more, which a compiler may keep or compute again.
        crowd: masked loads from which a kernel may spill; None if they do not matter.
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
    ahead: RangeEnd | None = None
    addresses_beside: float = 0
    crowd: Crowd | None = None

    def range(
        self,
        demand: RegisterDemand,
        limit: int | None = None,
        free: int | None = None,
        held: HeldRegisters | None = None,
    ) -> RegisterRange:
        """Return the range of registers for a demand.

        Args:
            demand: the registers that values occupy.
            limit: the maximum of a thread; None to ignore it.
            free: the number of registers that cost no occupancy; None where not known.
            held: registers held across operations; None for none.

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
        has_many = demand.addresses >= MANY_ADDRESSES
        beside = round(self.addresses_beside * demand.addresses) if has_many else 0
        high = max(needed, most.of(needed) + beside)
        if self.ahead is not None:
            high = max(high, self.ahead.of(demand.ahead))
        if limit is not None and self.spills_from is not None:
            spills = needed >= self.spills_from * limit or no_less > limit
            low = max(low, limit + 1) if spills else min(low, limit)
        if limit is not None and self.may_spill_from is not None:
            is_near = needed + beside >= self.may_spill_from * limit
            may_spill = is_near or self._is_crowded(demand, needed, limit)
            high = max(high, limit + 1) if may_spill else min(high, limit)
        return RegisterRange(low, max(low, needed), max(low, high))

    def _is_crowded(self, demand: RegisterDemand, needed: int, limit: int) -> bool:
        """Tell whether so many elements are loaded one by one that a kernel may spill.

        Each waits in a register of its own with its predicate, and the assembler spills a few to
        reach a step of the occupancy.
        """
        crowd = self.crowd
        if crowd is None or demand.singles < crowd.elements:
            return False
        is_near = needed >= crowd.may_spill_from * limit
        return demand.loads >= (FEW_LOADS if is_near else crowd.loads)


class CompilerModel(NamedTuple):
    """Models of a compiler's registers for the kinds of kernels.

    Attributes:
        products: for kernels with matrix products.
        asynchronous: for those with ``wgmma``; None if the compiler has no such model.
        tensor_memory: for those with accumulators in tensor memory; None as above.
        loops: for other kernels that access global memory in a loop.
        straight: for all others.
        slices: number of live slices along K of an operand that is loaded from shared memory
            for one product only; 0 for all of them.
        whole_sums: elements of a thread from which a product without matrix instructions loads its
            operands whole if it adds 64 products or more for each to a constant; 0 for never.
        whole_in_loops: whether any product in a loop does, from 1,024 products of a thread on.
        sinks_shared_loads: whether loads from shared memory, like elementwise operations, sink to
            the first use of their result; if that is a dot, only to the dot before it.
        sinks_scans: whether scans sink.
        scans_whole: maximum registers of a kernel of one warp at which its scans keep their
            tensors whole; above it they go row by row.
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
    whole_sums: int = 0
    whole_in_loops: bool = False
