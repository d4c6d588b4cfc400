"""The bytes that the lanes of one request touch, to draw them on sectors and lines."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from tt_layout.audit.global_memory.access_shape import lane_addresses, shape_lanes
from tt_layout.audit.global_memory.cost import placed_access
from tt_layout.audit.global_memory.operands import FORMS
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.unknown import unknowns
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import MovementOperation
from tt_layout.tuples import NamedTuple

SUPPOSED = 4096
"""Supposed value of an argument: rows are longer than a block, and all lanes are in bounds."""


class Request(NamedTuple):
    """Request of one instruction of a warp to global memory.

    Attributes:
        starts: first byte of each lane, from the first line touched; None for an inactive lane.
        width_bytes: bytes that each lane moves.
        sector_bytes, line_bytes: the units in which memory is fetched.
        supposed: supposed values of unknown arguments.
    """

    starts: tuple[int | None, ...]
    width_bytes: int
    sector_bytes: int
    line_bytes: int
    supposed: Mapping[str, int] = MappingProxyType({})


def first_request(
    operation: MovementOperation, audited: AuditedModule, *, supposes: bool = False
) -> Request | None:
    """Return the first request of an access; None where its addresses are not known.

    It is from the first execution, instruction and warp with an active lane.

    Args:
        operation: the access.
        audited: its module.
        supposes: whether unknown arguments are taken to be `SUPPOSED`.

    Example:
        >>> from tt_layout.audit.modules.audited_module import SharedWork
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... #a = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
        ...   tt.func @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
        ...     %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #a>
        ...     %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #a>
        ...     %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>, #a>, tensor<64xi32, #a>
        ...     %x = tt.load %a : tensor<64x!tt.ptr<f32>, #a>
        ...     tt.return
        ...   }
        ... }''')
        >>> request = first_request(module.operations[0], AuditedModule(module, SharedWork()))
        >>> request.starts[:4], request.width_bytes
        ((0, 8, 16, 24), 8)
    """
    full = audited.in_full(operation)
    kernel = audited.kernel(full.function) if full is not None else None
    if full is None or kernel is None or full.operation.name not in FORMS:
        return None
    try:
        _, _, width, shape, addresses = placed_access(kernel, full.operation)
    except LayoutError:
        return None
    if shape.too_large is not None:
        return None
    evaluator, supposed = audited.evaluator(full.function), dict[str, int]()
    values = [evaluator.value(value) for value in addresses.all]
    while (unknown := unknowns(values)) is not None:
        missing = unknown.names - supposed.keys()
        if not supposes or unknown.reasons or not missing:
            return None
        supposed |= dict.fromkeys(sorted(missing), SUPPOSED)
        numbers = GivenValues({**supposed, **audited.given.values})
        evaluator = Evaluator(full.function, numbers, audited.layouts)
        try:
            values = [evaluator.value(value) for value in addresses.all]
        except LayoutError:  # an argument cannot be that
            return None
    lanes = shape_lanes(shape)
    at, chosen = lane_addresses(lanes, addresses, values)
    active = lanes.active & chosen
    takes_part = active.any(axis=-1).reshape(-1)
    if not takes_part.any():
        return None
    number = int(np.argmax(takes_part))
    is_on = active.reshape(-1, active.shape[-1])[number].tolist()
    begins = at.reshape(-1, at.shape[-1])[number].tolist()
    least = min(begin for begin, on in zip(begins, is_on) if on)
    base = least - least % shape.line_bytes
    starts = tuple(begin - base if on else None for begin, on in zip(begins, is_on))
    units = shape.sector_bytes, shape.line_bytes
    return Request(starts, width.width_bytes, *units, supposed)
