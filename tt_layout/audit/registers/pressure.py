"""The peak of live registers of each function of a module, and of each partition of its warps.

Read next:    `tt_layout.audit.registers.live_ranges`, `tt_layout.hardware.multiprocessor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tt_layout.audit.global_memory.operands import FORMS, operands
from tt_layout.audit.global_memory.width import access_width
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.registers.live_ranges import (
    LiveRange,
    LiveRanges,
    MaskedLoads,
    live_ranges,
)
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.hardware import intel
from tt_layout.hardware.compiler import CompilerModel, HeldRegisters, RegisterRange
from tt_layout.hardware.multiprocessor import RegisterFile, Residence
from tt_layout.ir.operations import is_pointer
from tt_layout.ir.ssa import Function, Region, Value, integers
from tt_layout.ir.types import IRType
from tt_layout.kernels.binaries import CompiledRegisters
from tt_layout.kernels.chosen_compiler import CompilerTarget
from tt_layout.kernels.metadata import CODE, KernelMetadata
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

WORD_BITS = 32
MASK_BITS = 1
SHOWN_VALUES = 5
"""The most values that are listed of those live at the peak."""

MMA_BITS = 256
"""Bits of an operand's row along K that one `mma` reads."""

WARP_GROUP = 4
"""Warps of partitions come in groups."""

PARTITION_BASE = 16
"""Registers that a partition needs besides its tensors: few, as it has few addresses."""


class LiveValue(NamedTuple):
    """A value that is live at the peak.

    Attributes:
        name: name of the value.
        type: type as written, without its layout.
        layout: layout as written.
        registers: registers that each thread needs for it.
    """

    name: str
    type: str
    layout: str
    registers: int


