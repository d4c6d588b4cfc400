"""Comparison of two layouts of one tensor as functions: moved elements and changed bits.

Everything is computed from the basis vectors, so the cost does not grow with the tensor.
An element *moves* when the set of its locations changes.  The elements that stay are a subspace,
because the layouts are linear: its size is computed, never enumerated.

    basis of          before   after    xor
    register bit 0    (0, 1)   (0, 2)   (0, 3)       before   T0:0  T0:1  T1:0  T1:1
    lane bit 0        (0, 2)   (0, 1)   (0, 3)       after    T0:0  T1:0  T0:1  T1:1

    The two bases go round in one cycle: the bits are exchanged.  Their xors add up to zero where
    the register's bit is the lane's, at T0:0 and T1:1: two of four elements stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, reduce
from operator import xor

from tt_layout.algebra.linear_layout import Basis, LinearLayout, log2
from tt_layout.algebra.span import F2Span
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass

Position = tuple[str, int]
"""An input dimension and one of its bits."""

ORDERED = ("register", "lane", "warp")
"""The inputs whose order may not matter; an offset in memory always does."""

MAX_SEARCH = 1 << 12  # elements looked at for the first few that move
MAX_CHANGES = 8  # bits named in words
MAX_HOLDERS = 4  # holders of an element named in words
_NAMES = {
    "register": "registers per thread",
    "lane": "lanes per warp",
    "warp": "warps",
    "block": "blocks",
    "offset": "offsets per block",
}


@dataclass(frozen=True, kw_only=True)
class BitChange:
    """A difference between the basis vectors of two layouts.

    Attributes:
        kind: ``swapped`` (two bits of one dimension), ``exchanged`` (two bits of different
            dimensions), ``permuted`` (a longer cycle), ``changed``, ``added``, ``removed``.
        positions: the input bits; in a cycle, each basis moves to the position of the next.
        before, after: the basis vectors of the first position; None if there was none.
    """

    kind: str
    positions: tuple[Position, ...]
    before: Basis | None = None
    after: Basis | None = None

    def __str__(self) -> str:
        (dim, bit), *rest = self.positions
        if self.kind == "swapped":
            return f"{dim} bits {bit} and {rest[0][1]} swapped"
        if self.kind == "exchanged":
            return f"{dim} bit {bit} and {rest[0][0]} bit {rest[0][1]} exchanged"
        if self.kind == "permuted":
            cycle = (*self.positions, self.positions[0])
            return "permuted in a cycle: " + " -> ".join(f"{d} bit {b}" for d, b in cycle)
        if self.kind == "added":
            return f"{dim} bit {bit} added: {_point(self.after)}"
        if self.kind == "removed":
            return f"{dim} bit {bit} removed: was {_point(self.before)}"
        return f"{dim} bit {bit} was {_point(self.before)}, is {_point(self.after)}"


@dataclass(frozen=True, kw_only=True)
class ElementMove:
    """An element and its holders before and after, as views format them.

    Attributes:
        element: its coordinates.
        before, after: the holders joined by ``|``, at most `MAX_HOLDERS` of them;
            None where no location holds it.
    """

    element: Basis
    before: str | None
    after: str | None

    def __str__(self) -> str:
        was, now = self.before or "nowhere", self.after or "nowhere"
        return f"{_point(self.element)} was {was}, is {now}"


@dataclass(frozen=True, kw_only=True)
class LayoutDifference:
    """Difference between two layouts of one tensor.

    Attributes:
        changes: the basis bits that differ.
        moved: number of elements that move.
        elements: number of elements of the tensor.
        first_moves: the first few moves, in row-major order.
        permuted_inputs: the inputs (``register``, ``lane``, ``warp``) each of which alone explains
            the whole difference as another order within it.
        sizes: input dimension -> its size before and after.
        replication: input dimension -> number of its locations that repeat an element, before and
            after.

    Example:
        >>> before = LinearLayout.from_bases([("lane", [[1], [2]])], ["dim0"])
        >>> after = LinearLayout.from_bases([("lane", [[2], [1]])], ["dim0"])
        >>> print(compare(before, after))
        lane bits 0 and 1 swapped; 2 of 4 elements move; first: (1) was T1:0, is T2:0; \
