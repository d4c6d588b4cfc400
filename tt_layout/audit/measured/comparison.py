"""Comparison of a kernel's measurements with the predictions of its audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.measured.causes import cause
from tt_layout.audit.measured.counters import COUNTERS, GLOBAL_WAVEFRONTS, NO_LANE, Counter
from tt_layout.audit.measured.launch import Launch, Place
from tt_layout.audit.measured.prediction import NOTHING, predict
from tt_layout.audit.measured.programs import Amount, Programs

TOLERANCE = 0.02
"""Of what was measured: where a prediction is farther away it differs."""

TOLERANCES = {GLOBAL_WAVEFRONTS: 0.25}
"""The same of what is predicted roughly."""


class ComparedCounter(NamedTuple):
    """A counter of a launch, or of a line of it.

    Attributes:
        counter: what is counted.
        measured: by the hardware.
        predicted: of all programs; None where that is not known.
        reason: why it is not known, or a bound only.
        is_bound: whether no more than that is predicted: some of it depends on data.
        cause: what can be the cause of a difference; empty where none is known.
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

    place: Place
    counters: tuple[ComparedCounter, ...]


class ComparedLaunch(NamedTuple):
    """Launches of a kernel of which the same was measured.

    Attributes:
        kernel: its name.
        numbers: those of the launches.
        programs: of one launch; None where that is not known.
        counters: of one launch.
        lines: of the program; empty where they were not measured.
    """

    kernel: str
    numbers: tuple[str, ...]
    programs: int | None
    counters: tuple[ComparedCounter, ...]
    lines: tuple[ComparedLine, ...]


def compared_launches(audit: Audit, launches: Sequence[Launch]) -> Iterator[ComparedLaunch]:
    """Yield the launches of the kernels of a module; equal ones are one."""
    functions = {row.operation.function for row in audit.movements}
    distinct: dict[str, Launch] = {}
    numbers: dict[str, list[str]] = {}
    for launch in launches:
        if _function(launch) in functions:
            seen = (
                launch.kernel,
                launch.grid,
                launch.ctas,
                launch.warps,
                launch.counts,
                launch.lines,
            )
            key = repr(seen)
            distinct.setdefault(key, launch)
            numbers.setdefault(key, []).append(launch.number)
    for key, launch in distinct.items():
        yield _compared(audit, launch, tuple(numbers[key]))


def measured_kernels(launches: Sequence[Launch]) -> list[str]:
    """Return the names of the kernels that were measured."""
    return list(dict.fromkeys(_function(launch) for launch in launches))


def _function(launch: Launch) -> str:
    """Return the name of a kernel without the types of its arguments."""
    return launch.kernel.partition("(")[0].strip()


def _compared(audit: Audit, launch: Launch, numbers: tuple[str, ...]) -> ComparedLaunch:
    kernel = _function(launch)
    rows = audit.movements_of(kernel)
    programs = Programs(audit, launch, kernel)
    number = programs.number
    if call := _call(audit, kernel):
        programs.number, programs.reason = None, call
    lines = tuple(_lines(rows, launch, programs))
    left_out = {*launch.plain, *([NO_LANE] if launch.warps is not None else [])}
    predicted = predict(programs, rows, left_out)
    counters = tuple(_counters(predicted, launch.whole(launch.counts)))
    return ComparedLaunch(kernel, numbers, number, counters, lines)


def _call(audit: Audit, kernel: str) -> str:
    """Return why the data movements of a kernel are not all that it does; empty if they are."""
    assert audit.audited is not None
    for function in audit.audited.functions:
        if function.name == kernel:
            calls = (o for o in function.walk() if o.name.rpartition(".")[2] == "call")
            call = next(calls, None)
            return f"line {call.line}: it calls another function" if call is not None else ""
    return ""


def _lines(
    rows: Sequence[MovementRow], launch: Launch, programs: Programs
) -> Iterator[ComparedLine]:
    """Yield the lines of the program of which something was measured or predicted."""
    if not launch.lines:
        return
    by_place: dict[tuple[str, int], list[MovementRow]] = {}
    for row in rows:
        if (location := row.operation.location) is not None:
            by_place.setdefault((_name(location.file), location.line), []).append(row)
    places = {(_name(place.file), place.line): place for place in launch.lines}
    for key in sorted(by_place.keys() | places.keys()):
        predicted = predict(programs, by_place.get(key, ()), {NO_LANE})
        place = places.get(key, Place(*key))
        measured = launch.whole(launch.lines.get(place, {}))
        counters = tuple(_counters(predicted, measured))
        if counters:
            yield ComparedLine(place, counters)


def _name(path: str) -> str:
    """Return the name of a file, however its folders are written."""
    return path.replace("\\", "/").rpartition("/")[2]


def _counters(
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
