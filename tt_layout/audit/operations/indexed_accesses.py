"""Costs of accesses to shared memory at data-dependent offsets."""

from __future__ import annotations

from tt_layout.analyses.conversion.conversion import memory_bytes, with_inputs
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import IndexedDetails
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import Operation

FLOAT_ADDITION = 3.5
"""Cycles of an addition of 32-bit floats in NVIDIA's shared memory, which is a loop."""

ONE_WORD, ONE_BANK = 110, 590
"""The same where all lanes of a warp add to one word, or to words of one bank.

Source:
    An H200, `red.shared.add.f32` by itself: 9.2 lanes a cycle without conflicts, 0.29, and 0.054;
    an addition of integers does 31.4 without conflicts and 1 with.
"""


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
        raise LayoutError(moved.without_linear)
    target, size = find_target(audited.gpu), memory_bytes(moved.element_bits)
    count = with_inputs(layout).remove_zero_bases("register").get_in_dim_size("register")
    is_atomic = "atomic" in operation.name
    name = _addition(operation, audited, target) if is_atomic else None
    name = name or target.instruction_name(size, is_store=not is_load)
    cycles, words = 1.0, f"the indices decide their {target.cycle}s"
    if is_atomic and _is_a_loop(operation, name, target):
        cycles = FLOAT_ADDITION
        words = (
            f"a loop of {cycles} cycles where lanes do not meet, {ONE_WORD} where all add to one "
            f"word, {ONE_BANK} to words of one bank"
        )
    details = IndexedDetails(instruction=name, width_bytes=size, instructions=count)
    cycles *= count * layout.get_in_dim_size("warp")
    return Cost(f"{count} x {name}, {words}", cycles, details)


def _is_a_loop(operation: Operation, name: str, target: Target) -> bool:
    """Return whether an atomic is an addition for which the GPU has no instruction."""
    moved = operation.source
    is_float = moved is not None and moved.element_type == "f32"
    return target.is_nvidia and is_float and "add" in name


def _addition(operation: Operation, audited: AuditedModule, target: Target) -> str | None:
    """Return the instruction of an atomic in shared memory, without its type."""
    full = audited.in_full(operation)
    kind = full.operation.attributes.get("atomic_rmw_op") if full is not None else None
    return target.shared_addition.replace("add", str(kind or "add").removeprefix("f"))