only the order of lanes differs
    """

    changes: tuple[BitChange, ...]
    moved: int
    elements: int
    first_moves: tuple[ElementMove, ...]
    permuted_inputs: tuple[str, ...]
    sizes: tuple[tuple[str, int, int], ...]
    replication: tuple[tuple[str, int, int], ...]

    @property
    def same_map(self) -> bool:
        """Whether both are the same function."""
        return not self.changes

    def words(self) -> list[str]:
        """Describe the difference, the most important first; nothing if there is none."""
        if self.same_map:
            return []
        words = [str(change) for change in self.changes[:MAX_CHANGES]]
        if len(self.changes) > MAX_CHANGES:
            words.append(f"{len(self.changes) - MAX_CHANGES} more bits differ")
        words.append(f"{self.moved} of {self.elements} elements move")
        if self.first_moves:
            words.append(f"first: {self.first_moves[0]}")
        for dim, before, after in self.sizes:
            if before != after:
                words.append(f"{_NAMES.get(dim, dim)}: {before}, now {after}")
            elif dim == "register":
                words.append(f"{_NAMES[dim]} unchanged")
        for dim, before, after in self.replication:
            if before != after:
                words.append(f"replication over {dim}s: {before}, now {after}")
        if self.permuted_inputs:
            named = " or of ".join(f"{dim}s" for dim in self.permuted_inputs)
            words.append(f"only the order of {named} differs")
        return words

    def __str__(self) -> str:
        return "; ".join(self.words())


def _point(vector: Basis | None) -> str:
    return "nothing" if vector is None else f"({', '.join(map(str, vector))})"


def compare(before: LinearLayout, after: LinearLayout, *, first: int = 3) -> LayoutDifference:
    """Compare two layouts of one tensor.

    Args:
        before, after: layouts with the same output dimensions and kinds of input.
        first: number of moves to list.

    Raises:
        LayoutError: the layouts are of different tensors, or in different memory spaces.
    """
    if before.out_sizes != after.out_sizes:
        message = "layouts are compared over one tensor, got shapes"
        raise LayoutError(f"{message} {_shape(before)} and {_shape(after)}")
    if _memory(before) != _memory(after):
        message = "layouts in different memory spaces cannot be compared: one has the inputs"
        ins = ", ".join(before.get_in_dim_names()), ", ".join(after.get_in_dim_names())
        raise LayoutError(f"{message} {ins[0]}, the other {ins[1]}")
    changes = tuple(_changes(_vectors(before), _vectors(after)))
    if not changes:
        return _report(before, after, (), 0, ())
    locations = _Locations(before, after)
    return _report(before, after, changes, locations.moved, tuple(locations.first_moves(first)))


def _report(
    before: LinearLayout,
    after: LinearLayout,
    changes: tuple[BitChange, ...],
    moved: int,
    first_moves: tuple[ElementMove, ...],
) -> LayoutDifference:
    dims = list(dict.fromkeys([*before.get_in_dim_names(), *after.get_in_dim_names()]))
    free = before.get_free_variable_masks(), after.get_free_variable_masks()
    # the locations of each input that share an element
    sharing = [{dim: 1 << masks.get(dim, 0).bit_count() for dim in dims} for masks in free]
    return LayoutDifference(
        changes=changes,
        moved=moved,
        elements=math.prod(size for _, size in before.out_sizes),
        first_moves=first_moves,
        permuted_inputs=tuple(
            d for d in ORDERED if changes and _differs_only_in_order(before, after, d)
        ),
        sizes=tuple((d, before.get_in_dim_size(d), after.get_in_dim_size(d)) for d in dims),
        replication=tuple((d, sharing[0][d], sharing[1][d]) for d in dims),
    )


def _shape(layout: LinearLayout) -> str:
    return "x".join(str(size) for _, size in layout.out_sizes)


def _memory(layout: LinearLayout) -> str:
    """Return the input that is specific to the memory space of the layout."""
    names = layout.get_in_dim_names()
    return next((name for name in ("register", "offset", "row") if name in names), names[0])


# -- bits ---------------------------------------------------------------------------------


def _vectors(layout: LinearLayout) -> dict[Position, Basis]:
    return {
        (name, bit): vector
        for name, vectors in layout.in_bases
        for bit, vector in enumerate(vectors)
    }


def _changes(before: dict[Position, Basis], after: dict[Position, Basis]) -> list[BitChange]:
    """Return the changes: cycles of bases that only moved, then single bits."""
    positions = list(dict.fromkeys([*before, *after]))
    differing = [p for p in positions if before.get(p) != after.get(p)]
    cycles = _cycles(before, after, [p for p in differing if p in before and p in after])
    explained = {position for cycle in cycles for position in cycle}
    single = [
        BitChange(
            kind="added" if p not in before else "removed" if p not in after else "changed",
            positions=(p,),
            before=before.get(p),
            after=after.get(p),
        )
        for p in differing
        if p not in explained
    ]
    return [*(_cycle_change(cycle, before, after) for cycle in cycles), *single]


def _cycles(
    before: dict[Position, Basis], after: dict[Position, Basis], candidates: list[Position]
) -> list[tuple[Position, ...]]:
    """Return the cycles p, q, .. in which the basis of p moves to q, and so on."""
    #                 before    after
    #     register 0  (0, 1)    (1, 0)    (0, 1) is at register 1 afterwards, and that of
    #     register 1  (1, 0)    (0, 1)    register 1 at register 0: a cycle of two
    #     lane 0      (0, 2)    (0, 4)    (0, 2) is nowhere afterwards: in no cycle
    sources: dict[Basis, list[Position]] = {}
    targets: dict[Basis, list[Position]] = {}
    for p in candidates:
        sources.setdefault(before[p], []).append(p)
        targets.setdefault(after[p], []).append(p)
    unique = {v for v, places in sources.items() if len(places) == len(targets.get(v, ())) == 1}
    follows = {sources[v][0]: targets[v][0] for v in unique}
    cycles: list[tuple[Position, ...]] = []
    done: set[Position] = set()
    for start in candidates:
        path: list[Position] = []
        position = start
        while position in follows and position not in done:
            done.add(position)
            path.append(position)
            position = follows[position]
        if path and position == start:
            cycles.append(tuple(path))
    return cycles


def _cycle_change(
    cycle: tuple[Position, ...], before: dict[Position, Basis], after: dict[Position, Basis]
) -> BitChange:
    kind = "permuted"
    if len(cycle) == 2:
        kind = "swapped" if cycle[0][0] == cycle[1][0] else "exchanged"
    return BitChange(kind=kind, positions=cycle, before=before[cycle[0]], after=after[cycle[0]])


def _differs_only_in_order(before: LinearLayout, after: LinearLayout, dim: str) -> bool:
    """Tell whether the layouts differ only in the order of elements along ``dim``."""
    if before.get_in_dim_size(dim) != after.get_in_dim_size(dim):
        return False
    spans = [F2Span([x.flatten(v) for v in x.vectors(dim)]) for x in (before, after)]
    if spans[0].rank != spans[1].rank:
        return False
    if any(spans[0].express(after.flatten(v)) is None for v in after.vectors(dim)):
        return False
    ours, theirs = _vectors(before), _vectors(after)
    rest = {p for p in (*ours, *theirs) if p[0] != dim}
    if not all(p in ours and p in theirs for p in rest):
        return False
    differences = (before.flatten(ours[p]) ^ after.flatten(theirs[p]) for p in rest)
    return all(spans[0].express(difference) is not None for difference in differences)


# -- elements -----------------------------------------------------------------------------


class _Inverse:
    """The locations of an element, as a coset of the kernel, over shared bit numbers."""

    def __init__(self, layout: LinearLayout, numbers: dict[Position, int]) -> None:
        vectors = _vectors(layout)
        self.bits = [numbers[p] for p in vectors]
        self.columns = [layout.flatten(v) for v in vectors.values()]
        self.span = F2Span(self.columns)
        free = [k for k in range(len(self.columns)) if not self.span.pivots >> k & 1]
        expressed = [self.span.express(self.columns[k]) or 0 for k in free]
        self.kernel = [self._spread(mask | 1 << k) for k, mask in zip(free, expressed)]

    def _spread(self, mask: int) -> int:
        """Renumber the bits of a mask over this layout's columns."""
        return sum(1 << number for k, number in enumerate(self.bits) if mask >> k & 1)

    def place(self, element: int) -> int | None:
        """Return one location of an element; None without one."""
        mask = self.span.express(element)
        return None if mask is None else self._spread(mask)


