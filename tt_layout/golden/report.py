"""Outcomes as a report: for people, scripts, test dashboards and pull requests.

A difference is a unified diff without context, cut to a few lines; long lines are cut to a window.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import indent
from typing import Any

from tt_layout.errors import LayoutError
from tt_layout.golden.inputs import defined_at
from tt_layout.golden.manifest import DEFAULT_PATH, Check
from tt_layout.golden.runner import DIFFERENT, NEW_WORDS, Outcome, Results, State
from tt_layout.grouping import grouped
from tt_layout.records import dataclass
from tt_layout.reports.report import Annotation, Line, Problem, ReportedCase, Suite
from tt_layout.safe_text import safe
from tt_layout.wording import count as counted

JSON_VERSION = 1

_TITLES = {
    State.PASSED: "passed",
    State.WRITTEN: "written",
    State.CHANGED: "changed",
    State.MISSING: "no golden",
    State.EXCEEDED: "over its budget",
    State.ERROR: "cannot be run",
    State.ORPHAN: "golden without a case",
}
"""What outcomes are called, in the order in which they are counted."""
MAX_DESCRIBED = 25  # outcomes that the text describes
MAX_NAMED = 3  # outcomes that the command which accepts them names one by one

MAX_LINES = 4  # lines of each text that are shown
WIDTH = 96  # columns of a line that are shown
LEAD = 32  # columns shown in front of the first difference of a long line
MAX_ALIGNED = 200  # lines of texts in which those that moved are looked for

Pair = tuple[str | None, str | None]


def findings(results: Results) -> Iterator[Outcome]:
    """Yield the outcomes that are reported."""
    return (outcome for outcome in results.outcomes if outcome.state != State.PASSED)


@dataclass(frozen=True)
class CheckReport:
    """Report of outcomes, for all formats of ``tt-layout check``."""

    results: Results

    def lines(self) -> Iterator[Line]:
        """Yield the differences, their meaning first, and how to accept them."""
        states = {outcome.state for outcome in self.results.outcomes}
        if states == {State.MISSING}:
            count = counted(len(self.results.outcomes), "check")
            text = (
                f"no golden files yet for {count}; write them with: {update_command(self.results)}"
            )
        elif states == {State.WRITTEN} and all(
            outcome.words == NEW_WORDS for outcome in self.results.outcomes
        ):
            text = summary(self.results)
        else:
            changes = list(by_change(findings(self.results)))
            parts = [describe(*outcomes) for outcomes in changes[:MAX_DESCRIBED]]
            left = sum(map(len, changes[MAX_DESCRIBED:]))
            if left:
                parts.append(f"{left} more; --format json has them all")
            if hint := accept_hint(self.results):
                parts.append(hint)
            text = "\n\n".join([*parts, summary(self.results)])
        return map(Line, text.split("\n"))

    def data(self) -> dict[str, Any]:
        """Return the outcomes as plain data; the schema is in ``docs/check.md``."""
        return {
            "version": JSON_VERSION,
            "manifest": " ".join(self.results.paths),
            "status": self.results.status,
            "counts": self.results.counts,
            "outcomes": [_plain(outcome) for outcome in self.results.outcomes],
        }

    def suite(self) -> Suite:
        """Return a test case for each outcome."""
        return Suite(" ".join(self.results.paths), map(_junit_case, self.results.outcomes))

    def annotations(self) -> Iterator[Annotation | Line]:
        """Yield an annotation for each finding, and the counts."""
        for outcome in findings(self.results):
            if outcome.state == State.WRITTEN:
                continue
            if outcome.check is None or outcome.state != State.CHANGED:
                path, line = place(outcome)
            else:
                span = defined_at(outcome.check.case)
                path, line = _relative(span.file), span.line
            if outcome.error:
                message = outcome.error.summary
            else:
                shown = difference(outcome) if outcome.state == State.CHANGED else []
                message = "\n".join([*map(safe, outcome.words), *shown])
            yield Annotation(message, path, line, f"{outcome.id}: {_TITLES[outcome.state]}")
        yield Line(summary(self.results))


class UnreadReport(CheckReport):
    """Report on manifests that cannot be read: one outcome without a case for each error."""

    def annotations(self) -> Iterator[Annotation | Line]:
        """Yield the annotation of the error."""
        for outcome in self.results.outcomes:
            if outcome.error is not None:
                yield error_annotation(outcome.error)


def by_change(outcomes: Iterable[Outcome]) -> Iterator[list[Outcome]]:
    """Yield outcomes in order, grouped by change of a layout."""
    yield from grouped(outcomes, _change).values()


def _change(outcome: Outcome) -> object:
    """Return the key of a change: the layout and the words."""
    if outcome.state != State.CHANGED or outcome.check is None or not outcome.words:
        return outcome.golden
    case = outcome.check.case
    layout = tuple(case.text(key) for key in ("layout", "file", "alias"))
    return layout, case.folder, outcome.words


def describe(outcome: Outcome, *same: Outcome) -> str:
    """Describe an outcome, with the names of others with the same change."""
    if outcome.error is not None:
        return f"{_head(outcome)}\n{indent(str(outcome.error), '  ')}"
    lines = [_head(outcome), *(f"  {safe(word)}" for word in outcome.words)]
    if same:
        lines.append(f"  the same change: {', '.join(other.id for other in same)}")
    if outcome.state == State.CHANGED:
        lines += [f"  {line}" for line in difference(outcome)]
    return "\n".join(lines)


def _head(outcome: Outcome) -> str:
    path, line = place(outcome)
    where = f"{path}:{line}" if line else path
    return f"{_TITLES[outcome.state]}: {outcome.id} ({where})"


def difference(outcome: Outcome) -> list[str]:
    """Return the shortened diff of a changed outcome; empty if only newlines differ."""
    assert outcome.before is not None
    assert outcome.after is not None
    before = outcome.before.replace(b"\r\n", b"\n")
    if before == outcome.after:
        return []
    old, new = (text.decode(errors="replace") for text in (before, outcome.after))
    return cut_diff(old, new, outcome.golden.name, outcome.new.name)


def place(outcome: Outcome) -> tuple[str, int]:
    """Return file and line of an outcome; line 0 for the whole file."""
    if outcome.check is None:
        return _relative(str(outcome.golden)), 0
    return place_of(outcome.check)


def place_of(check: Check) -> tuple[str, int]:
    """Return file and line of a check's case."""
    span = check.case.place
    return _relative(span.file), span.line


