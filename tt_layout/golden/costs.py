"""The kinds ``info``, ``conflicts``, ``convert``, ``audit``: the output of commands for a case.

The kind ``budget`` has upper limits on their numbers, stored in the manifest itself: a cheaper
output passes, where a golden file would have to be updated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.conversion import classify, with_inputs
from tt_layout.analyses.layouts.properties import LayoutInfo, SharedInfo
from tt_layout.analyses.shared_memory.banks import registers_first
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.errors import LayoutError, pointing_at
from tt_layout.golden.case import Case
from tt_layout.golden.facts import ATTRIBUTE, RELEASE, CaseOutput
from tt_layout.golden.inputs import (
    encoding,
    layout_key,
    moved_on_line,
    other_encoding,
    release,
    target_name,
    tensor_type,
)
from tt_layout.golden.yaml_nodes import MappingNode, ScalarNode
from tt_layout.hardware import DEFAULT_TARGET, find_target
from tt_layout.ir.file_aliases import split_module
from tt_layout.mlir.source import read_source
from tt_layout.placement import place
from tt_layout.reports.conflicts import ConflictsReport, conflicts_report
from tt_layout.reports.convert import MEANINGS, ConversionReport, conversion_report, scratch_text
from tt_layout.reports.findings_report import FindingsReport
from tt_layout.reports.info import (
    Info,
    InfoReport,
    elements_text,
    info_of,
    padding_text,
    replicated_text,
    size_text,
)
from tt_layout.reports.report import Report, plain_text
from tt_layout.safe_text import safe
from tt_layout.wording import count, shown

KEY = "at_most"


CONFLICTS = "conflicts"
"""The kind of findings whose weight is that of bank conflicts."""


def info(case: Case) -> CaseOutput:
    """Return the properties of a layout, as ``tt-layout info`` prints them."""
    report = info_of(place(encoding(case), tensor_type(case)))
    return _printed(case, report, info_facts(report))


def conflicts(case: Case) -> CaseOutput:
    """Return bank conflicts, as ``tt-layout conflicts`` prints them."""
    report = conflicts_of(case)
    return _printed(case, report, conflict_facts(report))


def convert(case: Case) -> CaseOutput:
    """Return a conversion, as ``tt-layout convert`` prints it."""
    report = conversion_of(case)
    return _printed(case, report, conversion_facts(report))


def _printed(case: Case, report: Report, facts: dict[str, object]) -> CaseOutput:
    """Return a report with its facts, and the release whose rules it follows."""
    texts = {label: str(value) for label, value in facts.items() if value}
    return CaseOutput(plain_text(report).encode(), texts | case.texts(RELEASE))


def info_facts(report: InfoReport[Info]) -> dict[str, object]:
    """Return the facts that explain a change of a layout's properties."""
    info, access = report.info, report.access
    facts: dict[str, object]
    if isinstance(info, LayoutInfo):
        facts = {"elements per thread": elements_text(info), "replication": replicated_text(info)}
    elif isinstance(info, SharedInfo):
        facts = {"size per CTA": size_text(info), "padding": padding_text(info)}
    else:
        facts = {"tensor memory": info.bytes and f"{info.bytes} bytes"}
    if access is not None:
        facts |= {
            "global memory vector": count(access.vector, "element"),
            "global memory instructions per warp": access.instructions,
            "sectors per instruction": access.sectors,
            "touched bytes used": f"{access.efficiency:.0%}",
        }
    return {**facts, ATTRIBUTE: report.placed.encoding}


def conflict_facts(report: ConflictsReport) -> dict[str, object]:
    """Return the facts that explain a change of bank conflicts, per access, and the target."""
    target = report.conflicts.store.target
    facts: dict[str, object] = {}
    for kind, access in zip(report.kinds, report.accesses):
        extra, units = access.extra_wavefronts_per_instruction, f"{kind} {target.cycle}s"
        facts |= {
            f"{units} per warp": shown(access.wavefronts),
            f"{units} per instruction": shown(access.wavefronts_per_instruction),
            f"{units} due to conflicts": extra and shown(extra),
            f"{kind} instructions per warp": f"{access.instructions} x {access.name}",
        }
    return {**facts, "target": target.name}


