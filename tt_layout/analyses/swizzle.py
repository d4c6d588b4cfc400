"""The layout of shared memory with the fewest turns, for given writers and readers.

Each family is searched whole: its parameters are powers of two, and most of them repeat each
other, so that a few hundred distinct layouts are left.  Each is costed as in
`tt_layout.analyses.banks`; without padding that takes some ranks over F2 and no enumeration.

Read next:    `tt_layout.analyses.optimum`, for the best of all linear layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.padding import padded_size
from tt_layout.analyses.access import AccessMap, access_map
from tt_layout.analyses.banks import Access, as_encoding, check_lanes, cost
from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target

FAMILIES = ("swizzled", "nvmma", "padded")
"""The families in order of simplicity; ``all`` stands for all of them."""

MAX_PAD_BYTES = 128


MAX_RANK = 4
"""Tensors of a higher rank are tried in some orders only: there are 40320 of eight dimensions."""


@dataclass(frozen=True)
class Candidate:
    """A layout of shared memory and what the accesses cost with it.

    Attributes:
        encoding: the layout.
        accesses: the stores of the writers, then the loads of the readers.
        memory_bytes: bytes that the tensor takes, padding included.
        simplicity: ranks equals; less is simpler.
    """

    encoding: SharedEncoding
    accesses: tuple[Access, ...]
    memory_bytes: int
    simplicity: tuple[int, ...]

    @property
    def wavefronts(self) -> int | float:
        """Turns per warp, over all accesses."""
        return sum(access.wavefronts for access in self.accesses)

    @property
    def excess(self) -> int | float:
        """Turns per warp that are due to conflicts."""
        return sum(access.excess * access.instructions for access in self.accesses)

    @property
    def rank(self) -> tuple[Any, ...]:
        """What candidates are sorted by: turns, memory, instructions, and then simplicity."""
        instructions = sum(access.instructions for access in self.accesses)
        return self.wavefronts, self.memory_bytes, instructions, self.simplicity


@dataclass(frozen=True)
class SwizzleSearch:
    """What a search found.

    Attributes:
        family: the family searched, or ``all``.
        ranking: the distinct members of the family, the best first.
        optimum: the best of all linear layouts that was found.
    """

    family: str
    ranking: tuple[Candidate, ...]
    optimum: Candidate

    @property
    def best(self) -> Candidate | None:
        """The best of the family; None where no member fits the tensor."""
        return self.ranking[0] if self.ranking else None

    @cached_property
    def free_of_conflicts(self) -> bool:
        """Whether any member of the family is free of conflicts."""
        return any(not candidate.excess for candidate in self.ranking)

    @property
    def is_whole(self) -> bool:
        """Whether every order of the dimensions was tried: up to `MAX_RANK` of them."""
        return all((found.encoding.rank or 0) <= MAX_RANK for found in self.ranking)


class Problem:
    """Writers and readers of one tensor on one target.

    Attributes:
        held: the linear layout of each access and whether it writes.
        shape, elem_bytes, target: as given.
    """

    def __init__(
        self,
        writers: Sequence[DistributedEncoding],
        readers: Sequence[DistributedEncoding],
        shape: Sequence[int],
        elem_bytes: int,
        target: Target,
    ) -> None:
        self.shape, self.elem_bytes, self.target = tuple(shape), elem_bytes, target
        self.held: list[tuple[LinearLayout, bool]] = []
        self._known: dict[LinearLayout, list[AccessMap]] = {}
        for layouts, is_store in ((writers, True), (readers, False)):
            for layout in layouts:
                held = layout.to_linear_layout(shape, element_bits=8 * elem_bytes)
                if any(any(vector) for vector in held.vectors("block")):
                    raise LayoutError("only layouts of a single CTA can be searched for")
                self.held.append((held, is_store))

    @property
    def elements(self) -> int:
        """The number of elements of the tensor."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    def try_out(self, encoding: SharedEncoding, simplicity: tuple[int, ...]) -> Candidate:
        """Return what the accesses cost with a layout.

        Raises:
            LayoutError: the layout does not fit the tensor, or a warp the target.
        """
        memory = encoding.to_linear_layout(self.shape, element_bits=8 * self.elem_bytes)
        accesses = []
        for places, (_, is_store) in zip(self._places(memory), self.held):
            places = replace(places, padding=encoding.padding)
            accesses.append(cost(places, self.target, is_store=is_store))
        slots = padded_size(memory.get_in_dim_size("offset"), encoding.padding)
        return Candidate(encoding, tuple(accesses), slots * self.elem_bytes, simplicity)

    def _places(self, memory: LinearLayout) -> list[AccessMap]:
        """Return where every access finds its places; found once per order of memory."""
        if memory not in self._known:
            self._known[memory] = [
                access_map(held, memory, self.elem_bytes) for held, _ in self.held
            ]
            for places in self._known[memory]:
                check_lanes(places, self.target)
        return self._known[memory]


