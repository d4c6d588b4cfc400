"""Places of elements that are counted: an address that is a base and a running sum of flags.

What keeps some elements of a tensor, or sorts them by a bit, stores each where the running sum of
flags says.  From one element to the next that is one further, or the same place: numbers of the
data say where the elements go, and yet they are next to each other, at most as far apart as they
would be if every flag were set.

Read next:    `tt_layout.audit.time.estimate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tt_layout.audit.axis import AxisInfo
from tt_layout.audit.global_memory.operands import address_of
from tt_layout.ir.ssa import SsaOperation, Value
from tt_layout.ir.ssa.attributes import constant_value

HALF = 0.5
"""Elements that flags keep, of all: nothing in a dump says how many they are."""

_WIDENED = ("arith.extui", "arith.extsi", "arith.trunci", "arith.index_cast")
_MOVED = ("ttg.convert_layout", "triton_gpu.convert_layout")


class CountedPlaces(NamedTuple):
    """How the elements of an access whose places are counted are next to each other.

    Attributes:
        info: its addresses if every flag is set: one run along the dimension that is counted.
        kept: the part of the elements that move.
    """

    info: AxisInfo
    kept: float


def counted_places(roles: Mapping[str, Value], element_bytes: int) -> CountedPlaces | None:
    """Return the places of an access where a running sum of flags says them, else None.

    Args:
        roles: of its operands.
        element_bytes: of an element in memory.
    """
    address = address_of(roles)
    made = address.definition
    if "offsets" not in roles:
        if made is None or made.name != "tt.addptr" or not _is_uniform(made.operands[0]):
            return None
        address = made.operands[1]
    scan = _running_sum(address)
    flags = _flags(scan.operands[0]) if scan is not None else None
    if scan is None or flags is None:
        return None
    axis, shape = scan.integer("axis") or 0, scan.operands[0].type.shape
    runs = tuple(size if dim == axis else 1 for dim, size in enumerate(shape))
    ones = (1,) * len(shape)
    info = AxisInfo(runs, (element_bytes,) * len(shape), ones)
    mask = roles.get("mask")
    is_kept = mask is not None and _unmoved(mask) is flags
    return CountedPlaces(info, HALF if is_kept else 1)


def _running_sum(value: Value) -> SsaOperation | None:
    """Return the scan behind a value that differs from it by what all elements share."""
    while (made := value.definition) is not None and made.operands:
        if made.traits.combines:
            return made if _is_sum(made) else None
        left, *others = made.operands
        if made.name == "arith.addi":
            value = others[0] if _is_uniform(left) else left
            if not (_is_uniform(left) or _is_uniform(others[0])):
                return None
        elif made.name == "arith.subi":
            value = left
            if not (_is_uniform(others[0]) or _flags(others[0]) is not None):
                return None
        elif made.name in (*_WIDENED, *_MOVED) or _is_ring(made):
            value = left
        else:
            return None
    return None


def _is_ring(operation: SsaOperation) -> bool:
    """Tell whether numbers begin again behind the last: they are taken modulo a power of two."""
    if operation.name != "arith.andi":
        return False
    size = (_constant(operation.operands[1]) or 0) + 1
    return size > 1 and size & (size - 1) == 0


def _is_sum(operation: SsaOperation) -> bool:
    inner = {one.name for one in operation.walk() if one is not operation}
    return operation.name == "tt.scan" and inner == {"arith.addi", "tt.scan.return"}


def _flags(value: Value) -> Value | None:
    """Return the bits that a tensor of zeros and ones is made of."""
    while (made := value.definition) is not None and made.name in (*_WIDENED, *_MOVED):
        if made.name == "arith.extui" and made.operands[0].type.integer_bits == 1:
            return _unmoved(made.operands[0])
        value = made.operands[0]
    return None


def _unmoved(value: Value) -> Value:
    while (made := value.definition) is not None and made.name in _MOVED:
        value = made.operands[0]
    return value


def _is_uniform(value: Value) -> bool:
    """Tell whether all elements are the same."""
    made = _unmoved(value).definition
    return made is not None and (made.name == "tt.splat" or _constant(value) is not None)


def _constant(value: Value) -> int | None:
    """Return the number that all elements of a constant are."""
    made = _unmoved(value).definition
    return constant_value(made.attributes.get("value")) if made is not None else None
