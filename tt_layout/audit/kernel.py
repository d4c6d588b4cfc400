"""A kernel: one function on one chip, with the known facts of its launch.

Reports of every format print kernels, so that each fact about a kernel is a field here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds import Bound, KernelBounds
from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.facts import KernelFacts
from tt_layout.audit.finding_groups import led_by, sorted_groups
from tt_layout.audit.findings import Finding, FindingLine, Urgency
from tt_layout.audit.occupancy import Occupancy, tensor_columns_of
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.registers import RegisterPressure, worst
from tt_layout.audit.resources import occupancy_of, shared_bytes_of
from tt_layout.audit.rules import rules
from tt_layout.audit.shares import Share, Shares
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.audit.time.estimate import Estimate, NoEstimate, kernel_estimate
from tt_layout.audit.values.executions import assumed_runs, is_in_loop
from tt_layout.audit.verdict import BEFORE_LAYOUTS, EMPTY, verdict_clauses
from tt_layout.grouping import grouped
from tt_layout.hardware import Target
from tt_layout.ir.operations import layout_of
from tt_layout.ir.passes import Stage, stage_of
from tt_layout.lazy import lazy
from tt_layout.records import dataclass
from tt_layout.version import __version__
from tt_layout.wording import count, size

SETTLED: Mapping[str, Any] = {
    "file": str,
    "line": int,
    "function": str | None,
    "target": str | None,
    "warps": int | None,
    "shared_bytes": int | None,
    "text": str,
    "weight": float,
    "errors": int,
    "kinds": dict[str, int],
    "finding_lines": tuple[FindingLine, ...],
    "cycles": float,
    "signature": str,
    "programs": int | None,
    "config": dict[str, str],
    "facts": KernelFacts,
}
"""Attributes of a settled kernel, with their types: all plain values."""


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """A function on a chip, with the known facts of its launch; each is computed once.

    Attributes:
        adviser: causes and alternatives of its module's findings.
        symbol: name of the function in the module; None for operations outside of any.
        file: path of the dump.
        is_only: whether it is the only kernel of its module.
    """

    adviser: Adviser
    symbol: str | None
    file: str = ""
    is_only: bool = True

    def __repr__(self) -> str:
        """Return its name, GPU and warps."""
        return f"<Kernel: {self.who}>"

    def __eq__(self, other: object) -> bool:
        """Tell whether both are one object, or settled kernels with equal values."""
        if not isinstance(other, Kernel):
            return NotImplemented
        is_live = "adviser" in vars(self) or "adviser" in vars(other)
        return self is other or (not is_live and vars(self) == vars(other))

    def __hash__(self) -> int:
        """Return a hash by the file."""
        return hash(self.file)

    @property
    def audit(self) -> Audit:
        """The audit of its module."""
        return self.adviser.audit

    # -- identity and launch ----------------------------------------------------------------

    @lazy
    def function(self) -> str | None:
        """Name that it is launched by, else its symbol; None for operations outside of any."""
        return self.symbol if self.launched_as is None else self.launched_as

    @property
    def launched_as(self) -> str | None:
        """The name that it was launched by; None where that is not known."""
        return self.audit.known.name if self.is_only else None

    @lazy
    def line(self) -> int:
        """The line of the dump on which its module begins."""
        return self.audit.module.line

    @lazy
    def target(self) -> str | None:
        """The GPU's name in `tt_layout.hardware`; None where the module names none."""
        return self.audit.module.gpu

    @property
    def chip(self) -> Target | None:
        """The GPU that it is costed for; None where that is not known."""
        return self.audit.chip

    @lazy
    def warps(self) -> int | None:
        """The warps of a CTA; None where the module does not state them."""
        return self.audit.module.number("num-warps") or self.audit.known.warps

    @property
    def threads_per_warp(self) -> int | None:
        """The threads of a warp, as the module states."""
        return self.audit.module.number("threads-per-warp")

    @property
    def ctas(self) -> int | None:
        """The CTAs of a cluster, as the module states."""
        return self.audit.module.number("num-ctas")

    @property
    def grid(self) -> Grid | None:
        """Programs along x, y and z; None where that is not known."""
        return self.adviser.shares.grid(self.symbol)

    @property
    def measured(self) -> float | None:
        """Cycles that a launch took; None where that was not measured."""
        return self.adviser.shares.measured(self.symbol)

    @lazy
    def programs(self) -> int | None:
        """The programs of the grid; None where it is not known."""
        if self.grid is None:
            return None
        x, y, z = (*self.grid, 1, 1, 1)[:3]
        return x * y * z

    @lazy
    def signature(self) -> str:
        """The types of its arguments; empty where it is not read."""
        function = self.audit.audited.functions_by_name.get(self.symbol)
        values = function.arguments if function is not None else ()
        return ", ".join(f"{value.type.kind} {value.type.element}" for value in values)

    @lazy
    def config(self) -> dict[str, str]:
        """The parameters of its compilation: Triton's options, tile, types of arguments."""
        config = dict(self.audit.known.options or ())
        config |= {"num_warps": str(self.warps)} if self.warps is not None else {}
        tiles: list[Sequence[int]] = [product.sizes[1:] for product in self.products]
        moved = [row.operation.moved or row.operation.target for row in self.rows]
        tiles = tiles or [tensor.shape for tensor in moved if tensor is not None and tensor.shape]
        config |= {"tile": "x".join(map(str, max(tiles, key=prod)))} if tiles else {}
        types = self.signature.split(", ") if self.signature else []
        return config | {
            f"argument_{number}": text.rpartition(" ")[2].removeprefix("!tt.")
            for number, text in enumerate(types)
        }

    @property
    def package(self) -> str:
        """The release of tt-layout that computed it."""
        return __version__

    # -- operations and their costs ---------------------------------------------------------

    @property
    def rows(self) -> Sequence[MovementRow]:
        """Its data movements."""
        return self.audit.movements_of(self.symbol)

    @property
    def movements(self) -> int:
        """The number of its data movements."""
        return len(self.rows)

    @property
    def unknown_costs(self) -> int:
        """The number of data movements whose costs are not known."""
        return sum(row.has_unknown_cost for row in self.rows)

    @property
    def products(self) -> Sequence[Multiplication]:
        """Its multiplications of matrices."""
        return self.audit.products_of(self.symbol)

    def costed(self, family: type[object]) -> Iterator[MovementRow]:
        """Yield the data movements whose costs have details of a class."""
        for row in self.rows:
            if row.cost is not None and isinstance(row.cost.details, family):
                yield row

    def runs(self, row: MovementRow) -> int:
        """Return how often a data movement runs in one program, as findings count it."""
        return assumed_runs(row.executions)

    @lazy
    def cycles(self) -> float:
        """Cycles of its data movements in one program, as far as they are known."""
        return sum(row.cycles or 0.0 for row in self.rows)

    @property
    def flops(self) -> float:
        """FLOPs of its multiplications in one program."""
        return sum(product.flops * assumed_runs(product.executions) for product in self.products)

    @property
    def is_assumed(self) -> bool:
        """Whether something runs an unknown number of times."""
        runs = [row.executions for row in self.rows]
        runs += [product.executions for product in self.products]
        return any(executions.number is None for executions in runs)

    @property
    def layouts(self) -> int:
        """The number of different layouts of its data movements."""
        ends = ((row.operation.source, row.operation.target) for row in self.rows)
        return len({layout_of(end) for pair in ends for end in pair} - {None})

    # -- memory, registers, occupancy, bounds -----------------------------------------------

    @lazy
    def shared_bytes(self) -> int | None:
        """Shared memory of a CTA, stated or allocated; None where it is not known."""
        return shared_bytes_of(self.audit, self.symbol)

    @property
    def shared_limit(self) -> int | None:
        """The most shared memory of a CTA; None where the GPU is not known."""
        return next((memory.limit for memory in self.audit.shared_memory), None)

    @property
    def tensor_columns(self) -> int:
        """Columns of tensor memory that it allocates."""
        return tensor_columns_of(self.audit, self.symbol)

    @lazy
    def registers(self) -> RegisterPressure | None:
        """The registers where it comes closest to its limit; None where the GPU is not known."""
        return worst(self.audit.registers_of(self.symbol))

    @lazy
    def occupancy(self) -> Occupancy | None:
        """CTAs and warps that a multiprocessor holds; None where that is not known."""
        return occupancy_of(self.audit, self.symbol)

    @property
    def empty_warps(self) -> int | None:
        """Warps that a multiprocessor could hold in addition; None where that is not known."""
        held = self.occupancy
        return held.most_warps - held.warps if held is not None else None

    @property
    def limited_by(self) -> str | None:
        """The resources that allow no more CTAs, joined by ``+``; None where not known."""
        return "+".join(self.occupancy.limited_by) if self.occupancy is not None else None

    @lazy
    def bounds(self) -> KernelBounds | None:
        """Lower bounds of its time; None if the GPU has no rates, or it waits for others."""
        return self.adviser.shares.bounds(self.symbol)

    @property
    def bound(self) -> Bound | None:
        """The bound that the verdict names; None where none binds, or no rates are known.

        Without a grid it is one within a multiprocessor where DRAM depends on the grid.
        """
        bounds = None if self.unanalysed else self.bounds
        return (bounds.binding or bounds.within) if bounds is not None else None

    @property
    def unanalysed(self) -> int:
        """The number of data movements whose cost no analysis determined.

        If there are any, neither the kernel's bound nor its time is known.
        """
        return sum(row.cost is None and row.cost_unknown is not None for row in self.rows)

    @lazy
    def estimate(self) -> Estimate | NoEstimate:
        """The estimated time of its launch, or of a full wave; or why there is none."""
        estimate = kernel_estimate(self.audit, self.symbol, self.grid)
        if isinstance(estimate, Estimate) and self.unanalysed:
            movements = count(self.unanalysed, "data movement")
            return NoEstimate(reason=f"the cost of {movements} is not known")
        return estimate

    # -- findings ---------------------------------------------------------------------------

    @lazy
    def findings(self) -> tuple[Finding, ...]:
        """Its findings, errors first, then the most expensive."""
        return tuple(self.audit.findings_of(self.symbol))

    @lazy
    def needed(self) -> tuple[Finding, ...]:
        """Findings that are notes, since every alternative is more expensive."""
        return tuple(note.finding for note in self.audit.notes_of(self.symbol))

    @lazy
    def kinds(self) -> dict[str, int]:
        """The number of its findings of each kind."""
        return _counted(kind for finding in self.findings for kind in finding.kinds)

    @property
    def findings_share(self) -> float | None:
        """Share of its cycles wasted by findings, 0 to 1."""
        return min(1.0, self.weight / self.cycles) if self.cycles else None

    @lazy
    def weight(self) -> float:
        """Cycles that its findings waste in one program; kernels are sorted by it."""
        return sum(finding.weight for finding in self.findings)

    @lazy
    def errors(self) -> int:
        """The number of errors."""
        return sum(finding.is_error for finding in self.findings)

    @lazy
    def suggestions(self) -> tuple[Suggestion, ...]:
        """The best suggestion for each finding that matters, without duplicates."""
        fixes = led_by(self.findings, sorted_groups(self.adviser).fixes)
        best = (self.adviser.best(group.findings[0]) for group in fixes)
        return tuple(suggestion for suggestion in best if suggestion)

    @property
    def avoidable(self) -> Share:
        """Share of its time that the fixes of its findings would save."""
        return self.adviser.shares.of(self.symbol, self.adviser.avoidable(self.findings))

    @lazy
    def verdict(self) -> str:
        """Whether it compiles and fits, how long it takes, and what can be gained."""
        return "; ".join(self.verdict_clauses)

    @lazy
    def verdict_clauses(self) -> tuple[str, ...]:
        """The clauses of its verdict, an error before all others."""
        if not self.findings and self.is_before_layouts:
            return (BEFORE_LAYOUTS,)
        if not self.findings and self.is_empty:
            is_timed = self.measured is None and isinstance(self.estimate, Estimate)
            return (self.estimate.text, EMPTY) if is_timed else (EMPTY,)
        bounds = None if self.unanalysed and self.measured is None else self.bounds
        clauses = verdict_clauses(
            self.findings, bounds, self.measured, self.adviser, lambda: self.estimate
        )
        waits = filter(None, [self.audit.audited.wait_of(self.symbol)])
        return (*clauses, *waits) if self.errors else (*waits, *clauses)

    @property
    def untimed(self) -> NoEstimate | None:
        """Why its verdict has no estimated time; None where it has one or needs none."""
        is_urgent = any(finding.urgency != Urgency.CYCLES for finding in self.findings)
        if is_urgent or self.measured is not None or self.is_empty or self.is_before_layouts:
            return None
        return self.estimate if isinstance(self.estimate, NoEstimate) else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing in it moves or multiplies tensors."""
        return not self.rows and not self.products

    @property
    def is_before_layouts(self) -> bool:
        """Whether its module is TTIR: tensors, and no layouts yet."""
        module = self.audit.module
        if self.warps is not None or module.is_intel:
            return False
        return not self.is_empty and stage_of(module) is Stage.NO_LAYOUTS

    @lazy
    def finding_lines(self) -> tuple[FindingLine, ...]:
        """Its findings as plain values, the most urgent first."""
        return tuple([FindingLine.of(finding, self.line) for finding in self.findings])

    @lazy
    def text(self) -> str:
        """The line."""
        return f"{self.who}: {self.counts}"

    # -- plain values -----------------------------------------------------------------------

    @lazy
    def facts(self) -> KernelFacts:
        """The facts that its verdict rests on."""
        return self._facts()

    def _facts(self, *, has_bounds: bool = True, has_occupancy: bool = True) -> KernelFacts:
        registers, bound = self.registers, self.bound if has_bounds else None
        occupancy = self.occupancy if has_occupancy else None
        return KernelFacts(
            errors=self.errors,
            spills=registers.spills_word if registers is not None else None,
            spilled=registers.spilled if registers is not None else None,
            without_instruction=sum(product.instruction is None for product in self.products),
            cycles=self.cycles,
            bound_cycles=bound.cycles if bound is not None else None,
            ctas=occupancy.ctas if occupancy is not None else None,
            bound_by=bound.resource if bound is not None else None,
            limited_by=self.limited_by if occupancy is not None else None,
            registers=registers.taken if registers is not None else None,
            shared_bytes=self.shared_bytes,
            instructions=self.instructions,
            findings=self.kinds,
            finding_cycles=self.weight,
            estimate_us=self._estimate_us if has_bounds else None,
        )

    @property
    def _estimate_us(self) -> float | None:
        """The estimated time of a launch, where one is known: that of a wave compares nothing."""
        if self.grid is None or isinstance(self.estimate, NoEstimate):
            return None
        return self.estimate.seconds * 1e6

    @property
    def instructions(self) -> str:
        """Matrix instructions of its text with their numbers, a loop counted once."""
        counts: dict[str, int] = {}
        for instruction in (product.instruction for product in self.products):
            if instruction is not None:
                counts[instruction.name] = (
                    counts.get(instruction.name, 0) + instruction.instructions
                )
        return ", ".join(f"{number} x {name}" for name, number in sorted(counts.items()))

    @property
    def rank(self) -> tuple[object, ...]:
        """Sort key: errors first, then the waste in all programs."""
        return (
            not self.errors,
            -self.weight * (self.programs or 1),
            self.file,
            self.line,
            self.function or "",
        )

    def settled(self, *further: str, has_bounds: bool = True, is_listed: bool = False) -> Kernel:
        """Return a copy that holds `SETTLED` and no audit: small, and fit for other processes.

        Args:
            further: names of more attributes to keep.
            has_bounds: whether its facts include bounds, which take a quarter of an audit.
            is_listed: whether it is for a table of kernels, which shows no occupancy and no text.
        """
        chosen = {"has_bounds": has_bounds, "has_occupancy": not is_listed}
        facts = self.facts if all(chosen.values()) else self._facts(**chosen)
        left_out = {"facts", "text"} if is_listed else {"facts"}
        names = (name for name in (*SETTLED, *further) if name not in left_out)
        return Kernel.of_values({**{name: getattr(self, name) for name in names}, "facts": facts})

    def with_values(self, **values: object) -> Kernel:
        """Return a settled kernel with other values."""
        return Kernel.of_values({**vars(self), **values})

    @staticmethod
    def of_values(values: Mapping[str, object]) -> Kernel:
        """Return a kernel of which only some attributes are known.

        Example:
            >>> Kernel.of_values({"function": "f", "target": "sm90", "warps": 4}).who
            '@f, sm90, 4 warps'
        """
        kernel = object.__new__(Kernel)
        vars(kernel).update(values)
        return kernel

    # -- words ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The kernel."""
        return f"@{self.function}" if self.function is not None else "outside of functions"

    @lazy
    def who(self) -> str:
        """The kernel, its GPU and its warps."""
        return self._who(self.target)

    @lazy
    def heading(self) -> str:
        """The target with the product that gives memory, clock and multiprocessors."""
        product = self.chip.product if self.chip is not None else None
        if self.target is None or product is None:
            return self.who
        return self._who(f"{self.target} ({product.name})")

    def _who(self, gpu: str | None) -> str:
        who = [self.name]
        who += [gpu] if gpu is not None else []
        who += [count(self.warps, "warp")] if self.warps is not None else []
        return ", ".join(who)

    @property
    def counts(self) -> str:
        """The findings, each kind with its number, and the shared memory."""
        texts = [", ".join(kinds_texts(self.findings))] if self.findings else []
        if self.needed:
            texts += [f"worth keeping: {', '.join(kinds_texts(self.needed))}"]
        texts = texts or [*filter(None, [self.absences])]
        return "; ".join([*texts, *filter(None, [self.memory])])

    @property
    def absences(self) -> str:
        """The sentence on a kernel without findings: only what the known costs exclude."""
        if self.is_empty:
            return ""
        if self.unknown_costs:
            some = f"{self.unknown_costs} of {count(self.movements, 'data movement')}"
            return f"no findings, but the cost of {some} is not known"
        return _absences()

    @property
    def memory(self) -> str:
        """The shared memory of a CTA; empty where there is none."""
        if not self.shared_bytes:
            return ""
        of = f" of {size(self.shared_limit)}" if self.shared_limit is not None else ""
        return f"{size(self.shared_bytes)}{of} of shared memory"


