"""Buffers that AMD's copies from global memory write: what may be suggested, what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_suggestions import ALIASES, HEAD, audit_of, pointers
from tiers import sampled

from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.rewriting.apply import cycles

EXAMPLES = Path(__file__).parents[2] / "examples"
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


@pytest.mark.slow
@pytest.mark.parametrize("buffer", sampled(BUFFERS, 6), ids=lambda one: f"{one[0].stem}{one[1]}")
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


@pytest.mark.parametrize(
    ("first", "rest", "width"),
    [([[0, 1], [0, 2], [0, 4]], [[16, 0]], 16), ([[16, 0]], [[0, 1], [0, 2], [0, 4]], 2)],
)
def test_registers_of_a_copy_keep_their_order(
    first: list[list[int]], rest: list[list[int]], width: int
) -> None:
    """Eight elements are together in global memory; in shared memory a pair of others is."""
    others = [[32, 0], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0]]
    buffer = f"#s = #ttg.shared_linear<{{offset = {first + rest + others}}}, alignment = 16>"
    aliases = "\n".join(line for line in ALIASES.splitlines() if not line.startswith("#s "))
    head = HEAD.replace("cuda:90", "hip:gfx1250").replace(
        "%n: i32", "%m: !ttg.memdesc<64x64xf16, #s, #smem, mutable>"
    )
    copy = (
        "%c = ttg.async_copy_global_to_local %p, %m : tensor<64x64x!tt.ptr<f16>, #a> "
        "-> <64x64xf16, #s, #smem, mutable>\n"
    )
    body = f"{pointers('p', 'a')}{copy}    tt.return\n  }}\n}}\n"
    [row] = audit_of(f"{aliases}\n{buffer}\n{head}{body}").movements
    assert row.cost is not None
    assert isinstance(row.cost.details, GlobalDetails)
    assert row.cost.details.width_bytes == width
