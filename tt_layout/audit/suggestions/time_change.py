"""The time of a kernel before and after a suggestion: the difference of two estimates.

The kernel after it is the one that `tt-layout apply` writes.  Both are estimated from their dumps,
as the second is not compiled; what the first takes as compiled is changed by their ratio.
"""

from __future__ import annotations

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.findings import Finding
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.operations.details import TensorMemoryAllocationDetails
from tt_layout.audit.registers import worst
from tt_layout.audit.shares import TimeChange
from tt_layout.audit.suggestions.carried_out import carried_out
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.audit.time.estimate import Estimate, kernel_estimate
from tt_layout.errors import LayoutError
from tt_layout.ir import parse_ir


def time_change(
    audit: Audit, finding: Finding, suggestion: Suggestion, grid: Grid
) -> TimeChange | None:
    """Return the time of a kernel before and after a suggestion; None where one is not known.

    Args:
        audit: of a module that is all of its dump.
        finding: that the suggestion is for.
        suggestion: what is changed.
        grid: programs along x, y and z.
    """
    source, audited = audit.module.source, audit.audited
    is_whole = audit.module.span.text == source.text
    if audited is None or finding.movement is None or not is_whole:
        return None
    full, before = audited.in_full(finding.movement.operation), _estimate(audit, finding, grid)
    if full is None or before is None:
        return None
    try:
        modules = parse_ir(carried_out(audit, full, suggestion))
    except LayoutError:
        return None
    if len(modules) != 1:
        return None
    changed = audit_module(modules[0], SharedWork(explains=False), audited.given, is_judged=False)
    after = _estimate(changed, finding, grid)
    if after is None:
        return None
    uncompiled = before.of_dump()
    left = after.seconds / uncompiled.seconds
    is_doubtful = uncompiled.program.may_spill or after.program.may_spill
    return TimeChange(before.seconds, before.seconds * left, is_doubtful)


def _estimate(audit: Audit, finding: Finding, grid: Grid) -> Estimate | None:
    name = finding.function
    memory = audit.memory_of(name)
    details = (row.cost.details for row in audit.movements_of(name) if row.cost is not None)
    columns = sum(x.columns for x in details if isinstance(x, TensorMemoryAllocationDetails))
    registers = worst(audit.registers_of(name))
    shared_bytes = memory.bytes if memory is not None else None
    found = kernel_estimate(audit, name, grid, registers, shared_bytes, columns)
    return found if isinstance(found, Estimate) else None