def kernel_names(audit: Audit) -> tuple[str | None, ...]:
    """Return the functions that move data or have findings; None for operations outside of any.

    Where there are none, these are the functions that no other calls.
    """
    names: list[str | None] = [row.operation.function for row in audit.movements]
    names += [product.function for product in audit.multiplications]
    names += [finding.function for finding in audit.findings]
    if not names:  # kernels without tensors are kernels, too
        names += [function.name for function in audit.audited.entries]
    return tuple(dict.fromkeys(names))


def kernels_of(
    audit: Audit | Adviser, grid: Grid | None = None, file: str = ""
) -> tuple[Kernel, ...]:
    """Return the kernels of a module, and one for operations outside of any function.

    Args:
        audit: audit of the module, or its adviser.
        grid: programs along x, y and z; by default those that are given to the audit.
        file: the dump.

    Example:
        >>> from tt_layout.audit.audit import audit_module
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''module {
        ...   tt.func @f(%p: !tt.ptr<f32>) {
        ...     %x = tt.load %p : !tt.ptr<f32>
        ...     tt.return
        ...   }
        ... }''')
        >>> [kernel] = kernels_of(audit_module(module), grid=(64, 2))
        >>> kernel.name, kernel.programs, kernel.config
        ('@f', 128, {'argument_0': 'ptr<f32>'})
    """
    adviser = audit if isinstance(audit, Adviser) else Adviser(audit, Shares(audit, grid=grid))
    names = kernel_names(adviser.audit)
    return tuple(Kernel(adviser, name, file, len(names) == 1) for name in names)


