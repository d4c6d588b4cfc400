"""The audit of a module as plain data; the schema is in ``docs/audit-json.md``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.finding_groups import numbered
from tt_layout.audit.findings import Finding, Note
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.modules.layouts import LayoutRow
from tt_layout.audit.occupancy import Occupancy
from tt_layout.audit.operations.multiplications import multiplication_data
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.shares import Shares
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.ties import Ties, ties_of
from tt_layout.grouping import grouped
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.module import Module
from tt_layout.ir.operations import MovementOperation, attribute_of, layout_of
from tt_layout.ir.types import IRType
from tt_layout.reports.advice_text import note_text, reason_data, share_data, suggestion_data
from tt_layout.reports.allocation import shared_memory_data
from tt_layout.reports.time_data import kernel_time

JSON_VERSION = 1

MAX_ADVISED = 32
"""Findings of a module, the most expensive, of which suggestions are looked for."""


def audit_data(audit: Audit, shares: Shares | None = None) -> dict[str, Any]:
    """Return the audit of a module."""
    module, adviser = audit.module, Adviser(audit, shares)
    ties = ties_of(audit)
    return {
        "line": module.line,
        "pass": module.pass_name,
        "stage": module.stage,
        "target": module.target,
        "target_note": audit.target_note,
        "compile_note": audit.known.compile_note,
        "costed_for": audit.costed_for,
        **({"unread": module.error.message} if module.error is not None else {}),
        "attributes": dict(module.attributes),
        "layouts": [_layout(row, module) for row in audit.layouts],
        "assembly": assembly_data(ties) if ties is not None else None,
        "data_movements": [_movement(row, ties) for row in audit.movements],
        "multiplications": [multiplication_data(product) for product in audit.multiplications],
        "intensities": [
            {**asdict(intensity), "flops_per_byte": intensity.flops_per_byte}
            for intensity in audit.intensities
        ],
        "shared_memory": [shared_memory_data(memory) for memory in audit.shared_memory],
        "load_chains": [
            {"function": function, "lines": list(lines)} for function, lines in audit.load_chains
        ],
        "totals": [asdict(total) for total in audit.totals],
        "findings": _findings(adviser),
        "notes": [_note(note, adviser) for note in audit.notes],
        "summary": [_kernel(kernel) for kernel in kernels_of(adviser)],
    }


def _findings(adviser: Adviser) -> list[dict[str, Any]]:
    groups = numbered(adviser.audit.findings)
    numbers = {finding: number for number, group in groups for finding in group}
    findings = []
    for position, finding in enumerate(adviser.audit.findings):
        suggestions = [
            suggestion_data(
                suggestion,
                adviser.share(finding, suggestion),
                adviser.needs(finding, suggestion),
                adviser.audit,
            )
            for suggestion in (adviser.suggestions(finding) if position < MAX_ADVISED else ())
        ]
        findings.append(
            {
                "number": numbers[finding],
                **_finding(finding),
                **share_data(adviser.share_of([finding])),
                "why": reason_data(adviser, finding),
                "suggestion": suggestions[0]["layout"] if suggestions else None,
                "suggestions": suggestions,
            }
        )
    return findings


def _note(note: Note, adviser: Adviser) -> dict[str, Any]:
    """Return a note: an operation that is worth keeping, since every alternative costs more."""
    return {
        **_finding(note.finding),
        "text": note_text(adviser, note, [note.finding]),
        "cycles": note.cycles,
        "otherwise": note.alternative_cycles,
        "why": reason_data(adviser, note.finding),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    location, runs = finding.location, finding.runs
    return {
        "line": finding.line,
        "message": finding.message,
        "kind": finding.kind,
        "kinds": list(finding.kinds),
        "function": finding.function,
        "location": location._asdict() if location is not None else None,
        "cost": finding.cost,
        "executions": finding.executions,
        "executions_text": runs.text if runs is not None else None,
    }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    return {
        "function": kernel.function,
        "text": kernel.text,
        "verdict": kernel.verdict,
        "bounds": _bounds(kernel),
        "time": kernel_time(kernel) if kernel.grid is not None else None,
        "avoidable": share_data(kernel.avoidable),
        "target": kernel.target,
        "warps": kernel.warps,
        "shared_bytes": kernel.shared_bytes,
        "shared_limit": kernel.shared_limit,
        **_registers(kernel.registers),
        "occupancy": _occupancy(kernel.occupancy),
        "findings": kernel.kinds,
        "cost": kernel.weight,
    }


def _registers(pressure: RegisterPressure | None) -> dict[str, Any]:
    """Return the registers of a kernel: compiled if known, else estimated."""
    if pressure is None:
        names = ("per_thread", "low", "high", "limit", "line", "source")
        return {**{f"registers_{name}": None for name in names}, "spilled": None, "spills": None}
    source = pressure.compiled.source if pressure.compiled is not None else None
    low, _, high = pressure.range if pressure.compiled is None else (pressure.taken,) * 3
    return {
        "registers_per_thread": pressure.taken,
        "registers_low": low,
        "registers_high": high,
        "registers_limit": pressure.limit,
        "registers_line": pressure.line,
        "registers_source": source,
        "spilled": pressure.spilled,
        "spills": pressure.spills_word,
    }


def _bounds(kernel: Kernel) -> dict[str, Any] | None:
    """Return the lower bounds of a launch or a program; None where none are known."""
    bounds = kernel.bounds
    if bounds is None:
        return None
    wave = bounds.wave
    return {
        "programs": bounds.programs,
        "binds": bounds.binding.resource if bounds.binding is not None else None,
        "wave": {
            "programs": wave.programs,
            "multiprocessors": wave.multiprocessors,
            "ctas": wave.ctas,
        }
        if wave is not None
        else None,
        "is_assumed": bounds.is_assumed,
        "measured_cycles": kernel.measured,
        "clock_hz": bounds.rates.clock_hz,
        "rates_of": bounds.rates.name,
        "rates_evidence": bounds.rates.evidence,
        "by_resource": [bound._asdict() for bound in bounds.bounds],
    }


def _occupancy(occupancy: Occupancy | None) -> dict[str, Any] | None:
    if occupancy is None:
        return None
    return {
        "ctas": occupancy.ctas,
        "ctas_low": occupancy.low,
        "ctas_high": occupancy.high,
        "warps": occupancy.warps,
        "most_warps": occupancy.most_warps,
        "limited_by": list(occupancy.limited_by),
        "next_step": occupancy.next_step,
    }


def _layout(row: LayoutRow, module: Module) -> dict[str, Any]:
    return {
        "layout": row.layout,
        "attribute": row.attribute,
        "kind": row.kind or None,
        "type": row.type,
        "uses": row.uses,
        "line": module.line_in_source(row.line),
        "registers": row.registers,
        "contiguity": list(row.contiguity) if row.contiguity is not None else None,
        "replication": dict(row.replication),
        "sizes": dict(row.sizes),
        "error": row.error.message if row.error is not None else None,
    }


def assembly_data(ties: Ties) -> dict[str, Any]:
    """Return the ties of a module to the assembly of its kernel."""
    dump_lines = grouped(ties.places, lambda line: ties.places[line])
    return {
        "name": ties.assembly.name,
        "spills": list(ties.assembly.spills),
        "ties": [
            {
                "lines": [piece.first, piece.last],
                "location": piece.place._asdict(),
                "dump_lines": dump_lines.get(piece.place, []),
            }
            for piece in ties.assembly.pieces
        ],
    }


def _movement(row: MovementRow, ties: Ties | None) -> dict[str, Any]:
    cost, executions = row.cost, row.executions
    operation = row.operation
    became = ties.instructions(operation.line, operation.group) if ties is not None else None
    return {
        **operation_data(row.operation),
        "executions": executions.number,
        "executions_text": executions.text,
        "loop": executions.loop._asdict() if executions.loop is not None else None,
        "cost": {"text": cost.text, **cost.details.data(operation.line)}
        if cost is not None
        else None,
        "cost_unknown": row.cost_unknown,
        "instructions": dict(became) if became is not None else None,
    }


def operation_data(operation: MovementOperation) -> dict[str, Any]:
    """Return an operation without its cost."""
    location, moved = operation.location, operation.moved or operation.target
    has_source = operation.group is not MovementKind.ALLOCATION
    return {
        "operation": operation.name,
        "group": operation.group,
        "function": operation.function,
        "line": operation.line,
        "column": operation.column,
        "location": location._asdict() if location is not None else None,
        "type": moved.bare if moved is not None else None,
        "from": _end_data(operation.source) if has_source else None,
        "to": _end_data(operation.target),
        "bytes": operation.bytes,
    }


def _end_data(ir_type: IRType | None) -> dict[str, Any]:
    return {
        "layout": layout_of(ir_type),
        "attribute": attribute_of(ir_type),
        "type": ir_type.bare if ir_type is not None else None,
    }
