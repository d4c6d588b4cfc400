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
from tt_layout.audit.findings import Finding, Urgency
from tt_layout.audit.kernel import Kernel, kinds_texts
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.time.walk import Iteration, Wait
from tt_layout.audit.verdict import EMPTY, changes_of
from tt_layout.hardware.intel import MOST_WITH_LARGE_FILE
from tt_layout.lazy import lazy
from tt_layout.reports.advice_text import DumpArgument
from tt_layout.reports.finding_text import USUAL, Listed, finding_in_brief, notes
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import GAP
from tt_layout.safe_text import abridged, safe, shortened
from tt_layout.surface import everything
from tt_layout.wording import count, duration, listed

SHOWN_STEPS = 6
"""Maximum number of steps of a critical path that are named, the longest ones."""

SHOWN_PART = 0.02
"""Fraction of the total below which a term or a step is left out."""

SCREEN = 20
"""Maximum number of lines for a kernel."""

WIDTH = 80
"""Width in characters at which these lines are counted."""

MAX_WHO = 72  # characters of a kernel, its GPU and its warps, in short
MAX_LEFT_OUT = 4  # lines about what is left out
MAX_KINDS = 100  # characters of the kinds of findings that are left out
MAX_TEXT = 150  # characters of a verdict, and of resources, in short
MAX_CLAUSE = 220  # characters of the first clause of a verdict, which has no shorter form

FEW = Listed(places=1, lines=2, message=240)

_FOLDERS = re.compile(r"[^\s(]*/(?=[^\s/:]+:\d+:\d+)")
"""The folders before the name of a program file."""

Form = Sequence[Paragraph]

Brief = Callable[[Listed], tuple[list[Paragraph], list[Paragraph]]]
"""A text on a group of findings, and additions for spare room."""


def kernel_colour(kernel: Kernel) -> str:
    """Return the colour of a kernel on a terminal."""
    if kernel.errors:
        return "red"
    return "yellow" if kernel.findings else "green"


def verdict_paragraph(kernel: Kernel) -> Paragraph:
    """Return a kernel with its verdict."""
    text = f"{kernel.heading}: {safe(kernel.verdict)}"
    return Paragraph(text, indent=4, colour=kernel_colour(kernel))


def state(kernel: Kernel) -> list[Paragraph]:
    """Return the lines below the findings of a kernel: its memory and registers."""
    untimed = kernel.untimed
    return _state_lines(kernel, resources(kernel), untimed.text if untimed is not None else "")


def _state_lines(kernel: Kernel, held: str, untimed: str) -> list[Paragraph]:
    """Return the lines of `state`, of which two are the resources, and why there is no estimate."""
    texts = [kernel.memory, held, untimed]
    if not kernel.findings and not kernel.needed:
        texts.insert(0, kernel.absences)
    return [paragraph(text) for text in texts if text]


def head_texts(kernel: Kernel) -> Iterator[str]:
    """Yield the verdict, the counts of findings, the resources, and why there is no estimate."""
    yield safe(kernel.verdict)
    yield kernel.counts
    yield from filter(None, [resources(kernel)])
    if kernel.untimed is not None:
        yield kernel.untimed.text


def bound_texts(kernel: Kernel) -> Iterator[str]:
    """Yield the bound that the verdict names in cycles, and the matrix instructions."""
    bound = kernel.bound
    if bound is not None:
        yield f"lower bound: {bound.cycles:.0f} cycles of {bound.resource}"
    if kernel.instructions:
        yield f"matrix instructions: {kernel.instructions}"


def resources(kernel: Kernel) -> str:
    """Return the registers and the occupancy of a kernel; empty where neither is known."""
    registers, occupancy = kernel.registers, kernel.occupancy
    texts = [registers_text(registers)] if registers is not None else []
    texts += [occupancy.text] if occupancy is not None else []
    target = kernel.chip
    if target is not None and target.unknown:
        texts.append(f"{listed(target.unknown)} not known for {target.name}")
    return "; ".join(texts)


