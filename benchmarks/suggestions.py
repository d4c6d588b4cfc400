"""Carry out suggestions, audit the new texts, and hold them against what was foretold.

usage: suggestions.py PLACE... [--each N] [--every N]

PLACE is a dump, a folder of dumps, or rows with dumps, such as ``tests/data/registers.jsonl.xz``.
Of every suggestion the cycles of all data movements, shared memory, registers (the whole range),
CTAs and bounds that were foretold are compared with those of the audit of the new text.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.finding_groups import similar_findings
from tt_layout.audit.findings import Finding
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.carried_out import carried_out
from tt_layout.audit.suggestions.needs import Needs, needs_of
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.errors import LayoutError
from tt_layout.ir import parse_ir
from tt_layout.rewriting.apply import cure, cycles


def dumps(place: Path) -> Iterator[tuple[str, str]]:
    """Yield names and texts of the dumps of a place, each text once."""
    if place.is_dir():
        paths = [*place.rglob("*.ttgir"), *place.rglob("*.mlir")]
        texts = {path.read_text(errors="replace"): str(path) for path in sorted(paths)}
    elif place.suffix in (".xz", ".jsonl"):
        packed = place.read_bytes()
        text = lzma.decompress(packed) if place.suffix == ".xz" else packed
        rows = [json.loads(line) for line in text.splitlines()]
        texts = {one["ttgir"]: one["name"] for one in rows if one.get("ttgir")}
    else:
        texts = {place.read_text(): str(place)}
    yield from ((name, text) for text, name in texts.items())


def facts(needs: Needs) -> dict[str, Any]:
    """Return what is compared of a program's resources."""
    registers = needs.registers
    return {
        "shared bytes": needs.memory.bytes if needs.memory is not None else 0,
        "registers": registers and (registers.range, registers.live, registers.limit),
        "CTAs": needs.ctas,
    }


def differences(
    audit: Audit, adviser: Adviser, finding: Finding, suggestion: Suggestion
) -> Iterator[str]:
    """Yield what is other in the audit of the new text than was foretold.

    Raises:
        LayoutError: the dump is written in a way that is not followed.
    """
    assert audit.audited is not None
    assert finding.movement is not None
    full = audit.audited.in_full(finding.movement.operation)
    assert full is not None
    [module] = parse_ir(carried_out(audit, full, suggestion))
    after = audit_module(module)
    saved = cycles(audit) - cycles(after)
    if abs(saved - suggestion.saved) > 1e-6 * max(1, abs(saved)):
        yield f"cycles: {suggestion.saved:g} foretold, {saved:g} saved"
    errors = {one.problem for one in after.findings if one.is_error}
    if errors and not any(one.is_error for one in audit.findings):
        yield f"errors: {errors}"
    _, foretold = adviser.needs(finding, suggestion)
    real = facts(needs_of(after, finding.function))
    for what, value in facts(foretold).items():
        if value != real[what]:
            yield f"{what}: {value} foretold, {real[what]} are"


def group_differences(audit: Audit, adviser: Adviser, number: int) -> Iterator[str]:
    """Yield what the changes for findings alike save together, where it is not what is foretold.

    Raises:
        LayoutError: the dump is written in a way that is not followed, or one change forbids
            another.
    """
    group = similar_findings(audit.findings)[number - 1]
    foretold = adviser.avoidable([one for one in group if adviser.best(one) is not None])
    cured = cure(audit.module.source, [number])
    saved = cycles(cured.before) - cycles(cured.after)
    if abs(saved - foretold) > 1e-6 * max(1, abs(saved)):
        yield f"cycles of the group: {foretold:g} foretold, {saved:g} saved"


def suggestions(audit: Audit, adviser: Adviser) -> Iterator[tuple[Finding, Suggestion]]:
    """Yield the suggestions of an audit, each once."""
    seen = set()
    for finding in audit.findings:
        for suggestion in adviser.suggestions(finding):
            key = finding.function, finding.line, suggestion.where, suggestion.encoding
            if key not in seen:
                seen.add(key)
                yield finding, suggestion


class Sweep:
    """Suggestions of dumps, carried out and compared.

    Attributes:
        counts: of dumps, suggestions and groups, and how many differ.
    """

    def __init__(self, each: int) -> None:
        self.counts = Counter[str]()
        self._each = each

    def dump(self, name: str, text: str) -> None:
        """Compare some suggestions of a dump, each alone, and those of findings alike together."""
        modules = parse_ir(text)
        if len(modules) != 1:
            return
        self.counts["dumps"] += 1
        audit = audit_module(modules[0])
        adviser = Adviser(audit)
        for finding, suggestion in [*suggestions(audit, adviser)][: self._each]:
            where = f"{name}:{finding.line} {suggestion.where}"
            self._compare("suggestions", where, differences(audit, adviser, finding, suggestion))
        for number, group in enumerate(similar_findings(audit.findings)[: self._each], 1):
            if len(group) > 1 and adviser.best(group[0]) is not None:
                where = f"{name}: finding {number}, {len(group)} alike"
                self._compare("groups", where, group_differences(audit, adviser, number))

    def _compare(self, kind: str, where: str, found: Iterator[str]) -> None:
        try:
            unlike = list(found)
        except LayoutError as error:
            self.counts[f"{kind} not followed"] += 1
            unlike = [f"not followed: {error}"]
        else:
            self.counts[kind] += 1
            self.counts[f"{kind} that differ"] += bool(unlike)
        for one in unlike:
            print(f"{where}: {one}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="PLACE")
    parser.add_argument("--each", type=int, default=4, help="suggestions of a dump")
    parser.add_argument("--every", type=int, default=1, help="one of N dumps")
    chosen = parser.parse_args()
    sweep = Sweep(chosen.each)
    for place in chosen.places:
        for name, text in list(dumps(place))[:: chosen.every]:
            try:
                sweep.dump(name, text)
            except LayoutError as error:
                print(f"{name}: {error}")
    print(", ".join(f"{number} {what}" for what, number in sweep.counts.items()))


if __name__ == "__main__":
    main()