@dataclass(frozen=True)
class RegisterPressure:
    """The registers that the threads of a function, or of a partition of its warps, need.

    Attributes:
        function: the function.
        partition: the number of the partition of ``ttg.warp_specialize``; None for the function
            itself.
        line: line on which most are live.
        live: 32-bit registers per thread that tensors take there.
        needed: registers per thread that the compiler is expected to need, including those for
            addresses and the schedule: the middle of the estimate.
        limit: the most registers of a thread.
        values: the largest values that are live at the peak.
        compiled: registers of the compiled kernel; None where only the dump is known.
        low, high: range of the estimate; None where it is not a range.
        usual_limit: the most registers of a thread that shares them with a second one, as usual on
            Intel's GPUs; None for GPUs without such a choice.
    """

    function: str
    partition: int | None
    line: int
    live: int
    needed: int
    limit: int
    values: tuple[LiveValue, ...]
    compiled: CompiledRegisters | None = None
    usual_limit: int | None = None
    low: int | None = None
    high: int | None = None

    @property
    def taken(self) -> int:
        """Registers per thread: compiled, or else expected."""
        return self.compiled.used if self.compiled is not None else self.needed

    @property
    def spilled(self) -> int | None:
        """Registers per thread that the compiled kernel spills; None where that is not known."""
        return self.compiled.spilled if self.compiled is not None else None

    @property
    def is_over(self) -> bool:
        """Whether the whole estimate exceeds the limit."""
        return self.range.low > self.limit

    @property
    def range(self) -> RegisterRange:
        """The registers that the kernel is expected to need."""
        low, high = (self.needed if end is None else end for end in (self.low, self.high))
        return RegisterRange(low, self.needed, high)

    @property
    def may_spill(self) -> bool:
        """Whether a part of the estimate, but not all of it, exceeds the limit.

        Example:
            >>> pressure = RegisterPressure("f", None, 3, 180, 230, 255, (), low=190, high=290)
            >>> pressure.may_spill, pressure.spills
            (True, False)
        """
        return self.compiled is None and not self.is_over and self.range.high > self.limit

    @property
    def expected_spills(self) -> int:
        """Spilled registers per thread: compiled, or else the estimate beyond the limit.

        Example:
            >>> RegisterPressure("f", None, 3, 300, 330, 255, (), low=270, high=400).expected_spills
            75
        """
        return self.spilled if self.spilled is not None else max(0, self.needed - self.limit)

    @property
    def spills(self) -> bool:
        """Whether the kernel spills, or is likely to if it is not compiled.

        Example:
            >>> RegisterPressure("f", None, 3, 300, 310, 255, ()).spills
            True
        """
        return self.spilled > 0 if self.spilled is not None else self.is_over

    @property
    def spills_word(self) -> str:
        """Whether the kernel spills, as a word of `tt_layout.audit.facts.SPILLS`."""
        words = ("unlikely", "likely") if self.spilled is None else ("no", "yes")
        return "may" if self.may_spill else words[self.spills]

    @property
    def amount(self) -> str:
        """The estimate and the limit, in words.

        Example:
            >>> RegisterPressure("f", None, 3, 100, 150, 255, (), low=118, high=195).amount
            'about 118 to 195 of 255 registers (estimate)'
        """
        low, _, high = self.range
        if not self.is_over:  # what is over the limit is spilled, and no more registers
            low, high = min(low, self.limit), min(high, self.limit)
        about = f"{low} to {high}" if low < high else f"{self.needed}"
        return f"about {about} of {self.limit} registers (estimate)"

    @property
    def text(self) -> str:
        """Register pressure in a few words.

        Example:
            >>> RegisterPressure("f", None, 3, 300, 310, 255, (), low=280, high=400).text
            'spills likely: about 280 to 400 of 255 registers (estimate) at line 3'
            >>> RegisterPressure("f", None, 3, 60, 80, 255, (), low=64, high=105).text
            'about 64 to 105 of 255 registers (estimate) at line 3'
            >>> compiled = CompiledRegisters(255, 120, "f.cubin")
            >>> RegisterPressure("f", None, 3, 300, 310, 255, (), compiled).text
            'spills 120 registers beside 255 of 255, most live at line 3 (compiled: f.cubin)'
        """
        if self.compiled is not None:
            of = f"{self.compiled.used} of {self.limit}"
            source = f"most live at line {self.line} (compiled: {self.compiled.source})"
            if self.spilled:
                stored = self.compiled.spilled_bytes
                spilled = count(self.spilled, "register") + (f" ({stored} bytes)" if stored else "")
                return f"spills {spilled} beside {of}, {source}"
            return f"{of} registers, {source}"
        of = f"{self.amount} at line {self.line}"
        if self.may_spill:
            return f"may spill: {of}"
        return f"spills likely: {of}" if self.spills else of


def module_registers(
    audited: AuditedModule, functions: Sequence[Function] | None = None
) -> list[RegisterPressure]:
    """Return the register pressure of the functions of a module; none where the GPU is unknown.

    Args:
        audited: the module.
        functions: replacements of its functions, perhaps with other types; its own if None.

    Example:
        >>> from tt_layout.audit.modules.audited_module import SharedWork
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... #a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
        ...   tt.func @f(%p: tensor<4096x!tt.ptr<f32>, #a>) {
        ...     %0 = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
        ...     tt.store %p, %0 : tensor<4096x!tt.ptr<f32>, #a>
        ...     tt.return
        ...   }
        ... }''')
        >>> [found] = module_registers(AuditedModule(module, SharedWork()))
        >>> found.line, found.live, found.limit, found.spills
        (6, 32, 255, False)
    """
    limits = _limits(audited)
    if limits is None:
        return []
    if functions is not None:
        limits.known_ranges = {}  # those of other types
        return [
            pressure for function in functions for pressure in _function_pressures(function, limits)
        ]
    return [
        pressure
        for function in audited.functions
        for pressure in _equal_pressures(function, limits, audited)
    ]


def worst(pressures: Iterable[RegisterPressure]) -> RegisterPressure | None:
    """Return the function, or the partition of it, that lacks most registers."""
    return max(
        pressures, key=lambda pressure: pressure.taken / max(1, pressure.limit), default=None
    )


