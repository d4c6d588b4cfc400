"""Whether a kernel fits the shared memory of GPUs, and with how many buffers in its rings.

A *ring* is a buffer with a leading dimension that ``ttg.memdesc_index`` chooses from: software
pipelining makes one for each load, as deep as ``num_stages`` asks.  With rings of another depth
the same kernel is allocated anew; that is what the compiler does for another ``num_stages`` of at
least 2 on the same GPU.  On another GPU it chooses other layouts: there only this dump's bytes are
held against the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tt_layout.audit.allocation import SharedMemory, module_memory
from tt_layout.audit.allocation.shared_memory import Allocation
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.stages import Pipelining, pipelining
from tt_layout.hardware import ROWS
from tt_layout.ir.module import gpu_of
from tt_layout.ir.ssa import Function
from tt_layout.ir.types import IRType
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

MOST_DEPTH = 64
"""The most buffers of a ring that are tried."""

MORE_DEPTHS = 2
"""Buffers beyond the dump's with which the bytes are always known."""

BARRIER = "i64"
"""The element of a barrier in shared memory."""


class GpuFit(NamedTuple):
    """A GPU and whether a kernel fits.

    Attributes:
        gpu: the compiler's name of the GPU.
        limit: bytes of shared memory that a CTA may have.
        fits: whether the dump's bytes fit.
        is_own: whether it is the dump's GPU.
        depth: the most buffers of the deepest ring with which the kernel fits; None for a kernel
            without rings, and for GPUs other than the dump's.
    """

    gpu: str
    limit: int
    fits: bool
    is_own: bool
    depth: int | None = None


@dataclass(frozen=True)
class KernelFit:
    """The shared memory of a kernel, and the GPUs that it fits.

    Attributes:
        function: the kernel.
        line: line on which it begins.
        bytes: bytes that it takes.
        depth: buffers of its deepest ring; None without any.
        by_depth: depth -> bytes, from 1 buffer up to the first depth that does not fit the
            dump's GPU, and at least 2 more than the dump has.
        gpus: GPUs, that of the dump first.
        peak: the allocations that reach the last byte, or are live with one that does.
        pipelining: properties of loops that the rings depend on besides the number of stages.
        unknown: the dump's GPU, where its limit for a CTA is not known.
    """

    function: str
    line: int
    bytes: int
    depth: int | None
    by_depth: Mapping[int, int]
    gpus: tuple[GpuFit, ...]
    peak: tuple[Allocation, ...]
    pipelining: Pipelining
    unknown: str | None = None

    def with_stages(self, stages: int, compiled: int) -> int | str:
        """Return the bytes with another ``num_stages``, or why they are not known.

        Args:
            stages: the other ``num_stages``.
            compiled: ``num_stages`` of the dump.
        """
        refusal = self.pipelining.refusal(stages, compiled)
        if refusal is not None:
            return refusal
        added = self.pipelining.buffers_more(stages, compiled)
        if self.depth is None or not added:
            return self.bytes
        depth = max(1, self.depth + added)
        return self.by_depth.get(depth, f"rings of {depth} buffers were not tried")

    def fits_with(self, stages: int, compiled: int) -> bool | None:
        """Tell whether it fits its own GPU with another ``num_stages``; None if that is not known.

        Args:
            stages, compiled: as in `with_stages`.
        """
        if self.pipelining.refusal(stages, compiled) is not None:
            return None
        limit = next((gpu.limit for gpu in self.gpus if gpu.is_own), None)
        size = self.with_stages(stages, compiled)
        return limit is None or (isinstance(size, int) and size <= limit)


def kernel_fits(audited: AuditedModule, known: KernelMetadata = NO_METADATA) -> list[KernelFit]:
    """Return the fit of each kernel of a module whose bytes are known.

    Args:
        audited: the module.
        known: metadata of the compiled kernel, whose bytes take precedence.

    Example:
        >>> from tt_layout.audit.modules.audited_module import SharedWork
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... #s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
        ...   tt.func public @f(%k: i32) {
        ...     %0 = ttg.local_alloc
        ...       : () -> !ttg.memdesc<3x8192xf32, #s, #ttg.shared_memory, mutable>
        ...     %1 = ttg.memdesc_index %0[%k]
        ...       : !ttg.memdesc<3x8192xf32, #s, #ttg.shared_memory, mutable>
        ...       -> !ttg.memdesc<8192xf32, #s, #ttg.shared_memory, mutable>
        ...     tt.return
        ...   }
        ... }''')
        >>> [found] = kernel_fits(AuditedModule(module, SharedWork()))
        >>> found.bytes, found.depth, found.gpus[0].depth, found.by_depth[4]
        (98304, 3, 5, 131072)
    """
    memories = [memory for memory in module_memory(audited) if not memory.is_called]
    compiled = known.shared_bytes if len(memories) == 1 else None
    fits = []
    for memory in memories:
        size = compiled if compiled is not None else memory.bytes
        if size is not None:
            function = audited.functions_by_name[memory.function]
            fits.append(_fit(memory, size, function, audited))
    return fits


