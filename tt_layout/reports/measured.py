"""Counters of Nsight Compute beside predictions, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.measured.comparison import (
    TOLERANCE,
    ComparedCounter,
    ComparedLaunch,
    compared_launches,
    measured_kernels,
)
from tt_layout.audit.measured.counters import MeasuredLaunch, read_launches
from tt_layout.audit.shares import Launched
from tt_layout.errors import FileLocation, LayoutError, quoted
from tt_layout.mlir.source import Source
from tt_layout.reports.fitted import Fitted, Paragraph, Table
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe
from tt_layout.wording import count, plural

MAX_NUMBERS = 4  # launches that are named


class Measurements:
    """Measurements in a page of Nsight Compute.

    Attributes:
        file: its name.
        launches: all of them.
    """

    def __init__(self, source: Source) -> None:
        """Read a page.

        Raises:
            LayoutError: it is not such a page, or has nothing to compare.
        """
        self.file = source.name
        self.launches: Sequence[MeasuredLaunch] = read_launches(source)

    def of(self, audit: Audit) -> list[ComparedLaunch]:
        """Return the measurements of a module's kernels."""
        return list(compared_launches(audit, self.launches))

    def launched(self) -> dict[str, Launched]:
        """Return the duration of the shortest launch of each kernel, where it was measured."""
        shortest: dict[str, Launched] = {}
        for launch in self.launches:
            previous = shortest.get(launch.kernel)
            if launch.cycles and (previous is None or launch.cycles < previous.cycles):
                shortest[launch.kernel] = Launched(launch.cycles, launch.grid)
        return shortest

    def watched(self, audits: Iterable[Audit]) -> Iterator[Audit]:
        """Yield audits, remembering each.

        Raises:
            LayoutError: none of their kernels was measured.
        """
        functions: dict[str, None] = {}
        for audit in audits:
            names = (row.operation.function for row in audit.movements)
            functions.update(dict.fromkeys(name for name in names if name is not None))
            yield audit
        measured = measured_kernels(self.launches)
        if not functions.keys() & set(measured):
            shown = ", ".join(map(quoted, measured[:MAX_NUMBERS]))
            message = f"measures no kernel of the dump, but {shown}"
            raise LayoutError(message, FileLocation(self.file))


# -- text ---------------------------------------------------------------------------------------


def measured_lines(launches: Sequence[ComparedLaunch]) -> Iterator[Line | Fitted]:
    """Yield a table for each launch."""
    for launch in launches:
        yield Line()
        yield Paragraph(_heading(launch), indent=4, colour="yellow" if _differs(launch) else "")
        yield _table(launch)


def _differs(launch: ComparedLaunch) -> bool:
    return any(counter.differs for counter in _all_counters(launch))


def _all_counters(launch: ComparedLaunch) -> Iterator[ComparedCounter]:
    yield from launch.counters
    for line in launch.lines:
        yield from line.counters


def _heading(launch: ComparedLaunch) -> str:
    numbers = ", ".join(launch.numbers[:MAX_NUMBERS])
    if len(launch.numbers) > MAX_NUMBERS:
        numbers += ", ..."
    heading = f"measured of @{launch.kernel}, {plural('launch', len(launch.numbers))} {numbers}"
    if launch.programs is not None:
        heading += f", {count(launch.programs, 'program')}"
    wrong = sum(counter.differs for counter in launch.counters)
    predicted = sum(counter.predicted is not None for counter in launch.counters)
    unknown = len(launch.counters) - predicted
    verdict = f"{wrong} of {predicted} predictions differ by more than {TOLERANCE:.0%}"
    if not wrong:
        verdict = f"all {predicted} predictions are within {TOLERANCE:.0%}"
    if not predicted:
        verdict = "nothing is predicted"
    if unknown and predicted:
        verdict += f", {unknown} unknown"
    return safe(f"{heading}: {verdict}")


def _table(launch: ComparedLaunch) -> Table:
    header = ["counter", "measured", "predicted", "difference"]
    rows: list[Sequence[str] | str] = []
    colours: dict[int, str] = {}
    groups = [("", launch.counters)]
    groups += [
        (f"{counter.place.file}:{counter.place.line}", counter.counters) for counter in launch.lines
    ]
    for title, counters in groups:
        if title:
            rows.append(safe(title))
        for counter in counters:
            if counter.differs:
                colours[len(rows)] = "yellow"
            rows.append(_cells(counter))
    right = ["measured", "predicted"]
    return Table(header, rows, right, colours, has_tail=True)


def _cells(counter: ComparedCounter) -> list[str]:
    predicted = "-" if counter.predicted is None else _count(counter.predicted)
    predicted = f"at most {predicted}" if counter.is_bound else predicted
    return [counter.counter.name, _count(counter.measured), predicted, _difference(counter)]


def _count(number: float) -> str:
    return f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"


def _difference(counter: ComparedCounter) -> str:
    if counter.predicted is None:
        return safe(counter.reason)
    if counter.predicted == counter.measured:
        return "-"
    if counter.is_bound and not counter.differs:
        return safe(counter.reason)
    text = f"{counter.difference:+.1%}" if counter.difference is not None else "none measured"
    if counter.differs:
        text += ", differs"
    return f"{text}: {counter.cause}" if counter.cause else text


# -- plain data ---------------------------------------------------------------------------------


def measured_data(launches: Sequence[ComparedLaunch]) -> list[dict[str, Any]]:
    """Return the launches; the schema is in ``docs/audit-json.md``."""
    return [
        {
            "kernel": launch.kernel,
            "launches": list(launch.numbers),
            "programs": launch.programs,
            "differs": _differs(launch),
            "counters": list(map(_counter_data, launch.counters)),
            "lines": [
                {**line.place._asdict(), "counters": list(map(_counter_data, line.counters))}
                for line in launch.lines
            ],
        }
        for launch in launches
    ]


def _counter_data(counter: ComparedCounter) -> dict[str, Any]:
    return {
        "access": counter.counter.access,
        "unit": counter.counter.unit,
        "measured": _plain(counter.measured),
        "predicted": _plain(counter.predicted),
        "is_bound": counter.is_bound,
        "unknown": counter.reason or None,
        "difference": counter.difference,
        "cause": counter.cause or None,
        "differs": counter.differs,
    }


def _plain(number: float | None) -> float | None:
    """Return a whole count as an integer."""
    return int(number) if number is not None and number == int(number) else number
