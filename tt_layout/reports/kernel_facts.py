"""Facts of one kernel of an audit, from which its features are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds import Bounds, kernel_bounds
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.operations.details import TensorMemoryAllocationDetails
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.summary import Summary, kernel_names, kinds_of, summaries
from tt_layout.audit.values.executions import assumed_runs
from tt_layout.ir.operations import layout_of
from tt_layout.version import __version__

Grid = tuple[int, ...]


@dataclass(frozen=True)
class KernelFacts:
    """One kernel of an audit.

    Attributes:
        file: the dump.
        audit: of the module.
        function: the kernel, as the module calls it; None outside of any.
        summary: of the kernel.
        grid: programs along x, y and z; None where it is not known.
    """

    file: str
    audit: Audit
    function: str | None
    summary: Summary
    grid: Grid | None = None
    package: str = __version__

    @cached_property
    def rows(self) -> list[MovementRow]:
        """Its data movements."""
        return [row for row in self.audit.movements if row.operation.function == self.function]

    @cached_property
    def products(self) -> list[Multiplication]:
        """Its multiplications of matrices."""
        return [
            product for product in self.audit.multiplications if product.function == self.function
        ]

    @cached_property
    def bounds(self) -> Bounds | None:
        """Lower bounds of its time; None if the GPU has no rates."""
        return kernel_bounds(self.audit, self.function, self.grid)

    @cached_property
    def kinds(self) -> Counter[str]:
        """Its findings by kind."""
        return kinds_of(self.summary)

    def costed(self, family: type[object]) -> Iterator[MovementRow]:
        """Yield the data movements whose costs are of a family."""
        for row in self.rows:
            if row.cost is not None and isinstance(row.cost.details, family):
                yield row

    def runs(self, row: MovementRow) -> int:
        """Return how often a data movement runs in one program, as findings count it."""
        return assumed_runs(row.executions)

    @property
    def cycles(self) -> float:
        """Cycles of its data movements in one program, as far as they are known."""
        return sum(row.cycles or 0.0 for row in self.rows)

    @property
    def findings_share(self) -> float | None:
        """Share of its cycles wasted by findings, 0 to 1."""
        return min(1.0, self.summary.weight / self.cycles) if self.cycles else None

    @property
    def is_assumed(self) -> bool:
        """Whether something runs an unknown number of times."""
        runs = [row.executions for row in self.rows]
        runs += [product.executions for product in self.products]
        return any(executions.number is None for executions in runs)

    @property
    def flops(self) -> float:
        """FLOPs of its multiplications in one program."""
        return sum(product.flops * assumed_runs(product.executions) for product in self.products)

    @property
    def layouts(self) -> int:
        """Number of different layouts of its data movements."""
        ends = ((row.operation.source, row.operation.target) for row in self.rows)
        return len({layout_of(end) for pair in ends for end in pair} - {None})

    @property
    def tensor_columns(self) -> int:
        """Columns of tensor memory that it allocates."""
        details = (row.cost.details for row in self.rows if row.cost is not None)
        return sum(x.columns for x in details if isinstance(x, TensorMemoryAllocationDetails))

    @property
    def limited_by(self) -> str | None:
        """Resource that limits the CTAs on a multiprocessor; None if it is not known."""
        occupancy = self.summary.occupancy
        return "+".join(occupancy.limited_by) if occupancy is not None else None

    @property
    def threads_per_warp(self) -> int | None:
        """As the module states."""
        return self.audit.module.number("threads-per-warp")

    @property
    def ctas(self) -> int | None:
        """Number of CTAs of a cluster, as the module states."""
        return self.audit.module.number("num-ctas")

    @property
    def programs(self) -> int | None:
        """Number of programs of the grid; None if it is not known."""
        if self.grid is None:
            return None
        x, y, z = (*self.grid, 1, 1, 1)[:3]
        return x * y * z


def kernels_of(file: str, audit: Audit, grid: Grid | None = None) -> Iterator[KernelFacts]:
    """Yield the facts of each kernel of a module."""
    for function, summary in zip(kernel_names(audit), summaries(audit)):
        yield KernelFacts(file, audit, function, summary, grid)