def find_swizzle(
    writers: Sequence[Encoding | str],
    readers: Sequence[Encoding | str],
    shape: Sequence[int],
    *,
    elem_bytes: int,
    target: Target | str = "nvidia",
    family: str = "swizzled",
) -> SwizzleSearch:
    """Search a family of shared layouts for the one with the fewest turns.

    Args:
        writers: layouts of registers from which the tensor is stored.
        readers: layouts of registers into which it is loaded.
        shape: sizes of the tensor.
        elem_bytes: bytes of an element.
        target: the GPU.
        family: one of `FAMILIES`, or ``all``.

    Raises:
        LayoutError: a layout is not one of registers or does not fit the shape or the
            target, or there is no access at all.

    Example:
        A transposition, written by rows and read by columns:

        >>> rows, columns = (
        ...     "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = "
        ...     f"{threads}, warpsPerCTA = [4, 1], order = [1, 0]}}>"
        ...     for threads in ([1, 32], [32, 1]))
        >>> search = find_swizzle([rows], [columns], [128, 32], elem_bytes=4)
        >>> print(search.best.encoding, search.best.excess)
        #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}> 0
    """
    from tt_layout.analyses.optimum import linear_optimum

    if family not in (*FAMILIES, "all"):
        raise LayoutError(f"unknown family {family!r}; there are {', '.join(FAMILIES)} and all")
    if not writers and not readers:
        raise LayoutError("nothing to search for: give a writer or a reader")
    hardware = find_target(target) if isinstance(target, str) else target
    storing, loading = ([_distributed(one) for one in side] for side in (writers, readers))
    problem = Problem(storing, loading, shape, elem_bytes, hardware)
    best = linear_optimum(problem)  # first: it raises what is wrong with the layouts
    found: list[Candidate] = []
    for number, name in enumerate(FAMILIES):
        if family in (name, "all"):
            for encoding, simplicity in _MEMBERS[name](problem.shape, elem_bytes):
                if (candidate := _fitting(problem, encoding, (number, *simplicity))) is not None:
                    found.append(candidate)
    ranking = tuple(sorted(found, key=lambda candidate: candidate.rank))
    linear = [candidate for candidate in ranking if not candidate.encoding.padding][:1]
    if linear and (linear[0].wavefronts, linear[0].excess) < (best.wavefronts, best.excess):
        best = as_shared_linear(problem, linear[0])
    return SwizzleSearch(family, ranking, best)


def _distributed(layout: Encoding | str) -> DistributedEncoding:
    encoding = as_encoding(layout)
    if not isinstance(encoding, DistributedEncoding):
        message = "writers and readers are layouts of registers"
        raise LayoutError(f"{message}, but #{encoding.name} is of {encoding.memory_kind}")
    return encoding


def _fitting(
    problem: Problem, encoding: SharedEncoding, simplicity: tuple[int, ...]
) -> Candidate | None:
    try:
        return problem.try_out(encoding, simplicity)
    except LayoutError:
        return None  # such as a core matrix larger than the tensor


def as_shared_linear(problem: Problem, candidate: Candidate) -> Candidate:
    """Return the same layout written as ``#ttg.shared_linear``."""
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
    """Yield the padded_shared layouts with one padding, of a row of banks at most."""
    elements = 1
    for size in shape:
        elements *= size
    for number, order in enumerate(_orders(len(shape))):
        offset = SwizzledShared(vec=1, per_phase=1, max_phase=1, order=order).to_linear_layout(
            shape
        )
        for interval in range(1, log2(elements)):
            for pad in range(log2(MAX_PAD_BYTES // elem_bytes) + 1):
                pair = 1 << interval, 1 << pad
                member = PaddedShared(paddings=(pair,), offset=offset.vectors("offset"))
                yield member, (pair[1], -pair[0], number)


_MEMBERS = {"swizzled": _swizzled, "nvmma": _nvmma, "padded": _padded}
