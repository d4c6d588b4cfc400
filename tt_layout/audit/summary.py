"""A kernel in one line: what its data movements do badly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tt_layout.audit.allocation import SharedMemory
from tt_layout.audit.audit import Audit
from tt_layout.audit.findings import (
    CONFLICTS,
    CONVERSIONS,
    NARROW,
    REFUSED,
    Finding,
    is_in_loop,
)
from tt_layout.audit.modules.kernel_metadata import KernelMetadata
from tt_layout.ir.data_movements import MovementKind

NO_METADATA = KernelMetadata()
"""Nothing stands beside the dump."""

_NOTHING = (
    "no conversions through shared memory, no bank conflicts, no narrow or uncoalesced accesses"
)


@dataclass(frozen=True)
class Summary:
    """A kernel in one line.

    Attributes:
        function: the kernel; None for operations outside of any.
        target: the GPU's name in `tt_layout.hardware`; None where the module names none.
        warps: the warps of a CTA; None where the module does not state them.
        findings: of the kernel, errors first, then the most expensive.
        shared_bytes: shared memory of a CTA; None where it is not known.
        shared_limit: the most that a CTA may have; None where the GPU is not known.
    """

    function: str | None
    target: str | None
    warps: int | None
    findings: tuple[Finding, ...]
    shared_bytes: int | None = None
    shared_limit: int | None = None

    @property
    def weight(self) -> float:
        """Cycles that the findings waste in one program: what kernels are sorted by."""
        return sum(finding.weight for finding in self.findings)

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(finding.kind == REFUSED for finding in self.findings)

    @property
    def text(self) -> str:
        """The line."""
        who = [f"@{self.function}" if self.function is not None else "outside of functions"]
        who += [self.target] if self.target is not None else []
        who += [_count(self.warps, "warp")] if self.warps is not None else []
        parts = [*_parts(self.findings)]
        return f"{', '.join(who)}: {', '.join(parts) or _NOTHING}{self._shared_text()}"

    def _shared_text(self) -> str:
        if not self.shared_bytes:
            return ""
        of = f" of {size_text(self.shared_limit)}" if self.shared_limit is not None else ""
        return f"; {size_text(self.shared_bytes)}{of} of shared memory"


def summaries(audit: Audit, known: KernelMetadata = NO_METADATA) -> tuple[Summary, ...]:
    """Return a summary of each kernel that moves data, and of what is in no kernel.

    Args:
        audit: of a module.
        known: what stands beside the dump, of a dump of one kernel.

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
    module = audit.module
    names: dict[str | None, list[Finding]] = {row.operation.function: [] for row in audit.movements}
    names |= {product.function: [] for product in audit.multiplications}
    for finding in audit.findings:
        # What is wrong with a layout is wrong with every kernel: it is told of the first.
        own = finding.function if finding.movement is not None else next(iter(names), None)
        names.setdefault(own, []).append(finding)
    stated = known.shared_bytes if known.shared_bytes is not None else module.number("shared")
    memories = {memory.function: memory for memory in audit.shared_memory}
    limit = next((memory.limit for memory in audit.shared_memory), None)
    return tuple(
        Summary(
            known.name if known.name is not None and len(names) == 1 else name,
            module.gpu,
            module.number("num-warps") or known.warps,
            tuple(found),
            stated if stated is not None else _bytes(memories.get(name or "")),
            limit,
        )
        for name, found in names.items()
    )


def _bytes(memory: SharedMemory | None) -> int | None:
    return memory.bytes if memory is not None else None


def size_text(count: int) -> str:
    """Return bytes as people write them.

    Example:
        >>> size_text(512), size_text(41984), size_text(1025)
        ('512 bytes', '41 KiB', '1.0 KiB')
    """
    if count < 1024:
        return f"{count} bytes"
    return f"{count // 1024} KiB" if count % 1024 == 0 else f"{count / 1024:.1f} KiB"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _parts(findings: Sequence[Finding]) -> Iterator[str]:
    errors = sum(finding.kind == REFUSED for finding in findings)
    if errors:
        yield _count(errors, "error")
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        for kind in finding.kinds:
            if kind != REFUSED:
                groups.setdefault(_words(finding, kind), []).append(finding)
    for one, other in sorted(groups, key=_order):
        group = groups[one, other]
        noun = f"{len(group)} {one if len(group) == 1 else _plural(one)}{other}"
        loops = sum(is_in_loop(f.movement.executions) for f in group if f.movement is not None)
        yield noun + f" ({loops} in the loop)" * bool(loops)


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


_VERBS = {
    MovementKind.LOCAL_LOAD: "load",
    MovementKind.LOCAL_STORE: "store",
    MovementKind.GLOBAL_LOAD: "load",
    MovementKind.GLOBAL_STORE: "store",
    MovementKind.GLOBAL_ATOMIC: "atomic",
    MovementKind.COPY_IN: "copy",
    MovementKind.COPY_OUT: "copy",
}


def _words(finding: Finding, kind: str) -> tuple[str, str]:
    """Return what a summary calls a finding: the noun, and what stands behind it."""
    assert finding.movement is not None
    operation, cost = finding.movement.operation, finding.movement.cost
    assert cost is not None
    verb = _VERBS.get(operation.group, "access")
    if kind == CONVERSIONS:
        how = cost.details["class"]
        return "conversion", {"shuffles": " by shuffles", "across CTAs": " across CTAs"}.get(
            how, " through shared memory"
        )
    if kind == CONFLICTS:
        return verb, " with bank conflicts"
    if kind == NARROW:
        return verb, f" of {_count(cost.details['width_bytes'], 'byte')} per thread"
    return f"uncoalesced {verb}", ""


def _order(words: tuple[str, str]) -> tuple[int, str, str]:
    noun, rest = words
    places = ["conversion", "bank conflicts", "per thread", "uncoalesced"]
    at = next((i for i, place in enumerate(places) if place in noun + rest), len(places))
    return at, noun, rest


def worst_first(found: Sequence[Summary]) -> list[Summary]:
    """Return summaries with errors first, then those that waste most."""
    return sorted(found, key=lambda one: (-one.errors, -one.weight, one.function or ""))


def kinds_of(summary: Summary) -> Counter[str]:
    """Return how many findings of each kind a kernel has."""
    return Counter(kind for finding in summary.findings for kind in finding.kinds)
