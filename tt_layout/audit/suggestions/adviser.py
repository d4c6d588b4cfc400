"""What stands behind a finding, and what to use instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from tt_layout.audit.audit import Audit
from tt_layout.audit.findings import CONFLICTS, CONVERSIONS, Finding
from tt_layout.audit.modules.audited_module import FullOperation
from tt_layout.audit.suggestions.buffers import better_buffers
from tt_layout.audit.suggestions.conversions import better_sides
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.ir.operations import Location
from tt_layout.ir.ssa import SsaFunction

T = TypeVar("T")


class Anchor(NamedTuple):
    """An operation that determines a layout.

    Attributes:
        operation: its name.
        line: of the dump.
        location: the location in the user's program; None where the dump has none.
    """

    operation: str
    line: int
    location: Location | None


class Reason(NamedTuple):
    """Why a conversion is there: what produces its source layout, and what takes the other."""

    producers: tuple[Anchor, ...]
    consumers: tuple[Anchor, ...]


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
        self._flows: dict[int, Flow] = {}
        self._suggestions: dict[tuple[object, ...], tuple[Suggestion, ...]] = {}

    def reason(self, finding: Finding) -> Reason | None:
        """Return why a conversion is there; None of any other finding."""
        return self._once("reason", finding, self._reason)

    def suggestions(self, finding: Finding) -> list[Suggestion]:
        """Return what would be cheaper, the best first."""
        return list(self._once("suggestions", finding, self._found))

    def _once(self, what: str, finding: Finding, answer: Callable[[Finding], T]) -> T:
        """Return an answer, which is the same for modules of one text but for the lines."""
        audited, movement = self.audit.audited, finding.movement
        if audited is None or movement is None:
            return answer(finding)
        line, column = movement.operation.line, movement.operation.column
        question = what, line - audited.module.line, column, finding.kinds
        return audited.shared.modules.once(audited.module, question, lambda: answer(finding))

    def _reason(self, finding: Finding) -> Reason | None:
        full = self._conversion(finding)
        if full is None:
            return None
        flow, function = self._flow(full.function), full.function
        ends = (
            flow.producers(full.operation.operands[0]),
            flow.consumers(full.operation.results[0].name),
        )
        return Reason(
            *(tuple(Anchor(o.name, o.line, function.location(o)) for o in end) for end in ends)
        )

    def _found(self, finding: Finding) -> tuple[Suggestion, ...]:
        audited, movement = self.audit.audited, finding.movement
        if audited is None or movement is None:
            return ()
        operation = movement.operation
        key: tuple[object, ...] = operation.line, operation.column
        full = self._conversion(finding)
        if full is None:
            key = operation.group, operation.source, operation.target
        if key not in self._suggestions:
            found: list[Suggestion] = []
            if full is not None:
                found = better_sides(self.audit, audited, full, self._flow(full.function))
            elif CONFLICTS in finding.kinds:
                found = better_buffers(self.audit, audited, operation)
            self._suggestions[key] = tuple(found)
        return self._suggestions[key]

    def _conversion(self, finding: Finding) -> FullOperation | None:
        """Return the conversion that a finding is about; None of any other finding."""
        audited, movement = self.audit.audited, finding.movement
        if audited is None or movement is None or CONVERSIONS not in finding.kinds:
            return None
        full = audited.in_full(movement.operation)
        whole = full is not None and full.operation.operands and full.operation.results
        return full if whole else None

    def _flow(self, function: SsaFunction) -> Flow:
        number = id(function)
        if number not in self._flows:
            self._flows[number] = Flow(function)
        return self._flows[number]
