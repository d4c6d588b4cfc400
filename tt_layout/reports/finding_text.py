"""Findings as text, in groups: location, fault, reason, remedy and gain.

Read next: `tt_layout.reports.first_screen`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from tt_layout.audit.finding_groups import Group, similar_findings
from tt_layout.audit.findings import Finding
from tt_layout.audit.suggestions.adviser import Adviser, exclusion_key
from tt_layout.reports.advice_text import (
    DumpArgument,
    advice_lines,
    gain_text,
    note_text,
    remedy,
    time_text,
)
from tt_layout.reports.fitted import Paragraph
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import GAP
from tt_layout.safe_text import abridged, safe
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count, lines

MAX_SHOWN = 12  # groups of findings with advice, unless all are asked for


class Listed(NamedTuple):
    """Limits on the text about a group of findings.

    Attributes:
        places: locations of the program that are listed.
        lines: lines of the dump that are listed.
        message: characters of the message.
    """

    places: int
    lines: int
    message: int = 1 << 16


USUAL = Listed(places=2, lines=6)


def all_findings(
    adviser: Adviser,
    program: ProgramSource,
    groups: Sequence[Group],
    dump: DumpArgument | None = None,
) -> Iterator[Paragraph]:
    """Yield findings in full.

    Args:
        adviser: the adviser of the audit.
        program: where the text of the user's program is found.
        groups: the findings.
        dump: the argument of ``tt-layout apply``; None if it does not take the dump.
    """
    fixed: dict[object, int] = {}
    for number, findings in groups:
        best = adviser.best(findings[0]) if number <= MAX_SHOWN else None
        before = fixed.setdefault(exclusion_key(best), number) if best is not None else number
        if before != number:
            texts = [f"fixed by finding {before} as well"]
        elif number > MAX_SHOWN:
            texts = [gain_text(adviser, findings)]
        else:
            texts = [*filter(None, advice_lines(adviser, findings[0]))]
            if best is None:
                texts.append(gain_text(adviser, findings))
            if best is not None and dump is not None:
                texts.append(dump.command(number))
        yield from (*what(number, findings, program), *paragraphs(number, texts))


def finding_in_brief(
    group: Group,
    adviser: Adviser,
    program: ProgramSource,
    listed: Listed,
    dump: DumpArgument | None,
) -> tuple[list[Paragraph], list[Paragraph]]:
    """Return a first screen's text on a group of findings, and additions for spare room."""
    number, findings = group
    cure = remedy(adviser, findings)
    timed = filter(None, [time_text(adviser, findings)])
    texts = [cure.ways, cure.gain, *timed, *cure.drawbacks]
    if cure.is_fix and dump is not None:
        texts.append(dump.command(number))
    texts.append(cure.triton)
    shown = [*what(number, findings, program, listed), *paragraphs(number, texts)]
    return shown, paragraphs(number, [cure.why])


def notes(adviser: Adviser) -> Iterator[Paragraph]:
    """Yield the notes on operations that are worth keeping, in groups."""
    notes_by_finding = {note.finding: note for note in adviser.audit.notes}
    for group in similar_findings([note.finding for note in adviser.audit.notes]):
        text = note_text(adviser, notes_by_finding[group[0]], group)
        yield Paragraph(text, GAP, 2 * len(GAP))


# -- a group ----------------------------------------------------------------------------------


def what(
    number: int, group: Sequence[Finding], program: ProgramSource, room: Listed = USUAL
) -> list[Paragraph]:
    """Return the locations of findings with the program's text, and the fault."""
    first = group[0]
    colour = "red" if first.is_error else "yellow"
    start, indent = f"  {number}. ", len(f"  {number}. ")
    places = dict.fromkeys(finding.location for finding in group if finding.location is not None)
    where = [safe(str(place)) for place in islice(places, room.places)]
    if len(places) > room.places:
        where.append(count(len(places) - room.places, "more place"))
    where.append(lines([finding.line for finding in group], room.lines))
    text = next((line for line in map(program.line, places) if line is not None), None)
    place, message = ", ".join(where), abridged(safe(first.problem), room.message)
    if text is None:
        return [Paragraph(f"{place}: {message}", start, indent, colour)]
    return [
        Paragraph(f"{place}: {text}", start, indent, colour),
        *paragraphs(number, [message]),
    ]


def paragraphs(number: int, texts: Sequence[str]) -> list[Paragraph]:
    """Return texts as paragraphs that begin with the number of a finding."""
    indent = len(f"  {number}. ")
    return [Paragraph(text, " " * indent, indent + 3) for text in texts if text]
