"""Nsight Compute's counters of a kernel: predicted, and compared with a measurement."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from tt_layout.analyses.conversion.compiled_conversion import Transfer
from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.measured.counters import (
    ASYNC_COPY,
    COUNTERS,
    GLOBAL_LOAD,
    GLOBAL_STORE,
    GLOBAL_WAVEFRONTS,
    LDMATRIX,
    MATRIX_OF,
    NO_LANE,
    SHARED_LOAD,
    SHARED_STORE,
    STMATRIX,
    TRAFFIC,
    Counter,
    MeasuredLaunch,
    SourceLine,
    counted_as,
)
from tt_layout.audit.measured.programs import Amount, Programs
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import (
    ConversionDetails,
    Details,
    ExchangeDetails,
    GlobalDetails,
    IndexedDetails,
    SharedDetails,
    SingleAtomicDetails,
    TensorMemoryDetails,
)
from tt_layout.audit.operations.exchanges import is_by_threads
from tt_layout.grouping import grouped
from tt_layout.ir.data_movements import LOCAL_ACCESSES, MovementKind
from tt_layout.tuples import NamedTuple

EXCHANGES = (
    MovementKind.CONVERSION,
    MovementKind.REDUCTION,
    MovementKind.SCAN,
    MovementKind.GATHER,
    MovementKind.HISTOGRAM,
    MovementKind.GLOBAL_ATOMIC,
)
"""Groups of data movements that may store to shared memory and load from it."""

ACCESSES: Mapping[str, tuple[str, ...]] = {
    MovementKind.GLOBAL_LOAD: (GLOBAL_LOAD,),
    MovementKind.GLOBAL_STORE: (GLOBAL_STORE,),
    MovementKind.LOCAL_LOAD: (SHARED_LOAD, LDMATRIX),
    MovementKind.LOCAL_STORE: (SHARED_STORE,),
    **dict.fromkeys(EXCHANGES, (SHARED_LOAD, LDMATRIX, SHARED_STORE)),
}
"""Group of data movements -> the accesses that it may be compiled to."""

COPIES = ("async_copy_global_to_local", "insert_slice_async")
"""Asynchronous copies, which have counters of their own."""

ATOMICS = ("atom.", "red.")
"""Prefixes of instructions that do not count as stores, although histograms store by them."""

OTHERS = ("tmem_", "local_atomic")
"""Prefixes of operations that no counter counts, although their group has counters."""

NOTHING = Amount(0)

_BEHIND_BRANCH = (-2, -1)
"""Of a reduction of several tensors by threads: the loads of partial results, counted from those
of the results, around which ptxas branches; more of them, or one, have predicates."""

IDLE = "warps branch around what none of their lanes does"

EQUAL = 0.02
"""Relative difference up to which a prediction counts as equal."""

TOLERANCE = 0.02
"""Relative difference from which a prediction counts as different."""

TOLERANCES = {GLOBAL_WAVEFRONTS: 0.25}
"""Tolerances of counters that are predicted roughly."""


# -- prediction ------------------------------------------------------------------------------------


class Contribution(NamedTuple):
    """Contribution of one data movement to a counter.

    Attributes:
        counter: the counter.
        amount: amount in all programs.
    """

    counter: Counter
    amount: Amount


def predict(
    programs: Programs, rows: Iterable[MovementRow], left_out: Container[str] = ()
) -> dict[Counter, Amount]:
    """Add up the contributions of a kernel's data movements; missing counters are 0.

    Args:
        programs: programs of a launch.
        rows: the data movements.
        left_out: accesses to shared memory whose wavefronts exclude matrix instructions;
            `NO_LANE` to exclude loads that no lane executes.
    """
    sums: dict[Counter, Sum] = {}
    for row in rows:
        is_copy = row.operation.name.rpartition(".")[2] in COPIES
        for contribution in _contributions(row, programs):
            for counter in _counted(contribution.counter, left_out, is_copy=is_copy):
                total = sums.setdefault(counter, Sum(programs))
                total.add(programs.full(row), row.operation.line, contribution.amount)
    if NO_LANE not in left_out:
        for full, amount in programs.no_lane_loads():
            for access in (SHARED_LOAD, NO_LANE):
                total = sums.setdefault(Counter(access, "instructions"), Sum(programs))
                total.add(full, full.operation.line, amount)
    return {counter: total.amount for counter, total in sums.items()}


def _counted(counter: Counter, left_out: Container[str], *, is_copy: bool) -> Iterator[Counter]:
    """Yield the counters to which something adds that is counted as one."""
    if counter.unit == "lines" and not is_copy:
        yield GLOBAL_WAVEFRONTS
    for access, matrix in MATRIX_OF.items():
        if counter == Counter(matrix, "wavefronts") and access not in left_out:
            yield Counter(access, "wavefronts")
    yield counter


class Sum:
    """Sum of the contributions of several data movements.

    Attributes:
        amount: the sum; the greatest of those of all ways through the blocks of the kernel, where
            it is not known which is taken.
    """

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._blocks: dict[str, float] = {}
        self._unknown = ""
        self._bound = ""

    def add(self, full: FullOperation | None, line: int, amount: Amount) -> None:
        """Add the amount of an operation on a line."""
        is_of_all = amount.reason == self._programs.reason
        reason = amount.reason if is_of_all else f"line {line}: {amount.reason}"
        if amount.number is None:
            self._unknown = self._unknown or reason
            return
        if amount.is_bound and amount.number:
            self._bound = self._bound or reason
        label = self._programs.block_of(full)
        self._blocks[label] = self._blocks.get(label, 0) + amount.number

    @property
    def amount(self) -> Amount:
        """The sum."""
        if self._unknown:
            return Amount(None, self._unknown)
        if self._bound:
            return Amount(self._programs.greatest(self._blocks), self._bound, is_bound=True)
        return Amount(sum(self._blocks.values()))


def _contributions(row: MovementRow, programs: Programs) -> Iterator[Contribution]:
    """Yield the contributions of one data movement, over all its executions."""
    accesses = _accesses(row)
    if not accesses:
        return
    runs = programs.runs(row)
    if runs.number == 0:
        return
    if row.cost is None:
        reason = row.refusal or row.cost_unknown or f"the cost of {row.operation.name} is not known"
        yield from _unknown_contributions(accesses, reason)
        return
    if accesses[0] in (GLOBAL_LOAD, GLOBAL_STORE, ASYNC_COPY):
        yield from _global_contributions(row, programs, accesses[0], runs)
    else:
        yield from _shared_contributions(row, programs, runs)


def _accesses(row: MovementRow) -> tuple[str, ...]:
    name = row.operation.name.rpartition(".")[2]
    if name.startswith(OTHERS):
        return ()
    return (ASYNC_COPY,) if name in COPIES else ACCESSES.get(row.operation.group, ())


def _unknown_contributions(accesses: Iterable[str], reason: str) -> Iterator[Contribution]:
    for access in accesses:
        for unit in ("instructions", *TRAFFIC, "wavefronts"):
            yield Contribution(counted_as(access, unit), Amount(None, reason))


def _warps(row: MovementRow, audited: AuditedModule) -> int:
    """Return the warps of a CTA that execute an operation."""
    for end in (*row.operation.types, row.operation.target):
        layout = audited.layouts.linear(end) if end is not None and end.is_tensor else None
        if layout is not None:
            return layout.get_in_dim_size("warp")
    return audited.module.number("num-warps") or 1


# -- global memory ------------------------------------------------------------------------------


def _global_contributions(
    row: MovementRow, programs: Programs, access: str, runs: Amount
) -> Iterator[Contribution]:
    """Yield the contributions of an access to global memory."""
    assert row.cost is not None
    details = row.cost.details
    if not isinstance(details, GlobalDetails):
        yield from _unknown_contributions([access], row.cost.text)
        return
    instructions = details.instructions * _warps(row, programs.audited)
    amount = runs.times(instructions).less(programs.idle(row))
    yield Contribution(Counter(access, "instructions"), amount)
    for unit, amount in programs.traffic(row).items():
        yield Contribution(counted_as(access, unit), amount)
    if access == ASYNC_COPY:
        yield Contribution(Counter(access, "wavefronts"), programs.written(row))


# -- shared memory ------------------------------------------------------------------------------


class _Accesses(NamedTuple):
    """Accesses to shared memory of one instruction.

    Attributes:
        access: load or store.
        instruction: name of the instruction.
        instructions: instructions of all warps of a CTA.
        wavefronts: wavefronts of all warps of a CTA; None where not known.
    """

    access: str
    instruction: str
    instructions: int
    wavefronts: float | None

    @property
    def is_matrix(self) -> bool:
        """Whether it is an instruction of matrices, which whole warps execute."""
        return self.instruction.startswith((LDMATRIX, STMATRIX))

    @property
    def by_busy_warps(self) -> _Accesses:
        """Return the accesses of warps with an active lane, which take a wavefront each time."""
        busy = min(self.instructions, int(self.wavefronts or self.instructions))
        return self._replace(instructions=busy)

    def contributions(self, runs: Amount, idle: float = 0) -> Iterator[Contribution]:
        """Yield the contributions; matrix instructions are counted by themselves.

        Args:
            runs: runs of the operation.
            idle: instructions to subtract for warps that have ended.
        """
        access = MATRIX_OF[self.access] if self.is_matrix else self.access
        yield Contribution(
            Counter(access, "instructions"), runs.times(self.instructions).less(idle)
        )
        wavefronts = Amount(None, "its wavefronts are not known")
        if self.wavefronts is not None:
            mean = self.wavefronts / self.instructions if self.instructions else 0
            wavefronts = runs.times(self.wavefronts).less(idle * mean)
        yield Contribution(Counter(access, "wavefronts"), wavefronts)


def _shared_contributions(
    row: MovementRow, programs: Programs, runs: Amount
) -> Iterator[Contribution]:
    """Yield the contributions of accesses to shared memory."""
    assert row.cost is not None
    warps = _warps(row, programs.audited)
    groups = _shared_accesses(row, row.cost, warps)
    if groups is None:
        yield from _unknown_contributions(
            _accesses(row), f"{row.operation.name} is known as a bound only"
        )
        return
    full = programs.full(row)
    results = len(full.operation.results) if full is not None else 0
    branches = results > 1 and is_by_threads(row.operation.source)
    for number, accesses in enumerate(groups, results - len(groups)):
        is_load = accesses.access == SHARED_LOAD and not accesses.is_matrix
        if branches and number in _BEHIND_BRANCH:
            accesses = accesses.by_busy_warps
        per_warp = accesses.instructions // warps
        idle = programs.idle_behind(row, number, per_warp, runs) if is_load else 0
        yield from accesses.contributions(runs, idle)


def _shared_accesses(row: MovementRow, cost: Cost, warps: int) -> list[_Accesses] | None:
    """Return the accesses that an operation is compiled to; None where they are not known."""
    details, group = cost.details, row.operation.group
    if group in LOCAL_ACCESSES:
        access = SHARED_LOAD if group is MovementKind.LOCAL_LOAD else SHARED_STORE
        return local_accesses(access, details, warps)
    if isinstance(details, ConversionDetails):
        compiled = details.compiled
        if compiled is None:
            return None if details.wavefronts or details.moved_bytes is None else []
        return [
            *_steps(SHARED_STORE, [compiled.store], warps),
            *_steps(SHARED_LOAD, [compiled.load], warps),
        ]
    if isinstance(details, (GlobalDetails, SingleAtomicDetails)):
        if details.result is None:
            return []
        details = details.result
    if not isinstance(details, ExchangeDetails):
        return []
    stores = _steps(SHARED_STORE, details.stores, warps)
    return [*stores, *_steps(SHARED_LOAD, details.loads, warps)]


def local_accesses(access: str, details: Details, warps: int) -> list[_Accesses] | None:
    """Return the accesses of a load or store; None where they are not known."""
    if isinstance(details, SharedDetails):
        total = details.instructions * details.wavefronts_per_instruction * warps
        return [_Accesses(access, details.instruction, details.instructions * warps, total)]
    if isinstance(details, (IndexedDetails, TensorMemoryDetails)):
        return [_Accesses(access, details.instruction, details.instructions * warps, None)]
    return None


def _steps(access: str, steps: Iterable[Transfer | None], warps: int) -> Iterator[_Accesses]:
    """Yield stores or loads as accesses; the hardware counts atomic additions apart from both."""
    for step in steps:
        if step is not None and not step.instruction.startswith(ATOMICS):
            count = step.instructions * warps
            yield _Accesses(access, step.instruction, count, step.wavefronts)


# -- causes of differences -------------------------------------------------------------------------


def cause(
    counter: Counter, measured: Mapping[Counter, float], predicted: Mapping[Counter, Amount]
) -> str:
    """Return a possible cause of a difference; empty if none is known.

    Args:
        counter: the counter that differs.
        measured: measured counters of the launch, or of a line.
        predicted: predicted counters.

    Example:
        >>> loads, copies = (Counter(a, "instructions") for a in (SHARED_LOAD, ASYNC_COPY))
        >>> cause(loads, {loads: 30, copies: 20}, {loads: Amount(0), copies: Amount(20)})
        '@!PT LDS beside asynchronous copies'
    """
    has, expected = measured[counter], _predicted(predicted, counter)
    if counter.unit == "instructions":
        return _cause_of_instructions(counter, has, expected, measured, predicted)
    if counter.unit == "wavefronts" and counter.access in (SHARED_LOAD, SHARED_STORE):
        instructions = Counter(counter.access, "instructions")
        number = measured.get(instructions)
        wanted = _predicted(predicted, instructions)
        if number is not None and wanted is not None and expected is not None:
            is_equal = abs(number - wanted) <= EQUAL * number
            copies = measured.get(Counter(ASYNC_COPY, "instructions"), 0)
            if has > expected and (is_equal or (copies and number > wanted)):
                return "arbitration with other traffic"
    return ""


def _cause_of_instructions(
    counter: Counter,
    has: float,
    expected: float | None,
    measured: Mapping[Counter, float],
    predicted: Mapping[Counter, Amount],
) -> str:
    if expected is None:
        return ""
    copies = measured.get(Counter(ASYNC_COPY, "instructions"), 0)
    if counter.access == SHARED_LOAD and has > expected and copies:
        return f"{NO_LANE} beside asynchronous copies"
    is_less = has < expected
    if is_less and counter.access in (GLOBAL_LOAD, GLOBAL_STORE):
        counts = Counter(counter.access, "requests")
        requested = [measured.get(counts), _predicted(predicted, counts)]
        requests = min((number for number in requested if number is not None), default=None)
        return IDLE if requests is not None and requests * (1 - EQUAL) <= has else ""
    if is_less and counter.access == SHARED_LOAD:
        wavefronts = Counter(counter.access, "wavefronts")
        wanted = _predicted(predicted, wavefronts)
        is_equal = (
            wanted is not None and abs(measured.get(wavefronts, 0) - wanted) <= EQUAL * wanted
        )
        return IDLE if is_equal else ""
    return ""


def _predicted(amounts: Mapping[Counter, Amount], counter: Counter) -> float | None:
    amount = amounts.get(counter)
    return 0 if amount is None else amount.number


# -- comparison ------------------------------------------------------------------------------------


class ComparedCounter(NamedTuple):
    """A counter of a launch, or of a line of it.

    Attributes:
        counter: the counter.
        measured: number that the hardware counted.
        predicted: predicted number over all programs; None where not known.
        reason: why it is not known, or only a bound.
        is_bound: whether the prediction is a bound, as some of it depends on data.
        cause: possible cause of a difference; empty where none is known.
    """

    counter: Counter
    measured: float
    predicted: float | None
    reason: str = ""
    is_bound: bool = False
    cause: str = ""

    @property
    def difference(self) -> float | None:
        """Predicted excess as a share of the measurement; None if unknown.

        Example:
            >>> ComparedCounter(COUNTERS[0], 100, 97).difference
            -0.03
        """
        if self.predicted is None or (self.predicted and not self.measured):
            return None
        return (self.predicted - self.measured) / (self.measured or 1)

    @property
    def differs(self) -> bool:
        """Whether it is farther away than `TOLERANCE`; less than a bound is not."""
        if self.predicted is None or (self.is_bound and self.measured <= self.predicted):
            return False
        tolerance = TOLERANCES.get(self.counter, TOLERANCE)
        return abs(self.predicted - self.measured) > tolerance * self.measured


class ComparedLine(NamedTuple):
    """A line of the program."""

    place: SourceLine
    counters: tuple[ComparedCounter, ...]


class ComparedLaunch(NamedTuple):
    """Launches of a kernel with equal measurements.

    Attributes:
        kernel: name of the kernel.
        numbers: numbers of the launches.
        programs: programs of one launch; None where not known.
        counters: compared counters of one launch.
        lines: compared lines of the program; empty where they were not measured.
    """

    kernel: str
    numbers: tuple[str, ...]
    programs: int | None
    counters: tuple[ComparedCounter, ...]
    lines: tuple[ComparedLine, ...]


def compared_launches(audit: Audit, launches: Sequence[MeasuredLaunch]) -> Iterator[ComparedLaunch]:
    """Yield the launches of the kernels of a module; equal ones are one."""
    functions = {row.operation.function for row in audit.movements}
    known = [launch for launch in launches if _kernel_name(launch) in functions]
    for equal in grouped(known, _measurements).values():
        yield _compared_launch(audit, equal[0], tuple(launch.number for launch in equal))


def _measurements(launch: MeasuredLaunch) -> str:
    """Return the key of equal launches."""
    return repr(
        (launch.kernel, launch.grid, launch.ctas, launch.warps, launch.counts, launch.lines)
    )


def measured_kernels(launches: Sequence[MeasuredLaunch]) -> list[str]:
    """Return the names of the kernels that were measured."""
    return list(dict.fromkeys(_kernel_name(launch) for launch in launches))


def _kernel_name(launch: MeasuredLaunch) -> str:
    """Return the name of a kernel without the types of its arguments."""
    return launch.kernel.partition("(")[0].strip()


def _compared_launch(
    audit: Audit, launch: MeasuredLaunch, numbers: tuple[str, ...]
) -> ComparedLaunch:
    kernel = _kernel_name(launch)
    rows = audit.movements_of(kernel)
    programs = Programs(audit, launch, kernel)
    number = programs.number
    if call := _call(audit, kernel):
        programs.number, programs.reason = None, call
    lines = tuple(_compared_lines(rows, launch, programs))
    left_out = {*launch.plain, *([NO_LANE] if launch.warps is not None else [])}
    predicted = predict(programs, rows, left_out)
    counters = tuple(_compared_counters(predicted, launch.whole(launch.counts)))
    return ComparedLaunch(kernel, numbers, number, counters, lines)


def _call(audit: Audit, kernel: str) -> str:
    """Return why the data movements of a kernel are not all that it does; empty if they are."""
    function = audit.audited.functions_by_name.get(kernel)
    operations = function.walk() if function is not None else ()
    call = next((o for o in operations if o.name.rpartition(".")[2] == "call"), None)
    return f"line {call.line}: it calls another function" if call is not None else ""


def _compared_lines(
    rows: Sequence[MovementRow], launch: MeasuredLaunch, programs: Programs
) -> Iterator[ComparedLine]:
    """Yield the lines of the program of which something was measured or predicted."""
    if not launch.lines:
        return
    by_line: dict[tuple[str, int], list[MovementRow]] = {}
    for row in rows:
        if (location := row.operation.location) is not None:
            by_line.setdefault((_file_name(location.file), location.line), []).append(row)
    lines = {(_file_name(line.file), line.line): line for line in launch.lines}
    for key in sorted(by_line.keys() | lines.keys()):
        predicted = predict(programs, by_line.get(key, ()), {NO_LANE})
        line = lines.get(key, SourceLine(*key))
        measured = launch.whole(launch.lines.get(line, {}))
        counters = tuple(_compared_counters(predicted, measured))
        if counters:
            yield ComparedLine(line, counters)


def _file_name(path: str) -> str:
    """Return the name of a file, however its folders are written."""
    return path.replace("\\", "/").rpartition("/")[2]


def _compared_counters(
    predicted: Mapping[Counter, Amount], measured: Mapping[Counter, float]
) -> Iterator[ComparedCounter]:
    """Yield the counters that were measured and are not 0 on both sides."""
    for counter in COUNTERS:
        if counter not in measured:
            continue
        count, (number, reason, is_bound) = measured[counter], predicted.get(counter, NOTHING)
        if count or number is None or number:
            compared = ComparedCounter(counter, count, number, reason, is_bound)
            yield (
                compared._replace(cause=cause(counter, measured, predicted))
                if compared.differs
                else compared
            )