class _Locations:
    """The locations of every element under two layouts."""

    def __init__(self, before: LinearLayout, after: LinearLayout) -> None:
        positions = list(dict.fromkeys([*_vectors(before), *_vectors(after)]))
        numbers = {position: number for number, position in enumerate(positions)}
        self.layouts = before, after
        self.before, self.after = _Inverse(before, numbers), _Inverse(after, numbers)
        self.positions = positions
        self.kernel = F2Span(self.before.kernel)
        other = F2Span(self.after.kernel)
        self.same_kernel = self.kernel.rank == other.rank and all(
            self.kernel.express(vector) is not None for vector in self.after.kernel
        )

    @cached_property
    def _stored_by_both(self) -> list[int]:
        """A basis of the elements that both layouts hold."""
        columns = [*self.before.columns, *self.after.columns]
        span, count = F2Span(columns), len(self.before.columns)
        basis = []
        for k in range(count, len(columns)):
            if span.pivots >> k & 1:
                continue
            mask = span.express(columns[k]) or 0
            used = [c for i, c in enumerate(columns[:count]) if mask >> i & 1]
            basis.append(reduce(xor, used, 0))
        chosen = F2Span(basis)
        return [vector for k, vector in enumerate(basis) if chosen.pivots >> k & 1]

    @property
    def moved(self) -> int:
        """The number of elements whose holders differ."""
        common = len(self._stored_by_both)
        stored = (1 << self.before.span.rank) + (1 << self.after.span.rank) - (1 << common)
        if not self.same_kernel:
            return stored
        places = [
            (self.before.place(vector) or 0, self.after.place(vector) or 0)
            for vector in self._stored_by_both
        ]
        shifts = [before ^ after for before, after in places]
        rank = F2Span([*self.before.kernel, *shifts]).rank - self.kernel.rank
        return stored - (1 << common - rank)

    def _moves(self, element: int) -> bool:
        was, now = self.before.place(element), self.after.place(element)
        if was is None or now is None:
            return was is not now
        return not self.same_kernel or self.kernel.express(was ^ now) is None

    def first_moves(self, count: int) -> list[ElementMove]:
        """Return the first elements that move, in row-major order."""
        sizes = [size for _, size in self.layouts[0].out_sizes]
        total = math.prod(sizes)
        candidates = [0, *(1 << bit for bit in range(log2(total)))]
        start = next((index for index in candidates if self._moves(self._flat(index))), total)
        moves: list[ElementMove] = []
        for index in range(start, min(total, start + MAX_SEARCH)):
            if len(moves) == count:
                break
            flat = self._flat(index)
            if self._moves(flat):
                labels = [
                    self._labels(layout, inverse.place(flat), inverse)
                    for layout, inverse in zip(self.layouts, (self.before, self.after))
                ]
                element = self._coordinates(index)
                moves.append(ElementMove(element=element, before=labels[0], after=labels[1]))
        return moves

    def _coordinates(self, index: int) -> Basis:
        """Return the coordinates of a row-major index."""
        coordinates = []
        for _, size in reversed(self.layouts[0].out_sizes):
            coordinates.append(index % size)
            index //= size
        return tuple(reversed(coordinates))

    def _flat(self, index: int) -> int:
        return self.layouts[0].flatten(self._coordinates(index))

    def _labels(self, layout: LinearLayout, place: int | None, inverse: _Inverse) -> str | None:
        """Return the holders as views format them, in hardware order."""
        if place is None:
            return None
        ranks = {position: rank for rank, position in enumerate(_vectors(layout))}
        kernel = [_renumber(vector, self.positions, ranks) for vector in inverse.kernel]
        holders = smallest_members(_renumber(place, self.positions, ranks), kernel, MAX_HOLDERS)
        labels = [place_label(location_at(layout, holder), layout) for holder in holders]
        return "|".join(labels) + ("|.." if len(holders) < 1 << len(kernel) else "")


