"""Times that a launch cannot beat: what its programs ask for, over what the GPU does at most.

A resource of a multiprocessor is busy for what the programs on it ask for.  The busiest has at
least ``ceil(programs / multiprocessors)`` of them.  Memory and the second-level cache serve all
together.  Without a number of programs a bound is that of one program, in cycles of a
multiprocessor that has its share of memory to itself.

Read next:    `tt_layout.audit.bounds.work`, `tt_layout.hardware.product`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds.footprint import Footprint, footprint
from tt_layout.audit.bounds.work import Work, program_work
from tt_layout.audit.measured.launch import Launch
from tt_layout.audit.measured.programs import Programs
from tt_layout.hardware.product import Product

Grid = tuple[int, ...]


class Bound(NamedTuple):
    """A time that a launch, or a program, cannot beat.

    Attributes:
        resource: what is busy: ``DRAM``, ``L2``, ``LSU``, ``tensor cores``, ``FMA``,
            ``special functions``.
        cycles: of the clock of a multiprocessor.
        reason: what it is computed from.
    """

    resource: str
    cycles: float
    reason: str


@dataclass(frozen=True)
class Bounds:
    """Lower bounds of a kernel's launch.

    Attributes:
        function: the kernel.
        rates: of the GPU: those of a product.
        programs: of the grid; None where it is not known.
        bounds: the largest first.
        work: what one program asks for.
        footprint: what all programs touch of memory; None without a grid.
        is_voided: whether spills are likely, which cost more than anything that is counted.
    """

    function: str | None
    rates: Product
    programs: int | None
    bounds: tuple[Bound, ...]
    work: Work
    footprint: Footprint | None = None
    is_voided: bool = False

    @property
    def largest(self) -> Bound | None:
        """The resource that binds; None where the kernel asks for nothing that has a rate."""
        return self.bounds[0] if self.bounds and self.bounds[0].cycles > 0 else None

    @property
    def cycles(self) -> float:
        """The largest bound, in cycles; 0 where there is none."""
        return self.largest.cycles if self.largest is not None else 0

    @property
    def programs_per_multiprocessor(self) -> float:
        """The mean over all multiprocessors; 1 without a grid."""
        return self.programs / self.rates.multiprocessors if self.programs is not None else 1

    @property
    def is_assumed(self) -> bool:
        """Whether it rests on runs that are not known: then it is no bound, but an estimate."""
        return self.work.assumed

    def seconds(self, bound: Bound) -> float:
        """Return a bound in seconds, at the boost clock."""
        return bound.cycles / self.rates.clock_hz

    def of(self, resource: str) -> Bound | None:
        """Return the bound of a resource; None where it has no rate."""
        return next((bound for bound in self.bounds if bound.resource == resource), None)


def kernel_bounds(audit: Audit, function: str | None, grid: Grid | None = None) -> Bounds | None:
    """Return the lower bounds of a kernel's launch; None if the GPU has no rates.

    Args:
        audit: of its module, with the values of its arguments where they are known.
        function: the kernel.
        grid: programs along x, y and z; None where it is not known.

    Example:
        >>> from tt_layout.audit.audit import audit_module
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... #a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
        ...   tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
        ...     %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #a>
        ...     %s = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #a>
        ...     %q = tt.addptr %s, %i : tensor<512x!tt.ptr<f32>, #a>, tensor<512xi32, #a>
        ...     %x = tt.load %q : tensor<512x!tt.ptr<f32>, #a>
        ...     tt.store %q, %x : tensor<512x!tt.ptr<f32>, #a>
        ...     tt.return
        ...   }
        ... }''')
        >>> found = kernel_bounds(audit_module(module), "f")
        >>> [(bound.resource, round(bound.cycles)) for bound in found.bounds if bound.cycles]
        [('DRAM', 233), ('L2', 60), ('LSU', 32)]
    """
    audited = audit.audited
    rates = audited.target.product if audited is not None and audited.target is not None else None
    if rates is None:
        return None
    programs = _product(grid) if grid is not None else None
    work = program_work(audit, function, rates, programs_of(audit, function, grid))
    touched = footprint(audit, function, grid) if grid is not None else None
    ordered = sorted(_bounds(work, touched, programs, rates), key=lambda one: -one.cycles)
    spills = any(pressure.spills for pressure in audit.registers_of(function))
    return Bounds(function, rates, programs, tuple(ordered), work, touched, spills)


def programs_of(audit: Audit, function: str | None, grid: Grid | None) -> Programs | None:
    """Return the programs of a launch; None without a grid."""
    if grid is None or function is None:
        return None
    x, y, z = (*grid, 1, 1, 1)[:3]
    return Programs(audit, Launch(function, "", ctas=x * y * z, grid=(x, y, z)), function)


def _product(grid: Grid) -> int:
    total = 1
    for size in grid:
        total *= size
    return total


def _bounds(
    work: Work, touched: Footprint | None, programs: int | None, rates: Product
) -> Iterator[Bound]:
    sms = rates.multiprocessors
    count = programs if programs is not None else sms
    rounds = -(-count // sms)
    moved = touched.bytes if touched is not None else work.dram_bytes * count
    per_cycle = rates.dram_bytes / rates.clock_hz
    reason = f"{moved:.3g} bytes at {rates.dram_bytes / 1e12:.3g} TB/s"
    yield Bound("DRAM", moved / per_cycle, reason)
    if rates.l2_bytes is not None:
        asked = work.l2_bytes * count
        speed = f"{rates.l2_bytes:.3g} bytes a cycle and SM"
        yield Bound("L2", asked / (rates.l2_bytes * sms), f"{asked:.3g} bytes at {speed}")
    for resource, cycles, unit in (
        ("LSU", work.lsu_cycles / rates.lsu_cycles, "wavefronts"),
        ("tensor cores", work.tensor_cycles, "cycles of matrix instructions"),
        ("FMA", work.fma / rates.fma, "cycles of additions and multiplications"),
        ("special functions", work.special / rates.special if rates.special else 0, "cycles"),
    ):
        reason = f"{cycles:.3g} {unit} of a program, {rounds} on an SM"
        yield Bound(resource, cycles * rounds, reason)
