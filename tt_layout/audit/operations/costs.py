"""Table of cost functions by family of data movements.

An analysis is imported for the first data movement of its family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tt_layout.audit.global_memory.cost import global_cost
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.atomics import atomic_cost
from tt_layout.audit.operations.conversions import conversion_cost
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.descriptor_copies import tdm_cost, tma_cost
from tt_layout.audit.operations.details import GlobalDetails, SharedDetails
from tt_layout.audit.operations.exchanges import exchange_cost
from tt_layout.audit.operations.shared_memory import indexed_cost, shared_cost
from tt_layout.audit.operations.tensor_memory import tensor_memory_cost
from tt_layout.errors import LayoutError
from tt_layout.ir.data_movements import Family, MovementKind
from tt_layout.ir.operations import MovementOperation

CostFunction = Callable[[MovementOperation, AuditedModule], "Cost | None"]


def _slice_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of ``insert_slice``: a store, and with pointers a load before it."""
    store = shared_cost(operation, audited)
    if operation.group is not MovementKind.COPY_IN or store is None:
        return store
    load = global_cost(operation, audited)
    if load is None:
        return None
    assert isinstance(load.details, GlobalDetails)
    assert isinstance(store.details, SharedDetails)
    details = replace(load.details, store=store.details)
    return load._replace(text=f"{load.text}; then {store.text}", details=details)


COSTS: dict[Family, CostFunction] = {
    Family.GLOBAL: global_cost,
    Family.ATOMIC: atomic_cost,
    Family.CONVERSION: conversion_cost,
    Family.EXCHANGE: exchange_cost,
    Family.SHARED: shared_cost,
    Family.INDEXED: indexed_cost,
    Family.SLICE: _slice_cost,
    Family.TMA: tma_cost,
    Family.TDM: tdm_cost,
    Family.TENSOR_MEMORY: tensor_memory_cost,
}
"""Family of data movements -> its cost function."""


def cost_of(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of a data movement; None where it moves nothing.

    Raises:
        UnsupportedError: the compiler would refuse the operation.
        LayoutError: the cost is not known, with the reason.
    """
    if operation.row.no_cost:
        raise LayoutError(operation.row.no_cost)
    function = COSTS.get(operation.family) if operation.family is not None else None
    if function is None:
        return None
    is_known = audited.gpu is not None or function in (conversion_cost, shared_cost)
    if not is_known:
        raise LayoutError(audited.no_gpu)
    return function(operation, audited)
