"""Search for the shared layout with the fewest cycles, for given writers and readers.

Each family is searched exhaustively: its parameters are powers of two, and most combinations are
equivalent, so that a few hundred distinct layouts remain.  Each is costed as in
`tt_layout.analyses.shared_memory.banks`; without padding that takes a few ranks over F2 and no
enumeration.

Read next:    `tt_layout.analyses.shared_memory.optimum`, for the best linear layout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import permutations

from tt_layout.algebra.linear_layout import log2
from tt_layout.analyses.shared_memory.banks import as_encoding
from tt_layout.analyses.shared_memory.candidates import SwizzleCandidate, SwizzleProblem
from tt_layout.analyses.shared_memory.optimum import linear_optimum
from tt_layout.arguments import checks_arguments
from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError, TooLargeError
from tt_layout.hardware import Target, find_target
from tt_layout.records import dataclass
from tt_layout.surface import argument

FAMILIES = ("swizzled", "nvmma", "padded")
"""The families in order of simplicity; ``all`` stands for all of them."""

MAX_PAD_BYTES = 128


MAX_RANK = 4
"""Tensors of a higher rank are tried in some orders only: there are 40320 of eight dimensions."""
MAX_WORK = 150_000  # layouts to try, times bits of an offset and half the rank: some seconds


@dataclass(frozen=True)
class SwizzleSearch:
    """Result of a swizzle search.

    Attributes:
        family: the family searched, or ``all``.
        ranking: the distinct members of the family, the best first.
        optimum: the best linear layout that was found.
    """

    family: str
    ranking: tuple[SwizzleCandidate, ...]
    optimum: SwizzleCandidate

    @property
    def best(self) -> SwizzleCandidate | None:
        """The best of the family; None if no member fits the tensor."""
        return self.ranking[0] if self.ranking else None

    @cached_property
    def free_of_conflicts(self) -> bool:
        """Whether any member of the family is conflict-free."""
        return any(not candidate.extra_wavefronts for candidate in self.ranking)

    @property
    def is_whole(self) -> bool:
        """Whether every order of the dimensions was tried, which holds up to rank `MAX_RANK`."""
        return all((candidate.encoding.rank or 0) <= MAX_RANK for candidate in self.ranking)


@checks_arguments
def find_swizzle(
    writers: Sequence[Encoding | str],
    readers: Sequence[Encoding | str],
    shape: Sequence[int],
    *,
    elem_bytes: int,
    target: Target | str = "nvidia",
    family: str = "swizzled",
    max_candidates: int | None = None,
) -> SwizzleSearch:
    """Search a family of shared layouts for the one with the fewest cycles.

    Args:
        writers: register layouts from which the tensor is stored.
        readers: register layouts into which it is loaded.
        shape: sizes of the tensor.
        elem_bytes: bytes of an element.
        target: the GPU.
        family: one of `FAMILIES`, or ``all``.
        max_candidates: maximum number of layouts to try; by default as many as take a few
            seconds.

        Raises:
            LayoutError: a layout is not a register layout or does not fit the shape or the
                target, or there is no access at all.
            TooLargeError: the families have more layouts than the maximum.

    Example:
        A transposition, written by rows and read by columns:

        >>> rows, columns = (
        ...     "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = "
        ...     f"{threads}, warpsPerCTA = [4, 1], order = [1, 0]}}>"
        ...     for threads in ([1, 32], [32, 1]))
        >>> search = find_swizzle([rows], [columns], [128, 32], elem_bytes=4)
        >>> print(search.best.encoding, search.best.extra_wavefronts)
        #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}> 0
    """
    if family not in (*FAMILIES, "all"):
        raise LayoutError(f"unknown family {family!r}; choose from {', '.join(FAMILIES)}, all")
    if elem_bytes < 1:
        raise LayoutError(f"elem_bytes must be at least 1, got {elem_bytes}")
    if not writers and not readers:
        raise LayoutError("nothing to search for: give a writer or a reader")
    hardware = find_target(target)
    storing, loading = (
        [_distributed(encoding) for encoding in side] for side in (writers, readers)
    )
    problem = SwizzleProblem(storing, loading, shape, elem_bytes, hardware)
    if math.prod(problem.shape) == 1:
        raise LayoutError("a tensor of one element has no bank conflicts, and nothing to swizzle")
    _check_count(problem.shape, elem_bytes, family, max_candidates)
    best = linear_optimum(problem)  # first: it raises what is wrong with the layouts
    candidates: list[SwizzleCandidate] = []
    for number, name in enumerate(FAMILIES):
        if family in (name, "all"):
            for encoding, simplicity in MEMBERS[name](problem.shape, elem_bytes):
                if (candidate := _fitting(problem, encoding, (number, *simplicity))) is not None:
                    candidates.append(candidate)
    ranking = tuple(sorted(candidates, key=lambda candidate: candidate.rank))
    linear = [candidate for candidate in ranking if not candidate.encoding.padding][:1]
    if linear and linear[0].cycles < best.cycles:
        best = as_shared_linear(problem, linear[0])
    return SwizzleSearch(family, ranking, best)


def _distributed(layout: Encoding | str) -> DistributedEncoding:
    encoding = as_encoding(layout)
    if not isinstance(encoding, DistributedEncoding):
        message = "writers and readers must be register layouts"
        raise LayoutError(f"{message}, but #{encoding.name} is of {encoding.memory_space}")
    return encoding


def _fitting(
    problem: SwizzleProblem, encoding: SharedEncoding, simplicity: tuple[int, ...]
) -> SwizzleCandidate | None:
    try:
        return problem.evaluate(encoding, simplicity)
    except LayoutError:
        return None  # such as a core matrix larger than the tensor


def as_shared_linear(problem: SwizzleProblem, candidate: SwizzleCandidate) -> SwizzleCandidate:
    """Rewrite a candidate as ``#ttg.shared_linear``."""
    from tt_layout.encodings.shared_linear import SharedLinear

    memory = candidate.encoding.to_linear_layout(problem.shape, element_bits=8 * problem.elem_bytes)
    linear = SharedLinear(offset=memory.vectors("offset"), alignment=16)
    return replace(candidate, encoding=linear)


