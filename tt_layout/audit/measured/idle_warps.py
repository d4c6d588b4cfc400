"""Warps that have nothing to store, around which ptxas branches.

A warp without an active lane in the last store of a program ends before it, and branches around an
atomic whose result nobody takes.  What only that instruction needs is loaded from shared memory
behind the branch.

Source:
    The assembly of ptxas for sm90 in the wheel 3.6; counters of an H100 and an H200.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from tt_layout.algebra.linear_layout import log2
from tt_layout.analyses.conversion.conversion import without_replication
from tt_layout.analyses.conversion.scratch import buffer
from tt_layout.audit.global_memory.cost import WholeAccess
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.suggestions.flow import is_elementwise, is_free
from tt_layout.audit.values.grid import Grid
from tt_layout.audit.values.unknown import UnknownError
from tt_layout.hardware import find_target
from tt_layout.ir.ssa import Block, SsaFunction, SsaOperation, Value
from tt_layout.mlir.types import element_bits

_ATOMICS = ("atomic_rmw", "atomic_cas")


class IdleWarps:
    """The warps of a kernel that have nothing to store.

    Args:
        audited: the module.
        function: the kernel.
        grid: the programs of a launch; None where they are not known.
        access_of: answers with an access to global memory; None where it is not known.
        needs_scratch: tells whether threads wait for each other in an operation.
    """

    def __init__(
        self,
        audited: AuditedModule,
        function: SsaFunction,
        grid: Grid | None,
        access_of: Callable[[SsaOperation], WholeAccess | None],
        needs_scratch: Callable[[SsaOperation], bool],
    ) -> None:
        self._audited, self._function, self._grid = audited, function, grid
        self._access_of, self._needs_scratch = access_of, needs_scratch

    def of_store(self, store: SsaOperation) -> int:
        """Return how many warps of all programs end before a last store; 0 of other accesses."""
        access = self._access_of(store) if store in self._last_stores else None
        if access is None or self._grid is None:
            return 0
        try:
            return sum(count * idle for count, idle in self._grid.answers(access.idle))
        except UnknownError:
            return 0

    def behind(self, full: FullOperation, result: int, loads: int, runs: float) -> float:
        """Return how many loads of a result are behind a branch that warps take.

        Args:
            full: an operation that hands its results on in shared memory.
            result: the number of the result.
            loads: instructions that load it, of each warp.
            runs: how often the operation runs, in all programs.
        """
        if full.operation.name == "tt.scan":
            return 0  # whose loads are for a choice, which is before the branch
        last = self._only_use(full.operation.results[result])
        if last is None or self._waits_between(full.operation, last):
            return 0
        if last.name.rpartition(".")[2] in _ATOMICS:
            return runs * self._of_atomic(last) * loads
        access = self._access_of(last) if not full.within else None
        if access is None:
            return 0
        turn, rest = divmod(loads, access.placed.width.instructions)
        if rest or (turn < loads and not self._is_in_order(full.operation, loads)):
            return 0
        return self.of_store(last) * turn

    def _only_use(self, value: Value) -> SsaOperation | None:
        """Return the one operation that needs a value, or that and constants; None if more do.

        What is computed with another value, or in several steps (a logarithm), is loaded before
        the branch.
        """
        while len(value.uses) == 1:
            [(operation, _)] = value.uses
            if not _is_behind_branch(operation):
                return operation
            operations = [v.definition for v in operation.operands if v is not value]
            if any(producer is None or not producer.traits.constant for producer in operations):
                return None
            value = operation.results[0]
        return None

    def _is_in_order(self, operation: SsaOperation, loads: int) -> bool:
        """Tell whether each load is of registers beside each other, as a store's are."""
        if not operation.name.endswith("convert_layout"):
            return operation.name == "tt.reduce"
        audited, value = self._audited, operation.results[0]
        types = [self._function.type_of(v) for v in (operation.operands[0], value)]
        src, dst = (audited.layouts.linear(ir_type) for ir_type in types)
        bits = element_bits(value.type.element)
        if src is None or dst is None or bits is None or audited.gpu is None:
            return False
        memory = buffer(src, dst, max(8, bits), find_target(audited.gpu))
        vectors = without_replication(dst).vectors("register")
        together = log2(max(1, (1 << len(vectors)) // loads))
        places = [memory.location(dst.flatten(vector)) for vector in vectors[:together]]
        return all(
            (offset, in_round) == (1 << bit, 0) for bit, (offset, in_round, _) in enumerate(places)
        )

    def _of_atomic(self, atomic: SsaOperation) -> int:
        """Return how many warps of a program repeat what others do in an atomic."""
        if any(value.uses for value in atomic.results) or len(atomic.operands) < 2:
            return 0
        warps = self._audited.module.number("num-warps") or 1
        ir_type = self._function.type_of(atomic.operands[1])
        layout = self._audited.layouts.linear(ir_type)
        if layout is None:
            return warps - 1  # a single number
        return warps - (1 << sum(1 for vector in layout.vectors("warp") if any(vector)))

    def _waits_between(self, first: SsaOperation, last: SsaOperation) -> bool:
        """Tell whether threads wait for each other between two operations, or may."""
        if first.block is None or first.block is not last.block:
            return True
        between = (o for o in first.block.operations if first.position < o.position < last.position)
        return any(o.regions or self._needs_scratch(o) for o in between)

    @cached_property
    def _last_stores(self) -> frozenset[SsaOperation]:
        """The stores behind which a program does nothing more."""
        stores = (_last_store(block) for block in self._function.body)
        return frozenset(store for store in stores if store is not None)


def _is_behind_branch(operation: SsaOperation) -> bool:
    """Tell whether ptxas does an operation behind the branch, with what it takes."""
    traits = operation.traits
    is_short = operation.name == "math.sqrt" or not operation.name.startswith("math.")
    return traits.repeats or (traits.elementwise and is_short)


def _last_store(block: Block) -> SsaOperation | None:
    """Return the store behind which a block does nothing but return; None without one."""
    *before, last = block.operations or (None,)
    if last is None or last.name.rpartition(".")[2] != "return":
        return None
    for operation in reversed(before):
        assert operation is not None
        if operation.name == "tt.store":
            return operation
        if not is_elementwise(operation) and not is_free(operation):
            return None
    return None
