"""AxisInfo rules of operations, cached.

Kernels have many operations that differ in the names of values alone: what is known of their
operands is the same, and so is what follows from it.
"""

from __future__ import annotations

from collections.abc import Hashable

from tt_layout.audit.axis.arithmetic import ARITHMETIC
from tt_layout.audit.axis.info import AxisInfo
from tt_layout.audit.axis.shapes import RULES
from tt_layout.audit.axis.step import Step
from tt_layout.ir.ssa import ValueType, value_type

_RULES = {**RULES, **ARITHMETIC}
_SOURCES = frozenset({"arith.constant", "tt.make_range", "ub.poison", "amdg.rematerialized_range"})
_ELEMENTWISE = {*ARITHMETIC, "arith.cmpi", "arith.select"} | {
    f"arith.{name}{sign}i" for name in ("min", "max") for sign in "su"
}

_KNOWN: dict[Hashable, AxisInfo | None] = {}
MAX_KNOWN = 1 << 14
"""Conclusions that are remembered."""


def conclusion(step: Step) -> AxisInfo | None:
    """Return the AxisInfo of the first result of an operation; None if there is none.

    Example:
        >>> from tt_layout.ir.ssa import SsaOperation
        >>> attributes = {"start": 0, "end": 64}
        >>> range_ = SsaOperation("tt.make_range", attributes=attributes)
        >>> conclusion(Step(range_, (), (), value_type("tensor<64xi32>"))).contiguity
        (64,)
    """
    operation = step.operation
    if operation.name not in _RULES:
        return None
    if not step.operands:
        return _concluded(step)
    attributes = tuple(operation.attributes.items())
    key = operation.name, attributes, step.operands, step.types, step.result
    if key not in _KNOWN:
        if len(_KNOWN) >= MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = _concluded(step)
    return _KNOWN[key]


def _concluded(step: Step) -> AxisInfo | None:
    if not _is_sound(step):
        return None
    info = _RULES[step.operation.name](step)
    return info if info is not None and _fits(info, step.result) else None


def rank_of(type_: ValueType) -> int:
    """Return the number of dimensions that the analysis sees: one of whatever is not a tensor."""
    if type_.pointee is not None and type_.is_scalar:
        type_ = value_type(type_.pointee)
    return len(type_.shape) if type_.is_tensor else 1


def _fits(info: AxisInfo, type_: ValueType) -> bool:
    """Tell whether a record has as many dimensions as a type, if that is one of a tensor."""
    rank = len(type_.shape) if type_.is_tensor else info.rank
    return len(info.contiguity) == len(info.divisibility) == len(info.constancy) == rank


def _is_sound(step: Step) -> bool:
    """Tell whether an operation has as many operands and dimensions as it has in a valid dump."""
    name, operands = step.operation.name, step.operands
    if name not in _ELEMENTWISE:
        return bool(operands) or name in _SOURCES
    rank = rank_of(step.result)
    is_choice = name == "arith.select"
    values = operands[1:] if is_choice else operands
    is_even = all(info.rank == rank for info in values)
    return len(operands) == 2 + is_choice and is_even and operands[0].rank in (1, rank)
