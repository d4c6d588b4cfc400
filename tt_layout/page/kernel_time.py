"""The estimated time of each kernel for the page: its terms, and an iteration of its loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tt_layout.audit.kernel import Kernel
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.time.walk import LANES, Iteration, Stretch, Wait
from tt_layout.reports.first_screen import SHOWN_PART, iteration_text, shown_terms
from tt_layout.reports.time_data import SHOWN_WAITS
from tt_layout.safe_text import safe
from tt_layout.wording import duration

MAX_LOOPS = 8
"""Loops of a kernel that are drawn, those that take most of its time."""

MAX_SPANS = 64
"""Spans of a lane that are drawn, the longest of them."""

TAIL = "tail of the last wave"
"""What the page calls the time in which the last wave leaves multiprocessors idle."""


def times_data(kernels: Iterable[Kernel]) -> Iterator[dict[str, Any]]:
    """Yield the estimate of each kernel, or the reason why there is none.

    Args:
        kernels: the kernels of a module.
    """
    for kernel in kernels:
        found = kernel.estimate
        if isinstance(found, NoEstimate):
            if kernel.is_empty:
                continue
            yield {"name": kernel.heading, "text": safe(found.text)}
        else:
            yield {"name": kernel.heading, "text": found.text, **_drawn(found)}


def waited_lines(times: Iterable[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """Yield the source file and line of each step on a critical path."""
    for time in times:
        for path in time.get("paths", ()):
            for *_, file, line in path["critical"]:
                if file is not None and line is not None:
                    yield file, line


def _drawn(found: Estimate) -> dict[str, Any]:
    """Return the bars of an estimate, and its loops; without loops the whole program as one."""
    walked = found.launch.walked
    bars = [*shown_terms(found), *([(TAIL, found.launch.tail)] if found.launch.tail else [])]
    loops = {iteration.loop: iteration for iteration in walked.iterations}
    largest = sorted(loops.values(), key=lambda one: -one.trips * one.cycles * one.loop.runs)
    paths = [
        _path(iteration_text(iteration), iteration.cycles, iteration.critical, iteration)
        for iteration in largest[:MAX_LOOPS]
    ]
    if not loops:
        text = f"a program takes {found.launch.latency:.0f} cycles"
        paths = [_path(text, walked.cycles, walked.critical, None, walked.spans)]
    return {
        "seconds": found.seconds,
        "bars": [[name, seconds, duration(seconds)] for name, seconds in bars],
        "doubts": [safe(doubt) for doubt in found.doubts],
        "paths": paths,
    }


def _path(
    text: str,
    cycles: float,
    critical: Sequence[Wait],
    iteration: Iteration | None,
    spans: Sequence[Stretch] = (),
) -> dict[str, Any]:
    """Return the critical path of an iteration or a program, and its picture."""
    waits = [wait for wait in critical if wait.cycles >= SHOWN_PART * cycles][:SHOWN_WAITS]
    if iteration is not None:
        spans = iteration.spans
        begin, end = iteration.window
    else:
        begin, end = 0, cycles
    return {
        "text": text,
        "cycles": round(cycles),
        "drawn": round(end - begin),
        "passes": iteration.passes if iteration is not None else 1,
        "critical": [
            [wait.step.line, round(wait.cycles), wait.step.name, wait.step.file, wait.step.source]
            for wait in waits
        ],
        "lanes": list(_lanes(spans)),
    }


def _lanes(spans: Sequence[Stretch]) -> Iterator[tuple[str, str, list[tuple[int, int, int]]]]:
    """Yield the used lanes of the picture: name, meaning, and start, end and line of each span."""
    for lane, (name, meaning) in LANES.items():
        own = [span for span in spans if span.lane == lane and span.end - span.begin >= 0.5]
        longest = sorted(own, key=lambda span: span.begin - span.end)[:MAX_SPANS]
        if longest:
            drawn = sorted((round(span.begin), round(span.end), span.step.line) for span in longest)
            yield name, meaning, drawn
