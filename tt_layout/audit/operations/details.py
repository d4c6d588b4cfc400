"""Detailed costs of data movements, one class per family of operations.

The fields are those of the JSON report, in its order; ``docs/audit.md`` documents them.
"""

from __future__ import annotations

from dataclasses import asdict, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from tt_layout.records import dataclass

if TYPE_CHECKING:
    from tt_layout.analyses.conversion.compiled_conversion import CompiledConversion, Transfer
    from tt_layout.analyses.conversion.conversion import ConversionKind
    from tt_layout.analyses.conversion.exchange import Exchange
    from tt_layout.analyses.conversion.sub_groups import SubGroupStep
    from tt_layout.audit.global_memory.limits import WidthLimit

_NAME, _IS_FLAT = "name", "is_flat"

_LEFT_OUT = {_IS_FLAT: False}
"""Metadata: leave this field out of JSON where it is None."""

_FLAT = {_IS_FLAT: True}
"""Metadata: flatten this field into the parent's JSON; leave it out where it is None."""


@dataclass(frozen=True, kw_only=True)
class Details:
    """Detailed cost of a data movement; the base of all families."""

    def data(self, line: int) -> dict[str, Any]:
        """Return the details of an operation on a line as plain data."""
        data: dict[str, Any] = {}
        for item in fields(self):
            value, is_flat = getattr(self, item.name), item.metadata.get(_IS_FLAT)
            if is_flat is not None and value is None:
                continue
            if is_flat:
                data |= value.data(line)
            else:
                data[item.metadata.get(_NAME, item.name)] = _plain(value, line)
        return data


def _plain(value: Any, line: int) -> Any:
    """Return a field's value, for an operation on a line, as JSON has it."""
    if isinstance(value, Details):
        return value.data(line)
    if hasattr(value, "as_data"):
        return value.as_data(line)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [_plain(item, line) for item in value] if isinstance(value, tuple) else value


# -- between threads ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ConversionDetails(Details):
    """A conversion between register layouts.

    Attributes:
        kind: class of the conversion.
        moved_bytes: the least bytes moved between threads; None where the element's width is not
            known.
        shuffles_per_warp: 32-bit shuffles; without ``compiled`` the least.
        scratch_bytes: size of its scratch buffer; None where not known.
        compiled: the conversion as compiled; None where not known.
        wavefronts: wavefronts per CTA; without ``compiled`` the least.
        bpermutes_per_warp: the shuffles through the shared-memory hardware, on AMD.
        sub_group_step: instructions within a sub-group on Intel's GPUs, where they have some.
    """

    kind: ConversionKind = field(metadata={_NAME: "class"})
    moved_bytes: int | None = field(default=None, metadata=_LEFT_OUT)
    shuffles_per_warp: int | None = field(default=None, metadata=_LEFT_OUT)
    scratch_bytes: int | None = field(default=None, metadata=_LEFT_OUT)
    compiled: CompiledConversion | None = field(default=None, metadata=_LEFT_OUT)
    wavefronts: int | None = field(default=None, metadata=_LEFT_OUT)
    bpermutes_per_warp: int | None = field(default=None, metadata=_LEFT_OUT)
    sub_group_step: SubGroupStep | None = field(default=None, metadata=_LEFT_OUT)


@dataclass(frozen=True, kw_only=True)
class ExchangeDetails(Details):
    """A reduction, scan, gather or histogram, or the broadcast of an atomic's result.

    Attributes:
        shuffles_per_warp: 32-bit shuffles.
        bpermutes_per_warp: the shuffles through the shared-memory hardware, on AMD.
        lane_reductions_per_warp: instructions that combine the values of all lanes; None for an
            atomic.
        stores, loads: accesses to shared memory.
        wavefronts: wavefronts of these accesses per CTA; None where not known.
        scratch_bytes: shared memory that it needs.
    """

    shuffles_per_warp: int
    bpermutes_per_warp: int | None = field(default=None, metadata=_LEFT_OUT)
    lane_reductions_per_warp: int | None = field(default=None, metadata=_LEFT_OUT)
    stores: tuple[Transfer, ...]
    loads: tuple[Transfer, ...]
    wavefronts: int | None
    scratch_bytes: int

    @staticmethod
    def of(exchange: Exchange) -> ExchangeDetails:
        """Convert an exchange, without its reductions over lanes, to the fields of the JSON."""
        return ExchangeDetails(
            shuffles_per_warp=exchange.shuffles,
            bpermutes_per_warp=exchange.bpermutes or None,
            stores=exchange.stores,
            loads=exchange.loads,
            wavefronts=exchange.wavefronts,
            scratch_bytes=exchange.scratch_bytes,
        )


# -- shared memory ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class IndexedDetails(Details):
    """A gather, a scatter or atomics in shared memory, whose wavefronts depend on data.

    Attributes:
        instruction: name of its instruction.
        width_bytes: bytes that an instruction moves per thread.
        instructions: instructions per warp.
    """

    instruction: str
    width_bytes: int
    instructions: int


