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
    from tt_layout.audit.global_memory.limits import Limit

_NAME, _IS_FLAT = "name", "is_flat"

_LEFT_OUT = {_IS_FLAT: False}
"""Of a field that JSON leaves out where it is None."""

_FLAT = {_IS_FLAT: True}
"""Of a field whose own fields stand in its place; left out where it is None."""


@dataclass(frozen=True, kw_only=True)
class Details:
    """Detailed cost of a data movement; the base of all families."""

    def data(self, line: int) -> dict[str, Any]:
        """Return that of an operation on a line as plain data."""
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
    """Return a value of an operation on a line as JSON has it."""
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
        kind: what the map does.
        moved_bytes: between threads, at least; None where the width of an element is not known.
        shuffles_per_warp: of 32 bits; without ``compiled`` the least.
        scratch_bytes: of its buffer; None where that is not known.
        compiled: what the compiler makes of it; None where that is not known.
        wavefronts: per CTA; without ``compiled`` the least.
        bpermutes_per_warp: those of the shuffles that go by way of shared memory, on AMD.
        sub_group_step: on Intel's GPUs the instructions within a sub-group, where they have some.
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
    """A reduction, scan, gather or histogram, or how the result of an atomic is handed on.

    Attributes:
        shuffles_per_warp: of 32 bits.
        bpermutes_per_warp: those of them that go by way of shared memory, on AMD.
        lane_reductions_per_warp: instructions that combine the values of all lanes; None of an
            atomic.
        stores, loads: accesses to shared memory.
        wavefronts: of all of them, per CTA; None where they are not known.
        scratch_bytes: of shared memory.
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
        instruction: its name.
        width_bytes: of one.
        instructions: per warp.
    """

    instruction: str
    width_bytes: int
    instructions: int


@dataclass(frozen=True, kw_only=True)
class SharedDetails(Details):
    """A load or store of shared memory.

    Attributes:
        instruction: its name.
        width_bytes: of one thread.
        instructions: per warp.
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
        wavefronts: of its first execution; None where its addresses are not known.
        ideal_wavefronts: that its addresses in global memory need under any layout.
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
        instruction: its name; None where it is not known.
        width_bytes: that a thread moves at once.
        instructions: per warp.
        limited_by: what keeps it narrow; None where nothing does.
        entry: of an asynchronous copy on NVIDIA.
        bpermutes_per_warp: by which lanes exchange what a copy on AMD reads.
        requests, sectors, ideal_sectors, lines, asked_bytes, moved_bytes: of its first execution
            in one program; None where they are not known.
        lsu_wavefronts: in which the load-store unit passes its first execution.
        total_requests, total_sectors, total_lines, total_lsu_wavefronts: of all of them.
        sectors_per_request: least and most, where the addresses are not known.
        sector_bytes: of a sector.
        unknown: arguments that are missing, and what no argument helps with.
        overflows: operations on integers whose results did not fit their type.
        store: of the buffer, where a load of global memory is followed by one.
        result: of an atomic, where it is used.
    """

    instruction: str | None
    width_bytes: int
    instructions: int
    limited_by: Limit | None
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
    """An atomic on one number, which one thread of a CTA carries out.

    Attributes:
        instruction: its name; None where it is not known.
        width_bytes: of the number.
        instructions, threads: one each.
        result: where it is used.
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
        instruction: its name.
        instructions: per warp.
        registers: of a thread, of 32 bits each.
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
        instruction: its name.
        instructions: per CTA: one thread issues them.
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
        instruction: its name.
        messages: per CTA.
        box: the block that each moves.
    """

    instruction: str
    messages: int
    box: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TdmDetails(Details):
    """A copy, gather or scatter by the tensor data mover of gfx1250.

    Attributes:
        instruction: its name.
        instructions: per warp.
        box: the block that each moves.
        warps: that issue any.
    """

    instruction: str
    instructions: int
    box: tuple[int, ...]
    warps: int


@dataclass(frozen=True, kw_only=True)
class FusedTdmDetails(Details):
    """Several copies by the tensor data mover as one instruction.

    Attributes:
        instruction: its name.
        instructions: one.
        boxes: the block of each copy.
        warps: that issue each.
    """

    instruction: str
    instructions: int = 1
    boxes: tuple[tuple[int, ...], ...]
    warps: tuple[int, ...]
