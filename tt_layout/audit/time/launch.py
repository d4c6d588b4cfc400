"""The time of a launch: waves of programs, what they share, memory, spills.

    time = launch + N(waves / clock, bytes / bandwidth, programs * start of one)
        + the latency of a program beside its loops, as far as memory takes the time
    wave of c programs on a multiprocessor = N(c * issue, c * special functions, c * LSU, c * L2,
        c * tensor cores, c * atomics, latency) of each phase + c * spills
    N(x, ..) = (x^p + ..)^(1/p), with p of about 3: what is busy at the same time hides the rest.

The latency has the bytes of memory in it, at the pace that other multiprocessors leave.

Read next:    `tt_layout.audit.time.walk`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp, log

from tt_layout.audit.occupancy import occupancy
from tt_layout.audit.operations.details import SingleAtomicDetails
from tt_layout.audit.time.constants import FITTED, Constants
from tt_layout.audit.time.demands import LINE, SECTOR, Demand, Pricing, cached_cycles
from tt_layout.audit.time.steps import Program, Step
from tt_layout.audit.time.walk import Walked, prices, walk
from tt_layout.hardware import Target
from tt_layout.hardware.product import Product
from tt_layout.hardware.timing import Timing
from tt_layout.ir.data_movements import GLOBAL_CHANGES, GLOBAL_READS, GLOBAL_WRITES, MovementKind
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

SMALL_BYTES = 65536
"""The most bytes that all programs touch for the first-level cache to keep them."""

LATENCY = "exposed latency"
SPILLS = "spills"
DRAM = "DRAM"
CONTENDED = "contended atomics"
SLICE_BYTES = 4096
"""Contiguous bytes in one slice of the second-level cache, judged by contended atomics."""

FIRST: dict[str, float] = {
    **dict.fromkeys(GLOBAL_READS, 0.63),
    **dict.fromkeys(GLOBAL_WRITES, 1.0),
    MovementKind.GLOBAL_ATOMIC: 0.0,
}
"""Fraction of data-dependent accesses that goes to memory.

Nobody knows how many rows a table has.  With as many as are asked for, by chance, 1 - 1 / e of them
are asked for at all.  What is added up is asked for often.
"""

DIRTY = 0.6
"""Fraction of the second-level cache with data written before a launch.

Fitted: sums and products by a vector, which write nothing, take 9 us longer on an H200 and on an
H100 than their bytes do at the speed of kernels that write as much as they read.
"""

INTEGERS = 1.7
"""Speedup of atomic additions for sectors of integers, from histograms on an H100."""

MIDDLE = 0.63
"""The weight of the middle of a range of registers; each end has half of the rest.

Of a range that leaves a twentieth on either side, the mean is best taken so from three points
(Pearson and Tukey, 1965)."""

BESIDE = 2
"""Exponent of the power mean over different pipes that share one scheduler.

Set by hand on random numbers and a selection, which would come out a sixth too fast by 4.
"""

INSTRUCTION = 16
"""Bytes of an instruction since Volta."""

PACED = 0.01
"""Relative change of a program's latency from which the pace of memory is modelled."""

PROGRAMS = "starts of programs"
LAUNCH = "launch"
TENSOR = "tensor cores"
FETCH = "instructions fetched"
BUSY = ("issue", FETCH, "special functions", "LSU", "L2", TENSOR, "atomics")
TERMS = (LATENCY, *BUSY, SPILLS, DRAM, CONTENDED, PROGRAMS, LAUNCH)
"""Terms of the time: of a program alone, of all on a multiprocessor, of the launch."""

FLOORS = (DRAM, TENSOR)
"""Resources that every configuration of a kernel needs equally."""


