"""Buffers of pipelined loops that do not grow by one with each stage.

Software pipelining lets each load of a loop run some stages before its use, and every further
stage takes a buffer more.  The loops below are scheduled in a way that depends on the number.

Source:
    Triton, lib/Dialect/TritonGPU/Transforms/Pipeliner/AssignLatencies.cpp, and
    third_party/amd/lib/TritonAMDGPUTransforms/ScheduleLoops.cpp, ChainedDotSchedule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tt_layout.ir.data_movements import OPERATIONS, Family, MovementKind
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.ir.ssa.control_flow import ControlFlow, flow_of
from tt_layout.ir.ssa.dataflow import backward_slice
from tt_layout.tuples import NamedTuple

PIPELINED = 2
"""The fewest stages with which loops are pipelined."""

CHAINED_STAGES = 4
"""Stages with which AMD's compiler has a schedule of its own for chained dots."""

TDM_STAGES = 3
"""Stages with which rings that TDM fills have two buffers, as they have with fewer."""

FETCHES = (MovementKind.GLOBAL_LOAD, MovementKind.COPY_IN)
"""Data movements that read global memory."""

READS = (MovementKind.GLOBAL_LOAD, MovementKind.LOCAL_LOAD)
"""Data movements from memory to registers."""


class Pipelining(NamedTuple):
    """The loops of a kernel whose rings depend on more than the number of stages.

    Attributes:
        indirect: the line of a load whose address is loaded in the same loop; None without any.
        chained: the line of a loop of AMD's with two dots, one of which feeds the other.
        least: number of stages below which rings do not get shallower.
    """

    indirect: int | None = None
    chained: int | None = None
    least: int = PIPELINED

    def buffers_more(self, stages: int, compiled: int) -> int:
        """Return how many more buffers rings have with some stages than as compiled.

        Example:
            >>> Pipelining().buffers_more(5, 3), Pipelining(least=3).buffers_more(2, 3)
            (2, 0)
        """
        return max(stages, self.least) - max(compiled, self.least)

    def refusal(self, stages: int, compiled: int) -> str | None:
        """Return why the bytes with some stages do not follow from the compiled ones, or None.

        Example:
            >>> Pipelining().refusal(4, 3), Pipelining(chained=7).refusal(5, 3)
            (None, None)
            >>> Pipelining(chained=7).refusal(4, 3)
            'with 4 stages AMD schedules the two dots of the loop at line 7 in another way'
        """
        if stages == compiled:
            return None
        if min(stages, compiled) < PIPELINED:
            return "with 1 stage nothing is pipelined, so it is another program"
        if self.indirect is not None:
            return f"line {self.indirect} loads at addresses that the same loop loads"
        if self.chained is not None and CHAINED_STAGES in (stages, compiled):
            where = f"the two dots of the loop at line {self.chained}"
            return f"with {CHAINED_STAGES} stages AMD schedules {where} in another way"
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on unknown effects of other numbers of stages.

        Example:
            >>> Pipelining(indirect=12).notes
            ('other num_stages are not known: line 12 loads at addresses that the same loop loads',)
        """
        if self.indirect is not None:
            return (f"other num_stages are not known: {self.refusal(PIPELINED + 1, PIPELINED)}",)
        refusal = self.refusal(CHAINED_STAGES, PIPELINED)
        return (refusal,) if refusal is not None else ()


def pipelining(function: Function, *, is_amd: bool) -> Pipelining:
    """Return the properties of a function's loops on which its stages depend.

    Args:
        function: a function after the pipeliner.
        is_amd: whether it is for an AMD GPU.
    """
    flow = flow_of(function)
    innermost = [
        loop
        for loop in function.walk()
        if loop.traits.loop and sum(nested.traits.loop for nested in loop.walk()) == 1
    ]
    indirect = (line for loop in innermost for line in _indirect_loads(loop, flow))
    chained = (loop.line for loop in innermost if is_amd and _is_chained(loop, flow))
    has_tdm = any(_is_tdm_copy(operation) for loop in innermost for operation in loop.walk())
    least = TDM_STAGES if has_tdm else PIPELINED
    return Pipelining(next(indirect, None), next(chained, None), least)


def _indirect_loads(loop: Operation, flow: ControlFlow) -> Iterator[int]:
    """Yield the lines of loads whose addresses depend on loads of the same loop."""
    read = {
        value
        for operation in loop.walk()
        if _moves(operation, READS)
        for value in operation.results
    }
    for operation in loop.walk():
        if _moves(operation, FETCHES) and not read.isdisjoint(_behind(operation.operands, flow)):
            yield operation.line


def _moves(operation: Operation, kinds: Sequence[MovementKind]) -> bool:
    """Tell whether an operation is a data movement of certain kinds."""
    return operation.movement is not None and operation.movement.kind in kinds


def _is_tdm_copy(operation: Operation) -> bool:
    row = OPERATIONS.get(operation.name.rpartition(".")[2])
    return row is not None and row.family is Family.TDM and _moves(operation, FETCHES)


def _is_chained(loop: Operation, flow: ControlFlow) -> bool:
    """Tell whether a loop has two dots, one of which feeds the other."""
    dots = [
        operation for operation in loop.walk() if operation.traits.multiplies and operation.results
    ]
    if len(dots) != 2:
        return False
    first, second = dots
    return any(
        before.results[0] in _behind(after.operands, flow)
        for before, after in ((first, second), (second, first))
    )


def _behind(values: Iterable[Value], flow: ControlFlow) -> set[Value]:
    """Return the backward slice of some values, themselves included."""
    return {*backward_slice(values, flow, through=lambda operation: not operation.regions)}
