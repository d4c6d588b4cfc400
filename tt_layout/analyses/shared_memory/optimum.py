"""The shared layout with the fewest cycles among all linear layouts.

A linear layout of shared memory is an order of basis vectors: first those inside a vector, then
those that select the banks, then the *segments*, that is, the rows of banks.  Two lanes of a phase
conflict exactly when they differ by a segment direction.  So with V the span of the vector and P
the span of the lanes of an access's phase, an access is conflict-free when the span of the segments
intersects P + V only in 0.

Segments are therefore chosen one by one, each outside the span of those so far and of P + V, for as
many accesses as possible.  For one or two accesses such a vector exists as long as there is room,
because over F2 no space is the union of two proper subspaces; for more the choice is greedy.  The
vector determines the width of each access: candidates are the registers that all accesses share,
and each access's own.  Every result is costed like any other layout, and the best is kept.

Source:
    arXiv 2505.23819, "Optimal Swizzling"; Triton, lib/Tools/GenericSwizzling.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import xor

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.span import F2Span
from tt_layout.analyses.shared_memory.access import MATRIX_ROW_BYTES
from tt_layout.analyses.shared_memory.candidates import SwizzleCandidate, SwizzleProblem
from tt_layout.encodings.shared_linear import SharedLinear

Vectors = list[int]
"""Vectors of tensor bits, packed into ints, dimension 0 lowest."""

MAX_TRIED = 1 << 9
"""Sums of two or more directions that are tried as a segment."""


def linear_optimum(problem: SwizzleProblem) -> SwizzleCandidate:
    """Return the best linear layout of shared memory found, as shared_linear."""
    candidates: dict[tuple[tuple[int, ...], ...], SwizzleCandidate] = {}
    for offset in _layouts(problem):
        if offset not in candidates:
            encoding = SharedLinear(offset=offset, alignment=16)
            moved = sum(sum(map(bool, vector)) > 1 for vector in offset)
            candidates[offset] = problem.evaluate(encoding, (moved, len(candidates)))
    return min(candidates.values(), key=lambda candidate: candidate.rank)


def _layouts(problem: SwizzleProblem) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the offset bases of every candidate."""
    accesses = [_Flat(linear, is_store) for linear, is_store in problem.registers]
    bits = log2(problem.elements)
    seen = set()
    for vector in _vectors(problem, accesses):
        key = tuple(vector)
        if key in seen:
            continue
        seen.add(key)
        for order in (accesses, accesses[::-1]):
            segments = _segments(problem, order, vector, bits)
            banks = _complement([*vector, *segments], bits, order)
            yield tuple(_unpack(problem.shape, v) for v in (*vector, *banks, *segments))


class _Flat:
    """The basis vectors of a layout as packed tensor bits."""

    def __init__(self, layout: LinearLayout, is_store: bool) -> None:
        self.is_store = is_store
        self.register, self.lane, self.warp = (
            [layout.flatten(vector) for vector in layout.vectors(name)]
            for name in ("register", "lane", "warp")
        )
        self.register = [vector for vector in self.register if vector]

    def mask(self, lanes: int) -> int:
        """Return the tensor bits that a mask of lane bits moves."""
        return reduce(xor, (v for k, v in enumerate(self.lane) if lanes >> k & 1), 0)