def _relative(path: str) -> str:
    """Return a path relative to the current folder, if it is inside, with ``/``."""
    path = safe(path)
    relative = os.path.relpath(path)
    return (path if relative.startswith("..") else relative).replace(os.sep, "/")


def accept_hint(results: Results) -> str:
    """Return the hint on how to accept the differences; empty without any."""
    names = [o.id for o in results.outcomes if o.state in DIFFERENT]
    hints = []
    if names:
        only = [f"--only {name}" for name in names] if len(names) <= MAX_NAMED else []
        hints.append(f"accept with: {update_command(results, *only)}")
    if results.counts[State.ORPHAN]:
        hints.append("delete golden files without a case, or write their cases")
    return "\n".join(hints)


def update_command(results: Results, *only: str) -> str:
    """Return the command that accepts the actual output as golden files."""
    paths = () if results.paths == (DEFAULT_PATH,) else map(shlex.quote, results.paths)
    return " ".join(["tt-layout check", *paths, *only, "--update"])


def summary(results: Results) -> str:
    """Format the counts in a line.

    Example:
        >>> summary(Results(("layouts.yaml",), ()))
        'nothing was compared'
    """
    titles = {**_TITLES, State.MISSING: "without a golden"}
    parts = [f"{n} {title}" for state, title in titles.items() if (n := results.counts[state])]
    return ", ".join(parts) or "nothing was compared"


def _plain(outcome: Outcome) -> dict[str, Any]:
    path, line = place(outcome)
    is_changed = outcome.state == State.CHANGED
    return {
        "name": outcome.check.case.name if outcome.check else None,
        "kind": outcome.check.kind if outcome.check else None,
        "state": outcome.state,
        "file": path,
        "line": line or None,
        "golden": _relative(str(outcome.golden)),
        "new": _relative(str(outcome.new)) if is_changed and outcome.new.exists() else None,
        "words": list(outcome.words),
        "diff": difference(outcome) if is_changed else [],
        "error": str(outcome.error) if outcome.error is not None else None,
    }


