"""The frame of a kernel's findings: the verdict above; memory and registers below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.kernel import Kernel
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.time.walk import Iteration, Wait
from tt_layout.hardware.intel import MOST_WITH_LARGE_FILE
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.report import GAP
from tt_layout.safe_text import safe
from tt_layout.wording import duration, listed

SHOWN_STEPS = 6
"""Steps on a critical path that are named, the longest of them."""

SHOWN_PART = 0.02
"""Part of the whole below which a term or a step is left out."""


def summary_colour(summary: Kernel) -> str:
    """Return the colour of a summary on a terminal."""
    if summary.errors:
        return "red"
    return "yellow" if summary.findings else "green"


def verdict_paragraph(summary: Kernel) -> Paragraph:
    """Return a kernel with its verdict."""
    text = f"{summary.heading}: {safe(summary.verdict)}"
    return Paragraph(text, indent=4, colour=summary_colour(summary))


def state(summary: Kernel) -> list[Paragraph]:
    """Return the lines below the findings of a kernel: its memory and registers."""
    texts = [summary.memory, resources(summary), summary.untimed]
    if not summary.findings and not summary.needed:
        texts.insert(0, summary.absences)
    return [Paragraph(text, GAP, 2 * len(GAP)) for text in texts if text]


def head_texts(summary: Kernel) -> Iterator[str]:
    """Yield the verdict, what was found, what a multiprocessor holds, why no time is said."""
    yield safe(summary.verdict)
    yield summary.counts
    yield from filter(None, [resources(summary), summary.untimed])


def bound_texts(summary: Kernel) -> Iterator[str]:
    """Yield the cycles of the bound that the verdict names, and the matrix instructions."""
    bound = summary.bound
    if bound is not None:
        yield f"lower bound: {bound.cycles:.0f} cycles of {bound.resource}"
    if summary.instructions:
        yield f"matrix instructions: {summary.instructions}"


def resources(summary: Kernel, *, is_short: bool = False) -> str:
    """Return the registers of a kernel, and how many CTAs fit; empty where neither is known."""
    registers, occupancy = summary.registers, summary.occupancy
    texts = [_registers_text(registers)] if registers is not None else []
    if occupancy is not None:
        texts.append(occupancy.short if is_short else occupancy.text)
    texts += filter(None, [_unknown_text(summary)])
    return "; ".join(texts)


def _unknown_text(summary: Kernel) -> str:
    """Return the facts of a kernel that no source gives for its GPU."""
    target = summary.chip
    if target is None or not target.unknown:
        return ""
    return f"{listed(target.unknown)} not known for {target.name}"


def _registers_text(pressure: RegisterPressure) -> str:
    if pressure.usual_limit is not None:
        usual = f"{pressure.usual_limit} registers per lane"
        held = f"tensors take {pressure.live} of {usual}"
        if pressure.limit == pressure.usual_limit:
            return f"{held}; the large register file starts at most {MOST_WITH_LARGE_FILE} warps"
        return f"{held}, of {pressure.limit} with the large register file"
    if pressure.compiled is None:
        amount = pressure.amount.replace("registers", "registers per thread")
        return f"may spill: {amount}" if pressure.may_spill else amount
    spilled = f", {pressure.spilled or 'none'} spilled" if pressure.spilled is not None else ""
    of = f"{pressure.compiled.used} of {pressure.limit} registers per thread"
    return f"{of}{spilled} (compiled: {safe(pressure.compiled.source)})"


def time_paragraphs(kernel: Kernel) -> Iterator[Paragraph]:
    """Yield the terms of a kernel's estimate, and what an iteration of each loop waits for."""
    if kernel.untimed or kernel.is_empty or isinstance(kernel.estimate, NoEstimate):
        return
    found = kernel.estimate
    shown = [f"{name} {duration(seconds)}" for name, seconds in shown_terms(found)]
    yield paragraph(f"each alone would take: {', '.join(shown)}")
    walked = found.launch.walked
    for iteration in walked.iterations:
        path = _path_text(iteration.critical, iteration.cycles)
        yield paragraph(f"{iteration_text(iteration)}: {path}")
    if not walked.iterations and walked.critical:
        path = _path_text(walked.critical, walked.cycles)
        yield paragraph(f"a program takes {found.launch.latency:.0f} cycles: {path}")


def shown_terms(found: Estimate) -> list[tuple[str, float]]:
    """Return the terms of an estimate that are worth a word, the largest first."""
    terms = sorted(found.terms.items(), key=lambda term: -term[1])
    return [term for term in terms if term[1] >= SHOWN_PART * found.seconds]


def iteration_text(iteration: Iteration) -> str:
    """Return the cycles of an iteration, and how often it runs."""
    loop = f"the loop at line {iteration.loop.line}"
    pace = f"{iteration.cycles:.0f} cycles, {iteration.trips:.4g} times"
    return f"an iteration of {loop} takes {pace}"


def _path_text(waits: Sequence[Wait], cycles: float) -> str:
    """Return the steps of a critical path with their lines and cycles, the longest first."""
    shown = [one for one in waits if one.cycles >= SHOWN_PART * cycles][:SHOWN_STEPS]
    return ", ".join(f"{_place(one)} {one.cycles:.0f}" for one in shown)


def _place(wait: Wait) -> str:
    """Return a step with its line in the dump, and that in the program where it is known."""
    step = wait.step
    program = f", {step.source} of the program" if step.source is not None else ""
    return f"{step.name} (line {step.line}{program})"


def paragraph(text: str) -> Paragraph:
    """Return a text as a paragraph of a kernel."""
    return Paragraph(text, GAP, 2 * len(GAP))