@dataclass(frozen=True, kw_only=True)
class SharedDetails(Details):
    """A load or store of shared memory.

    Attributes:
        instruction: name of its instruction.
        width_bytes: bytes that an instruction moves per thread.
        instructions: instructions per warp.
        wavefronts_per_instruction, ideal_wavefronts_per_instruction: on average, and without
            bank conflicts.
        target: the GPU whose banks were counted.
    """

    instruction: str
    width_bytes: int
    instructions: int
    wavefronts_per_instruction: float
    ideal_wavefronts_per_instruction: float
    target: str


# -- global memory ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class EntryDetails(Details):
    """How an asynchronous copy enters shared memory.

    Attributes:
        wavefronts: wavefronts of its first execution; None where its addresses are not known.
        ideal_wavefronts: the least, under any layout, with its addresses in global memory.
    """

    wavefronts: int | None
    ideal_wavefronts: int | None

    @property
    def extra(self) -> int:
        """The wavefronts that another layout of the buffer would save."""
        return (self.wavefronts or 0) - (self.ideal_wavefronts or 0)


@dataclass(frozen=True, kw_only=True)
class GlobalDetails(Details):
    """An access to global memory.

    Attributes:
        instruction: name of its instruction; None where not known.
        width_bytes: bytes that an instruction moves per thread.
        instructions: instructions per warp.
        limited_by: limit on its width; None if it is as wide as it can be.
        entry: entry of an asynchronous copy into shared memory, on NVIDIA.
        bpermutes_per_warp: exchanges between lanes for a copy, on AMD.
        requests, sectors, ideal_sectors, lines, asked_bytes, moved_bytes: traffic of its first
            execution in one program; None where not known.
        lsu_wavefronts: wavefronts of its first execution in the load/store unit.
        total_requests, total_sectors, total_lines, total_lsu_wavefronts: sums over all executions.
        sectors_per_request: least and most, where the addresses are not known.
        sector_bytes: size of a sector.
        unknown: missing arguments, and reasons that no argument would remove.
        overflows: operations on integers whose results did not fit their type.
        store: store to the buffer after a load from global memory, where there is one.
        result: broadcast of an atomic's result, where that is used.
    """

    instruction: str | None
    width_bytes: int
    instructions: int
    limited_by: WidthLimit | None
    entry: EntryDetails | None = field(default=None, metadata=_FLAT)
    bpermutes_per_warp: int | None = field(default=None, metadata=_LEFT_OUT)
    requests: int | None
    sectors: int | None
    ideal_sectors: int | None
    lines: int | None
    asked_bytes: int | None
    moved_bytes: int | None
    lsu_wavefronts: int | None
    total_requests: int | None
    total_sectors: int | None
    total_lines: int | None
    total_lsu_wavefronts: int | None
    sectors_per_request: tuple[int, int] | None
    sector_bytes: int
    unknown: tuple[str, ...]
    overflows: tuple[str, ...]
    store: SharedDetails | None = field(default=None, metadata=_LEFT_OUT)
    result: ExchangeDetails | None = field(default=None, metadata=_LEFT_OUT)


@dataclass(frozen=True, kw_only=True)
class SingleAtomicDetails(Details):
    """A scalar atomic, which one thread of a CTA executes.

    Attributes:
        instruction: name of its instruction; None where not known.
        width_bytes: size of the scalar.
        instructions, threads: one each.
        result: broadcast of its result, where that is used.
    """

    instruction: str | None
    width_bytes: int
    instructions: int = 1
    threads: int = 1
    result: ExchangeDetails | None = field(default=None, metadata=_LEFT_OUT)


# -- tensor memory, and copies by a machine of their own ----------------------------------------


@dataclass(frozen=True, kw_only=True)
class TensorMemoryDetails(Details):
    """A load or store of tensor memory.

    Attributes:
        instruction: name of its instruction.
        instructions: instructions per warp.
        registers: 32-bit registers of a thread.
        fills_cells: whether every bit of the cells is part of an element.
    """

    instruction: str
    instructions: int
    registers: int
    fills_cells: bool


@dataclass(frozen=True, kw_only=True)
class TensorMemoryCopyDetails(Details):
    """A copy from shared to tensor memory.

    Attributes:
        instruction: name of its instruction.
        instructions: instructions per CTA, issued by one thread.
    """

    instruction: str
    instructions: int


@dataclass(frozen=True, kw_only=True)
class TensorMemoryAllocationDetails(Details):
    """An allocation of tensor memory, in columns."""

    columns: int


@dataclass(frozen=True, kw_only=True)
class TmaDetails(Details):
    """A copy, gather or scatter by the tensor memory accelerator.

    Attributes:
        instruction: name of its instruction.
        messages: messages per CTA.
        box: the block that each message moves.
    """

    instruction: str
    messages: int
    box: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TdmDetails(Details):
    """A copy, gather or scatter by the tensor data mover of gfx1250.

    Attributes:
        instruction: name of its instruction.
        instructions: instructions per warp.
        box: the block that each instruction moves.
        warps: number of warps that issue any.
    """

    instruction: str
    instructions: int
    box: tuple[int, ...]
    warps: int


@dataclass(frozen=True, kw_only=True)
class FusedTdmDetails(Details):
    """Several copies by the tensor data mover as one instruction.

    Attributes:
        instruction: name of its instruction.
        instructions: always one.
        boxes: the block of each copy.
        warps: number of warps that issue each copy.
    """

    instruction: str
    instructions: int = 1
    boxes: tuple[tuple[int, ...], ...]
    warps: tuple[int, ...]
