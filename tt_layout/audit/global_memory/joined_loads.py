"""Loads of numbers that AMD's backend joins: those of neighbours are one instruction.

The begin and the end of a sequence stand next to each other, and so do the two numbers of a chunk's
index: LLVM loads them at once.

Source:
    Assembly of Triton 3.9 for gfx942, gfx950 and gfx1250.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tt_layout.analyses.global_memory.global_access import MAX_VECTOR_BYTES
from tt_layout.ir.ssa import SsaFunction, SsaOperation

NAMES = frozenset({"tt.load", "tt.store"})
"""Operations that may be on one number, besides atomics."""

WORD_BYTES = 4
"""The numbers that are joined; of wider ones LLVM often loads a part alone."""


def is_scalar(function: SsaFunction, operation: SsaOperation) -> bool:
    """Tell whether an operation loads or stores a single number."""
    if operation.name not in NAMES or not operation.operands:
        return False
    pointer = function.values.get(operation.operands[0])
    return (
        pointer is not None
        and pointer.type.is_scalar
        and pointer.type.pointee is not None
        and pointer.type.bits is not None
    )


def joined_loads(function: SsaFunction) -> Mapping[int, int]:
    """Return how many numbers the loads that LLVM joins load, by their lines; 0 of the others.

    It joins loads without a mask from one pointer and the constant offsets next to it, with
    nothing between them that writes to memory.
    """
    found: dict[int, int] = {}
    for block in function.blocks():
        run: dict[str, dict[int, SsaOperation]] = {}
        for operation in (*block.operations, None):
            if operation is None or _may_write(operation):
                for loads in run.values():
                    found.update(_neighbours(loads))
                run = {}
            elif operation.name == "tt.load" and is_scalar(function, operation):
                _note(function, operation, run)
    return found


def _note(
    function: SsaFunction,
    load: SsaOperation,
    run: dict[str, dict[int, SsaOperation]],
) -> None:
    """Note a load of a number under its pointer, by its offset."""
    if len(load.operands) > 1:
        return
    base, offset = load.operands[0], 0
    size = max(1, (function.values[base].type.bits or 8) // 8)
    while (made := function.definitions.get(base)) is not None and made.name == "tt.addptr":
        step = function.definitions.get(made.operands[1])
        if step is None or step.name != "arith.constant":
            break
        more = step.integer("value")
        if more is None:
            break
        base, offset = made.operands[0], offset + more
    if size == WORD_BYTES:
        run.setdefault(base, {}).setdefault(offset, load)


def _neighbours(loads: Mapping[int, SsaOperation]) -> Iterator[tuple[int, int]]:
    """Yield lines of loads, and how many numbers the instruction of each loads."""
    offsets = sorted(loads)
    while offsets:
        length = 1
        while length < len(offsets) and offsets[length] == offsets[0] + length:
            length += 1
        length = min(1 << length.bit_length() - 1, MAX_VECTOR_BYTES // WORD_BYTES)
        own = [loads[offset].line for offset in offsets[:length]]
        if length > 1:
            yield from ((line, length if line == min(own) else 0) for line in own)
        offsets = offsets[length:]


def _may_write(operation: SsaOperation) -> bool:
    """Tell whether loads behind an operation cannot be joined with those before it."""
    return bool(operation.regions) or not operation.results or "atomic" in operation.name
