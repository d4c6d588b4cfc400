"""The estimate of a kernel's time: the number, its range, and its assumptions.

An estimate is none of the bounds: about half of all launches take longer.  Its range is a factor
that was chosen, and then checked on timed kernels (``docs/time.md``).  A kernel of an audit is read
into the steps of one of its programs first.

Read next:    `tt_layout.audit.time.launch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from math import prod

from tt_layout.audit.audit import Audit
from tt_layout.audit.axis import AxisInfo
from tt_layout.audit.bounds.bounds import Grid, programs_of
from tt_layout.audit.bounds.footprint import AccessTraffic, Footprint, footprint
from tt_layout.audit.bounds.work import Counts
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.global_memory.cost import (
    gathered_wavefronts,
    pieces_of_table,
    placed_access,
    sectors_apart,
    wavefronts_apart,
)
from tt_layout.audit.global_memory.instructions import skips_l1
from tt_layout.audit.global_memory.operands import address_of, reached_bytes
from tt_layout.audit.global_memory.origins import counted_places
from tt_layout.audit.global_memory.relative_addresses import relative_traffic
from tt_layout.audit.global_memory.width import AccessAnalysis, PlacedAccess, address_info
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.occupancy import held_warps, tensor_columns_of
from tt_layout.audit.operations.details import Details, GlobalDetails, TmaDetails
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.registers import worst
from tt_layout.audit.resources import shared_bytes_of
from tt_layout.audit.time.demands import DIVISIONS, LINE
from tt_layout.audit.time.launch import LaunchTime, full_wave, launch_time
from tt_layout.audit.time.selection import Candidate
from tt_layout.audit.time.steps import MatrixProduct, Passage, Program, Step, StepTraffic
from tt_layout.audit.values.given import PROGRAM_COUNTS, PROGRAM_IDS
from tt_layout.audit.values.unknown import Unknown
from tt_layout.enums import MemorySpace
from tt_layout.hardware import Target
from tt_layout.hardware.product import Product
from tt_layout.hardware.timing import Timing
from tt_layout.ir.data_movements import GLOBAL_KINDS, MovementKind
from tt_layout.ir.ssa import Block, Function, Operation, Region, Value, integers
from tt_layout.ir.ssa.control_flow import control_edges
from tt_layout.ir.ssa.dataflow import constant_of, lineage
from tt_layout.ir.traits import is_known
from tt_layout.ir.types import IRType
from tt_layout.records import dataclass
from tt_layout.surface import values_of
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count, durations, listed

ERROR = 1.4
"""Half width of the range, as a factor: it held 84 % of 17 kernels swept, and 87 % of 15 others."""

WIDER = 1.25
"""Factor by which each unknown widens the range."""


BOX_COPIES = ("async_tma_copy_global_to_local", "async_tma_gather")
"""Copies by the tensor memory accelerator that arrive at a barrier."""

COMPUTED = " on line "
"""Text in the reason why an address is unknown, if it depends on data: loaded numbers or floats,
which values of arguments do not determine."""

APART = 1.25
"""Factor of the bytes of an access from which the sectors of its runs, far apart, are more."""

JOINED_LINES = 4
"""The most lines of a store whose neighbours are joined with it: an H200 joins none of eight."""

_PENDING = ("num", "pendings", "count")
"""Attributes with the number of groups or products that a wait leaves pending."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The estimated time of a launch.

    Attributes:
        launch: the time and its terms.
        product: the GPU, with its memory and clock.
        is_measured: whether latencies and rates were measured on such a GPU.
        is_of_grid: whether it is for the known grid; else for one full wave.
        doubts: unknown facts, each of which widens the range.
        assumption: strides, masks and addresses assumed where they are open; empty if none.
        program: the launched program.
        chip: the architecture of the GPU.
    """

    launch: LaunchTime
    program: Program = field(repr=False)
    chip: Target = field(repr=False)
    product: str
    is_measured: bool
    is_of_grid: bool
    doubts: tuple[str, ...]
    assumption: str = ""

    @property
    def seconds(self) -> float:
        """The time of the launch."""
        return self.launch.seconds

    @property
    def range(self) -> tuple[float, float]:
        """The range, in seconds, that holds about four of five kernels."""
        factor = ERROR * WIDER ** len(self.doubts)
        return self.seconds / factor, self.seconds * factor

    @property
    def terms(self) -> Mapping[str, float]:
        """Term, a resource or a wait -> the seconds that it would take alone."""
        return self.launch.terms

    def storing(self, stored: float) -> Estimate:
        """Return the estimate for as many programs as store some bytes; itself with a grid."""
        if self.is_of_grid or not self.program.stored:
            return self
        return self.launching(max(1, round(stored / self.program.stored)))

    def launching(self, programs: int) -> Estimate:
        """Return the estimate for another number of these programs."""
        if programs == self.program.programs:
            return self
        return self._timed(self.program.launched(programs))

    def of_dump(self) -> Estimate:
        """Return the estimate without the compiled kernel's registers."""
        if self.program.used is None:
            return self
        return self._timed(replace(self.program, used=None, spilled=None))

    @property
    def candidate(self) -> Candidate:
        """The launch as a candidate for `selected`."""
        return Candidate.of(self.program, self.launch)

    def _timed(self, program: Program) -> Estimate:
        rates = self.chip.product
        assert rates is not None
        assert rates.timing is not None
        launch = launch_time(program, self.chip, rates, rates.timing)
        return replace(self, launch=launch, program=program)

    @property
    def limit(self) -> str:
        """The largest term."""
        return self.launch.limit

    @property
    def text(self) -> str:
        """The estimate in a few words."""
        about, low, high = durations(self.seconds, *self.range)
        programs = count(self.launch.programs, "program")
        of = "" if self.is_of_grid else f" for one full wave of {programs}"
        made = "" if self.is_measured else "rates not measured"
        notes = "; ".join(filter(None, [f"{low} to {high}", made, self.assumption]))
        return f"about {about} on {self.product}{of} ({notes})"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class NoEstimate:
    """Why there is no estimate.

    Attributes:
        reason: the reason in words.
        needs: arguments without whose values there is none.
    """

    reason: str
    needs: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The reason in a few words."""
        without = f" without {values_of(self.needs)}" if self.needs else ""
        return f"no estimate of its time{without}: {self.reason}"

    @property
    def short(self) -> str:
        """The first of the values that it needs, and the number of others; else the reason.

        Example:
            >>> NoEstimate(reason="the loop at line 9 runs %n * %k times", needs=("k", "n")).short
            "no estimate of its time without values={'k': ...} and 1 more value"
        """
        if not self.needs:
            return self.text
        first, *others = self.needs
        more = f" and {count(len(others), 'more value')}" if others else ""
        return f"no estimate of its time without {values_of([first])}{more}"


def kernel_estimate(
    audit: Audit,
    symbol: str | None,
    grid: Grid | None,
) -> Estimate | NoEstimate:
    """Return the estimated time of a kernel's launch, or why there is none.

    Args:
        audit: audit of its module, with the values of its arguments where they are known.
        symbol: name of the kernel; None for operations outside of any.
        grid: programs along x, y and z; None where it is not known.
    """
    target = audit.chip
    rates = target.product if target is not None else None
    if target is None or rates is None or rates.timing is None:
        return NoEstimate(reason="no rates of its GPU are known")
    if symbol is None:
        return NoEstimate(reason="it is in no function")
    if (audit.module.number("num-ctas") or 1) > 1:
        return NoEstimate(reason="programs of several CTAs were not measured")
    caller = audit.audited.callers.get(symbol)
    if caller is not None:
        return NoEstimate(reason=f"it is not a kernel: @{caller} calls it")
    wait = audit.audited.wait_of(symbol)
    if wait:
        return NoEstimate(reason=f"it {wait}")
    refused = _refused_grid(audit, grid)
    if refused is not None:
        return NoEstimate(reason=refused)
    program = _launched_program(audit, symbol, grid, target, rates)
    if isinstance(program, NoEstimate):
        return program
    launch = launch_time(program, target, rates, rates.timing)
    if launch.walked.unknown:
        return NoEstimate(reason=launch.walked.unknown[0])
    return Estimate(
        launch=launch,
        program=program,
        chip=target,
        product=rates.name,
        is_measured=rates.timing.is_measured,
        is_of_grid=grid is not None,
        doubts=tuple(_doubts(program, has_grid=grid is not None, timing=rates.timing)),
        assumption=_assumption(program, has_grid=grid is not None),
    )


def _launched_program(
    audit: Audit, symbol: str, grid: Grid | None, target: Target, rates: Product
) -> Program | NoEstimate:
    """Return the program of a launch: of the grid, or else of one full wave.

    The programs of a wave are laid out along x, which decides what they share.
    """
    if grid is not None:
        return _known_program(audit, symbol, (*grid, 1, 1)[:3])
    program = _known_program(audit, symbol, (rates.multiprocessors, 1, 1))
    if isinstance(program, NoEstimate):
        return program
    wave = full_wave(program, target, rates)
    if program.differs:
        program = _known_program(audit, symbol, (wave, 1, 1))
    return program.launched(wave) if isinstance(program, Program) else program


def _known_program(audit: Audit, symbol: str, grid: Grid) -> Program | NoEstimate:
    """Return a program of which the model knows every operation and loop.

    Both are asked for before the program is read, which takes much longer.
    """
    function = _whole_function(audit, symbol)
    if function is None:
        return NoEstimate(reason="the dump does not have it whole")
    counts = Counts(audit.audited, programs_of(audit, symbol, grid))
    unknown = chain(_unknown_operations(function), _unknown_runs(function, counts))
    return next(unknown, None) or _read(audit, function, grid, counts)


def _refused_grid(audit: Audit, grid: Grid | None) -> str | None:
    """Return why a kernel cannot be launched with a grid; None where it can."""
    if grid is None:
        return None
    if not 1 <= len(grid) <= len(PROGRAM_COUNTS):
        return f"a grid has one to three sizes, and this has {len(grid)}"
    if any(not isinstance(size, int) or size < 1 for size in grid):
        return f"its grid of {' x '.join(map(str, grid))} has no programs"
    values = audit.audited.given.values
    for size, number, name in zip((*grid, 1, 1), PROGRAM_COUNTS, PROGRAM_IDS):
        if values.get(number, size) != size:
            return f"{number} is {values[number]}, and the grid has {size} there"
        if values.get(name, 0) >= size:
            return f"{name} is {values[name]}, and the grid has {size} there"
    return None


def _unknown_operations(function: Function) -> Iterator[NoEstimate]:
    """Yield the operations on tensors that the model does not know."""
    for operation in _timed(function.body):
        if is_known(operation.name):
            continue
        types = map(function.type_of, (*operation.results, *operation.operands))
        if any(ir_type is not None and ir_type.is_tensor for ir_type in types):
            where = f"line {operation.line}"
            yield NoEstimate(reason=f"{where}: nobody knows how long {operation.name} takes")


def _unknown_runs(function: Function, counts: Counts) -> Iterator[NoEstimate]:
    """Yield the loops with unknown trip counts."""
    for operation in _timed(function.body):
        if not operation.traits.loop:
            continue
        blocks = chain.from_iterable(operation.regions)
        inside = chain.from_iterable(block.operations for block in blocks)
        runs = (counts.runs_of(FullOperation(function, inner)) for inner in inside)
        first = next((run for run in runs if run.is_assumed), None)
        if first is None:
            continue
        loop, opened = f"the loop at line {operation.line}", first.opened
        if opened is not None:
            yield NoEstimate(reason=f"{loop} runs {opened.times}", needs=opened.missing)
        else:
            yield NoEstimate(reason=f"it is not known how often {loop} runs")


def _timed(region: Region) -> Iterator[Operation]:
    """Yield the operations of a region that take time by themselves, in the order of the text.

    What combines two elements is a part of the reduction or scan around it.
    """
    for block in region:
        for operation in block.operations:
            yield operation
            if not operation.traits.combines:
                yield from chain.from_iterable(map(_timed, operation.regions))


def _doubts(program: Program, *, has_grid: bool, timing: Timing) -> Iterator[str]:
    if not has_grid:
        yield "without a grid it is for one full wave"
    if not timing.is_measured:
        yield "latencies and rates of the GPU were not measured"
    strange = next((step for step in program.walk() if not is_known(step.name)), None)
    if strange is not None:
        yield f"nobody knows how long {strange.name} at line {strange.line} takes"
    unknown = [
        (
            step.line,
            getattr(step.access.details, "unknown", ()),
            step.access.touched is not None or step.access.is_by_data,
        )
        for step in program.walk()
        if step.access is not None
        and step.access.kind in GLOBAL_KINDS
        and (step.access.touched is None or step.access.bounds)
    ]
    if unknown:
        line, inputs, is_mask = unknown[0]
        what = "mask" if is_mask else "addresses"
        does, known = ("depends", "is") if is_mask else ("depend", "are")
        why = f"{does} on {', '.join(inputs[:3])}" if inputs else f"{known} not known"
        yield f"the {what} at line {line} {why}"
    if atomics := _scattered_atomics(program):
        yield f"how many numbers an address gets at {_lines(atomics)} is not known"
    if program.may_spill:
        yield "how much is spilled is not known before it is compiled"


def _assumption(program: Program, *, has_grid: bool) -> str:
    """Return what is taken of the addresses and masks that are left open, in words.

    A grid has the numbers of programs that masks depend on; a wave has them along x.
    """
    accesses = [(step.line, step.access) for step in program.walk() if step.access is not None]
    strides = sorted({access.stride for _, access in accesses} - {""})
    bounds = sorted({name for _, access in accesses for name in access.bounds})
    across = () if has_grid else PROGRAM_COUNTS[1:]
    ones = [*strides, *(name for name in bounds if name in across)]
    bounds = [name for name in bounds if name not in PROGRAM_COUNTS]
    contiguous = [line for line, access in accesses if access.is_contiguous]
    by_data = [line for line, access in accesses if access.is_by_data]
    texts = [f"{name} = 1" for name in ones]
    if contiguous:
        texts.append(f"contiguous addresses at {_lines(contiguous)}")
    if bounds:
        texts.append(f"{listed(bounds)} masking nothing")
    if by_data:
        texts.append(f"masks by data at {_lines(by_data)} masking nothing")
    if atomics := _scattered_atomics(program):
        texts.append(f"atomics at {_lines(atomics)} on many addresses")
    return f"with {listed(texts)}" if texts else ""


def _scattered_atomics(program: Program) -> list[int]:
    """Return the lines of atomics whose addresses data decides.

    An H200 adds 16.8 million numbers to a million addresses in 270 us, and to 256 in 4.3 ms.
    """
    accesses = ((step.line, step.access) for step in program.walk() if step.access is not None)
    atomic = MovementKind.GLOBAL_ATOMIC
    return [line for line, access in accesses if access.kind == atomic and access.is_scattered]


def _lines(lines: Sequence[int]) -> str:
    """Return some lines in words, the first of many."""
    first, *others = sorted(lines)
    more = f" and {count(len(others), 'other')}" if others else ""
    return f"line {first}{more}"


def read_program(
    audit: Audit,
    symbol: str,
    grid: Grid,
) -> Program | None:
    """Return the program of a kernel; None if the dump has only a part of it.

    Args:
        audit: audit of its module.
        symbol: name of the kernel in the module.
        grid: programs along x, y and z.
    """
    function = _whole_function(audit, symbol)
    if function is None:
        return None
    return _read(audit, function, grid, Counts(audit.audited, programs_of(audit, symbol, grid)))


def _whole_function(audit: Audit, symbol: str) -> Function | None:
    """Return a function with a body and a number of warps; None if there is none."""
    function = audit.audited.functions_by_name.get(symbol)
    is_whole = function is not None and function.body and _warps(audit)
    return function if is_whole else None


def _warps(audit: Audit) -> int:
    return audit.module.number("num-warps") or audit.known.warps or 0


def _read(audit: Audit, function: Function, grid: Grid, counts: Counts) -> Program:
    """Return the program of a function.

    Args:
        audit: audit of its module.
        function: the function.
        grid: programs along x, y and z.
        counts: mean runs of its operations in a program of the grid.
    """
    audited, symbol, warps = audit.audited, function.name, _warps(audit)
    touched = footprint(audit, symbol, grid, is_taken_true=_is_left_open)
    reader = _StepReader(audit, audited, function, counts, touched, grid)
    steps = reader.region(function.body)
    registers = worst(audit.registers_of(symbol))
    compiled = registers.compiled if registers is not None else None
    return Program(
        steps=steps,
        warps=warps,
        held_warps=held_warps(audited, symbol, audit.known) or warps,
        threads=audit.module.number("threads-per-warp") or 32,
        programs=prod(grid),
        differs=counts.differ,
        first_bytes=touched.bytes + reader.described,
        moved_bytes=touched.moved + reader.described,
        needed=registers.needed if registers is not None else 0,
        fewest=registers.range.low if registers is not None else 0,
        most=registers.range.high if registers is not None else 255,
        limit=registers.limit if registers is not None else 255,
        used=compiled.used if compiled is not None else None,
        spilled=compiled.spilled if compiled is not None else None,
        shared_bytes=shared_bytes_of(audit, symbol) or 0,
        tensor_columns=tensor_columns_of(audit, symbol),
        is_pooled=any(map(_is_pooled, function.walk())),
    )


def _is_made(row: MovementRow) -> bool:
    """Tell whether an access is made at all: the compiler drops one that constants mask out."""
    details = row.cost.details if row.cost is not None else None
    return not isinstance(details, GlobalDetails) or details.instructions > 0


def _is_pooled(operation: Operation) -> bool:
    """Tell whether partitions of warps request registers from a common pool."""
    return operation.traits.partitions and "requestedRegisters" in operation.attributes


class _Traffic(NamedTuple):
    """Footprint of an access, and the traffic of one of its executions.

    Attributes:
        touched: bytes that all programs touch; None where its addresses are not known.
        sectors, wavefronts: traffic of an execution; None where not known.
        once: bytes of the distinct sectors of an execution, if only its beginning is not known.
        filled: fraction of its rows of memory that an execution asks for.
        lines: lines that an execution touches, if addresses depend on data; else None.
        part: fraction of the elements that moves: programs beyond a given length move nothing.
        is_scattered: whether its addresses depend on loaded numbers.
        is_table: whether they do, and `touched` is all that these numbers may point at.
        bounds: arguments of its mask, where that is not known and taken as true.
        stride: argument that is the distance of neighbours, where not known and taken as 1.
        is_contiguous: whether the distances of its elements are not known.
        is_by_data: whether loaded numbers decide its mask, taken as true.
    """

    touched: float | None
    sectors: float | None = None
    wavefronts: float | None = None
    once: float | None = None
    filled: float = 1
    lines: float | None = None
    part: float = 1
    is_scattered: bool = False
    is_table: bool = False
    bounds: Sequence[str] = ()
    stride: str = ""
    is_contiguous: bool = False
    is_by_data: bool = False

    def spread(self, sector_bytes: int) -> float:
        """Return the bytes of its lines beyond its sectors, if addresses depend on data."""
        if self.lines is None:
            return 0
        return max(0.0, LINE * self.lines - sector_bytes * (self.sectors or 0))


class _StepReader:
    """Reader of a function's operations into steps."""

    def __init__(
        self,
        audit: Audit,
        audited: AuditedModule,
        function: Function,
        counts: Counts,
        touched: Footprint,
        grid: Grid,
    ) -> None:
        self._audited, self._function, self._grid = audited, function, grid
        self._counts, self._accesses = counts, touched.accesses
        self._rows = audit.by_position
        self._described: dict[tuple[Value, str], float] = {}
        product = audited.target.product if audited.target is not None else None
        timing = product.timing if product is not None else None
        self._capacity = timing.l2_capacity if timing is not None else 0.0
        self._products = {product.position: product for product in audit.multiplications}

    def region(self, region: Region) -> tuple[Step, ...]:
        """Return the steps of a region, block after block."""
        return tuple(self._step(operation) for block in region for operation in block.operations)

    def _step(self, operation: Operation) -> Step:
        full = FullOperation(self._function, operation)
        runs, row = self._counts.runs_of(full), self._rows.get(full.position)
        product = self._products.get(full.position)
        combines = operation.traits.combines
        location = self._function.location(operation)
        result, operand = self._first(operation.results), self._first(operation.operands)
        root, slots = self._buffer(operation)
        return Step(
            name=operation.name,
            line=operation.line,
            source=location.line if location is not None else None,
            file=location.file if location is not None else None,
            operands=tuple(value.name for value in operation.operands),
            results=tuple(value.name for value in operation.results),
            registers=self._registers(result),
            inputs=self._registers(operand),
            element=_element(operation.results, result),
            input_element=_element(operation.operands, operand),
            number=next((n for key in _PENDING if (n := operation.integer(key)) is not None), 0),
            divisor=_divisor(operation),
            contiguity=self._contiguity(operation),
            combines=tuple(_names(operation)) if combines else (),
            access=self._access(row, operation) if row is not None and _is_made(row) else None,
            product=_product(product) if product is not None else None,
            runs=runs.number,
            is_assumed=runs.is_assumed,
            opened=runs.opened,
            regions=() if combines else tuple(self.region(inner) for inner in operation.regions),
            edges=() if combines else tuple(_passages(operation)),
            warps=tuple(integers(operation.attributes.get("partitionNumWarps"))),
            root=root,
            slots=slots,
            barrier=self._barrier(operation),
        )

    def _first(self, values: Sequence[Value]) -> IRType | None:
        """Return the type of the first tensor of some values."""
        types = (self._function.type_of(value) for value in values)
        return next(
            (ir_type for ir_type in types if ir_type is not None and ir_type.is_tensor), None
        )

    def _registers(self, ir_type: IRType | None) -> int:
        if ir_type is None:
            return 0
        return self._audited.layouts.distinct_registers(ir_type) or 1

    def _contiguity(self, operation: Operation) -> int:
        """Return the elements of a dividend that count up in a row; 1 where not known."""
        kernel = self._audited.kernel(self._function) if _divisor(operation) else None
        if kernel is None or not operation.operands[0].type.is_tensor:
            return 1
        return max(kernel.known[operation.operands[0]].contiguity, default=1)

    @property
    def described(self) -> float:
        """Bytes of the tensors that descriptors describe, read and written, each once."""
        return sum(self._described.values())

    def _tensor_bytes(self, operation: Operation, kind: str) -> float | None:
        """Return the bytes of the tensor behind a descriptor that the kernel makes.

        ``ttng.tensormap_create`` has the tensor's sizes after those of the box.
        """
        for value in operation.operands:
            ir_type, made = self._function.type_of(value), value.definition
            if ir_type is None or not ir_type.is_descriptor or made is None:
                continue
            rank, bits = len(ir_type.shape), ir_type.element_bits or 8
            for maker in made.operands[0].users if made.operands else ():
                if maker.name.endswith("tensormap_create") and maker.operands[0] in made.operands:
                    sizes = maker.operands[2 + rank : 2 + 2 * rank]
                    values = map(self._audited.evaluator(self._function).scalar, sizes)
                    numbers = [size for size in values if isinstance(size, int)]
                    if len(numbers) == rank:
                        self._described[value, kind] = prod(numbers) * bits / 8
                        return self._described[value, kind]
        return None

    def _access(self, row: MovementRow, operation: Operation) -> StepTraffic:
        details = row.cost.details if row.cost is not None else None
        kind = str(row.operation.group)
        touched = self._accesses.get(row.operation.position)
        traffic = _Traffic(touched.bytes if touched is not None else None)
        sector_bytes: float | None = None
        spread = 0.0
        if isinstance(details, GlobalDetails):
            traffic = self._assumed(row, operation, self._global_traffic(row, details, operation))
            if traffic.sectors is not None:
                sector_bytes = traffic.sectors * details.sector_bytes
            if kind == MovementKind.GLOBAL_LOAD:
                spread = traffic.spread(details.sector_bytes)
        elif isinstance(details, TmaDetails) and traffic.touched is None:
            traffic = _Traffic(self._tensor_bytes(operation, kind))
        is_global = kind in (*GLOBAL_KINDS, MovementKind.GLOBAL_ATOMIC)
        return StepTraffic(
            kind=kind,
            details=details,
            bytes=(row.operation.bytes or 0) * traffic.part,
            sector_bytes=sector_bytes,
            wavefronts=traffic.wavefronts,
            touched=traffic.touched,
            apart=self._apart(operation) if is_global and traffic.touched is None else 1,
            once=self._once(operation, touched, traffic),
            filled=touched.filled if touched is not None else traffic.filled,
            is_scattered=traffic.is_scattered,
            is_table=traffic.is_table,
            spread=spread,
            bounds=tuple(traffic.bounds),
            stride=traffic.stride,
            is_contiguous=traffic.is_contiguous,
            is_by_data=traffic.is_by_data,
            is_joined=kind == MovementKind.GLOBAL_STORE and self._is_joined(row),
        )

    def _is_joined(self, row: MovementRow) -> bool:
        """Tell whether each instruction of a store writes to few lines."""
        details = row.cost.details if row.cost is not None else None
        lines: float | None = getattr(details, "lines", None)
        requests: float | None = getattr(details, "requests", None)
        if lines is None and _is_left_open(row):
            lines, requests = (self._counts.traffic(row, unit) for unit in ("lines", "requests"))
        return lines is not None and lines <= JOINED_LINES * (requests or 0)

    def _once(
        self, operation: Operation, touched: AccessTraffic | None, traffic: _Traffic
    ) -> float | None:
        """Return the bytes of the distinct sectors of an execution; None where not known.

        Where a load passes the first-level cache by, each request for a sector counts.
        """
        if touched is None or skips_l1(operation.attributes):
            return traffic.once
        return touched.once * traffic.part

    def _global_traffic(
        self, row: MovementRow, details: GlobalDetails, operation: Operation
    ) -> _Traffic:
        """Return the traffic by the access's cost, or by its data-dependent addresses."""
        runs = row.executions.number
        sectors = _mean(details.total_sectors, runs, details.sectors)
        wavefronts = _mean(details.total_lsu_wavefronts, runs, details.lsu_wavefronts)
        touched = self._accesses.get(row.operation.position)
        part = touched.part if touched is not None else 1.0
        traffic = _Traffic(
            touched.bytes if touched is not None else None,
            sectors * part if sectors is not None else None,
            wavefronts * part if wavefronts is not None else None,
            part=part,
            is_scattered=_is_scattered(details),
        )
        if _is_left_open(row):
            return self._open_traffic(row, traffic, operation)
        if not traffic.is_scattered and (traffic.sectors is None or traffic.touched is not None):
            return traffic
        placed = self._placed(operation)
        if placed is None:
            if not traffic.is_scattered or row.cost is None:
                return traffic
            return traffic._replace(sectors=None, wavefronts=row.cost.cycles)
        kernel, access, info = placed
        by_data = _counted(access) or _table(kernel, access, info, self._capacity)
        if by_data is None and traffic.is_scattered:
            by_data = _apart(access, info, traffic)
        if by_data is None:
            return traffic
        if by_data.lines is None:
            return by_data
        if row.operation.group != MovementKind.GLOBAL_LOAD:
            return by_data._replace(wavefronts=by_data.lines)
        wavefronts = gathered_wavefronts(access.shape, info, by_data.lines)
        return by_data._replace(wavefronts=wavefronts)

    def _open_traffic(self, row: MovementRow, traffic: _Traffic, operation: Operation) -> _Traffic:
        """Return the traffic of an access with a mask taken as true, and an open stride as 1."""
        placed = self._placed(operation)
        if placed is None:
            return traffic
        kernel, access, _ = placed
        bounds = self._open_bounds(access)
        if traffic.touched is None:
            relative = relative_traffic(kernel, access)
            if relative is not None:
                return traffic._replace(
                    sectors=relative.counts.sectors,
                    wavefronts=relative.counts.wavefronts,
                    once=relative.least_bytes,
                    filled=relative.filled,
                    bounds=bounds,
                )
            return traffic._replace(bounds=bounds, stride=self._open_stride(*placed))
        runs = self._counts.runs(row).number
        sectors, wavefronts = (
            _mean(self._counts.traffic(row, unit), runs, None)
            for unit in ("sectors", "lsu_wavefronts")
        )
        return traffic._replace(sectors=sectors, wavefronts=wavefronts, bounds=bounds)

    def _assumed(self, row: MovementRow, operation: Operation, traffic: _Traffic) -> _Traffic:
        """Return the traffic with what it takes of addresses and a mask that are not known."""
        placed = self._placed(operation) if traffic.sectors is None else None
        if placed is None or traffic.stride:
            return traffic
        _, access, info = placed
        evaluator = self._audited.evaluator(self._function)
        addresses = access.addresses
        is_open = any(
            isinstance(evaluator.value(value), Unknown)
            for value in (addresses.pointer, addresses.offsets)
            if value is not None
        )
        asked = row.operation.bytes or 0
        least = sectors_apart(access.shape, info) * access.shape.sector_bytes
        mask = evaluator.value(addresses.mask) if addresses.mask is not None else None
        return traffic._replace(
            is_contiguous=is_open and least > APART * asked,
            is_by_data=isinstance(mask, Unknown) and bool(mask.reasons),
        )

    def _open_bounds(self, access: PlacedAccess) -> Sequence[str]:
        """Return the arguments that a mask depends on which is not known."""
        if access.addresses.mask is None:
            return ()
        mask = self._audited.evaluator(self._function).value(access.addresses.mask)
        return sorted(mask.names) if isinstance(mask, Unknown) else ()

    def _open_stride(self, kernel: AccessAnalysis, access: PlacedAccess, info: AxisInfo) -> str:
        """Return the argument that neighbours are apart by; empty where a distance is known."""
        if max(info.contiguity, default=1) > 1:
            return ""
        address, width = address_of(access.roles), access.width
        unit = width.element_bytes if address is access.roles["pointer"] else 1
        dims = reversed(range(len(address.type.shape)))
        facts = [kernel.trials.facts(address, dim, unit=unit) for dim in dims]
        if any(along.contiguity > 1 or along.apart for along in facts):
            return ""
        names = (along.factor[1:] for along in facts if along.factor)
        return next((name for name in names if name not in self._audited.given.values), "")

    def _placed(self, operation: Operation) -> tuple[AccessAnalysis, PlacedAccess, AxisInfo] | None:
        """Return the analysis of its function, the placed access, and its addresses."""
        kernel = self._audited.kernel(self._function)
        if kernel is None:
            return None
        access = placed_access(kernel, operation)
        if access.shape.too_large is not None:
            return None
        return kernel, access, address_info(kernel, access.roles, access.width)

    def _apart(self, operation: Operation) -> float:
        """Return the fraction of programs that touch bytes of their own by an access.

        Loads from equal addresses give equal numbers, and these equal addresses in turn.
        """
        sharing = self._audited.program_sharing(self._function).of(operation)
        along = prod(self._grid[axis] for axis in sharing.axes if axis < len(self._grid))
        apart = along if sharing.is_open else sharing.in_grid((*self._grid, 1, 1)[:3])
        return min(1.0, apart / max(1, prod(self._grid)))

    def _buffer(self, operation: Operation) -> tuple[str, int]:
        """Return the allocation behind an operand in memory, and its number of slots."""
        for value in operation.operands:
            ir_type = self._function.type_of(value)
            if ir_type is not None and ir_type.is_memory and not operation.traits.memory_view:
                root = _root(value)
                buffer_type = self._function.type_of(root)
                shape = buffer_type.shape if buffer_type is not None else ()
                return root.name, shape[0] if len(shape) > len(ir_type.shape) else 1
        return "", 1

    def _barrier(self, operation: Operation) -> str:
        """Return the allocation of barriers at which a TMA copy arrives."""
        if not operation.name.endswith(BOX_COPIES):
            return ""
        memory = (value for value in operation.operands if _is_barrier(self._function, value))
        return next((_root(value).name for value in memory), "")