@dataclass(frozen=True, kw_only=True)
class LaunchTime:
    """The time of a launch and its terms.

    Attributes:
        seconds: time of the launch.
        terms: term, a resource or a wait -> the seconds that it would take alone.
        floor: seconds that every configuration takes, by DRAM at full speed or tensor cores.
        programs: programs of the launch.
        resident: programs that a multiprocessor holds at once.
        waves: waves of programs, the last perhaps not full.
        tail: seconds that the last wave takes beyond its programs' share of full ones.
        latency: cycles of one program alone.
        spilled: registers that are spilled.
        walked: latency of the program alone.
        possible: possible times in seconds over the range of its registers, with their weights.
    """

    seconds: float
    terms: Mapping[str, float]
    floor: float
    programs: int
    resident: int
    waves: float
    tail: float
    latency: float
    spilled: float
    walked: Walked
    possible: tuple[tuple[float, float], ...]

    @property
    def limit(self) -> str:
        """The largest term."""
        return max(self.terms, key=lambda name: self.terms[name])


def power_mean(numbers: Iterable[float], power: float) -> float:
    """Return the length of a vector under a norm: a smooth maximum.

    Example:
        >>> power_mean([3, 4], 2), round(power_mean([3, 4], 4), 2)
        (5.0, 4.28)
    """
    found = [number for number in numbers if number > 0]
    most = max(found, default=0.0)
    return float(most * sum((n / most) ** power for n in found) ** (1 / power)) if most else 0.0


def launch_time(
    program: Program,
    target: Target,
    rates: Product,
    timing: Timing,
    constants: Constants = FITTED,
) -> LaunchTime:
    """Return the time of a launch of a program.

    Before a kernel is compiled its registers are a range.  If its ends differ in occupancy or
    spills, the time is the geometric mean over the range, with the terms of its middle: an end that
    spills may take fifty times as long, and would be nearly all of a sum.

    Args:
        program: the program.
        target: the chip.
        rates, timing: rates and measurements of the product.
        constants: fitted constants.
    """
    middle = _launch_time(program, target, rates, timing, constants)
    if program.used is not None or not program.needed:
        return middle
    possible = [(middle.seconds, MIDDLE)]
    for needed in (program.fewest, program.most):
        end = replace(program, needed=needed, fewest=needed)
        spills = _Spills(end, constants)
        found = middle
        if (_resident(end, target, spills.needed), spills.number) != (
            middle.resident,
            middle.spilled,
        ):
            found = _launch_time(end, target, rates, timing, constants)
        possible.append((found.seconds, (1 - MIDDLE) / 2))
    logarithm = sum(weight * log(seconds) for seconds, weight in possible)
    return replace(middle, seconds=exp(logarithm), possible=tuple(possible))


def _launch_time(
    program: Program, target: Target, rates: Product, timing: Timing, constants: Constants
) -> LaunchTime:
    """Return the time of a launch with the registers that its program is expected to need.

    A multiprocessor shares memory with those that load at the same moment: with the part of them
    that is the part of the time in which memory is busy.  It is found from the time that it would
    take if all did.
    """
    launch = _PacedLaunch(program, target, rates, timing, constants)
    walked = launch.walked(1)
    found = launch.timed(walked)
    busy = min(1.0, found.terms.get(DRAM, 0.0) / (found.seconds - found.terms[LAUNCH]))
    if (1 - busy) * launch.paced < PACED * walked.cycles:
        return found
    return launch.timed(launch.walked(busy))


