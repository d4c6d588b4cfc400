"""The first screen of a module: at most 20 lines at 80 columns for each kernel.

A kernel has its verdict, the worst finding with its fix and the command that carries it out,
further findings, memory and registers; the notes of the module follow.  Every part has forms, the
fullest first.  All begin with their shortest, which for the worst finding has the whole fix; then,
in the order in which a reader acts, each takes the fullest form that the others leave room for.
What has no room is counted in the last line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from functools import partial
from itertools import chain

from tt_layout.audit.finding_groups import Group, SortedGroups, led_by, sorted_groups
from tt_layout.audit.findings import Finding
from tt_layout.audit.kernel import Kernel, kinds_texts
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.time.walk import Iteration, Wait
from tt_layout.audit.verdict import EMPTY
from tt_layout.hardware.intel import MOST_WITH_LARGE_FILE
from tt_layout.lazy import lazy
from tt_layout.reports.advice_text import DumpArgument
from tt_layout.reports.finding_text import USUAL, Listed, finding_in_brief, notes
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import GAP
from tt_layout.safe_text import safe, shortened
from tt_layout.surface import everything
from tt_layout.wording import count, duration, listed

SHOWN_STEPS = 6
"""Steps on a critical path that are named, the longest of them."""

SHOWN_PART = 0.02
"""Part of the whole below which a term or a step is left out."""

SCREEN = 20
"""Lines that a kernel takes, at most."""

WIDTH = 80
"""Characters in which these are counted."""

MAX_WHO = 72  # characters of a kernel, its GPU and its warps, in short
MAX_LEFT_OUT = 4  # lines about what is left out
MAX_KINDS = 100  # characters of the kinds of findings that are left out
MAX_TEXT = 150  # characters of a verdict, and of resources, in short

FEW = Listed(places=1, lines=2, message=240)

_FOLDERS = re.compile(r"[^\s(]*/(?=[^\s/:]+:\d+:\d+)")
"""What stands before the name of a file of the program."""

Form = Sequence[Paragraph]

Brief = Callable[[Listed], tuple[list[Paragraph], list[Paragraph]]]
"""A text on findings alike, and its additions where there is room."""


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
    texts = [registers_text(registers)] if registers is not None else []
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


def registers_text(pressure: RegisterPressure) -> str:
    """Return the registers of a thread, and whether some are spilled."""
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


class Turn(IntEnum):
    """When a part takes what room there is."""

    VERDICT = 0
    WORST = 1
    STATE = 2
    FINDING = 3
    NOTE = 4


class Part:
    """A part of a screen, whose forms are made as they are asked for: few parts show all.

    Args:
        turn: when it takes room.
        forms: the fullest first.
        least: the form that it has without room; empty where it may be left out.
        group: the findings that it is about; None of anything else.
    """

    def __init__(
        self, turn: Turn, forms: Iterable[Form], least: Form, group: Group | None = None
    ) -> None:
        self.turn, self.group = turn, group
        self.least = SizedForm(least)
        self._made: list[SizedForm] = []
        self._waiting = map(SizedForm, forms)

    @property
    def forms(self) -> Iterator[SizedForm]:
        """Its forms, each made once."""
        yield from self._made
        for form in self._waiting:
            self._made.append(form)
            yield form
        yield self.least

    def fitting(self, room: int) -> SizedForm:
        """Return the fullest form that a room has lines for, or the least."""
        return next((form for form in self.forms if form.height <= room), self.least)


class SizedForm:
    """A form with its height, which is found once."""

    def __init__(self, lines: Form) -> None:
        self.lines = lines

    @lazy
    def height(self) -> int:
        """The lines of a screen that it takes."""
        return height(self.lines)


def first_screen(
    found: Sequence[Kernel],
    adviser: Adviser,
    program: ProgramSource,
    room: int,
    dump: DumpArgument | None = None,
) -> Iterator[Paragraph]:
    """Yield the kernels of a module with the findings that matter, and what is left out.

    Args:
        found: the kernels.
        adviser: answers for the audit.
        program: where the text of the user's program is found.
        room: lines of `WIDTH` characters that there are.
        dump: as ``tt-layout apply`` takes it; None where it takes none.
    """
    groups = sorted_groups(adviser)
    parts = [*_parts(found, groups, adviser, program, dump)]
    for reserved in range(MAX_LEFT_OUT + 1):
        chosen = _grown(parts, room - reserved)
        shown = [part for part, form in zip(parts, chosen) if form.lines]
        left_out = _left_out(groups, parts, shown)
        last = [*map(paragraph, filter(None, [left_out]))]
        if _taken(chosen) + height(last) <= room:
            break
    for form in chosen:
        yield from form.lines
    yield from last
    if not found:
        yield paragraph(EMPTY)


def height(form: Form) -> int:
    """Return the lines that a form takes."""
    return sum(1 for line in form for _ in line.fold(WIDTH))


def _taken(chosen: Sequence[SizedForm]) -> int:
    """Return the lines that forms take together."""
    return sum(form.height for form in chosen)


def _grown(parts: Sequence[Part], room: int) -> list[SizedForm]:
    """Return the form of each part: as full as there is room for, those of the first turn first.

    No finding or note is shown behind one of its turn that has no room.
    """
    chosen = [part.least for part in parts]
    room -= _taken(chosen)
    full = set[Turn]()
    for at, part in sorted(enumerate(parts), key=lambda line: line[1].turn):
        if part.turn in full:
            continue
        room += part.least.height
        chosen[at] = part.fitting(room)
        room -= chosen[at].height
        full |= {part.turn} if not chosen[at].lines else set()
    return chosen


# -- parts ----------------------------------------------------------------------------------------


def _parts(
    found: Sequence[Kernel],
    groups: SortedGroups,
    adviser: Adviser,
    program: ProgramSource,
    dump: DumpArgument | None,
) -> Iterator[Part]:
    """Yield the parts of a screen in the order of its lines."""
    worst = next(iter(groups.large.values()), None)
    for summary in found:
        yield _verdict(summary)
        for group in led_by(summary.findings, groups.large):
            brief = partial(finding_in_brief, group, adviser, program, dump=dump)
            if group is worst:
                yield Part(Turn.WORST, _full_forms(brief), _least_form(brief), group)
            else:
                yield Part(Turn.FINDING, _all_forms(brief), (), group)
        yield _state(summary)
    yield from (Part(Turn.NOTE, [[note]], ()) for note in notes(adviser))


def _verdict(summary: Kernel) -> Part:
    said, colour = safe(summary.verdict), summary_colour(summary)
    texts = (
        f"{summary.heading}: {said}",
        f"{summary.who}: {said}",
        f"{shortened(summary.who, MAX_WHO)}: {_short(said)}",
    )
    *forms, least = [[Paragraph(text, indent=4, colour=colour)] for text in texts]
    return Part(Turn.VERDICT, forms, least)


def _state(summary: Kernel) -> Part:
    """Return the memory and the registers of a kernel."""
    whole = state(summary)
    full, brief = resources(summary), resources(summary, is_short=True)
    texts = (brief if line.text == full else line.text for line in whole)
    short = [line._replace(text=_short(text)) for line, text in zip(whole, texts)]
    return Part(Turn.STATE, [whole], short)


def _short(text: str) -> str:
    return shortened(text, MAX_TEXT)


def _full_forms(brief: Brief) -> Iterator[Form]:
    """Yield a text on findings with less about them each time, where no word is too long."""
    usual, why = brief(USUAL)
    for form in ([*usual, *why], usual):
        yield from (fitting for fitting in (form, _bare(form)) if not _breaks(fitting))


def _all_forms(brief: Brief) -> Iterator[Form]:
    yield from _full_forms(brief)
    yield _least_form(brief)


def _least_form(brief: Brief) -> Form:
    """Return the least about findings: never less than a fix."""
    return _bare(brief(FEW)[0])


def _bare(form: Form) -> Form:
    """Return a form without the folders of the program."""
    return [line._replace(text=_FOLDERS.sub("", line.text)) for line in form]


def _breaks(form: Form) -> bool:
    """Tell whether a word of a form is too long for a line."""
    return any(len(word) > WIDTH - line.indent for line in form for word in line.text.split())


def _left_out(groups: SortedGroups, parts: Sequence[Part], shown: Sequence[Part]) -> str:
    """Return in a line what is left out, by kind; empty where everything is shown."""
    numbers = {part.group.number for part in shown if part.group is not None}
    left = [group for group in groups.large.values() if group.number not in numbers]
    texts = []
    findings = [*chain.from_iterable(group.findings for group in (*left, *groups.small))]
    further = "more " * bool(numbers)
    if findings:
        texts.append(f"{count(len(findings), f'{further}finding')} ({_kinds(findings)})")
    cured = sum(len(group.findings) for group in groups.cured)
    if cured:
        texts.append(f"{count(cured, f'{further}finding')} fixed by the same changes")
    lost = sum(part.turn is Turn.NOTE for part in parts) - sum(
        part.turn is Turn.NOTE for part in shown
    )
    texts += [count(lost, "more note")] * bool(lost)
    if not texts:
        return ""
    them = "it" if len(findings) + cured + lost == 1 else "them"
    return f"{'and ' * bool(numbers)}{' and '.join(texts)}: {everything()} lists {them}"


def _kinds(findings: Sequence[Finding]) -> str:
    """Return how many findings there are of each kind, as far as there is room."""
    kinds = [shortened(kind, MAX_KINDS) for kind in kinds_texts(findings)]
    shown = len(kinds)
    while shown > 1 and len(", ".join(kinds[:shown])) > MAX_KINDS:
        shown -= 1
    left = len(kinds) - shown
    return ", ".join(kinds[:shown]) + f", {count(left, 'more kind')}" * bool(left)
