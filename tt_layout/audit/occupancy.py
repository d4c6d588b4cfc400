"""Occupancy of a multiprocessor: CTAs, warps, and their limits.

Source:
    CUDA Occupancy Calculator; LLVM, AMDGPU, Utils/AMDGPUBaseInfo.cpp.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tt_layout.audit.allocation.shared_memory import WARP_GROUP
from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.details import TensorMemoryAllocationDetails
from tt_layout.audit.registers import RegisterPressure
from tt_layout.hardware import Target
from tt_layout.hardware.multiprocessor import RegisterFile, Residence
from tt_layout.ir.ssa import Operation, integers
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.lazy import lazy
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count, listed

REGISTERS, SHARED, WARPS, CTAS = "registers", "shared memory", "warps", "CTAs"
TENSOR = "tensor memory"
SHARED_GRANULE = 128
WARP_GRANULE = 4
"""Warps for which NVIDIA's GPUs allocate registers together."""


class ResidencyLimit(NamedTuple):
    """Limit of one resource on the number of CTAs.

    Attributes:
        resource: ``registers``, ``shared memory``, ``warps``, ``CTAs`` or ``tensor memory``.
        ctas: CTAs that it allows.
        most: the most that a CTA may take for more to fit, in registers per thread, bytes, warps
            or columns; None where no saving allows more.
        then: CTAs that it allows with `most`.
    """

    resource: str
    ctas: int
    most: int | None = None
    then: int = 0


