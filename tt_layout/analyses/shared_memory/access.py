"""Instructions of an access between registers and shared memory.

Everything is read off one map: hardware location -> offset in shared memory, as the compiler
computes it.  Three things decide the instructions, in this order:

1.  Instructions that also move data between lanes, if the map has their tile:
    ``ldmatrix`` and ``stmatrix``, whose rows of 16 bytes are held by the registers of 4 bytes and
    lane bits 0 and 1 or, transposed, by lane bits 2, 3 and 4; and the transposing reads of AMD,
    whose rows are held by the lowest bits of the lane.
2.  The compiler's vector: the most registers whose basis vectors are offset bits 0, 1, ..,
    while no other basis vector touches those bits.
3.  LLVM then joins neighbours at constant distances.  A register is at a constant distance when
    its basis vector shares no bit with any lane or warp, nor with the start of a part of a
    buffer, because only then is it added rather than xored.  Without padding the rule of the
    vector applies again, to the span of those; with padding, and for AMD's instructions with two
    addresses, see `tt_layout.analyses.shared_memory.joined_accesses`.

Source:
    Triton, lib/Conversion/TritonGPUToLLVM/Utility.cpp (lowerLdSt),
    third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/Utility.cpp (lowerLdStMatrix) and
    third_party/amd/lib/TritonAMDGPUToLLVM/MemoryOpToLLVM.cpp (lowerDsReadTr); the third rule
    from assembly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial, reduce
from operator import or_
from typing import TYPE_CHECKING

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two, log2
from tt_layout.algebra.span import F2Span
from tt_layout.enums import TextEnum
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.algebra.arrays import Ints
    from tt_layout.analyses.shared_memory.joined_accesses import Joined

MATRIX_ROW_BYTES = 16
PARTITION_BYTES = 1 << 20
"""A distance that stands for that of two partitions: each is in a segment of its own, with the same
banks, and farther than one instruction reaches.

