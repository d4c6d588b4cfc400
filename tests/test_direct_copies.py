"""Buffers that AMD's copies from global memory write: what may be suggested, what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_suggestions import audit_of
from tiers import sampled

from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.rewriting.apply import cycles

EXAMPLES = Path(__file__).parent.parent / "examples"
PADDED = re.compile(r"^(#shared\d*) = #ttg\.padded_shared<\[(\d+):\+(\d+)\]", re.MULTILINE)
BUFFERS = [
    (path, match[1])
    for path in sorted(EXAMPLES.glob("*/*-gfx950.ttgir"))
    for match in PADDED.finditer(path.read_text(encoding="utf-8"))
]


def padded(text: str, name: str, factor: float) -> str:
    """Return a dump in which the padding of a layout stands at another interval."""

    def other(match: re.Match[str]) -> str:
        interval = int(int(match[2]) * (factor if match[1] == name else 1))
        return f"{match[1]} = #ttg.padded_shared<[{interval}:+{match[3]}]"

    return PADDED.sub(other, text)


@pytest.mark.parametrize("buffer", sampled(BUFFERS, 3), ids=lambda one: f"{one[0].stem}{one[1]}")
def test_what_is_suggested_is_as_good_as_the_compilers_own(buffer: tuple[Path, str]) -> None:
    """Little padding has conflicts; what is suggested costs no more than what the compiler took."""
    path, name = buffer
    text = path.read_text(encoding="utf-8")
    own, worse = audit_of(text), audit_of(padded(text, name, 16))
    lost = cycles(worse) - cycles(own)
    assert lost > 0
    adviser = Adviser(worse)
    best = [one for finding in worse.findings for one in adviser.suggestions(finding)[:1]]
    assert max(one.saved for one in best if one.old == name) >= lost


def test_a_row_with_gaps_is_refused() -> None:
    text = (EXAMPLES / "kernels" / "matmul-gfx950.ttgir").read_text(encoding="utf-8")
    assert not any(finding.is_error for finding in audit_of(text).findings)
    found = [one.message for one in audit_of(padded(text, "#shared", 0.5)).findings if one.is_error]
    assert found
    assert all("has to write 1024 bytes of shared memory in a row" in one for one in found)
