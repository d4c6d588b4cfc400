"""The turns that shared-memory accesses take, and which lanes collide: ``tt-layout conflicts``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.analyses.banks import (
    Access,
    BankConflicts,
    conflicts_at,
    lay,
    registers_first,
)
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.mlir.types import TensorType
from tt_layout.placement import buffer_shape

JSON_VERSION = 1
KINDS = ("store", "load")
MAX_COLLISIONS = 4


def report(one: Encoding, other: Encoding, tensor: TensorType, target: Target) -> BankConflicts:
    """Return what storing and loading a tensor type costs, whichever layout is the memory's.

    Raises:
        LayoutError: a layout does not fit the type, and the error points at it; or they are
            not one of registers and one of shared memory, or the target has other warps.
    """
    held, memory = registers_first(one, other)
    size = element_bytes(tensor)
    try:
        shape = buffer_shape(memory, tensor) if tensor.kind == "memdesc" else tensor.shape
        places = lay(held, memory, shape, size)
    except LayoutError as error:
        raise error.at(tensor.span) from None
    return conflicts_at(places, target)


def element_bytes(tensor: TensorType) -> int:
    """Return the bytes of an element.

    Raises:
        LayoutError: the type does not tell them, or they are no whole number.
    """
    bits = tensor.element_bits
    if bits is None or bits % 8:
        width = "an unknown number of" if bits is None else str(bits)
        message = f"elements in shared memory must be whole bytes, but {tensor.element_type} has"
        raise LayoutError(f"{message} {width} bits", tensor.span)
    return bits // 8


def count(number: int | float, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not 1.

    Example:
        >>> count(1, "wavefront"), count(2.5, "wavefront")
        ('1 wavefront', '2.5 wavefronts')
    """
    shown = f"{number:.3f}".rstrip("0").rstrip(".") if isinstance(number, float) else number
    return f"{shown} {noun}{'s' if number != 1 else ''}"


def bits_in_words(masks: Sequence[int], noun: str) -> str:
    """Return masks of bits in words: single bits first, then those that go together.

    Example:
        >>> bits_in_words([1, 8, 6], "lane")
        'lane bit 0; lane bit 3; lane bits 1 and 2 together'
    """
    return "; ".join(_mask_in_words(mask, noun) for mask in masks)


def _mask_in_words(mask: int, noun: str) -> str:
    *first, last = (str(bit) for bit in range(mask.bit_length()) if mask >> bit & 1)
    return f"{noun} bits {', '.join(first)} and {last} together" if first else f"{noun} bit {last}"


def ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs of three or more written as ranges.

    Example:
        >>> ranges([0, 1, 2, 3, 8, 9, 20])
        '0-3, 8, 9, 20'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    short = [[f"{r[0]}-{r[-1]}"] if len(r) > 2 else [str(n) for n in r] for r in runs]
    return ", ".join(text for run in short for text in run)


def picture(access: Access) -> Iterator[tuple[str, str]]:
    """Yield lines with colours: which bank each lane of the worst phase touches."""
    lanes, words = access.worst_phase
    banks = access.phase.banks
    busy = {collision.bank for collision in access.collisions}
    tens = "".join(str(bank // 10) if bank % 10 == 0 else " " for bank in range(banks))
    yield f"  {_noun(access):>4} | bank; # where {_noun(access)}s take turns", ""
    yield f"       | {tens}".rstrip(), ""
    for lane, touched in zip(lanes, words):
        hit = {int(word) % banks for word in touched}
        row = "".join(
            ("#" if bank in busy else "o") if bank in hit else "." for bank in range(banks)
        )
        yield f"  {int(lane):>4} | {row}", "red" if "#" in row else "green"


def _noun(access: Access) -> str:
    """Return what gives the addresses: lanes, or the rows of a matrix."""
    return "row" if access.instruction.matrices else "lane"


def as_text(result: BankConflicts, kinds: Sequence[str] = KINDS) -> Iterator[tuple[str, str]]:
    """Yield the lines of the report with their colours."""
    for kind in kinds:
        yield from _access_text(getattr(result, kind))
    yield evidence(result.store.target), ""


def _access_text(access: Access) -> Iterator[tuple[str, str]]:
    kind = "store" if access.is_store else "load"
    per_lane = count(access.width_bytes, "byte")
    yield f"{kind}: {access.instructions} x {access.name} per warp, {per_lane} a lane", ""
    turns = count(access.wavefronts_per_instruction, "wavefront")
    if not access.excess:
        yield f"  {turns} per instruction, as few as can be", "green"
        return
    ideal = access.ideal_wavefronts_per_instruction
    excess = count(access.excess, "").split()[0]
    yield f"  {turns} per instruction, {ideal} at least: {excess} too many", "red"
    if access.colliding_bits:
        moved = bits_in_words(access.colliding_bits, _noun(access))
        yield f"  to another word of the same bank: {moved}", ""
    yield from _collisions(access)
    yield from picture(access)


def _collisions(access: Access) -> Iterator[tuple[str, str]]:
    """Yield a line for each of the first banks at which lanes take turns."""
    for collision in access.collisions[:MAX_COLLISIONS]:
        lanes = ranges(collision.lanes)
        words = ", ".join(map(str, collision.words[:4])) + (", .." if collision.words[4:] else "")
        turns = count(len(collision.words), "word")
        yield f"  bank {collision.bank}: {_noun(access)}s {lanes} touch {turns} ({words})", ""
    if (more := len(access.collisions) - MAX_COLLISIONS) > 0:
        yield f"  and {count(more, 'bank')} more", ""


def evidence(target: Target) -> str:
    """Return what the numbers of a target rest on."""
    source = "" if target.verified else f" ({target.source})"
    return f"target: {target.name}, {target.title}; {target.standing}{source}"


def as_json(result: BankConflicts, kinds: Sequence[str] = KINDS) -> dict[str, Any]:
    """Return the report as plain data; documented in ``docs/bank-conflicts.md``."""
    target = result.store.target
    named = {"version": JSON_VERSION, "target": target.name, "verified": target.verified}
    return {**named, **{kind: access_json(getattr(result, kind)) for kind in kinds}}


def access_json(access: Access) -> dict[str, Any]:
    """Return one access as plain data."""
    return {
        "instruction": access.name,
        "width_bytes": access.width_bytes,
        "instructions": access.instructions,
        "wavefronts_per_instruction": access.wavefronts_per_instruction,
        "ideal_wavefronts_per_instruction": access.ideal_wavefronts_per_instruction,
        "excess": access.excess,
        "colliding_lane_masks": list(access.colliding_bits),
        "collisions": [
            {"bank": c.bank, "lanes": list(c.lanes), "words": list(c.words)}
            for c in access.collisions
        ],
    }
