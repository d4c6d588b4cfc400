"""What a data movement costs: one table from name or group to function.

An analysis is imported for the first data movement of its group.
"""

from __future__ import annotations

from collections.abc import Callable

from tt_layout.audit.global_memory.cost import global_cost
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.atomics import atomic_cost
from tt_layout.audit.operations.conversions import conversion_cost
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.exchanges import exchange_cost
from tt_layout.audit.operations.indexed_accesses import indexed_cost, remote_cost
from tt_layout.audit.operations.shared_memory import shared_cost
from tt_layout.audit.operations.tdm import fused_cost, tdm_cost
from tt_layout.audit.operations.tensor_memory import allocation_cost, copy_cost, message_cost
from tt_layout.audit.operations.tma import tma_cost
from tt_layout.errors import LayoutError
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import Operation

CostFunction = Callable[[Operation, AuditedModule], "Cost | None"]


def _slice_cost(operation: Operation, audited: AuditedModule) -> Cost | None:
    """Return the cost of ``insert_slice``: a store, and with pointers a load before it."""
    store = shared_cost(operation, audited)
    if operation.group is not MovementKind.COPY_IN or store is None:
        return store
    load = global_cost(operation, audited)
    if load is None:
        return None
    details = {**load.details, "store": store.details}
    return load._replace(text=f"{load.text}; then {store.text}", details=details)


def _early_tma_cost(operation: Operation, audited: AuditedModule) -> Cost | None:
    """Refuse to cost a copy by the tensor memory accelerator in a dump of 2.1.

    Raises:
        LayoutError: always.
    """
    raise LayoutError("how Triton 2.1 cut a copy into messages is not followed")


COSTS: dict[str, CostFunction] = {
    "async_tdm_copy_global_to_local": tdm_cost,
    "async_tdm_copy_local_to_global": tdm_cost,
    "async_tdm_fused_copy_global_to_local": fused_cost,
    "async_tdm_gather": tdm_cost,
    "async_tdm_scatter": tdm_cost,
    "async_tma_copy_global_to_local": tma_cost,
    "async_tma_copy_local_to_global": tma_cost,
    "async_tma_gather": tma_cost,
    "async_tma_reduce": tma_cost,
    "async_tma_scatter": tma_cost,
    MovementKind.CONVERSION: conversion_cost,
    MovementKind.GATHER: exchange_cost,
    MovementKind.HISTOGRAM: exchange_cost,
    MovementKind.REDUCTION: exchange_cost,
    MovementKind.SCAN: exchange_cost,
    "insert_slice": _slice_cost,
    "insert_slice_tma": _early_tma_cost,
    "store_async": _early_tma_cost,
    "local_atomic_scatter_rmw": indexed_cost,
    "local_gather": indexed_cost,
    "local_scatter": indexed_cost,
    "async_shared_store": remote_cost,
    "remote_shmem_store": remote_cost,
    "async_remote_shmem_store": remote_cost,
    MovementKind.GLOBAL_LOAD: global_cost,
    MovementKind.GLOBAL_STORE: global_cost,
    MovementKind.GLOBAL_ATOMIC: atomic_cost,
    MovementKind.COPY_IN: global_cost,
    MovementKind.COPY_OUT: global_cost,
    MovementKind.LOCAL_LOAD: shared_cost,
    MovementKind.LOCAL_STORE: shared_cost,
    "tmem_alloc": allocation_cost,
    "tmem_copy": copy_cost,
    "tmem_load": message_cost,
    "tmem_store": message_cost,
}
"""Name of an operation without its dialect, or group of data movements -> what costs it."""


def cost_of(operation: Operation, audited: AuditedModule) -> Cost | None:
    """Return the cost of a data movement; None where no analysis covers it.

    Raises:
        UnsupportedError: the compiler would refuse the operation.
        LayoutError: the cost is not known, and why.
    """
    name = operation.name.rpartition(".")[2]
    function = COSTS.get(name) or COSTS.get(operation.group)
    if function is None:
        return None
    if audited.gpu is None and function is not conversion_cost:
        raise LayoutError(audited.no_gpu)
    return function(operation, audited)