def limit_of(audited: AuditedModule, most: int | None = None) -> int | None:
    """Return the most registers of a thread of a module's CTAs; None where the GPU is unknown.

    Args:
        audited: the module.
        most: limit given to the compiler, where the module does not state it.
    """
    limits = _limits(audited)
    if limits is None:
        return None
    limit = limits.limit(limits.warps)
    return min(limit, most) if most else limit


def live_by_line(audited: AuditedModule) -> dict[int, int]:
    """Return the live registers after each line with an operation; empty for an unknown GPU.

    Args:
        audited: the module.

    Returns:
        Line of the dump -> registers of 32 bits per thread that tensors take there.
    """
    limits, lines = _limits(audited), dict[int, int]()
    if limits is None:
        return {}
    for function in audited.functions:
        for body in _bodies(function, limits):
            for line, live in zip(body.lines, body.live):
                lines[line] = max(lines.get(line, 0), live)
    return lines


def _limits(audited: AuditedModule) -> _Limits | None:
    """Return the limits of the GPU; None where it, or its registers, are unknown."""
    if audited.module.is_intel:
        lanes = audited.module.number("threads-per-warp")
        return _Limits(audited, intel.register_file(lanes), intel.TENSORS_ONLY) if lanes else None
    if audited.target is None or audited.module.number("num-warps") is None:
        return None
    file, model = audited.target.registers, audited.target.compiler
    if file is None or model is None:
        return None
    return _Limits(audited, file, model, audited.target.residence)


def _bodies(function: Function, limits: _Limits) -> Iterator[LiveRanges]:
    """Yield the live ranges of a function, and of the partitions of its warps."""
    if not function.body:
        return
    whole_body = _ranges_of(function, function.body, limits)
    yield whole_body
    for operation in whole_body.partitions:
        for region in operation.regions[1:]:
            yield _ranges_of(function, region, limits)


def _ranges_of(function: Function, body: Region, limits: _Limits) -> LiveRanges:
    """Return the live ranges of a body, cached.

    Within a warp nothing waits between the rows of a scan: where the registers do not suffice for
    all, they are scanned one by one.
    """
    key = function, body
    if key not in limits.known_ranges:
        sizes, model = _FunctionSizes.of(function, limits), limits.model
        ranges = live_ranges(function, body, sizes, model, by_row=False)
        is_row_by_row = (
            limits.warps <= 1
            and ranges.has_rows
            and ranges.line.range(ranges.demand(ranges.needed)).needed > model.scans_whole
        )
        if is_row_by_row:
            ranges = live_ranges(function, body, sizes, model, by_row=True)
        limits.known_ranges[key] = ranges
    return limits.known_ranges[key]


class _Limits:
    """The registers of the GPU for a module's warps, and what its audit knows of values."""

    def __init__(
        self,
        audited: AuditedModule,
        file: RegisterFile,
        model: CompilerModel,
        residence: Residence | None = None,
    ) -> None:
        module = audited.module
        self.warps = module.number("num-warps") or 1
        self.model = model
        self.audited = audited
        self._file = file
        self._residence = residence
        self.usual_limit = file.usual
        self.most = module.number("maxnreg")
        self.known_ranges = audited.live_ranges
        self.known_sizes: dict[Function, dict[str, tuple[int, int]]] = {}

    def limit(self, warps: int) -> int:
        """Return the most registers of a thread in a CTA with a number of warps."""
        limit = self._file.limit(warps)
        return min(limit, self.most) if self.most else limit

    def launched(self, warps: int) -> int | None:
        """Return the registers of a thread of one CTA that takes all; None where none does."""
        shared_out = self._file.shared_out(warps)
        return min(shared_out, self.most or shared_out) if shared_out is not None else None

    def free(self, warps: int) -> int | None:
        """Return the registers of a thread that cost no occupancy; None where it is not known."""
        return self._file.free(warps, self._residence) if self._residence is not None else None