def _fit(memory: SharedMemory, size: int, function: Function, audited: AuditedModule) -> KernelFit:
    rings = _rings(function)
    depth = max((ring.shape[0] for ring in rings.values()), default=None)
    named = gpu_of(audited.module.target)
    limits = {row.name: row.most_shared_bytes for row in ROWS if row.most_shared_bytes is not None}
    chip = named.chip if named is not None else None
    if named is not None and chip is not None and named.shared_bytes is not None:
        limits = {chip: named.shared_bytes, **limits}
    largest = limits[chip] if chip in limits else max(limits.values())
    by_depth = dict(_by_depth(function, rings, depth, audited, largest)) if depth else {}
    gpus = []
    for gpu, limit in limits.items():
        fitting = (depth for depth, size in by_depth.items() if size <= limit)
        deepest = max(fitting, default=None) if gpu == chip else None
        gpus.append(GpuFit(gpu, limit, size <= limit, gpu == chip, deepest))
    return KernelFit(
        memory.function,
        memory.line,
        size,
        depth,
        by_depth,
        tuple(gpus),
        peak_allocations(memory),
        pipelining(function, is_amd=named is not None and not named.target.is_nvidia),
        chip if chip not in limits else None,
    )


def _rings(function: Function) -> dict[str, IRType]:
    """Return the types of the rings of a function by their text.

    Barriers are one for each buffer of a ring of data only where they are as many.
    """
    indexed = {o.operands[0] for o in function.walk() if o.traits.chooses_buffer and o.operands}
    rings = {}
    for operation in function.walk():
        for value in operation.results if operation.traits.allocates else ():
            ir_type = function.type_of(value)
            if value in indexed and ir_type is not None and len(ir_type.shape) > 1:
                rings[value.text] = ir_type
    data = {ring.shape[0] for ring in rings.values() if ring.element_type != BARRIER}
    return {
        text: ring
        for text, ring in rings.items()
        if ring.element_type != BARRIER or ring.shape[0] == max(data, default=0)
    }


def _by_depth(
    function: Function,
    rings: Mapping[str, IRType],
    depth: int,
    audited: AuditedModule,
    largest: int,
) -> Iterator[tuple[int, int]]:
    """Yield depths and the bytes that the function takes with the deepest ring that deep."""
    for deepest in range(1, MOST_DEPTH):
        size = _bytes_with(function, rings, deepest - depth, audited)
        if size is None:
            return
        yield deepest, size
        if size > largest and deepest >= depth + MORE_DEPTHS:
            return


def _bytes_with(
    function: Function, rings: Mapping[str, IRType], added: int, audited: AuditedModule
) -> int | None:
    """Return the bytes of a function whose rings have ``added`` more buffers."""

    def resolve(text: str) -> IRType | None:
        ring = rings.get(text)
        if ring is None:
            return function.resolve_type(text)
        return ring._replace(shape=(max(1, ring.shape[0] + added), *ring.shape[1:]))

    changed = replace(function, resolve_type=resolve)
    functions = [changed if other is function else other for other in audited.functions]
    memories = module_memory(audited, functions)
    return next((memory.bytes for memory in memories if memory.function == function.name), None)


def peak_allocations(memory: SharedMemory) -> tuple[Allocation, ...]:
    """Return the allocations that are live together with one that reaches the last byte."""
    placed: Sequence[Allocation] = [a for a in memory.allocations if a.offset is not None]
    last = [a for a in placed if (a.offset or 0) + (a.bytes or 0) == memory.bytes]
    if not last:
        return ()
    begin, end = last[0].live
    return tuple(a for a in placed if a.live[0] < end and begin < a.live[1])