def conversion_facts(report: ConversionReport) -> dict[str, object]:
    """Return the facts that explain a change of a conversion."""
    data = report.data()
    cost, compiled = data["cost"] or {}, data["compiled"] or {}
    store, load = (compiled.get(kind) or {} for kind in ("store", "load"))
    return {
        "conversion": MEANINGS[report.conversion.kind],
        "bytes between threads": str(cost.get("moved_bytes", "")),
        "shuffles per warp": cost.get("shuffles"),
        "compiled wavefronts of stores": store.get("wavefronts"),
        "compiled wavefronts of loads": load.get("wavefronts"),
        "wavefronts to store": cost.get("store_wavefronts"),
        "wavefronts to load": cost.get("load_wavefronts"),
        "scratch per CTA": report.scratch and scratch_text(report.scratch),
        "stores per warp": _instructions(store),
        "loads per warp": _instructions(load),
        "layout": report.src,
        "to": report.dst,
    }


def _instructions(step: dict[str, Any]) -> str:
    return "{instructions} x {instruction}".format_map(step) if step else ""


def conflicts_of(case: Case) -> ConflictsReport:
    """Return the bank conflicts of a case."""
    layouts = encoding(case), other_encoding(case, "with")
    try:
        registers_first(*layouts)
    except LayoutError as error:  # the key decides, whatever layout the error is about
        raise LayoutError(error.message, case.span("with")) from None
    with pointing_at(case.span("target")):
        target = find_target(target_name(case) or DEFAULT_TARGET)
        return conflicts_report(*layouts, tensor_type(case), target)


def conversion_of(case: Case) -> ConversionReport:
    """Return the conversion of a case between layouts in registers."""
    src, dst = encoding(case), other_encoding(case, "to")
    before, after = _in_registers(case, layout_key(case), src), _in_registers(case, "to", dst)
    with pointing_at(case.span("to")):
        classify(before, after)
    with pointing_at(case.span("target")):
        report = conversion_report(src, dst, tensor_type(case), target_name(case))
    assert isinstance(report, ConversionReport)
    return report


def _in_registers(case: Case, key: str, layout: Encoding) -> LinearLayout:
    """Place a layout over the case's type; raise an error at its key if it is not in registers."""
    with pointing_at(case.span(key)):
        return with_inputs(place(layout, tensor_type(case)).layout)


# -- the kind audit --------------------------------------------------------------------------------


def audit(case: Case) -> CaseOutput:
    """Return the summary and the findings of a case's dump; its kernels are the facts."""
    report = findings_of(case)
    facts = {safe(name): text for name, text in report.heads()} | case.texts("values", RELEASE)
    return CaseOutput(plain_text(report).encode(), facts)


def findings_of(case: Case) -> FindingsReport:
    """Audit the kernels of a case's dump.

    Raises:
        LayoutError: it cannot be read whole, or no kernel has an argument that the case, which is
            for this dump alone, has a value for.
    """
    from tt_layout.audit.values.given import parse_values
    from tt_layout.dumps.audits import Auditor
    from tt_layout.dumps.dump import Dump, Reading

    with pointing_at(case.span("values")):
        texts = [text.strip() for text in (case.text("values") or "").split(",") if text.strip()]
        values = parse_values(texts, {}) if texts else None
    path, number = split_module(str(case.folder / (case.text("file") or "")))
    auditor = Auditor(Reading(release=release(case), given=values))
    audits = list(auditor.audits(Dump(read_source(path), number)))
    if not {"file", "values"} & case.shared:
        with pointing_at(case.span("values")):
            auditor.check_given()
    return FindingsReport(audits)


