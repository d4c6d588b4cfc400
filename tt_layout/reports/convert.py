"""Cost of a conversion between two layouts: the report of ``tt-layout convert``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tt_layout.analyses.conversion.compiled_conversion import (
    CompiledConversion,
    Transfer,
    compiled_conversion,
)
from tt_layout.analyses.conversion.conversion import (
    Conversion,
    ConversionCost,
    ConversionKind,
    classify,
    conversion_cost,
)
from tt_layout.analyses.conversion.scratch import Scratch, scratch
from tt_layout.analyses.conversion.sub_groups import SubGroupStep, sub_group_step
from tt_layout.analyses.shared_memory.banks import SharedAccess, registers_first
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.hardware import DEFAULT_TARGET, TARGETS, find_target, intel, usual_target
from tt_layout.ir.data_movements import MovementKind
from tt_layout.mlir.types import TensorType
from tt_layout.placement import place
from tt_layout.records import dataclass
from tt_layout.reports.conflicts import access_data, access_lines, conflicts_report, evidence
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line, lines_of_both
from tt_layout.wording import count

JSON_VERSION = 1

TRANSFERS = {
    MovementKind.LOCAL_STORE: "a store from registers to shared memory",
    MovementKind.LOCAL_LOAD: "a load from shared memory to registers",
}
MEANINGS = {
    ConversionKind.NOTHING: "nothing to do: every thread has its elements in place",
    ConversionKind.REGISTERS: "a permutation of registers within each thread",
    ConversionKind.SHUFFLES: "shuffles within warps",
    ConversionKind.SHARED_MEMORY: "through shared memory",
    ConversionKind.ACROSS_CTAS: "across CTAs, through distributed shared memory",
}
_THROUGH_MEMORY = (ConversionKind.SHARED_MEMORY, ConversionKind.ACROSS_CTAS)


@dataclass(frozen=True, repr=False)
class TransferReport(Printed):
    """Cost of a load from shared memory to registers, or of a store to it.

    Until Triton 2.3 this was a ``convert_layout``; since then it is a ``local_load`` or a
    ``local_store``.

    Attributes:
        src, dst: the layouts; one is a register layout, the other a shared layout.
        access: the load or the store.
    """

    src: Encoding
    dst: Encoding
    access: SharedAccess

    @property
    def kind(self) -> MovementKind:
        """Kind of movement: ``local store`` or ``local load``."""
        return MovementKind.LOCAL_STORE if self.access.is_store else MovementKind.LOCAL_LOAD

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        yield from lines_of_both(self.src, self.dst)
        yield Line(TRANSFERS[self.kind])
        for line in access_lines(self.access):
            yield line._replace(text=f"  {line.text}")
        yield Line(evidence(self.access.target))

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        return {
            "version": JSON_VERSION,
            "src": str(self.src),
            "dst": str(self.dst),
            "kind": self.kind,
            "target": self.access.target.name,
            "access": access_data(self.access),
        }


@dataclass(frozen=True, repr=False)
class ConversionReport(Printed):
    """Cost of a conversion.

    Attributes:
        src, dst: the layouts.
        conversion: its classification.
        cost: a lower bound; None where the element width is not known.
        scratch: the scratch buffer on the target; None if none is needed.
        compiled: the accesses to shared memory that the compiler generates for the target; None
            where they are not known.
        target: the GPU; None if no known GPU has warps of that size.
        sub_group_step: instructions of Intel's GPUs that carry it out; None where there are none.
    """

    src: Encoding
    dst: Encoding
    conversion: Conversion
    cost: ConversionCost | None
    scratch: Scratch | None
    compiled: CompiledConversion | None
    target: str | None
    sub_group_step: SubGroupStep | None = None

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        conversion, cost = self.conversion, self.cost
        yield from lines_of_both(self.src, self.dst)
        yield Line(MEANINGS[self.kind], "red" if self.kind in _THROUGH_MEMORY else "green")
        if self.sub_group_step is not None:
            yield Line(f"  on Intel's GPUs a {self.sub_group_step}")
        yield from (Line(f"  {move}") for move in conversion.moves)
        if cost is not None and conversion.moves:
            yield Line(f"  moves {count(cost.moved_bytes, 'byte')} between threads")
            yield from self._cost_lines(cost)
        if self.scratch is not None:
            where = f" of scratch per CTA on {self.target}"
            yield Line(f"  {scratch_text(self.scratch, where)}")
        if self.compiled is not None:
            for name, step in (("store", self.compiled.store), ("load", self.compiled.load)):
                if step is not None:
                    yield Line(self._step(name, step))

    def _cost_lines(self, cost: ConversionCost) -> Iterator[Line]:
        if self.target is None:  # each vendor counts in its own way
            return
        if self.sub_group_step is SubGroupStep.SHUFFLE and self.compiled is not None:
            yield Line(f"  {count(self.compiled.shuffles, 'shuffle')} per warp")
        if cost.shuffles:
            yield Line(f"  at least {count(cost.shuffles, 'shuffle')} per warp")
        if cost.store_wavefronts and self.kind in _THROUGH_MEMORY:
            store = f"{cost.store_wavefronts} {self.cycle}s to store"
            yield Line(f"  at least {store} and {cost.load_wavefronts} to load, per CTA")

    def _step(self, kind: str, step: Transfer) -> str:
        text = f"  {kind}: {step.instructions} x {step.instruction} per warp"
        if step.wavefronts is not None:
            text += f", {step.wavefronts} {self.cycle}s per CTA"
        if step.extra_wavefronts:
            text += f", {step.extra_wavefronts} from conflicts"
        return text

    @property
    def kind(self) -> ConversionKind:
        """Kind of conversion that the target's compiler carries out."""
        step = self.sub_group_step
        return step.kind if step is not None else self.conversion.kind

    @property
    def cycle(self) -> str:
        """The target's term for a cycle of shared memory."""
        return find_target(self.target or DEFAULT_TARGET).cycle

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        return {
            "version": JSON_VERSION,
            "src": str(self.src),
            "dst": str(self.dst),
            "kind": self.kind,
            **({"sub_group_step": self.sub_group_step} if self.sub_group_step else {}),
            "moves": [asdict(move) for move in self.conversion.moves],
            "exchanges": self.conversion.exchanges,
            "target": self.target,
            "cost": asdict(self.cost) if self.cost else None,
            "scratch": asdict(self.scratch) if self.scratch else None,
            "compiled": asdict(self.compiled) if self.compiled else None,
        }


