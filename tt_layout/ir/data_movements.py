"""Table of the operations that move data: a row for each, with its movement and cost family.

A name means the same in every dialect of `DIALECTS`.  A new operation is a new row of
`OPERATIONS`: the reader finds it, totals count it, and its family costs it.

Read next:    `tt_layout.audit.operations.costs`, what costs a family.
"""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.enums import MemorySpace, TextEnum
from tt_layout.ir.names import spellings
from tt_layout.tuples import NamedTuple


class MovementKind(TextEnum):
    """Category of an operation in totals."""

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


GLOBAL_READS = (MovementKind.GLOBAL_LOAD, MovementKind.COPY_IN)
"""Movements from global memory, without atomics."""

GLOBAL_WRITES = (MovementKind.GLOBAL_STORE, MovementKind.COPY_OUT)
"""Movements to global memory, without atomics."""

GLOBAL_CHANGES = (*GLOBAL_WRITES, MovementKind.GLOBAL_ATOMIC)
"""Movements whose bytes go to global memory."""

GLOBAL_KINDS = (*GLOBAL_READS, *GLOBAL_WRITES)
"""Movements from and to global memory, without atomics."""

LOCAL_ACCESSES = (MovementKind.LOCAL_LOAD, MovementKind.LOCAL_STORE)
"""Movements between registers and shared or tensor memory."""

Spaces = frozenset[MemorySpace]
REGISTERS = frozenset({MemorySpace.REGISTERS})
MEMORY = frozenset({MemorySpace.SHARED, MemorySpace.TENSOR})
EITHER = REGISTERS | MEMORY
GLOBAL = frozenset({MemorySpace.GLOBAL})

DIALECTS = (
    "tt",
    "tensor",
    *spellings("ttg"),
    *spellings("ttng"),
    *spellings("amdg"),
    *spellings("ttig"),
)


class Family(TextEnum):
    """Cost family of an operation."""

    GLOBAL = "global memory"
    ATOMIC = "atomic"
    CONVERSION = "conversion"
    EXCHANGE = "exchange"
    SHARED = "shared memory"
    INDEXED = "indexed shared memory"
    SLICE = "inserted slice"
    TMA = "tensor memory accelerator"
    TDM = "tensor data mover"
    TENSOR_MEMORY = "tensor memory"
    MULTIPLICATION = "multiplication"
    FUNCTION = "function"


class DataMovement(NamedTuple):
    """Effect of an operation on data.

    Attributes:
        source: the memory spaces that the data may come from; the types determine which.
        target: the memory spaces that it may go to.
        kind: its category in totals.
        is_indexed: whether a tensor of indices precedes that of the stored values, or replaces
            pointers.
        is_fused: whether it moves several buffers, the last of which is its target.
    """

    source: Spaces
    target: Spaces
    kind: MovementKind
    is_indexed: bool = False
    is_fused: bool = False


class OperationRow(NamedTuple):
    """Row of an operation in the table.

    Attributes:
        movement: its movement between layouts; None if it is not listed.
        family: its cost family; None if it has no cost.
        no_cost: the reason why it has none.
        names_types: whether all its types are beside its name, not after a region.
    """

    movement: DataMovement | None
    family: Family | None = None
    no_cost: str = ""
    names_types: bool = True


_CONVERT = DataMovement(EITHER, EITHER, MovementKind.CONVERSION)
_LOAD = DataMovement(MEMORY, REGISTERS, MovementKind.LOCAL_LOAD)
_STORE = DataMovement(REGISTERS, MEMORY, MovementKind.LOCAL_STORE)
_FETCH = DataMovement(GLOBAL, REGISTERS, MovementKind.GLOBAL_LOAD)
_WRITE = DataMovement(REGISTERS, GLOBAL, MovementKind.GLOBAL_STORE)
_ATOMIC = DataMovement(REGISTERS, GLOBAL, MovementKind.GLOBAL_ATOMIC)
_COPY_IN = DataMovement(GLOBAL, MEMORY, MovementKind.COPY_IN)
_COPY_OUT = DataMovement(MEMORY, GLOBAL, MovementKind.COPY_OUT)
_COPY_WITHIN = DataMovement(MEMORY, MEMORY, MovementKind.COPY_WITHIN)


def _indexed(movement: DataMovement) -> DataMovement:
    return movement._replace(is_indexed=True)


