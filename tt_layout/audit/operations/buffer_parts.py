"""Offsets of accessed parts of buffers, as far as constants determine them.

The types determine the shape of the part and of the whole, and with them the bits of an offset
that are where the part begins; the values, followed to the allocation, determine where that is.

Source:
    Triton, lib/Conversion/TritonGPUToLLVM/ViewOpToLLVM.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.algebra.padding import padded
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.unknown import Unknown
from tt_layout.ir.ssa import Function, Operation, Value, integers
from tt_layout.placement import PlacedLayout
from tt_layout.tuples import NamedTuple

_ALLOCATIONS = ("local_alloc", "alloc_tensor")


class PartOrigin(NamedTuple):
    """Beginning of a part.

    Attributes:
        first: coordinates of its first element in the buffer that its layout is for.
        shift: bytes from the allocation to that buffer; None where not known.
    """

    first: tuple[int, ...]
    shift: int | None


def part_origin(value: Value, evaluator: Evaluator, layouts: PlacedLayouts) -> PartOrigin | None:
    """Return the beginning of the buffer of a value; None if it is not a buffer.

    Args:
        value: the value.
        evaluator: evaluator of the function, for the constants that choose a buffer.
        layouts: placed layouts of its types.
    """
    function, steps = evaluator.function, []
    operation = value.definition
    while operation is not None and _kind(operation) in _STEPS and operation.operands:
        steps.append((operation, _placed(operation.results[0], function, layouts)))
        value = operation.operands[0]
        operation = value.definition
    placed = _placed(value, function, layouts)
    if placed is None or None in (step[1] for step in steps):
        return None
    is_allocated = operation is not None and _kind(operation) in _ALLOCATIONS
    origin = PartOrigin((0,) * len(placed.shape), 0 if is_allocated else None)
    for step, result in reversed(steps):
        assert result is not None
        origin = _STEPS[_kind(step)](origin, step, evaluator, result)
    return origin


def part_start(origin: PartOrigin, placed: PlacedLayout) -> int:
    """Return the byte at which a part begins, relative to its allocation if that is known."""
    names = placed.layout.get_out_dim_names()
    inverse = placed.layout.pseudoinvert()
    offset = inverse.apply(dict(zip(names, origin.first)))["offset"]
    return int(padded(offset, placed.padding)) * placed.element_bytes + (origin.shift or 0)


def _kind(operation: Operation) -> str:
    """Return the name of an operation without its dialect."""
    return operation.name.rpartition(".")[2]


def _placed(value: Value, function: Function, layouts: PlacedLayouts) -> PlacedLayout | None:
    """Return the layout of a value; None where it has none."""
    ir_type = function.type_of(value)
    placed = layouts.of(ir_type) if ir_type is not None else None
    return placed if isinstance(placed, PlacedLayout) else None


def _sliced(
    operand: PartOrigin, operation: Operation, _: Evaluator, placed: PlacedLayout
) -> PartOrigin:
    offsets = integers(operation.attributes.get("offsets")) or [0] * len(operand.first)
    return operand._replace(first=tuple(a + b for a, b in zip(operand.first, offsets)))


def _indexed(
    operand: PartOrigin, operation: Operation, evaluator: Evaluator, placed: PlacedLayout
) -> PartOrigin:
    """Return the beginning of the selected buffer, and for ``memdesc_subview`` of its part."""
    chosen = [_constant(index, evaluator) for index in operation.operands[1:]]
    index, rest = next(iter(chosen), None), chosen[1:]
    first = tuple(other or 0 for other in rest) or operand.first[-len(placed.shape) :]
    if index is None or operand.shift is None or None in rest:
        return PartOrigin(first, None)
    slots = index * placed.layout.get_in_dim_size("offset")
    return PartOrigin(
        first, operand.shift + int(padded(slots, placed.padding)) * placed.element_bytes
    )


def _constant(value: Value, evaluator: Evaluator) -> int | None:
    answer = evaluator.value(value)
    return None if isinstance(answer, Unknown) or answer.size != 1 else int(answer.reshape(-1)[0])


def _permuted(
    operand: PartOrigin, operation: Operation, _: Evaluator, placed: PlacedLayout
) -> PartOrigin:
    order: Sequence[int] = integers(operation.attributes.get("order"))
    if len(order) != len(operand.first):
        return operand
    return operand._replace(first=tuple(operand.first[dim] for dim in order))


def _whole(
    operand: PartOrigin, operation: Operation, _: Evaluator, placed: PlacedLayout
) -> PartOrigin:
    """Return the beginning of a view that is of whole buffers only."""
    return PartOrigin((0,) * len(placed.shape), operand.shift)


_STEPS = {
    "memdesc_index": _indexed,
    "memdesc_subview": _indexed,
    "memdesc_subslice": _sliced,
    "memdesc_trans": _permuted,
    "trans": _permuted,
    "memdesc_reshape": _whole,
    "memdesc_reinterpret": _whole,
}
"""Name without dialect -> function from the operand's origin to the result's."""
