"""What stands behind a finding, and what to use instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tt_layout.audit.audit import Audit
from tt_layout.audit.findings import Finding
from tt_layout.audit.suggestions.advice import Advice, Reason
from tt_layout.audit.suggestions.needs import Needs, needs_of, needs_with
from tt_layout.audit.suggestions.share import Share, share_of
from tt_layout.audit.suggestions.suggestion import Suggestion

T = TypeVar("T")


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
        Reason(producers=(), consumers=())
    """

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self._advice = Advice(audit.conclusions, audit.audited) if audit.audited else None

    def reason(self, finding: Finding) -> Reason | None:
        """Return why a conversion is there; None of any other finding."""
        return self._once("reason", finding, self._reason)

    def suggestions(self, finding: Finding) -> list[Suggestion]:
        """Return what would be cheaper, the best first."""
        return list(self._once("suggestions", finding, self._suggestions))

    def share(self, finding: Finding, suggestion: Suggestion) -> Share:
        """Return the part of a program's time that a suggestion for a finding saves."""
        if self.audit.audited is None:
            return Share(None, None)
        found = self.audit.conclusions
        return share_of(suggestion, finding.function, found, self.audit.audited)

    def needs(self, finding: Finding, suggestion: Suggestion) -> tuple[Needs, Needs]:
        """Return what a program takes as it is, and with a suggestion carried out."""
        found, audited = self.audit.conclusions, self.audit.audited
        before = needs_of(found, finding.function)
        if audited is None:
            return before, before
        return before, needs_with(suggestion, found, audited, finding.function)

    def dearer(self, finding: Finding) -> list[Suggestion]:
        """Return the other ways, the cheapest first, where each of them costs more."""
        return list(self._once("dearer", finding, self._dearer))

    def _once(self, what: str, finding: Finding, answer: Callable[[Finding], T]) -> T:
        """Return an answer, which is the same for modules of one text but for the lines."""
        audited, movement = self.audit.audited, finding.movement
        if audited is None or movement is None:
            return answer(finding)
        line, column = movement.operation.line, movement.operation.column
        question = what, line - audited.module.line, column, finding.kinds
        return audited.shared.modules.once(audited.module, question, lambda: answer(finding))

    def _reason(self, finding: Finding) -> Reason | None:
        if self._advice is None:
            return None
        found = (one.reason(finding, self._advice) for one in finding.occurrences)
        return next((reason for reason in found if reason is not None), None)

    def _dearer(self, finding: Finding) -> tuple[Suggestion, ...]:
        if self._advice is None:
            return ()
        found = (one.dearer(finding, self._advice) for one in finding.occurrences)
        return next((tuple(suggestions) for suggestions in found if suggestions), ())

    def _suggestions(self, finding: Finding) -> tuple[Suggestion, ...]:
        if self._advice is None:
            return ()
        found = (one.suggestions(finding, self._advice) for one in finding.occurrences)
        tried = next((suggestions for suggestions in found if suggestions), ())
        return tuple(one for one in tried if self._exceeds(finding, one) is None)

    def _exceeds(self, finding: Finding, suggestion: Suggestion) -> str | None:
        """Return what a program would take too much of with a suggestion; None if nothing."""
        before, after = self.needs(finding, suggestion)
        return after.exceeds(before)
