"""Selection of a part of a view."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from tt_layout.errors import LayoutError
from tt_layout.records import dataclass

Range = tuple[int, int]
SLICE = "slice"
"""What people call a part of a tensor view."""


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The selected part of a view; everything by default.

    Each range is ``(start, stop)`` as in Python: from start up to, but not including, stop.  None
    means everything.

    Attributes:
        slices: for tensor views, a range or None per tensor dimension; () is everything.
        blocks: for hardware views.
        warps: for hardware views of distributed layouts.
        lanes: for hardware views of distributed layouts.
        registers: for hardware views of distributed layouts.
        offsets: for hardware views of shared memory, the numbers printed after ``Offset:``.
        rows: for hardware views of tensor memory.
        columns: for hardware views of tensor memory.

    Example:
        >>> Selection(slices=((0, 16), None)).lanes is None
        True
    """

    slices: tuple[Range | None, ...] = ()
    blocks: Range | None = None
    warps: Range | None = None
    lanes: Range | None = None
    registers: Range | None = None
    offsets: Range | None = None
    rows: Range | None = None
    columns: Range | None = None

    def check_options(self, view: str, *allowed: str) -> None:
        """Reject a selection that this view does not support.

        Raises:
            LayoutError: an option other than ``allowed`` is set.

        Example:
            >>> Selection(lanes=(0, 4)).check_options("a matrix")
            Traceback (most recent call last):
            tt_layout.errors.LayoutError: lanes cannot be selected in a matrix; it shows all
        """
        for field in fields(self):
            chosen = getattr(self, field.name)
            if chosen not in (None, ()) and field.name not in allowed:
                instead = f"it has {', '.join(allowed)}" if allowed else "it shows all"
                raise LayoutError(f"{field.name} cannot be selected in {view}; {instead}")

    def tensor_ranges(self, names: list[str], sizes: list[int]) -> tuple[Range, ...]:
        """Return a checked range per tensor dimension."""
        slices = self.slices or (None,) * len(sizes)
        if len(slices) != len(sizes):
            raise LayoutError(
                f"slices must have one entry per tensor dimension ({len(sizes)}), got {len(slices)}"
            )
        return tuple(checked_range(*axis) for axis in zip(names, slices, sizes))


EVERYTHING = Selection()

LOCATION_FIELDS = {
    "warp": "warps",
    "lane": "lanes",
    "register": "registers",
    "block": "blocks",
    "offset": "offsets",
    "row": "rows",
    "column": "columns",
}
"""What people call a part of a hardware view -> the field of `Selection` that it fills."""


SELECTION_FIELDS = {SLICE: "slices", **LOCATION_FIELDS}
"""What people call a part of a view -> the field of `Selection` that it fills."""

_RANGE = re.compile(r"\s*(\d{1,18})\s*(?::\s*(\d{1,18})\s*)?")


def parse_range(name: str, text: str) -> Range:
    """Parse the range ``N`` or ``N:M``.

    Raises:
        LayoutError: the text is neither; ``name`` is its name in the message.

    Example:
        >>> parse_range("lane", "5"), parse_range("lane", "0:4")
        ((5, 6), (0, 4))
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        raise LayoutError(f"{name} takes a number or a range such as 0:16, got {text!r}")
    first = int(match.group(1))
    return first, int(match.group(2)) if match.group(2) else first + 1


def parse_slices(name: str, text: str) -> tuple[Range | None, ...]:
    """Parse the ranges ``A:B,:,C:D``, one per dimension; an empty one is everything.

    Example:
        >>> parse_slices("slice", "0:16,:")
        ((0, 16), None)
    """
    parts = text.split(",")
    return tuple(None if p.strip() in ("", ":") else parse_range(name, p) for p in parts)


def parse_selected(key: str, text: str, name: str) -> dict[str, Any]:
    """Parse a choice to a field of `Selection` and its value.

    Args:
        key: `SLICE`, or a key of `LOCATION_FIELDS`.
        text: the chosen range or ranges.
        name: its name in messages.

    Raises:
        LayoutError: the text is not a range, or not a list of them.

    Example:
        >>> parse_selected("lane", "0:4", "--lane")
        {'lanes': (0, 4)}
    """
    if key == SLICE:
        return {"slices": parse_slices(name, text)}
    return {LOCATION_FIELDS[key]: parse_range(name, text)}


def checked_range(name: str, chosen: Range | None, size: int) -> Range:
    """Return the selected range, by default all of ``range(size)``.

    Raises:
        LayoutError: the range is empty or leaves ``range(size)``.

    Example:
        >>> checked_range("lane", None, 32)
        (0, 32)
        >>> checked_range("lane", (30, 41), 32)
        Traceback (most recent call last):
        tt_layout.errors.LayoutError: lane 40 is outside 0..31
    """
    if chosen is None:
        return 0, size
    start, stop = chosen
    for value in (start, stop - 1):
        if not 0 <= value < size and start < stop:
            raise LayoutError(f"{name} {value} is outside 0..{size - 1}")
    if start >= stop:
        raise LayoutError(f"{name} {start}:{stop} selects nothing")
    return start, stop