def _vectors(problem: SwizzleProblem, accesses: Sequence[_Flat]) -> Iterator[Vectors]:
    """Yield candidates of the vector: registers of all accesses, then of some."""
    most = log2(problem.target.max_vector_bytes // problem.elem_bytes)
    word = log2(max(1, problem.target.bank_bytes // problem.elem_bytes))
    common = reduce(_intersection, [list(access.register) for access in accesses])
    for size in range(min(most, len(common)), -1, -1):
        start = common[:size]
        yield start
        for access in accesses:
            for limit in {most, word}:
                yield _extended(start, access.register, limit)
                yield _extended(start, [*access.lane[:2], *access.register], limit)
    row = log2(MATRIX_ROW_BYTES // problem.elem_bytes)
    for access in accesses:  # the rows that the matrix instructions take
        yield _extended(_extended([], access.register, word), access.lane[:2], row)
        yield _extended([], access.lane[2:], row)


def _intersection(first: Vectors, second: Vectors) -> Vectors:
    """Return a basis of the vectors in both spans."""
    other = F2Span(second)
    plain = [vector for vector in first if other.express(vector) is not None]
    rest = [vector for vector in first if vector not in plain]
    columns = [*second, *rest]
    common = list(plain)
    for index, vector in enumerate(rest):
        mask = F2Span(columns[: len(second) + index]).express(vector)
        if mask is not None:
            chosen = [v for k, v in enumerate(columns) if mask >> k & 1 and k >= len(second)]
            common.append(reduce(xor, chosen, vector))
    return common


def _extended(start: Vectors, addition: Vectors, size: int) -> Vectors:
    """Return at most ``size`` independent vectors of ``start``, then of ``addition``."""
    vectors = list(start)
    for vector in addition:
        if len(vectors) < size and F2Span(vectors).express(vector) is None:
            vectors.append(vector)
    return vectors


def _segments(
    problem: SwizzleProblem, accesses: Sequence[_Flat], vector: Vectors, bits: int
) -> Vectors:
    """Choose the directions from one row of banks to the next."""
    row = log2(problem.target.banks * problem.target.bank_bytes // problem.elem_bytes)
    room = max(0, bits - row)
    avoid = [[*vector, *_phase(problem, access, vector)] for access in accesses]
    segments: Vectors = []
    pool = _directions(accesses, bits)
    while len(segments) < room:
        spans = [F2Span([*vectors, *segments]) for vectors in avoid]
        proper = [span for span in spans if span.rank < bits]  # nothing is outside of the others
        segments.append(_outside(pool, F2Span([*vector, *segments]), proper))
    return segments


def _outside(pool: Vectors, taken: F2Span, spans: Sequence[F2Span]) -> int:
    """Return a new direction that is outside as many spans as possible."""
    best, most = 0, -1
    for vector in pool:
        if taken.express(vector) is None:
            outside = sum(span.express(vector) is None for span in spans)
            if outside > most:
                best, most = vector, outside
            if most == len(spans):
                break
    return best


def _phase(problem: SwizzleProblem, access: _Flat, vector: Vectors) -> Vectors:
    """Return the directions in which the lanes of one phase differ."""
    registers, bits = F2Span(access.register), 0
    while bits < len(vector) and registers.express(vector[bits]) is not None:
        bits += 1
    width = problem.elem_bytes << bits
    masks = problem.target.phase(width, access.is_store).masks
    return [access.mask(mask) for mask in masks]


def _directions(accesses: Sequence[_Flat], bits: int) -> Vectors:
    """Return single tensor bits, then sums of two, then sums of bases of different accesses.

    All sums of a complement are among them if they are few, so that a direction outside two
    subspaces is found if there is one.
    """
    units = [1 << bit for bit in reversed(range(bits))]
    bases = [[*a.register, *a.lane, *a.warp] for a in accesses]
    pairs = [a ^ b for first in bases for second in bases for a in first for b in second]
    twos = [a ^ b for i, a in enumerate(units) for b in units[:i]]
    sums = range(1, min(1 << bits, MAX_TRIED))
    return [v for v in dict.fromkeys([*units, *twos, *pairs, *sums]) if v]


def _complement(vectors: Vectors, bits: int, accesses: Sequence[_Flat]) -> Vectors:
    """Return the vectors that complete a basis of all elements, registers of the accesses first."""
    pool = [v for access in accesses for v in access.register]
    pool += [1 << bit for bit in range(bits)]
    basis, span = list(vectors), F2Span(vectors)
    for vector in pool:
        if span.express(vector) is None:
            basis.append(vector)
            span = F2Span(basis)
    return basis[len(vectors) :]


def _unpack(shape: Sequence[int], vector: int) -> tuple[int, ...]:
    """Return the coordinates of packed tensor bits."""
    point = []
    for size in shape:
        point.append(vector % size)
        vector //= size
    return tuple(point)
