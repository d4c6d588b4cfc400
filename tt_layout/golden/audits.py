"""The kind ``audit``: findings of the kernels of a dump, as a golden file."""

from __future__ import annotations

from tt_layout.golden.case import Case
from tt_layout.golden.facts import RELEASE, CaseOutput
from tt_layout.golden.inputs import pointing_at, release
from tt_layout.ir.file_aliases import split_module, whole_modules
from tt_layout.ir.passes import chosen_modules
from tt_layout.mlir.source import read_source
from tt_layout.reports.findings_report import FindingsReport
from tt_layout.reports.report import plain_text
from tt_layout.safe_text import safe


def audit(case: Case) -> CaseOutput:
    """Return the summary and the findings of a case's dump; its kernels are the facts."""
    report = findings_of(case)
    facts = {safe(name): text for name, text in report.heads()} | case.texts("values", RELEASE)
    return CaseOutput(plain_text(report).encode(), facts)


def findings_of(case: Case) -> FindingsReport:
    """Audit the kernels of a case's dump."""
    from tt_layout.audit.audit import audit_module
    from tt_layout.audit.modules.audited_module import SharedWork
    from tt_layout.audit.values.given import parse_values

    with pointing_at(case, "values"):
        texts = [text.strip() for text in (case.text("values") or "").split(",") if text.strip()]
        values = parse_values(texts, {}) if texts else None
    path, number = split_module(str(case.folder / (case.text("file") or "")))
    shared = SharedWork()
    modules = whole_modules(read_source(path), release(case), number)
    modules = chosen_modules(modules) if number is None else modules
    return FindingsReport([audit_module(module, shared, values) for module in modules])