def registers_text(pressure: RegisterPressure) -> str:
    """Return the registers per thread, and the spills."""
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
    """Yield the terms of a kernel's estimate, and the critical path of each loop's iteration."""
    if kernel.untimed is not None or kernel.is_empty or isinstance(kernel.estimate, NoEstimate):
        return
    estimate = kernel.estimate
    shown = [f"{name} {duration(seconds)}" for name, seconds in shown_terms(estimate)]
    yield paragraph(f"each alone would take: {', '.join(shown)}")
    walked = estimate.launch.walked
    for iteration in walked.iterations:
        path = _path_text(iteration.critical, iteration.cycles)
        yield paragraph(f"{iteration_text(iteration)}: {path}")
    if not walked.iterations and walked.critical:
        path = _path_text(walked.critical, walked.cycles)
        yield paragraph(f"a program takes {estimate.launch.latency:.0f} cycles: {path}")


def shown_terms(estimate: Estimate) -> list[tuple[str, float]]:
    """Return the terms of an estimate that are large enough to show, the largest first."""
    terms = sorted(estimate.terms.items(), key=lambda term: -term[1])
    return [term for term in terms if term[1] >= SHOWN_PART * estimate.seconds]


def iteration_text(iteration: Iteration) -> str:
    """Return the cycles of an iteration, and the number of iterations."""
    loop = f"the loop at line {iteration.loop.line}"
    pace = f"{iteration.cycles:.0f} cycles, {iteration.trips:.4g} times"
    return f"an iteration of {loop} takes {pace}"


def _path_text(waits: Sequence[Wait], cycles: float) -> str:
    """Return the steps of a critical path with their lines and cycles, the longest first."""
    texts = []
    shown = [wait for wait in waits if wait.cycles >= SHOWN_PART * cycles]
    for step, waited in shown[:SHOWN_STEPS]:
        program = f", {step.source} of the program" if step.source is not None else ""
        texts.append(f"{step.name} (line {step.line}{program}) {waited:.0f}")
    return ", ".join(texts)


def paragraph(text: str) -> Paragraph:
    """Return a text as a paragraph of a kernel."""
    return Paragraph(text, GAP, 2 * len(GAP))


class Priority(IntEnum):
    """Order in which parts take spare room."""

    VERDICT = 0
    WORST = 1
    STATE = 2
    FINDING = 3
    NOTE = 4


class ScreenPart:
    """A part of a screen, with forms that are made on demand, since few are shown.

    Args:
        turn: when it takes spare room.
        forms: the fullest first.
        least: the form without spare room; empty if the part may be left out.
        group: the findings that it is about; None for other parts.
    """

    def __init__(
        self, turn: Priority, forms: Iterable[Form], least: Form, group: Group | None = None
    ) -> None:
        self.turn, self.group = turn, group
        self.least = SizedForm(least)
        self._made: list[SizedForm] = []
        self._waiting = map(SizedForm, forms)

    @property
    def forms(self) -> Iterator[SizedForm]:
        """Forms, each made once."""
        yield from self._made
        for form in self._waiting:
            self._made.append(form)
            yield form
        yield self.least

    def fitting(self, room: int) -> SizedForm:
        """Return the fullest form that fits a number of lines, or the least."""
        return next((form for form in self.forms if form.height <= room), self.least)


class SizedForm:
    """A form with its cached height."""

    def __init__(self, lines: Form) -> None:
        self.lines = lines

    @lazy
    def height(self) -> int:
        """Lines of the screen."""
        return height(self.lines)


def first_screen(
    kernels: Sequence[Kernel],
    adviser: Adviser,
    program: ProgramSource,
    room: int,
    dump: DumpArgument | None = None,
) -> Iterator[Paragraph]:
    """Yield the kernels of a module with their main findings, and a count of what is left out.

    Args:
        kernels: the kernels.
        adviser: the adviser of the audit.
        program: where the text of the user's program is found.
        room: lines of `WIDTH` characters on the screen.
        dump: the argument of ``tt-layout apply``; None if it does not take the dump.
    """
    groups = sorted_groups(adviser)
    parts = [*_parts(kernels, groups, adviser, program, dump)]
    chosen, last = _chosen(parts, groups, adviser, room)
    shown = [part for part, form in zip(parts, chosen) if part.group and form.lines]
    if shown and all(part.group is not None and part.group.number > 1 for part in shown):
        parts = [_named(part) if part is shown[0] else part for part in parts]
        chosen, last = _chosen(parts, groups, adviser, room)
    for form in chosen:
        yield from form.lines
    yield from last
    if not kernels:
        yield paragraph(EMPTY)