@dataclass(frozen=True)
class Occupancy:
    """Occupancy of a multiprocessor by a kernel.

    Attributes:
        ctas: CTAs at once.
        warps: warps of these CTAs.
        most_warps: warps that a multiprocessor can hold.
        limits: limit of each resource, the tightest first.
        fewest, most: CTAs at once at either end of the estimated registers; None where equal to
            `ctas`.
    """

    ctas: int
    warps: int
    most_warps: int
    limits: tuple[ResidencyLimit, ...]
    fewest: int | None = None
    most: int | None = None

    @property
    def amount(self) -> str:
        """The number of CTAs in words, perhaps a range.

        Example:
            >>> from dataclasses import replace
            >>> from tt_layout.hardware import find_target
            >>> found = occupancy(find_target("sm90"), 4, registers=168)
            >>> [replace(found, fewest=fewest).amount for fewest in (None, 0, 2)]
            ['3 CTAs', '1 to 3 CTAs', '2 or 3 CTAs']
        """
        low, high = self.low, self.high
        if low == high:
            return count(self.ctas, "CTA")
        return f"{low} {'or' if high == low + 1 else 'to'} {high} CTAs"

    @property
    def low(self) -> int:
        """The fewest CTAs at once; at least one if `ctas` is, which compilers ensure."""
        fewest = self.ctas if self.fewest is None else self.fewest
        return min(max(1, fewest), self.ctas)

    @property
    def high(self) -> int:
        """The most CTAs at once."""
        return self.ctas if self.most is None else max(self.most, self.ctas)

    @property
    def _warps(self) -> str:
        each = self.warps // max(1, self.ctas)
        low, high = self.low * each, self.high * each
        amount = f"{low} to {high}" if low < high else f"{self.warps}"
        return f"{amount} of {self.most_warps} warps"

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that allow no more CTAs."""
        return tuple(limit.resource for limit in self.limits if limit.ctas == self.ctas)

    @property
    def next_step(self) -> str | None:
        """Reduction that would allow more CTAs, if a single resource is in the way."""
        limit, *others = self.limits
        if len(self.limited_by) != 1 or limit.most is None:
            return None
        units = {
            REGISTERS: "registers per thread",
            SHARED: "bytes of shared memory",
            WARPS: "warps",
            TENSOR: "columns of tensor memory",
        }
        ctas = min([limit.then, *(other.ctas for other in others)])
        return f"{count(ctas, 'CTA')} with at most {limit.most} {units[limit.resource]}"

    @lazy
    def text(self) -> str:
        """Occupancy in a few words.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> found = occupancy(find_target("sm90"), 4, registers=168, shared_bytes=65536)
            >>> print(found.text)
            3 CTAs, 12 of 64 warps, limited by registers and shared memory
        """
        step = f"; {self.next_step}" if self.next_step is not None else ""
        return f"{self.amount}, {self._warps}, {self._limits}{step}"

    @lazy
    def short(self) -> str:
        """Occupancy without warps and the next step."""
        return f"{self.amount}, {self._limits}"

    @property
    def _limits(self) -> str:
        return f"limited by {listed(self.limited_by)}"


def kernel_occupancy(
    conclusions: Conclusions,
    pressure: RegisterPressure,
    shared_bytes: int | None,
    known: KernelMetadata = NO_METADATA,
) -> Occupancy | None:
    """Return the occupancy of a kernel, as far as its dump determines it.

    Args:
        conclusions: conclusions about the module.
        pressure: its registers; those beyond the limit are spilled.
        shared_bytes: shared memory of a CTA; None if it has none, or if not known.
        known: metadata of the compiled kernel.
    """
    audited = conclusions.audited
    warps = held_warps(audited, pressure.function, known)
    if audited.target is None or warps is None:
        return None
    if shared_bytes is None:
        if conclusions.memory_of(pressure.function) is not None:
            return None
        shared_bytes = 0
    columns = known.tensor_columns
    if columns is None:
        columns = tensor_columns_of(conclusions, pressure.function)
    needs = {"shared_bytes": shared_bytes, "tensor_columns": columns}
    find = partial(occupancy, audited.target, warps, **needs)

    def found_by(registers: int) -> Occupancy | None:
        question = "occupancy", warps, registers, *needs.values()
        return audited.once(question, partial(find, registers=registers), has_lines=False)

    middle = found_by(min(pressure.taken, pressure.limit))
    if middle is None or pressure.compiled is not None:
        return middle
    low, _, high = pressure.range
    ends = (found_by(min(registers, pressure.limit)) for registers in (high, low))
    fewest, most = (end.ctas if end is not None else None for end in ends)
    return replace(middle, fewest=fewest, most=most)


def held_warps(
    audited: AuditedModule, function: str, known: KernelMetadata = NO_METADATA
) -> int | None:
    """Return the warps of a CTA, with those of partitions, which come in groups of four."""
    total = known.warps or audited.module.number("total-num-warps")
    warps = audited.module.number("num-warps")
    if total is not None or warps is None:
        return total
    partitions = (
        sum(integers(full.operation.attributes.get("partitionNumWarps")))
        for full in audited.chosen(_has_partitions, function)
    )
    return warps + -(-max(partitions, default=0) // WARP_GROUP) * WARP_GROUP


def _has_partitions(operation: Operation) -> bool:
    return operation.traits.partitions


def tensor_columns_of(conclusions: Conclusions, function: str | None) -> int:
    """Return the columns of tensor memory that a kernel allocates."""
    rows = conclusions.priced_of(function)
    details = (row.cost.details for row in rows if row.cost is not None)
    return sum(x.columns for x in details if isinstance(x, TensorMemoryAllocationDetails))


def occupancy(
    target: Target,
    warps: int,
    *,
    registers: int,
    shared_bytes: int = 0,
    tensor_columns: int = 0,
) -> Occupancy | None:
    """Return the occupancy of a kernel; None if no source gives its GPU's limits.

    Args:
        target: the GPU.
        warps: warps of a CTA.
        registers: registers of a thread.
        shared_bytes: shared memory of a CTA.
        tensor_columns: columns of tensor memory that a CTA allocates.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> found = occupancy(find_target("sm90"), 4, registers=255)
        >>> found.ctas, found.limited_by, found.next_step
        (2, ('registers',), '3 CTAs with at most 168 registers per thread')
    """
    has, file = target.residence, target.registers
    if has is None or file is None or warps < 1:
        return None
    limits = [
        _of_registers(target, has, file, warps, registers),
        _of_warps(has, warps, target.most_threads // target.lanes),
        ResidencyLimit(CTAS, has.most_ctas(warps)),
        *_of_memory(SHARED, has.shared_bytes, shared_bytes, SHARED_GRANULE, has.reserved_bytes),
        *_of_memory(TENSOR, has.tensor_columns, tensor_columns, 1, 0),
    ]
    limits.sort(key=lambda limit: limit.ctas)
    ctas = limits[0].ctas
    return Occupancy(ctas, ctas * warps, has.warps, tuple(limits))


def _of_warps(has: Residence, warps: int, most: int) -> ResidencyLimit:
    """Return the limit by warps, of which a CTA may have at most ``most``.

    Smaller CTAs hold no more warps together, so they are a step only where none fits.
    """
    if warps > most:
        return ResidencyLimit(WARPS, 0, min(most, has.warps), 1)
    return ResidencyLimit(WARPS, has.warps // warps)


def _of_memory(
    resource: str, capacity: int, used: int, granule: int, reserved: int
) -> Iterator[ResidencyLimit]:
    if not used and not reserved:
        return
    taken = -(-(used + reserved) // granule) * granule
    ctas = capacity // taken
    larger = capacity // (ctas + 1) // granule * granule - reserved
    yield ResidencyLimit(resource, ctas, larger if used and larger > 0 else None, ctas + 1)


def _of_registers(
    target: Target, has: Residence, file: RegisterFile, warps: int, registers: int
) -> ResidencyLimit:
    """Return the limit by registers, and the most registers that allow more CTAs."""

    def ctas_of(count: int) -> int:
        granted = -(-max(1, count) // file.granule) * file.granule
        if target.is_nvidia:
            room = file.size // (granted * target.lanes) // WARP_GRANULE * WARP_GRANULE
            return room // (-(-warps // WARP_GRANULE) * WARP_GRANULE if warps > 1 else 1)
        return min(file.size // granted * file.simds, has.warps) // warps

    ctas = ctas_of(registers)
    most = file.most_per_thread
    steps = (most, *range(most // file.granule * file.granule, 0, -file.granule))
    # Fewer registers never allow fewer CTAs, so that the first step with more is found by halves.
    at = bisect_left(steps, True, key=lambda count: ctas_of(count) > ctas)
    if at == len(steps):
        return ResidencyLimit(REGISTERS, ctas)
    return ResidencyLimit(REGISTERS, ctas, steps[at], ctas_of(steps[at]))
