"""The shared memory of a kernel as a table, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tt_layout.audit.allocation import Allocation, AllocationKind, SharedMemory
from tt_layout.audit.audit import Audit
from tt_layout.ir.short_names import short_operation
from tt_layout.reports.fitted import Fitted, Paragraph, Table
from tt_layout.reports.report import GAP, Line
from tt_layout.safe_text import safe
from tt_layout.wording import count


def allocation_lines(audit: Audit) -> Iterator[Line | Fitted]:
    """Yield a table for each function of a module that allocates shared memory."""
    for memory in audit.shared_memory:
        yield Line()
        yield Line(f"shared memory of @{safe(memory.function)}")
        header = ["line", "allocation", "bytes", "offset", "live"]
        rows = [_cells(allocation) for allocation in memory.allocations]
        yield Table(header, rows, ["line", "bytes", "offset"])
        yield Paragraph(total_text(memory), GAP, len(GAP))


def _cells(allocation: Allocation) -> list[str]:
    first, last = allocation.first_line, allocation.last_line
    live = f"lines {first} to {last}" if first != last else f"line {first}"
    return [
        str(allocation.line),
        allocation_text(allocation),
        "?" if allocation.bytes is None else str(allocation.bytes),
        "?" if allocation.offset is None else str(allocation.offset),
        "everywhere" if allocation.is_everywhere else live,
    ]


def allocation_text(allocation: Allocation) -> str:
    """Describe the purpose of a shared-memory allocation.

    Example:
        >>> allocation_text(Allocation(AllocationKind.SCRATCH, "tt.reduce", None, 7, 64, 128))
        'scratch of reduce'
    """
    if allocation.kind is AllocationKind.WARPS:
        return "what specialised warps do"
    operation = short_operation(allocation.operation or "")
    if allocation.value is None:
        is_scratch = allocation.kind is AllocationKind.SCRATCH
        return f"{'scratch of' if is_scratch else 'all of'} {operation}"
    return allocation.value


def total_text(memory: SharedMemory) -> str:
    """Return the shared memory of a function in a sentence."""
    if memory.bytes is None:
        total = "unknown: the size of an allocation is"
    else:
        total = count(memory.bytes, "byte")
    if memory.stated is not None and memory.stated == memory.bytes:
        total += ", as ttg.shared says"
    elif memory.stated is not None:
        total += f"; ttg.shared says {memory.stated}"
    if memory.is_called:
        return f"{total}, which its callers set aside"
    if memory.limit is None:
        return f"{total}; the GPU has {memory.limit_note}" if memory.limit_note else total
    return f"{total}; a CTA may have {memory.limit}"


def shared_memory_data(memory: SharedMemory) -> dict[str, Any]:
    """Return the shared memory of a function as plain data."""
    return {
        "function": memory.function,
        "line": memory.line,
        "bytes": memory.bytes,
        "stated_bytes": memory.stated,
        "limit_bytes": memory.limit,
        "limit_note": memory.limit_note or None,
        "is_called": memory.is_called,
        "allocations": [
            {
                "kind": allocation.kind,
                "operation": allocation.operation,
                "value": allocation.value,
                "line": allocation.line,
                "bytes": allocation.bytes,
                "alignment": allocation.alignment,
                "offset": allocation.offset,
                "live": list(allocation.live),
                "live_lines": [allocation.first_line, allocation.last_line],
            }
            for allocation in memory.allocations
        ],
    }
