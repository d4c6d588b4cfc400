"""Costs of loads, stores and copies of tensor memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.cost import Cost, UnsupportedError
from tt_layout.audit.operations.details import (
    TensorMemoryAllocationDetails,
    TensorMemoryCopyDetails,
    TensorMemoryDetails,
)
from tt_layout.encodings.tensor_memory import TensorMemoryScales
from tt_layout.errors import LayoutError
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.names import stated
from tt_layout.ir.operations import MovementOperation
from tt_layout.wording import count

if TYPE_CHECKING:
    from tt_layout.analyses.tensor_memory.access import Message

MAX_REGISTERS = "maxnreg"
"""The attribute of the module that limits the registers of a thread."""


def message_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of a load from tensor memory, or of a store to it.

    Raises:
        UnsupportedError: no message moves the layout of registers.
    """
    message = message_of(operation, audited)
    if message is None:
        return None
    registers = message.registers * message.messages
    layout = audited.layouts.linear(operation.moved)
    warps = layout.get_in_dim_size("warp") if layout is not None else 1
    details = TensorMemoryDetails(
        instruction=message.name,
        instructions=message.messages,
        registers=registers,
        fills_cells=message.fills_cells,
    )
    text = f"{message.messages} x {message.name}, {count(registers, 'register')}"
    return Cost(text, registers * warps, details)


def message_of(operation: MovementOperation, audited: AuditedModule) -> Message | None:
    """Return the messages of a load from tensor memory, or of a store to it.

    Raises:
        UnsupportedError: no message moves the layout of registers.
    """
    from tt_layout.analyses.tensor_memory.access import tensor_memory_access

    is_store = operation.group is not MovementKind.LOCAL_LOAD
    register, memory = operation.source, operation.target
    if not is_store:
        register, memory = memory, register
    if register is None or memory is None or memory.element_bits is None:
        return None
    registers, cells = audited.layouts.linear(register), audited.layouts.linear(memory)
    if registers is None or cells is None:
        return None
    full = audited.in_full(operation)
    limit = register_limit(audited, full)
    try:
        message = tensor_memory_access(
            registers, cells, memory.element_bits, is_store=is_store, max_registers=limit
        )
    except LayoutError as error:
        raise UnsupportedError(f"{register.layout} and {memory.layout}: {error.message}") from None
    return replace(message, reduction=_reduction(full))


def register_limit(audited: AuditedModule, full: FullOperation | None) -> int:
    """Return the most registers of a thread that executes an operation.

    It is the smaller one of the limits of the specialised region around it and of the module.
    """
    from tt_layout.analyses.tensor_memory.access import MAX_REGISTERS as UNLIMITED
    from tt_layout.ir.ssa import integers

    limits = [UNLIMITED]
    for region in full.operation.around if full is not None else ():
        outer = region.owner
        if outer is None or not outer.name.endswith("warp_specialize"):
            continue
        actual = integers(outer.attributes.get("actualRegisters"))
        if region.number < len(actual):
            limits.append(actual[region.number])
            break
    limit = audited.module.number(MAX_REGISTERS)
    return min([*limits, limit] if limit is not None else limits)


def _reduction(full: FullOperation | None) -> str:
    """Return the suffix by which the assembler spells the reduction of a load."""
    attributes = full.operation.attributes if full is not None else {}
    operation = str(attributes.get("redOp", "")).rpartition("<")[2].removesuffix(">")
    if not operation:
        return ""
    flags = [name for name in ("abs", "NaN") if attributes.get(name) is True]
    return "".join(f".{word}" for word in (operation, *flags))


def tensor_memory_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of an operation on tensor memory.

    Raises:
        LayoutError: the cost is not known, with the reason.
    """
    if operation.group is MovementKind.COPY_WITHIN:
        return copy_cost(operation, audited)
    if operation.group is MovementKind.ALLOCATION:
        return allocation_cost(operation, audited)
    return message_cost(operation, audited)


def copy_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the instructions of a copy from shared to tensor memory."""
    from tt_layout.analyses.tensor_memory.access import scales_copy, tensor_memory_copy

    source, target = operation.source, operation.target
    if source is None or target is None or source.element_bits is None:
        return None
    if isinstance(target.encoding, TensorMemoryScales):
        copy = scales_copy(source.shape, source.element_bits)
    else:
        shared, memory = audited.layouts.linear(source), audited.layouts.linear(target)
        if shared is None or memory is None:
            return None
        copy = tensor_memory_copy(memory, shared, source.element_bits)
    name = copy.name(2 if stated(audited.module.attributes, "ttng.two-ctas") else 1)
    details = TensorMemoryCopyDetails(instruction=name, instructions=copy.instructions)
    size = copy.instructions * copy.rows * copy.column_bits // 8
    return Cost(f"{copy.instructions} x {name} per CTA", size / 128, details)


def allocation_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the columns that an allocation of tensor memory takes."""
    from tt_layout.analyses.layouts.properties import tensor_memory_info
    from tt_layout.placement import PlacedLayout

    memory = operation.target
    placed = audited.layouts.of(memory) if memory is not None else None
    if not isinstance(placed, PlacedLayout) or memory is None:
        return None
    info = tensor_memory_info(placed.layout, memory.element_bits, buffers=placed.buffers)
    if info.words is None:
        return None
    return Cost(count(info.words, "column"), 0, TensorMemoryAllocationDetails(columns=info.words))
