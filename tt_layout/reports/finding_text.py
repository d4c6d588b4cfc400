"""Findings as text: those alike together: what is wrong and where, why, the way out, the share.

Read next:    `tt_layout.reports.first_screen`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tt_layout.audit.findings import Finding
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.executions import Executions, is_in_loop
from tt_layout.ir.operations import attribute_of
from tt_layout.reports.advice_text import advice_lines, note_text
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import GAP
from tt_layout.safe_text import safe
from tt_layout.wording import count, lines

MAX_SHOWN = 12  # groups of findings with advice, unless all are asked for


class Listed(NamedTuple):
    """How many places of findings alike are listed.

    Attributes:
        places: in the program.
        lines: of the dump.
    """

    places: int
    lines: int


USUAL = Listed(places=2, lines=6)


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
        more = paragraphs(number, [*texts, cost_text(group, adviser, is_short=False)])
        yield from (*what(number, group, program), *more)
    yield from notes(adviser)


def notes(adviser: Adviser) -> Iterator[Paragraph]:
    """Yield what stays as it is, those alike together."""
    own = {id(one.finding): one for one in adviser.audit.notes}
    for group in grouped([one.finding for one in adviser.audit.notes]):
        text = note_text(adviser, own[id(group[0])], group)
        yield Paragraph(text, GAP, 2 * len(GAP))


# -- a group ----------------------------------------------------------------------------------


def what(
    number: int, group: Sequence[Finding], program: ProgramSource, room: Listed = USUAL
) -> list[Paragraph]:
    """Return where findings are, with the text of the program, and what is wrong."""
    first = group[0]
    colour = "red" if first.is_error else "yellow"
    start, indent = f"  {number}. ", len(f"  {number}. ")
    places = dict.fromkeys(one.location for one in group if one.location is not None)
    where = [safe(str(place)) for place in islice(places, room.places)]
    where += [f"{count(len(places) - room.places, 'more place')}"] * (len(places) > room.places)
    where.append(lines([finding.line for finding in group], room.lines))
    text = next((one for one in map(program.line, places) if one is not None), None)
    place, message = ", ".join(where), safe(first.message)
    if text is None:
        return [Paragraph(f"{place}: {message}", start, indent, colour)]
    return [
        Paragraph(f"{place}: {text}", start, indent, colour),
        *paragraphs(number, [message]),
    ]


def paragraphs(number: int, texts: Sequence[str]) -> list[Paragraph]:
    """Return texts behind the number of a finding."""
    indent = len(f"  {number}. ")
    return [Paragraph(text, " " * indent, indent + 3) for text in texts if text]


def cost_text(group: Sequence[Finding], adviser: Adviser, *, is_short: bool) -> str:
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
