"""The cause of a finding, and its alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.findings import Finding
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.shares import Share, Shares, TimeChange
from tt_layout.audit.suggestions.carried_out import carried_out
from tt_layout.audit.suggestions.context import ConversionReason
from tt_layout.audit.suggestions.conversions import region_of
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.gains import Gain, Removed, gain, removed_by, unit_of
from tt_layout.audit.suggestions.needs import Needs, needs_of, needs_with
from tt_layout.audit.suggestions.rewiring import RewiredBody
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, CostChange, Suggestion
from tt_layout.audit.time.estimate import Estimate, kernel_estimate
from tt_layout.audit.values.executions import assumed_runs, is_in_loop
from tt_layout.errors import LayoutError
from tt_layout.ir import parse_ir
from tt_layout.ir.ssa import Function

T = TypeVar("T")

WORTH = 10
"""Factor by which savings must exceed the cycles of global accesses added to a loop."""


class Adviser:
    """Answers for the findings of an audit; each question is answered once.

    Example:
        >>> from tt_layout.audit.audit import audit_module
        >>> from tt_layout.ir import parse_ir
        >>> a, b = (f"#ttg.blocked<{{sizePerThread = [1, {n}], threadsPerWarp = [4, 8], "
        ...         "warpsPerCTA = [4, 1], order = [1, 0]}>" for n in (4, 8))
        >>> [module] = parse_ir(f'''
        ... module attributes {{ttg.target = "cuda:90", "ttg.num-warps" = 4 : i32}} {{
        ...   tt.func @f(%x: tensor<64x64xf16, {a}>, %m: !ttg.memdesc<64x64xf16, #s>) {{
        ...     %0 = ttg.convert_layout %x : tensor<64x64xf16, {a}> -> tensor<64x64xf16, {b}>
        ...     tt.return
        ...   }}
        ... }}''')
        >>> audit = audit_module(module)
        >>> Adviser(audit).reason(audit.findings[-1])
        ConversionReason(producers=(), consumers=())
    """

    def __init__(self, audit: Audit, shares: Shares | None = None) -> None:
        self.audit = audit
        self.shares = shares or Shares(audit)
        self._needs: dict[tuple[Finding | str | None, Suggestion], tuple[Needs, Needs]] = {}
        self._changes: dict[tuple[Finding, Suggestion], TimeChange | None] = {}
        self._best: dict[Finding, Suggestion | None] = {}
        self._context = audit.suggestion_context
        self._answers: dict[Callable[[Adviser], Any], Any] = {}

    def flow(self, function: Function) -> Flow:
        """Return which operations determine layouts at both ends of a function's values."""
        return self._context.flow(function)

    def reason(self, finding: Finding) -> ConversionReason | None:
        """Return why a conversion is there; None of any other finding."""
        return self._once("reason", finding, self._reason)

    def suggestions(self, finding: Finding) -> list[Suggestion]:
        """Return cheaper alternatives, the best first."""
        return list(
            self._once("suggestions", finding, lambda finding: tuple(self._with_room(finding)))
        )

    def share(self, finding: Finding, suggestion: Suggestion) -> Share:
        """Return the share of a kernel's time that a suggestion for a finding saves.

        Where the grid is known, and no launch was measured, it includes estimates before and after.
        """
        return self.share_of_cycles(finding, suggestion)._replace(
            change=self._time_change(finding, suggestion)
        )

    def _time_change(self, finding: Finding, suggestion: Suggestion) -> TimeChange | None:
        grid = self.shares.grid(finding.function)
        if grid is None or self.shares.measured(finding.function) is not None:
            return None
        if (finding, suggestion) not in self._changes:
            change = time_change(self.audit, finding, suggestion, grid)
            self._changes[finding, suggestion] = change
        return self._changes[finding, suggestion]

    def share_of_cycles(self, finding: Finding, suggestion: Suggestion) -> Share:
        """Return the share of a kernel's time that the saved cycles of a suggestion take.

        Where multiprocessors have no second program to switch to, more accesses to global memory
        may take longer than all that is saved: one of 57 such changes did, on an H100.
        """
        share = self.shares.of(finding.function, suggestion.saved)
        waits = suggestion.extra_requests > 0 and self.shares.leaves_some_idle(finding.function)
        before, after = self.needs(finding, suggestion)
        are_known = None not in (before.ctas, after.ctas)
        holds_fewer = are_known and (after.ctas or 0) < (before.ctas or 0)
        return share._replace(
            is_doubtful=share.is_doubtful or waits or holds_fewer,
            is_refused=self.refusal(finding, suggestion) is not None,
        )

    def refusal(self, finding: Finding, suggestion: Suggestion) -> str | None:
        """Return why a kernel does not compile or start with a suggestion either; None if it does.

        An error stays, unless it is of shared memory and the suggestion takes less.
        """
        memory = self.audit.memory_of(finding.function)
        refused = memory.refusal if memory is not None else None
        _, after = self.needs(finding, suggestion)
        for error in self.audit.findings:
            if not error.is_error or error.function not in (None, finding.function):
                continue
            if refused is None or refused not in error.problem:
                return error.problem
            if after.memory is not None and after.memory.refusal is not None:
                return f"{error.name} {after.memory.refusal}"
        return None

    def share_of(self, group: Sequence[Finding]) -> Share | None:
        """Return the share of similar findings: the savings, where they were costed.

        None for findings that are not counted in cycles.
        """
        cycles = self.avoidable(group) or sum(finding.weight for finding in group)
        is_counted = cycles or all(finding.is_avoidable for finding in group)
        return self.shares.of(group[0].function, cycles) if is_counted else None

    def avoidable(self, findings: Sequence[Finding]) -> float:
        """Return the cycles of one program that fixes of a kernel's findings would save.

        A data movement that several of them change counts once.
        """
        saved = sum(change.saved_in_program for change in self._cost_changes(findings))
        without_fix = dict.fromkeys(finding for finding in findings if self.best(finding) is None)
        return saved + sum(finding.weight for finding in without_fix if finding.is_avoidable)

    def _cost_changes(self, findings: Sequence[Finding]) -> Iterator[CostChange]:
        """Yield the data movements that the best suggestions for findings change, each once."""
        chosen: dict[object, Suggestion] = {}
        for best in filter(None, map(self.best, findings)):
            before = chosen.setdefault(exclusion_key(best), best)
            if before.saved < best.saved:
                chosen[exclusion_key(best)] = best
        changed = set[object]()
        for suggestion in sorted(chosen.values(), key=lambda suggestion: -suggestion.saved):
            further = [change for change in suggestion.changes if _place_of(change) not in changed]
            # The changes before have ended what a suggestion is for that only costs beside them.
            if not changed or sum(change.saved_in_program for change in further) > 0:
                changed.update(map(_place_of, further))
                yield from further

    def gain(self, group: Sequence[Finding]) -> Gain:
        """Return the cycles that fixes of similar findings remove; without fixes, their own.

        A data movement that several of them change counts once.
        """
        removed = [*removed_by(self._cost_changes(group))]
        for finding in group:
            row = finding.movement if self.best(finding) is None else None
            if row is not None and row.cost is not None and finding.cost:
                removed.append(Removed(unit_of(row.cost), finding.cost, row.executions))
        return gain(self.audit, group[0].function, removed)

    def best(self, finding: Finding) -> Suggestion | None:
        """Return the suggestion that saves most; None where none that was costed saves any."""
        if finding not in self._best:
            self._best[finding] = self._once(
                "best", finding, lambda finding: next(self._with_room(finding), None)
            )
        return self._best[finding]

    def needs(self, finding: Finding, suggestion: Suggestion) -> tuple[Needs, Needs]:
        """Return a program's cost as it is, and with a suggestion applied."""
        # What takes the place of a layout everywhere is the same change for all of its findings.
        key = finding.function if suggestion.where == EVERYWHERE else finding, suggestion
        if key not in self._needs:
            before = needs_of(self.audit, finding.function)
            rewired = self._rewired(finding, suggestion)
            after = needs_with(suggestion, self.audit, finding.function, rewired)
            self._needs[key] = before, after
        return self._needs[key]

    def _rewired(self, finding: Finding, suggestion: Suggestion) -> RewiredBody | None:
        """Return the body with a conversion dropped; None of a suggestion that drops none."""
        if suggestion.where == EVERYWHERE or finding.movement is None:
            return None
        full = self._context.audited.in_full(finding.movement.operation)
        if full is None:
            return None
        flow, exchange = self._context.flow(full.function), suggestion.exchange
        ends = suggestion.replaced, suggestion.encoding
        region = region_of(self._context, full, suggestion.where, *ends)
        if region is None:
            return None
        return RewiredBody(flow, full.operation, exchange, region)

    def once_for_all(self, answer: Callable[[Adviser], T]) -> T:
        """Return an answer about the whole module, made at the first question."""
        if answer not in self._answers:
            self._answers[answer] = answer(self)
        answered: T = self._answers[answer]
        return answered

    def _once(self, what: str, finding: Finding, answer: Callable[[Finding], T]) -> T:
        """Return an answer, which is the same for modules of one text on the same line."""
        audited, movement = self.audit.audited, finding.movement
        if movement is None:
            return answer(finding)
        question = what, movement.operation.position, finding.kinds
        return audited.once(question, lambda: answer(finding))

    def _reason(self, finding: Finding) -> ConversionReason | None:
        reasons = (occurrence.reason(finding, self._context) for occurrence in finding.occurrences)
        return next((reason for reason in reasons if reason is not None), None)

    def _with_room(self, finding: Finding) -> Iterator[Suggestion]:
        """Yield the suggestions for which there is room: who wants the best asks for no other."""
        for suggestion in self._once("tried", finding, self._tried):
            before, after = self.needs(finding, suggestion)
            if after.exceeds(before) is None:
                yield suggestion

    def _tried(self, finding: Finding) -> tuple[Suggestion, ...]:
        context = self._context
        attempts = (cause.suggestions(finding, context) for cause in finding.occurrences)
        tried = next(filter(None, attempts), ())
        return tuple(suggestion for suggestion in tried if not is_risky(suggestion))