def exceeded(case: Case) -> tuple[str, ...]:
    """Return the exceeded limits of a case, each in words.

    Raises:
        LayoutError: a case of its kind has no such number, or a limit is not one.
    """
    numbers = numbers_of(case)
    words: list[str] = []
    node = case.get(KEY)
    assert isinstance(node, MappingNode)
    for key, limit in node.entries:
        if key.text not in numbers:
            message = f"{KEY} has no number {key.text!r} here; choose from {', '.join(numbers)}"
            raise LayoutError(message, key.span)
        if not isinstance(limit, ScalarNode) or not limit.text.isdecimal():
            raise LayoutError(f"the limit of {key.text} must be a whole number", limit.span)
        value = numbers[key.text]
        if value is None:
            words.append(f"{key.text}: at most {limit.text}, but it is not known")
        elif value > int(limit.text):
            words.append(f"{key.text}: at most {limit.text}, is {value:g}")
    return tuple(words)


def numbers_of(case: Case) -> dict[str, float | None]:
    """Return the numbers of a case: of its dump, access or conversion."""
    if case.get("line") is not None:
        moved = moved_on_line(case)
        is_conversion = not any(isinstance(e, SharedEncoding) for e in (moved.before, moved.after))
        return _of_conversion(case) if is_conversion else _of_conflicts(case)
    if case.get("with") is not None:
        return _of_conflicts(case)
    if case.get("to") is not None:
        return _of_conversion(case)
    from tt_layout.audit.facts import SPILLS
    from tt_layout.audit.kernel import kernels_of

    audits = findings_of(case).audits
    kernels = [kernel for audit in audits for kernel in kernels_of(audit)]
    if not kernels:
        raise LayoutError("the file has no kernel that moves data", case.span("file"))
    findings = [finding for kernel in kernels for finding in kernel.findings]
    facts = [kernel.facts for kernel in kernels]
    costs = [fact if not kernel.unanalysed else None for fact, kernel in zip(facts, kernels)]
    known = [fact.spills for fact in facts if fact.spills]
    return {
        "bound_cycles": _largest(fact.bound_cycles for fact in facts),
        "cost": _largest(fact and fact.finding_cycles for fact in costs),
        "cycles": _largest(fact and fact.cycles for fact in costs),
        "empty_warps": _largest(kernel.empty_warps for kernel in kernels),
        "errors": sum(fact.errors for fact in facts),
        "estimate_us": _largest(fact.estimate_us for fact in facts),
        "extra_wavefronts": (
            sum(line.weight for line in findings if CONFLICTS in line.kinds) if all(costs) else None
        ),
        "findings": len(findings),
        "registers": _largest(fact.registers for fact in facts),
        "shared_bytes": _largest(fact.shared_bytes for fact in facts),
        "spilled": _largest(fact.spilled for fact in facts),
        "spills": sum(SPILLS[spills] > 1 for spills in known) if len(known) == len(facts) else None,
        "without_instruction": sum(fact.without_instruction for fact in facts),
    }


def _largest(numbers: Iterable[float | None]) -> float | None:
    """Return the maximum; None if one is unknown, or there is none."""
    values = list(numbers)
    present = [number for number in values if number is not None]
    return max(present) if present and len(present) == len(values) else None


def _of_conflicts(case: Case) -> dict[str, float | None]:
    """Return the numbers of a warp's store and load."""
    accesses = conflicts_of(case).accesses
    return {
        "wavefronts": sum(access.wavefronts for access in accesses),
        "extra_wavefronts": sum(access.extra_wavefronts for access in accesses),
    }


def _of_conversion(case: Case) -> dict[str, float | None]:
    """Return the numbers of a CTA's conversion; those of shared memory as compiled."""
    report = conversion_of(case)
    compiled = report.compiled
    steps = [step for step in (compiled.store, compiled.load) if step] if compiled else []
    return {
        "extra_wavefronts": sum(step.extra_wavefronts or 0 for step in steps),
        "moved_bytes": report.cost.moved_bytes if report.cost else None,
        "scratch_bytes": report.scratch.bytes if report.scratch else 0,
        "shuffles": compiled.shuffles if compiled else 0,
        "wavefronts": sum(step.wavefronts or 0 for step in steps),
    }
