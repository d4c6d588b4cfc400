"""The swizzled buffer that the compiler chooses for a conversion through shared memory.

The buffer of a conversion is a linear layout made for the pair of layouts.  Its offset bits
are, from the lowest:

    vector     the bytes at one address: 16 for the widest and for matrix instructions
    bank       the rest of one wavefront
    segment    the row within a bank

Segment bits that are registers on both sides need no memory: the conversion is done in *rounds*
through one buffer, one for each value of those registers.  An access is conflict-free when
no lane of a wavefront moves within the segment; the compiler looks for such segment bits for
both sides among single tensor bits, then among xors of two.  With 4 banks, rows stored, columns
loaded, and the element of row r and column c written rc:

    bank         0  1  2  3              bank         0  1  2  3
    segment 0    00 01 02 03             segment 0    00 01 02 03
            1    10 11 12 13                     1    11 10 13 12
            2    20 21 22 23                     2    22 23 20 21
            3    30 31 32 33                     3    33 32 31 30

    segment bits r0, r1: a column is     segment bits r0^c0, r1^c1: the element rc is in bank
    in one bank, four wavefronts         r^c, rows and columns in all banks, one wavefront

Tensor bits are packed into ints, dimension 0 lowest.

Read next:    `tt_layout.analyses.conversion.compiled_conversion`.

Source:
    Triton, lib/Tools/GenericSwizzling.cpp, optimalSwizzling and optimalSwizzlingLdSt; which
    instructions are weighed: getSrcDstTiles, lib/Conversion/TritonGPUToLLVM/Utility.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import product

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.span import F2Span
from tt_layout.hardware import Target
from tt_layout.records import dataclass

Columns = list[int]

FRAGMENT_BITS = 32  # what a lane has of a row of a matrix
REORDERED_BANKS = 32  # the compiler leaves the bank bits of GPUs with more in order


@dataclass(frozen=True)
class LaneSplit:
    """Lanes over which an instruction distributes a vector and a wavefront.

    Attributes:
        name: ``st.shared``, ``ldmatrix.trans`` and the like.
        vector_lanes: bits of the lane that belong to the 16 bytes of one address.
        wavefront_lanes: bits of the lane that give the addresses of one wavefront.
    """

    name: str
    vector_lanes: tuple[int, ...] = ()
    wavefront_lanes: tuple[int, ...] = (0, 1, 2)


def matrix_instructions(name: str, element_bits: int) -> list[LaneSplit]:
    """Return ``ldmatrix`` or ``stmatrix`` in the forms that move elements of this width.

    Example:
        >>> [instruction.name for instruction in matrix_instructions("ldmatrix", 16)]
        ['ldmatrix', 'ldmatrix.trans']
        >>> matrix_instructions("ldmatrix", 64)
        []
    """
    plain = LaneSplit(name, (0, 1), (2, 3, 4))
    transposed = LaneSplit(f"{name}.trans", (2, 3, 4), (0, 1))
    splits = [plain] if element_bits <= FRAGMENT_BITS else []
    return [*splits, transposed] if element_bits == 16 else splits


@dataclass(frozen=True, kw_only=True)
class ConversionBuffer:
    """The buffer of a conversion as a linear layout, and the instructions that it is made for.

    Attributes:
        vector, bank, segment: the tensor bits that the offset bits stand for.
        rounds: the tensor bits that determine the round.
        blocks: the tensor bits that determine the CTA.
        store, load: the instructions.
        conflicts: extra wavefronts of a store and a load, as the compiler counts them to
            choose the instructions; 0 where it does not choose.

    Example:
        >>> buffer = ConversionBuffer(
        ...     vector=(1,), bank=(2,), segment=(12,), rounds=(8,), blocks=(16,),
        ...     store=LaneSplit("st.shared"), load=LaneSplit("ld.shared"))
        >>> buffer.location(4), buffer.location(8), buffer.location(17)
        ((4, 1, 0), (0, 1, 0), (1, 0, 1))
    """

    vector: tuple[int, ...]
    bank: tuple[int, ...]
    segment: tuple[int, ...]
    rounds: tuple[int, ...]
    blocks: tuple[int, ...]
    store: LaneSplit
    load: LaneSplit
    conflicts: int = 0

    @property
    def offset(self) -> tuple[int, ...]:
        """The tensor bits of the offset, lowest first."""
        return (*self.vector, *self.bank, *self.segment)

    @cached_property
    def _span(self) -> F2Span:
        return F2Span([*self.offset, *self.rounds, *self.blocks])

    def location(self, element: int) -> tuple[int, int, int]:
        """Return offset, round and CTA of an element, as packed tensor bits.

        Raises:
            ValueError: the buffer holds no such element.
        """
        bits = self._span.express(element)
        if bits is None:
            raise ValueError(f"element {element} is not in the buffer")
        offset, bits = _split(bits, len(self.offset))
        return (offset, *_split(bits, len(self.rounds)))


def _split(bits: int, low: int) -> tuple[int, int]:
    return bits & (1 << low) - 1, bits >> low


@dataclass(frozen=True)
class _Side:
    """One side of a conversion, each basis packed into an int."""

    layout: LinearLayout
    registers: Columns
    lanes: Columns
    warps: Columns

    @classmethod
    def of(cls, layout: LinearLayout) -> _Side:
        def columns(name: str) -> Columns:
            return [*layout.columns(name)]

        return cls(layout, columns("register"), columns("lane"), [c for c in columns("warp") if c])

    def pick(self, lanes: Iterable[int]) -> Columns:
        """Return the bases of some lane bits."""
        return [self.lanes[k] for k in lanes]


@dataclass(frozen=True)
class Swizzler:
    """Both sides of a conversion, and the constraints on its buffer.

    Attributes:
        src, dst: the layouts, without registers that repeat elements.
        element_bits: width of an element, a power of two between 8 and 128.
        gpu: whose banks and accesses.
    """

    src: _Side
    dst: _Side
    blocks: tuple[int, ...]
    size_bits: int
    element_bits: int
    gpu: Target

    @classmethod
    def of(cls, src: LinearLayout, dst: LinearLayout, element_bits: int, gpu: Target) -> Swizzler:
        """Return the swizzler of a conversion.

        Args:
            src, dst: layouts of one tensor, without registers that repeat elements.
            element_bits: width of an element, a power of two between 8 and 128.
            gpu: whose banks and accesses.
        """
        blocks = tuple(c for c in map(src.flatten, src.vectors("block")) if c)
        return cls(_Side.of(src), _Side.of(dst), blocks, src.total_out_bits, element_bits, gpu)

    @property
    def _banks(self) -> int:
        return self.gpu.swizzled_banks or self.gpu.banks

    @property
    def _bank_bits(self) -> int:
        return 8 * self.gpu.bank_bytes

    @property
    def _vector_bits(self) -> int:
        """The widest access of one thread."""
        return 8 * self.gpu.max_vector_bytes

    # -- plain loads and stores ----------------------------------------------------------

    def plain(self) -> ConversionBuffer:
        """Return the buffer of ordinary stores and loads.

        Among the lanes that may make up one wavefront of the widest load, the compiler chooses
        those with the most rounds.
        """
        vector, filling = self._vector()
        words = log2(max(1, (self.element_bits << len(vector)) // self._bank_bits))
        lanes = len(self.src.lanes)
        low = range(lanes - max(0, words + lanes - log2(self._banks)))
        is_widest = self.element_bits << len(vector) == self._vector_bits
        choices = [low, *self.gpu.conversion_lanes] if is_widest else [low]
        load, store = map(LaneSplit, self.gpu.mnemonics)
        stored = self.src.pick(low)
        buffers = [
            self._buffer((store, load), vector, (stored, self.dst.pick(loaded)))
            for loaded in choices
        ]
        best = max(buffers, key=lambda buffer: len(buffer.rounds))
        is_in_order = words > 1 or self._banks > REORDERED_BANKS
        return best if is_in_order else self._with_vector_first(best, filling)

    def _vector(self) -> tuple[Columns, bool | None]:
        """Return the vector (bits in the registers of both sides, filled up to a whole bank).

        It is returned with whether registers of the source fill it up; None if nothing is filled.
        """
        registers = self.src.registers, self.dst.registers
        vector = intersection(*registers, self.size_bits)
        vector = vector[: log2(self._vector_bits // self.element_bits)]
        wanted = log2(max(1, self._bank_bits // self.element_bits))
        if len(vector) >= wanted:
            return vector, None
        rest = [[c for c in columns if c not in vector] for columns in registers]
        stored = intersection(rest[0], self.dst.warps, self.size_bits)
        loaded = intersection(rest[1], self.src.warps, self.size_bits)
        if len(stored) == len(loaded) > 0:
            is_stored = min(stored) < min(loaded)
        else:
            is_stored = len(stored) > len(loaded)
        vector = vector + (stored if is_stored else loaded)
        if len(vector) < wanted:
            vector = vector + intersection(self.src.warps, self.dst.warps, self.size_bits)
        return self._filled_with_warps(vector, wanted)[:wanted], is_stored

    def _filled_with_warps(self, vector: Columns, wanted: int) -> Columns:
        warps = self.src.warps, self.dst.warps
        for k in range(max(map(len, warps))):
            for side in warps:
                is_new = k < len(side) and side[k] not in vector
                is_local = side is self.src.warps or k >= len(side) or side[k] not in self.blocks
                if len(vector) < wanted and is_new and is_local:
                    vector = [*vector, side[k]]
        return vector

    def _with_vector_first(
        self, buffer: ConversionBuffer, filling: bool | None
    ) -> ConversionBuffer:
        """Move registers of one side to the lowest bank bits, so that it vectorizes further."""
        stored, loaded = (
            [c for c in buffer.bank if c in side.registers] for side in (self.src, self.dst)
        )
        is_stored = len(stored) > len(loaded) if filling is None else filling
        first = stored if is_stored else loaded
        rest = [c for c in buffer.bank if c not in first]
        return replace(buffer, bank=(*first, *rest))

    # -- instructions weighed against each other --------------------------------------------

    def weighed(
        self, stores: Sequence[LaneSplit], loads: Sequence[LaneSplit]
    ) -> ConversionBuffer | None:
        """Return the buffer of the pair of instructions with the fewest conflicts.

        Ties go to the most rounds, then to the first.  None if no pair moves vectors of 16 bytes.
        """
        buffers = [self._of_pair(*pair) for pair in product(stores, loads)]
        return min(
            (buffer for buffer in buffers if buffer is not None),
            key=lambda buffer: (buffer.conflicts, -len(buffer.rounds)),
            default=None,
        )

    def _of_pair(self, store: LaneSplit, load: LaneSplit) -> ConversionBuffer | None:
        """Return the buffer for a pair of instructions; None if they do not fit."""
        pairs = ((store, self.src), (load, self.dst))
        (wide, wider), (narrow, narrower) = sorted(
            pairs, key=lambda pair: len(pair[0].vector_lanes)
        )
        registers = log2(self._vector_bits // self.element_bits)
        shared = registers - len(narrow.vector_lanes)
        vector = intersection(wider.registers, narrower.registers, self.size_bits)
        lanes = narrower.pick(narrow.vector_lanes)
        if not 0 <= shared <= len(vector) or 0 in (*wider.pick(wide.vector_lanes), *lanes):
            return None
        # the lanes of the narrow vector are registers and lanes of the wide one
        composed = _composed(narrower.layout, wider.layout)
        names = composed.get_out_dim_names()
        register, lane = names.index("register"), names.index("lane")
        images = [composed.vectors("lane")[k] for k in narrow.vector_lanes]
        count = len(images) - len(wide.vector_lanes)
        if any(image[register] == 0 for image in images[:count]):
            return None
        if [image[lane] for image in images[count:]] != [1 << k for k in wide.vector_lanes]:
            return None
        vector = vector[:shared] + lanes
        tiles = _tile(store, self.src, vector), _tile(load, self.dst, vector)
        if tiles[0] is None or tiles[1] is None:
            return None
        fragments = (tiles[0], tiles[1])
        leave = min(len(i.vector_lanes) + len(i.wavefront_lanes) - 3 for i in (store, load))
        buffer = self._buffer((store, load), vector, fragments, leave)
        clashes = [intersection(buffer.segment, tile, self.size_bits) for tile in fragments]
        return replace(buffer, conflicts=sum((1 << len(bits)) - 1 for bits in clashes))

    # -- the buffer -----------------------------------------------------------------------

    def _buffer(
        self,
        instructions: tuple[LaneSplit, LaneSplit],
        vector: Columns,
        tiles: tuple[Columns, Columns],
        leave: int = 0,
    ) -> ConversionBuffer:
        """Return the buffer with this vector.

        Args:
            instructions: the store and the load.
            vector: the vector bits.
            tiles: the other bits that move in one wavefront, on either side.
            leave: number of bits that could be rounds but stay in the segment, for instructions
                that move more than 16 bytes at each address.
        """
        free = self.size_bits - len(vector) - len(self.blocks)
        bank_bits = log2(self._banks * self._bank_bits // (self.element_bits << len(vector)))
        busy = [{c for c in (*vector, *tile, *self.blocks) if c} for tile in tiles]
        segment = _segment(busy, self.size_bits, free - min(bank_bits, free))
        held = set(self.src.registers) & set(self.dst.registers)
        rounds = [c for c in dict.fromkeys(segment) if c in held][leave:]
        return ConversionBuffer(
            vector=tuple(vector),
            bank=tuple(complement([*vector, *segment, *self.blocks], self.size_bits)),
            segment=tuple(c for c in segment if c not in rounds),
            rounds=tuple(rounds),
            blocks=self.blocks,
            store=instructions[0],
            load=instructions[1],
        )


def _segment(busy: Sequence[set[int]], size_bits: int, wanted: int) -> Columns:
    """Return segment bits: those in which no wavefront moves, then xors of two."""
    segment = [1 << k for k in range(size_bits) if all(1 << k not in moving for moving in busy)]
    if len(segment) >= wanted:
        return segment[:wanted]
    smaller, larger = sorted((sorted(a - b) for a, b in (busy, busy[::-1])), key=len)
    clashes = min(max(0, wanted - len(smaller) - len(segment)), len(smaller))
    segment += [a ^ b for a, b in list(zip(smaller, larger))[clashes:]]
    return (segment + smaller[:clashes] + larger[:clashes])[:wanted]


def _tile(instruction: LaneSplit, side: _Side, vector: Columns) -> Columns | None:
    """Return the bits other than the vector that move in a wavefront; None if there are too few."""
    missing = 3 - len(instruction.wavefront_lanes)
    spare = [c for c in side.registers if c not in vector][:missing]
    if len(spare) < missing:
        return None
    return spare + side.pick(instruction.wavefront_lanes)


@lru_cache(maxsize=16)
def _composed(inner: LinearLayout, outer: LinearLayout) -> LinearLayout:
    """Return the map from locations of one side to those of the other; cached."""
    return inner.invert_and_compose(outer)


# -- linear algebra ---------------------------------------------------------------------------


def intersection(first: Sequence[int], second: Sequence[int], size_bits: int) -> Columns:
    """Return a basis of the intersection of two spans.

    If all are single bits, it is those in both, in the order of the first.

    Example:
        >>> intersection([4, 1, 2], [1, 4], 3), intersection([3, 4], [1, 2], 3)
        ([4, 1], [3])
    """
    if all(c & c - 1 == 0 and c for c in (*first, *second)):
        return [c for c in first if c in second]
    kernels = null_space(first, size_bits), null_space(second, size_bits)
    return null_space([*kernels[0], *kernels[1]], size_bits)


def null_space(rows: Iterable[int], size_bits: int) -> Columns:
    """Return the vectors that have an even number of bits in common with every row.

    Example:
        >>> null_space([0b011], 3)
        [3, 4]
    """
    reduced = _row_reduced(rows)
    return [
        1 << free | sum(1 << pivot for pivot, row in reduced.items() if row >> free & 1)
        for free in range(size_bits)
        if free not in reduced
    ]


def complement(rows: Iterable[int], size_bits: int) -> Columns:
    """Return single bits that together with the rows span all vectors.

    Example:
        >>> complement([0b011, 0b100], 3)
        [2]
    """
    reduced = _row_reduced(rows)
    return [1 << bit for bit in range(size_bits) if bit not in reduced]


def _row_reduced(rows: Iterable[int]) -> dict[int, int]:
    """Return the reduced rows of a span, by their lowest bit, which no other row has."""
    reduced: dict[int, int] = {}
    for row in rows:
        for pivot, other in reduced.items():
            if row >> pivot & 1:
                row ^= other
        if row:
            pivot = (row & -row).bit_length() - 1
            reduced = {p: o ^ row if o >> pivot & 1 else o for p, o in reduced.items()}
            reduced[pivot] = row
    return reduced
