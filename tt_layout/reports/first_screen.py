"""The first screen of a module: at most 14 lines at 80 columns for each kernel, by construction.

Every part has forms, the fullest first.  All begin with their shortest; then, in the order in which
a reader acts, each takes the fullest form that the others leave room for: the verdict, the first
finding with its way out, the counts, registers and occupancy, further findings, notes.  What has
no room is a number in the last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

from tt_layout.audit.findings import Finding, Urgency
from tt_layout.audit.suggestions.adviser import Adviser, cure_of
from tt_layout.audit.summary import Summary
from tt_layout.reports.advice_text import short_advice
from tt_layout.reports.finding_text import (
    USUAL,
    Listed,
    cost_text,
    grouped,
    notes,
    paragraphs,
    what,
)
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.kernel_head import resources, summary_colour, verdict
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import GAP
from tt_layout.safe_text import safe, shortened
from tt_layout.wording import count

SCREEN = 14
"""Lines that a kernel takes, at most."""

WIDTH = 80
"""Characters in which these are counted."""

COUNT_LINES = 2  # that counts take, at most
MAX_NOTES = 2
MAX_WHO = 72  # characters of a kernel, its GPU and its warps, in short
MAX_TEXT = 150  # characters of a verdict, and of resources, in short

FEW = Listed(places=1, lines=2)

_FOLDERS = re.compile(r"[^\s(]*/(?=[^\s/:]+:\d+:\d+)")
"""What stands before the name of a file of the program."""

Form = Sequence[Paragraph]


class Turn(IntEnum):
    """When a part takes what room there is."""

    VERDICT = 0
    FINDING = 1
    COUNTS = 2
    RESOURCES = 3


class Part(NamedTuple):
    """A part of a screen.

    Attributes:
        turn: when it takes room.
        forms: the fullest first.
        rest: a fuller form, for which there is room only if nothing else wants it.
    """

    turn: Turn
    forms: Sequence[Form]
    rest: Form | None = None


class Group(NamedTuple):
    """Findings alike, and their number in the report."""

    number: int
    findings: Sequence[Finding]


def first_screen(
    found: Sequence[Summary], adviser: Adviser, program: ProgramSource, room: int
) -> Iterator[Paragraph]:
    """Yield the heads of the kernels of a module, the findings that matter, and what is left out.

    Args:
        found: the kernels.
        adviser: answers for the audit.
        program: where the text of the user's program is found.
        room: lines of `WIDTH` characters that there are.
    """
    large, left_out, cured = _sorted_out(adviser)
    room -= bool(left_out or cured or len(large) > 1)
    parts = [part for summary in found for part in _head(summary, adviser)]
    parts += [Part(Turn.FINDING, _forms(one, adviser, program)) for one in large[:1]]
    chosen = _grown(parts, room)
    shown = int(bool(large and chosen[-1]))
    further = [_forms(one, adviser, program) for one in large[1:]] if shown else []
    below = [*_fitting(further, room - heights(*chosen))]
    shown += len(below)
    few = [[[note], ()] for note in islice(notes(adviser), MAX_NOTES)]
    below += _fitting(few, room - heights(*chosen, *below))
    room -= heights(*chosen, *below)
    chosen = [_at_last(part, form, room) for part, form in zip(parts, chosen)]
    for form in (*chosen, *below):
        yield from form
    if not found:
        yield from _below("nothing in it moves or multiplies tensors")
    left_out += [finding for one in large[shown:] for finding in one.findings]
    if left_out or cured:
        text = _left_out(left_out, cured, adviser, is_rest=bool(shown))
        yield Paragraph(text, GAP, 2 * len(GAP))


def heights(*forms: Form) -> int:
    """Return the lines that parts of a screen take."""
    return sum(1 for form in forms for one in form for _ in one.fold(WIDTH))


def _grown(parts: Sequence[Part], room: int) -> list[Form]:
    """Return a form of each part: as full as there is room for, those of the first turn first."""
    chosen = [part.forms[-1] for part in parts]
    room -= heights(*chosen)
    for at, part in sorted(enumerate(parts), key=lambda one: one[1].turn):
        room += heights(chosen[at])
        chosen[at] = next((form for form in part.forms if heights(form) <= room), chosen[at])
        room -= heights(chosen[at])
    return chosen


def _fitting(parts: Iterable[Sequence[Form]], room: int) -> Iterator[Form]:
    """Yield a form of each part, as full as there is room for; none behind one that has no room."""
    for forms in parts:
        form = next((form for form in forms if heights(form) <= room), ())
        if not form:
            return
        room -= heights(form)
        yield form


def _at_last(part: Part, form: Form, room: int) -> Form:
    """Return a form of a part, or its fullest where that fits at the end."""
    more = part.rest is not None and heights(part.rest) <= room + heights(form)
    return part.rest if part.rest is not None and more else form


def _head(summary: Summary, adviser: Adviser) -> Iterator[Part]:
    """Yield what stands above the findings of a kernel."""
    said, colour = safe(verdict(summary, adviser)), summary_colour(summary)
    texts = f"{summary.who}: {said}", f"{shortened(summary.who, MAX_WHO)}: {_short(said)}"
    forms = [[Paragraph(text, indent=4, colour=colour)] for text in texts]
    full = [Paragraph(f"{summary.heading}: {said}", indent=4, colour=colour)]
    yield Part(Turn.VERDICT, forms, rest=full)
    every = [*map(_below, summary.all_counts())]
    yield Part(Turn.COUNTS, _counts(every), rest=every[0])
    if resources(summary):
        short = _short(resources(summary, is_short=True))
        yield Part(Turn.RESOURCES, [_below(resources(summary)), _below(short)])


def _short(text: str) -> str:
    return shortened(text, MAX_TEXT)


def _below(text: str) -> Form:
    return [Paragraph(text, GAP, 2 * len(GAP))]


def _counts(every: Sequence[Form]) -> list[Form]:
    """Return what was found in two lines, and in one, as far as that can be."""
    return [
        next((form for form in every if heights(form) <= most), every[-1])
        for most in range(COUNT_LINES, 0, -1)
    ]


# -- findings -------------------------------------------------------------------------------------


def _sorted_out(adviser: Adviser) -> tuple[list[Group], list[Finding], list[Finding]]:
    """Return the findings that matter, small ones, and those that the same changes cure."""
    large, small, cured = list[Group](), list[Finding](), list[Finding]()
    cures = set[object]()
    for number, group in enumerate(grouped(adviser.audit.findings), 1):
        best = adviser.best(group[0])
        if best is not None and cure_of(best) in cures:
            cured += group
        elif not _matters(group, adviser):
            small += group
        else:
            large.append(Group(number, group))
            cures |= {cure_of(best)} if best is not None else set()
    return large, small, cured


def _matters(group: Sequence[Finding], adviser: Adviser) -> bool:
    """Tell whether findings are more than one line about all that is small."""
    share = adviser.share_of(group)
    return group[0].urgency != Urgency.CYCLES or share is None or not share.is_small


def _forms(group: Group, adviser: Adviser, program: ProgramSource) -> list[Form]:
    """Return findings with less about them each time, and at last nothing."""
    number, findings = group
    whole, few = (what(number, findings, program, listed) for listed in (USUAL, FEW))
    cost = cost_text(findings, adviser, is_short=True)
    best = adviser.best(findings[0])
    found: list[Form] = []
    for texts in short_advice(adviser, findings):
        lost = ": --all says how" * (best is not None and not texts)
        below = paragraphs(number, [*texts, cost + lost])
        found += [[*whole, *below], _bare([*whole, *below]), _bare([*few, *below])]
    return [*(form for form in found if not _breaks(form)), found[-1], ()]


def _bare(form: Form) -> Form:
    """Return a form without the folders of the program."""
    return [one._replace(text=_FOLDERS.sub("", one.text)) for one in form]


def _breaks(form: Form) -> bool:
    """Tell whether a word of a form is too long for a line."""
    return any(len(word) > WIDTH - one.indent for one in form for word in one.text.split())


def _left_out(
    findings: Sequence[Finding], cured: Sequence[Finding], adviser: Adviser, *, is_rest: bool
) -> str:
    """Return in a line what is left out, and how many of it what is shown cures, too."""
    number = len(findings) + len(cured)
    text = f"and {count(number, 'more finding')}" if is_rest else count(number, "finding")
    if not findings:
        return f"{text} fixed by the same changes: --all lists {_them(cured)}"
    functions = {one.function for one in findings}
    share = adviser.share_of(findings) if len(functions) == 1 else None
    if share is not None and share.part is not None:
        text += f", {share.of_what}"
    return f"{text}: --all lists {_them([*findings, *cured])}"


def _them(findings: Sequence[Finding]) -> str:
    return "it" if len(findings) == 1 else "them"