Source:
    Triton, PartitionedSharedEncodingAttr; gfx1250 has five segments of 64 KiB
    (ROCm/rocm-libraries#9388).
"""

_PLACES = ("register", "lane", "warp")
MAX_DISTANCE_BITS = 10
"""Registers at constant distances that are looked at; a thread has no more."""
MAX_TERMS = 6
"""Terms of an address that LLVM looks through for what it is a multiple of."""
BASE_ALIGNMENT = 16
"""What the compiler aligns shared memory to."""


@dataclass(frozen=True)
class AccessMap:
    """Map from hardware locations to offsets in shared memory, in elements and before padding.

    Attributes:
        register, lane, warp: the offsets of single bits; registers repeat no element.
        element_bytes: bytes of an element.
        padding: pairs of an interval and the padding after it, in elements.
        part: the bits of an offset in the start of a part of a buffer; 0 for a whole buffer.
        start: bytes from a row of all banks to the start of the part, padding included.
    """

    register: tuple[int, ...]
    lane: tuple[int, ...]
    warp: tuple[int, ...]
    element_bytes: int
    padding: tuple[tuple[int, int], ...] = ()
    part: int = 0
    start: int = 0


class InstructionForm(NamedTuple):
    """Equal instructions of an access.

    Attributes:
        width_bytes: bytes that each lane moves at each address.
        instructions: number of instructions per warp.
        addresses: empty if a lane gives one address; otherwise the form of two, ``2`` or
            ``2st64``.
    """

    width_bytes: int
    instructions: int
    addresses: str = ""

    @property
    def accesses(self) -> int:
        """Number of addresses of a lane."""
        return 2 if self.addresses else 1


class AccessKind(TextEnum):
    """Kinds of instructions for shared memory; matrix loads are named by their suffix."""

    VECTOR = "vector"
    MATRIX = "matrix"
    TRANSPOSED = "matrix.trans"
    TRANSPOSED_BYTES = "matrix.trans.b8"
    TRANSPOSING_READ = "transposing"
    """AMD's."""


MATRICES = (AccessKind.MATRIX, AccessKind.TRANSPOSED, AccessKind.TRANSPOSED_BYTES)


@dataclass(frozen=True)
class Instruction:
    """Instructions of an access.

    Attributes:
        kind: their kind.
        forms: usually one; several if there is padding between neighbours.
        addresses: byte offsets of single bits of the locations that give an address: the lanes,
            or the eight rows of each matrix.
        element_bytes: bytes of an element.
        matrices: matrices of eight rows per instruction, 0 for other kinds.
        is_misaligned: whether addresses are not multiples of the width, if that traps.
    """

    kind: AccessKind
    forms: tuple[InstructionForm, ...]
    addresses: tuple[int, ...]
    element_bytes: int
    matrices: int = 0
    is_misaligned: bool = False

    @property
    def width_bytes(self) -> int:
        """Bytes that each lane moves with an instruction of the most frequent form."""
        return self.forms[0].width_bytes * self.forms[0].accesses

    @property
    def count(self) -> int:
        """Instructions per warp."""
        return sum(form.instructions for form in self.forms)

    def name(self, target: Target, is_store: bool) -> str:
        """Return the names of the instructions in the target's assembly, joined by a slash."""
        return "/".join(self.counts(target, is_store))

    def counts(self, target: Target, is_store: bool) -> dict[str, int]:
        """Count the instructions of each name, per warp."""
        if self.matrices:
            return {self._matrix_name(is_store): self.count}
        if self.kind is AccessKind.TRANSPOSING_READ:
            return {target.transposing_reads[self.element_bytes].name: self.count}
        word_bits = min(64, max(32, 8 * self.element_bytes))
        return {
            target.instruction_name(
                form.width_bytes, is_store, word_bits=word_bits, form=form.addresses
            ): form.instructions
            for form in self.forms
        }

    def _matrix_name(self, is_store: bool) -> str:
        name = f"{'st' if is_store else 'ld'}matrix"
        if self.kind is not AccessKind.TRANSPOSED_BYTES:
            return f"{name}.x{self.matrices}{self.kind.removeprefix('matrix')}"
        if is_store:
            return f"{name}.m16n8.x{self.matrices}.trans.b8"
        return f"{name}.m16n16.x{self.matrices // 2}.trans.b8"


def access_map(
    register: LinearLayout,
    shared: LinearLayout,
    element_bytes: int,
    padding: tuple[tuple[int, int], ...] = (),
    part: int = 0,
) -> AccessMap:
    """Return the offset in shared memory of each location of a register layout.

    Args:
        register: layout from register, lane and warp to the elements.
        shared: layout from the offset to the elements of the whole buffer.
        element_bytes: bytes of an element.
        padding: padding of the buffer.
        part: see `AccessMap`.

        Raises:
            LayoutError: the size of an element is not 1, 2, 4, 8 or 16 bytes; the lanes of one
                access reach several partitions; or a warp reaches into another CTA's memory.
    """
    if not (is_power_of_two(element_bytes) and element_bytes <= 16):
        message = "an element must have 1, 2, 4, 8 or 16 bytes"
        raise LayoutError(f"{message}, got {element_bytes}")
    offsets = register.remove_zero_bases("register").invert_and_compose(shared)
    names = offsets.get_out_dim_names()
    steps = {"offset": 1, "partition": PARTITION_BYTES // element_bytes}
    weights = [steps.get(name) for name in names]
    for name in _PLACES:
        if any(x for v in offsets.vectors(name) for w, x in zip(weights, v) if w is None):
            raise LayoutError(f"a {name} bit reaches the memory of another CTA")
    if any(x for v in offsets.vectors("lane") for name, x in zip(names, v) if name == "partition"):
        message = "lanes of one access reach several partitions of a partitioned_shared"
        raise LayoutError(f"{message}: no document says what that takes")
    register_bits, lane_bits, warp_bits = (
        tuple(sum(x * (w or 0) for w, x in zip(weights, v)) for v in offsets.vectors(name))
        for name in _PLACES
    )
    return AccessMap(register_bits, lane_bits, warp_bits, element_bytes, padding, part)


def choose_instruction(offsets: AccessMap, target: Target, is_store: bool) -> Instruction:
    """Choose the instruction of an access as the compiler does.

    Example:
        >>> from tt_layout.hardware import TARGETS
        >>> rows = AccessMap((1, 2, 4), (8, 16, 32, 64, 128), (), element_bytes=2)
        >>> hopper = TARGETS["sm90"]
        >>> choose_instruction(rows, hopper, is_store=True).name(hopper, is_store=True)
        'st.shared.v4.b32'
    """
    name = "stmatrix" if is_store else "ldmatrix"
    if name in target.matrix_instructions and not offsets.padding:
        for kind in MATRICES:
            is_bytes = kind is AccessKind.TRANSPOSED_BYTES
            has_kind = not is_bytes or f"{name}.b8" in target.matrix_instructions
            instruction = matrix_instruction(offsets, kind, is_store=is_store) if has_kind else None
            if instruction is not None:
                return instruction
    instruction = None if is_store else transposing_read(offsets, target)
    return instruction or vector_instruction(offsets, target, is_store=is_store)


@lru_cache(maxsize=4096)
def vector_instruction(offsets: AccessMap, target: Target, *, is_store: bool) -> Instruction:
    """Return the plain loads or stores of an access, joined as LLVM joins them.

    Example:
        >>> from tt_layout.hardware import TARGETS
        >>> rows = AccessMap((1, 2, 4), (8, 16, 32, 64, 128), (), element_bytes=2)
        >>> found = vector_instruction(rows, TARGETS["sm90"], is_store=True)
        >>> found.width_bytes, found.count
        (16, 1)
    """
    vector = compiler_vector(offsets, target.max_vector_bytes)
    if offsets.padding or target.pairs_accesses:
        forms = _joined_forms(offsets, vector, target, is_store=is_store)
    else:
        vector = max(vector, 1 << _joined_bits(offsets, target))
        count = 1 << len(offsets.register) - log2(vector)
        forms = (InstructionForm(vector * offsets.element_bytes, count),)
    width = vector * offsets.element_bytes
    return Instruction(
        AccessKind.VECTOR,
        forms,
        tuple(lane * offsets.element_bytes for lane in offsets.lane),
        offsets.element_bytes,
        is_misaligned=not target.pairs_accesses and width > _alignment(offsets, vector),
    )


def matrix_instruction(
    offsets: AccessMap, kind: AccessKind, *, is_store: bool = False
) -> Instruction | None:
    """Return an access as ``ldmatrix`` or ``stmatrix``; None if it has no tile.

    Args:
        offsets: the access.
        kind: one of `MATRICES`.
        is_store: whether it is a store; its tile of transposed bytes is half as large.

    Example:
        >>> rows = AccessMap((1, 64), (2, 4, 8, 16, 32), (), element_bytes=2)
        >>> matrix_instruction(rows, AccessKind.MATRIX).matrices
        2
        >>> matrix_instruction(rows, AccessKind.TRANSPOSED) is None
        True
    """
    size, registers = offsets.element_bytes, len(offsets.register)
    if kind is AccessKind.MATRIX:
        rows = _matrix_rows(offsets)
    else:
        is_bytes = kind is AccessKind.TRANSPOSED_BYTES
        rows = _transposed_rows(offsets, is_bytes=is_bytes, is_store=is_store)
    if rows is None:
        return None
    moved = min(MATRIX_ROW_BYTES // size, 1 << registers)
    return Instruction(
        kind,
        (InstructionForm(moved * size, (1 << registers) // moved),),
        tuple(row * size for row in rows),
        size,
        matrices=moved * size // 4,
    )


def transposing_read(offsets: AccessMap, target: Target) -> Instruction | None:
    """Return a load as AMD's transposing reads; None without a tile, or on another GPU.

    Example:
        >>> from tt_layout.hardware import TARGETS
        >>> columns = AccessMap((64, 128), (1, 2, 4, 8, 256, 512), (), element_bytes=2)
        >>> transposing_read(columns, TARGETS["gfx950"]).counts(TARGETS["gfx950"], False)
        {'ds_read_b64_tr_b16': 1}
    """
    read = target.transposing_reads.get(offsets.element_bytes)
    if read is None:
        return None
    tile, moved = read.tile_bits, read.width_bytes // offsets.element_bytes
    has_registers = 1 << len(offsets.register) >= moved
    is_broken = any(interval < 1 << tile for interval, _ in offsets.padding)
    if not has_registers or is_broken or not _has_tile(offsets, range(tile), ()):
        return None
    bits = {"lane": offsets.lane, "register": offsets.register}
    addresses = tuple(bits[place][bit] * offsets.element_bytes for place, bit in read.addresses)
    count = (1 << len(offsets.register)) // moved
    form = InstructionForm(read.width_bytes, count)
    return Instruction(AccessKind.TRANSPOSING_READ, (form,), addresses, offsets.element_bytes)


def _has_tile(offsets: AccessMap, lanes: Sequence[int], registers: Sequence[int]) -> bool:
    """Tell whether some lane bits are the lowest offset bits, and no other bit enters these.

    Args:
        offsets: the access.
        lanes: the bits of the lane, the lowest offset bit first.
        registers: offset bits above them that belong to registers.
    """
    tile = (1 << len(lanes) + len(registers)) - 1
    columns = [offsets.lane[bit] for bit in lanes]
    rest = [basis for bit, basis in enumerate(offsets.lane) if bit not in lanes]
    rest += [basis for basis in offsets.register if basis not in registers]
    return (
        columns == [1 << bit for bit in range(len(columns))]
        and set(registers) <= set(offsets.register)
        and not any(basis & tile for basis in (*rest, *offsets.warp, offsets.part))
    )


def _matrix_rows(offsets: AccessMap) -> tuple[int, ...] | None:
    """Return the bits of the eight rows of a tile whose row is 4 bytes of each of four lanes."""
    if offsets.element_bytes > 4:
        return None
    packed = log2(4 // offsets.element_bytes)
    tile = tuple(1 << bit for bit in range(packed + 2))
    packed_bits = tile[:packed]
    rest = [basis for basis in offsets.register if basis not in packed_bits]
    outside = (*rest, *offsets.lane[2:], *offsets.warp, offsets.part)
    fits = set(packed_bits) <= set(offsets.register) and offsets.lane[:2] == tile[packed:]
    if not fits or any(basis & sum(tile) for basis in outside):
        return None
    return offsets.lane[2:]


def _transposed_rows(
    offsets: AccessMap, *, is_bytes: bool, is_store: bool
) -> tuple[int, ...] | None:
    """Return the bits of the eight rows of a tile whose row is one register of each of eight lanes.

    For elements of a byte it is two registers, so that a row also has 16 bytes.
    """
    inner = (8,) if is_bytes else ()
    if offsets.element_bytes != (1 if is_bytes else 2) or len(offsets.lane) < 5:
        return None
    count = 2 if is_store or not is_bytes else 3
    has_registers = len(offsets.register) >= (count if is_bytes else 1)
    if not has_registers or not _has_tile(offsets, (2, 3, 4), inner):
        return None
    rest = [basis for basis in offsets.register if basis not in inner]
    return rest[0], *offsets.lane[:2]


def compiler_vector(offsets: AccessMap, most_bytes: int) -> int:
    """Return the vector width of the compiler before its backend, in elements.

    Example:
        >>> compiler_vector(AccessMap((1, 2, 64), (4, 8, 16, 32, 128), (), element_bytes=2), 16)
        4
    """
    interval = min((interval for interval, _ in offsets.padding), default=most_bytes)
    longest = min(most_bytes // offsets.element_bytes, interval)
    return 1 << max(b for b in range(log2(longest) + 1) if _is_vector(offsets, b))


def _is_vector(offsets: AccessMap, bits: int) -> bool:
    """Tell whether registers are the lowest offset bits, and no other bit enters these."""
    units = [1 << bit for bit in range(bits)]
    if offsets.padding and list(offsets.register[:bits]) != units:
        return False  # with padding the compiler does not reorder registers
    rest = [basis for basis in offsets.register if basis not in units]
    rest += [*offsets.lane, *offsets.warp]
    mask = (1 << bits) - 1
    return set(units) <= set(offsets.register) and not any(basis & mask for basis in rest)


def _joined_bits(offsets: AccessMap, target: Target) -> int:
    """Count the lowest offset bits that registers at constant distances span."""
    near = _by_distance(offsets, offsets.register)
    most = log2(target.max_vector_bytes // offsets.element_bytes)
    return _lowest_bits(F2Span(near.added), [near.used], most)


class RegisterDistances(NamedTuple):
    """Registers of a thread, by the bits that their offsets share with lanes and warps.

    Attributes:
        used: the bits of an offset that lanes, warps and the start of a part change.
        added: a basis of the distances between registers that are equal in those bits, which LLVM
            adds to one address.
        mixed: the values with which it first xors the address, for each further register.
        constants: the values that it then adds to the address.
    """

    used: int
    added: tuple[int, ...]
    mixed: tuple[int, ...]
    constants: tuple[int, ...]


def _by_distance(offsets: AccessMap, registers: Sequence[int]) -> RegisterDistances:
    """Group registers by distance; with padding, of which LLVM sees less, none are combined."""
    used = reduce(or_, (*offsets.lane, *offsets.warp), offsets.part)
    if offsets.padding:
        mixed = tuple(basis for basis in registers if basis & used)
        added = tuple(basis for basis in registers if not basis & used)
        return RegisterDistances(used, added, mixed, ())
    pivots: dict[int, int] = {}
    distances = []
    for basis in registers:
        while (shared := basis & used) and shared.bit_length() in pivots:
            basis ^= pivots[shared.bit_length()]
        if shared:
            pivots[shared.bit_length()] = basis
        else:
            distances.append(basis)
    mixed = tuple(basis & used for basis in pivots.values())
    constants = tuple(basis & ~used for basis in pivots.values())
    return RegisterDistances(used, tuple(distances), mixed, constants)


def _joined_forms(
    offsets: AccessMap, vector: int, target: Target, *, is_store: bool
) -> tuple[InstructionForm, ...]:
    """Return the instructions of an access after LLVM has joined neighbours."""
    from tt_layout.algebra.arrays import all_values
    from tt_layout.algebra.padding import padded
    from tt_layout.analyses.shared_memory.joined_accesses import join_neighbours, pair_up

    units = [1 << bit for bit in range(log2(vector))]
    registers = [basis for basis in offsets.register if basis not in units]
    near = _by_distance(offsets, registers)
    is_known = not offsets.padding or _terms(offsets.lane) + _terms(offsets.warp) <= MAX_TERMS
    bases = (*offsets.lane, *offsets.warp, offsets.part, *near.mixed)
    alignment = _alignment_of(offsets, bases) if is_known else 0
    if is_store and near.mixed and not offsets.padding and len(registers) <= MAX_DISTANCE_BITS:
        return _ordered(_forms_of_stores(offsets, vector, registers, near.used, alignment))
    added = sorted(near.added)[:MAX_DISTANCE_BITS]
    firsts = _cosets(near.constants, added)[: MAX_DISTANCE_BITS - len(added)]
    pairs, counts = target.pairs_accesses, Counter[tuple[int, str]]()
    for first in all_values(firsts):
        slots = padded(all_values(added) ^ first, offsets.padding) * offsets.element_bytes
        distances = sorted(slots.tolist())
        width = vector * offsets.element_bytes
        pieces = join_neighbours(distances, width, alignment, pairs=pairs)
        counts.update(pair_up(pieces, pairs=pairs))
    times = 1 << len(registers) - len(added) - len(firsts)
    return _ordered(counts, times)


def _ordered(counts: Mapping[tuple[int, str], int], times: int = 1) -> tuple[InstructionForm, ...]:
    """Return instruction forms by width and name, the most frequent first."""
    forms = [InstructionForm(width, times * count, form) for (width, form), count in counts.items()]
    return tuple(sorted(forms, key=lambda form: (-form.instructions, -form.width_bytes)))


def _forms_of_stores(
    offsets: AccessMap, vector: int, registers: Sequence[int], used: int, alignment: int
) -> Counter[tuple[int, str]]:
    """Count the instructions of stores from several addresses, by width and form.

    AMD's assembler pairs two stores by moving the first down to the second, but not past a store
    from another address that may alias it: one within the reach of lanes and warps.
    """
    import numpy as np

    from tt_layout.algebra.arrays import all_values, distinct
    from tt_layout.analyses.shared_memory.joined_accesses import join_neighbours, pair_up

    places, size = all_values(_program_order(registers, used)), offsets.element_bytes
    stores = _Stores(places & used, (places & ~used) * size, used * size)
    counts = Counter[tuple[int, str]]()
    for address in distinct(stores.addresses)[0]:
        members = np.flatnonzero(stores.addresses == address)
        number = dict(zip(stores.distances[members].tolist(), members.tolist()))
        pieces = join_neighbours(sorted(number), vector * size, alignment, pairs=True)
        may_pair = partial(stores.may_pair, number)
        counts.update(pair_up(pieces, pairs=True, may_pair=may_pair))
    return counts


class _Stores(NamedTuple):
    """Stores in program order.

    Attributes:
        addresses: the address of each.
        distances: its distance from the address in bytes.
        reach: maximum of bytes that lanes and warps add.
    """

    addresses: Ints
    distances: Ints
    reach: int

    def may_pair(self, number: Mapping[int, int], piece: Joined, other: Joined) -> bool:
        """Tell whether no store between two, given by their numbers, may alias the first."""
        first, second = sorted((number[piece.distance], number[other.distance]))
        passed = slice(first + 1, second)
        is_other = self.addresses[passed] != self.addresses[first]
        apart = abs(self.distances[passed] - self.distances[first])
        return not (is_other & (apart < self.reach + piece.width)).any()


def _program_order(registers: Sequence[int], used: int) -> list[int]:
    """Return registers in the order of stores: first those whose offsets are only added.

    They share no bit with lanes and warps, nor with a register that is not one of them.
    """
    rest: list[int] = []
    while True:
        taken = reduce(or_, rest, used)
        touching = [basis for basis in registers if basis & taken]
        if touching == rest:
            return [basis for basis in registers if basis not in rest] + rest
        rest = touching


def _cosets(constants: Sequence[int], added: Sequence[int]) -> list[int]:
    """Return the constants whose distances are not in the span of the others and ``added``."""
    span = F2Span([*added, *constants])
    return [basis for index, basis in enumerate(constants, len(added)) if span.pivots >> index & 1]


def _terms(bases: Sequence[int]) -> int:
    """Count the shifted parts of lane or warp whose xor is an address."""
    pairs = zip((0, *bases), bases)
    return sum(1 for before, basis in pairs if basis and basis != 2 * before)


def _alignment(offsets: AccessMap, vector: int) -> int:
    """Return the alignment of the addresses of all vectors of an access, in bytes.

    A register within its vector only permutes the elements of the vector.
    """
    registers = [basis & -vector for basis in offsets.register]
    return _alignment_of(offsets, (*registers, *offsets.lane, *offsets.warp, offsets.part))


def _alignment_of(offsets: AccessMap, bases: Sequence[int]) -> int:
    """Return the alignment of the addresses of some bases, padding included."""
    return min(map(_lowest_bit, _contributions(offsets, bases)), default=BASE_ALIGNMENT)


def _contributions(offsets: AccessMap, bases: Sequence[int]) -> Iterator[int]:
    """Yield the contributions of each basis to an address: itself, and its padding."""
    yield BASE_ALIGNMENT
    for basis in filter(None, bases):
        yield basis * offsets.element_bytes
        for interval, amount in offsets.padding:
            if above := basis // interval:
                yield above * amount * offsets.element_bytes


def _lowest_bit(value: int) -> int:
    return value & -value


def _lowest_bits(span: F2Span, outside: Sequence[int], most: int) -> int:
    """Count the lowest bits that lie in a span and that no other basis touches."""
    free = reduce(or_, outside, 0)
    bits = 0
    while bits < most and not free >> bits & 1 and span.express(1 << bits) is not None:
        bits += 1
    return bits