def kinds_texts(findings: Sequence[Finding], *, is_once: bool = False) -> Iterator[str]:
    """Yield how many findings there are of each kind, in the order of the rules.

    Args:
        findings: the findings.
        is_once: whether one of several kinds counts as its main one alone, so that all add up.
    """
    kinds = 1 if is_once else None
    pairs = [
        (finding, occurrence) for finding in findings for occurrence in finding.occurrences[:kinds]
    ]
    groups = grouped(pairs, lambda pair: (pair[1].order, pair[1].counted))
    for (_, counted), group in sorted(groups.items(), key=lambda item: item[0]):
        runs = (finding.runs for finding, _ in group if not finding.is_error)
        loops = sum(is_in_loop(executions) for executions in runs if executions is not None)
        some = f"({loops} in the loop)" if loops < len(group) else "in the loop"
        yield counted.text(len(group)) + (f" {some}" if loops else "")


def _counted(kinds: Iterable[str]) -> dict[str, int]:
    """Return the number of each kind, the first first."""
    return dict(Counter(kinds))


def _absences() -> str:
    """Group the kinds that the rules exclude by their noun."""
    nouns: dict[str, list[str]] = {}
    for adjective, noun in (rule.absence for rule in rules() if rule.absence is not None):
        nouns.setdefault(noun, []).append(adjective)
    return ", ".join(
        f"no {' or '.join(adjectives)} {noun}".replace("  ", " ")
        for noun, adjectives in nouns.items()
    )
