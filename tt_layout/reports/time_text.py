"""What an estimated time is made of, as text: its terms, and the critical path of each loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.kernel import Kernel
from tt_layout.audit.time.estimate import NoEstimate
from tt_layout.audit.time.walk import Iteration, Wait
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.report import GAP
from tt_layout.wording import duration

SHOWN_STEPS = 6
"""Steps on a critical path that are named, the longest of them."""

SHOWN_PART = 0.02
"""Part of the whole below which a term or a step is left out."""


def time_paragraphs(kernel: Kernel) -> Iterator[Paragraph]:
    """Yield the terms of a kernel's estimate, and what an iteration of each loop waits for."""
    if kernel.untimed or kernel.is_empty or isinstance(kernel.estimate, NoEstimate):
        return
    found = kernel.estimate
    terms = sorted(found.terms.items(), key=lambda term: -term[1])
    shown = [
        f"{name} {duration(seconds)}"
        for name, seconds in terms
        if seconds >= SHOWN_PART * found.seconds
    ]
    yield _paragraph(f"each alone would take: {', '.join(shown)}")
    walked = found.launch.walked
    for iteration in walked.iterations:
        yield _paragraph(_iteration_text(iteration))
    if not walked.iterations and walked.critical:
        path = _path_text(walked.critical, walked.cycles)
        yield _paragraph(f"a program takes {found.launch.latency:.0f} cycles: {path}")


def _iteration_text(iteration: Iteration) -> str:
    """Return the cycles of an iteration, and the steps that it waits for."""
    loop = f"the loop at line {iteration.loop.line}"
    times = f"{iteration.trips:.4g} times"
    path = _path_text(iteration.critical, iteration.cycles)
    return f"an iteration of {loop} takes {iteration.cycles:.0f} cycles, {times}: {path}"


def _path_text(waits: Sequence[Wait], cycles: float) -> str:
    """Return the steps of a critical path with their lines and cycles, the longest first."""
    shown = [one for one in waits if one.cycles >= SHOWN_PART * cycles][:SHOWN_STEPS]
    return ", ".join(f"{_place(one)} {one.cycles:.0f}" for one in shown)


def _place(wait: Wait) -> str:
    """Return a step with its line in the dump, and that in the program where it is known."""
    step = wait.step
    program = f", {step.source} of the program" if step.source is not None else ""
    return f"{step.name} (line {step.line}{program})"


def _paragraph(text: str) -> Paragraph:
    return Paragraph(text, GAP, 2 * len(GAP))
