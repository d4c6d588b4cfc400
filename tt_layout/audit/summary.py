"""A kernel in one line: what its data movements do badly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tt_layout.audit.audit import Audit
from tt_layout.audit.findings import Counted, Finding
from tt_layout.audit.occupancy import Occupancy, kernel_occupancy
from tt_layout.audit.registers import RegisterPressure, worst
from tt_layout.audit.rules import rules
from tt_layout.audit.values.executions import is_in_loop
from tt_layout.hardware import Target
from tt_layout.wording import count, size


@dataclass(frozen=True)
class Summary:
    """A kernel in one line.

    Attributes:
        function: the kernel; None for operations outside of any.
        target: the GPU's name in `tt_layout.hardware`; None where the module names none.
        warps: the warps of a CTA; None where the module does not state them.
        findings: of the kernel, errors first, then the most expensive.
        needed: what would be findings, were not every other way more expensive.
        shared_bytes: shared memory of a CTA; None where it is not known.
        shared_limit: the most that a CTA may have; None where the GPU is not known.
        unknown_costs: data movements of which nothing is known.
        movements: all data movements.
        registers: where it comes closest to its registers, or exceeds them most; None where the
            GPU is not known.
        audit: of the module that it is in; None of a summary by itself.
    """

    function: str | None
    target: str | None
    warps: int | None
    findings: tuple[Finding, ...]
    shared_bytes: int | None = None
    shared_limit: int | None = None
    unknown_costs: int = 0
    movements: int = 0
    registers: RegisterPressure | None = None
    needed: tuple[Finding, ...] = ()
    audit: Audit | None = field(default=None, repr=False, compare=False)

    @cached_property
    def occupancy(self) -> Occupancy | None:
        """What a multiprocessor holds of the kernel; None where that is not known."""
        audit = self.audit
        if self.registers is None or audit is None or audit.audited is None:
            return None
        shared = self.shared_bytes
        return kernel_occupancy(audit, audit.audited, self.registers, shared, audit.known)

    @property
    def chip(self) -> Target | None:
        """The GPU that it is costed for; None where that is not known."""
        return self.audit.chip if self.audit is not None else None

    @property
    def weight(self) -> float:
        """Cycles that the findings waste in one program: what kernels are sorted by."""
        return sum(finding.weight for finding in self.findings)

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(finding.is_error for finding in self.findings)

    @property
    def text(self) -> str:
        """The line."""
        return f"{self.who}: {self.counts}"

    @property
    def name(self) -> str:
        """The kernel."""
        return f"@{self.function}" if self.function is not None else "outside of functions"

    @property
    def who(self) -> str:
        """The kernel, its GPU and its warps."""
        return self._who(self.target)

    @property
    def heading(self) -> str:
        """The same with the product whose memory, clock and multiprocessors are meant."""
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
        """What was found, each kind with its number, and the shared memory."""
        texts = [", ".join(kinds_texts(self.findings))] * bool(self.findings)
        texts += [f"worth keeping: {', '.join(kinds_texts(self.needed))}"] * bool(self.needed)
        texts = texts or [self.absences]
        return "; ".join([*texts, *filter(None, [self.memory])])

    @property
    def absences(self) -> str:
        """What is said of a kernel without findings: only what the known costs rule out."""
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
    """Return the functions that move data or have findings; None of what is outside of any."""
    names: list[str | None] = [row.operation.function for row in audit.movements]
    names += [product.function for product in audit.multiplications]
    names += [finding.function for finding in audit.findings]
    return tuple(dict.fromkeys(names))


def summaries(audit: Audit) -> tuple[Summary, ...]:
    """Return a summary of each kernel that moves data, and of what is in no kernel.

    Example:
        >>> from tt_layout.audit.audit import audit_module
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('''
        ... #a = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 8 : i32} {
        ...   %0 = tt.load %p : tensor<256x!tt.ptr<f16>, #a>
        ... }''')
        >>> [summary] = summaries(audit_module(module))
        >>> summary.text
        'outside of functions, 8 warps: 1 error'
    """
    names: dict[str | None, list[Finding]] = {name: [] for name in kernel_names(audit)}
    for finding in audit.findings:
        names[finding.function].append(finding)
    limit = next((memory.limit for memory in audit.shared_memory), None)
    return tuple(
        _summary(audit, name, found, limit, is_only=len(names) == 1)
        for name, found in names.items()
    )


def _summary(
    audit: Audit,
    name: str | None,
    found: Sequence[Finding],
    limit: int | None,
    *,
    is_only: bool,
) -> Summary:
    """Return the summary of one kernel of a module."""
    module, known = audit.module, audit.known
    own = [row for row in audit.movements if row.operation.function == name]
    shared = known.shared_bytes
    if shared is None:
        shared = _shared_bytes(audit, name, is_only)
    registers = worst(one for one in audit.registers if one.function == name)
    return Summary(
        known.name if known.name is not None and is_only else name,
        module.gpu,
        module.number("num-warps") or known.warps,
        tuple(found),
        shared,
        limit,
        sum(row.has_unknown_cost for row in own),
        len(own),
        registers,
        tuple(one.finding for one in audit.notes if one.finding.function == name),
        audit,
    )


def _shared_bytes(audit: Audit, name: str | None, is_only: bool) -> int | None:
    """Return the shared memory of a kernel: what is stated of it, else what its buffers need."""
    stated = audit.module.number("shared")
    memory = next((one for one in audit.shared_memory if one.function == name), None)
    if stated is not None and (is_only or not audit.shared_memory):
        return stated
    if memory is None:
        return None
    return memory.stated if memory.stated is not None else memory.bytes


def kinds_texts(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield how many findings there are of each kind, in the order of the rules."""
    groups: dict[tuple[int, Counted], list[Finding]] = {}
    for finding in findings:
        for one in finding.occurrences:
            groups.setdefault((one.order, one.counted), []).append(finding)
    for key in sorted(groups):
        group = groups[key]
        runs = (finding.runs for finding in group if not finding.is_error)
        loops = sum(is_in_loop(one) for one in runs if one is not None)
        some = f"({loops} in the loop)" if loops < len(group) else "in the loop"
        yield key[1].text(len(group)) + f" {some}" * bool(loops)


def _absences() -> str:
    """Return what the rules rule out, those of one noun together."""
    nouns: dict[str, list[str]] = {}
    for adjective, noun in (rule.absence for rule in rules() if rule.absence is not None):
        nouns.setdefault(noun, []).append(adjective)
    return ", ".join(
        f"no {' or '.join(own)} {noun}".replace("  ", " ") for noun, own in nouns.items()
    )


def kinds_of(summary: Summary) -> Counter[str]:
    """Return how many findings of each kind a kernel has."""
    return Counter(kind for finding in summary.findings for kind in finding.kinds)
