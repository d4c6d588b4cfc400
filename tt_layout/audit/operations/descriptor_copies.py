"""Copies, gathers and scatters that a descriptor describes, by TMA and by the data mover."""

from __future__ import annotations

import re
from functools import reduce
from math import prod
from operator import or_
from typing import TYPE_CHECKING

from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost, UnsupportedError
from tt_layout.audit.operations.details import FusedTdmDetails, TdmDetails, TmaDetails
from tt_layout.encodings.cga import shape_per_cta
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.types import IRType
from tt_layout.placement import PlacedLayout
from tt_layout.wording import count

if TYPE_CHECKING:
    from tt_layout.analyses.global_memory.descriptor_messages import TdmMessages

INDEXED = {"async_tma_gather": "gather4", "async_tma_scatter": "scatter4"}
"""Name of an operation without its dialect -> the mode of its messages."""

SHARED_LINE = 128  # bytes that shared memory moves in a cycle

GLOBAL_LINE = 128  # bytes of a line of global memory

HINTS = "warp_used_hints"


# -- the tensor memory accelerator -----------------------------------------------------------------


def tma_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the messages of a copy, a gather or a scatter by the tensor memory accelerator.

    Raises:
        UnsupportedError: its layouts cannot be cut into messages.
    """
    from tt_layout.analyses.global_memory.descriptor_messages import gather_messages, tma_messages

    memory = operation.target or operation.source
    placed = audited.layouts.of(memory) if memory is not None else None
    if memory is None or not isinstance(placed, PlacedLayout):
        return None
    if not isinstance(placed.encoding, NvmmaShared):
        return None
    name = operation.name.rpartition(".")[2]
    descriptor = next((ir_type for ir_type in operation.types if ir_type.is_descriptor), None)
    try:
        if name in INDEXED:
            rows = next((ir_type for ir_type in operation.types if ir_type.is_tensor), None)
            indices = audited.layouts.linear(rows)
            if indices is None:
                return None
            messages = gather_messages(placed.encoding, placed.shape, indices)
            instruction = f"cp.async.bulk.tensor.2d.tile::{INDEXED[name]}"
        else:
            is_im2col = descriptor is not None and descriptor.is_im2col
            rank = _rank(operation, audited, descriptor, is_im2col=is_im2col)
            if rank is None:
                return None
            messages = tma_messages(placed.encoding, placed.shape, is_im2col=is_im2col)
            stem = "cp.reduce" if name == "async_tma_reduce" else "cp"
            instruction = f"{stem}.async.bulk.tensor.{rank}d"
    except LayoutError as error:
        raise UnsupportedError(f"{memory.layout}: {error.message}") from None
    box = "x".join(map(str, messages.box))
    details = TmaDetails(
        instruction=instruction, messages=messages.messages, box=tuple(messages.box)
    )
    text = f"{messages.messages} x {instruction} of {box} per CTA"
    size = messages.messages * prod(messages.box) * placed.element_bytes
    return Cost(text, size / SHARED_LINE, details)


def _rank(
    operation: MovementOperation,
    audited: AuditedModule,
    descriptor: IRType | None,
    *,
    is_im2col: bool,
) -> int | None:
    """Return the number of a copy's coordinates; None where the text does not determine it."""
    if descriptor is None:
        return None
    if not is_im2col:
        return len(descriptor.shape)
    # A descriptor, a coordinate for each dimension, offsets for all but two of them, the buffer,
    # the barrier and the predicate; perhaps the CTAs that receive it.
    full = audited.in_full(operation)
    return (len(full.operation.operands) - 2) // 2 if full is not None else None


# -- the tensor data mover -------------------------------------------------------------------------


