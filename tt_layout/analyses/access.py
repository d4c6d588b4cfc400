"""How a tensor's move between registers and shared memory becomes instructions.

Everything is read off one map: hardware location -> offset in shared memory, as the compiler
computes it.  Three things decide the instructions, in this order:

1.  ``ldmatrix`` and ``stmatrix``, where the map has their tile: rows of 16 bytes, held by the
    registers of 4 bytes and lane bits 0 and 1; or, for 2-byte elements, transposed, held by
    lane bits 2, 3 and 4.
2.  The compiler's vector: the most registers whose basis vectors are offset bits 0, 1, ..,
    while no other basis vector touches those bits.
3.  On NVIDIA its backend then joins neighbours at constant distances.  A register is at a
    constant distance when its basis vector shares no bit with any lane or warp, because only
    then it is added rather than xored.  So the same rule once more, for the span of those.

Source:
    Triton, lib/Conversion/TritonGPUToLLVM/Utility.cpp (largestVectorisation) and
    third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/Utility.cpp (lowerLdStMatrix); the third
    rule from the PTX of random pairs, all 786 without padding as predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two, log2
from tt_layout.algebra.span import F2Span
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target

MATRIX_ROW_BYTES = 16


@dataclass(frozen=True)
class AccessMap:
    """Hardware location -> offset in shared memory, in elements and before padding.

    Attributes:
        register, lane, warp: the offsets of single bits; registers repeat no element.
        element_bytes: bytes of an element.
        padding: pairs of an interval and the padding after it, in elements.
    """

    register: tuple[int, ...]
    lane: tuple[int, ...]
    warp: tuple[int, ...]
    element_bytes: int
    padding: tuple[tuple[int, int], ...] = ()

    @property
    def max_vector(self) -> int:
        """The longest run of elements that padding leaves together and aligned.

        The compiler looks at the intervals alone; where a padding is shorter than its vector
        the accesses it emits are misaligned and trap.
        """
        return min((min(pair) for pair in self.padding), default=1 << 30)


@dataclass(frozen=True)
class Instruction:
    """The instruction that an access consists of.

    Attributes:
        kind: ``vector``, ``matrix`` or ``matrix.trans``.
        width_bytes: bytes that each lane moves.
        count: instructions per warp.
        addresses: byte offsets of single bits of the locations that give an address: the lanes,
            or the eight rows of each matrix.
        matrices: matrices per instruction, 0 for a vector.
    """

    kind: str
    width_bytes: int
    count: int
    addresses: tuple[int, ...]
    matrices: int = 0

    def name(self, target: Target, is_store: bool) -> str:
        """Return the instruction as the target's assembler spells it."""
        if self.matrices:
            transposed = ".trans" if self.kind == "matrix.trans" else ""
            return f"{'st' if is_store else 'ld'}matrix.x{self.matrices}{transposed}"
        return target.instruction_name(self.width_bytes, is_store)


def access_map(
    register: LinearLayout,
    shared: LinearLayout,
    element_bytes: int,
    padding: tuple[tuple[int, int], ...] = (),
) -> AccessMap:
    """Return the offset in shared memory of each location of a register layout.

    Raises:
        LayoutError: the element has no size of 1, 2, 4, 8 or 16 bytes; the memory is in
            several buffers; or a warp reaches into another CTA's memory.
    """
    if not (is_power_of_two(element_bytes) and element_bytes <= 16):
        message = "an element must have 1, 2, 4, 8 or 16 bytes"
        raise LayoutError(f"{message}, got {element_bytes}")
    if shared.get_in_dim_size("partition") > 1:
        message = "the partitions of a partitioned_shared are buffers at unknown distances"
        raise LayoutError(f"{message}, so their banks are not known")
    offsets = register.remove_zero_bases("register").invert_and_compose(shared)
    offset = offsets.get_out_dim_names().index("offset")
    for name in ("register", "lane", "warp"):
        if any(x for v in offsets.vectors(name) for i, x in enumerate(v) if i != offset):
            raise LayoutError(f"a {name} bit reaches the memory of another CTA")
    bits = {name: tuple(v[offset] for v in offsets.vectors(name)) for name in _PLACES}
    return AccessMap(**bits, element_bytes=element_bytes, padding=padding)


_PLACES = ("register", "lane", "warp")


def choose_instruction(offsets: AccessMap, target: Target, is_store: bool) -> Instruction:
    """Return the instruction that the compiler uses for an access.

    Example:
        >>> from tt_layout.hardware import TARGETS
        >>> rows = AccessMap((1, 2, 4), (8, 16, 32, 64, 128), (), element_bytes=2)
        >>> hopper = TARGETS["sm90"]
        >>> choose_instruction(rows, hopper, is_store=True).name(hopper, is_store=True)
        'st.shared.v4.b32'
    """
    matrix = "stmatrix" if is_store else "ldmatrix"
    if matrix in target.matrix_instructions and not offsets.padding:
        for kind in ("matrix", "matrix.trans"):
            found = matrix_instruction(offsets, kind)
            if found is not None:
                return found
    return vector_instruction(offsets, target)


