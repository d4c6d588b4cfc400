"""Shared-memory bank conflicts, and which lanes collide: ``tt-layout conflicts``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.analyses.shared_memory.addresses import Steps, segments
from tt_layout.analyses.shared_memory.banks import (
    BankConflicts,
    SharedAccess,
    conflicts_at,
    map_access,
    registers_first,
)
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError, pointing_at
from tt_layout.hardware import DEFAULT_TARGET, Target, find_target, usual_target
from tt_layout.mlir.types import TensorType
from tt_layout.placement import buffer_shape
from tt_layout.records import dataclass
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.wording import bits_in_words, count, ranges

JSON_VERSION = 1
KINDS = ("store", "load")

MISALIGNED = "; misaligned by the padding, which traps"
SEGMENTS = "partition that each warp reaches at one step (documented, not measured):"
MAX_COLLISIONS = 4


@dataclass(frozen=True, repr=False)
class ConflictsReport(Printed):
    """Bank conflicts of storing a tensor to shared memory and of loading it.

    Attributes:
        conflicts: both accesses.
        kinds: those of `KINDS` that are shown.
        segments: for a partitioned buffer, the partitions that warps reach at each step.
    """

    conflicts: BankConflicts
    kinds: Sequence[str] = KINDS
    segments: Steps = ()

    @property
    def accesses(self) -> list[SharedAccess]:
        """The accesses that are shown."""
        return [getattr(self.conflicts, kind) for kind in self.kinds]

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        maps: list[list[Line]] = []
        for access in self.accesses:
            yield from cost_lines(access)
            seen = list(map_lines(access))
            if seen and seen in maps:
                yield Line("  the same lanes meet in the same banks as in the store")
            else:
                yield from seen
            maps.append(seen)
        yield from segment_lines(self.segments)
        yield Line(evidence(self.conflicts.store.target))

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/bank-conflicts-json.md``."""
        target = self.conflicts.store.target
        return {
            "version": JSON_VERSION,
            "target": target.name,
            "verified": target.verified,
            **{kind: access_data(getattr(self.conflicts, kind)) for kind in self.kinds},
            **({"segments": [list(step) for step in self.segments]} if self.segments else {}),
        }


def target_of(first: Encoding, second: Encoding, tensor: TensorType) -> Target:
    """Return the default GPU for a register layout: the usual one with warps of that many lanes.

    Raises:
        LayoutError: the layouts are not a register layout and a shared layout that fit the type.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.mlir.types import parse_type
        >>> wide = parse_layout("#ttg.linear<{register = [], lane = [[1], [2], [4], [8], [16], "
        ...                     "[32]], warp = [], block = []}>")
        >>> plain = parse_layout("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
        ...                      "order = [0]}>")
        >>> target_of(wide, plain, parse_type("64xf16")).name
        'gfx942'
    """
    registers, shared = registers_first(first, second)
    layout = registers.to_linear_layout(buffer_shape(shared, tensor))
    return usual_target(layout.get_in_dim_size("lane")) or find_target(DEFAULT_TARGET)


def conflicts_report(
    first: Encoding,
    second: Encoding,
    tensor: TensorType,
    target: Target,
    kinds: Sequence[str] = KINDS,
) -> ConflictsReport:
    """Return the report for a register layout and a shared layout, in either order.

    Raises:
        LayoutError: a layout does not fit the type, they are not a register layout and a shared
            layout, or the target has another warp size.
    """
    registers, memory = registers_first(first, second)
    size = element_bytes(tensor)
    with pointing_at(tensor.span):
        shape = tensor.shape if tensor.is_tensor else buffer_shape(memory, tensor)
        offsets = map_access(registers, memory, shape, size)
    ends = (end.to_linear_layout(shape, element_bits=8 * size) for end in (registers, memory))
    return ConflictsReport(conflicts_at(offsets, target), kinds, segments(*ends))


def element_bytes(tensor: TensorType) -> int:
    """Return the size of an element in bytes.

    Raises:
        LayoutError: the type does not determine it, or it is not a whole number.
    """
    bits = tensor.element_bits
    if bits is None or bits % 8:
        width = "an unknown number of" if bits is None else str(bits)
        message = f"elements in shared memory must be whole bytes, but {tensor.element_type} has"
        raise LayoutError(f"{message} {width} bits", tensor.span)
    return bits // 8