def _junit_case(outcome: Outcome) -> ReportedCase:
    case = ReportedCase(outcome.id, *place(outcome), seconds=outcome.seconds)
    if outcome.state in (State.PASSED, State.WRITTEN):
        return case
    if outcome.error is not None:
        message = outcome.error.summary
    else:
        message = "; ".join(outcome.words) or _TITLES[outcome.state]
    problem = Problem(outcome.state == State.ERROR, outcome.state, message, describe(outcome))
    return case._replace(problem=problem)


def error_annotation(error: LayoutError) -> Annotation:
    """Return the annotation of an unreadable manifest."""
    where = error.location
    if where is None or where.line is None:
        return Annotation(error.summary)
    return Annotation(error.message, _relative(where.file), where.line, "manifest")


# -- short differences -----------------------------------------------------------------------------


def cut_diff(before: str, after: str, old_name: str, new_name: str) -> list[str]:
    """Return the first differing lines, as a unified diff without context.

    Lines are compared by number, since the lines of a view are rows, which do not move.  A short
    text of another length is compared by content.

    Example:
        >>> print(*cut_diff("a\\nb\\n", "a\\nc\\n", "x.txt", "x.txt.new"), sep="\\n")
        --- x.txt
        +++ x.txt.new
        @@ -2 +2 @@
        -b
        +c
    """
    pairs = _pairs(_lines(before), _lines(after))
    differing = [number for number, (old, new) in enumerate(pairs) if old != new]
    lines = [f"--- {old_name}", f"+++ {new_name}"]
    for start, stop in _runs(differing[:MAX_LINES]):
        lines += _hunk(pairs[:start], pairs[start:stop])
    left = len(differing) - MAX_LINES
    if left > 0:
        lines.append(f"{left} more line{'s differ' if left > 1 else ' differs'}")
    return lines


def _lines(text: str) -> list[str]:
    """Return the lines, with a note on a missing newline."""
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, f"{last} (no line end)"] if last else lines


def _pairs(before: list[str], after: list[str]) -> list[Pair]:
    """Return pairs of lines at the same place, or of a line and None.

    Example:
        >>> _pairs(["a", "b"], ["a", "new", "b"])
        [('a', 'a'), (None, 'new'), ('b', 'b')]
    """
    if len(before) == len(after) or max(len(before), len(after)) > MAX_ALIGNED:
        return list(zip_longest(before, after))
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [pair for _, a, b, c, d in blocks for pair in zip_longest(before[a:b], after[c:d])]


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield start and stop of each run of consecutive numbers."""
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], numbers[place - 1] + 1
            start = place


def _hunk(above: list[Pair], pairs: list[Pair]) -> list[str]:
    """Return the lines of a hunk, given all pairs above it."""
    windows = [_window(old, new) for old, new in pairs]
    sides = [
        [
            _cut(line, first)
            for pair, first in zip(pairs, windows)
            if (line := pair[side]) is not None
        ]
        for side in (0, 1)
    ]
    counts = [sum(pair[side] is not None for pair in above) for side in (0, 1)]
    ranges = [_range(count, len(side)) for count, side in zip(counts, sides)]
    heading = f"@@ -{ranges[0]} +{ranges[1]} @@"
    return [heading, *(f"-{line}" for line in sides[0]), *(f"+{line}" for line in sides[1])]


def _range(above: int, count: int) -> str:
    """Format the range of a hunk's heading; an empty one is at the line above it.

    Example:
        >>> _range(4, 1), _range(4, 2), _range(4, 0)
        ('5', '5,2', '4,0')
    """
    return f"{above + 1}" if count == 1 else f"{above + (count > 0)},{count}"


def _window(old: str | None, new: str | None) -> int:
    """Return the first column to show of a pair of lines."""
    old, new = old or "", new or ""
    longest = max(len(old), len(new))
    if longest <= WIDTH:
        return 0
    pairs = enumerate(zip(old, new))
    first = next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)))
    return max(0, min(first - LEAD, longest - WIDTH))


def _cut(line: str, first: int) -> str:
    """Return a window of a line, with ``...`` where it was cut."""
    shown = line[first : first + WIDTH]
    before, after = "..." if first else "", "..." if first + WIDTH < len(line) else ""
    return safe(before + shown + after)
