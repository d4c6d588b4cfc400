"""Accesses whose mask is false by constants alone, so that the compiler drops instructions.

A block of 2048 elements over 1536 columns is loaded by fewer instructions than its layout has,
where the mask is false for all lanes of all warps.

Source:
    LLVM drops a branch that is never taken; AMD's accesses by pointers are behind branches.
    ptxas drops an instruction whose predicate is false: assembly of the wheels 3.6 and 3.9.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import reduce

from tt_layout.algebra.arrays import Ints
from tt_layout.audit.global_memory.access_shape import AccessShape, shape_lanes
from tt_layout.audit.global_memory.width import AccessAnalysis
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.unknown import Unknown
from tt_layout.ir.ssa import Operation, Value
from tt_layout.ir.ssa.graph import reach


def constant_mask(kernel: AccessAnalysis, value: Value) -> Ints | None:
    """Return a mask, element by element; None where constants do not determine it."""
    if not _is_constant(value):
        return None
    mask = Evaluator(kernel.function, GivenValues(), kernel.layouts).value(value)
    return None if isinstance(mask, Unknown) else mask.reshape(-1)


def possible_mask(kernel: AccessAnalysis, value: Value) -> Ints | None:
    """Return a mask that is false only where constants make it so; None if they do nowhere.

    In a conjunction, one mask that constants determine is enough.
    """
    made = value.definition
    if made is not None and made.name == "arith.andi" and not _is_constant(value):
        masks = [possible_mask(kernel, operand) for operand in made.operands]
        determined = [mask for mask in masks if mask is not None]
        return reduce(operator.and_, determined) if determined else None
    return constant_mask(kernel, value)


def kept_instructions(
    kernel: AccessAnalysis, operation: Operation, roles: Mapping[str, Value], shape: AccessShape
) -> int | None:
    """Return the instructions of a warp that remain after a constant mask; None for all.

    With buffer resources, inactive lanes access an offset beyond the buffer's end: one instruction
    for all of them, or none for a load that states another value for them.

    Args:
        kernel: analysis of the access's function.
        operation: the access, in today's form.
        roles: operands of the access by role.
        shape: assignment of elements to its lanes.
    """
    is_buffer = operation.name.endswith((".buffer_load", ".buffer_store"))
    is_plain = not {"offsets", "memory"} & {*roles}  # a copy fills with zeros
    if "mask" not in roles or not (is_plain or is_buffer) or shape.too_large is not None:
        return None
    mask = possible_mask(kernel, roles["mask"])
    if mask is None:
        return None
    lanes = shape_lanes(shape)
    if mask.size <= int(lanes.elements.max(initial=0)):
        return None
    is_kept = (mask[lanes.elements] != 0).any(axis=(1, 2))
    beyond = is_buffer and "other" not in roles and not is_kept.all()
    return int(is_kept.sum()) + beyond


def _is_constant(value: Value) -> bool:
    """Tell whether a value is computed from constants alone."""

    def operands(value: Value) -> tuple[Value, ...]:
        return value.definition.operands if value.definition is not None else ()

    definitions = (needed.definition for needed in reach([value], operands))
    return all(
        made is not None and not made.regions and not made.traits.by_program for made in definitions
    )