class _PacedLaunch:
    """A launch with the registers that its program is expected to need.

    Attributes:
        paced: cycles in which a program's bytes come from memory while all programs load.
    """

    def __init__(
        self, program: Program, target: Target, rates: Product, timing: Timing, constants: Constants
    ) -> None:
        self._program, self._rates, self._timing = program, rates, timing
        self._constants = constants
        self._spills = _Spills(program, constants)
        self._resident = _resident(program, target, self._spills.needed)
        self._steps = list(program.walk())
        pricing = Pricing(timing, rates, constants, program.warps, self._steps)
        again = _again(program, target, rates, timing, self._resident)
        kept = _kept(program, target, self._resident)
        self._demands = _cached(program, prices(program, pricing), again, kept)
        fetched = _fetched(program, self._demands, timing)
        self._parts = [
            _total(part, self._demands, program, timing)
            | {FETCH: sum(fetched[step] for step in part) / timing.fetched}
            for part in _parts(program)
        ]
        self._total = {name: sum(part[name] for part in self._parts) for name in self._parts[0]}
        self._halves = [
            [_total(half, self._demands, program, timing) | {FETCH: 0.0} for half in _halves(part)]
            for part in _parts(program)[::2]
        ]
        self._moved = _moved(program, program.programs, self._total, again)
        self._slow = _slowness(program, timing)
        busy = max(1, min(rates.multiprocessors, program.programs))
        share = timing.dram_read / self._slow / timing.clock_hz / busy
        self._per_byte = self._moved.first / share
        self.paced: float = (self._total["read"] + self._total["written"]) * self._per_byte

    def walked(self, busy: float) -> Walked:
        """Return the latency of one program.

        Args:
            busy: fraction of the multiprocessors that load at the same time.
        """
        timing, constants = self._timing, self._constants
        return walk(
            self._program,
            timing,
            constants,
            self._demands,
            dram=timing.l2 + (constants.dram - timing.l2) * self._moved.first**0.5,
            per_byte=busy * self._per_byte,
        )

    def timed(self, walked: Walked) -> LaunchTime:
        """Return the time of the launch.

        Args:
            walked: one program.
        """
        program, timing, constants = self._program, self._timing, self._constants
        moved, spills, resident = self._moved, self._spills, self._resident
        programs, multiprocessors = program.programs, self._rates.multiprocessors
        slots = multiprocessors * resident
        alone = walked.cycles + constants.start
        spilled = spills.cycles(walked, timing, multiprocessors, min(programs, slots))
        phases = self._phases(walked, alone)
        cycles, tail = self._waves(phases, spilled)
        has_matrices = any(step.product is not None for step in self._steps)
        clock = timing.matrix_clock_hz if has_matrices else timing.clock_hz
        written = self._total["written"] * programs
        speed = timing.dram_read if written < 0.1 * moved.bytes else timing.dram_mixed
        ways = {
            DRAM: (moved.bytes * self._slow + _replaced(program.first_bytes, written, timing))
            / speed,
            CONTENDED: _contended(program, timing, self._demands) / clock,
            PROGRAMS: programs * timing.program_seconds,
        }
        per = programs / multiprocessors / clock
        busy = {**{name: self._total[name] for name in BUSY}, SPILLS: spilled}
        terms = {name: cycles_alone * per for name, cycles_alone in busy.items() if cycles_alone}
        terms[LATENCY] = -(-programs // slots) * alone / clock
        terms |= {name: seconds_alone for name, seconds_alone in ways.items() if seconds_alone}
        terms[LAUNCH] = constants.launch * 1e-6
        seconds = power_mean([cycles / clock, *ways.values()], constants.beside)
        # Programs of a wave load together, and compute and store together: memory waits for the
        # first to ask, and for the last to compute.  In loops they ask again and again.
        straight = sum(phase.latency for phase in phases[::2]) / clock
        seconds += straight * (ways[DRAM] / seconds) ** constants.power + terms[LAUNCH]
        return LaunchTime(
            seconds=seconds,
            terms=terms,
            floor=max(moved.bytes / speed, terms.get(TENSOR, 0.0)),
            programs=programs,
            resident=resident,
            waves=programs / slots,
            tail=tail / clock,
            latency=alone,
            spilled=spills.number,
            walked=walked,
            possible=((seconds, 1.0),),
        )

    def _phases(self, walked: Walked, alone: float) -> list[_Phase]:
        marks = (0.0, *walked.marks, alone)
        return [
            _Phase(tuple(part[name] for name in BUSY), max(0.0, end - begin))
            for part, begin, end in zip(self._parts, marks, marks[1:])
        ]

    def _waves(self, phases: Sequence[_Phase], spilled: float) -> tuple[float, float]:
        """Return the cycles of all waves, and those of the last beyond its share of full ones.

        Args:
            phases: phases of a program.
            spilled: cycles in which it moves spilled registers.
        """
        constants, resident = self._constants, self._resident
        programs, multiprocessors = self._program.programs, self._rates.multiprocessors

        def wave(count: float) -> float:
            return count * spilled + sum(
                power_mean(
                    [*(count * cycles for cycles in phase.busy), phase.latency], constants.power
                )
                for phase in phases
            )

        slots = multiprocessors * resident
        full, rest = divmod(programs, slots)
        cycles = full * wave(resident) + (wave(-(-rest // multiprocessors)) if rest else 0)
        tail = 0.0
        if full:
            cycles = min(cycles, (programs / slots + constants.tail) * wave(resident))
            tail = max(0.0, cycles - programs / slots * wave(resident))
        last = min(resident, -(-programs // multiprocessors))
        cycles += sum(self._filling(halves, last) for halves in self._halves)
        # What is added at the end of programs overlaps with other programs, where there are any.
        cycles += last * self._parts[-1]["atomics"] * min(1.0, slots / max(1, programs))
        return cycles, tail

    def _filling(self, halves: Sequence[Mapping[str, float]], count: int) -> float:
        """Return the cycles in which the first programs only load, and the last only store.

        Between them programs that load hide behind others that store.

        Args:
            halves: cycles of a program on each resource, of loads and of stores.
            count: programs on a multiprocessor.
        """
        power = self._constants.power
        apart = sum(power_mean([count * half[name] for name in BUSY], power) for half in halves)
        together = [count * sum(half[name] for half in halves) for name in BUSY]
        return apart - power_mean(together, power)


class _Phase(NamedTuple):
    """A part of a program: an outermost loop, or the code before, between or after them.

    Attributes:
        busy: cycles on each resource.
        latency: cycles of a program alone.
    """

    busy: tuple[float, ...]
    latency: float


def _halves(part: Sequence[Step]) -> list[Sequence[Step]]:
    """Return the steps before the first store, and the others; all if loads follow it."""
    stores = [
        at for at, step in enumerate(part) if step.access and step.access.kind in GLOBAL_WRITES
    ]
    loads = [at for at, step in enumerate(part) if step.access and step.access.kind in GLOBAL_READS]
    if not stores or not loads or max(loads) > min(stores):
        return [part]
    return [part[: min(stores)], part[min(stores) :]]


def _parts(program: Program) -> list[list[Step]]:
    """Return the steps of each phase, which all programs of a wave begin together."""
    parts: list[list[Step]] = [[]]
    for step in program.steps:
        if step.traits.loop:
            parts += [[*step.walk()], []]
        else:
            parts[-1] += step.walk()
    return parts


@dataclass(frozen=True)
class _Again:
    """Bytes that loads of a program read although other loads of it have read them.

    Attributes:
        near: bytes that the first-level cache still holds.
        far: bytes that have to come from memory again.
    """

    near: float
    far: float


def _again(
    program: Program, target: Target, rates: Product, timing: Timing, resident: int
) -> _Again:
    """Return the bytes that are read again, from the cache and from memory.

    Loads of the same iteration find it in the first-level cache.  Of a loop behind another one all
    that was touched meanwhile, by all programs that are there, is between the two.
    """
    touched: dict[int, list[float]] = {}
    near = written = 0.0
    for place, outer in enumerate(program.steps):
        for step in outer.walk():
            access = step.access
            if access is None or access.touched is None or access.is_table:
                continue
            if access.kind in GLOBAL_READS:
                touched.setdefault(place, []).append(access.touched)
                near += access.touched if access.kind == "global load" else 0
            elif access.kind in GLOBAL_CHANGES:
                written += access.touched
    loaded = sum(sum(loads) for loads in touched.values())
    by_threads = near / loaded if loaded else 0.0  # others pass the first-level cache by
    total = max(0.0, loaded - max(0.0, program.first_bytes - written))
    most = [max(loads) for loads in touched.values()]
    far = min(total, sum(most) - max(most, default=0.0))
    there = min(1.0, rates.multiprocessors * resident / max(1, program.programs))
    between = program.first_bytes * there
    lost = _lost(program, rates.multiprocessors * resident, timing)
    if between <= _kept(program, target, resident) * rates.multiprocessors:
        return _Again(by_threads * total, lost)
    lost += far * max(0.0, 1 - timing.l2_capacity / between)
    return _Again(by_threads * (total - far), lost)


def _kept(program: Program, target: Target, resident: int) -> float:
    """Return the bytes of a multiprocessor's first-level cache that buffers leave."""
    most = target.residence.shared_bytes if target.residence is not None else 0
    return max(0, most - resident * program.shared_bytes)


def _lost(program: Program, slots: int, timing: Timing) -> float:
    """Return the bytes of sectors loaded in parts that caches lose between iterations.

    All programs that are there touch the lines of an iteration before any touches them again.
    """
    there = min(slots, program.programs)
    lost = 0.0
    for outer in program.steps:
        parts = [step.access for step in outer.walk() if step.access and _is_part(step)]
        lines = sum(LINE * (getattr(access.details, "lines", None) or 0) for access in parts)
        missed = max(0.0, 1 - timing.l2_capacity / max(1, there * lines))
        for step in outer.walk():
            if missed and step.access and _is_part(step):
                asked = (step.access.sector_bytes or 0) * step.runs * program.programs
                lost += missed * max(0.0, asked - (step.access.touched or 0))
    return lost


def _is_part(step: Step) -> bool:
    """Tell whether a load in a loop asks for more of its sectors than it takes."""
    access = step.access
    return (
        access is not None
        and access.kind in GLOBAL_READS
        and step.runs > 1
        and access.touched is not None
        and access.bytes <= (access.sector_bytes or 0) / 2
    )


def _cached(
    program: Program, demands: Mapping[Step, Demand], again: _Again, kept: float
) -> dict[Step, Demand]:
    """Return the demands without the bytes that the first-level cache holds.

    It holds data that is small over the whole launch, bytes that loads of one program read again,
    and as much of a table as fits.
    """
    loads = [
        step
        for step in program.walk()
        if step.access is not None and step.access.kind == "global load"
    ]
    touched = sum(
        step.access.touched or 0
        for step in loads
        if step.access is not None and not step.access.is_table
    )
    asked = 1 - min(1.0, again.near / touched) if touched else 1.0
    cached = dict(demands)
    for step in loads:
        access = step.access
        if access is not None and access.touched is not None:
            part = 0.0 if access.touched <= SMALL_BYTES else asked
            if access.is_table:  # every multiprocessor reads all of it
                part = max(0.0, 1 - kept / access.touched)
            demand = demands[step]
            cached[step] = demand._replace(read=demand.read * part, spread=demand.spread * part)
    return cached


def _total(
    steps: Iterable[Step], demands: Mapping[Step, Demand], program: Program, timing: Timing
) -> dict[str, float]:
    """Return the cycles of a program on each resource, and the bytes that it moves."""
    issue = logic = multiplied = 0.0
    special = lsu = read = spread = written = parts = sectors = adding = tensor = 0.0
    for step in steps:
        demand, runs = demands[step], step.runs
        issue += demand.issue * runs
        logic += demand.logic * runs
        multiplied += demand.multiplied * runs
        special += demand.special * runs
        lsu += demand.lsu * runs
        read += demand.read * runs
        spread += demand.spread * runs
        written += demand.written * runs
        parts += demand.parts * runs
        sectors += demand.sectors * runs
        adding += demand.adding * runs
        tensor += demand.tensor * runs
    warps_per_scheduler = program.warps / timing.schedulers
    slots = _slots(Demand(issue=issue, logic=logic, multiplied=multiplied), timing)
    return {
        "issue": power_mean((slots, logic, multiplied), BESIDE) * warps_per_scheduler,
        "special functions": special * warps_per_scheduler,
        "LSU": lsu,
        "L2": cached_cycles(Demand(read=read, spread=spread, written=written, parts=parts), timing),
        TENSOR: tensor,
        "atomics": adding,
        "read": read,
        "written": written + sectors * SECTOR,
    }


def _fetched(program: Program, demands: Mapping[Step, Demand], timing: Timing) -> dict[Step, float]:
    """Return the bytes of instructions that the warps of each step wait for.

    The instruction cache keeps a part of each loop; code outside of loops is fetched by every
    program in turn.
    """
    codes = {step: INSTRUCTION * _instructions(demands[step], timing) for step in program.walk()}
    fetched: dict[Step, float] = {}

    def visit(steps: Iterable[Step], size: float) -> None:
        missed = max(0.0, 1 - timing.code / size) if size else 0.0
        for step in steps:
            fetched[step] = missed * codes[step] * step.runs * program.warps
            for region in step.regions:
                inner = sum(codes[one] for outer in region for one in outer.walk())
                visit(region, inner if step.traits.loop else size)

    visit(program.steps, sum(codes.values()))
    return fetched


def _instructions(demand: Demand, timing: Timing) -> float:
    """Return the number of a warp's instructions, some of which hold their pipe for longer."""
    return _slots(demand, timing) - demand.held


def _slots(demand: Demand, timing: Timing) -> float:
    """Return the cycles for which a warp takes its scheduler.

    An instruction on integers takes its pipe for some cycles, and the scheduler, which serves all,
    for one.
    """
    return demand.issue - (demand.logic + demand.multiplied) * (1 - 1 / timing.integer)


def _contended(program: Program, timing: Timing, demands: Mapping[Step, Demand]) -> float:
    """Return the cycles of the launch for atomic additions to the same few addresses.

    Each instruction that adds to a sector counts once, however few of its words it adds to.
    """
    cycles = 0.0
    for step in program.walk():
        access = step.access
        if access is None or access.kind != "global atomic":
            continue
        element = step.input_element if step.input_element.startswith("f") else step.element
        floats = element.startswith("f")
        if access.touched:
            sectors = demands[step].sectors * step.runs * program.programs
            rate = timing.line_lanes / 8 * (1 if floats else INTEGERS)
            cycles += sectors / (rate * max(1, access.touched / SLICE_BYTES))
        elif isinstance(access.details, SingleAtomicDetails):
            cycles += step.runs / access.apart / (timing.added(element) or 1)
    return cycles


@dataclass(frozen=True)
class _Moved:
    """The bytes that a launch moves from and to memory.

    Attributes:
        bytes: bytes, each counted once.
        first: fraction of the requested bytes that no program has requested before.
    """

    bytes: float
    first: float


def _moved(program: Program, programs: int, total: Mapping[str, float], again: _Again) -> _Moved:
    asked = (total["read"] + total["written"]) * programs
    hidden: dict[object, float] = {}
    tables = _tables(program)
    for step in program.walk():
        access = step.access
        if access is None or access.kind not in FIRST or access.touched is not None:
            continue
        once = access.once or access.sector_bytes or access.bytes
        number = once * step.runs * programs * access.apart
        number *= FIRST[access.kind] if access.is_scattered else 1
        if access.kind in GLOBAL_WRITES and access.bytes < once:
            number *= 2  # memory reads sectors that are written in parts
        table = tables.get(step, step)
        hidden[table] = max(hidden.get(table, 0.0), number)
    besides = again.far + sum(hidden.values())
    first = program.first_bytes + besides
    return _Moved(program.moved_bytes + besides, min(1.0, first / asked) if asked else 1.0)


def _tables(program: Program) -> dict[Step, object]:
    """Return the table that each data-dependent load reads from.

    The corners of a cell are next to each other: what the same numbers point at from the same
    pointer is in one table, which comes from memory once.
    """
    base: dict[str, str] = {}
    numbers: dict[str, frozenset[str]] = {}
    found: dict[Step, object] = {}
    for step in program.walk():
        access = step.access
        of = frozenset[str]().union(*(numbers.get(name, ()) for name in step.operands))
        if access is not None and access.kind == "global load":
            if access.is_scattered and of:
                found[step] = base.get(step.operands[0], step.operands[0]), of
            of = frozenset(step.results)
        for result in step.results:
            numbers[result] = of
            if "ptr" in step.element and step.operands:
                base[result] = base.get(step.operands[0], step.operands[0])
    return found


def _replaced(moved: float, written: float, timing: Timing) -> float:
    """Return the bytes of earlier data written back from the second-level cache.

    Where a launch moves more than the cache holds, earlier writes go to memory; of its own writes
    as much remains in the cache.
    """
    capacity = timing.l2_capacity
    gone = min(max(0.0, moved - capacity), capacity)
    return DIRTY * max(0.0, gone - written)


def _slowness(program: Program, timing: Timing) -> float:
    """Return the slowdown of memory because programs read less than whole lines."""
    touched = taken = 0.0
    for step in program.walk():
        access = step.access
        if access is not None and access.touched and access.kind in FIRST:
            is_short = access.kind in GLOBAL_READS and access.filled <= 1 / 2
            touched += access.touched
            taken += access.touched / (timing.dram_short if is_short else 1)
    return taken / touched if touched else 1.0


class _Spills:
    """Spilled registers and their traffic."""

    def __init__(self, program: Program, constants: Constants) -> None:
        self._program, self._constants = program, constants
        copied = sum(
            constants.pointers * float(getattr(step.access.details, "instructions", 0) or 0)
            for step in program.walk()
            if step.access is not None and step.access.kind == "copy to local" and step.runs > 1
        )
        hoisted = sum(
            step.access.bytes / (4.0 * program.threads * program.warps)
            for step in program.walk()
            if step.access is not None and step.access.kind == "global load" and step.runs <= 1
        )
        hoisted += constants.loads if hoisted else 0
        self.needed: float = min(max(program.needed + copied, hoisted), program.most)
        self.number, self._each = self._spilled()

    def _spilled(self) -> tuple[float, float]:
        """Return the spilled registers, and the number of moves of each in a pass."""
        program, constants = self._program, self._constants
        if program.spilled is not None:
            used = program.used or program.limit
            if used <= 64 and program.spilled > 200:
                return program.spilled, constants.spill * constants.collapse
            # What is kept in memory though there are registers left is an array, which few read.
            return program.spilled if used >= program.limit - 2 else 0, constants.spill
        if self._accumulator >= program.limit - 16:
            return 0.65 * self.needed, constants.spill
        if program.fewest <= program.limit:
            return 0, constants.spill
        over = max(0.0, self.needed - program.limit)
        if over > program.limit / 2 and not self._has_matrices:
            return 2 * self.needed, constants.spill * constants.collapse
        return over, constants.spill

    @property
    def _has_matrices(self) -> bool:
        return any(step.product is not None for step in self._program.walk())

    @property
    def _accumulator(self) -> float:
        """The largest tensor of floats that a loop carries, in registers."""
        sizes: dict[str, int] = {}
        for step in self._program.walk():
            if step.element == "f32":
                sizes.update(dict.fromkeys(step.results, step.registers))
        loops = (step for step in self._program.walk() if step.traits.loop)
        return max((sizes.get(name, 0) for loop in loops for name in loop.operands), default=0)

    def cycles(self, walked: Walked, timing: Timing, multiprocessors: int, programs: int) -> float:
        """Return the cycles in which a program moves spilled registers, if nothing hides them.

        Spilled registers of all resident programs are in the second-level cache, or in memory.

        Args:
            walked: latency of the program.
            timing: measurements of the GPU.
            multiprocessors: multiprocessors of the GPU.
            programs: resident programs.
        """
        if not self.number:
            return 0
        main = walked.main.loop if walked.main is not None else None
        inner = (step.runs for step in main.walk() if step is not main) if main is not None else ()
        passes = max(1.0, max(inner, default=1.0))
        kept = self.number * 4 * self._program.threads * self._program.warps
        cached = min(1.0, timing.l2_capacity / (kept * programs))
        busy = min(multiprocessors, programs)
        by_memory = timing.dram_mixed / timing.clock_hz / busy
        far = (1 - cached) / min(timing.spilled, by_memory)
        return self._each * kept * passes * (cached / timing.spilled + far)


def full_wave(
    program: Program, target: Target, rates: Product, constants: Constants = FITTED
) -> int:
    """Return the programs that all multiprocessors hold at once."""
    needed = _Spills(program, constants).needed
    return rates.multiprocessors * _resident(program, target, needed)


def _resident(program: Program, target: Target, needed: float) -> int:
    """Return the programs that a multiprocessor holds at once.

    A CTA whose partitions share registers takes all of a multiprocessor's.
    """
    used = program.used if program.used is not None else min(program.limit, needed)
    if program.is_pooled:
        return 1
    held = occupancy(
        target,
        program.held_warps,
        registers=int(max(24, used)),
        shared_bytes=program.shared_bytes,
        tensor_columns=program.tensor_columns,
    )
    return max(1, held.ctas) if held is not None else 1