def height(form: Form) -> int:
    """Return the number of screen lines of a form."""
    return sum([line.height(WIDTH) for line in form])


def _total_height(chosen: Sequence[SizedForm]) -> int:
    """Return the number of screen lines of several forms."""
    return sum(form.height for form in chosen)


def _chosen(
    parts: Sequence[ScreenPart], groups: SortedGroups, adviser: Adviser, room: int
) -> tuple[list[SizedForm], Form]:
    """Return the form of each part, and the line on what is left out, in a number of lines."""
    for reserved in range(MAX_LEFT_OUT + 1):
        chosen = _grown(parts, room - reserved)
        shown = [part for part, form in zip(parts, chosen) if form.lines]
        left_out = _left_out(groups, parts, shown, adviser)
        last = [*map(paragraph, filter(None, [left_out]))]
        if _total_height(chosen) + height(last) <= room:
            break
    return chosen, last


def _named(part: ScreenPart) -> ScreenPart:
    """Return a part that says that its number is that of a finding.

    A number stands for an item of a list only behind the items before it.
    """
    assert part.group is not None
    start = f"{GAP}finding {part.group.number}: "

    def named(form: Form) -> Form:
        return [line._replace(first=start) if not at else line for at, line in enumerate(form)]

    return ScreenPart(
        part.turn,
        map(named, (form.lines for form in part.forms)),
        named(part.least.lines),
        part.group,
    )


def _grown(parts: Sequence[ScreenPart], room: int) -> list[SizedForm]:
    """Return the fullest form of each part that there is room for, parts of the first turn first.

    Once a finding or note has no room, none after it of the same turn is shown.
    """
    fullest = [next(part.forms) for part in parts]
    if _total_height(fullest) <= room:
        return fullest
    chosen = [part.least for part in parts]
    room -= _total_height(chosen)
    full = set[Priority]()
    for at, part in sorted(enumerate(parts), key=lambda pair: pair[1].turn):
        if part.turn in full:
            continue
        room += part.least.height
        chosen[at] = part.fitting(room)
        room -= chosen[at].height
        full |= {part.turn} if not chosen[at].lines else set()
    return chosen


# -- parts ----------------------------------------------------------------------------------------


def _parts(
    kernels: Sequence[Kernel],
    groups: SortedGroups,
    adviser: Adviser,
    program: ProgramSource,
    dump: DumpArgument | None,
) -> Iterator[ScreenPart]:
    """Yield the parts of a screen in the order of its lines."""
    worst = _worst(groups, adviser)
    for kernel in kernels:
        yield _verdict(kernel)
        for group in led_by(kernel.findings, groups.large):
            brief = partial(finding_in_brief, group, adviser, program, dump=dump)
            if group is worst:
                yield ScreenPart(
                    Priority.WORST, _unbroken(_full_forms(brief)), _least_form(brief), group
                )
            else:
                yield ScreenPart(Priority.FINDING, _all_forms(brief), (), group)
        yield _state(kernel)
    yield from (ScreenPart(Priority.NOTE, [[note]], ()) for note in notes(adviser))


def _worst(groups: SortedGroups, adviser: Adviser) -> Group | None:
    """Return the group to show first: what is urgent, then the worst that something helps."""
    large = groups.large.values()
    for group in large:
        first = group.findings[0]
        is_urgent = first.urgency != Urgency.CYCLES
        if is_urgent or first.program_change or adviser.best(first) is not None:
            return group
    return next(iter(large), None)


def _verdict(kernel: Kernel) -> ScreenPart:
    said, colour = safe(kernel.verdict), kernel_colour(kernel)
    texts = (
        f"{kernel.heading}: {said}",
        f"{shortened(kernel.heading, MAX_WHO)}: {_short_verdict(kernel)}",
    )
    *forms, least = [[Paragraph(text, indent=4, colour=colour)] for text in texts]
    return ScreenPart(Priority.VERDICT, forms, least)


