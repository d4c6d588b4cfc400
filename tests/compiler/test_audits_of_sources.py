"""Audits of every dump in a copy of Triton's sources: none fails, and what is refused is wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tt_layout import LayoutError, parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.modules.audited_module import SharedWork

CAUSES = (
    (r"(?:through shared memory|across CTAs|takes shuffles|bank conflicts| touches )", "a cost"),
    (r"moves \d+ bytes? at a time", "a cost"),
    (r"bytes of shared memory, but a CTA may have", "too much shared memory"),
    (r"no descriptor expresses", "a matrix of other elements than its layout is for"),
    (r"is for \d+ (?:warps|lanes|CTAs), but the module", "a layout for another module"),
    (r"power of two, got \[", "sizes that only TRITON_ALLOW_NPOT of a fork allows"),
    (r"is for \d+ dimensions?, but the shape", "a layout of another rank"),
    (r"must hold at least 8 rows", "a swizzle larger than the buffer"),
    (r"a piece is .*, but the layout of a piece is for", "a piece larger than its layout"),
)
"""What a finding says -> its cause; all others must be in tests of what is refused."""

REFUSED = re.compile(r"invalid|expected-error|XFAIL")


def findings(path: Path, name: str) -> Iterator[str]:
    shared = SharedWork()
    for module in parse_ir(path.read_text(encoding="utf-8"), name=name):
        assert module.error is None, name
        yield from (finding.message for finding in audit_module(module, shared).findings)


def cause(message: str) -> str | None:
    return next((name for pattern, name in CAUSES if re.search(pattern, message)), None)


def test_every_dump_is_audited(source: Path, tally: Counter[str]) -> None:
    files = sorted(source.rglob("*.mlir"))
    unexplained = []
    for path in files:
        name = str(path.relative_to(source))
        is_refused = REFUSED.search(name + path.read_text(encoding="utf-8")) is not None
        try:
            found = list(findings(path, name))
        except LayoutError as error:
            unexplained.append(f"{name}: {error}")
            continue
        for message in found:
            why = cause(message) or ("refused on purpose" if is_refused else None)
            tally[why or "unexplained"] += 1
            unexplained += [f"{name}: {message}"] * (why is None)
    tally["files"] = len(files)
    assert not unexplained, "\n".join(unexplained)
