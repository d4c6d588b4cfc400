"""Candidates of a swizzle search, with the costs of writers and readers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.padding import padded_size
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.shared_memory.access import AccessMap, access_map
from tt_layout.analyses.shared_memory.banks import SharedAccess, cost, fitting_target
from tt_layout.encodings import DistributedEncoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.records import dataclass


@dataclass(frozen=True)
class SwizzleCandidate:
    """A shared layout and the costs of its accesses.

    Attributes:
        encoding: the layout.
        accesses: the stores of the writers, then the loads of the readers.
        memory_bytes: size of the tensor in bytes, padding included.
        simplicity: rank among equals; less is simpler.
    """

    encoding: SharedEncoding
    accesses: tuple[SharedAccess, ...]
    memory_bytes: int
    simplicity: tuple[int, ...]

    @property
    def wavefronts(self) -> int | float:
        """Wavefronts per warp, over all accesses."""
        return sum(access.wavefronts for access in self.accesses)

    @property
    def extra_wavefronts(self) -> int | float:
        """Wavefronts per warp that bank conflicts add."""
        return sum(access.extra_wavefronts for access in self.accesses)

    @property
    def cycles(self) -> tuple[int | float, int | float]:
        """The wavefronts, and the extra ones among them."""
        return self.wavefronts, self.extra_wavefronts

    @property
    def rank(self) -> tuple[Any, ...]:
        """Sort key: wavefronts, memory, instructions, then simplicity."""
        instructions = sum(access.instructions for access in self.accesses)
        return self.wavefronts, self.memory_bytes, instructions, self.simplicity


class SwizzleProblem:
    """Writers and readers of one tensor on one target.

    Attributes:
        registers: the register layout of each access, and whether it writes.
        shape, elem_bytes: the tensor.
        target: the target, for the layouts' warp size.
    """

    def __init__(
        self,
        writers: Sequence[DistributedEncoding],
        readers: Sequence[DistributedEncoding],
        shape: Sequence[int],
        elem_bytes: int,
        target: Target,
    ) -> None:
        self.shape, self.elem_bytes, self.target = tuple(shape), elem_bytes, target
        self.registers: list[tuple[LinearLayout, bool]] = []
        self._known: dict[tuple[int, LinearLayout], AccessMap] = {}
        for layouts, is_store in ((writers, True), (readers, False)):
            for layout in layouts:
                linear = layout.to_linear_layout(shape, element_bits=8 * elem_bytes)
                if any(any(vector) for vector in linear.vectors("block")):
                    raise LayoutError("only layouts of a single CTA can be searched for")
                self.registers.append((linear, is_store))
                self.target = target.of_lanes(linear.get_in_dim_size("lane"))

    @property
    def elements(self) -> int:
        """The number of elements of the tensor."""
        return math.prod(self.shape)

    def evaluate(self, encoding: SharedEncoding, simplicity: tuple[int, ...]) -> SwizzleCandidate:
        """Evaluate the accesses with a shared layout.

        Raises:
            LayoutError: the layout does not fit the tensor, or a warp the target, or an access
                would be misaligned and trap.
        """
        memory = self._memory(encoding)
        accesses = tuple(self._accesses(encoding, memory))
        slots = padded_size(memory.get_in_dim_size("offset"), encoding.padding)
        return SwizzleCandidate(encoding, accesses, slots * self.elem_bytes, simplicity)

    def wavefronts_below(
        self, most: float, encoding: SharedEncoding, weights: Sequence[int]
    ) -> int | float | None:
        """Return the weighted sum of the wavefronts of the accesses with a shared layout.

        None if it is not below ``most``; then not all accesses are evaluated, since a lower bound
        on the others is known.

        Raises:
            LayoutError: as `evaluate`.
        """
        floors = self._floors
        total = sum(weight * floor for weight, floor in zip(weights, floors))
        if total >= most:
            return None
        accesses = self._accesses(encoding, self._memory(encoding))
        for weight, floor, access in zip(weights, floors, accesses):
            total += weight * (access.wavefronts - floor)
            if total >= most:
                return None
        return total

    @cached_property
    def _floors(self) -> tuple[int | float, ...]:
        """Lower bound on the wavefronts of each access in any layout: its words over all banks."""
        phases = (*self.target.store_phases.values(), *self.target.load_phases.values())
        banks = max(self.target.banks, *(phase.banks for phase in phases))
        floors = []
        for linear, _ in self.registers:
            of_a_warp = (*linear.vectors("register"), *linear.vectors("lane"))
            elements = 1 << F2Span([*map(linear.flatten, of_a_warp)]).rank
            floors.append(elements * self.elem_bytes / (banks * self.target.bank_bytes))
        return tuple(floors)

    def _memory(self, encoding: SharedEncoding) -> LinearLayout:
        return encoding.to_linear_layout(self.shape, element_bits=8 * self.elem_bytes)

    def _accesses(self, encoding: SharedEncoding, memory: LinearLayout) -> Iterator[SharedAccess]:
        for number, (_, is_store) in enumerate(self.registers):
            offsets = replace(self._offsets(number, memory), padding=encoding.padding)
            access = cost(offsets, self.target, is_store=is_store)
            if access.instruction.is_misaligned:
                raise LayoutError(f"{encoding} makes accesses misaligned")
            yield access

    def _offsets(self, number: int, memory: LinearLayout) -> AccessMap:
        """Return the offsets of an access; cached by the linear layout of the memory."""
        key = number, memory
        if key not in self._known:
            registers, _ = self.registers[number]
            self._known[key] = access_map(registers, memory, self.elem_bytes)
            fitting_target(self._known[key], self.target)
        return self._known[key]
