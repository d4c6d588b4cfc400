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
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.unknown import Unknown
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.ir.ssa.graph import components

MAX_MASKS = 16
"""Masks of accesses that are kept, the last ones: the next is often one of them and a condition."""


class ConstantMasks:
    """Masks of a function's accesses, as far as constants determine them.

    Accesses that have conditions in common share what is found of these, and no walk calls itself:
    each of many loads may add a condition to those before.

    Args:
        function: the function.
        layouts: placed layouts of its types.
    """

    def __init__(self, function: Function, layouts: PlacedLayouts) -> None:
        self._function, self._layouts = function, layouts
        self._constant: dict[Value, bool] = {}
        self._open: set[Value] = set()  # masks that constants make false nowhere
        self._known: dict[Value, Ints] = {}

    def constant(self, value: Value) -> Ints | None:
        """Return a mask, element by element; None where constants do not determine it."""
        if not self._is_constant(value):
            return None
        mask = Evaluator(self._function, GivenValues(), self._layouts).value(value)
        return None if isinstance(mask, Unknown) else mask.reshape(-1)

    def possible(self, value: Value) -> Ints | None:
        """Return a mask that is false only where constants make it so; None if they do nowhere.

        In a conjunction, one mask that constants determine is enough.
        """
        found: dict[Value, Ints] = {}
        for component in components([value], self._joined):
            for mask in component:
                determined = self._determined(mask, found)
                if determined is None:
                    self._open.add(mask)
                else:
                    found[mask] = determined
        if value in found:
            self._known.pop(value, None)
            self._known[value] = found[value]
            if len(self._known) > MAX_MASKS:
                del self._known[next(iter(self._known))]
        return found.get(value)

    def _joined(self, mask: Value) -> tuple[Value, ...]:
        """Return the masks that one is the conjunction of; none of one that is known."""
        made = mask.definition
        if mask in self._open or mask in self._known or self._is_constant(mask):
            return ()
        return made.operands if made is not None and made.name == "arith.andi" else ()

    def _determined(self, mask: Value, found: Mapping[Value, Ints]) -> Ints | None:
        if mask in self._open:
            return None
        if mask in self._known:
            return self._known[mask]
        if self._is_constant(mask):
            return self.constant(mask)
        parts = [found[joined] for joined in self._joined(mask) if joined in found]
        return reduce(operator.and_, parts) if parts else None

    def _is_constant(self, value: Value) -> bool:
        """Tell whether a value is computed from constants alone."""
        known = self._constant

        def operands(value: Value) -> tuple[Value, ...]:
            made = value.definition
            return made.operands if made is not None and value not in known else ()

        if value not in known:
            for component in components([value], operands):
                needed = [operand for member in component for operand in operands(member)]
                is_constant = all(
                    known.get(operand, operand in component) for operand in needed
                ) and all(known.get(member, _may_be_constant(member)) for member in component)
                known.update(dict.fromkeys(component, is_constant))
        return known[value]


def _may_be_constant(value: Value) -> bool:
    """Tell whether a value is constant if all operands of its operation are."""
    made = value.definition
    return made is not None and not made.regions and not made.traits.by_program


def kept_instructions(
    masks: ConstantMasks, operation: Operation, roles: Mapping[str, Value], shape: AccessShape
) -> int | None:
    """Return the instructions of a warp that remain after a constant mask; None for all.

    With buffer resources, inactive lanes access an offset beyond the buffer's end: one instruction
    for all of them, or none for a load that states another value for them.

    Args:
        masks: masks of the access's function.
        operation: the access, in today's form.
        roles: operands of the access by role.
        shape: assignment of elements to its lanes.
    """
    is_buffer = operation.name.endswith((".buffer_load", ".buffer_store"))
    is_plain = not {"offsets", "memory"} & {*roles}  # a copy fills with zeros
    if "mask" not in roles or not (is_plain or is_buffer) or shape.too_large is not None:
        return None
    mask = masks.possible(roles["mask"])
    if mask is None:
        return None
    lanes = shape_lanes(shape)
    if mask.size <= int(lanes.elements.max(initial=0)):
        return None
    is_kept = (mask[lanes.elements] != 0).any(axis=(1, 2))
    beyond = is_buffer and "other" not in roles and not is_kept.all()
    return int(is_kept.sum()) + beyond
