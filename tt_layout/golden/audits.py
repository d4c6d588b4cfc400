"""The kind ``audit``: what the kernels of a dump do badly, kept as a golden file."""

from __future__ import annotations

import re

from tt_layout.golden.case import Case
from tt_layout.golden.inputs import pointing_at, release
from tt_layout.ir.file_aliases import split_module, whole_modules
from tt_layout.ir.passes import chosen_modules
from tt_layout.mlir.source import read_source
from tt_layout.reports.findings_report import FindingsReport
from tt_layout.reports.report import plain_text


def audit(case: Case) -> bytes:
    """Return the summary and the findings of a case's dump."""
    return plain_text(findings_of(case)).encode()


def findings_of(case: Case) -> FindingsReport:
    """Return what the kernels of a case's dump do badly."""
    from tt_layout.audit.audit import audit_module
    from tt_layout.audit.modules.audited_module import SharedWork
    from tt_layout.audit.values.given import parse_values

    with pointing_at(case, "values"):
        texts = [text.strip() for text in (case.text("values") or "").split(",") if text.strip()]
        given = parse_values(texts, {}) if texts else None
    path, number = split_module(str(case.folder / (case.text("file") or "")))
    shared = SharedWork()
    modules = whole_modules(read_source(path), release(case), number)
    modules = chosen_modules(modules) if number is None else modules
    return FindingsReport([audit_module(module, shared, given) for module in modules])


def words(golden: str, case: Case) -> tuple[str, ...]:
    """Return what the difference between a golden audit and the case means."""
    old, new = _summaries(golden), _summaries(audit(case).decode())
    return tuple(
        f"{name}: was {old.get(name, 'not there')}, is {new.get(name, 'not there')}"
        for name in dict.fromkeys([*new, *old])
        if old.get(name) != new.get(name)
    )


def _summaries(text: str) -> dict[str, str]:
    """Return what is said of each kernel of an audit above its findings.

    Example:
        >>> _summaries("@f, sm90, 4 warps: bound by DRAM\\n  1 conversion\\n  1. line 3: ..")
        {'@f': 'bound by DRAM; 1 conversion'}
    """
    heads: dict[str, list[str]] = {}
    own: list[str] = []
    for line in text.splitlines():
        if line[:1] not in ("", " "):
            who, _, verdict = line.partition(": ")
            own = heads.setdefault(who.partition(",")[0], [verdict])
        elif _IN_HEAD.match(line):
            own.append(line.strip())
        elif line[:4].isspace() and own:
            own[-1] += f" {line.strip()}"
        else:
            own = []
    return {who: "; ".join(parts) for who, parts in heads.items()}


_IN_HEAD = re.compile(r"  (?!\d+\. )\S")
"""A line of a kernel above its findings, which have numbers."""
