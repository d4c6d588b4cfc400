"""The latency of one program: a walk over the dependences of its steps.

A step begins when its operands are there, behind the last barrier that it waits for; the pipes of
the multiprocessor serve one step behind the other.  Loops are followed for some iterations, from
which the others go on at the pace of the last.  Partitions of warps run side by side, and hand
each other what their barriers say.  Stages come out of that by themselves: a wait for copies lets
pending what it says.

Every moment knows the step that it comes from, so that what an iteration waits for is known, too.
It also knows how far the first warp is ahead of the last: between barriers warps follow each other
through instructions, special functions and memory, so that the first computes what it has loaded
while others still load.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from tt_layout.audit.time.constants import Constants
from tt_layout.audit.time.demands import NOTHING, SECTOR, Demand, Pricing, cached_cycles
from tt_layout.audit.time.steps import Passage, Program, Step, StepTraffic
from tt_layout.hardware.timing import Timing
from tt_layout.lazy import lazy
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

MOST_UNROLLED = 4
"""The most iterations that the assembler unrolls into one."""

EXPECTS = "barrier_expect"
"""Operation that states the bytes expected at a barrier."""

COPY = ".async_copy_global_to_local"  # of either dialect

FOLLOWED = 12
"""The most iterations of a loop that are simulated."""


MOST_SPANS = 20_000
"""Spans that are kept while a program is walked; older ones are of iterations long past."""

COPIES, LOADS, WAITS, ISSUE = "copies", "loads", "waits", "issue"
LANES = {
    COPIES: ("copies", "copies to shared memory that are under way"),
    LOADS: ("loads", "loads of global memory that are under way"),
    WAITS: ("waits", "warps wait at barriers, for copies or for products"),
    "tensor": ("tensor cores", "products of matrices"),
    "lsu": ("LSU", "the load-store unit: shared memory, shuffles, addresses"),
    "special": ("special functions", "exponentials, divisions and the like"),
    ISSUE: ("issue", "instructions that are issued"),
}
"""Lane in the picture of an iteration, in order -> its name and meaning."""


class Moment(NamedTuple):
    """A point in time, with its cause.

    Attributes:
        time: cycles from the beginning of the program, for the last warp.
        step: step that ends then; None at the beginning.
        before: the moment that the step waited for.
        lead: cycles by which the first warp is ahead, without a barrier since.
    """

    time: float
    step: Step | None = None
    before: Moment | None = None
    lead: float = 0

    @property
    def first(self) -> float:
        """The time for the first warp."""
        return self.time - self.lead


START = Moment(0)


class Wait(NamedTuple):
    """A step on the critical path of an iteration.

    Attributes:
        step: the step.
        cycles: cycles of the iteration that it takes.
    """

    step: Step
    cycles: float


class Stretch(NamedTuple):
    """A time in which a step keeps something busy, or warps waiting.

    Attributes:
        lane: a key of `LANES`.
        step: the step.
        begin, end: times in cycles.
    """

    lane: str
    step: Step
    begin: float
    end: float


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """The steady state of a loop.

    Attributes:
        loop: the loop's step.
        trips: mean number of runs of its body.
        cycles: cycles of one iteration.
        critical: the steps that it waits for, the longest first.
        window: begin and end of a typical pass.
        passes: iterations in that pass, which the assembler unrolls.
        spans: busy stretches of the window, in cycles from its begin; empty for outer loops.
    """

    loop: Step
    trips: float
    cycles: float
    critical: tuple[Wait, ...]
    window: tuple[float, float] = (0, 0)
    passes: int = 1
    spans: tuple[Stretch, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Walked:
    """The latency of a program that has a multiprocessor to itself.

    Attributes:
        cycles: cycles of the program.
        iterations: steady states of its loops, inner ones first.
        critical: the steps that the program waits for, the longest first.
        unknown: steps of unknown time.
        spans: busy stretches of a program without loops; empty for one with loops.
        marks: cycles at which the outermost loops begin and end.
    """

    cycles: float
    iterations: tuple[Iteration, ...]
    critical: tuple[Wait, ...]
    unknown: tuple[str, ...]
    spans: tuple[Stretch, ...] = ()
    marks: tuple[float, ...] = ()

    @property
    def main(self) -> Iteration | None:
        """The loop that takes most of the time; None without any."""
        return max(
            self.iterations, key=lambda iteration: iteration.trips * iteration.cycles, default=None
        )


@dataclass(eq=False)
class _Warps:
    """State of the warps of a program, or of a partition of it.

    Attributes:
        number: number of warps.
        ready: name of a value -> moment at which it is available.
        floor: moment before which nothing begins.
        issued: moment at which the schedulers are free.
        copied: the last copy that is not in a group yet.
        groups, products: moments of copy groups and products that waits may leave pending.
        read: buffers that were read since the last barrier.
        last: the latest moment of all.
        extra: cycles of iterations that are not simulated.
        waits: the buffer of the barrier that they wait at.
    """

    number: int
    ready: dict[str, Moment]
    floor: Moment = START
    issued: Moment = START
    copied: Moment = START
    groups: list[Moment] = field(default_factory=list)
    products: list[Moment] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    last: Moment = START
    extra: float = 0
    waits: tuple[str, int] = ("", 1)

    @property
    def now(self) -> Moment:
        """The moment at which the next step may begin."""
        return _later(self.floor, self.issued)

    @property
    def end(self) -> Moment:
        """The moment at which everything begun is done."""
        return _later(self.now, self.last)


@dataclass
class _Arrivals:
    """Arrivals at a ring of barriers; every group of warps waits for all of them.

    Attributes:
        moments: moments of the arrivals, in order.
        taken: number of arrivals that each group has waited for.
    """

    moments: list[Moment] = field(default_factory=list)
    taken: dict[_Warps, int] = field(default_factory=dict)

    def next_of(self, warps: _Warps) -> Moment | None:
        """Return the arrival that a group waits for; None if it has not happened yet."""
        number = self.taken.get(warps, 0)
        return self.moments[number] if number < len(self.moments) else None

    def take(self, warps: _Warps) -> None:
        """Count an arrival that a group has waited for."""
        self.taken[warps] = self.taken.get(warps, 0) + 1


Blocked = Iterator[None]
"""A walk that stops where warps wait for others."""


def walk(
    program: Program,
    timing: Timing,
    constants: Constants,
    demands: Mapping[Step, Demand],
    *,
    dram: float,
    per_byte: float,
) -> Walked:
    """Return the latency of a program.

    Args:
        program: the program.
        timing: measurements of the GPU.
        constants: fitted constants.
        demands: demands of the steps.
        dram: mean latency of a load of global memory.
        per_byte: cycles per byte from DRAM, averaged with bytes that come from caches.
    """
    execution = _Execution(program, timing, constants, demands, dram, per_byte)
    return execution.result()


def prices(program: Program, pricing: Pricing) -> dict[Step, Demand]:
    """Return the demands of all steps."""
    return {step: pricing.of(step) for step in program.walk()}


class _Execution:
    def __init__(
        self,
        program: Program,
        timing: Timing,
        constants: Constants,
        demands: Mapping[Step, Demand],
        dram: float,
        per_byte: float,
    ) -> None:
        self._program, self._timing, self._constants = program, timing, constants
        self._demands, self._dram, self._per_byte = demands, dram, per_byte
        self._pipes = dict.fromkeys(("special", "lsu", "memory", "tensor"), START)
        self._barriers: dict[str, _Arrivals] = {}
        self._filled = {step.root for step in program.walk() if step.name.endswith(EXPECTS)}
        self._pending: dict[str, Moment] = {}
        self._iterations: list[Iteration] = []
        self._unknown: dict[str, None] = {}
        self._held = 0.0
        self._marks: list[float] = []
        self._spans: deque[Stretch] = deque(maxlen=MOST_SPANS)

    def result(self) -> Walked:
        warps = _Warps(self._program.warps, {})
        self._together([(warps, self._region(self._program.steps, warps))])
        end = warps.end
        iterations = tuple(
            replace(iteration, spans=self._within(*iteration.window))
            if not any(inner.traits.loop for inner in _inside(iteration.loop))
            else iteration
            for iteration in self._iterations
        )
        return Walked(
            cycles=end.time + warps.extra,
            iterations=iterations,
            critical=_critical(end, START),
            unknown=tuple(self._unknown),
            spans=self._within(0, end.time) if not iterations else (),
            marks=tuple(self._marks),
        )

    def _within(self, begin: float, end: float) -> tuple[Stretch, ...]:
        """Return the busy stretches between two times, in cycles from the first."""
        return tuple(
            Stretch(lane, step, max(0.0, first - begin), min(end, last) - begin)
            for lane, step, first, last in self._spans
            if first < end and last > begin
        )

    # -- control --------------------------------------------------------------------------------

    def _region(self, steps: Sequence[Step], warps: _Warps) -> Blocked:
        for step in steps:
            if step.regions:
                yield from self._regions(step, warps)
            elif step.name.endswith("wait_barrier"):
                yield from self._wait(step, warps)
            else:
                self._step(step, warps)

    def _regions(self, step: Step, warps: _Warps) -> Blocked:
        traits = step.traits
        if traits.partitions:
            yield from self._partitions(step, warps)
        elif traits.loop:
            outermost = step in self._program.steps
            if outermost:
                self._marks.append(warps.now.time + warps.extra)
            yield from self._loop(step, warps)
            if outermost:
                self._marks.append(warps.now.time + warps.extra)
        else:
            for number, region in enumerate(step.regions):
                share = min(1.0, region[0].runs / step.runs) if region and step.runs else 0.0
                if not region or not share:
                    continue
                before = warps.end.time + warps.extra
                _hand(step.edges, None, number, warps)
                yield from self._region(region, warps)
                _hand(step.edges, number, None, warps)
                warps.extra -= (1 - share) * (warps.end.time + warps.extra - before)

    def _loop(self, step: Step, warps: _Warps) -> Blocked:
        body = [step_inside for region in step.regions for step_inside in region]
        trips = body[-1].runs / step.runs if body and step.runs else 0.0
        followed = min(FOLLOWED, -(-trips // 1))
        if followed < 1:
            _hand(step.edges, None, None, warps)
            return
        _hand(step.edges, None, 0, warps)
        barred = any(self._demands[step_inside].barriers for step_inside in step.walk())
        unroll = 1 if barred else self._unrolled(step)
        begin = warps.now
        ends = [begin.time + warps.extra]
        previous, since = begin, 0
        groups: list[tuple[float, float, int]] = []
        for iteration in range(int(followed)):
            if iteration % unroll == 0:
                previous, since = warps.now, iteration
            for number, region in enumerate(step.regions):
                yield from self._region(region, warps)
                _hand(step.edges, number, number + 1, warps)
            _hand(step.edges, len(step.regions) - 1, 0, warps)
            if iteration % unroll == unroll - 1 or iteration + 1 == followed:
                self._close(step, warps)
                groups.append((previous.time, warps.now.time, iteration + 1 - since))
            ends.append(warps.now.time + warps.extra)
        half = max(1, len(ends) // 2)
        per = (ends[-1] - ends[half - 1]) / (len(ends) - half)
        warps.extra += per * (trips - followed)
        _hand(step.edges, len(step.regions) - 1, None, warps)
        together = followed - since
        waits = _critical(warps.now, previous)
        critical = tuple(
            step_inside._replace(cycles=step_inside.cycles / together) for step_inside in waits
        )
        first, last, passes = _like_the_others(groups, per)
        self._iterations.append(
            Iteration(
                loop=step,
                trips=trips,
                cycles=per,
                critical=critical,
                window=(first, last),
                passes=passes,
            )
        )

    def _unrolled(self, loop: Step) -> int:
        """Return the unroll factor of a loop; barriers keep the assembler from unrolling."""
        issued = sum(self._demands[inner].issue for inner in loop.walk())
        return max(1, min(MOST_UNROLLED, int(self._constants.unroll / max(1, issued))))

    def _close(self, loop: Step, warps: _Warps) -> None:
        """Let the next iteration begin after this one's computations, as warps issue in order.

        Loads and copies are waited for only by their users.
        """
        for region in loop.regions:
            for step in region:
                is_copy = step.access is not None and step.access.kind == "copy to local"
                is_late = step.traits.streams or is_copy or step.product is not None
                if step.results and not is_late:
                    done = warps.ready.get(step.results[0], START)
                    warps.floor = _later(warps.floor, done._replace(time=done.time - 10))

    def _partitions(self, step: Step, warps: _Warps) -> Blocked:
        """Simulate partitions of warps that run concurrently."""
        yield from ()
        groups: list[tuple[_Warps, Blocked]] = []
        for number, region in enumerate(step.regions):
            count = step.warps[number - 1] if 0 < number <= len(step.warps) else warps.number
            group = _Warps(count, dict(warps.ready), warps.now, warps.now, last=warps.last)
            _hand(step.edges, None, number, group)
            groups.append((group, self._region(_flat(region), group)))
        self._together(groups)
        for group, _ in groups:
            end = group.end
            warps.floor = _later(warps.floor, end._replace(time=end.time + group.extra))
            warps.ready.update(group.ready)
        _hand(step.edges, 0, None, warps)

    def _together(self, groups: list[tuple[_Warps, Blocked]]) -> None:
        """Run walks until all have ended; where all wait, a ring of buffers begins empty."""
        while groups:
            moved = []
            for group, steps in groups:
                before = group.now, group.waits
                if next(steps, "end") != "end":
                    moved.append((group, steps, (group.now, group.waits) != before))
            stuck = len(moved) == len(groups) and not any(entry[2] for entry in moved)
            groups = [entry[:2] for entry in moved]
            if stuck:
                group = min((entry[0] for entry in moved), key=self._emptiness)
                root, slots = group.waits
                self._barriers.setdefault(root, _Arrivals()).moments.extend([group.floor] * slots)

    def _emptiness(self, warps: _Warps) -> tuple[bool, float]:
        """Return the order in which rings are taken to begin empty: not those that data fills."""
        return warps.waits[0] in self._filled, warps.now.time

    def _wait(self, step: Step, warps: _Warps) -> Blocked:
        """Wait at a barrier in memory until its arrival."""
        arrivals = self._barriers.setdefault(step.root, _Arrivals())
        warps.waits = step.root, step.slots
        while (arrived := arrivals.next_of(warps)) is None:
            yield
        arrivals.take(warps)
        warps.waits = "", 1
        reached = _later(arrived, warps.now)
        begin = warps.now
        warps.floor = Moment(reached.time + self._timing.shared, step, reached)
        self._keep(WAITS, step, begin, warps.floor)

    # -- steps ----------------------------------------------------------------------------------

    def _step(self, step: Step, warps: _Warps) -> None:
        traits, name = step.traits, step.name.rpartition(".")[2]
        begin = warps.floor
        for operand in step.operands:
            begin = _later(begin, warps.ready.get(operand, START))
        if name == "async_commit_group":
            warps.groups.append(_later(begin, warps.copied))
            warps.copied = START
        elif name in ("async_wait", "async_tma_store_wait"):
            done = _pending(warps.groups, step.number)
            begin = self._barrier(step, warps, done)
        elif name == "warp_group_dot_wait":
            done = _pending(warps.products, step.number)
            self._keep(WAITS, step, warps.now, done)
            warps.floor = begin = _later(warps.floor, done)
            warps.issued = _later(warps.issued, done)
        elif name in ("arrive_barrier", "tc_gen5_commit", "async_copy_mbarrier_arrive"):
            self._arrive(step.root, _later(warps.now, warps.last))
        elif name == EXPECTS:
            self._arrive(step.root, warps.now)
        elif name == "init_barrier":
            self._barriers[step.root] = _Arrivals()
        elif traits.terminator or traits.call or not (step.results or step.access or step.product):
            self._synchronize(step, warps)
            return
        else:
            begin = self._execute(step, warps, begin)
        warps.last = _later(warps.last, begin)
        for result in step.results:
            warps.ready[result] = begin

    def _synchronize(self, step: Step, warps: _Warps) -> None:
        """Simulate a step without results, such as a wait or a barrier."""
        demand = self._demands[step]
        if demand.barriers:
            self._barrier(step, warps, START)
        elif demand.latency:
            begin = warps.now
            warps.floor = Moment(begin.time + demand.latency, step, begin)
            self._keep(WAITS, step, begin, warps.floor)
        if step.traits.call:
            self._unknown[f"line {step.line}: a function that is called"] = None

    def _execute(self, step: Step, warps: _Warps, begin: Moment) -> Moment:
        """Send a step through the pipes and return the moment of its result."""
        demand = self._demands[step]
        if demand is NOTHING:
            return begin
        begin = self._ordered(step, warps, begin)
        schedule = max(1.0, warps.number / self._timing.schedulers)
        issued = _later(warps.floor, warps.issued)
        warps.issued = Moment(issued.first + demand.issue * schedule, step, issued)
        self._keep(ISSUE, step, issued, warps.issued)
        done = _served(begin, begin.first, demand.issue * schedule, schedule, step)
        if demand.special:
            cycles = demand.special * schedule
            done = _later(done, self._through("special", begin, cycles, step, schedule))
        if step.product is not None:
            return self._multiply(step, warps, begin, done, demand)
        done = self._exchanged(step, warps, done, demand)
        done = self._moved(step, warps, done, demand)
        for _ in range(demand.barriers - demand.hops):
            done = self._barrier(step, warps, done)
        if step.access is not None and step.access.kind == "copy to local":
            warps.copied = _later(warps.copied, done)
            if step.barrier:
                self._arrive_late(step.barrier, done)
        return done

    def _arrive(self, root: str, moment: Moment) -> None:
        self._barriers.setdefault(root, _Arrivals()).moments.append(moment)

    def _arrive_late(self, root: str, moment: Moment) -> None:
        """Let a copy arrive at the barrier that expects its bytes: the last of the ring."""
        self._barriers.setdefault(root, _Arrivals()).moments[-1:] = [moment]

    def _exchanged(self, step: Step, warps: _Warps, done: Moment, demand: Demand) -> Moment:
        """Send a step through the load-store unit, with barriers between its parts."""
        part = demand.lsu / (1 + demand.hops)
        if part:
            done = self._through("lsu", done, part, step)
        for _ in range(demand.hops):
            done = self._through("lsu", self._barrier(step, warps, done), part, step)
        return done

    def _moved(self, step: Step, warps: _Warps, done: Moment, demand: Demand) -> Moment:
        """Return the moment at which a step's reads are done; nothing waits for writes."""
        latency = demand.latency
        cached = cached_cycles(demand, self._timing)
        if cached:
            each = demand.read + demand.written + 2 * SECTOR * demand.sectors
            cycles = max(cached, each * self._per_byte)
            sent = self._through("memory", done, cycles, step, warps.number)
            if demand.read:
                begin, done, latency = done, sent, self._loaded(step, warps)
                lane = COPIES if step.access and step.access.kind == "copy to local" else LOADS
                self._keep(lane, step, begin, Moment(done.time + latency))
        return Moment(done.time + latency, step, done, done.lead)

    def _loaded(self, step: Step, warps: _Warps) -> float:
        """Return the latency of a load."""
        access = step.access
        assert access is not None
        is_copy = access.kind == "copy to local"
        held = access.bytes / (4.0 * self._program.threads * warps.number)
        part = self._fetched(step, access)
        if part < 1:
            return part * self._dram + (1 - part) * self._timing.l1
        if is_copy:
            return self._dram + (self._constants.boxes if step.barrier else 0)
        if access.is_table:
            return self._timing.l2
        if step.runs <= 1:
            return self._dram * self._rounds(held)
        return self._dram * max(1.0, min(8.0, held / self._constants.cap))

    def _fetched(self, step: Step, access: StepTraffic) -> float:
        """Return the fraction of a load whose sectors no earlier iteration has requested."""
        asked = access.sector_bytes
        if step.runs <= 1 or not asked or access.touched is None or access.bytes > asked / 2:
            return 1.0
        own = access.touched / (step.runs * self._program.programs)
        return min(1.0, max(own, access.bytes) / asked)

    def _rounds(self, held: float) -> float:
        """Return the times that loads of a straight block wait for registers.

        The first are in flight at once; others as far as what is computed leaves room.
        """
        before, self._held = self._held, self._held + held
        return max(1.0, before / max(self._constants.cap, self._room)) if before else 1.0

    @lazy
    def _room(self) -> float:
        program = self._program
        floats = (inner.registers for inner in program.walk() if inner.element == "f32")
        return (program.used or min(program.limit, program.needed)) - max(floats, default=0)

    def _multiply(
        self, step: Step, warps: _Warps, begin: Moment, issued: Moment, demand: Demand
    ) -> Moment:
        done = issued
        if demand.tensor:
            done = self._through("tensor", begin, demand.tensor, step)
        done = Moment(done.time + demand.latency, step, done, done.lead)
        if "warp_group" in step.name:
            warps.products.append(done)
            self._keep(WAITS, step, warps.now, done)
            warps.floor = _later(warps.floor, done)
        return done

    def _keep(self, lane: str, step: Step, begin: Moment, end: Moment) -> None:
        """Record a busy stretch of a step, for the picture of an iteration."""
        if end.time > begin.time:
            self._spans.append(Stretch(lane, step, begin.time, end.time))

    def _through(
        self, pipe: str, begin: Moment, cycles: float, step: Step, warps: float = 0
    ) -> Moment:
        """Return the moment at which a pipe has served a step: warp by warp, or all at once.

        What goes through shared memory or tensor cores is served at once: warps exchange it.
        """
        if not warps:
            begin, warps = begin._replace(lead=0), 1
        busy = self._pipes[pipe]
        free = max(busy.time, begin.first)
        done = _served(busy if busy.time > begin.time else begin, free, cycles, warps, step)
        self._pipes[pipe] = done
        if pipe in LANES:
            self._keep(pipe, step, Moment(free), done)
        return done

    def _ordered(self, step: Step, warps: _Warps, begin: Moment) -> Moment:
        """Return the moment at which a step may touch its buffer: copies wait for all readers."""
        if step.name.endswith(COPY) and step.root in warps.read:
            return self._barrier(step, warps, begin)
        if step.root and (step.product is not None or step.traits.shared_read):
            warps.read.add(step.root)
        return begin

    def _barrier(self, step: Step, warps: _Warps, done: Moment) -> Moment:
        begin = warps.now
        warps.read.clear()
        reached = _later(begin, done)
        cycles = self._timing.barrier + self._timing.barrier_warp * warps.number
        warps.floor = warps.issued = Moment(reached.time + cycles, step, reached)
        self._keep(WAITS, step, begin, warps.floor)
        return warps.floor