def vector_instruction(offsets: AccessMap, target: Target) -> Instruction:
    """Return the widest plain load or store that the compiler makes an access of.

    Example:
        >>> from tt_layout.hardware import TARGETS
        >>> rows = AccessMap((1, 2, 4), (8, 16, 32, 64, 128), (), element_bytes=2)
        >>> found = vector_instruction(rows, TARGETS["sm90"])
        >>> found.width_bytes, found.count
        (16, 1)
    """
    vector = vector_elements(offsets, target)
    return Instruction(
        "vector",
        vector * offsets.element_bytes,
        1 << len(offsets.register) - log2(vector),
        tuple(lane * offsets.element_bytes for lane in offsets.lane),
    )


def matrix_instruction(offsets: AccessMap, kind: str) -> Instruction | None:
    """Return an access as ``matrix`` or ``matrix.trans`` instructions; None if it has no tile.

    Example:
        >>> rows = AccessMap((1, 64), (2, 4, 8, 16, 32), (), element_bytes=2)
        >>> matrix_instruction(rows, "matrix").matrices
        2
        >>> matrix_instruction(rows, "matrix.trans") is None
        True
    """
    rows = _matrix_rows(offsets) if kind == "matrix" else _transposed_rows(offsets)
    if rows is None:
        return None
    size = offsets.element_bytes
    registers = min(MATRIX_ROW_BYTES // size, 1 << len(offsets.register))
    return Instruction(
        kind,
        registers * size,
        (1 << len(offsets.register)) // registers,
        tuple(row * size for row in rows),
        matrices=registers * size // 4,
    )


def _matrix_rows(offsets: AccessMap) -> tuple[int, ...] | None:
    """Return the bits of the eight rows, where a row is 4 bytes of each of four lanes."""
    if offsets.element_bytes > 4:
        return None
    packed = log2(4 // offsets.element_bytes)
    tile = tuple(1 << bit for bit in range(packed + 2))
    packed_bits = tile[:packed]
    rest = [basis for basis in offsets.register if basis not in packed_bits]
    others = (*rest, *offsets.lane[2:], *offsets.warp)
    fits = set(packed_bits) <= set(offsets.register) and offsets.lane[:2] == tile[packed:]
    if not fits or any(basis & sum(tile) for basis in others):
        return None
    return offsets.lane[2:]


def _transposed_rows(offsets: AccessMap) -> tuple[int, ...] | None:
    """Return the bits of the eight rows, where a row is 2 bytes of each of eight lanes."""
    if offsets.element_bytes != 2 or not offsets.register or offsets.lane[2:] != (1, 2, 4):
        return None
    others = (*offsets.register, *offsets.lane[:2], *offsets.warp)
    if any(basis & 7 for basis in others):
        return None
    return offsets.register[0], *offsets.lane[:2]


def vector_elements(offsets: AccessMap, target: Target) -> int:
    """Return how many elements of a lane one instruction moves.

    Example:
        Register bit 1 lies 17 elements away, which is 16 once bit 0 is taken out:

        >>> from tt_layout.hardware import TARGETS
        >>> offsets = AccessMap((1, 17), (2, 4, 8, 32, 64), (), element_bytes=4)
        >>> vector_elements(offsets, TARGETS["nvidia"]), vector_elements(offsets, TARGETS["amd"])
        (2, 1)
    """
    bits = log2(compiler_vector(offsets, target.max_vector_bytes))
    longest = min(target.max_vector_bytes // offsets.element_bytes, offsets.max_vector)
    if target.joins_registers and not offsets.padding:
        bits = max(bits, _joined_bits(offsets, log2(longest)))
    return 1 << bits


def compiler_vector(offsets: AccessMap, most_bytes: int) -> int:
    """Return how many elements of a lane the compiler moves at once, before its backend.

    Example:
        >>> compiler_vector(AccessMap((1, 2, 64), (4, 8, 16, 32, 128), (), element_bytes=2), 16)
        4
    """
    longest = min(most_bytes // offsets.element_bytes, offsets.max_vector)
    return 1 << max(b for b in range(log2(longest) + 1) if _is_vector(offsets, b))


def _is_vector(offsets: AccessMap, bits: int) -> bool:
    """Tell whether registers are the lowest offset bits, and nothing else touches those."""
    units = [1 << bit for bit in range(bits)]
    if offsets.padding and list(offsets.register[:bits]) != units:
        return False  # with padding the compiler does not reorder registers
    others = [basis for basis in offsets.register if basis not in units]
    others += [*offsets.lane, *offsets.warp]
    mask = (1 << bits) - 1
    return set(units) <= set(offsets.register) and not any(basis & mask for basis in others)


def _joined_bits(offsets: AccessMap, most: int) -> int:
    """Return how many of the lowest offset bits registers at constant distances span."""
    fixed = [*offsets.lane, *offsets.warp]
    used = reduce(or_, fixed, 0)
    added = [basis for basis in offsets.register if not basis & used]
    fixed += [basis for basis in offsets.register if basis & used]
    return _lowest_bits(F2Span(added), fixed, most)


def _lowest_bits(span: F2Span, others: Sequence[int], most: int) -> int:
    """Return how many of the lowest bits lie in a span and are not touched by others."""
    free = reduce(or_, others, 0)
    bits = 0
    while bits < most and not free >> bits & 1 and span.express(1 << bits) is not None:
        bits += 1
    return bits
