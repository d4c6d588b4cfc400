"""A kernel as steps: what of its operations decides how long they take, and nothing else.

Read next:    `tt_layout.audit.time.walk`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tt_layout.audit.operations.details import Details
from tt_layout.ir.traits import Traits, traits_of
from tt_layout.records import dataclass

Names = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A passage into, between or out of the regions of a step.

    Attributes:
        begin: the region that it leaves; None at the beginning of the step.
        end: the region that it enters; None behind the step.
        passed, received: names of the values that are handed over, and what they become.
    """

    begin: int | None
    end: int | None
    passed: Names
    received: Names


@dataclass(frozen=True, kw_only=True)
class Product:
    """A multiplication of matrices in a step.

    Attributes:
        instruction: as the assembler spells it; None where there is none.
        shape: M, N and K of an instruction.
        flops: of one execution.
        element: of A.
        a_in_registers: whether A comes from registers.
        fma: multiplications and additions of a thread, where there is no instruction.
    """

    instruction: str | None
    shape: tuple[int, int, int]
    flops: float
    element: str
    a_in_registers: bool
    fma: float


@dataclass(frozen=True, kw_only=True)
class Access:
    """The bytes that a step moves in one execution, in the mean over the programs.

    Attributes:
        kind: under which heading totals count it.
        details: its cost; None where that is not known.
        bytes: of its elements.
        sector_bytes: that it asks of the second-level cache; None where that is not known.
        wavefronts: in which the load-store unit passes it; None where that is not known.
        touched: bytes that all programs touch by it; None where its addresses are not known.
        apart: the part of the programs that touch bytes of their own there, as far as addresses
            that are not known tell.
        filled: the part of the lines of 128 bytes that an execution asks for, where it is known.
        is_scattered: whether loaded numbers say where its bytes are.
        is_table: whether they do, and what is touched is all that they may point at.
        spread: bytes of lines that it asks for, beyond its sectors, where numbers say which.
    """

    kind: str
    details: Details | None
    bytes: float
    sector_bytes: float | None = None
    wavefronts: float | None = None
    touched: float | None = None
    apart: float = 1
    filled: float = 1
    is_scattered: bool = False
    is_table: bool = False
    spread: float = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """An operation; two of them are never equal, so that dictionaries have steps as keys.

    Attributes:
        name: of the operation, with its dialect.
        line: of the dump.
        source: line of the program; None where the dump does not say.
        file: of the program; None where the dump does not say.
        operands, results: names of values.
        registers: elements of its result that a thread holds; 0 of scalars and memory.
        inputs: the same of its first operand.
        element, input_element: their types.
        number: of groups or products that it lets pending, for waits.
        combines: operations in the region of a reduction or scan.
        access: what it moves.
        product: what it multiplies.
        runs: how often it runs in a program, in the mean.
        is_assumed: whether that is not known.
        regions: the steps in each of its regions.
        ways: how control takes its regions.
        warps: of each region, where they differ.
        root: the buffer that its first operand in memory is part of; empty without any.
        slots: parts of that buffer.
        barrier: the barriers, one of which a copy arrives at; empty without any.
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
    combines: Names = ()
    access: Access | None = None
    product: Product | None = None
    runs: float = 1
    is_assumed: bool = False
    regions: tuple[tuple[Step, ...], ...] = ()
    ways: tuple[Passage, ...] = ()
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
    """A program of a kernel: its steps, and what all programs have in common.

    Attributes:
        steps: in their order.
        warps: of a CTA.
        held_warps: the same with those of its partitions.
        threads: of a warp.
        programs: of the launch.
        differs: whether some of them run something more often than others.
        first_bytes: of global memory that all programs touch, each once.
        needed: registers of a thread that the compiler is expected to need.
        fewest, most: the ends of that estimate.
        limit: the most that a thread may have.
        used, spilled: registers as compiled; None where only the dump is known.
        shared_bytes: of a CTA.
        tensor_columns: of tensor memory.
        is_pooled: whether a CTA takes all registers, which its partitions share out.
        unknown: what is not known that decides the time, in words.
    """

    steps: tuple[Step, ...]
    warps: int
    held_warps: int
    threads: int
    programs: int
    differs: bool
    first_bytes: float
    needed: int
    fewest: int
    most: int
    limit: int
    used: int | None
    spilled: int | None
    shared_bytes: int
    tensor_columns: int = 0
    is_pooled: bool = False
    unknown: tuple[str, ...] = ()

    @property
    def may_spill(self) -> bool:
        """Whether the estimate of its registers leaves open how much is spilled."""
        return self.spilled is None and self.most > self.limit

    @property
    def stored(self) -> float:
        """Bytes that a program stores in global memory, or adds to it."""
        stores = ("global store", "global atomic", "copy from local")
        accesses = ((step.access, step.runs) for step in self.walk())
        return sum(
            access.bytes * runs for access, runs in accesses if access and access.kind in stores
        )

    @property
    def stages(self) -> int:
        """The buffers that copies of a loop take turns in; 1 where nothing is copied in a loop."""
        copies = (one for one in self.walk() if one.access is not None and one.runs > 1)
        slots = (one.slots for one in copies if one.access and one.access.kind == "copy to local")
        return max(slots, default=1)

    def launched(self, programs: int) -> Program:
        """Return the program in a launch of another number of them, which touch as much each."""
        touched = self.first_bytes * programs / max(1, self.programs)
        return replace(self, programs=programs, first_bytes=touched)

    def walk(self) -> Iterator[Step]:
        """Yield every step, in the order of the text."""
        for step in self.steps:
            yield from step.walk()
