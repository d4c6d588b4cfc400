"""A kernel as steps: the facts about its operations that decide their time.

Read next:    `tt_layout.audit.time.walk`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tt_layout.audit.operations.details import Details
from tt_layout.audit.values.executions import Executions
from tt_layout.ir.data_movements import GLOBAL_CHANGES
from tt_layout.ir.traits import Traits, traits_of
from tt_layout.records import dataclass

Names = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A control-flow edge into, between or out of the regions of a step.

    Attributes:
        begin: the region that it leaves; None at the beginning of the step.
        end: the region that it enters; None at the end of the step.
        passed, received: names of the values before and after the edge.
    """

    begin: int | None
    end: int | None
    passed: Names
    received: Names


@dataclass(frozen=True, kw_only=True)
class MatrixProduct:
    """A multiplication of matrices in a step.

    Attributes:
        instruction: mnemonic of the matrix instruction; None where there is none.
        shape: M, N and K of an instruction.
        flops: FLOPs of one execution.
        element: element type of A.
        a_in_registers: whether A comes from registers.
        fma: multiply-adds of a thread, where there is no instruction.
    """

    instruction: str | None
    shape: tuple[int, int, int]
    flops: float
    element: str
    a_in_registers: bool
    fma: float


@dataclass(frozen=True, kw_only=True)
class StepTraffic:
    """Bytes that a step moves in one execution, on average over the programs.

    Attributes:
        kind: its heading in totals.
        details: details of its cost; None where that is not known.
        bytes: bytes of its elements.
        sector_bytes: bytes of its sectors in the second-level cache; None where not known.
        wavefronts: wavefronts in the load/store unit; None where not known.
        touched: bytes that all programs touch; None where its addresses are not known.
        once: bytes of the distinct sectors of an execution; None where not known.
        apart: fraction of the programs that touch bytes of their own, as far as addresses that
            are not known tell.
        filled: fraction of its 128-byte lines that an execution asks for; 1 where not known.
        is_scattered: whether its addresses depend on loaded numbers.
        is_table: whether they do, and `touched` is all that these numbers may point at.
        spread: bytes of its lines beyond its sectors, if addresses depend on loaded numbers.
        bounds: arguments of its mask, where that is not known and taken as true.
        stride: argument that is the distance of neighbours, where not known and taken as 1;
            empty without one.
        is_contiguous: whether the distances of its elements are not known, taken as contiguous.
        is_by_data: whether loaded numbers decide its mask, taken as true.
        is_joined: whether neighbouring instructions that write to one sector are joined.
    """

    kind: str
    details: Details | None
    bytes: float
    sector_bytes: float | None = None
    wavefronts: float | None = None
    touched: float | None = None
    once: float | None = None
    apart: float = 1
    filled: float = 1
    is_scattered: bool = False
    is_table: bool = False
    spread: float = 0
    bounds: Names = ()
    stride: str = ""
    is_contiguous: bool = False
    is_by_data: bool = False
    is_joined: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """An operation; compared and hashed by identity, to be a key of dictionaries.

    Attributes:
        name: name of the operation, with its dialect.
        line: line in the dump.
        source: line in the program; None where the dump has none.
        file: file of the program; None where the dump has none.
        operands, results: names of values.
        registers: elements of its result that a thread holds; 0 for scalars and memory.
        inputs: elements of its first operand that a thread holds.
        element, input_element: element types of result and first operand.
        number: groups or products that a wait leaves pending.
        divisor: constant by which integers are divided; 0 without one.
        contiguity: elements of its first operand that count up in a row.
        combines: operations in the region of a reduction or scan.
        access: the bytes that it moves.
        product: the multiplication that it does.
        runs: mean number of runs in a program.
        is_assumed: whether the number of runs is not known.
        opened: executions whose number values of arguments would tell; None without such.
        regions: the steps in each of its regions.
        edges: the control-flow edges of its regions.
        warps: warps of each region, where they differ.
        root: the buffer behind its first operand in memory; empty without any.
        slots: slots of that buffer.
        barrier: the buffer of barriers at which a copy arrives; empty without any.
    """

    name: str
    line: int
    source: int | None
    operands: Names
    results: Names
    registers: int = 0
    inputs: int = 0
    element: str = ""
    input_element: str = ""
    file: str | None = None
    number: int = 0
    divisor: int = 0
    contiguity: int = 1
    combines: Names = ()
    access: StepTraffic | None = None
    product: MatrixProduct | None = None
    runs: float = 1
    is_assumed: bool = False
    opened: Executions | None = None
    regions: tuple[tuple[Step, ...], ...] = ()
    edges: tuple[Passage, ...] = ()
    warps: tuple[int, ...] = ()
    root: str = ""
    slots: int = 1
    barrier: str = ""

    @property
    def traits(self) -> Traits:
        """The class of the operation."""
        return traits_of(self.name)

    def walk(self) -> Iterator[Step]:
        """Yield the step and all within it."""
        yield self
        for region in self.regions:
            for step in region:
                yield from step.walk()


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program of a kernel: its steps, and facts about the launch.

    Attributes:
        steps: steps in the order of the text.
        warps: warps of a CTA.
        held_warps: warps of a CTA, including its partitions.
        threads: threads of a warp.
        programs: programs of the launch.
        differs: whether some programs run an operation more often than others.
        first_bytes: bytes of global memory that all programs touch, each once.
        moved_bytes: bytes that memory moves for them, as it were at full speed.
        needed: registers of a thread that the compiler is expected to need.
        fewest, most: the ends of that estimate.
        limit: the most registers of a thread.
        used, spilled: registers as compiled; None where only the dump is known.
        shared_bytes: shared memory of a CTA.
        tensor_columns: columns of tensor memory.
        is_pooled: whether a CTA takes all registers, to share them among its partitions.
        unknown: unknown facts that decide the time, in words.
    """

    steps: tuple[Step, ...]
    warps: int
    held_warps: int
    threads: int
    programs: int
    differs: bool
    first_bytes: float
    moved_bytes: float
    needed: int
    fewest: int
    most: int
    limit: int
    used: int | None
    spilled: int | None
    shared_bytes: int
    tensor_columns: int
    is_pooled: bool
    unknown: tuple[str, ...] = ()

    @property
    def may_spill(self) -> bool:
        """Whether the range of its registers includes spilling."""
        return self.spilled is None and self.most > self.limit

    @property
    def stored(self) -> float:
        """Bytes that a program stores in global memory, or adds to it."""
        accesses = ((step.access, step.runs) for step in self.walk())
        return sum(
            access.bytes * runs
            for access, runs in accesses
            if access and access.kind in GLOBAL_CHANGES
        )

    @property
    def stages(self) -> int:
        """The pipeline's depth: slots of the buffers that loops copy to; 1 without such copies."""
        copies = (one for one in self.walk() if one.access is not None and one.runs > 1)
        slots = (one.slots for one in copies if one.access and one.access.kind == "copy to local")
        return max(slots, default=1)

    def launched(self, programs: int) -> Program:
        """Return the program in a launch of another number, each with as many bytes."""
        part = programs / max(1, self.programs)
        return replace(
            self,
            programs=programs,
            first_bytes=self.first_bytes * part,
            moved_bytes=self.moved_bytes * part,
        )

    def walk(self) -> Iterator[Step]:
        """Yield every step, in the order of the text."""
        for step in self.steps:
            yield from step.walk()
