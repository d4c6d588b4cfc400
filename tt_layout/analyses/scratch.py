"""The buffer through which the compiler takes a conversion, and how large it is.

The buffer is laid out as *vector* bits (what one thread stores or loads at once), *bank* bits
(what one wavefront serves beside that) and *segment* bits (where two elements of one bank
lie).  Segment bits that are registers on both sides need no memory: the conversion is done in
that many *rounds* through one buffer.  So, with one CTA's part of the tensor of 2^n elements:

    bytes = 2^n * bytes of an element / rounds

How many rounds there are depends on which bits the compiler takes for the vector, and which
for the segment; that choice is followed here step by step.

Source:
    Triton, lib/Tools/GenericSwizzling.cpp, optimalSwizzling and optimalSwizzlingLdSt, and
    getNumScratchElemsSwizzledCvt; bytes confirmed on lowered conversions of 3.9.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.analyses.conversion import classify, without_copies
from tt_layout.errors import LayoutError

Columns = list[int]

BANK_BITS = 32
VECTOR_BITS = 128  # the widest access of one thread


@dataclass(frozen=True)
class Instruction:
    """How an instruction deals a vector and a wavefront out over lanes.

    Attributes:
        vector_lanes: bits of the lane that belong to the 16 bytes of one address.
        wavefront_lanes: bits of the lane that give the addresses of one wavefront.
    """

    vector_lanes: tuple[int, ...]
    wavefront_lanes: tuple[int, ...]


PLAIN = Instruction((), (0, 1, 2))
MATRIX = Instruction((0, 1), (2, 3, 4))
MATRIX_TRANSPOSED = Instruction((2, 3, 4), (0, 1))


@dataclass(frozen=True, kw_only=True)
class ScratchTarget:
    """What a GPU offers for a trip through shared memory.

    Attributes:
        name: such as ``sm90`` or ``gfx942``.
        banks: banks of four bytes.
        matrix_loads, matrix_stores: whether there are ``ldmatrix`` and ``stmatrix``.
        load_lanes: which bits of the lane may make up one wavefront of a 16-byte load, beside
            the lowest ones; the compiler takes the choice that needs the least memory.
    """

    name: str
    banks: int = 32
    matrix_loads: bool = False
    matrix_stores: bool = False
    load_lanes: tuple[tuple[int, ...], ...] = ()

    @property
    def is_nvidia(self) -> bool:
        """Whether the compiler weighs instructions against each other."""
        return self.name.startswith("sm")


def scratch_target(name: str) -> ScratchTarget:
    """Return what is known of a GPU by its name.

    Raises:
        LayoutError: the name is of another form.

    Example:
        >>> scratch_target("sm90").matrix_stores, scratch_target("gfx942").load_lanes
        (True, ((0, 1, 4),))

    Source:
        Triton, third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp, getSharedLdStTiles.
        Bytes confirmed on 3.9 for sm80, sm90, gfx90a, gfx942 and gfx950; of other AMD GPUs
        they are assumed.
    """
    if match := re.fullmatch(r"sm_?(\d+)[af]?", name):
        capability = int(match[1])
        return ScratchTarget(
            name=name, matrix_loads=capability >= 75, matrix_stores=capability >= 90
        )
    if re.fullmatch(r"gfx950|gfx125\w+", name):
        return ScratchTarget(name=name, banks=64, load_lanes=((0, 1, 3, 4), (0, 1, 2, 4)))
    if re.fullmatch(r"gfx(94|10|11)\w+", name):
        return ScratchTarget(name=name, load_lanes=((0, 1, 4),))
    if re.fullmatch(r"gfx\w+", name):
        return ScratchTarget(name=name)
    raise LayoutError(f"a target must be such as sm80, sm90, gfx942 or gfx950, got {name!r}")


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """The buffer of a conversion through shared memory.

    Attributes:
        bytes: its size, per CTA.
        rounds: how many times it is filled and read.
        store, load: the instructions: ``st.shared`` and the like, or matrix ones.
    """

    bytes: int
    rounds: int
    store: str
    load: str


def scratch(src: LinearLayout, dst: LinearLayout, element_bits: int, target: str) -> Scratch | None:
    """Return the buffer that a conversion takes, or None where it takes none.

    Args:
        src, dst: the layouts.
        element_bits: width of an element, a power of two; less than a byte counts as one.
        target: the GPU, such as ``sm90``.

    Example:
        >>> lanes = [[1], [2], [4], [8], [16]]
        >>> src = LinearLayout.from_bases([("lane", lanes), ("warp", [[32]])], ["dim0"])
        >>> lanes[4] = [32]
        >>> dst = LinearLayout.from_bases([("lane", lanes), ("warp", [[16]])], ["dim0"])
        >>> scratch(src, dst, 32, "sm80")
        Scratch(bytes=256, rounds=1, store='st.shared', load='ld.shared')
    """
    gpu = scratch_target(target)
    if not classify(src, dst).needs_shared_memory:
        return None
    bits = max(8, element_bits)
    _check(src, bits, gpu)
    pair = _Pair.of(without_copies(src), without_copies(dst), bits, gpu)
    candidates = (pair.by_instruction() if gpu.is_nvidia else []) or [pair.plain()]
    best = min(candidates, key=lambda c: (c.conflicts, -c.rounds))
    size = (bits // 8) << pair.dim - log2(best.rounds) - len(pair.blocks)
    return Scratch(bytes=size, rounds=best.rounds, store=best.store, load=best.load)


def _check(layout: LinearLayout, bits: int, gpu: ScratchTarget) -> None:
    if bits & bits - 1 or bits > VECTOR_BITS:
        raise LayoutError(f"elements of {bits} bits do not go through shared memory")
    lanes, known = layout.get_in_dim_size("lane"), (32,) if gpu.is_nvidia else (32, 64)
    if lanes not in known:
        counts = " or ".join(map(str, known))
        raise LayoutError(f"{gpu.name} has {counts} lanes per warp, but the layouts have {lanes}")


@dataclass(frozen=True)
class _Candidate:
    """A buffer that the compiler weighs."""

    conflicts: int
    rounds: int
    store: str
    load: str


@dataclass(frozen=True)
class _Side:
    """One side of a conversion, each basis packed into an int."""

    registers: Columns
    lanes: Columns
    warps: Columns

    @classmethod
    def of(cls, layout: LinearLayout) -> _Side:
        def columns(name: str) -> Columns:
            return [layout.flatten(v) for v in layout.vectors(name)]

        return cls(columns("register"), columns("lane"), [c for c in columns("warp") if c])


@dataclass(frozen=True)
class _Pair:
    """Both sides of a conversion and what the choice of a buffer asks of them."""

    layouts: tuple[LinearLayout, LinearLayout]
    src: _Side
    dst: _Side
    blocks: Columns
    dim: int
    bits: int
    gpu: ScratchTarget
    crosses: bool = field(default=False)

    @classmethod
    def of(cls, src: LinearLayout, dst: LinearLayout, bits: int, gpu: ScratchTarget) -> _Pair:
        blocks = [c for c in (src.flatten(v) for v in src.vectors("block")) if c]
        crosses = not _is_trivial_over_blocks(dst.invert_and_compose(src))
        sides = _Side.of(src), _Side.of(dst)
        return cls((src, dst), *sides, blocks, src.total_out_bits, bits, gpu, crosses)

    # -- plain loads and stores ----------------------------------------------------------

    def plain(self) -> _Candidate:
        """Return the buffer of ordinary loads and stores."""
        vector = self.vector()
        log_words = log2(max(1, (self.bits << len(vector)) // BANK_BITS))
        banks = log2(self.gpu.banks)
        count = len(self.src.lanes) - max(0, log_words + len(self.src.lanes) - banks)
        loads = [self.dst.lanes[:count]]
        if self.bits << len(vector) == VECTOR_BITS:
            loads += [[self.dst.lanes[k] for k in choice] for choice in self.gpu.load_lanes]
        stored = self.src.lanes[:count]
        rounds = max(self.segment(vector, (stored, load), leave=0)[1] for load in loads)
        names = ("st.shared", "ld.shared") if self.gpu.is_nvidia else ("ds_write", "ds_read")
        return _Candidate(0, rounds, *names)

    def vector(self) -> Columns:
        """Return the bits of a vector: registers of both sides, filled up to a whole bank."""
        registers = self.src.registers, self.dst.registers
        vector = intersection(*registers, self.dim)[: log2(VECTOR_BITS // self.bits)]
        wanted = log2(max(1, BANK_BITS // self.bits))
        if len(vector) >= wanted:
            return vector
        rest = [[c for c in own if c not in vector] for own in registers]
        halves = (
            intersection(rest[0], self.dst.warps, self.dim),
            intersection(rest[1], self.src.warps, self.dim),
        )
        if len(halves[0]) == len(halves[1]) > 0:
            vector = vector + min(halves, key=min)
        else:
            vector = vector + (halves[0] if len(halves[0]) > len(halves[1]) else halves[1])
        if len(vector) < wanted:
            vector = vector + intersection(self.src.warps, self.dst.warps, self.dim)
        return self._filled_with_warps(vector, wanted)[:wanted]

    def _filled_with_warps(self, vector: Columns, wanted: int) -> Columns:
        warps = self.src.warps, self.dst.warps
        for k in range(max(map(len, warps))):
            for own in warps:
                is_new = k < len(own) and own[k] not in vector
                is_local = own is self.src.warps or k >= len(own) or own[k] not in self.blocks
                if len(vector) < wanted and is_new and is_local:
                    vector = [*vector, own[k]]
        return vector

    # -- instructions weighed against each other --------------------------------------------

    def by_instruction(self) -> list[_Candidate]:
        """Return the buffers of all pairs of instructions with vectors of 16 bytes."""
        stores = {"st.shared": PLAIN} | self._matrix("stmatrix", self.gpu.matrix_stores)
        can_load = self.gpu.matrix_loads and not self.crosses
        loads = {"ld.shared": PLAIN} | self._matrix("ldmatrix", can_load)
        candidates = []
        for store, storing in stores.items():
            for load, loading in loads.items():
                found = self._candidate(storing, loading)
                if found is not None:
                    candidates.append(_Candidate(*found, store, load))
        return candidates

    def _matrix(self, name: str, is_there: bool) -> dict[str, Instruction]:
        if not is_there or self.bits > BANK_BITS:
            return {}
        found = {name: MATRIX}
        return {**found, f"{name}.trans": MATRIX_TRANSPOSED} if self.bits == 16 else found

    def _candidate(self, storing: Instruction, loading: Instruction) -> tuple[int, int] | None:
        """Return conflicts and rounds of a pair of instructions, or None if it does not fit."""
        vector = self._common_vector(storing, loading)
        if vector is None:
            return None
        tiles = _tile(storing, self.src, vector), _tile(loading, self.dst, vector)
        if tiles[0] is None or tiles[1] is None:
            return None
        pair = (storing, loading)
        leave = min(len(i.vector_lanes) + len(i.wavefront_lanes) - 3 for i in pair)
        segment, rounds = self.segment(vector, (tiles[0], tiles[1]), leave)
        turns = sum((1 << len(intersection(segment, t, self.dim))) - 1 for t in tiles if t)
        return turns, rounds

    def _common_vector(self, storing: Instruction, loading: Instruction) -> Columns | None:
        """Return the 16 bytes that both instructions move at once, or None."""
        (wide, wide_side, wide_layout), (narrow, side, layout) = sorted(
            zip((storing, loading), (self.src, self.dst), self.layouts),
            key=lambda one: len(one[0].vector_lanes),
        )
        registers = [log2(VECTOR_BITS // self.bits) - len(i.vector_lanes) for i in (wide, narrow)]
        if registers[1] < 0:
            return None
        both = (self.src, self.dst) if wide_side is self.src else (self.dst, self.src)
        vector = intersection(both[0].registers, both[1].registers, self.dim)
        if len(vector) < registers[1]:
            return None
        lanes = [wide_side.lanes[k] for k in wide.vector_lanes]
        own = [side.lanes[k] for k in narrow.vector_lanes]
        if 0 in (*lanes, *own):
            return None
        composed = layout.invert_and_compose(wide_layout)
        at = {name: k for k, name in enumerate(composed.get_out_dim_names())}
        images = [composed.vectors("lane")[k] for k in narrow.vector_lanes]
        count = registers[0] - registers[1]
        if any(image[at["register"]] == 0 for image in images[:count]):
            return None
        if [image[at["lane"]] for image in images[count:]] != [1 << k for k in wide.vector_lanes]:
            return None
        return vector[: registers[1]] + own

    # -- the buffer -----------------------------------------------------------------------

    def segment(
        self, vector: Columns, tiles: tuple[Columns, Columns], leave: int
    ) -> tuple[Columns, int]:
        """Return the segment bits without those of the rounds, and the number of rounds.

        Args:
            vector: the vector bits.
            tiles: the lanes of one wavefront on either side.
            leave: so many bits are not made rounds, though they could be.
        """
        free = self.dim - len(vector) - len(self.blocks)
        banks = log2(self.gpu.banks * BANK_BITS // (self.bits << len(vector)))
        wanted = free - min(banks, free)
        busy = [{c for c in (*vector, *tile, *self.blocks) if c} for tile in tiles]
        segment = _segment(busy, self.dim, wanted)
        common = set(self.src.registers) & set(self.dst.registers)
        shared = [c for c in dict.fromkeys(segment) if c in common]
        rounds = set(shared[leave:])
        return [c for c in segment if c not in rounds], 1 << len(rounds)


def _segment(busy: Sequence[set[int]], dim: int, wanted: int) -> Columns:
    """Return segment bits: first those that no wavefront moves in, then xors of two."""
    segment = [1 << k for k in range(dim) if all(1 << k not in own for own in busy)][:wanted]
    if len(segment) == wanted:
        return segment
    fewer, more = sorted((sorted(a - b) for a, b in (busy, busy[::-1])), key=len)
    clashes = min(max(0, wanted - len(fewer) - len(segment)), len(fewer))
    segment += [a ^ b for a, b in list(zip(fewer, more))[clashes:]]
    return (segment + fewer[:clashes] + more[:clashes])[:wanted]


def _tile(instruction: Instruction, side: _Side, vector: Columns) -> Columns | None:
    """Return the bits that move in a wavefront beside the vector, or None if too few."""
    missing = 3 - len(instruction.wavefront_lanes)
    spare = [c for c in side.registers if c not in vector][:missing]
    if len(spare) < missing:
        return None
    return spare + [side.lanes[k] for k in instruction.wavefront_lanes]


def _is_trivial_over_blocks(composed: LinearLayout) -> bool:
    """Tell whether each CTA reads its own elements."""
    at = composed.get_out_dim_names().index("block")
    return all(
        vector[at] == (1 << bit if name == "block" else 0)
        and (name != "block" or not any(x for k, x in enumerate(vector) if k != at))
        for name, vectors in composed.in_bases
        for bit, vector in enumerate(vectors)
    )


# -- linear algebra ---------------------------------------------------------------------------


def intersection(first: Sequence[int], second: Sequence[int], dim: int) -> Columns:
    """Return a basis of what two lists of vectors both span.

    Where all are single bits, it is those in both, in the order of the first.

    Example:
        >>> intersection([4, 1, 2], [1, 4], dim=3), intersection([3, 4], [1, 2], dim=3)
        ([4, 1], [3])
    """
    if all(c & c - 1 == 0 and c for c in (*first, *second)):
        return [c for c in first if c in second]
    return null_space([*null_space(first, dim), *null_space(second, dim)], dim)


def null_space(rows: Iterable[int], dim: int) -> Columns:
    """Return the vectors that have an even number of bits in common with every row.

    Example:
        >>> null_space([0b011], dim=3)
        [3, 4]
    """
    reduced: dict[int, int] = {}
    for row in rows:
        for pivot, other in reduced.items():
            if row >> pivot & 1:
                row ^= other
        if row:
            pivot = (row & -row).bit_length() - 1
            reduced = {p: o ^ row if o >> pivot & 1 else o for p, o in reduced.items()}
            reduced[pivot] = row
    return [
        1 << free | sum(1 << pivot for pivot, row in reduced.items() if row >> free & 1)
        for free in range(dim)
        if free not in reduced
    ]