def _like_the_others(
    groups: Sequence[tuple[float, float, int]], cycles: float
) -> tuple[float, float, int]:
    """Return the group of iterations, begin, end and number, that is nearest to their pace.

    The first fill what is empty; beside the last, warps that run ahead have ended.
    """
    third = len(groups) // 3
    settled = groups[third : max(third + 1, len(groups) * 3 // 4)]
    return min(settled, key=lambda group: abs(group[1] - group[0] - cycles * group[2]))


def _inside(loop: Step) -> Iterator[Step]:
    """Yield the steps in a loop, without the loop."""
    steps = loop.walk()
    next(steps)
    return steps


def _served(begin: Moment, free: float, cycles: float, warps: float, step: Step) -> Moment:
    """Return the moment at which a step is done whose warps come one after the other."""
    each = cycles / warps
    end = max(free + cycles, begin.time + each)
    return Moment(end, step, begin, end - free - each)


def _later(first: Moment, second: Moment) -> Moment:
    """Return the later of two moments, with the lead of warps that wait for both."""
    last = second if second.time > first.time else first
    lead = min(last.lead, last.time - max(first.first, second.first))
    return last if lead == last.lead else last._replace(lead=max(0.0, lead))


def _pending(groups: list[Moment], number: int) -> Moment:
    """Return the moment at which all but the last ``number`` groups are done."""
    done = groups[: len(groups) - number]
    latest = max(done, key=lambda moment: moment.time, default=START)
    del groups[: max(0, len(groups) - number)]
    return latest


def _hand(edges: Sequence[Passage], begin: int | None, end: int | None, warps: _Warps) -> None:
    """Pass values along a control-flow edge."""
    for edge in edges:
        if edge.begin == begin and edge.end == end:
            moments = [warps.ready.get(name, START) for name in edge.passed]
            warps.ready.update(zip(edge.received, moments))


def _flat(region: Sequence[Step]) -> Sequence[Step]:
    """Return the steps of a partition, also where an operation holds all partitions."""
    steps: list[Step] = []
    for step in region:
        if step.traits.partitions:
            steps += [inner for part in step.regions for inner in part]
        else:
            steps.append(step)
    return steps


def _critical(end: Moment, begin: Moment) -> tuple[Wait, ...]:
    """Return the steps that a moment waited for since another one, the longest first."""
    waited: dict[Step, list[float]] = {}
    at: Moment | None = end
    while at is not None and at.before is not None and at.time > begin.time:
        if at.step is not None:
            cycles = at.time - max(at.before.time, begin.time)
            waited.setdefault(at.step, []).append(cycles)
        at = at.before
    waits = [Wait(step, sum(cycles)) for step, cycles in waited.items()]
    return tuple(sorted((wait for wait in waits if wait.cycles > 0), key=lambda wait: -wait.cycles))