def _counted(access: PlacedAccess) -> _Traffic | None:
    """Return the traffic of elements whose addresses are consecutive counts."""
    places = counted_places(access.roles, access.width.element_bytes)
    if places is None:
        return None
    sectors, lines = (of(access.shape, places.info) for of in (sectors_apart, wavefronts_apart))
    return _Traffic(None, places.kept * sectors, lines, part=places.kept)


def _table(
    kernel: AccessAnalysis, access: PlacedAccess, info: AxisInfo, capacity: float
) -> _Traffic | None:
    """Return the traffic in a table with few possible indices.

    Args:
        kernel, access, info: the access.
        capacity: bytes of the second-level cache; what may be anywhere in more is in no table.
    """
    size = reached_bytes(access.roles, access.width.element_bytes, kernel.sources.flow)
    if size is None or size > capacity:
        return None
    lines, sectors = (
        pieces_of_table(access.shape, info, piece, size)
        for piece in (access.shape.line_bytes, access.shape.sector_bytes)
    )
    return _Traffic(size, sectors, lines=lines, is_table=True)


def _apart(access: PlacedAccess, info: AxisInfo, traffic: _Traffic) -> _Traffic:
    """Return the traffic of contiguous runs at unknown addresses."""
    shape = access.shape
    return traffic._replace(sectors=sectors_apart(shape, info), lines=wavefronts_apart(shape, info))


