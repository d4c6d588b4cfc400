"""A unified diff without context, cut to few lines, and long lines to a window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from tt_layout.safe_text import safe

MAX_LINES = 4  # lines of each text that are shown
WIDTH = 96  # columns of a line that are shown
LEAD = 32  # columns shown in front of the first difference of a long line
MAX_ALIGNED = 200  # lines of texts in which those that moved are looked for

Pair = tuple[str | None, str | None]


def cut_diff(before: str, after: str, old_name: str, new_name: str) -> list[str]:
    """Return the first differing lines, as a unified diff without context.

    Lines are compared by their number: the lines of a view are rows, which do not move.  In a
    short text that has become longer or shorter they do.

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
    """Return the lines; a missing line end is noted."""
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, f"{last} (no line end)"] if last else lines


def _pairs(before: list[str], after: list[str]) -> list[Pair]:
    """Return pairs of lines in the same place, or with None.

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
