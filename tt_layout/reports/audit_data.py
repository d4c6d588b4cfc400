"""The audit of a module as plain data; the schema is in ``docs/audit-json.md``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds import Wave
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.finding_groups import numbered
from tt_layout.audit.findings import Finding, Note
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.modules.layouts import LayoutRow
from tt_layout.audit.occupancy import Occupancy
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.multiplications import multiplication_data
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.shares import Shares
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.ties import Ties, ties_of
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Operation, attribute_of, layout_of
from tt_layout.kernels.assembly import Place
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
        "attributes": dict(module.attributes),
        "layouts": [_layout(row, module) for row in audit.layouts],
        "assembly": assembly_data(ties) if ties is not None else None,
        "data_movements": [_movement(row, ties) for row in audit.movements],
        "multiplications": [multiplication_data(pressure) for pressure in audit.multiplications],
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
        "summary": [_summary(summary) for summary in kernels_of(adviser)],
    }


def _findings(adviser: Adviser) -> list[dict[str, Any]]:
    audit = adviser.audit
    numbers = _numbers(audit)
    pressure = []
    for number, finding in enumerate(audit.findings):
        suggestions = adviser.suggestions(finding) if number < MAX_ADVISED else []
        better = [
            suggestion_data(
                suggestion,
                adviser.share(finding, suggestion),
                adviser.needs(finding, suggestion),
                adviser.target,
            )
            for suggestion in suggestions
        ]
        pressure.append(
            {
                "number": numbers[finding],
                **_finding(finding),
                **share_data(adviser.share_of([finding])),
                "why": reason_data(adviser, finding),
                "suggestion": better[0]["layout"] if better else None,
                "suggestions": better,
            }
        )
    return pressure


def _numbers(audit: Audit) -> dict[Finding, int]:
    """Return the number of each finding in the report."""
    groups = numbered(audit.findings)
    return {finding: number for number, group in groups for finding in group}


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


def _summary(summary: Kernel) -> dict[str, Any]:
    return {
        "function": summary.function,
        "text": summary.text,
        "verdict": summary.verdict,
        "bounds": _bounds(summary),
        "time": kernel_time(summary) if summary.grid is not None else None,
        "avoidable": share_data(summary.avoidable),
        "target": summary.target,
        "warps": summary.warps,
        "shared_bytes": summary.shared_bytes,
        "shared_limit": summary.shared_limit,
        **_registers(summary.registers),
        "occupancy": _occupancy(summary.occupancy),
        "findings": summary.kinds,
        "cost": summary.weight,
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


def _bounds(summary: Kernel) -> dict[str, Any] | None:
    """Return the lower bounds of a launch or a program; None where none are known."""
    pressure = summary.bounds
    if pressure is None:
        return None
    return {
        "programs": pressure.programs,
        "binds": pressure.binding.resource if pressure.binding is not None else None,
        "wave": _wave(pressure.wave),
        "is_assumed": pressure.is_assumed,
        "measured_cycles": summary.measured,
        "clock_hz": pressure.rates.clock_hz,
        "rates_of": pressure.rates.name,
        "rates_evidence": pressure.rates.evidence,
        "by_resource": [bound._asdict() for bound in pressure.bounds],
    }


def _wave(wave: Wave | None) -> dict[str, Any] | None:
    """Return the wave of programs that is assumed without a grid."""
    if wave is None:
        return None
    return {
        "programs": wave.programs,
        "multiprocessors": wave.multiprocessors,
        "ctas": wave.ctas,
    }


def _occupancy(pressure: Occupancy | None) -> dict[str, Any] | None:
    if pressure is None:
        return None
    return {
        "ctas": pressure.ctas,
        "ctas_low": pressure.low,
        "ctas_high": pressure.high,
        "warps": pressure.warps,
        "most_warps": pressure.most_warps,
        "limited_by": list(pressure.limited_by),
        "next_step": pressure.next_step,
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
    dump_lines: dict[Place, list[int]] = {}
    for line, place in ties.places.items():
        dump_lines.setdefault(place, []).append(line)
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


def _cost(cost: Cost, line: int) -> dict[str, Any]:
    return {"text": cost.text, **cost.details.data(line)}


def _movement(row: MovementRow, ties: Ties | None) -> dict[str, Any]:
    cost, executions = row.cost, row.executions
    operation = row.operation
    became = ties.instructions(operation.line, operation.group) if ties is not None else None
    return {
        **operation_data(row.operation),
        "executions": executions.number,
        "executions_text": executions.text,
        "loop": executions.loop._asdict() if executions.loop is not None else None,
        "cost": _cost(cost, operation.line) if cost is not None else None,
        "cost_unknown": row.cost_unknown,
        "instructions": dict(became) if became is not None else None,
    }


def operation_data(operation: Operation) -> dict[str, Any]:
    """Return an operation without its cost."""
    location, moved = operation.location, operation.moved or operation.target
    return {
        "operation": operation.name,
        "group": operation.group,
        "function": operation.function,
        "line": operation.line,
        "column": operation.column,
        "location": location._asdict() if location is not None else None,
        "type": moved.bare if moved is not None else None,
        "from": _end(operation, is_source=True),
        "to": _end(operation, is_source=False),
        "bytes": operation.bytes,
    }


def _end(operation: Operation, is_source: bool) -> dict[str, Any] | None:
    ir_type = operation.source if is_source else operation.target
    if is_source and operation.group is MovementKind.ALLOCATION:
        return None
    return {
        "layout": layout_of(ir_type),
        "attribute": attribute_of(ir_type),
        "type": ir_type.bare if ir_type is not None else None,
    }