def _exchange(kind: MovementKind) -> OperationRow:
    return OperationRow(
        DataMovement(REGISTERS, REGISTERS, kind), Family.EXCHANGE, names_types=False
    )


def _uncosted(why: str, *names: str) -> dict[str, OperationRow]:
    """Return rows of operations whose data no layout describes."""
    return {name: OperationRow(None, no_cost=why) for name in names}


_LOWERED = "a later pass turns it into TMA copies, or into loads and stores"
_REMOTE = "the cost of another CTA's shared memory was not measured"
_BLOCK_LOAD = "no document gives the cost of Intel's 2D block loads"
_EARLY_TMA = "the messages of Triton 2.1 are not modelled"

OPERATIONS: Mapping[str, OperationRow] = {
    "load": OperationRow(_FETCH, Family.GLOBAL),
    "store": OperationRow(_WRITE, Family.GLOBAL),
    "atomic_rmw": OperationRow(_ATOMIC, Family.ATOMIC),
    "atomic_cas": OperationRow(_ATOMIC, Family.ATOMIC),
    "async_copy_global_to_local": OperationRow(_COPY_IN, Family.GLOBAL),
    "insert_slice_async": OperationRow(_COPY_IN, Family.GLOBAL),
    "insert_slice_async_v2": OperationRow(_COPY_IN, Family.GLOBAL),
    "buffer_load": OperationRow(_FETCH, Family.GLOBAL),
    "buffer_load_to_local": OperationRow(_COPY_IN, Family.GLOBAL),
    "buffer_store": OperationRow(_WRITE, Family.GLOBAL),
    "buffer_atomic_rmw": OperationRow(_ATOMIC, Family.ATOMIC),
    "buffer_atomic_cas": OperationRow(_ATOMIC, Family.ATOMIC),
    "async_copy_local_to_global": OperationRow(_COPY_OUT, Family.GLOBAL),
    "convert_layout": OperationRow(_CONVERT, Family.CONVERSION),
    "reduce": _exchange(MovementKind.REDUCTION),
    "scan": _exchange(MovementKind.SCAN),
    "gather": _exchange(MovementKind.GATHER),
    "histogram": _exchange(MovementKind.HISTOGRAM),
    "local_alloc": OperationRow(_STORE, Family.SHARED),
    "alloc_tensor": OperationRow(_STORE, Family.SHARED),
    "local_load": OperationRow(_LOAD, Family.SHARED),
    "local_store": OperationRow(_STORE, Family.SHARED),
    "local_load_packed_tranposed": OperationRow(_LOAD, Family.SHARED),
    "local_load_packed_transposed": OperationRow(_LOAD, Family.SHARED),
    "insert_slice": OperationRow(_STORE, Family.SLICE),
    "local_gather": OperationRow(_LOAD, Family.INDEXED),
    "local_scatter": OperationRow(_indexed(_STORE), Family.INDEXED),
    "local_atomic_scatter_rmw": OperationRow(_indexed(_STORE), Family.INDEXED),
    "async_tma_copy_global_to_local": OperationRow(_COPY_IN, Family.TMA),
    "async_tma_copy_local_to_global": OperationRow(_COPY_OUT, Family.TMA),
    "async_tma_reduce": OperationRow(_COPY_OUT, Family.TMA),
    "async_tma_gather": OperationRow(_indexed(_COPY_IN), Family.TMA),
    "async_tma_scatter": OperationRow(_COPY_OUT, Family.TMA),
    "async_tdm_copy_global_to_local": OperationRow(_COPY_IN, Family.TDM),
    "async_tdm_fused_copy_global_to_local": OperationRow(
        _COPY_IN._replace(is_fused=True), Family.TDM
    ),
    "async_tdm_copy_local_to_global": OperationRow(_COPY_OUT, Family.TDM),
    "async_tdm_gather": OperationRow(_indexed(_COPY_IN), Family.TDM),
    "async_tdm_scatter": OperationRow(_COPY_OUT, Family.TDM),
    "tmem_alloc": OperationRow(_STORE, Family.TENSOR_MEMORY),
    "tmem_load": OperationRow(_LOAD, Family.TENSOR_MEMORY),
    "tmem_store": OperationRow(_STORE, Family.TENSOR_MEMORY),
    "tmem_copy": OperationRow(_COPY_WITHIN, Family.TENSOR_MEMORY),
    "dot": OperationRow(None, Family.MULTIPLICATION),
    "dot_async": OperationRow(None, Family.MULTIPLICATION),
    "dot_scaled": OperationRow(None, Family.MULTIPLICATION),
    "warp_group_dot": OperationRow(None, Family.MULTIPLICATION),
    "tc_gen5_mma": OperationRow(None, Family.MULTIPLICATION),
    "tc_gen5_mma_scaled": OperationRow(None, Family.MULTIPLICATION),
    "warp_specialize": OperationRow(None, Family.FUNCTION),
    "call": OperationRow(None, Family.FUNCTION),
    "descriptor_load": OperationRow(_FETCH, no_cost=_LOWERED),
    "experimental_descriptor_load": OperationRow(_FETCH, no_cost=_LOWERED),
    "descriptor_store": OperationRow(_WRITE, no_cost=_LOWERED),
    "experimental_descriptor_store": OperationRow(_WRITE, no_cost=_LOWERED),
    "descriptor_reduce": OperationRow(_WRITE, no_cost=_LOWERED),
    "descriptor_gather": OperationRow(_FETCH, no_cost=_LOWERED),
    "descriptor_scatter": OperationRow(_indexed(_WRITE), no_cost=_LOWERED),
    "2d_block_load": OperationRow(_FETCH, no_cost=_BLOCK_LOAD),
    "2d_block_load_from_ptr": OperationRow(_FETCH, no_cost=_BLOCK_LOAD),
    "remote_shmem_store": OperationRow(_STORE, no_cost=_REMOTE),
    "async_remote_shmem_store": OperationRow(_STORE, no_cost=_REMOTE),
    "async_shared_store": OperationRow(_STORE, no_cost=_REMOTE),
    "insert_slice_tma": OperationRow(_COPY_IN, no_cost=_EARLY_TMA),
    "store_async": OperationRow(_COPY_OUT, no_cost=_EARLY_TMA),
    **_uncosted(
        "a single number, by one thread, as often as it has to wait",
        "atomic_load",
        "atomic_store",
        "atomic_poll",
    ),
    **_uncosted(
        "one instruction for a whole buffer, whose size is an argument or the buffer's; its "
        "wavefronts were not measured",
        "async_remote_shmem_copy",
        "async_store",
    ),
    **_uncosted(
        "a placeholder for an exchange that a later pass of the fork expands", "two_cta_peer_gather"
    ),
    **_uncosted(
        "moves data into a cache, and caches are not modelled",
        "async_tma_prefetch",
        "prefetch",
        "prefetch_tensormap",
        "descriptor_prefetch",
        "tdm_prefetch",
    ),
    **_uncosted(
        "a descriptor of 128 bytes (gfx1250: registers), once for each kernel; its scratch is in "
        "the table of shared memory",
        "make_tensor_descriptor",
        "tensormap_create",
        "tensormap_fenceproxy_acquire",
        "update_tensor_descriptor",
    ),
    **_uncosted(
        "16 bytes from the hardware's scheduler, by one thread",
        "async_clc_try_cancel",
        "clc_try_cancel",
        "clc_try_cancel_async",
        "clc_try_cancel_sync",
        "clc_load_result",
        "clc_read",
        "clc_query_cancel",
    ),
    **_uncosted(
        "8 bytes, the state of a barrier; its time is the time that it waits",
        "init_barrier",
        "inval_barrier",
        "barrier_expect",
        "wait_barrier",
        "arrive_barrier",
        "async_copy_mbarrier_arrive",
        "read_barrier_phase",
    ),
    **_uncosted(
        "between the lanes of a sub-group; no document gives its cost", "sub_group_transpose"
    ),
    **_uncosted("one bit of each lane, by one instruction", "vote_ballot_sync"),
    **_uncosted("to the host, and only when they print or fail", "print", "assert"),
    **_uncosted("exist only during the conversion to LLVM", "masked_load", "masked_store"),
    **_uncosted("multiplies registers, fragment by fragment; only in the fork", "scheduled_mfma"),
}
"""Name without dialect -> what is known of the operation.  The types determine whether a tensor of
2022 to 2.3 with a shared layout is in registers or in memory."""

DATA_MOVEMENTS: Mapping[str, DataMovement] = {
    name: row.movement for name, row in OPERATIONS.items() if row.movement and row.names_types
}
"""The movements whose types are beside the name, where the reader of a dump finds them; the others
are found where functions are read as a whole."""