def _short_verdict(kernel: Kernel) -> str:
    """Return the verdict without clauses that do not fit, the first and the last before others.

    A clause is kept whole or left out, so that none loses its condition.
    """
    clauses = [*map(safe, kernel.verdict_clauses)]
    last, shown, room = len(clauses) - 1, {0}, MAX_TEXT - len(clauses[0])
    for at in sorted(range(1, len(clauses)), key=lambda at: at != last):
        length = len(f"; {clauses[at]}")
        if length <= room:
            shown.add(at)
            room -= length
    text = "; ".join(clause for at, clause in enumerate(clauses) if at in shown)
    return abridged(text, MAX_CLAUSE)


def _state(kernel: Kernel) -> ScreenPart:
    """Return the memory and the registers of a kernel."""
    held, occupancy = resources(kernel), kernel.occupancy
    brief = held.replace(occupancy.text, occupancy.short) if occupancy is not None else held
    untimed = kernel.untimed.short if kernel.untimed is not None else ""
    lines = _state_lines(kernel, brief, untimed)
    short = [line._replace(text=abridged(line.text, MAX_TEXT)) for line in lines]
    return ScreenPart(Priority.STATE, [state(kernel)], short)


def _full_forms(brief: Brief) -> Iterator[Form]:
    """Yield ever shorter texts on a group of findings."""
    usual, why = brief(USUAL)
    for form in ([*usual, *why], usual):
        yield form
        yield _bare(form)


def _all_forms(brief: Brief) -> Iterator[Form]:
    """Yield the full forms without too long a word, then the shortest."""
    yield from _unbroken(_full_forms(brief))
    yield _least_form(brief)


def _least_form(brief: Brief) -> Form:
    """Return the shortest text on a group of findings, which always includes the fix."""
    return _bare(brief(FEW)[0])


def _bare(form: Form) -> Form:
    """Return a form without the folders of program files."""
    return [line._replace(text=_FOLDERS.sub("", line.text)) for line in form]


def _unbroken(forms: Iterable[Form]) -> Iterator[Form]:
    """Yield the forms in which no word is longer than a line."""
    for form in forms:
        words = ((line.indent, line.text.split()) for line in form)
        if all(indent + max(map(len, text), default=0) <= WIDTH for indent, text in words):
            yield form


def _left_out(
    groups: SortedGroups,
    parts: Sequence[ScreenPart],
    shown: Sequence[ScreenPart],
    adviser: Adviser,
) -> str:
    """Return a line on what is left out, by kind; empty where everything is shown."""
    seen = [part.group for part in shown if part.group is not None]
    numbers = {group.number for group in seen}
    left = [group for group in groups.large.values() if group.number not in numbers]
    texts = []
    findings = [*chain.from_iterable(group.findings for group in (*left, *groups.small))]
    further = "more " if numbers else ""
    if findings:
        fixes = sum(group.number not in numbers for group in groups.fixes.values())
        changes = len(changes_of(left, adviser) - changes_of(seen, adviser))
        inside = [_kinds(findings)]
        inside += [count(fixes, f"{further}fix")] if fixes else []
        inside += [f"{count(changes, f'{further}change')} of the program"] if changes else []
        texts.append(f"{count(len(findings), f'{further}finding')} ({'; '.join(inside)})")
    cured = sum(len(group.findings) for group in groups.cured)
    if cured:
        texts.append(f"{count(cured, f'{further}finding')} fixed by the same changes")
    all_notes, shown_notes = (
        sum(part.turn is Priority.NOTE for part in some) for some in (parts, shown)
    )
    lost = all_notes - shown_notes
    if lost:
        texts += [count(lost, "more note")]
    if not texts:
        return ""
    them = "it" if len(findings) + cured + lost == 1 else "them"
    return f"{'and ' if numbers else ''}{' and '.join(texts)}: {everything()} lists {them}"


def _kinds(findings: Sequence[Finding]) -> str:
    """Return the number of findings of each kind, as far as there is room."""
    kinds = [abridged(kind, MAX_KINDS) for kind in kinds_texts(findings, is_once=True)]
    shown = len(kinds)
    while shown > 1 and len(", ".join(kinds[:shown])) > MAX_KINDS:
        shown -= 1
    left = len(kinds) - shown
    return ", ".join(kinds[:shown]) + (f", {count(left, 'more kind')}" if left else "")
