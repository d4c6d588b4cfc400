"""What accesses to shared memory cost whose places depend on data."""

from __future__ import annotations

from tt_layout.analyses.conversion.conversion import memory_bytes, with_inputs
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import IndexedDetails
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import Operation


def indexed_cost(operation: Operation, audited: AuditedModule) -> Cost | None:
    """Return the accesses of a gather or scatter in shared memory: one for each element.

    Raises:
        LayoutError: they are not known, and why.
    """
    is_load = operation.group is MovementKind.LOCAL_LOAD
    moved = operation.target if is_load else operation.source
    if moved is None or moved.element_bits is None:
        return None
    if audited.gpu is None:
        raise LayoutError(audited.no_gpu)
    layout = audited.layouts.linear(moved)
    if layout is None:
        raise LayoutError("no layout yet" if moved.layout is None else f"{moved.layout} is refused")
    target, size = find_target(audited.gpu), memory_bytes(moved.element_bits)
    count = with_inputs(layout).remove_zero_bases("register").get_in_dim_size("register")
    is_atomic = "atomic" in operation.name
    name = _addition(operation, audited, target) if is_atomic else None
    name = name or target.instruction_name(size, is_store=not is_load)
    text = f"{count} x {name}, the indices decide their {target.cycle}s"
    details = IndexedDetails(instruction=name, width_bytes=size, instructions=count)
    return Cost(text, count * layout.get_in_dim_size("warp"), details)


def _addition(operation: Operation, audited: AuditedModule, target: Target) -> str | None:
    """Return the instruction of an atomic in shared memory, without its type."""
    full = audited.in_full(operation)
    kind = full.operation.attributes.get("atomic_rmw_op") if full is not None else None
    return target.shared_addition.replace("add", str(kind or "add").removeprefix("f"))