def _is_scattered(details: Details | None) -> bool:
    """Tell whether the addresses of an access are unknown only because they depend on data."""
    if not isinstance(details, GlobalDetails) or details.sectors_per_request is None:
        return False
    return all(COMPUTED in reason for reason in details.unknown)


def _is_left_open(row: MovementRow) -> bool:
    """Tell whether arguments alone are missing of the addresses, or the mask, of an access."""
    details = row.cost.details if row.cost is not None else None
    if not isinstance(details, GlobalDetails) or details.sectors is not None:
        return False
    return bool(details.unknown) and not any(COMPUTED in reason for reason in details.unknown)


def _divisor(operation: Operation) -> int:
    """Return the constant by which an operation divides integers; 0 for any other operation."""
    divisor = constant_of(operation.operands[1]) if operation.name in DIVISIONS else None
    return abs(divisor or 0)


def _is_barrier(function: Function, value: Value) -> bool:
    ir_type = function.type_of(value)
    return ir_type is not None and ir_type.is_memory and ir_type.element_type == "i64"


def _mean(total: float | None, runs: float | None, first: float | None) -> float | None:
    """Return the mean over the executions, or the first if not all are known."""
    return total / runs if total is not None and runs else first


def _root(value: Value) -> Value:
    """Return the allocation or argument that a view of a buffer is of."""
    value = lineage(value, lambda operation: operation.traits.memory_view)[-1]
    owner = value.owner
    if isinstance(owner, Block) and owner.owner is not None and owner.owner.traits.partitions:
        number = owner.arguments.index(value)
        handed = owner.owner.operands
        return _root(handed[number]) if number < len(handed) else value
    return value


def _element(values: Sequence[Value], tensor: IRType | None) -> str:
    if tensor is not None:
        return tensor.element_type
    return values[0].type.element if values else ""


def _names(operation: Operation) -> Iterator[str]:
    for inner in operation.walk():
        if inner is not operation and not inner.traits.terminator:
            yield inner.name


def _passages(operation: Operation) -> Iterator[Passage]:
    for edge in control_edges(operation):
        if not isinstance(edge.end, str):
            yield Passage(
                begin=edge.begin,
                end=edge.end,
                passed=tuple(value.name for value in edge.passed),
                received=tuple(value.name for value in edge.received),
            )


def _product(multiplication: Multiplication) -> MatrixProduct:
    instruction = multiplication.instruction
    return MatrixProduct(
        instruction=instruction.name if instruction is not None else None,
        shape=multiplication.first,
        flops=multiplication.flops,
        element=multiplication.a.element,
        a_in_registers=multiplication.a.where is MemorySpace.REGISTERS,
        fma=multiplication.fma.per_thread if multiplication.fma is not None else 0,
    )
