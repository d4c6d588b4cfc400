"""Copies, gathers and scatters by the tensor memory accelerator."""

from __future__ import annotations

from math import prod

from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost, UnsupportedError
from tt_layout.audit.operations.details import TmaDetails
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import Operation
from tt_layout.ir.types import IRType
from tt_layout.placement import PlacedLayout

INDEXED = {"async_tma_gather": "gather4", "async_tma_scatter": "scatter4"}
"""Name of an operation without its dialect -> the mode of its messages."""

LINE = 128  # bytes that shared memory moves in a cycle


def tma_cost(operation: Operation, audited: AuditedModule) -> Cost | None:
    """Return the messages of a copy, a gather or a scatter by the tensor memory accelerator.

    Raises:
        UnsupportedError: its layouts cannot be cut into messages.
    """
    from tt_layout.analyses.global_memory.tma_messages import gather_messages, tma_messages

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
            is_im2col = descriptor is not None and "im2col" in descriptor.text
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
    return Cost(text, size / LINE, details)


def _rank(
    operation: Operation, audited: AuditedModule, descriptor: IRType | None, *, is_im2col: bool
) -> int | None:
    """Return how many coordinates a copy has; None where the text does not determine it."""
    if descriptor is None:
        return None
    if not is_im2col:
        return len(descriptor.shape)
    # A descriptor, a coordinate for each dimension, offsets for all but two of them, the buffer,
    # the barrier and the predicate; perhaps the CTAs that receive it.
    full = audited.in_full(operation)
    return (len(full.operation.operands) - 2) // 2 if full is not None else None
