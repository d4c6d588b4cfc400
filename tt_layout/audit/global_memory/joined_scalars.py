"""Scalar loads and stores that AMD's backend joins or narrows.

The begin and the end of a sequence stand next to each other, and so do the two numbers of a chunk's
index: LLVM loads them at once.  Of 64 bits that are only made 32 it loads these.

Source:
    Assembly of Triton 3.9 for gfx942, gfx950 and gfx1250.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tt_layout.analyses.global_memory.global_access import MAX_VECTOR_BYTES
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.ir.ssa.dataflow import constant_of, lineage
from tt_layout.tuples import NamedTuple

NAMES = frozenset({"tt.load", "tt.store"})
"""Operations that may be on a scalar, besides atomics."""

WORD_BYTES = 4
"""Bytes of a word: LLVM joins words and halves of them, and narrowed pairs."""


class _Place(NamedTuple):
    """Key by which scalar accesses join: operation, size in bytes, and base pointer."""

    name: str
    size: int
    base: Value


def is_scalar(operation: Operation) -> bool:
    """Tell whether an operation loads or stores a scalar."""
    if operation.name not in NAMES or not operation.operands:
        return False
    pointer = operation.operands[0].type
    return pointer.is_scalar and pointer.pointee is not None and pointer.bits is not None


def narrowed_values(function: Function) -> frozenset[Value]:
    """Return the 64-bit values of which only 32 bits are used."""
    narrowed: set[Value] = set()
    kept: set[Value] = set()
    for operation in function.walk():
        is_cut = operation.name == "arith.trunci"
        if is_cut and operation.results[0].type.integer_bits == 8 * WORD_BYTES:
            operands = operation.operands
            narrowed.update(v for v in operands if v.type.integer_bits == 16 * WORD_BYTES)
        else:
            kept.update(operation.operands)
    return frozenset(narrowed - kept)


def joined_scalars(function: Function, narrowed: frozenset[Value]) -> Mapping[int, int]:
    """Return the number of scalars of each joined access, by position; 0 for those merged into it.

    It joins accesses without a mask at one pointer and the constant offsets next to it: loads
    with nothing between them that writes to memory, stores with nothing that reads it either.

    Args:
        function: the function that contains them.
        narrowed: result of `narrowed_values`.
    """
    counts: dict[int, int] = {}
    for block in function.blocks():
        runs: dict[_Place, dict[int, Operation]] = {}
        for operation in (*block.operations, None):
            place, offset = _place(operation, narrowed)
            for other in [o for o in runs if o != place and _is_between(operation, o)]:
                counts.update(_neighbours(other, runs.pop(other)))
            if operation is not None and place is not None:
                runs.setdefault(place, {}).setdefault(offset, operation)
    return counts


def _place(access: Operation | None, narrowed: frozenset[Value]) -> tuple[_Place | None, int]:
    """Return the key and the offset of a scalar access; the key is None if it cannot be joined."""
    if access is None or not is_scalar(access):
        return None, 0
    base = access.operands[0]
    size = max(1, (base.type.bits or 8) // 8)
    is_pair = not narrowed.isdisjoint(access.results)
    is_masked = len(access.operands) > 1 + (access.name == "tt.store")
    if is_masked or not (is_pair or size in (WORD_BYTES, WORD_BYTES // 2)):
        return None, 0
    *sums, base = lineage(base, lambda operation: _added(operation) is not None)
    added = (_added(pointer.definition) for pointer in sums if pointer.definition is not None)
    return _Place(access.name, size, base), sum(number or 0 for number in added)


def _added(operation: Operation) -> int | None:
    """Return the constant that an operation adds to a pointer; None of any other."""
    return constant_of(operation.operands[1]) if operation.traits.pointer_sum else None


def _neighbours(place: _Place, accesses: Mapping[int, Operation]) -> Iterator[tuple[int, int]]:
    """Yield positions of accesses, and how many scalars the instruction of each moves."""
    offsets = sorted(accesses)
    while offsets:
        length = 1
        while length < len(offsets) and offsets[length] == offsets[0] + length:
            length += 1
        length = min(length, MAX_VECTOR_BYTES // place.size)
        if length * place.size != 3 * WORD_BYTES:
            length = 1 << length.bit_length() - 1
        positions = [accesses[offset].position for offset in offsets[:length]]
        if length > 1:
            joined = max(positions) if place.name == "tt.store" else min(positions)
            yield from ((each, length if each == joined else 0) for each in positions)
        offsets = offsets[length:]


def _is_between(operation: Operation | None, place: _Place) -> bool:
    """Tell whether an operation keeps accesses after it from being joined with earlier ones."""
    if operation is None or operation.regions or "atomic" in operation.name:
        return True
    reads = "load" in operation.name and place.name == "tt.store"
    return reads or not operation.results