def exclusion_key(suggestion: Suggestion) -> tuple[object, ...]:
    """Return the key shared by suggestions that exclude one another."""
    places = map(_place_of, suggestion.changes) if suggestion.where != EVERYWHERE else ()
    return suggestion.where, suggestion.old, frozenset(places)


def _place_of(change: CostChange) -> tuple[object, ...]:
    """Return the key of a data movement; an added one has the line of the next operation."""
    operation = change.operation
    added = operation.types if change.before is None else None
    return operation.position, added


def is_risky(suggestion: Suggestion) -> bool:
    """Tell whether it saves less than `WORTH` times the global accesses that it adds to loops."""
    added = sum(
        change.extra_requests * assumed_runs(change.executions)
        for change in suggestion.changes
        if is_in_loop(change.executions)
    )
    return suggestion.saved < WORTH * added


# -- time before and after -------------------------------------------------------------------------


def time_change(
    audit: Audit, finding: Finding, suggestion: Suggestion, grid: Grid
) -> TimeChange | None:
    """Return the time of a kernel before and after a suggestion; None where one is not known.

    Args:
        audit: audit of a module that is its whole dump.
        finding: the finding.
        suggestion: the change.
        grid: programs along x, y and z.
    """
    source, audited = audit.module.source, audit.audited
    is_whole = audit.module.span.text == source.text
    if finding.movement is None or not is_whole:
        return None
    full, before = audited.in_full(finding.movement.operation), _estimate(audit, finding, grid)
    if full is None or before is None:
        return None
    try:
        text = carried_out(audit, full, suggestion)
        modules = parse_ir(text, release=audit.module.symbols.release)
    except LayoutError:
        return None
    if len(modules) != 1:
        return None
    changed = audit_module(modules[0], SharedWork(explains=False), audited.given, is_judged=False)
    after = _estimate(changed, finding, grid)
    if after is None:
        return None
    uncompiled = before.of_dump()
    # Registers of one kernel err alike: the lower ends belong together, and the higher ones.
    pairs = zip(uncompiled.launch.possible, after.launch.possible)
    middle, *ends = (new / old for (old, _), (new, _) in pairs)
    # A change pays with the expected registers, not only where one of two ranges ends in spills.
    left = max(middle, after.seconds / uncompiled.seconds)
    change = TimeChange(before.seconds, before.seconds * left)
    if not (uncompiled.program.may_spill or after.program.may_spill):
        return change
    return change._replace(most_left=max(middle, *ends))


def _estimate(audit: Audit, finding: Finding, grid: Grid) -> Estimate | None:
    estimate = kernel_estimate(audit, finding.function, grid)
    return estimate if isinstance(estimate, Estimate) else None