Members = Iterator[tuple[SharedEncoding, tuple[int, ...]]]


def _orders(rank: int) -> Iterator[tuple[int, ...]]:
    """Yield orders, the row-major one first; beyond `MAX_RANK` one per choice of the fastest two.

    Example:
        >>> list(_orders(2)), len(list(_orders(4))), len(list(_orders(8)))
        ([(1, 0), (0, 1)], 24, 56)
    """
    row_major = tuple(reversed(range(rank)))
    for fastest in permutations(row_major, rank if rank <= MAX_RANK else 2):
        yield (*fastest, *(dim for dim in row_major if dim not in fastest))


def _check_count(
    shape: tuple[int, ...], elem_bytes: int, family: str, max_candidates: int | None
) -> None:
    """Raise an error if there are more layouts to try than allowed, before any is made."""
    bits = sum(map(log2, shape))
    size = max(1, bits) * max(1, len(shape) // 2)
    most = MAX_WORK // size if max_candidates is None else max_candidates
    chosen = FAMILIES if family == "all" else (family,)
    count = sum(COUNTS[name](shape, elem_bytes) for name in chosen)
    if count > most:
        raise TooLargeError(
            f"the search would try {count} layouts, more than the limit of {most}; "
            f"{argument('max_candidates', count)} tries them all"
        )


def _count_swizzled(shape: tuple[int, ...], elem_bytes: int) -> int:
    """Count the layouts that `_swizzled` yields."""
    if len(shape) < 2:
        return 1
    orders = math.factorial(len(shape) - 2) if len(shape) <= MAX_RANK else 1
    count = 0
    for columns, rows in permutations(map(log2, shape), 2):
        phases = range(1, min(columns, rows) + 1)
        count += 1 + sum((columns - p + 1) * (rows - p + 1) for p in phases)
    return count * orders


def _count_padded(shape: tuple[int, ...], elem_bytes: int) -> int:
    """Count the layouts that `_padded` yields."""
    pads = log2(MAX_PAD_BYTES // elem_bytes) + 1
    rank = len(shape)
    orders = math.factorial(rank) if rank <= MAX_RANK else rank * (rank - 1)
    return orders * max(0, sum(map(log2, shape)) - 1) * pads


COUNTS: dict[str, Callable[[tuple[int, ...], int], int]] = {
    "swizzled": _count_swizzled,
    "nvmma": lambda shape, elem_bytes: 8,
    "padded": _count_padded,
}


def _swizzled(shape: tuple[int, ...], elem_bytes: int) -> Members:
    """Yield the distinct swizzled_shared layouts of a shape.

    Beyond ``vec * maxPhase`` columns and ``perPhase * maxPhase`` rows phases only repeat.
    """
    for number, order in enumerate(_orders(len(shape))):
        yield SwizzledShared(vec=1, per_phase=1, max_phase=1, order=order), (1, 1, 1, number)
        if len(shape) < 2:
            continue
        columns, rows = log2(shape[order[0]]), log2(shape[order[1]])
        for phases in range(1, min(columns, rows) + 1):
            for vec in range(columns - phases + 1):
                for per in range(rows - phases + 1):
                    powers = 1 << phases, 1 << per, 1 << vec
                    member = SwizzledShared(
                        vec=powers[2], per_phase=powers[1], max_phase=powers[0], order=order
                    )
                    yield member, (*powers, number)


def _nvmma(shape: tuple[int, ...], elem_bytes: int) -> Members:
    """Yield the nvmma_shared layouts."""
    for width in (0, 32, 64, 128):
        for transposed in (False, True):
            member = NvmmaShared(
                swizzling_byte_width=width,
                transposed=transposed,
                element_bit_width=8 * elem_bytes,
                rank_key=len(shape) if len(shape) != 2 else None,
            )
            yield member, (width, int(transposed))


def _padded(shape: tuple[int, ...], elem_bytes: int) -> Members:
    """Yield the padded_shared layouts with one padding of at most a row of banks."""
    elements = math.prod(shape)
    for number, order in enumerate(_orders(len(shape))):
        offset = SwizzledShared(vec=1, per_phase=1, max_phase=1, order=order).to_linear_layout(
            shape
        )
        for interval in range(1, log2(elements)):
            for pad in range(log2(MAX_PAD_BYTES // elem_bytes) + 1):
                pair = 1 << interval, 1 << pad
                member = PaddedShared(paddings=(pair,), offset=offset.vectors("offset"))
                yield member, (pair[1], -pair[0], number)


MEMBERS = {"swizzled": _swizzled, "nvmma": _nvmma, "padded": _padded}


def members(family: str, shape: tuple[int, ...], elem_bytes: int) -> Members:
    """Return the distinct layouts of a family for a shape, with a measure of simplicity.

    Example:
        >>> len(list(members("nvmma", (64, 64), 2)))
        8
    """
    return MEMBERS[family](shape, elem_bytes)
