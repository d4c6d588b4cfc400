"""What was measured of a kernel beside what its audit predicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.measured.counters import COUNTERS, Counter
from tt_layout.audit.measured.launch import Launch, Place
from tt_layout.audit.measured.prediction import NOTHING, Prediction, predict

TOLERANCE = 0.02
"""Of what was measured: where a prediction is farther away it differs."""


class ComparedCounter(NamedTuple):
    """A counter of a launch, or of a line of it.

    Attributes:
        counter: what is counted.
        measured: by the hardware.
        predicted: of all programs; None where that is not known.
        reason: why it is not known.
    """

    counter: Counter
    measured: float
    predicted: float | None
    reason: str = ""

    @property
    def difference(self) -> float | None:
        """How much more is predicted, as a part of what was measured; None where unknown.

        Example:
            >>> ComparedCounter(COUNTERS[0], 100, 97).difference
            -0.03
        """
        if self.predicted is None or (self.predicted and not self.measured):
            return None
        return (self.predicted - self.measured) / (self.measured or 1)

    @property
    def differs(self) -> bool:
        """Whether it is farther away than `TOLERANCE`."""
        if self.predicted is None:
            return False
        return abs(self.predicted - self.measured) > TOLERANCE * self.measured


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
    found: dict[str, Launch] = {}
    numbers: dict[str, list[str]] = {}
    for launch in launches:
        if _function(launch) in functions:
            key = repr((launch.kernel, launch.ctas, launch.warps, launch.counts, launch.lines))
            found.setdefault(key, launch)
            numbers.setdefault(key, []).append(launch.number)
    for key, launch in found.items():
        yield _compared(audit, launch, tuple(numbers[key]))


def measured_kernels(launches: Sequence[Launch]) -> list[str]:
    """Return the names of the kernels that were measured."""
    return list(dict.fromkeys(_function(launch) for launch in launches))


def _function(launch: Launch) -> str:
    """Return the name of a kernel without the types of its arguments."""
    return launch.kernel.partition("(")[0].strip()


def _compared(audit: Audit, launch: Launch, numbers: tuple[str, ...]) -> ComparedLaunch:
    rows = [row for row in audit.movements if row.operation.function == _function(launch)]
    own = _programs(audit, launch)
    call = _call(audit, _function(launch))
    trusted = _Programs(None, call) if call else own
    lines = tuple(_lines(audit, rows, launch, trusted))
    counters = tuple(_counters(predict(audit, rows), launch.whole(launch.counts), trusted))
    return ComparedLaunch(_function(launch), numbers, own.number, counters, lines)


class _Programs(NamedTuple):
    """How many programs there are; None where nothing can be said of all, and why."""

    number: int | None
    reason: str = ""


def _programs(audit: Audit, launch: Launch) -> _Programs:
    """Return how many programs were launched, or why that is not known."""
    ctas = audit.module.number("num-ctas") or 1
    if ctas > 1:
        return _Programs(None, f"programs of {ctas} CTAs were not measured")
    if launch.ctas is not None:
        return _Programs(launch.ctas)
    if launch.warps is None:
        return _Programs(None, "the number of programs is not known without launch__grid_size")
    warps = audit.module.number("total-num-warps") or audit.module.number("num-warps") or 1
    if launch.warps % warps:
        return _Programs(None, f"{launch.warps:g} warps are no number of programs of {warps}")
    return _Programs(round(launch.warps / warps))


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
    audit: Audit, rows: Sequence[MovementRow], launch: Launch, own: _Programs
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
        predicted = predict(audit, by_place.get(key, ()))
        place = places.get(key, Place(*key))
        measured = launch.whole(launch.lines.get(place, {}))
        counters = tuple(_counters(predicted, measured, own))
        if counters:
            yield ComparedLine(place, counters)


def _name(path: str) -> str:
    """Return the name of a file, however its folders are written."""
    return path.replace("\\", "/").rpartition("/")[2]


def _counters(
    predicted: Mapping[Counter, Prediction], measured: Mapping[Counter, float], own: _Programs
) -> Iterator[ComparedCounter]:
    """Yield the counters that were measured and are not 0 on both sides."""
    for counter in COUNTERS:
        if counter not in measured:
            continue
        count = measured[counter]
        number, reason = predicted.get(counter, NOTHING)
        if own.number is None and number:
            number, reason = None, own.reason
        total = number * own.number if number and own.number is not None else number
        if count or total is None or total:
            yield ComparedCounter(counter, count, total, reason)
