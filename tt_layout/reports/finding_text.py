"""Findings as text: those alike together: what is wrong and where, why, the way out, the share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from tt_layout.audit.findings import Finding, Urgency
from tt_layout.audit.suggestions.adviser import Adviser, cure_of
from tt_layout.audit.values.executions import Executions, is_in_loop
from tt_layout.ir.operations import attribute_of
from tt_layout.reports.advice_text import advice_lines, note_text, short_advice_lines
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import GAP
from tt_layout.safe_text import safe
from tt_layout.wording import count, lines

MAX_SHOWN = 12  # groups of findings with advice, unless all are asked for
MAX_LINES = 6  # lines of the dump that are listed of one group
MAX_PLACES = 2  # places in the program that are shown
MAX_NOTES = 2  # notes on a first screen
SCREEN = 14  # lines that a kernel takes on a first screen, at most
WIDTH = 80  # characters in which these are counted


_FOLDERS = re.compile(r"[^\s(]*/(?=[^\s/:]+:\d+:\d+)")
"""What stands before the name of a file of the program."""


def grouped(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return findings with those that are alike but for their line together, in order."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        groups.setdefault(_likeness(finding) or number, []).append(finding)
    return sorted(groups.values(), key=_rank)


def _likeness(finding: Finding) -> tuple[object, ...] | None:
    """Return what findings that are shown together have in common; None of errors."""
    if finding.is_error:
        return None
    own = finding.kinds, finding.function, finding.message
    if finding.movement is None:
        return own
    operation = finding.movement.operation
    return *own, attribute_of(operation.source), attribute_of(operation.target)


def _rank(group: Sequence[Finding]) -> tuple[int, float]:
    return group[0].urgency, -sum(finding.weight for finding in group)


def all_findings(adviser: Adviser, program: ProgramSource) -> Iterator[Paragraph]:
    """Yield every finding of a module with all that is known of it."""
    shown: dict[tuple[str, ...], int] = {}
    for number, group in enumerate(grouped(adviser.audit.findings), 1):
        texts: tuple[str, ...] = ()
        if number <= MAX_SHOWN:
            texts = tuple(advice_lines(adviser, group[0]))
        before = shown.setdefault(texts, number)
        if texts and before != number and texts[0].startswith("fix"):
            texts = (f"fixed by finding {before} as well",)
        more = _paragraphs(number, [*texts, _cost(group, adviser, is_short=False)])
        yield from (*_what(number, group, program), *more)
    yield from _notes(adviser)


def _notes(adviser: Adviser) -> Iterator[Paragraph]:
    """Yield what stays as it is, those alike together."""
    notes = {id(one.finding): one for one in adviser.audit.notes}
    for group in grouped([one.finding for one in adviser.audit.notes]):
        text = note_text(adviser, notes[id(group[0])], group)
        yield Paragraph(text, GAP, 2 * len(GAP))


# -- the first screen -------------------------------------------------------------------------


def first_findings(adviser: Adviser, program: ProgramSource, room: int) -> Iterator[Paragraph]:
    """Yield the findings of a module that matter, and in a line what is left out.

    Args:
        adviser: answers for the audit.
        program: where the text of the user's program is found.
        room: lines of `WIDTH` characters that there are for them.
    """
    large, left_out, cured = [], list[Finding](), list[Finding]()
    cures = set[object]()
    for number, group in enumerate(grouped(adviser.audit.findings), 1):
        best = adviser.best(group[0])
        if best is not None and cure_of(best) in cures:
            cured += group
        elif not _matters(group, adviser):
            left_out += group
        else:
            large.append((number, group))
            cures |= {cure_of(best)} if best is not None else set()
    tail = [*islice(_notes(adviser), MAX_NOTES)]
    if large and heights(tail, _fitted(*large[0], adviser, program, SCREEN)) >= room:
        tail = []  # the first finding, and its way out, is more than any note
    room -= heights(tail) + bool(left_out or cured or len(large) > 1)
    shown = 0
    for number, group in large:
        elements = _fitted(number, group, adviser, program, room)
        room -= heights(elements)
        if shown and room < 0:
            break
        shown += 1
        yield from elements
    yield from tail
    left_out += [finding for _, group in large[shown:] for finding in group]
    if left_out or cured:
        text = _left_out(left_out, cured, adviser, is_rest=bool(shown))
        yield Paragraph(text, GAP, 2 * len(GAP))


def _matters(group: Sequence[Finding], adviser: Adviser) -> bool:
    """Tell whether findings are more than one line about all that is small."""
    share = adviser.share_of(group)
    return group[0].urgency != Urgency.CYCLES or share is None or not share.is_small


def _fitted(
    number: int, group: Sequence[Finding], adviser: Adviser, program: ProgramSource, room: int
) -> list[Paragraph]:
    """Return findings with as much about them as there is room for."""
    what = _what(number, group, program)
    texts = [*short_advice_lines(adviser, group[0])]
    cost, best = _cost(group, adviser, is_short=True), adviser.best(group[0])
    if heights(what, _paragraphs(number, [cost])) > room:
        what = [one._replace(text=_FOLDERS.sub("", one.text)) for one in what]
    while texts and heights(what, _paragraphs(number, [*texts, cost])) > room:
        texts.pop()
    if best is not None and not texts:
        cost += ": --all says how"
    return [*what, *_paragraphs(number, [*texts, cost])]


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


def heights(*found: Sequence[Paragraph]) -> int:
    """Return the lines that paragraphs take on a first screen."""
    return sum(1 for some in found for one in some for _ in one.fold(WIDTH))


# -- a group ----------------------------------------------------------------------------------


def _what(number: int, group: Sequence[Finding], program: ProgramSource) -> list[Paragraph]:
    """Return where findings are, with the text of the program, and what is wrong."""
    first = group[0]
    colour = "red" if first.is_error else "yellow"
    start, indent = f"  {number}. ", len(f"  {number}. ")
    places = dict.fromkeys(one.location for one in group if one.location is not None)
    where = [safe(str(place)) for place in islice(places, MAX_PLACES)]
    where += [f"{count(len(places) - MAX_PLACES, 'more place')}"] * (len(places) > MAX_PLACES)
    where.append(lines([finding.line for finding in group], MAX_LINES))
    text = next((one for one in map(program.line, places) if one is not None), None)
    place, message = ", ".join(where), safe(first.message)
    if text is None:
        return [Paragraph(f"{place}: {message}", start, indent, colour)]
    return [
        Paragraph(f"{place}: {text}", start, indent, colour),
        *_paragraphs(number, [message]),
    ]


def _paragraphs(number: int, texts: Sequence[str]) -> list[Paragraph]:
    """Return texts behind the number of a finding."""
    indent = len(f"  {number}. ")
    return [Paragraph(text, " " * indent, indent + 3) for text in texts if text]


def _cost(group: Sequence[Finding], adviser: Adviser, *, is_short: bool) -> str:
    """Return what a group costs, how often, and what part of the kernel that is."""
    first = group[0]
    if not first.cost:
        return ""
    each = " each" * (len(group) > 1)
    loops = [one.runs for one in group if one.runs is not None and is_in_loop(one.runs)]
    if is_short:
        often = "in a loop" if loops else "outside of loops"
    else:
        runs = [_runs(finding.runs) for finding in group if finding.runs is not None]
        often = ", ".join(dict.fromkeys(runs))
    is_costed = bool(adviser.suggestions(first))
    verb = "that could be saved" if is_costed else "spent"
    text = f"{count(round(first.cost, 1), 'cycle')}{each} {verb}, {often}"
    share = adviser.share_of(group) if not is_costed else None
    return f"{text}: {share.of_what}" if share is not None and share.part is not None else text


def _runs(executions: Executions) -> str:
    """Return how often the operation of a finding runs, in words."""
    number, times = executions.number, executions.times
    if number is not None and executions.text != str(number):
        times += f" = {number}"
    return times + " in a loop" * is_in_loop(executions)
