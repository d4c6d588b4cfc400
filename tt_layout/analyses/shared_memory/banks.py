"""Shared-memory bank conflicts: the cycles that a warp-wide access takes.

The rule, which every measured load and store obeys (``docs/bank-conflicts.md``):

1.  The lanes go in phases: 8 lanes at a time if each moves 16 bytes, 16 if each moves 8, all 32
    below that (NVIDIA; other targets have other tables).
2.  Two phases of a load are merged if every lane of the warp reads the same address as its
    neighbour by 1 (``lane ^ 1``), or every lane the same as its neighbour by 2.
3.  Within a phase, distinct words in one bank take a cycle each; the same word is shared.

Both sides are linear, so the words of a phase are a coset of a subspace.  Each accessed bank has
the same number of them, 2^(rank of the words - rank of their banks): no element is ever enumerated,
and every instruction and every phase of an access takes equally many cycles.  Only padding breaks
that; then the addresses are enumerated and counted.

Read next:    `tt_layout.analyses.shared_memory.access`,
              `tt_layout.analyses.shared_memory.addresses`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tt_layout.algebra.linear_layout import log2
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.shared_memory.access import (
    MATRIX_ROW_BYTES,
    AccessMap,
    Instruction,
    access_map,
    choose_instruction,
)
from tt_layout.arguments import checks_arguments
from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.hardware import Phase, Target, find_target
from tt_layout.records import dataclass
from tt_layout.safe_text import as_html
from tt_layout.surface import argument
from tt_layout.wording import count

if TYPE_CHECKING:
    from tt_layout.algebra.arrays import Ints
    from tt_layout.analyses.shared_memory.addresses import Collision


@dataclass(frozen=True)
class SharedAccess:
    """Cost of storing or loading a tensor, per warp.

    Attributes:
        target: the GPU.
        is_store: whether registers go to memory.
        instruction: the instruction of the access.
        phase: the division of its lanes, with merged phases combined.
        phases: phases per instruction; without conflicts each takes one cycle.
        wavefronts_per_instruction: cycles per instruction; with padding, and if instructions
            differ, the mean over all instructions of all warps.
        offsets: the map from hardware to offsets.
    """

    target: Target
    is_store: bool
    instruction: Instruction
    phase: Phase
    phases: int | float
    wavefronts_per_instruction: int | float
    offsets: AccessMap

    def __str__(self) -> str:
        access = (
            f"{self.instructions} x {self.instruction.name(self.target, self.is_store)} per warp"
        )
        cycles = f"{self.wavefronts_per_instruction:g} {self.target.cycle}s per instruction"
        return f"{'store' if self.is_store else 'load'}: {access}, {cycles}"

    def _repr_html_(self) -> str:
        return as_html(str(self))

    @property
    def instructions(self) -> int:
        """Instructions per warp."""
        return self.instruction.count

    @property
    def width_bytes(self) -> int:
        """Bytes that each lane moves per instruction."""
        return self.instruction.width_bytes

    @property
    def ideal_wavefronts_per_instruction(self) -> int | float:
        """The fewest cycles of an instruction with these phases."""
        return self.phases

    @property
    def extra_wavefronts_per_instruction(self) -> int | float:
        """Cycles per instruction that bank conflicts add."""
        return self.wavefronts_per_instruction - self.phases

    @property
    def extra_wavefronts(self) -> int | float:
        """Wavefronts that bank conflicts add in all, per warp."""
        return self.extra_wavefronts_per_instruction * self.instructions

    @property
    def wavefronts(self) -> int | float:
        """Cycles in all, per warp."""
        return self.wavefronts_per_instruction * self.instructions

    @property
    def name(self) -> str:
        """The name of the instruction in assembly."""
        return self.instruction.name(self.target, self.is_store)

    @cached_property
    def first_instruction(self) -> tuple[Ints, Ints]:
        """Lanes and words of each phase, as from `addresses.first_instruction`."""
        from tt_layout.analyses.shared_memory.addresses import first_instruction

        return first_instruction(self.offsets, self.instruction, self.phase, self.target)

    @cached_property
    def worst_phase(self) -> tuple[Ints, Ints]:
        """Lanes and words, one row each, of the slowest phase of the first instruction."""
        from tt_layout.analyses.shared_memory.addresses import worst_phase

        return worst_phase(*self.first_instruction, self.phase.banks)

    @cached_property
    def collisions(self) -> tuple[Collision, ...]:
        """Banks with several words in the worst phase."""
        from tt_layout.analyses.shared_memory.addresses import collisions

        return collisions(*self.worst_phase, self.phase.banks)

    @cached_property
    def colliding_bits(self) -> tuple[int, ...]:
        """Basis of the masks of lane bits that change the word but not the bank."""
        from tt_layout.analyses.shared_memory.addresses import colliding_bits

        return colliding_bits(*self.worst_phase, self.phase.banks)


@dataclass(frozen=True)
class BankConflicts:
    """Costs of storing a tensor to shared memory and of loading it back.

    Attributes:
        store: registers to memory.
        load: memory to registers.

    Example:
        >>> conflicts = bank_conflicts(
        ...     "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], "
        ...     "warpsPerCTA = [4, 1], order = [0, 1]}>",
        ...     "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
        ...     [128, 32], elem_bytes=4)
        >>> load = conflicts.load
        >>> load.wavefronts_per_instruction, load.extra_wavefronts_per_instruction
        (32, 28)
    """

    store: SharedAccess
    load: SharedAccess


@checks_arguments
def bank_conflicts(
    register: Encoding | str,
    shared: Encoding | str,
    shape: Sequence[int],
    *,
    elem_bytes: int,
    target: Target | str = "nvidia",
) -> BankConflicts:
    """Count the shared-memory bank conflicts of storing and of loading a tensor.

    Args:
        register: the register layout, an attribute or its text.
        shared: the shared layout; the two may be given in either order.
        shape: sizes of the tensor.
        elem_bytes: bytes of an element: 1, 2, 4, 8 or 16.
        target: the GPU; a name of `tt_layout.hardware.TARGETS` or a target of your own.

    Raises:
        LayoutError: they are not a register layout and a shared layout, one does not fit the
            shape, or the target has another warp size.

    Example:
        Rows of 64 f16, written by rows and free of conflicts:

        >>> result = bank_conflicts(
        ...     "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
        ...     "warpsPerCTA = [4, 1], order = [1, 0]}>",
        ...     "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
        ...     [64, 64], elem_bytes=2)
        >>> result.store.name, result.store.instructions, result.store.extra_wavefronts
        ('st.shared.v4.b32', 4, 0)

    Source:
        docs/bank-conflicts.md: the rule, the measurements and where the compiler differs.
    """
    hardware = find_target(target)
    registers, memory = registers_first(as_encoding(register), as_encoding(shared))
    return conflicts_at(map_access(registers, memory, shape, elem_bytes), hardware)


def registers_first(
    first: Encoding, second: Encoding
) -> tuple[DistributedEncoding, SharedEncoding]:
    """Return a register layout and a shared layout, passed in either order.

    Raises:
        LayoutError: they are not such a pair.
    """
    registers, memory = (second, first) if isinstance(first, SharedEncoding) else (first, second)
    if isinstance(registers, DistributedEncoding) and isinstance(memory, SharedEncoding):
        return registers, memory
    message = (
        "bank conflicts need a register layout and a shared layout, "
        f"got {registers.memory_space} and {memory.memory_space}"
    )
    origin = second.origin or first.origin  # one of them is to be another
    raise LayoutError(message, origin.attribute if origin is not None else None)


def conflicts_at(offsets: AccessMap, target: Target) -> BankConflicts:
    """Return the costs of a store and a load at these offsets.

    Raises:
        LayoutError: the target has another warp size.
    """
    gpu = fitting_target(offsets, target)
    return BankConflicts(
        store=cost(offsets, gpu, is_store=True), load=cost(offsets, gpu, is_store=False)
    )


def as_encoding(layout: Encoding | str) -> Encoding:
    """Return an encoding, parsed if it is a text."""
    if isinstance(layout, Encoding):
        return layout
    from tt_layout.encodings.parsing import parse_layout

    return parse_layout(layout)


def map_access(
    register: DistributedEncoding, shared: SharedEncoding, shape: Sequence[int], elem_bytes: int
) -> AccessMap:
    """Return the offset in shared memory of each register, lane and warp bit."""
    bits = 8 * elem_bytes
    registers, memory = (e.to_linear_layout(shape, element_bits=bits) for e in (register, shared))
    return access_map(registers, memory, elem_bytes, shared.padding)


def fitting_target(offsets: AccessMap, target: Target) -> Target:
    """Return the target for the layout's warp size.

    Raises:
        LayoutError: the target has another warp size.
    """
    lanes = 1 << len(offsets.lane)
    gpu = target.of_lanes(lanes)
    if lanes != gpu.lanes:
        message = (
            f"the layout has {count(lanes, 'lane')} per warp, but {target.name} has {target.lanes}"
        )
        raise LayoutError(f"{message}; {argument('target')} picks another")
    return gpu


def cost(
    offsets: AccessMap, target: Target, *, is_store: bool, instruction: Instruction | None = None
) -> SharedAccess:
    """Return the cost of one access by an instruction, by default the compiler's."""
    if instruction is None:
        instruction = choose_instruction(offsets, target, is_store)
    if instruction.matrices:
        phase, phases = target.matrix_phase, instruction.matrices
        bases = [_address(instruction.addresses, mask) for mask in phase.masks]
        ways = cycles_of(bases, MATRIX_ROW_BYTES, phase.banks, target.bank_bytes)
        return SharedAccess(target, is_store, instruction, phase, phases, phases * ways, offsets)
    phase = _merged(instruction.forms[0].width_bytes, instruction, target, is_store)
    ideal, total = 0, 0.0
    for form in instruction.forms:
        merged = _merged(form.width_bytes, instruction, target, is_store)
        accesses = form.instructions * form.accesses
        ideal += accesses * (target.lanes // merged.lanes)
        total += accesses * _cycles(form.width_bytes, merged, instruction, offsets, target)
    fewest, cycles = (_quotient(number, instruction.count) for number in (ideal, total))
    return SharedAccess(target, is_store, instruction, phase, fewest, cycles, offsets)


def _cycles(
    width: int, phase: Phase, instruction: Instruction, offsets: AccessMap, target: Target
) -> float:
    """Return the mean cycles of an access of one width."""
    if offsets.padding:
        from tt_layout.analyses.shared_memory.addresses import mean_cycles

        return mean_cycles(offsets, instruction, width, phase, target)
    bases = [_address(instruction.addresses, mask) for mask in phase.masks]
    ways = cycles_of(bases, width, phase.banks, target.bank_bytes)
    return target.lanes // phase.lanes * ways


def _merged(width: int, instruction: Instruction, target: Target, is_store: bool) -> Phase:
    """Return the phase of an access of one width, twice as long for merged phases."""
    phase = target.phase(width, is_store)
    bank_bytes, lanes = target.bank_bytes, instruction.addresses
    may = target.merges_wide_loads and not is_store and width > bank_bytes
    if not may or all(lanes[:2]) or phase.lanes == target.lanes:
        return phase
    return Phase((*phase.masks, phase.lanes), phase.banks)


def _address(bases: Sequence[int], mask: int) -> int:
    """Return the xor of the bases of a mask."""
    result = 0
    for bit, basis in enumerate(bases):
        if mask >> bit & 1:
            result ^= basis
    return result


def cycles_of(bases: Sequence[int], width: int, banks: int, bank_bytes: int = 4) -> int:
    """Return the cycles of one phase whose byte addresses are a span.

    Example:
        Eight lanes, 16 bytes each, 128 bytes apart: all in the same four banks:

        >>> cycles_of([128, 256, 512], 16, 32)
        8
    """
    words = [basis // bank_bytes for basis in bases]
    words += [1 << bit for bit in range(log2(max(1, width // bank_bytes)))]
    hit = F2Span([word & banks - 1 for word in words]).rank
    return 1 << F2Span(words).rank - hit


def _quotient(number: float, divisor: int) -> int | float:
    """Return a quotient as an int if it is whole, else as a float."""
    return number / divisor if number % divisor else int(number // divisor)
