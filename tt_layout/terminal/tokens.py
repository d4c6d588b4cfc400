"""Where in the text of a view a place or an element stands, and which place it is.

There are two kinds of views.  Some name the place, like ``T5:2``; it is read from the text.
The others name the element, like ``(0,5)``, and the places are in order: the number of the
token, counted from the beginning, tells its place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.placement import PlacedLayout
from tt_layout.terminal.groups import Places, banks, check_grouping, grouping, slot_banks
from tt_layout.views.box import Box
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import PLACES, checked_range
from tt_layout.views.shared import Memory

_TUPLES = re.compile(rb"\([^()]*\)|(?<=\s)-(?=[,\n])|pad")


class Tokens(Protocol):
    """The coloured parts of a view's text."""

    @property
    def pattern(self) -> re.Pattern[bytes]:
        """What a token looks like."""

    @property
    def ends(self) -> bytes:
        """The bytes behind which no token goes on."""

    def groups(self, matches: Sequence[re.Match[bytes]], first: int) -> Ints:
        """Return the group of each token, the first of which has the number ``first``."""


@dataclass(frozen=True)
class LabelTokens:
    """Tokens that name places: ``B1:T5:2`` or ``R5:C2``."""

    request: ViewRequest
    name: str
    ends: bytes = b" \n|"

    @property
    def pattern(self) -> re.Pattern[bytes]:
        """The label of a thread and register, or of a row and column."""
        form = rb"T(\d+):(\d+)" if self.request.placed.is_distributed else rb"R(\d+):C(\d+)"
        return re.compile(rb"(?:B(\d+):)?" + form)

    def groups(self, matches: Sequence[re.Match[bytes]], first: int) -> Ints:
        """Return the groups of the places named."""
        numbers = np.array([[int(n or 0) for n in m.groups()] for m in matches], np.int64)
        blocks, outers, inners = numbers.T
        if self.request.placed.is_distributed:
            lanes = self.request.placed.layout.get_in_dim_size("lane")
            warp, lane = np.divmod(outers, lanes)
            places: Places = {"block": blocks, "warp": warp, "lane": lane, "register": inners}
        else:
            places = {"block": blocks, "row": outers, "col": inners}
        return grouping(self.request.placed, self.name)(places)


@dataclass(frozen=True)
class OrderTokens:
    """Tokens that name the elements of places in order."""

    request: ViewRequest
    name: str
    ends: bytes = b")\n"
    pattern: re.Pattern[bytes] = _TUPLES

    def groups(self, matches: Sequence[re.Match[bytes]], first: int) -> Ints:
        """Return the groups of the places that come next."""
        cells = self._box.firsts(first, first + len(matches), span=1)
        places: dict[str, Ints] = {}
        for name, size in reversed(list(zip(self._names, self._box.sizes))):
            cells, places[name] = np.divmod(cells, size)
        return grouping(self.request.placed, self.name)(places)

    @property
    def _names(self) -> tuple[str, ...]:
        if self.request.placed.is_distributed:
            return ("block", "warp", "register", "lane")
        return ("block", "row", "col")

    @cached_property
    def _box(self) -> Box:
        layout, selection = self.request.placed.layout, self.request.selection
        sizes = tuple(layout.get_in_dim_size(name) for name in self._names)
        spoken = ("column" if name == "col" else name for name in self._names)
        chosen = (getattr(selection, PLACES[name]) for name in spoken)
        return Box(sizes, tuple(map(checked_range, self._names, chosen, sizes)))


@dataclass(frozen=True)
class SharedTokens:
    """Tokens that name the elements of shared memory in the order of their addresses."""

    request: ViewRequest
    name: str
    ends: bytes = b")\n"
    pattern: re.Pattern[bytes] = _TUPLES

    def groups(self, matches: Sequence[re.Match[bytes]], first: int) -> Ints:
        """Return the groups of the offsets, or slots, that come next."""
        last = first + len(matches)
        if self.request.use_hw_view:
            start, stop, first_block = self._slots
            buffer, slot = np.divmod(np.arange(first, last), max(1, stop - start))
            blocks = first_block + buffer // self._memory.partitions
            return blocks if self.name == "block" else slot_banks(start + slot, self.request.placed)
        shape = self.request.placed.shape
        ranges = self.request.selection.tensor_ranges([""] * len(shape), list(shape))
        cells = Box(shape, ranges).firsts(first, last, span=1)
        buffer, offsets = np.divmod(cells, max(1, self._memory.elements))
        if self.name == "block":
            return buffer // self._memory.partitions
        return banks(offsets, self.request.placed)

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self.request.placed.layout, self.request.placed.padding)

    @cached_property
    def _slots(self) -> tuple[int, int, int]:
        selection = self.request.selection
        start, stop = checked_range("offset", selection.offsets, self._memory.slots)
        return start, stop, checked_range("block", selection.blocks, self._memory.blocks)[0]


def tokens_of(request: ViewRequest, name: str) -> Tokens:
    """Return the tokens of a view, which are coloured by warp, lane, ...

    Raises:
        LayoutError: the layout has no such groups.
    """
    check_grouping(request.placed, name)
    if request.placed.is_shared:
        return SharedTokens(request, name)
    return OrderTokens(request, name) if request.use_hw_view else LabelTokens(request, name)


def group_count(placed: PlacedLayout, name: str) -> int:
    """Return how many groups of a kind a layout has at most."""
    if name == "bank":
        slots = math.prod(placed.shape) * placed.element_bytes // 4
        return min(32, max(1, slots))
    if placed.memory_space == "tensor memory" and name != "block":
        rows = placed.layout.get_in_dim_size("row")
        columns = placed.layout.get_in_dim_size("col")
        return {"warp": -(-rows // 32), "lane": min(32, rows), "register": columns}[name]
    return placed.layout.get_in_dim_size(name)