class _FunctionSizes(NamedTuple):
    """Registers and elements that a thread has of a function's values, as `ValueSizes` has them.

    Attributes:
        function: the function.
        limits: the registers of the GPU.
        known: registers and elements by the texts of types, where these determine them.
    """

    function: Function
    limits: _Limits
    known: dict[str, tuple[int, int]] | None

    @staticmethod
    def of(function: Function, limits: _Limits) -> _FunctionSizes:
        """Return the sizes of a function's values."""
        known = limits.known_sizes.setdefault(function, {}) if function.has_uniform_types else None
        return _FunctionSizes(function, limits, known)

    def words(self, value: Value) -> int:
        """Return the registers of a value; 0 if it takes none."""
        return self._size(value)[0]

    def elements(self, value: Value) -> int:
        """Return the elements of a value; negative for a mask, 0 if not a tensor."""
        return self._size(value)[1]

    def _size(self, value: Value) -> tuple[int, int]:
        """Return the registers and the elements of a value, as above."""
        if self.known is None:
            return self._size_of(self.function.type_of(value))
        size = self.known.get(value.text)
        if size is None:
            size = self.known[value.text] = self._size_of(self.function.type_of(value))
        return size

    def _size_of(self, ir_type: IRType | None) -> tuple[int, int]:
        if ir_type is None or not ir_type.is_tensor:
            return 0, 0
        elements = self.limits.audited.layouts.distinct_registers(ir_type) or 0
        bits = ir_type.element_bits or WORD_BITS
        if bits == MASK_BITS:
            return 0, -elements
        return -(-elements * bits // WORD_BITS), elements

    def is_address(self, value: Value) -> bool:
        """Tell whether a value is a tensor of pointers."""
        ir_type = self.function.type_of(value)
        return ir_type is not None and ir_type.is_tensor and is_pointer(ir_type)

    def is_wide(self, value: Value) -> bool:
        """Tell whether a value is a tensor of 64-bit integers."""
        ir_type = self.function.type_of(value)
        if ir_type is None or not ir_type.is_tensor or is_pointer(ir_type):
            return False
        return ir_type.element_bits == 2 * WORD_BITS

    def masked_loads(self, value: Value) -> MaskedLoads:
        """Return the instructions of the masked load that gives a value; none of another value.

        Where the types of a function are changed, the loads stay as wide as they were.
        """
        ir_type, load = self.function.type_of(value), value.definition
        if ir_type is None or load is None or load.name not in FORMS:
            return MaskedLoads()
        if "mask" not in operands(load):
            return MaskedLoads()
        audited = self.limits.audited
        kernel = audited.kernel(audited.functions_by_name[self.function.name])
        width = access_width(kernel, load) if kernel is not None else None
        if width is None:
            return MaskedLoads()
        is_narrow = (ir_type.element_bits or WORD_BITS) < WORD_BITS
        return MaskedLoads(self.elements(value) // width.elements, is_narrow, width.elements == 1)

    def slices(self, value: Value) -> float:
        """Return the slices along K in which a product reads an operand; 0 for any other value.

        A slice is what one instruction reads, or a row of the products of single elements.
        """
        ir_type = self.function.type_of(value)
        operand = ir_type.encoding if ir_type is not None else None
        if ir_type is None or not isinstance(operand, DotOperand) or len(ir_type.shape) < 2:
            return 0
        along = ir_type.shape[-1 if operand.op_idx == 0 else -2]
        if isinstance(operand.parent, NvidiaMma):
            return along * (ir_type.element_bits or WORD_BITS) / MMA_BITS
        return along / 2 if isinstance(operand.parent, Blocked) else 0


def _equal_pressures(
    function: Function, limits: _Limits, audited: AuditedModule
) -> Iterator[RegisterPressure]:
    """Yield the registers of a function, computed once for equal functions."""

    def placed() -> list[tuple[RegisterPressure, int | None]]:
        return [
            (pressure, pressure.line - function.line if pressure.line else None)
            for pressure in _function_pressures(function, limits)
        ]

    for pressure, below in audited.once_for_equal(function, "registers", placed):
        line = function.line + below if below is not None else 0
        yield replace(pressure, function=function.name, line=line)


def _function_pressures(function: Function, limits: _Limits) -> Iterator[RegisterPressure]:
    """Yield the registers of a function, and of the partitions of its warps."""
    if not function.body:
        return
    whole_body = _ranges_of(function, function.body, limits)
    launched = _launched_registers(whole_body, limits)
    if whole_body.ranges or launched is not None:
        pressure = _body_pressure(function, whole_body, limits, limits.warps)
        yield pressure if launched is None else _launched_with(pressure, launched, limits)
    for operation in whole_body.partitions:
        warps = integers(operation.attributes.get("partitionNumWarps"))
        requested = integers(operation.attributes.get("requestedRegisters"))
        for number, region in enumerate(operation.regions[1:]):
            body = _ranges_of(function, region, limits)
            if not body.ranges:
                continue
            warps_there = warps[number] if number < len(warps) else limits.warps
            pressure = _body_pressure(function, body, limits, warps_there)
            most = requested[number] if number < len(requested) else 0
            yield replace(
                pressure,
                partition=number,
                needed=pressure.live + PARTITION_BASE,
                low=None,
                high=None,
                limit=min(pressure.limit, most or pressure.limit),
            )


def _launched_registers(body: LiveRanges, limits: _Limits) -> int | None:
    """Return the registers that the warps of a kernel start with; None if they are not specialised.

    All warps start with as many as one CTA may have, or with a stated maximum; the partitions then
    hand them to one another.
    """
    partitions = max(
        [
            sum(integers(operation.attributes.get("partitionNumWarps")))
            for operation in body.partitions
            if "requestedRegisters" in operation.attributes
        ],
        default=0,
    )
    if not partitions:
        return None
    return limits.launched(limits.warps + -(-partitions // WARP_GROUP) * WARP_GROUP)


def _launched_with(pressure: RegisterPressure, launched: int, limits: _Limits) -> RegisterPressure:
    """Return the registers of a specialised kernel: those that its warps start with, or spills."""
    if pressure.spills:
        return pressure
    low, _, high = pressure.range
    low = launched if limits.most is None else min(low, launched)
    return replace(
        pressure, low=low, needed=launched, high=high if pressure.may_spill else launched
    )


def _body_pressure(
    function: Function, body: LiveRanges, limits: _Limits, warps: int
) -> RegisterPressure:
    """Return the registers of a function's body, given its live ranges."""
    needed = body.needed
    peak = max(range(len(needed)), key=needed.__getitem__)
    limit = limits.limit(warps)
    held = _held_registers(_FunctionSizes.of(function, limits), body, warps)
    demand = body.demand(needed)._replace(held=round(held.exchanges))
    expected = body.line.range(demand, limit, limits.free(warps), held)
    at_peak = [
        live_range for live_range in body.ranges if live_range.begin <= peak < live_range.end
    ]
    return RegisterPressure(
        function=function.name,
        partition=None,
        line=body.lines[peak],
        live=sum(live_range.words for live_range in at_peak),
        needed=expected.needed,
        low=expected.low,
        high=expected.high,
        limit=limit,
        values=tuple(_largest(function, at_peak)),
        usual_limit=limits.usual_limit,
    )


def _held_registers(sizes: _FunctionSizes, body: LiveRanges, warps: int) -> HeldRegisters:
    """Return the registers that a thread holds during operations that need whole operands.

    No order of instructions saves these, except that what is widened from a narrower tensor may be
    widened again, and what is loaded from shared memory loaded later.  Within a warp nothing waits
    for an exchange.
    """

    def words_of(live_range: LiveRange) -> int:
        words = round(live_range.words * live_range.part)
        if live_range.value not in body.recomputed:
            return words
        source = body.recomputed[live_range.value]
        return min(words, sizes.words(source) if source is not None else 0)

    ranges = [
        LiveRange(each.value, each.begin, each.end, words_of(each), part=1) for each in body.ranges
    ]
    begun = {(live_range.value, live_range.begin): live_range.words for live_range in ranges}
    live = [*body.sums(ranges)]
    products = exchanges = 0.0
    for number, results, multiplies in body.whole:
        held = live[number] - sum(begun.get((result, number), 0) for result in results)
        if multiplies:
            products = max(products, held)
        elif warps > 1:
            exchanges = max(exchanges, held)
    return HeldRegisters(products, exchanges)


def _largest(function: Function, live: Sequence[LiveRange]) -> Iterator[LiveValue]:
    for live_range in sorted(live, key=lambda item: -item.words)[:SHOWN_VALUES]:
        ir_type = function.type_of(live_range.value)
        assert ir_type is not None, "only tensors take registers"
        layout, bare = ir_type.layout or "", ir_type.bare if ir_type.element_type else ir_type.text
        yield LiveValue(live_range.value.name, bare, layout, live_range.words)


# -- compiled registers ----------------------------------------------------------------------------


def compiled_registers(
    pressures: Sequence[RegisterPressure], audited: AuditedModule, known: KernelMetadata
) -> tuple[RegisterPressure, ...]:
    """Return the registers of a module with those of its compiled kernel.

    What was compiled is the kernel as a whole, with the partitions of its warps: it has one row, at
    the line where most is live.  Of a module with several kernels the estimates stay.

    Args:
        pressures: the estimates.
        audited: the module.
        known: what is known of its kernel.
    """
    stated = known.registers
    if stated is None and known.most_registers is None:
        return tuple(pressures)
    kernels, limit = audited.entries, limit_of(audited, known.most_registers)
    if len(kernels) != 1 or limit is None:
        return tuple(pressures)
    [kernel] = kernels
    mine = [
        replace(pressure, limit=min(pressure.limit, limit))
        for pressure in pressures
        if pressure.function == kernel.name
    ]
    rest = [pressure for pressure in pressures if pressure.function != kernel.name]
    if stated is None:
        return (*mine, *rest)
    largest = worst(mine)
    if largest is None:
        largest = RegisterPressure(kernel.name, None, kernel.line, 0, stated.used, limit, ())
    return (replace(largest, partition=None, limit=limit, compiled=stated), *rest)


def compiled_metadata(audited: AuditedModule, known: KernelMetadata) -> KernelMetadata:
    """Add the chosen compiler's numbers for a module to the metadata of its kernel.

    Where none is chosen, or the kernel was compiled by this program, it is as known.

    Args:
        audited: the module.
        known: what is known of its kernel.
    """
    compiler, stated = audited.shared.compiler, known.registers
    if compiler is None or (stated is not None and not stated.source.endswith(CODE)):
        return known
    target, reason = _compiler_target(audited, known)
    if target is None:
        return known._replace(compile_note=f"not compiled: {reason}")
    return compiler.metadata(audited.module.span.text, target, known)


def _compiler_target(
    audited: AuditedModule, known: KernelMetadata
) -> tuple[CompilerTarget | None, str]:
    """Return the target that a module is compiled for; None and the reason where there is none."""
    module = audited.module
    kind, _, chip = (module.target or "").partition(":")
    if not chip:
        return None, "it names no target"
    if not module.stands_alone:
        return None, "it uses aliases of modules above it: no text of its own has them"
    if module.error is not None:
        return None, "not all of it can be read"
    kernels = len(audited.entries)
    if kernels != 1:
        return None, f"it has {kernels} kernels, and Triton compiles one of a module"
    lanes = module.number("threads-per-warp") or 32
    most = module.number("maxnreg") or known.most_registers or 0
    return CompilerTarget(kind, chip, lanes, most), ""