def tdm_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the instructions of a copy, a gather or a scatter by the tensor data mover.

    Raises:
        UnsupportedError: the mover cannot do it.
    """
    if operation.movement.is_fused:
        return _fused_cost(operation, audited)
    memory = operation.target or operation.source
    placed = audited.layouts.of(memory) if memory is not None else None
    warps = audited.module.number("num-warps")
    if memory is None or not isinstance(placed, PlacedLayout) or warps is None:
        return None
    try:
        messages = _messages(operation, audited, placed, warps)
    except LayoutError as error:
        raise UnsupportedError(f"{memory.layout}: {error.message}") from None
    if messages is None:
        return None
    box = "x".join(map(str, messages.box))
    details = TdmDetails(
        instruction=messages.name,
        instructions=messages.instructions,
        box=tuple(messages.box),
        warps=messages.warps,
    )
    text = f"{messages.instructions} x {messages.name} of {box} per warp"
    if messages.warps < warps:
        text += f", of {messages.warps} of {warps} warps"
    size = messages.instructions * messages.warps * prod(messages.box) * placed.element_bytes
    return Cost(text, size / GLOBAL_LINE, details)


def _fused_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of one instruction that copies several blocks, each by other warps.

    Raises:
        UnsupportedError: the mover cannot do it.
    """
    full, warps = audited.in_full(operation), audited.module.number("num-warps")
    memories = [ir_type for ir_type in operation.types if ir_type.is_memory]
    stated = str(full.operation.attributes.get(HINTS)) if full is not None else ""
    hints = [int(number) for number in re.findall(r"\d+", stated.partition(":")[2])]
    if warps is None or not memories or len(memories) != len(hints):
        return None
    if sum(hints) != reduce(or_, hints):
        raise UnsupportedError(f"{HINTS} must name other warps for each copy, got {hints}")
    messages = [_fused_copy(memory, hint, warps, audited) for memory, hint in zip(memories, hints)]
    copies = [copy for copy in messages if copy is not None]
    if len(copies) != len(memories):
        return None
    name = copies[0][0].name
    boxes = [
        f"of {'x'.join(map(str, copy.box))} by {count(copy.warps, 'warp')}" for copy, _ in copies
    ]
    details = FusedTdmDetails(
        instruction=name,
        boxes=tuple(tuple(copy.box) for copy, _ in copies),
        warps=tuple(copy.warps for copy, _ in copies),
    )
    moved = sum(size for _, size in copies)
    return Cost(f"1 x {name} {', '.join(boxes)}", moved / GLOBAL_LINE, details)


def _fused_copy(
    memory: IRType, hint: int, warps: int, audited: AuditedModule
) -> tuple[TdmMessages, int] | None:
    """Return one of several fused copies, and the bytes that it moves.

    Raises:
        UnsupportedError: the mover cannot do it.
    """
    from tt_layout.analyses.global_memory.descriptor_messages import hinted_warps, tdm_copy

    placed = audited.layouts.of(memory)
    if not isinstance(placed, PlacedLayout) or placed.element_bits is None:
        return None
    try:
        active = hinted_warps(hint, warps)
        bits = placed.element_bits
        messages = _as_one(tdm_copy(placed.encoding, _block(placed), bits, active, is_store=False))
    except LayoutError as error:
        raise UnsupportedError(f"{memory.layout}: {error.message}") from None
    return messages, prod(messages.box) * messages.warps * placed.element_bytes


def _as_one(messages: TdmMessages) -> TdmMessages:
    """Return a copy by some of the warps.

    Raises:
        LayoutError: each warp needs several instructions.
    """
    if messages.instructions > 1:
        message = "a copy with warp_used_hint must be one instruction of each warp"
        raise LayoutError(f"{message}, got {messages.instructions}")
    return messages


def _block(placed: PlacedLayout) -> tuple[int, ...]:
    """Return the sizes of the block of each CTA."""
    block = [vector for vector in placed.layout.vectors("block") if any(vector)]
    return tuple(shape_per_cta(tuple(block), placed.shape))


def _messages(
    operation: MovementOperation, audited: AuditedModule, placed: PlacedLayout, warps: int
) -> TdmMessages | None:
    """Return the messages of a copy, gather or scatter; None where they are not known.

    Raises:
        LayoutError: the mover cannot do it.
    """
    from tt_layout.analyses.global_memory.descriptor_messages import (
        hinted_warps,
        tdm_copy,
        tdm_rows,
    )

    bits = placed.element_bits
    if bits is None:
        return None
    shape = _block(placed)
    to_global = operation.target is None
    rows = next((ir_type for ir_type in operation.types if ir_type.is_tensor), None)
    if rows is None:
        full = audited.in_full(operation)
        hint = full.operation.integer("warp_used_hint") if full is not None else None
        active = warps if hint is None else hinted_warps(hint, warps)
        messages = tdm_copy(placed.encoding, shape, bits, active, is_store=to_global)
        return messages if hint is None else _as_one(messages)
    indices = audited.layouts.linear(rows)
    if indices is None or rows.element_bits not in (16, 32):
        return None
    width = rows.element_bits
    return tdm_rows(placed.encoding, shape, indices, width, is_scatter=to_global)