def _renumber(mask: int, positions: Sequence[Position], ranks: dict[Position, int]) -> int:
    return sum(1 << ranks[p] for number, p in enumerate(positions) if mask >> number & 1)


def smallest_members(value: int, vectors: Sequence[int], count: int) -> list[int]:
    """Return the smallest members of the coset ``value`` + span(vectors), in order.

    Example:
        >>> smallest_members(0b101, [0b100, 0b110], 8)
        [1, 3, 5, 7]
    """
    reduced: list[int] = []
    for vector in vectors:
        vector = _cleared(vector, reduced)
        reduced = [_cleared(other, [vector]) for other in reduced] + [vector]
    reduced.sort()
    members = [_cleared(value, reduced)]
    # With each leading bit in one vector only, members in order of those bits are in order.
    for vector in reduced:
        members += [member ^ vector for member in members]
        if len(members) >= count:
            break
    return members[:count]


def _cleared(value: int, vectors: Sequence[int]) -> int:
    """Return the value with the leading bit of each vector xored away."""
    for vector in vectors:
        if value >> vector.bit_length() - 1 & 1:
            value ^= vector
    return value


def location_at(layout: LinearLayout, mask: int) -> dict[str, int]:
    """Split a mask over all bits of the inputs into the coordinates of a location.

    Example:
        >>> layout = LinearLayout.from_bases([("lane", [[1], [2]]), ("warp", [[4]])], ["dim0"])
        >>> location_at(layout, 0b110)
        {'lane': 2, 'warp': 1}
    """
    place = {}
    for name, vectors in layout.in_bases:
        place[name] = mask & (1 << len(vectors)) - 1
        mask >>= len(vectors)
    return place


def place_label(point: dict[str, int], layout: LinearLayout) -> str:
    """Format a location as views do, such as ``T5:2`` or ``offset 96``.

    Args:
        point: input dimension -> coordinate.
        layout: the layout whose location it is.

    Example:
        >>> lanes = LinearLayout.from_bases([("register", [[1]]), ("lane", [[2]])], ["dim0"])
        >>> place_label({"register": 1, "lane": 1}, lanes)
        'T1:1'
    """
    block = point.get("block", 0)
    prefix = f"B{block}:" if layout.get_in_dim_size("block") > 1 else ""
    if "offset" in point:
        partition = f"partition {point['partition']} " if "partition" in point else ""
        return f"{prefix}{partition}offset {point['offset']}"
    if "row" in point:
        return f"{prefix}R{point['row']}:C{point['col']}"
    thread = point.get("lane", 0) + point.get("warp", 0) * layout.get_in_dim_size("lane")
    return f"{prefix}T{thread}:{point.get('register', 0)}"
