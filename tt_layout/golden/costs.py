"""The kinds ``info``, ``conflicts``, ``convert``, ``audit``: the output of commands for a case."""

from __future__ import annotations

from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.conversion import classify, with_inputs
from tt_layout.analyses.layouts.properties import LayoutInfo, SharedInfo
from tt_layout.analyses.shared_memory.banks import registers_first
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.golden.case import Case
from tt_layout.golden.facts import ATTRIBUTE, RELEASE, CaseOutput
from tt_layout.golden.inputs import (
    encoding,
    layout_key,
    other_encoding,
    pointing_at,
    release,
    target_name,
    tensor_type,
)
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
    info_report,
    padding_text,
    replicated_text,
    size_text,
)
from tt_layout.reports.report import Report, plain_text
from tt_layout.safe_text import safe
from tt_layout.wording import count, shown


def info(case: Case) -> CaseOutput:
    """Return the properties of a layout, as ``tt-layout info`` prints them."""
    report = info_report(encoding(case), tensor_type(case))
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
    with pointing_at(case, "target"):
        target = find_target(target_name(case) or DEFAULT_TARGET)
        return conflicts_report(*layouts, tensor_type(case), target)


def conversion_of(case: Case) -> ConversionReport:
    """Return the conversion of a case between layouts in registers."""
    src, dst = encoding(case), other_encoding(case, "to")
    before, after = _in_registers(case, layout_key(case), src), _in_registers(case, "to", dst)
    with pointing_at(case, "to"):
        classify(before, after)
    with pointing_at(case, "target"):
        report = conversion_report(src, dst, tensor_type(case), target_name(case))
    assert isinstance(report, ConversionReport)
    return report


def _in_registers(case: Case, key: str, layout: Encoding) -> LinearLayout:
    """Return a layout over the case's type; raise at its key if it is not a register layout."""
    with pointing_at(case, key):
        return with_inputs(place(layout, tensor_type(case)).layout)


# -- the kind audit --------------------------------------------------------------------------------


def audit(case: Case) -> CaseOutput:
    """Return the summary and the findings of a case's dump; its kernels are the facts."""
    report = findings_of(case)
    facts = {safe(name): text for name, text in report.heads()} | case.texts("values", RELEASE)
    return CaseOutput(plain_text(report).encode(), facts)


def findings_of(case: Case) -> FindingsReport:
    """Audit the kernels of a case's dump."""
    from tt_layout.audit.values.given import parse_values
    from tt_layout.dumps.audits import Auditor
    from tt_layout.dumps.dump import Dump, Reading

    with pointing_at(case, "values"):
        texts = [text.strip() for text in (case.text("values") or "").split(",") if text.strip()]
        values = parse_values(texts, {}) if texts else None
    path, number = split_module(str(case.folder / (case.text("file") or "")))
    auditor = Auditor(Reading(release=release(case), given=values))
    return FindingsReport(list(auditor.audits(Dump(read_source(path), number))))
