"""Costs of atomic operations: the access to global memory, and the broadcast of its result.

Each element is changed by one thread.  Where others hold the same element, or the operation is on
a single number, the old value reaches lanes of its warp by shuffles, other warps through shared
memory.

Source:
    Triton 3.9, getRepShapeForAtomic in lib/Analysis/Allocation.cpp and finalizeTensorAtomicResults
    in lib/Conversion/TritonGPUToLLVM/Utility.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tt_layout.algebra.linear_layout import log2
from tt_layout.analyses.conversion.conversion import memory_bytes
from tt_layout.analyses.conversion.exchange import Exchange, scalar_step, through_memory
from tt_layout.analyses.layouts.properties import order_of
from tt_layout.audit.global_memory.cost import global_cost
from tt_layout.audit.global_memory.instructions import ThreadAccess, access_instruction
from tt_layout.audit.global_memory.joined_scalars import is_scalar
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import ExchangeDetails, GlobalDetails, SingleAtomicDetails
from tt_layout.audit.operations.exchanges import (
    exchange_text,
    scalar_type,
)
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.ssa import Function, Operation
from tt_layout.mlir.types import element_bits


def scalar_operations(audited: AuditedModule) -> Iterator[MovementOperation]:
    """Yield the accesses of a module to scalars in global memory, which name no tensor."""
    for full in audited.chosen(_accesses_scalars):
        operation = full.operation
        if is_scalar(operation):
            pointer = operation.operands[0].type
            moved = scalar_type(pointer.pointee or "")
            is_load = operation.traits.is_global_load
            yield full.moving(None, moved) if is_load else full.moving(moved, None)
        if not operation.traits.atomic or len(operation.operands) < 2:
            continue
        value = operation.operands[1]
        if value.is_defined and value.type.is_scalar:
            yield full.moving(scalar_type(value.text), None)


def _accesses_scalars(operation: Operation) -> bool:
    return operation.traits.atomic or is_scalar(operation)


def atomic_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of an atomic operation and of broadcasting its result.

    Raises:
        LayoutError: the cost is not known, with the reason.
    """
    full = audited.in_full(operation)
    if full is None:
        return global_cost(operation, audited)
    if audited.gpu is None:
        raise LayoutError(audited.no_gpu)
    target = find_target(audited.gpu)
    is_scalar = operation.types[0].layout is None and not operation.types[0].shape
    cost = _single_cost(full, target) if is_scalar else global_cost(operation, audited)
    if cost is None or not any(result.uses for result in full.operation.results[:1]):
        return cost
    warps = audited.module.number("num-warps") or 1
    result = handed_on(full.operation, full.function, audited.layouts, target, warps)
    if result is None or not (result.scratch_bytes or result.shuffles):
        return cost
    assert isinstance(cost.details, (GlobalDetails, SingleAtomicDetails))
    details = replace(cost.details, result=ExchangeDetails.of(result))
    text = f"{cost.text}; its result: {exchange_text(result, target)}"
    return cost._replace(text=text, details=details)


def _single_cost(full: FullOperation, target: Target) -> Cost | None:
    """Return the cost of a scalar atomic, which one thread of a CTA executes."""
    operation = full.operation
    value = operation.operands[1]
    bits = element_bits(value.text)
    if bits is None:
        return None
    size = memory_bytes(bits)
    access = ThreadAccess(operation.name, value.text, size, 1, operation.attributes, target)
    name = access_instruction(access)
    details = SingleAtomicDetails(instruction=name, width_bytes=size)
    return Cost(f"{name or operation.name} by one thread", 1, details)


def handed_on(
    operation: Operation,
    function: Function,
    layouts: PlacedLayouts,
    target: Target,
    warps: int,
) -> Exchange | None:
    """Return the exchange that broadcasts an atomic's result to every thread that holds it.

    Args:
        operation: the atomic operation.
        function: the function that contains it.
        layouts: placed layouts of the module's types.
        target: the GPU.
        warps: warps of a CTA.

    Returns:
        None where the types do not determine it.
    """
    result = operation.results[0]
    bits = element_bits(result.type.element)
    if bits is None:
        return None
    size = memory_bytes(bits)
    words = -(-bits // target.shuffle_bits)
    if not result.type.is_tensor and warps == 1:
        return Exchange(shuffles=words)
    if not result.type.is_tensor:
        same = (0,) * log2(target.lanes)
        store = scalar_step(same, size, 1, 1, target, is_store=True)
        load = scalar_step(same, size, 1, warps, target, is_store=False)
        return Exchange(stores=(store,), loads=(load,), scratch_bytes=size)
    ir_type = function.type_of(result)
    layout = layouts.linear(ir_type)
    if layout is None:
        return None
    free = layout.get_free_variable_masks()
    if not free.get("warp") and not free.get("block"):
        registers = layout.get_in_dim_size("register") >> free.get("register", 0).bit_count()
        shuffles = registers * words * bool(free.get("lane"))
        return Exchange(shuffles=shuffles, bpermutes=shuffles if target.far_lanes else 0)
    return through_memory(layout, size, order_of(layout), target)