def segment_lines(steps: Steps) -> Iterator[Line]:
    """Yield the partition that each warp reaches at each step, and whether warps share one."""
    if not steps:
        return
    yield Line(SEGMENTS)
    for number, reached in enumerate(steps):
        most = max(map(reached.count, reached))
        meets = f": up to {most} warps in one" if most > 1 else ": each in one of its own"
        shown = " ".join(map(str, reached))
        yield Line(f"  step {number}  {shown}{meets}", "red" if most > 1 else "green")


def access_lines(access: SharedAccess) -> Iterator[Line]:
    """Yield the instructions of an access, their cost, and the colliding lanes."""
    yield from cost_lines(access)
    yield from map_lines(access)


def cost_lines(access: SharedAccess) -> Iterator[Line]:
    """Yield the instructions of an access, and the cycles of one."""
    kind = "store" if access.is_store else "load"
    width = count(access.width_bytes, "byte")
    text = f"{kind}: {access.instructions} x {access.name} per warp, {width} per lane"
    yield Line(text + (MISALIGNED if access.instruction.is_misaligned else ""))
    text = f"  {count(access.wavefronts_per_instruction, access.target.cycle)} per instruction"
    if not access.extra_wavefronts_per_instruction:
        yield Line(f"{text}, conflict-free", "green")
        return
    extra, extras = count(access.extra_wavefronts_per_instruction, access.target.cycle).split()
    least = access.ideal_wavefronts_per_instruction
    yield Line(f"{text}, at least {least}: {extra} extra {extras}", "red")


def map_lines(access: SharedAccess) -> Iterator[Line]:
    """Yield the colliding lanes and their banks; nothing without conflicts."""
    if not access.extra_wavefronts_per_instruction:
        return
    if access.colliding_bits:
        yield Line(f"  {selecting_bits(access)}")
    yield from collision_lines(access)
    yield from picture(access)


def selecting_bits(access: SharedAccess) -> str:
    """Return the bits of the lane, or of the row, that cause the conflicts."""
    masks = access.colliding_bits
    verb = "changes" if len(masks) == 1 and masks[0].bit_count() == 1 else "change"
    return f"{bits_in_words(masks, _noun(access))} {verb} the word but not the bank"


def _noun(access: SharedAccess) -> str:
    """Return the noun of the addresses: lanes, or rows of a matrix."""
    return "row" if access.instruction.matrices else "lane"


def collision_lines(access: SharedAccess) -> Iterator[Line]:
    """Yield a line for each of the first banks at which lanes collide."""
    for collision in access.collisions[:MAX_COLLISIONS]:
        lanes = ranges(collision.lanes)
        words = ", ".join(map(str, collision.words[:4])) + (", .." if collision.words[4:] else "")
        touched = count(len(collision.words), "word")
        text = f"bank {collision.bank}: {_noun(access)}s {lanes} touch {touched} ({words})"
        yield Line(f"  {text}")
    if (rest := len(access.collisions) - MAX_COLLISIONS) > 0:
        yield Line(f"  and {count(rest, 'more bank')}")


def picture(access: SharedAccess) -> Iterator[Line]:
    """Yield lines with the bank that each lane of the worst phase touches."""
    lanes, words = access.worst_phase
    banks = access.phase.banks
    busy = {collision.bank for collision in access.collisions}
    tens = "".join(str(bank // 10) if bank % 10 == 0 else " " for bank in range(banks))
    yield Line(f"  {_noun(access):>4} | bank; # where {_noun(access)}s conflict")
    yield Line(f"       | {tens}".rstrip())
    for lane, touched in zip(lanes, words):
        hit = {int(word) % banks for word in touched}
        row = "".join(
            ("#" if bank in busy else "o") if bank in hit else "." for bank in range(banks)
        )
        yield Line(f"  {int(lane):>4} | {row}", "red" if "#" in row else "green")


def evidence(target: Target) -> str:
    """Describe the evidence for a target's numbers."""
    source = "" if target.verified else f" ({target.source})"
    return f"target: {target.name}, {target.title}; {target.standing}{source}"


def access_data(access: SharedAccess) -> dict[str, Any]:
    """Return one access as plain data."""
    return {
        "instruction": access.name,
        "width_bytes": access.width_bytes,
        "misaligned": access.instruction.is_misaligned,
        "instructions": access.instructions,
        "wavefronts_per_instruction": access.wavefronts_per_instruction,
        "ideal_wavefronts_per_instruction": access.ideal_wavefronts_per_instruction,
        "extra_wavefronts_per_instruction": access.extra_wavefronts_per_instruction,
        "colliding_lane_masks": list(access.colliding_bits),
        "collisions": [
            {"bank": c.bank, "lanes": list(c.lanes), "words": list(c.words)}
            for c in access.collisions
        ],
    }
