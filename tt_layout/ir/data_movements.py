"""The operations that move data between layouts, as data.

Each row names where the data comes from and where it goes; which of the operation's types
those are follows from that.  A name stands for itself in every dialect of `DIALECTS`.
"""

from __future__ import annotations

from typing import NamedTuple

from tt_layout.enums import MemorySpace, TextEnum


class MovementKind(TextEnum):
    """What totals count an operation under."""

    CONVERSION = "conversion"
    LOCAL_LOAD = "local load"
    LOCAL_STORE = "local store"
    GLOBAL_LOAD = "global load"
    GLOBAL_STORE = "global store"
    GLOBAL_ATOMIC = "global atomic"
    COPY_IN = "copy to local"
    COPY_OUT = "copy from local"
    COPY_WITHIN = "copy within local"
    ALLOCATION = "allocation"
    REDUCTION = "reduction"
    SCAN = "scan"
    GATHER = "gather"
    HISTOGRAM = "histogram"


GLOBAL_KINDS = (
    MovementKind.GLOBAL_LOAD,
    MovementKind.GLOBAL_STORE,
    MovementKind.COPY_IN,
    MovementKind.COPY_OUT,
)
"""Movements from and to global memory, without atomics."""

LOCAL_ACCESSES = (MovementKind.LOCAL_LOAD, MovementKind.LOCAL_STORE)
"""Movements between registers and shared or tensor memory."""

Spaces = frozenset[MemorySpace]
REGISTERS = frozenset({MemorySpace.REGISTERS})
MEMORY = frozenset({MemorySpace.SHARED, MemorySpace.TENSOR})
EITHER = REGISTERS | MEMORY
GLOBAL = frozenset({MemorySpace.GLOBAL})

DIALECTS = ("ttg", "ttng", "tt", "triton_gpu", "triton_nvidia_gpu", "amdg", "amdgpu", "tensor")


class DataMovement(NamedTuple):
    """What an operation does with data.

    Attributes:
        source: the memory spaces that the data may come from; the types say which of them.
        target: the same for where the data goes.
        kind: under which heading totals count it.
        is_indexed: whether a tensor of indices stands before that of the values stored, or in
            place of pointers.
        is_fused: whether it moves several buffers, the last of which is its target.
    """

    source: Spaces
    target: Spaces
    kind: MovementKind
    is_indexed: bool = False
    is_fused: bool = False


_CONVERT = DataMovement(EITHER, EITHER, MovementKind.CONVERSION)
_LOAD = DataMovement(MEMORY, REGISTERS, MovementKind.LOCAL_LOAD)
_STORE = DataMovement(REGISTERS, MEMORY, MovementKind.LOCAL_STORE)
_FETCH = DataMovement(GLOBAL, REGISTERS, MovementKind.GLOBAL_LOAD)
_WRITE = DataMovement(REGISTERS, GLOBAL, MovementKind.GLOBAL_STORE)
_ATOMIC = DataMovement(REGISTERS, GLOBAL, MovementKind.GLOBAL_ATOMIC)
_COPY_IN = DataMovement(GLOBAL, MEMORY, MovementKind.COPY_IN)
_GATHER_IN = DataMovement(GLOBAL, MEMORY, MovementKind.COPY_IN, is_indexed=True)
_COPY_OUT = DataMovement(MEMORY, GLOBAL, MovementKind.COPY_OUT)

DATA_MOVEMENTS: dict[str, DataMovement] = {
    "convert_layout": _CONVERT,
    "local_load": _LOAD,
    "local_load_packed_tranposed": _LOAD,
    "local_load_packed_transposed": _LOAD,
    "local_gather": _LOAD,
    "tmem_load": _LOAD,
    "local_store": _STORE,
    "local_scatter": _STORE._replace(is_indexed=True),
    "local_atomic_scatter_rmw": _STORE._replace(is_indexed=True),
    "async_shared_store": _STORE,
    "remote_shmem_store": _STORE,
    "async_remote_shmem_store": _STORE,
    "tmem_store": _STORE,
    "local_alloc": _STORE,
    "tmem_alloc": _STORE,
    "alloc_tensor": _STORE,
    "insert_slice": _STORE,
    "tmem_copy": DataMovement(MEMORY, MEMORY, MovementKind.COPY_WITHIN),
    "load": _FETCH,
    "descriptor_load": _FETCH,
    "descriptor_gather": _FETCH,
    "experimental_descriptor_load": _FETCH,
    "buffer_load": _FETCH,
    "store": _WRITE,
    "descriptor_store": _WRITE,
    "descriptor_reduce": _WRITE,
    "descriptor_scatter": _WRITE._replace(is_indexed=True),
    "experimental_descriptor_store": _WRITE,
    "buffer_store": _WRITE,
    "atomic_rmw": _ATOMIC,
    "atomic_cas": _ATOMIC,
    "buffer_atomic_rmw": _ATOMIC,
    "buffer_atomic_cas": _ATOMIC,
    "async_copy_global_to_local": _COPY_IN,
    "async_tma_copy_global_to_local": _COPY_IN,
    "async_tma_gather": _GATHER_IN,
    "async_tdm_copy_global_to_local": _COPY_IN,
    "async_tdm_fused_copy_global_to_local": _COPY_IN._replace(is_fused=True),
    "async_tdm_gather": _GATHER_IN,
    "buffer_load_to_local": _COPY_IN,
    "insert_slice_async": _COPY_IN,
    "insert_slice_async_v2": _COPY_IN,
    "insert_slice_tma": _COPY_IN,
    "async_tma_copy_local_to_global": _COPY_OUT,
    "async_tma_scatter": _COPY_OUT,
    "async_tma_reduce": _COPY_OUT,
    "async_tdm_copy_local_to_global": _COPY_OUT,
    "async_tdm_scatter": _COPY_OUT,
    "async_copy_local_to_global": _COPY_OUT,
    "store_async": _COPY_OUT,
}
"""Name without dialect -> what it does.  The types determine whether a tensor of 2022 to 2.3 with
a shared layout is in registers or in memory."""

EXCHANGES: dict[str, DataMovement] = {
    name: DataMovement(REGISTERS, REGISTERS, kind)
    for name, kind in (
        ("reduce", MovementKind.REDUCTION),
        ("scan", MovementKind.SCAN),
        ("gather", MovementKind.GATHER),
        ("histogram", MovementKind.HISTOGRAM),
    )
}
"""The same of operations that combine what threads hold.  Their types may stand behind a region, so
that they are found where functions are read as a whole."""