def scratch_text(buffer: Scratch, where: str = "") -> str:
    """Return the size of a scratch buffer, and how often it is filled and read.

    Example:
        >>> scratch_text(Scratch(bytes=2048, rounds=2, store="st.shared", load="ld.shared"))
        '2048 bytes, 2 rounds of st.shared and ld.shared'
    """
    rounds = "one round" if buffer.rounds == 1 else f"{buffer.rounds} rounds"
    return f"{buffer.bytes} bytes{where}, {rounds} of {buffer.store} and {buffer.load}"


def conversion_report(
    src: Encoding, dst: Encoding, tensor: TensorType, target: str | None = None
) -> ConversionReport | TransferReport:
    """Return the report of converting a tensor between two layouts.

    Raises:
        LayoutError: a layout does not fit the type, or they cannot be in one kernel.
    """
    shared = [isinstance(layout, SharedEncoding) for layout in (src, dst)]
    if any(shared) and not all(shared):
        return _transfer_report(src, dst, tensor, target, is_store=shared[1])
    layouts = place(src, tensor).layout, place(dst, tensor).layout
    conversion = classify(*layouts)
    lanes = layouts[0].get_in_dim_size("lane")
    gpu = usual_target(lanes) if target is None else find_target(target)
    bits = tensor.element_bits
    cost = conversion_cost(*layouts, bits, gpu or DEFAULT_TARGET) if bits else None
    buffer = scratch(*layouts, bits, gpu) if bits and gpu else None
    compiled = compiled_conversion(*layouts, bits, gpu) if bits and gpu else None
    name = gpu.name if gpu is not None else None
    named = name if target in TARGETS else target or name
    is_intel = gpu.is_intel if gpu is not None else lanes in intel.OWN_SUB_GROUPS
    step = sub_group_step(*layouts, bits) if bits and is_intel else None
    return ConversionReport(src, dst, conversion, cost, buffer, compiled, named, step)


def _transfer_report(
    src: Encoding, dst: Encoding, tensor: TensorType, target: str | None, *, is_store: bool
) -> TransferReport:
    """Return the report of a load or store of shared memory.

    Raises:
        LayoutError: a layout does not fit the type, or the target has another warp size.
    """
    registers, _ = registers_first(src, dst)
    if target is None:
        lanes = place(registers, tensor).layout.get_in_dim_size("lane")
        gpu = usual_target(lanes) or TARGETS[DEFAULT_TARGET]
    else:
        gpu = find_target(target)
    conflicts = conflicts_report(src, dst, tensor, gpu).conflicts
    return TransferReport(src, dst, conflicts.store if is_store else conflicts.load)
