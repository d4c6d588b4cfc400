"""Findings as text: those alike together, each with its cost, its line and the way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.audit.audit import Audit
from tt_layout.audit.findings import Finding
from tt_layout.audit.shares import Shares
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.executions import Executions, is_in_loop
from tt_layout.ir.operations import Location, attribute_of
from tt_layout.reports.advice_text import advice_lines, short_advice_lines
from tt_layout.reports.dump_text import short_operation, short_type
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.report import GAP, Line
from tt_layout.safe_text import safe
from tt_layout.wording import count, lines

MAX_SHOWN = 12  # groups of findings that are listed, unless all are asked for
MAX_LINES = 6  # lines of the dump that are listed of one group
WIDTH = 80  # characters in which the lines of a first screen are counted

Elements = list[Line | Fitted]


def finding_lines(
    audit: Audit, program: ProgramSource, *, is_whole: bool, room: int | None = None
) -> Iterator[Line | Fitted]:
    """Yield the findings of a module in the order in which a reader acts.

    Args:
        audit: of the module.
        program: where the text of the user's program is found.
        is_whole: whether all of them are listed with all that is known of them.
        room: lines of `WIDTH` characters that there are for them; None for as many as they take.
    """
    groups = grouped(audit.findings)
    if not groups:
        return
    if room is None:
        yield from (Line(), Line("findings"))
    found, adviser, shares = _Shown(), Adviser(audit), Shares(audit.movements)
    for number, group in enumerate(groups, 1):
        is_left_out = number > MAX_SHOWN and not is_whole
        if is_left_out or (room is not None and not _is_shown(group, adviser, shares)):
            found.leave_out(group)
            if room is not None:
                found.notes += _note(group, adviser)
            continue
        cost = _cost(group, adviser, shares, is_short=room is not None)
        elements = _group_lines(number, group, program, cost)
        way = is_whole if room is None else None
        elements += _advice(number, group, adviser, found, is_whole=way)
        if not found.add(elements, room):
            found.leave_out(group)
    yield from found.elements
    yield from found.notes
    if found.left_out:
        more = f"  and {found.groups} more: --all lists them"
        text = more if room is None else _left_out(found.left_out, shares)
        yield Paragraph(text.lstrip(), GAP, 2 * len(GAP))


class _Shown:
    """What is shown of findings, as far as there is room.

    Attributes:
        elements: of the report.
        left_out: the findings that are not shown.
        groups: how many groups of them there are.
        notes: what is said of those that nothing cheaper replaces.
        advice: what was shown -> the number of the first finding with it.
    """

    def __init__(self) -> None:
        self.elements: Elements = []
        self.left_out: list[Finding] = []
        self.groups = 0
        self.notes: Elements = []
        self.advice: dict[tuple[str, ...], int] = {}
        self._height = 0

    def leave_out(self, group: Sequence[Finding]) -> None:
        """Do not show findings."""
        self.left_out += group
        self.groups += 1

    def add(self, elements: Elements, room: int | None) -> bool:
        """Show findings if there is room; of the first ones as much as there is room for."""
        heights = [_height(element) for element in elements]
        if room is not None and self._height + sum(heights) > room:
            if self.elements:
                return False
            while len(elements) > 1 and (sum(heights) > room or _is_open(elements[-1])):
                elements, heights = elements[:-1], heights[:-1]
        self.elements += elements
        self._height += sum(heights)
        return True


def _note(group: Sequence[Finding], adviser: Adviser) -> Elements:
    """Return that findings stay as they are where every other way takes more cycles."""
    for other in adviser.dearer(group[0])[:1]:
        before, after = other.sums
        text = f"{_places(group)}, {short_operation(group[0].name)}: leave it, "
        return [
            Paragraph(
                f"{text}the cheapest other way takes {after:g} cycles in place of {before:g}",
                GAP,
                2 * len(GAP),
            )
        ]
    return []


def _is_open(element: Line | Fitted) -> bool:
    """Tell whether a line is nothing without the next one."""
    return isinstance(element, Paragraph) and element.text.endswith(":")


def _height(element: Line | Fitted) -> int:
    return 1 if isinstance(element, Line) else sum(1 for _ in element.fold(WIDTH))


def _is_shown(group: Sequence[Finding], adviser: Adviser, shares: Shares) -> bool:
    """Tell whether findings are shown on a first screen."""
    if not shares.matters(*group):
        return False
    return group[0].is_error or not adviser.dearer(group[0])


def _left_out(findings: Sequence[Finding], shares: Shares) -> str:
    """Return what is left out in one line."""
    weight = sum(finding.weight for finding in findings)
    total = sum(shares.cycles(name) for name in {finding.function for finding in findings})
    share = f", {_percent(weight / total)} of the data movement" if total and weight else ""
    return f"  and {count(len(findings), 'finding')} of less weight{share}: --all lists them"


def _percent(share: float) -> str:
    return "less than 1 %" if share < 0.01 else f"{100 * min(1.0, share):.0f} %"


def _advice(
    number: int,
    group: Sequence[Finding],
    adviser: Adviser,
    found: _Shown,
    *,
    is_whole: bool | None,
) -> Elements:
    """Return why findings are there, and the way out; None asks for the best one only."""
    if number > MAX_SHOWN:
        return []
    first = group[0]
    texts = tuple(
        advice_lines(adviser, first, is_whole=is_whole)
        if is_whole is not None
        else short_advice_lines(adviser, first)
    )
    before = found.advice.setdefault(texts, number)
    if before != number and texts and texts[0].startswith("instead"):
        texts = (f"instead: what finding {before} names saves that, too",)
    indent = len(f"  {number}. ")
    return [Paragraph(text, " " * indent, indent + 3) for text in texts]


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


def _group_lines(
    number: int, group: Sequence[Finding], program: ProgramSource, cost: str
) -> Elements:
    first = group[0]
    colour = "red" if first.is_error else "yellow"
    indent = len(f"  {number}. ")
    text = f"{_places(group)}: {first.message}"
    found: Elements = [Paragraph(text, f"  {number}. ", indent, colour)]
    for location in dict.fromkeys(finding.location for finding in group):
        line = program.line(location)
        where = _where(location)
        if where is not None:
            text = f"{where}: {line}" if line is not None else where
            found.append(Paragraph(text, " " * indent + "at ", indent + 3))
    if cost:
        found.append(Paragraph(cost, " " * indent, indent))
    return found


def _places(group: Sequence[Finding]) -> str:
    return lines([finding.line for finding in group], MAX_LINES)


def _where(location: Location | None) -> str | None:
    return safe(str(location)) if location is not None else None


def _cost(group: Sequence[Finding], adviser: Adviser, shares: Shares, *, is_short: bool) -> str:
    """Return what a group costs, how often, and how much of the kernel's data movement that is."""
    first, share = group[0], shares.of(*group)
    if not first.cost:
        return ""
    moved = first.movement.operation.moved if first.movement is not None else None
    of = f" of {short_type(moved)}" if moved is not None else ""
    what = f"{short_operation(first.name)}{of}"
    runs = [_runs(finding.runs) for finding in group if finding.runs is not None]
    each = " each" * (len(group) > 1)
    often = ", ".join(dict.fromkeys(runs))
    if is_short:
        loops = [one.runs for one in group if one.runs is not None and is_in_loop(one.runs)]
        often = "in a loop" if loops else "outside of loops"
    verb = "that could be saved" if adviser.suggestions(first) else "spent"
    what = "" if is_short else f"{what}: "
    text = f"{what}{count(round(first.cost, 1), 'cycle')}{each} {verb}, {often}"
    is_shared = is_short and share is not None
    return text + (f"; {_percent(share or 0)} of the data movement" if is_shared else "")


def _runs(executions: Executions) -> str:
    """Return how often the operation of a finding runs, in words."""
    number, text = executions.number, executions.text
    times = "once" if text == "1" else f"{text} times"
    if number is not None and text != str(number):
        times += f" = {number}"
    return times + " in a loop" * is_in_loop(executions)
